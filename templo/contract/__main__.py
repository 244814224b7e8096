"""Update the tables of docs/protocol.md: ``python -m templo.contract docs/protocol.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from templo.contract.documentation import with_tables


def main() -> int:
    """Write the tables into the document that the command line names."""
    document = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/protocol.md")
    document.write_text(with_tables(document.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
