"""What the tests on engines share: the document's tables as relations, and running an expression as plan bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import substrait_dsl as sd
from substrait_dsl.algebra.node import Rel
from substrait_dsl.partiql import BindingsData, BindingsExpr, Mode, StoredTable, Value, ValueExpr, parse
from substrait_dsl.partiql.lowered import Source
from substrait_dsl.partiql.lowering import lower_bindings, lower_values
from substrait_dsl.partiql.output import bindings_of, columns_of, values_of

FOO_ROWS = [(100, "Foo #1", "c7559f84-3768"), (200, "Foo #2", "d2bdb79e-4432")]
BAR_ROWS = [(300, "Bar #1"), (400, "Bar #2")]
FOO_SCHEMA = {"FooId": "i32", "FooName": "varchar<50>?", "uid": "string"}
BAR_SCHEMA = {"BarId": "i32", "BarName": "varchar<50>?"}

VIRTUAL: Mapping[str, Source] = {
    "Foo": StoredTable(sd.read_virtual(FOO_ROWS, FOO_SCHEMA), "uid"),
    "Bar": sd.read_virtual(BAR_ROWS, BAR_SCHEMA),
}
NAMED: Mapping[str, Source] = {
    "Foo": StoredTable(sd.read_named("Foo", FOO_SCHEMA), "uid"),
    "Bar": sd.read_named("Bar", BAR_SCHEMA),
}


def through_bytes(
    text: str | ValueExpr | BindingsExpr,
    tables: Mapping[str, Source],
    run: Callable[[Rel], Iterable[Sequence[Any]]],
    mode: Mode = "permissive",
) -> Value | BindingsData:
    """What an engine gives for an expression. It gets the relation as it is read back from the bytes of a plan."""
    node = parse(text) if isinstance(text, str) else text
    lowered = lower_values(node, tables, mode) if isinstance(node, ValueExpr) else lower_bindings(node, tables, mode)
    written = columns_of(lowered)
    plan = sd.Relation(written).to_plan()
    read = sd.Plan.from_bytes(plan.to_bytes())
    assert read == plan
    (root,) = read.roots
    rows = run(root._rel)
    return bindings_of(lowered, rows) if not isinstance(node, ValueExpr) else values_of(lowered, rows)  # type: ignore[arg-type]
