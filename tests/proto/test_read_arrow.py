"""Extended expressions that Arrow writes: what is read of them, and how each liberty is told."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import substrait

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.extended import ExtendedExpression
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.extended import encode_extended_expression, extended_from_bytes
from substrait_dsl.proto.plan import to_bytes

COLUMNS = pa.schema(
    [
        ("x", pa.float64()),
        ("i", pa.int32()),
        ("items", pa.list_(pa.int64())),
        ("map", pa.map_(pa.string(), pa.int64())),
        ("pair", pa.struct([("one", pa.int64()), ("two", pa.struct([("three", pa.int32()), ("four", pa.int32())]))])),
        ("pairs", pa.list_(pa.struct([("in", pa.int64())]))),
    ]
)


def read(expression: pc.Expression, name: str = "q") -> tuple[ExtendedExpression, list[str], bytes]:
    sent = bytes(substrait.serialize_expressions([expression], [name], COLUMNS))
    read, findings = extended_from_bytes(sent)
    with pytest.raises(PlanFormatError):
        extended_from_bytes(sent, strict=True)
    return read, [finding.message for finding in findings], to_bytes(encode_extended_expression(read))


@pytest.mark.parametrize(
    ("column", "names"),
    [
        ("x", "q"),
        ("items", "q"),
        ("map", "q"),
        ("pair", "q one two three four"),  # Arrow: one, three, four, two, q
        ("pairs", "q in"),  # Arrow: in, item, q
    ],
)
def test_the_names_of_nested_columns_are_those_that_arrow_means(column: str, names: str) -> None:
    """The specification has them depth first, and none for the parts of lists and maps."""
    extended, told, data = read(pc.field(column))
    (referred,) = extended.referred
    assert referred.names == tuple(names.split())
    assert any("Arrow says the names of nested fields in front" in message for message in told) is (column != "x")
    assert extended_from_bytes(data) == (extended, ())


def test_a_schema_that_does_not_name_the_fields_inside_lists_is_read() -> None:
    extended, told, _ = read(pc.field("x") > 1)
    assert extended.base_schema.depth_first_names() == (
        *("x", "i", "items", "map"),
        *("pair", "one", "two", "three", "four"),
        *("pairs", "0"),
    )
    assert "a schema does not name the fields of structs inside lists and maps: read as 0, 1, ..." in told


@pytest.mark.parametrize(
    ("expression", "value", "said"),
    [
        (pc.field("x") + pc.field("x"), "ERROR", "unknown option of add 'overflow'"),
        (pc.field("x") / pc.field("x"), "ERROR", "unknown option of divide 'overflow'"),
        (pc.power(pc.field("x"), pc.field("x")), "SILENT", "power(x: fp64, y: fp64) -> fp64 has no options"),
    ],
)
def test_options_that_the_specification_does_not_have_are_kept(
    expression: pc.Expression, value: str, said: str
) -> None:
    extended, told, data = read(expression)
    assert [said in message and message.endswith("kept unchanged") for message in told].count(True) == 1
    called = extended.referred[0].expression
    assert isinstance(called, ex.ScalarFunction)
    assert called.options == (ex.FunctionOption("overflow", (value,)),)
    assert extended_from_bytes(data)[0] == extended


def test_integers_in_a_list_have_the_type_of_what_is_looked_for() -> None:
    """Python's integers are 64 bits wide in Arrow; Arrow casts them when it evaluates the expression."""
    extended, told, data = read(pc.field("i").isin([1, 2]))
    found = extended.referred[0].expression
    assert isinstance(found, ex.SingularOrList)
    assert [str(option) for option in found.options] == ["literal(1, i32)", "literal(2, i32)"]
    assert "an option of an IN list is i64, what it stands beside i32?; read as i32" in told
    assert extended_from_bytes(data) == (extended, ())
    with pytest.raises(PlanFormatError, match="the value is i32"):
        read(pc.field("i").isin([2**31]))
