"""``python -m companion``."""

import sys

from companion.cli.command_line import main

if __name__ == "__main__":
    sys.exit(main())
