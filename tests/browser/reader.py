"""A player who does not see the page: finds controls by role and name and uses them by keys or as a reader does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession, Page
from playwright.sync_api import TimeoutError as TooLate

USED = ("button", "link", "DisclosureTriangle", "textbox", "checkbox", "radio", "combobox", "spinbutton", "slider")
"""The roles of what can be used; a summary has one of Chromium's own."""

GROUPS = ("group", "radiogroup", "region", "navigation", "table", "form", "list", "row")
SPOKEN = """() => {
  const region = document.getElementById("spoken");
  window.spoken = [];
  new MutationObserver(() => region.textContent && window.spoken.push(region.textContent)).observe(
    region, { childList: true, characterData: true, subtree: true });
}"""

CHANGES = """() => {
  const change = () => { window.changes += 1; };
  window.changes = 0;
  new MutationObserver(change).observe(
    document, { attributes: true, childList: true, characterData: true, subtree: true });
  document.addEventListener("focusin", change);
  document.addEventListener("focusout", change);
}"""
"""Counts what may change a control: while the count stands still, the tree needs no second look."""

CLICK = """function() {
  this.focus();
  this.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
}"""

LOST = """() => !document.activeElement || document.activeElement === document.body
  || !document.activeElement.checkVisibility({ visibilityProperty: true })"""
"""Whether no visible element has the focus: a reader begins again at the top of the page."""


SOON_MS = 5_000


@dataclass(frozen=True)
class Control:
    """One thing that can be used, as the accessibility tree has it."""

    role: str
    name: str
    groups: tuple[str, ...]
    """The named groups around it, the nearest first."""
    node: int
    """Its node in Chromium's document."""
    expanded: bool | None = None
    disabled: bool = False
    focused: bool = False

    def __str__(self) -> str:
        return f"{self.role} {self.name!r}" + "".join(f" in {group!r}" for group in self.groups)


class Reader:
    """A table's page by its accessibility tree. It knows no selector of the page."""

    def __init__(self, page: Page, *, keys: bool) -> None:
        """Use what it finds by Tab, Enter and Space, or else by what a screen reader does to a node."""
        self.page = page
        self.keys = keys
        self.tabs = 0
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Accessibility.enable")
        self._changes = -1
        self._found: list[Control] = []
        page.evaluate(SPOKEN)
        page.evaluate(CHANGES)

    def controls(self) -> list[Control]:
        """Return all that can be used now, in the order of the page."""
        changes: int = self.page.evaluate("window.changes")
        if changes != self._changes:
            self._found = self._look()
            self._changes = changes
        return self._found

    def _look(self) -> list[Control]:
        nodes = {each["nodeId"]: each for each in self._session.send("Accessibility.getFullAXTree")["nodes"]}
        found: list[Control] = []

        def walk(node: dict[str, Any], groups: tuple[str, ...]) -> None:
            role, name = _value(node.get("role")), _value(node.get("name"))
            known = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
            shown = not node.get("ignored")
            if shown and known.get("focusable") and role in USED:
                state = known.get("expanded"), bool(known.get("disabled")), bool(known.get("focused"))
                found.append(Control(role, name, groups, node["backendDOMNodeId"], *state))
            if shown and role in GROUPS and name:
                groups = (name, *groups)
            for child in node.get("childIds", ()):
                if child in nodes:
                    walk(nodes[child], groups)

        walk(next(each for each in nodes.values() if not each.get("parentId")), ())
        return found

    def faults(self) -> list[str]:
        """Return the controls without a name, and those that nothing distinguishes from another."""
        found = self.controls()
        names = Counter((each.role, each.name, each.groups) for each in found)
        nameless = [f"no name: {each}" for each in found if not each.name]
        twice = [f"{names[each.role, each.name, each.groups]} times: {each}" for each in found]
        return [*nameless, *dict.fromkeys(words for words in twice if not words.startswith("1 "))]

    def use(self, control: Control) -> None:
        """Reach a control and use it."""
        if self.keys:
            self.reach(control)
            self.page.keyboard.press("Space" if control.role == "DisclosureTriangle" else "Enter")
        else:
            self._call(control, CLICK)

    def reach(self, control: Control) -> None:
        """Move the focus to a control by Tab or Shift+Tab."""
        for _ in range(300):
            where = self._call(
                control,
                """function() {
                  const at = document.activeElement;
                  if (at === this) return "here";
                  return at.compareDocumentPosition(this) & Node.DOCUMENT_POSITION_PRECEDING ? "Shift+Tab" : "Tab";
                }""",
            )
            if where == "here":
                return
            self.tabs += 1
            self.page.keyboard.press(where)
        raise AssertionError(f"no key reaches {control}")

    @property
    def focused(self) -> str:
        """The name of the control that has the focus, or an empty text."""
        return next((each.name for each in self.controls() if each.focused), "")

    @property
    def lost(self) -> bool:
        """Whether the focus is nowhere and stays there: a change that is being drawn may have it for a moment."""
        try:
            self.page.wait_for_function(f"() => !({LOST})()", timeout=SOON_MS)
        except TooLate:
            return True
        return False

    @property
    def spoken(self) -> Sequence[str]:
        """All that the live region said since the page was opened."""
        found: list[str] = self.page.evaluate("window.spoken ?? []")
        return found

    def _call(self, control: Control, function: str) -> Any:
        resolved = self._session.send("DOM.resolveNode", {"backendNodeId": control.node})
        asked = {"objectId": resolved["object"]["objectId"], "functionDeclaration": function, "returnByValue": True}
        return self._session.send("Runtime.callFunctionOn", asked)["result"].get("value")


def _value(field: dict[str, Any] | None) -> str:
    return re.sub(r"\s+", " ", str((field or {}).get("value", ""))).strip()
