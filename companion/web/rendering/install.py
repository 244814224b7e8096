"""Compiles every template: ``python3 -m companion.web.rendering.install``, as Debian's package does once installed.

Else the first start compiles those of the first page, and the first visit of each other page its own.
"""

from __future__ import annotations

from companion.games import registry
from companion.web.rendering.compiled import INSTALLED
from companion.web.rendering.renderer import environment


def main() -> None:
    """Compile the templates of the pages and of the games; raises `OSError` where they cannot be kept."""
    INSTALLED.mkdir(exist_ok=True)
    folders = {name: registry.folder(game) for name, game in registry.load().items()}
    templates = environment(tuple(folders.items()), INSTALLED)
    for name in templates.list_templates(["html"]):
        templates.get_template(name)
    for file in INSTALLED.iterdir():
        file.chmod(0o644)  # the companion is another user


if __name__ == "__main__":
    main()
