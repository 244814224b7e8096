"""Builds the Debian packages of the last commit into `build/packages`, in a Debian 13 of their own.

``make packages`` is this command. Debian's own tools do the work, as `debian/` says; lintian must find neither an
error nor a warning. It needs root and mmdebstrap; of Python, the standard library alone. The root is made as
``make fresh`` makes its roots.
DEBFULLNAME and DEBEMAIL in the environment name who answers for the packages.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests import fresh

BUILT = fresh.PROJECT / "build" / "packages"
SUITE = "trixie"
FONTS = ("fonts-noto-core", "python3-brotli", "python3-fonttools")
PACKAGES = (*fresh.PACKAGES, "debhelper", "dh-python", "lintian", *FONTS)
NOTE = "why-not.txt"
"""Stands where packages could not be built."""

SIMULATED = "installed-with.txt"
"""What apt would install with them on an empty Debian, in its own words."""

DOCUMENTS = "doc"
"""A folder with the /usr/share/doc of those, which holds their licences."""

NAMES = ("templo-mayor", "templo-mayor-companion", "templo-mayor-controller")

BUILD = r"""
set -eu
git checkout --quiet -- debian
[ -z "$2" ] || sed -i "s/^Maintainer: .*/Maintainer: $2/" debian/control
if [ "$1" != "$(dpkg-parsechangelog --show-field Version)" ]; then
    {
        printf 'templo-mayor (%s) unstable; urgency=medium\n\n  * Built from %s.\n\n -- %s  %s\n\n' "$1" \
            "$(git rev-parse HEAD)" "$(sed -n 's/^Maintainer: //p' debian/control)" "$(git log -1 --format=%cD)"
        cat debian/changelog
    } >debian/changelog.new
    mv debian/changelog.new debian/changelog
fi
dpkg-buildpackage --build=binary --no-check-builddeps --unsigned-changes --unsigned-buildinfo
lintian --allow-root --fail-on error,warning ../templo-mayor_"$1"_*.changes
"""
"""Builds under a version, and a maintainer unless that is empty."""

SIMULATE = r"""
apt-get --quiet --quiet update
set -- apt-get -o Dir::State::Status=/dev/null install ../templo-mayor_*.deb
"$@" --simulate
mkdir -p /srv/needed/partial
"$@" --quiet --quiet --yes --download-only -o Dir::Cache::Archives=/srv/needed >&2
for package in /srv/needed/*.deb ../*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C /srv/needed --wildcards './usr/share/doc/*'
done
"""
"""Prints what apt would install with our packages on an empty Debian; leaves the documents of all in /srv/needed."""


def main(argv: Sequence[str]) -> int:
    """Build; returns 0 where lintian found nothing wrong."""
    parser = argparse.ArgumentParser(prog="make packages ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--renew", action="store_true", help="rebuild a base system younger than a week")
    parser.add_argument("--revision", default="", metavar="REVISION", help="another commit than the last")
    parser.add_argument("--where-possible", action="store_true", help="only write down why where this machine cannot")
    given = parser.parse_args(argv)
    if given.where_possible and (why := why_not(os.geteuid(), shutil.which)):
        print(f"No packages: {why}")
        leave_out(why)
        return 0
    try:
        fresh.check_machine(os.geteuid(), shutil.which, "make packages")
        for package in build(renew=given.renew, revision=given.revision, simulate=given.where_possible):
            print(package.relative_to(fresh.PROJECT))
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def why_not(user: int, which: Callable[[str], str | None]) -> str:
    """Return what this machine lacks to build packages; nothing where it lacks nothing."""
    try:
        fresh.check_machine(user, which, "make packages")
    except fresh.FreshError as error:
        return str(error)
    return ""


def leave_out(why: str, into: Path = BUILT) -> None:
    """Leave a note in the place of the packages, which may be of another commit."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    (into / NOTE).write_text(f"There are no packages here. {why}\n", "utf-8")


def build(*, renew: bool = False, revision: str = "", into: Path = BUILT, simulate: bool = False) -> list[Path]:
    """Build the packages of the last commit, or another; returns their files, raises `FreshError` if it fails.

    What is in the folder `into` before is removed; `simulate` adds what apt would install with them, and its
    documents.
    """
    wanted = version(revision or "HEAD")  # before anything is downloaded for a revision that there is not
    with fresh.Root.made(SUITE, purpose="packages", packages=PACKAGES, renew=renew) as root:
        if revision:
            root.check_out(revision)
        made = build_in(root, wanted)
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        if simulate:
            (into / SIMULATED).write_text(
                fresh.run(*root.inside(["sh", "-euc", SIMULATE]), environment=root.environment)
            )
            shutil.copytree(root.folder / "srv/needed/usr/share/doc", into / DOCUMENTS, symlinks=True)
        return [Path(shutil.copy(each, into)) for each in made]


def last_release(project: Path = fresh.PROJECT) -> str:
    """Return the last release before the present commit: its tag, or the commit before where nothing was released."""
    git = ("git", "-C", project)
    with suppress(fresh.FreshError):
        return fresh.run(*git, "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD~1").strip()
    return fresh.run(*git, "rev-parse", "--verify", "HEAD~1").strip()


def version(revision: str, project: Path = fresh.PROJECT) -> str:
    """Return the version of the packages that are built of a commit.

    What is not a release is named after its time and its commit, so that apt treats each as an update: older than the
    release of the same number until that is tagged, newer afterwards.
    """

    def git(*arguments: str) -> str:
        return fresh.run("git", "-C", project, *arguments, environment={**os.environ, "TZ": "UTC"}).strip()

    release = git("show", f"{revision}:debian/changelog").partition("(")[2].partition(")")[0]
    if git("tag", "--points-at", revision, f"v{release}"):
        return release
    sign = "+" if git("tag", "--merged", revision, f"v{release}") else "~"
    when = git("log", "-1", "--format=%cd", "--date=format-local:%Y%m%d%H%M%S", revision)
    return f"{release}{sign}git{when}.{git('rev-parse', '--short=8', revision)}"


def maintainer(environment: Mapping[str, str]) -> str:
    """Return who answers for the packages, as Debian's own tools learn it; nothing for the one of `debian/control`.

    >>> maintainer({"DEBFULLNAME": "A Builder", "DEBEMAIL": "builder@example.org"})
    'A Builder <builder@example.org>'
    >>> maintainer({})
    ''

    Raises `FreshError` for what no package can name.
    """
    name, mail = environment.get("DEBFULLNAME", ""), environment.get("DEBEMAIL", "")
    if not name and not mail:
        return ""
    if not re.fullmatch(r"[^<>\\/&\n]+", name) or not re.fullmatch(r"[\w.+-]+@[\w.-]+", mail):
        raise fresh.FreshError(
            f"DEBFULLNAME={name!r} and DEBEMAIL={mail!r}: expected a name, and an address such as me@example.org."
        )
    return f"{name} <{mail}>"


def build_in(root: fresh.Root, wanted: str = "") -> list[Path]:
    """Build the packages in a root with a clone; returns their files there, raises `FreshError` like `build`.

    `wanted` is their version, that of the last commit where it is empty.
    """
    log = fresh.BUILD / "packages.log"
    if wrong := fresh.ran(root, ["sh", "-c", BUILD, "build", wanted or version("HEAD"), maintainer(os.environ)], log):
        last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise fresh.FreshError(f"{last}\nThe build {wrong}; its whole output is in {log}.")
    return sorted((root.folder / "root").glob("*.deb"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
