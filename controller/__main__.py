"""``python -m controller``."""

import sys

from controller.app.command_line import main

if __name__ == "__main__":
    sys.exit(main())
