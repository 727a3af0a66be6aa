"""The plans of the document's examples run on DataFusion, with the rows that the document says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from substrait_dsl.algebra.node import Rel
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.partiql import parse_data
from tests.partiql.engines import BAR_ROWS, FOO_ROWS, NAMED, through_bytes
from tests.partiql.test_examples import BINDINGS, VALUES

if TYPE_CHECKING:
    from datafusion import SessionContext

EXAMPLES = {name: example for name, example in {**BINDINGS, **VALUES}.items() if name != "struct_concat"}
"""`struct_concat` of two constants is no collection: there is nothing to run."""


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    context = SessionContext()
    for name, rows, columns in (
        ("Foo", FOO_ROWS, ("FooId", "FooName", "uid")),
        ("Bar", BAR_ROWS, ("BarId", "BarName")),
    ):
        kinds = (pa.int32(), pa.string(), pa.string())
        fields = zip(columns, kinds, strict=False)
        schema = pa.schema([pa.field(column, kind, column.endswith("Name")) for column, kind in fields])
        arrays = [pa.array(cells, field.type) for cells, field in zip(zip(*rows, strict=True), schema, strict=True)]
        context.register_record_batches(f'"{name}"', [[pa.record_batch(arrays, schema=schema)]])
    return context


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples(context: SessionContext, text: str, expected: str) -> None:
    from datafusion.substrait import Consumer, Serde

    def run(rel: Rel) -> list[tuple[object, ...]]:
        plan = Serde.deserialize_bytes(wrap_relation(rel).to_plan().to_bytes())
        frame = context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, plan))
        return [tuple(row.values()) for batch in frame.collect() for row in batch.to_pylist()]

    assert through_bytes(text, NAMED, run) == parse_data(expected)
