"""The command line of the controller: run the daemon, drop a token, show its status, export the ledger."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from controller.adapters.control_socket import ControlError, InUseError, held, prepare, send_request, socket_path
from controller.adapters.sqlite_ledger import FILE_NAME
from controller.app import scenarios
from controller.app.explanations import BEAMS, NOTICES, TROUBLES, calibration_lines, selftest_lines
from controller.app.settings import PROGRAM, broker_in_spite_of, load, named_file
from controller.core.calibration import MOST, USUAL
from controller.core.ports import BeamsError, LedgerError, LedgerTrouble
from controller.core.settings import DeclaredSettings, Settings
from controller.simulation.beams import MOST_DROPS
from controller.simulation.parser import BELOW, ScenarioError
from templo import __version__, logs
from templo.contract import God, Trouble
from templo.liveness import refused_settings, supervisor
from templo.quoting import counted
from templo.settings import SettingFlag, SettingsError, add_flags, described, given_flags, usual_files

EXIT_REFUSED = 1
EXIT_USAGE = 2

INSTALLED = Path("/var/lib/templo-controller")
"""The state directory of the Debian package's service."""

_NAMES = {**{god.value: god for god in God}, **{god.value[0]: god for god in God}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    code: int
    parser = make_parser()
    given = argparse.Namespace()
    try:
        given = parser.parse_args(arguments)
        if given.command is _pair:  # it writes settings, so it must run although the present ones are wrong
            code = _pair(given)
            return code
        if given.command is _settings:
            code = _settings(given)
            return code
        settings = load(file=given.config, environ=os.environ, flags=_flags(given), home=Path.home())
        logs.set_up("templo-controller", settings.log)
        code = given.command(_of_running(settings, INSTALLED) if given.finds_daemon else settings, given)
    except (SettingsError, ScenarioError) as error:
        supervised = supervisor()
        code = _complain(str(error), refused_settings(str(error), supervised, EXIT_USAGE))
        if supervised.present and given.__dict__.get("command") is _run:
            _publish_refusal(given)
        return code
    except (BeamsError, ControlError, InUseError, LedgerError, LedgerTrouble, FileNotFoundError) as error:
        return _complain(str(error))
    except BrokenPipeError:
        # The reader of our output is gone; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


def _publish_refusal(given: argparse.Namespace) -> None:
    """Publish for the temple's page that a setting is wrong, if the broker's own settings are usable."""
    from controller.app.refusal import publish_misconfigured

    found = broker_in_spite_of(file=given.config, environ=os.environ, flags=_flags(given), home=Path.home())
    if found and not publish_misconfigured(*found):
        print("templo-controller: the broker does not answer, so that no page says this", file=sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    common = argparse.ArgumentParser(add_help=False)
    common.set_defaults(finds_daemon=False)
    add_flags(common)
    common.add_argument(
        "--temple", action=SettingFlag, metavar="NAME", help="the temple's name at the broker (templo)"
    )
    requesting = argparse.ArgumentParser(add_help=False, parents=[common])
    requesting.add_argument("--simulate", action="store_true", help="simulate the beams")
    requesting.set_defaults(finds_daemon=True)
    parser = argparse.ArgumentParser(
        prog="templo-controller",
        description="Counts the tokens that fall into the temple, each exactly once, and publishes them.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands, common)
    _add_scenario(commands, common)
    _add_selftest(commands, requesting)
    _add_drop(commands, requesting)
    _add_calibrate(commands, requesting)
    _add_status(commands, requesting)
    _add_check(commands, common)
    _add_settings(commands)
    _add_dismiss(commands, requesting)
    _add_export(commands, requesting)
    _add_pair(commands)
    _add_backup(commands, common)
    _add_restore(commands, common)
    return parser


def _add_run(commands: Any, common: argparse.ArgumentParser) -> None:
    run = commands.add_parser("run", parents=[common], help="count tokens until stopped")
    run.add_argument(
        "--beams",
        dest="beams.source",
        action=SettingFlag,
        metavar="SOURCE",
        help="gpio, gpiod, simulated, or a board that counts: serial:/dev/ttyACM0 (gpio)",
    )
    run.add_argument("--keys", action="store_true", help="read keys that drop tokens from the terminal or a pipe")
    run.add_argument(
        "--simulate",
        nargs="?",
        const=True,
        default=False,
        metavar="SCENARIO",
        help="simulate the beams, by default without events; a scenario file says what happens to them",
    )
    run.set_defaults(command=_run)


def _add_scenario(commands: Any, common: argparse.ArgumentParser) -> None:
    scenario = commands.add_parser(
        "scenario", parents=[common], help="run a scenario file as fast as possible and print the result"
    )
    scenario.add_argument("files", type=Path, nargs="*", metavar="FILE", help="a scenario, in TOML")
    scenario.add_argument("--all", action="store_true", help="every scenario that comes with this program")
    scenario.add_argument("--table", action="store_true", help="print a line for each scenario and variant")
    scenario.add_argument(
        "--below",
        choices=BELOW,
        help="a second beam in each slot, whatever the file says: 'apart' is broken by tokens alone, 'alike' by all "
        "that breaks the first",
    )
    _add_json(scenario)
    scenario.set_defaults(command=scenarios.play, simulate=True)


def _add_selftest(commands: Any, requesting: argparse.ArgumentParser) -> None:
    selftest = commands.add_parser(
        "selftest", parents=[requesting], help="show what each beam reads, what is wrong and what to do"
    )
    _add_json(selftest)
    selftest.set_defaults(command=_selftest)


def _add_drop(commands: Any, requesting: argparse.ArgumentParser) -> None:
    drop = commands.add_parser(
        "drop", parents=[requesting], help="drop simulated tokens; a real temple records them as tests"
    )
    drop.add_argument("god", nargs="?", type=_god, default=God.HUITZILOPOCHTLI, help=" or ".join(_NAMES))
    drop.add_argument("--count", type=_number(MOST_DROPS), default=1, metavar="N", help="number of tokens (1)")
    drop.add_argument("--every", type=_every, metavar="MS", help="milliseconds between tokens (90)")
    drop.add_argument("--new", action="store_true", help="create a ledger if there is none and no daemon is running")
    drop.set_defaults(command=_drop)


def _add_calibrate(commands: Any, requesting: argparse.ArgumentParser) -> None:
    calibrate = commands.add_parser(
        "calibrate", parents=[requesting], help="measure tokens that you drop and learn the limits from them"
    )
    calibrate.add_argument("god", type=_god, help=" or ".join(_NAMES))
    calibrate.add_argument(
        "--count", type=_number(MOST), default=USUAL, metavar="N", help=f"number of tokens ({USUAL})"
    )
    calibrate.add_argument("--yes", action="store_true", help="use the proposed limits without asking")
    calibrate.set_defaults(command=_calibrate)


def _add_status(commands: Any, requesting: argparse.ArgumentParser) -> None:
    status = commands.add_parser("status", parents=[requesting], help="show the temple's health")
    _add_json(status)
    status.set_defaults(command=_status)


def _add_check(commands: Any, common: argparse.ArgumentParser) -> None:
    check = commands.add_parser("check", parents=[common], help="check the settings, and do nothing else")
    check.set_defaults(command=_check, simulate=False)


def _add_settings(commands: Any) -> None:
    known = commands.add_parser("settings", help="print what each setting does, when to change it and what it takes")
    known.add_argument("word", nargs="?", default="", metavar="WORD", help="only those that this word is about")
    known.set_defaults(command=_settings)


def _add_dismiss(commands: Any, requesting: argparse.ArgumentParser) -> None:
    dismiss = commands.add_parser(
        "dismiss", parents=[requesting], help="remove a notice that you have dealt with (see status)"
    )
    dismiss.add_argument("code", metavar="CODE", help="the notice's code, such as ledger_restored")
    dismiss.set_defaults(command=_dismiss)


def _add_export(commands: Any, requesting: argparse.ArgumentParser) -> None:
    export = commands.add_parser("export", parents=[requesting], help="print the tokens of the ledger")
    export.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="JSON lines or CSV (jsonl)")
    export.add_argument("--output", type=Path, metavar="FILE", help="write to this file instead of the terminal")
    export.set_defaults(command=_export)


def _add_pair(commands: Any) -> None:
    pair = commands.add_parser(
        "pair",
        help="let an organiser's code give this temple its name, its table, and its password at the broker",
    )
    pair.add_argument("address", metavar="ADDRESS", help="the companion's, such as templo.local or https://club.lan")
    pair.add_argument("code", metavar="CODE", help="the code that the organiser's page shows")
    pair.add_argument("--config", type=Path, metavar="FILE", help="the settings file to write, in TOML")
    pair.add_argument("--authority", type=Path, metavar="FILE", help="the certificate of the authority, from /trust")
    pair.set_defaults(command=_pair)


def _add_backup(commands: Any, common: argparse.ArgumentParser) -> None:
    backup = commands.add_parser(
        "backup",
        parents=[common],
        help="copy ledger and learned limits to one file; the daemon may be running",
    )
    backup.add_argument("file", type=Path, metavar="FILE", help="the new backup file, which must not exist yet")
    backup.add_argument("--if-begun", action="store_true", help="write nothing if no ledger was ever begun here")
    backup.set_defaults(command=_backup, simulate=False, finds_daemon=True)


def _add_restore(commands: Any, common: argparse.ArgumentParser) -> None:
    restore = commands.add_parser(
        "restore", parents=[common], help="replace the ledger with a backup; the daemon must not be running"
    )
    restore.add_argument("file", type=Path, metavar="FILE", help="a file that 'backup' wrote")
    restore.set_defaults(command=_restore, simulate=False)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="as a JSON object")


def _of_running(settings: Settings, installed: Path) -> Settings:
    """Return the settings with the installed service's state directory, if it runs and no other was meant.

    Another was meant if a setting names it, or if the default one has a ledger. Raises `ControlError` if this user
    may not look.
    """
    if "state" in settings.chosen or (settings.state / FILE_NAME).exists() or not installed.exists():
        return settings
    if not os.access(installed, os.X_OK):
        raise ControlError(f"the installed temple's directory {installed} is closed to you: run this with sudo")
    return replace(settings, state=installed) if socket_path(installed).exists() else settings


def _flags(given: argparse.Namespace) -> dict[str, tuple[str, str]]:
    """Return the settings that flags give, each with its flag."""
    simulated = {"beams.source": ("simulated", "--simulate")} if given.simulate else {}
    return given_flags(given) | simulated


def _god(text: str) -> God:
    if text.lower() not in _NAMES:
        raise argparse.ArgumentTypeError(f"{text!r} is no god of this temple; expected {' or '.join(_NAMES)}")
    return _NAMES[text.lower()]


def _number(most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from 1 to `most`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no such number; expected 1 to {most}")
        return int(text)

    return read


def _every(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 60_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no such time; expected milliseconds from 1 to 60000")
    return value


def _run(settings: Settings, given: argparse.Namespace) -> int:
    from controller.app.daemon import run

    script = scenarios.script(Path(given.simulate)) if isinstance(given.simulate, str) else None
    os.umask(0o077)  # the ledger, and what the daemon makes beside it, are for its owner alone
    return run(settings, given.keys, script)


def _selftest(settings: Settings, given: argparse.Namespace) -> int:
    result = send_request(settings.state, {"do": "selftest"}, 10)
    if result is None:
        return _no_daemon(settings)
    print(json.dumps(result, indent=2) if given.json else "\n".join(selftest_lines(result)))
    return 0


def _drop(settings: Settings, given: argparse.Namespace) -> int:
    request = {"do": "drop", "god": given.god, "count": given.count}
    if given.every is not None:
        request["every_ms"] = given.every
    patience_s = 120 + given.count * (given.every or 90) / 1000
    result = send_request(settings.state, request, patience_s)
    if result is not None:
        print(_recorded(given, result["seq"], bool(result["test"]), "the running daemon has them"))
        return 0
    from controller.app.offline import drop

    if not given.new and not (settings.state / FILE_NAME).exists():
        return _complain(
            f"no daemon runs on {settings.state}, and there is no ledger in it: "
            "name the right directory with --state, or make a ledger there with --new"
        )
    prepare(settings.state)
    with held(settings.state):
        seq = drop(settings, given.god, given.count)
    print(_recorded(given, seq, not settings.simulated, "no daemon runs: they are sent when one does"))
    return 0


def _calibrate(settings: Settings, given: argparse.Namespace) -> int:
    report = send_request(settings.state, {"do": "status"}, 10)
    if report is None:
        return _no_daemon(settings)
    if (trouble := str(report.get("trouble"))) in (Trouble.BEAMS_MISSING, Trouble.BEAMS_BUSY):
        return _complain(TROUBLES[trouble])
    print(
        f"Drop {counted(given.count, 'token')} into the slot of {given.god.capitalize()}, one at a time. "
        f"{'It is' if given.count == 1 else 'They are'} not scored."
    )
    sys.stdout.flush()
    result = send_request(settings.state, {"do": "calibrate", "god": given.god, "count": given.count}, 130)
    if result is None:
        return _no_daemon(settings)
    print("\n".join(calibration_lines(result)))
    yes = given.yes or (sys.stdin.isatty() and _agreed("Count by these from now on? [y/N] "))
    if send_request(settings.state, {"do": "calibrate", "god": given.god, "keep": yes}, 10) is None and yes:
        return _no_daemon(settings)
    print("Saved, and used from now on." if yes else "Nothing was changed.")
    return 0


def _agreed(question: str) -> bool:
    """Ask at the terminal; the end of the input is a no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def _recorded(given: argparse.Namespace, seq: object, test: bool, where: str) -> str:
    kind = " as tests, which are never scored" if test else ""
    return f"{counted(given.count, 'token')} for {given.god} recorded{kind}, up to number {seq} ({where})"


def _status(settings: Settings, given: argparse.Namespace) -> int:
    """Print the health of a temple; the exit code is 0 if there is one."""
    report = send_request(settings.state, {"do": "status"}, 10)
    if report is not None:
        if "temple" in settings.chosen and report["temple"] != settings.temple:
            return _complain(f"the daemon on {settings.state} is of temple {report['temple']}, not {settings.temple}")
        report = {"running": True, **report}
    else:
        from controller.app.offline import status

        report = {"running": False, **status(settings)}
    print(json.dumps(report, indent=2) if given.json else _described(report, settings.state))
    return 0 if report["running"] or report["source"] is not None else EXIT_REFUSED


def _check(_settings: Settings, _given: argparse.Namespace) -> int:
    """Print that the settings, which have been read, are right."""
    print("The settings are right.")
    return 0


def _settings(given: argparse.Namespace) -> int:
    """Print the settings that there are; it reads none, so that wrong ones do not matter."""
    print("\n".join(described(DeclaredSettings, given.word)))
    return 0


def _dismiss(settings: Settings, given: argparse.Namespace) -> int:
    if send_request(settings.state, {"do": "dismiss", "code": given.code}, 10) is None:
        from controller.app.offline import dismiss

        if not (settings.state / FILE_NAME).exists():
            return _no_daemon(settings)
        with held(settings.state):
            if not dismiss(settings, given.code):
                return _complain(f"there is no notice {given.code!r}; 'status' lists those that stand")
    print(f"{given.code} is dismissed")
    return 0


def _export(settings: Settings, given: argparse.Namespace) -> int:
    from controller.app.offline import export

    try:
        number = export(settings, given.format, given.output)
    except OSError as error:
        if isinstance(error, BrokenPipeError | FileNotFoundError) and given.output is None:
            raise
        return _complain(f"{given.output} cannot be written: {error.strerror}")
    if given.output is not None:
        print(f"{counted(number, 'token')} written to {given.output}")
    return 0


def _pair(given: argparse.Namespace) -> int:
    from controller.app import pairing

    named = given.config or named_file(os.environ)
    place = pairing.place(named, usual_files(PROGRAM, os.environ, Path.home()), INSTALLED)
    try:
        before = place.read()
        paired = pairing.request(given.address, given.code, given.authority)
        place.write(paired, before)
    except pairing.PairingError as error:
        return _complain(str(error))
    serves = f", and serves the table {paired.table!r}" if paired.table else ""
    print(f"This temple is {paired.temple} now{serves}.")
    print(f"Its brokers are {paired.brokers}, its user there is {paired.user}.")
    print(f"Written: {place.settings} and {place.password}")
    if place.units is not None:
        print("Next: sudo systemctl daemon-reload && sudo systemctl restart templo-controller")
        return 0
    if names := pairing.overriding(os.environ, place.settings):
        print(f"First unset {', '.join(names)}: what the environment says counts more than the file.")
    config = f" --config {place.settings}" if given.config else ""
    print(f"Next: start it (again) with 'templo-controller run{config}'")
    return 0


def _backup(settings: Settings, given: argparse.Namespace) -> int:
    from controller.adapters.ledger_recovery import was_begun
    from controller.app.backup import BackupError, backup

    if given.if_begun and not was_begun(settings.state) and not (settings.state / FILE_NAME).exists():
        print(f"no ledger was begun in {settings.state} yet: there is nothing to back up")
        return 0
    try:
        number = backup(settings.state, given.file)
    except BackupError as error:
        return _complain(str(error))
    print(f"{counted(number, 'token')} backed up to {given.file}")
    return 0


def _restore(settings: Settings, given: argparse.Namespace) -> int:
    from controller.app.backup import BackupError, restore

    prepare(settings.state)
    try:
        with held(settings.state):
            number, waiting, aside = restore(settings.state, given.file, datetime.now(UTC))
    except InUseError as error:
        return _complain(f"{error}: stop it, restore, and start it again")
    except BackupError as error:
        return _complain(str(error))
    print(
        f"{counted(number, 'token')} restored from {given.file}. A new source begins; "
        f"{counted(waiting, 'token')} that the companion did not have then will be sent again, "
        "and it knows those that it has."
    )
    if aside is not None:
        print(f"The ledger that was there is kept as {aside}")
    return 0


def _described(report: Mapping[str, object], state: Path) -> str:
    """Return a report in plain words."""
    if not report["running"] and report["source"] is None:
        return (
            f"Temple {report['temple']}: no daemon runs\n"
            f"  Ledger           there is none in {state}: nothing fell yet, or --state names another directory"
        )

    def each(name: str) -> Mapping[str, object]:
        value = report.get(name)
        return value if isinstance(value, dict) else {}

    lines = [f"Temple {report['temple']}: {report['state'] if report['running'] else 'no daemon runs'}"]
    if trouble := report.get("trouble"):
        lines.append(f"  Attention        {TROUBLES.get(str(trouble), trouble)}")
    notices = report.get("notices")
    for notice in notices if isinstance(notices, list) else ():
        code, at = notice["code"], notice["at"]
        lines.append(f"  Notice           {at}: {NOTICES.get(code, code)} ('dismiss {code}' takes this away)")
    for god in God:
        facts = [counted(each("totals").get(god, "unknown"), "token")]
        if beam := each("beams").get(god):
            facts.append(f"beam {BEAMS.get(str(beam), beam)}")
        for key, *words in (("glitches", "glitch", "glitches"), ("missed_edges", "missed edge")):
            if number := each(key).get(god):
                facts.append(counted(number, *words))
        lines.append(f"  {god.capitalize():<16} {', '.join(facts)}")
    recorded = counted(report["last_seq"], "token")
    lines.append(
        f"  Ledger           {recorded}, {report['waiting']} not yet delivered to a companion"
        if report["last_seq"] is not None
        else "  Ledger           it cannot be opened"
    )
    if unrecorded := report.get("unrecorded"):
        lines.append(f"  Unrecorded       {counted(unrecorded, 'token')} in memory, until the disk takes them")
    if report["running"]:
        protocol = each("broker").get("protocol")
        lines.append(
            f"  Broker           {each('broker').get('address')}, "
            + (f"connected in MQTT {protocol}" if protocol else "not connected")
        )
        lines.append(f"  Controller       {report['kind']} {report['software']}, time stamps: {report['timing']}")
    return "\n".join(lines)


def _no_daemon(settings: Settings) -> int:
    return _complain(f"no daemon runs on {settings.state}: start it with 'run', or name its directory with --state")


def _complain(message: str, code: int = EXIT_REFUSED) -> int:
    """Print why a command is not carried out; return the exit code."""
    print(f"templo-controller: {message}", file=sys.stderr)
    return code
