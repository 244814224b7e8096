r"""Joins the script modules of a live page for delivery: one file, so that a phone asks once instead of for each.

The modules stay what they are, and browsers run them as they stand: each is put into a function of its own, after
those that it imports, and what it exports is named outside of it.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     _ = (Path(folder) / "lake.js").write_text("export const DEEP = 9;\n")
...     _ = (Path(folder) / "table.js").write_text('import { DEEP } from "./lake.js";\nconsole.log(DEEP);\n')
...     print(joined(Path(folder), "table.js").text)
const { DEEP } = (() => {
const DEEP = 9;
return { DEEP };
})();
(() => {
console.log(DEEP);
})();
<BLANKLINE>
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from companion.web.rendering.styles import Joined

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://.*|/\*\*(?s:.*?)\*/)\n", re.MULTILINE)


@cache
def joined(folder: Path, name: str) -> Joined:
    """Join a module of a folder and all that it imports from there.

    Raises `ValueError` where two modules export one name, one is exported that is not, or a line is of another form
    than ``import { a, b } from "./c.js";`` and ``export`` before a class, a constant or a function.
    """
    exported: dict[str, str] = {}
    texts: dict[str, str] = {}

    def add(module: str) -> None:
        text = (folder / module).read_text(encoding="utf-8")
        for names, other in _IMPORT.findall(text):
            if other not in texts:
                add(other)
            for missing in [each for each in names.split(", ") if exported.get(each) != other]:
                raise ValueError(f"{module} imports {missing} from {other}, which does not export it")
        for each in (own := _EXPORT.findall(text)):
            if exported.setdefault(each, module) != module:
                raise ValueError(f"{module} exports {each}, as {exported[each]} does")
        text = _EXPORT.sub("", _IMPORT.sub("", _COMMENT.sub("", text)))
        if left := _LEFT.search(text):
            raise ValueError(f"{module}: {left[0]!r} cannot be joined")
        names = f"{{ {', '.join(own)} }}"
        head, end = (f"const {names} = ", f"return {names};\n") if own else ("", "")
        lines = "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())
        texts[module] = f"{head}(() => {{\n{lines}\n{end}}})();\n"

    add(name)
    return Joined.of("".join(texts.values()))
