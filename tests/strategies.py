"""Hypothesis strategies that several test files share."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.type_syntax import KEYWORDS

URNS = {"point": "extension:test:shapes", "vector": "extension:test:shapes", "dict4": "extension:test:variations"}
"""The user-defined types and the variation that `types` uses, and the URNs that declare them."""

_VARIATIONS = st.one_of(st.none(), st.just(t.TypeVariation(URNS["dict4"], "dict4")))
_ENUM_WORDS = st.from_regex(r"[A-Z]{3,8}", fullmatch=True).filter(
    lambda word: word.lower() not in {*KEYWORDS, "true", "false", "null"}
)


def types(*, max_depth: int = 3, unbound: bool = True, variations: bool = True, user_defined: bool = True) -> Any:
    """Types of every kind, nested at most `max_depth` deep, required and nullable."""
    common = {"nullable": st.booleans(), "variation": _VARIATIONS if variations else st.none()}
    simple = [kind for kind in t.SIMPLE_TYPES if kind is not t.Unbound]
    leaves = [
        *(st.builds(kind, **common) for kind in simple),
        *(st.builds(kind, st.integers(0, 12), **common) for kind in t.PRECISION_TYPES),
        *(st.builds(kind, st.integers(1, t.MAX_LENGTH), **common) for kind in t.LENGTH_TYPES),
        st.integers(1, 38).flatmap(
            lambda precision: st.builds(t.Decimal, st.just(precision), st.integers(0, precision), **common)
        ),
        *([st.just(t.Unbound())] if unbound else []),
    ]
    return _nested(st.one_of(leaves), common, user_defined, max_depth)


def _nested(inner: Any, common: dict[str, Any], user_defined: bool, depth: int) -> Any:
    if depth == 0:
        return inner
    below = _nested(inner, common, user_defined, depth - 1)
    several = st.lists(below, max_size=4).map(tuple)
    compounds = [
        st.builds(t.List, below, **common),
        st.builds(t.Map, below, below, **common),
        st.builds(t.Struct, several, **common),
        st.builds(t.Func, several, below, nullable=common["nullable"]),
    ]
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
