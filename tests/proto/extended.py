"""Extended expressions over one row, for the tests of their message."""

from __future__ import annotations

from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.schema import NamedStruct
from tests.proto.plans import T, col, equal, outer

POINT = t.Struct.of({"x": t.I8(), "y": t.I8()})
BASE = NamedStruct.of({"a": t.I64(), "b": t.I64(nullable=True), "p": POINT})
a, b, p = (ex.FieldReference(position, type_) for position, type_ in enumerate(BASE.types))
HINT = AnyMessage("type.example/acme.Hint", b"\x08\x07")
EXISTS = ex.SetPredicate("exists", r.Filter(T, equal(col(T, 0), outer(7, 1, t.I64(nullable=True)))))


def extended(
    *nodes: ex.Expression | ex.AggregateFunction, base: NamedStruct = BASE, **known: Any
) -> ExtendedExpression:
    """These expressions under the names ``c0``, ``c1``; fields of structs are called by their positions."""
    referred = []
    for number, node in enumerate(nodes):
        type_ = node.output_type if isinstance(node, ex.AggregateFunction) else node.type
        referred.append(ExpressionReference(node, (f"c{number}", *t.struct_names(type_))))
    return ExtendedExpression(base, tuple(referred), **known)
