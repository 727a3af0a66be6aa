"""Imports form no cycle when modules are loaded; where functions close one, it is of a group with a reason."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.test_layers import MODULES, When, imports

CYCLES = {
    "fluent": "verbs of a relation make plans, groups and executions, which are made of relations: each is loaded when "
    "it is used, so that a small plan loads little",
    "functions": "PartiQL is lowered to functions, which are called with expressions of the fluent API",
    "everyday": "functions for everyday work are expressions of the fluent API, which reads dates in text files by one",
    "consumers": "a plan starts an execution, which lowers plans",
    "partiql": "a value expression prints itself; what prints it matches on all classes of value expressions. And a "
    "relation becomes a value by `as_value`",
    "spark.session": "a session is started for an engine, whose versions are those of its server, a session",
}
"""The groups of modules that know each other when their functions are called, by their names, and why."""

KNOT = ("fluent", "functions", "everyday", "consumers", "partiql")
"""Groups that know each other, too."""


def group_of(module: str) -> str:
    """The group of a module; the module itself if it stands in none."""
    group = next((each for each in CYCLES if module == each or module.startswith(f"{each}.")), module)
    return KNOT[0] if group in KNOT and group in CYCLES else group


def import_graph(*when: When, are_grouped: bool) -> dict[str, set[str]]:
    """What each module, or each group, imports of the others."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        importer = group_of(module) if are_grouped else module
        for imported, found in imports(path):
            target = imported.removeprefix("substrait_dsl.")
            if target in MODULES and found in when:
                graph.setdefault(importer, set()).add(group_of(target) if are_grouped else target)
    return {module: targets - {module} for module, targets in graph.items()}


def test_loading_has_no_cycle() -> None:
    TopologicalSorter(import_graph("loaded", are_grouped=False)).prepare()


def test_functions_close_cycles_in_known_groups_only() -> None:
    TopologicalSorter(import_graph("loaded", "called", are_grouped=True)).prepare()


@pytest.mark.parametrize("group", CYCLES)
def test_every_group_is_needed(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CYCLES, group)
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph("loaded", "called", are_grouped=True)).prepare()
