"""Small tables, and expressions over them, for the tests that read expressions."""

from __future__ import annotations

from google.protobuf.message import Message

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from tests.proto.plans import T, add, col, count_rows, equal, gt, i64, outer, table

I64, TEXT = t.I64(), t.String()
POINT = t.Struct((t.I8(), t.I8(nullable=True)), nullable=True)
N = r.Read(NamedStruct.of({"p": POINT, "l": t.List(t.List(I64)), "m": t.Map(TEXT, POINT)}), r.NamedTable(("nested",)))
U = table("u", k=I64)
D = table("d", d=t.Decimal(15, 2), wide=t.Decimal(38, 2))
COUNT = r.Aggregate(U, (), (), (ex.Measure(count_rows()),), ("n",))
a, b, s = (col(T, position) for position in range(3))


def projected(expression: ex.Expression, rel: r.Rel = T) -> r.Rel:
    return r.Project(rel, (expression,), ("x",))


def exists(rel: r.Rel) -> ex.Expression:
    return ex.SetPredicate("exists", rel)


def matching(anchor: int, position: int = 0) -> r.Rel:
    """The rows of `U` whose key equals a column of an outer row."""
    return r.Filter(U, equal(col(U, 0), outer(anchor, position, I64)))


PLUS = r.Filter(T, gt(add(a, b), i64(0)))


def oneof(message: type[Message], name: str) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.oneofs_by_name[name].fields}
