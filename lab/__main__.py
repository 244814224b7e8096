"""``python -m lab``, at low priority, so that it does not slow down running tables."""

import os
import sys

from lab.command_line import main

if __name__ == "__main__":
    os.nice(10)
    sys.exit(main())
