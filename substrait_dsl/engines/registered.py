"""Functions that an engine has only once they are registered there: plans call them by names of the library's own.

Acero calls any function of pyarrow's registry by the extension URN of Arrow. What it has no function of its own for,
`substrait_dsl.consumers.acero` registers.
"""

from __future__ import annotations

from collections.abc import Iterable

from substrait_dsl.algebra.expressions import FunctionId, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk

ARROW = "urn:arrow:substrait_simple_extension_function"
"""The URN of the extension whose functions are those of pyarrow's registry, by their names there."""

PREFIX = "substrait_dsl."
"""How the names of registered functions begin."""


def registered_name(key: str) -> str:
    """The name under which a function is registered, by its key: the registry has one function of each name."""
    return f"{PREFIX}{key.replace(':', '_')}"


def registered_function(function: FunctionId) -> FunctionId:
    """The registered function that stands for one of the specification."""
    return FunctionId(ARROW, f"{registered_name(function.key)}:{function.key.partition(':')[2]}")


def is_registered_function(function: FunctionId) -> bool:
    """Whether a function is one that has to be registered."""
    return function.urn == ARROW and function.name.startswith(PREFIX)


def registered_keys(tops: Iterable[Rel]) -> list[str]:
    """The keys of the functions of the specification that plans call as registered ones."""
    calls = (node.function for top in tops for node in walk(top) if isinstance(node, ScalarFunction))
    return [_key(function) for function in dict.fromkeys(calls) if is_registered_function(function)]


def _key(function: FunctionId) -> str:
    """The key of the function of the specification that a registered one stands for."""
    name, _, signature = function.key.partition(":")
    return f"{name.removeprefix(PREFIX).removesuffix(f'_{signature}')}:{signature}"
