"""Compiles the emulator's C sources for this very Python: what its wheel holds fits every Python, and is slower.

On Python 3.11, 0.25 s of a chip's time cost 2.5 s of CPU in place of 11.7.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path


def main() -> int:
    """Compile what is not yet compiled; where there is no compiler the wheel's own modules have to do."""
    spec = find_spec("rp2040py")
    if spec is None or not spec.submodule_search_locations:
        print("rp2040py is missing: 'make pico' installs it", file=sys.stderr)
        return 1
    native = Path(spec.submodule_search_locations[0]) / "native"
    include, suffix = Path(sysconfig.get_path("include")), sysconfig.get_config_var("EXT_SUFFIX")
    missing = [each for each in sorted(native.glob("*.c")) if not each.with_suffix(suffix).exists()]
    compiler = shutil.which("cc")
    if missing and (compiler is None or not (include / "Python.h").exists()):
        print("No compiler, or no headers of this Python: the emulator runs several times slower than it could.")
        return 0
    for source in missing:
        made = source.with_suffix(".part")
        subprocess.run(
            [compiler or "cc", "-O2", "-fPIC", "-shared", "-w", f"-I{include}", str(source), "-o", str(made)],
            check=True,
        )
        made.replace(source.with_suffix(suffix))
    return 0


if __name__ == "__main__":
    sys.exit(main())
