"""Update the tables of docs/protocol.md: ``python -m templo.contract docs/protocol.md``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from templo.contract.documentation import with_tables


def main(argv: Sequence[str]) -> int:
    """Write the tables into the document that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m templo.contract", description="Update the tables of the messages in a document."
    )
    parser.add_argument("document", nargs="?", type=Path, default=Path("docs/protocol.md"), help="(%(default)s)")
    document = parser.parse_args(argv).document
    document.write_text(with_tables(document.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
