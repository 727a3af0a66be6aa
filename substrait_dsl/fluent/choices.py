"""Arguments that are True or False, an expression, a catalogue, or one word of a few."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType

from substrait_dsl.algebra.findings import WEIGHTS
from substrait_dsl.catalog import Catalog
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, quote, require, require_choice
from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.guidance import no_column


def require_flag(name: str, value: object) -> None:
    """Raise `InvalidArgumentError` for what is neither True nor False: Python takes the text "no" for true."""
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"{name} is True or False", got=value)


def require_strictness(strict: object) -> None:
    """Raise an error for what is neither True nor False nor the weight of a finding."""
    if not isinstance(strict, bool):
        require_choice("strict", strict, WEIGHTS, "strictness")


def require_count(name: str, value: object) -> None:
    """Raise `InvalidArgumentError` for what is no number of things that Java can count: True is none either."""
    if type(value) is not int or not 0 <= value < 2**31:
        raise InvalidArgumentError(f"{name} is a number from 0 to 2147483647", got=value)


def require_expression(value: object, expected: str) -> None:
    """Raise for what is no expression, where a Python value does not say what it is meant to be."""
    match value:
        case ExprBase():
            return
        case NoValue():
            raise TypeMismatchError(f"{expected}, but {value._lacks}", hint=value._advice)
        case str():
            raise no_column(expected, value)
        case None:
            hint = "null(type) is a NULL"
        case _:
            hint = "r.x or col('x') is a column, lit(value) a constant"
    raise InvalidArgumentError(f"{expected}", got=value, hint=hint)


def require_catalog(catalog: object) -> None:
    """Raise `InvalidArgumentError` for what is neither a catalogue nor None."""
    require(
        catalog,
        (Catalog, NoneType),
        "the catalog is a Catalog or None",
        "standard_catalog().with_extension(...) makes one",
    )


def require_method(method: object, words: Sequence[str], receiver: str) -> None:
    """Raise for a `method` that is none of these words: also for a column that someone wanted to call so."""
    if isinstance(method, NoValue | ExprBase) or callable(method):
        raise InvalidArgumentError(
            f"method is an argument of the verb, one of {quote(words)}, and no name for a column here",
            hint='give the column another name; rename(other="method") changes it afterwards',
        )
    require_choice("method", method, words, receiver)
