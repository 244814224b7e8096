"""A live page's modules are one file, which is what they were one by one; what cannot be joined is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.web.rendering import scripts


def test_a_module_comes_once_after_those_that_it_imports_and_its_own_names_stay_its_own(tmp_path: Path) -> None:
    (tmp_path / "rain.js").write_text("// Drops.\n\nconst own = 2;\n\nexport function rain() {\n  return own;\n}\n")
    (tmp_path / "lake.js").write_text('import { rain } from "./rain.js";\n\nexport const DEEP = rain();\n')
    (tmp_path / "table.js").write_text(
        'import { DEEP } from "./lake.js";\nimport { rain } from "./rain.js";\n\nconst own = DEEP + rain();\n'
    )
    assert scripts.joined(tmp_path, "table.js").text.splitlines() == [
        *("const { rain } = (() => {", "const own = 2;", "function rain() {", "return own;", "}", "return { rain };"),
        *("})();", "const { DEEP } = (() => {", "const DEEP = rain();", "return { DEEP };", "})();"),
        *("(() => {", "const own = DEEP + rain();", "})();"),
    ]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('import { deep } from "./lake.js";', "table.js imports deep from lake.js, which does not export it"),
        ("import { DEEP } from './lake.js';", "cannot be joined"),
        ('import * as lake from "./lake.js";', "cannot be joined"),
        ("export default 9;", "cannot be joined"),
        ('import { DEEP } from "./lake.js";\nexport const DEEP = 3;', "table.js exports DEEP, as lake.js does"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path: Path, table: str, words: str) -> None:
    (tmp_path / "lake.js").write_text("export const DEEP = 9;\n")
    (tmp_path / "table.js").write_text(table + "\n")
    with pytest.raises(ValueError, match=words):
        scripts.joined(tmp_path, "table.js")
