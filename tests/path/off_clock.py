"""Runs the controller with a wrong clock on the wall: ``python -m tests.path.off_clock SECONDS run ...``."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta, tzinfo

from controller.app import command_line, daemon


def main() -> int:
    off = timedelta(seconds=float(sys.argv[1]))

    class Off(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + off

    daemon.datetime = Off  # type: ignore[misc]
    sys.argv[:] = ["controller", *sys.argv[2:]]
    return command_line.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
