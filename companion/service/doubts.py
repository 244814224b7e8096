"""Takes in the temples' doubts about tokens that they have counted; each is stored once."""

from __future__ import annotations

from dataclasses import replace

from companion.model.temples import Source
from companion.service.change import Change
from companion.service.workspace import Workspace
from templo import contract


class DoubtIntake:
    """Takes in the temples' doubts."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def receive(self, name: str, doubt: contract.Doubt) -> None:
        """Store a temple's doubt if it is the next of its source; any other changes nothing.

        A temple sends its doubts again, in order, until they are acknowledged. If the store fails, its error is
        raised and nothing has changed.
        """
        self._workspace.run(lambda change: self._take(change, name, doubt), temples=[name])

    def _take(self, change: Change, name: str, doubt: contract.Doubt) -> None:
        source = change.source(doubt.source) or Source(doubt.source, name, unsure=True)
        if doubt.number != source.mark.doubts + 1:
            return
        change.put_source(replace(source, mark=replace(source.mark, doubts=doubt.number)))
        change.also(lambda store: store.add_doubt(name, doubt))
