"""String functions that an engine computes right for most strings; for others the call fails."""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FunctionId, Literal, ScalarFunction
from substrait_dsl.engines.lowering.terms import as_type, call, case_when, equal, fail_where, negate


def reverse_text(node: ScalarFunction, value: Expression, urn: str) -> Expression:
    """Return the characters of a string in reverse order; the engine reverses graphemes.

    Args:
        node: the call of ``reverse``.
        value: the text.
        urn: of the extension with ``length_grapheme``, which counts what is seen as one character.
    """
    type_ = t.I64(nullable=value.type.nullable)
    seen = ScalarFunction(FunctionId(urn, "length_grapheme:str"), (value,), type_)
    is_one_each = equal(as_type(call("string", "char_length", value), type_), seen)
    return _where(fail_where(negate(is_one_each), "reverse of a text of characters of several code points"), node)


def lower_text(node: ScalarFunction, value: Expression) -> Expression:
    """Return a string in lower case.

    The engine knows neither the sigma at the end of words nor the letter for a dotted I.
    """
    dotted, two = (Literal(text, t.String()) for text in ("\u0130", "i\u0307"))
    plain = as_type(call("string", "replace", value, dotted, two), value.type)
    has_sigma = call("string", "contains", value, Literal("\u03a3", t.String()))
    return _where(fail_where(has_sigma, "lower of a text with a capital sigma"), attrs.evolve(node, arguments=(plain,)))


def _where(condition: Expression, value: Expression) -> Expression:
    return case_when([(condition, value)], Literal(None, value.type.as_nullable()))
