"""A contract of import-linter: what packages may import besides their own program is on a list."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain import helpers


class AllowList(Contract):
    """Checks each import by `source_modules`, and by all below them, that leads out of their top-level package.

    What is imported must be one of `allowed_modules` or below one. Of other people's packages, the standard library
    among them, only the whole can be allowed.
    """

    type_name = "allow_list"
    source_modules = fields.ListField(subfield=fields.ModuleExpressionField())
    allowed_modules = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that are on no list."""
        found = helpers.module_expressions_to_modules(
            graph, self.source_modules, as_packages=True, raise_if_unmatched=True
        )
        strays = [
            f"{source.name} -> {target}"
            for source in found
            for target in graph.find_modules_directly_imported_by(source.name)
            if target.partition(".")[0] != source.name.partition(".")[0]
            and not any(target == each or target.startswith(f"{each}.") for each in self.allowed_modules)
        ]
        return ContractCheck(kept=not strays, metadata={"strays": sorted(strays)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print them."""
        for stray in check.metadata["strays"]:
            output.print_error(f"{stray} is not allowed")
