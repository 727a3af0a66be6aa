"""Functions that an engine has only once they are registered: plans call them by names of the library.

Acero calls any function of pyarrow's registry by the extension URN of Arrow. `substrait_dsl.consumers.acero` registers
the functions that Acero lacks.
"""

from __future__ import annotations

from collections.abc import Iterable

from substrait_dsl.algebra.expressions import FunctionId, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk

ARROW = "urn:arrow:substrait_simple_extension_function"
"""The URN of the extension whose functions are those of pyarrow's registry, by their names there."""

PREFIX = "substrait_dsl."
"""The prefix of the names of registered functions."""


def registered_name(key: str) -> str:
    """Return the name under which a function is registered, by its key: names in the registry are unique."""
    return f"{PREFIX}{key.replace(':', '_')}"


def registered_function(function: FunctionId) -> FunctionId:
    """Return the registered function for one of the specification."""
    return FunctionId(ARROW, f"{registered_name(function.key)}:{function.key.partition(':')[2]}")


def is_registered_function(function: FunctionId) -> bool:
    """Whether a function has to be registered."""
    return function.urn == ARROW and function.name.startswith(PREFIX)


def registered_keys(tops: Iterable[Rel]) -> list[str]:
    """Return the keys of the specification's functions that plans call as registered ones."""
    calls = (node.function for top in tops for node in walk(top) if isinstance(node, ScalarFunction))
    return [_key(function) for function in dict.fromkeys(calls) if is_registered_function(function)]


def _key(function: FunctionId) -> str:
    """Return the key of the specification's function for a registered one."""
    name, _, signature = function.key.partition(":")
    return f"{name.removeprefix(PREFIX).removesuffix(f'_{signature}')}:{signature}"
