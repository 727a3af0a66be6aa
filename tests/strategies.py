"""Hypothesis strategies that several test files share."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

from hypothesis import strategies as st

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Compound, DaySeconds, Literal, YearMonths
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.type_syntax import KEYWORDS

URNS = {"point": "extension:test:shapes", "vector": "extension:test:shapes", "dict4": "extension:test:variations"}
"""The user-defined types and the variation that `types` uses, and the URNs that declare them."""

_VARIATIONS = st.one_of(st.none(), st.just(t.TypeVariation(URNS["dict4"], "dict4")))
_ENUM_WORDS = st.from_regex(r"[A-Z]{3,8}", fullmatch=True).filter(
    lambda word: word.lower() not in {*KEYWORDS, "true", "false", "null"}
)


def types(
    *,
    max_depth: int = 3,
    unbound: bool = True,
    variations: bool = True,
    user_defined: bool = True,
    functions: bool = True,
    max_length: int = t.MAX_LENGTH,
) -> Any:
    """Types of every kind, nested at most `max_depth` deep, required and nullable."""
    common = {"nullable": st.booleans(), "variation": _VARIATIONS if variations else st.none()}
    simple = [kind for kind in t.SIMPLE_TYPES if kind is not t.Unbound]
    leaves = [
        *(st.builds(kind, **common) for kind in simple),
        *(st.builds(kind, st.integers(0, 12), **common) for kind in t.PRECISION_TYPES),
        *(st.builds(kind, st.integers(1, max_length), **common) for kind in t.LENGTH_TYPES),
        st.integers(1, 38).flatmap(
            lambda precision: st.builds(t.Decimal, st.just(precision), st.integers(0, precision), **common)
        ),
        *([st.just(t.Unbound())] if unbound else []),
    ]
    return _nested(st.one_of(leaves), common, user_defined, functions, max_depth)


def _nested(inner: Any, common: dict[str, Any], user_defined: bool, functions: bool, depth: int) -> Any:
    if depth == 0:
        return inner
    below = _nested(inner, common, user_defined, functions, depth - 1)
    several = st.lists(below, max_size=4).map(tuple)
    compounds = [
        st.builds(t.List, below, **common),
        st.builds(t.Map, below, below, **common),
        st.builds(t.Struct, several, **common),
    ]
    if functions:
        compounds.append(st.builds(t.Func, several, below, nullable=common["nullable"]))
    if user_defined:
        parameter = st.one_of(
            below,
            st.none(),
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.text(max_size=8),
            st.builds(t.EnumParameter, _ENUM_WORDS),
        )
        parameters = st.lists(parameter, max_size=3).map(tuple)
        names = st.sampled_from(["point", "vector"])
        compounds.append(st.builds(t.UserDefined, st.just(URNS["point"]), names, parameters, **common))
    return st.one_of(inner, *compounds)


def literals(type_: t.Type) -> Any:
    """Literals of exactly this type, of every value that it can hold; no type in it is a func or unbound."""
    some = st.deferred(lambda: _values(type_)).map(lambda value: Literal(value, type_))
    return st.one_of(st.just(Literal(None, type_)), some) if type_.nullable else some


def any_literals() -> Any:
    """Literals of types of every kind that has any."""
    return types(max_depth=2, unbound=False, functions=False, max_length=6).flatmap(literals)


def _values(type_: t.Type) -> Any:
    match type_:
        case t.List():
            return st.lists(literals(type_.element), max_size=3).map(tuple)
        case t.Map():
            keys = st.deferred(lambda: _values(type_.key)).map(lambda value: Literal(value, type_.key))  # never NULL
            return st.lists(st.tuples(keys, literals(type_.value)), max_size=2).map(tuple)
        case t.Struct():
            return st.tuples(*map(literals, type_.types))
        case t.UserDefined():
            message = st.builds(AnyMessage, st.text(max_size=9), st.binary(max_size=4))
            return st.one_of(st.lists(literals(t.I64(nullable=True)), max_size=2).map(tuple), message)
        case t.FixedChar():
            return st.text(min_size=type_.length, max_size=type_.length)
        case t.VarChar():
            return st.text(max_size=type_.length)
        case t.FixedBinary():
            return st.binary(min_size=type_.length, max_size=type_.length)
        case t.Decimal():
            most = 10**type_.precision - 1
            return st.integers(-most, most).map(lambda unscaled: _decimal(unscaled, type_.scale))
        case t.PrecisionTime():
            return st.integers(0, 86_400 * 10**type_.precision - 1)
        case t.IntervalDay():
            return _day_seconds(type_.precision)
        case t.IntervalCompound():
            return st.builds(Compound, _VALUES[t.IntervalYear], _day_seconds(type_.precision))
        case _ if type(type_) in t.INTEGER_RANGES:
            return st.integers(*t.INTEGER_RANGES[type(type_)])
        case _:
            return _VALUES[type(type_)]


_VALUES: dict[type[t.Type], Any] = {
    t.Boolean: st.booleans(),
    t.FP32: st.floats(width=32),
    t.FP64: st.floats(),
    t.String: st.text(max_size=5),
    t.Binary: st.binary(max_size=4),
    t.Date: st.dates(dt.date(1000, 1, 1)),
    t.PrecisionTimestamp: st.integers(-(2**63), 2**63 - 1),
    t.PrecisionTimestampTZ: st.integers(-(2**63), 2**63 - 1),
    t.IntervalYear: st.builds(YearMonths, st.integers(-5_000, 5_000), st.integers(-60_000, 60_000)),  # 120,000 months
    t.UUID: st.uuids(),
}


def _decimal(unscaled: int, scale: int) -> decimal.Decimal:
    return decimal.Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


def _day_seconds(precision: int) -> Any:
    fraction = 10**precision - 1
    return st.builds(
        DaySeconds,
        st.integers(-3_650_000, 3_650_000),
        st.integers(-(2**31) + 1, 2**31 - 1),
        st.integers(-fraction, fraction),
    )
