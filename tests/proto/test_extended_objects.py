"""Extended expressions as people have them, and hostile bytes in place of one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    PlanFormatError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    UnsupportedError,
)
from substrait_dsl.proto.extended import (
    encode_extended_expression,
)
from substrait_dsl.proto.plan import to_bytes
from tests.proto.extended import BASE, HINT
from tests.support import f, refused

# --- the objects that people have


class Orders(sd.Schema):
    price: sd.FP64
    count: sd.I64


def built() -> Any:
    people = sd.read_named("people", {"orders": sd.I64})
    return sd.ExtendedExpression(
        Orders,
        "count",
        lambda o: (o.price * 2.0).alias("twice"),
        lambda o: f.max(o.price).alias("most"),
        known=lambda o: sd.exists(people.filter(lambda q: q.orders == o.count)),
        mean=lambda o: f.avg(o.price),
        one=1,
    )


COLUMNS = ["count: i64", "twice: fp64", "most: fp64?", "known: boolean", "mean: fp64?", "one: i64"]


def test_it_comes_back_from_all_its_forms(tmp_path: Path) -> None:
    made = built()
    assert [str(field) for field in made.schema] == COLUMNS
    assert str(made.base_schema.struct) == "price: fp64, count: i64"
    binary, text = tmp_path / "expressions.pb", tmp_path / "expressions.json"
    made.save(binary)
    made.save(text)
    for read in (
        sd.ExtendedExpression.load(binary),
        sd.ExtendedExpression.load(str(text)),
        sd.ExtendedExpression.from_bytes(made.to_bytes(), strict=True),
        sd.ExtendedExpression.from_json(made.to_json()),
        sd.ExtendedExpression.from_proto(made.to_proto()),
    ):
        assert read == made
        assert hash(read) == hash(made)
        assert read.findings == ()
        assert read.schema == made.schema
    assert made != sd.ExtendedExpression(Orders, "count")
    assert made != sd.read_named("t", Orders).to_plan()


def test_its_expressions_go_on_in_relations_that_have_their_columns() -> None:
    people: Any = sd.read_named("people", {"orders": sd.I64})
    orders: Any = sd.read_named("o", {"id": sd.I64, "count": sd.I64, "note": sd.String, "price": sd.FP64})

    def known(o: Any) -> Any:
        return sd.exists(people.filter(lambda q: q.orders == o.count))

    read = sd.ExtendedExpression.from_bytes(built().to_bytes())
    count, twice, is_known = (read.expression(name) for name in ("count", "twice", "known"))
    who: Any = people.rename(orders="who")
    pairs: list[tuple[Any, Any]] = [
        (
            orders.select("id", count, read.expression(1), two=read.expression("one")),
            orders.select("id", "count", twice=lambda o: o.price * 2.0, two=1),
        ),
        (orders.filter(is_known), orders.filter(known)),
        (
            orders.filter(lambda o: ~is_known | (twice > 1.0)),
            orders.filter(lambda o: ~known(o) | (o.price * 2.0 > 1.0)),
        ),
        (orders.sort(sd.desc(twice)), orders.sort(sd.desc(lambda o: o.price * 2.0))),
        (
            orders.join(who, lambda o, p: (p.who == o.id) & is_known),
            orders.join(who, lambda o, p: (p.who == o.id) & known(o)),
        ),
        (  # the row that it meets is the inner one
            people.filter(sd.exists(orders.filter(is_known))),
            people.filter(lambda p: sd.exists(orders.filter(known))),
        ),
        (
            orders.select(x=f.transform(sd.list_of(1, 2), lambda x: x + count)),
            orders.select(x=lambda o: f.transform(sd.list_of(1, 2), lambda x: x + o.count)),
        ),
    ]
    for got, written in pairs:
        assert got.to_plan() == written.to_plan()
        assert got.columns == written.columns


def test_expressions_over_a_row_as_a_whole_go_on_in_that_row_only() -> None:
    mask = ex.MaskedReference(ex.Row(BASE.row_type()), ex.StructMask((ex.MaskItem(1), ex.MaskItem(0))))
    kept = ExtendedExpression(BASE, (ExpressionReference(mask, ("kept", "b", "a")),))
    read: Any = sd.ExtendedExpression.from_bytes(to_bytes(encode_extended_expression(kept)))
    same_row: Any = sd.read_named("t", BASE).select(read.expression("kept"))
    assert str(same_row.schema["kept"]) == "struct<i64?, i64>"
    with refused(SchemaError, 'select, the expression "kept"', "parts of a whole row of a: i64, b: i64?"):
        sd.read_named("t", BASE).select("b", "a", "p").select(read.expression("kept"))


def test_a_row_that_an_expression_does_not_fit_is_refused() -> None:
    read = sd.ExtendedExpression.from_bytes(built().to_bytes())
    twice = read.expression("twice")
    for schema, error, said in (
        ({"prize": sd.FP64}, UnknownFieldError, 'no column "price"'),
        ({"price": sd.FP32}, TypeMismatchError, 'it is made for a column "price" of fp64, this one is fp32'),
        ({"price": sd.Nullable[sd.FP64]}, TypeMismatchError, 'with_columns(price=col("price").assert_not_null())'),
    ):
        with refused(error, 'select, the expression "twice": ', said):
            sd.read_named("t", schema).select(twice)
    made_for_nullable = sd.ExtendedExpression({"a": "i64?"}, b=lambda r: r.a + 1).expression("b")
    required: Any = sd.read_named("t", {"a": sd.I64})
    with refused(TypeMismatchError, 'with_columns(a=col("a").cast("i64?"))'):
        required.select(made_for_nullable)
    assert str(required.with_columns(a=sd.col("a").cast("i64?")).select(made_for_nullable).schema["b"]) == "i64?"
    both: Any = sd.read_named("t", {"price": sd.FP64})
    with refused(AmbiguousFieldError, 'column "price" is ambiguous'):
        both.join(both, on=True).filter(twice > 1.0)
    with refused(UnsupportedError, 'expression: the column "most" is the aggregate function max'):
        read.expression("most")
    with refused(UnknownFieldError, 'expression: there is no column "twize"', 'did you mean "twice"?'):
        read.expression("twize")


def test_it_is_printed_with_its_subqueries() -> None:
    assert str(built()).splitlines() == [
        "extended expression over columns price: fp64, count: i64",
        "  count: i64",
        "  twice: fp64 = price * 2.0",
        "  most: fp64? = max(price)",
        "  known: boolean = exists (subquery #1)",
        "  mean: fp64? = avg(price)",
        "  one: i64 = 1",
        "  subquery #1: filter orders = outer.count",
        "    read people -> orders: i64",
    ]
    assert repr(built()) == f"ExtendedExpression({', '.join(COLUMNS)})"


@pytest.mark.parametrize("schema", [Orders, {"price": sd.FP64, "count": sd.I64}, sd.read_named("o", Orders)])
def test_the_row_is_that_of_anything_with_columns(schema: Any) -> None:
    made = sd.ExtendedExpression(schema, most=lambda o: f.max(o.price))
    assert made == sd.ExtendedExpression(Orders, f.max(sd.col("price")).alias("most"))


def test_the_columns_of_a_relation_are_those_of_its_row() -> None:
    orders = sd.read_named("o", Orders)
    assert sd.ExtendedExpression(orders, x=orders.c.price) == sd.ExtendedExpression(Orders, x=sd.col("price"))


def test_it_says_what_it_was_built_with() -> None:
    extension = AdvancedExtension((HINT,))
    made = sd.ExtendedExpression(Orders, "count", expected_type_urls=[HINT.type_url], advanced_extensions=extension)
    read = sd.ExtendedExpression.from_bytes(made.to_bytes())
    assert read == made
    assert read.expected_type_urls == (HINT.type_url,)
    assert read.advanced_extensions == extension
    assert (made.version, made.producer) == (None, None)
    with refused(UnsupportedError, "to_json", "acme.Hint"):  # JSON has to know the fields of a message
        made.to_json()


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: sd.ExtendedExpression(Orders), SchemaError, ("at least one expression",)),
        (lambda: sd.ExtendedExpression({}, x=1), SchemaError, ("at least one column",)),
        (lambda: sd.ExtendedExpression(Orders, "count", count=1), SchemaError, ('"count"',)),
        (lambda: sd.ExtendedExpression(Orders, "coutn"), UnknownFieldError, ('did you mean "count"?',)),
        (lambda: sd.ExtendedExpression(Orders, x="count"), InvalidArgumentError, ('column "x"', "col('count')")),
        (lambda: sd.ExtendedExpression(Orders, sd.col("price") * 2.0), SchemaError, ("has no name",)),
        (lambda: sd.ExtendedExpression(Orders, f.max(sd.col("price"))), SchemaError, ("measure max has no name",)),
        (
            lambda: sd.ExtendedExpression(Orders, x=f.max(sd.col("price")).filter(sd.col("count") > 1)),
            InvalidArgumentError,
            ('column "x"', "have no filter", "hint: write max(when(condition)"),
        ),
        (
            lambda: sd.ExtendedExpression(Orders, x=1, expected_type_urls="a"),
            InvalidArgumentError,
            ("expected_type_urls",),
        ),
    ],
)
def test_what_cannot_be_built_is_refused(make: Callable[[], object], error: Any, said: tuple[str, ...]) -> None:
    with refused(error, "ExtendedExpression", *said):
        make()


def test_what_is_no_extended_expression_is_refused() -> None:
    read: Any = sd.ExtendedExpression
    for verb, given_ in [("from_bytes", "text"), ("from_json", b""), ("from_proto", sd.read_named("t", Orders))]:
        with refused(InvalidArgumentError, verb, "expected"):
            getattr(read, verb)(given_)
    with refused(InvalidArgumentError, "a message substrait.ExtendedExpression"):
        read.from_proto(sd.read_named("t", Orders).to_plan().to_proto())


# --- hostile input

BYTES = built().to_bytes()


def survives(data: bytes) -> None:
    with contextlib.suppress(PlanFormatError, UnsupportedError):
        read = sd.ExtendedExpression.from_bytes(data)
        assert sd.ExtendedExpression.from_bytes(read.to_bytes()) == read


def test_one_that_breaks_off_is_refused_or_read() -> None:
    for length in range(len(BYTES)):
        survives(BYTES[:length])


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_one_with_wrong_bytes_is_refused_or_read(wrong: list[tuple[int, int]]) -> None:
    data = bytearray(BYTES)
    for position, byte in wrong:
        data[position] = byte
    survives(bytes(data))


def test_a_plan_is_no_extended_expression() -> None:
    with refused(PlanFormatError, "from_bytes"):
        sd.ExtendedExpression.from_bytes(sd.read_named("t", Orders).to_plan().to_bytes())
    with refused(PlanFormatError, "from_bytes"):
        sd.Plan.from_bytes(BYTES)
