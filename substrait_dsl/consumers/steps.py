"""The steps of a plan that an engine's error may come from: engines that take bytes do not report them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from substrait_dsl.algebra.expressions import AggregateFunction, Cast, ScalarFunction
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import Read
from substrait_dsl.catalog.implementations import OF_IMPLEMENTATION
from substrait_dsl.errors import ExecutionError
from substrait_dsl.fluent.lowering import step_of
from substrait_dsl.render.step_summary import Step

MAX_PLACES = 3
"""How many places an error names that it may come from."""


def _calls(*names: str) -> Callable[[Node, str], bool]:
    return lambda node, _: isinstance(node, ScalarFunction | AggregateFunction) and node.function.name in names


_CAUSES: Mapping[str, Callable[[Node, str], bool]] = {
    rf"{OF_IMPLEMENTATION}([^\s:]+)": lambda node, name: (
        isinstance(node, ScalarFunction) and node.function.name == name
    ),
    r'column "(.+)" is required, but it is NULL': lambda node, name: (
        isinstance(node, Read) and name in node.base_schema.names
    ),
    r"[Dd]ivi(?:de|sion) by zero()": _calls("divide", "modulus"),
    r"[Oo]verflow()": _calls("add", "subtract", "multiply", "divide", "negate", "abs", "power", "sum", "factorial"),
    r"(?:[Cc]ast|[Cc]onver(?:t|sion)) ?()": lambda node, _: isinstance(node, Cast),
}
"""Patterns of error messages, and the nodes of a plan that they may come from: the first that fits."""


def name_steps(error: ExecutionError, words: str, trees: Sequence[Rel]) -> None:
    """Let an error say which steps it may come from, if its words tell that."""
    steps = list(dict.fromkeys(_steps(words, trees)))
    if not steps or len(steps) > MAX_PLACES:
        return
    error.message = f"{error.message} {', or '.join(map(str, steps))}"
    error.args = (error.message,)
    if len(steps) == 1:
        error.step, error.expression = steps[0].text, steps[0].part


def _steps(words: str, trees: Sequence[Rel]) -> Iterator[Step]:
    for pattern, may_be in _CAUSES.items():
        if (found := re.search(pattern, words)) is not None:
            for tree in trees:
                yield from (step_of(tree, node) for node in walk(tree) if may_be(node, found[1]))
            return
