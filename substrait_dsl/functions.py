"""Every function of the specification's extensions, by name: ``f.sum(r.price)``, ``f.extract("YEAR", r.day)``.

A function's arguments are expressions, or Python values, which become literals of the type that the chosen overload
needs; words are passed as str, functions as Python functions: ``f.transform(r.prices, lambda x: x * 2)``. Function
options are keyword arguments: ``f.add(a, b, overflow="ERROR")``. An aggregate function is a measure; it becomes an
expression by ``.over(...)``, as a window function does. Functions whose name Python keeps for itself end in an
underscore: ``and_``, ``or_``, ``not_``.

``help(f.substring)`` shows what a function does, its overloads and an example. `Functions` offers those of a user's own
extension.
"""

from __future__ import annotations

from functools import cache

from substrait_dsl.errors import UnknownFunctionError as UnknownFunctionError
from substrait_dsl.fluent.namespace import CatalogFunction as CatalogFunction
from substrait_dsl.fluent.namespace import Functions as Functions
from substrait_dsl.tracebacks import end_tracebacks_at_caller


@cache
def _standard() -> Functions:
    return Functions()


@end_tracebacks_at_caller
def __getattr__(name: str) -> CatalogFunction:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function: CatalogFunction = getattr(_standard(), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return dir(_standard())
