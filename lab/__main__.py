"""``python -m lab``, at low priority: it leaves the processor to whoever else wants it, a running table above all."""

import os
import sys

from lab.command_line import main

if __name__ == "__main__":
    os.nice(10)
    sys.exit(main())
