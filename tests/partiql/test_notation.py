"""The notation: what is printed is read as it was, and the traps of reading it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql import (
    MISSING,
    Bag,
    BindingsData,
    BindingTuple,
    Lit,
    Node,
    Operator,
    Scan,
    Struct,
    data_text,
    parse,
    parse_bindings,
    parse_data,
    parse_value,
    render,
)
from substrait_dsl.partiql.expressions import ExprPair
from substrait_dsl.partiql.node import walk
from substrait_dsl.partiql.notation import HEADS
from substrait_dsl.partiql.operations import OPERATORS
from substrait_dsl.partiql.values import identity
from tests.partiql.trees import BINDINGS_CLASSES, CLASSES, VALUE_CLASSES, bindings_data, nodes, values
from tests.support import refused


@pytest.mark.parametrize("kind", VALUE_CLASSES + BINDINGS_CLASSES)
@settings(max_examples=25)
@given(drawn=st.data())
def test_an_expression_is_read_as_it_was_printed(kind: type[Node], drawn: st.DataObject) -> None:
    node = drawn.draw(nodes(kind))
    assert type(node) is kind
    text = render(node)
    assert "\n" not in text
    assert parse(text) == node
    assert render(parse(text)) == text


def test_every_class_of_nodes_can_be_read() -> None:
    def all_of(kind: type[Node]) -> set[type[Node]]:
        return {kind}.union(*(all_of(inner) for inner in kind.__subclasses__()))

    written = {kind for kind in all_of(Node) if kind.__module__.startswith("substrait_dsl.") and kind.head}
    assert written == set(HEADS.values()) == {kind for kind in CLASSES if kind is not Operator}
    assert HEADS["expr_pair"] is ExprPair
    assert not HEADS.keys() & OPERATORS.keys()


@settings(max_examples=200)
@given(values)
def test_a_value_is_read_as_it_was_printed(value: Any) -> None:
    assert identity(parse_data(data_text(value))) == identity(value)


@settings(max_examples=50)
@given(bindings_data)
def test_a_bindings_collection_is_read_as_it_was_printed(data: BindingsData) -> None:
    read = parse_data(data_text(data))
    assert isinstance(read, BindingsData)
    assert read.collection_type == data.collection_type
    assert [identity(Struct(one.fields)) for one in read] == [identity(Struct(one.fields)) for one in data]


DATA: dict[str, object] = {
    # what closes: `}>>` is `}` and `>>`, or `}>` and the first half of `>>`
    "<<{x:1}>>": Bag((Struct((("x", 1),)),)),
    "<<<<1>>>>": Bag((Bag((1,)),)),
    "<<[{}]>>": Bag(((Struct(),),)),
    "<<<{f:1}>>>": BindingsData("bag", (BindingTuple((("f", 1),)),)),
    "<<<{f:{x:1}}>>>": BindingsData("bag", (BindingTuple((("f", Struct((("x", 1),))),)),)),
    "<<<{f:<<{x:1}>>}>>>": BindingsData("bag", (BindingTuple((("f", Bag((Struct((("x", 1),)),))),)),)),
    "[<{f:[]}>,<{}>]": BindingsData("list", (BindingTuple((("f", ()),)), BindingTuple(()))),
    # commas after the last part
    "<< 1, 2, >>": Bag((1, 2)),
    "[1,]": (1,),
    "{a: 1,}": Struct((("a", 1),)),
    "[<{a: 1,}>,]": BindingsData("list", (BindingTuple((("a", 1),)),)),
    # quotes and symbols
    "'Foo #1'": "Foo #1",
    '"Foo #1"': "Foo #1",
    "Foo": "Foo",
    "{'a': 1, \"b\": 2, c: 3}": Struct((("a", 1), ("b", 2), ("c", 3))),
    "{: 1, '': 2}": Struct((("", 1), ("", 2))),
    "{'a': 1, 'a': 2}": Struct((("a", 1), ("a", 2))),
    r"""'it\'s "x"'""": 'it\'s "x"',
    r'"\n\t\\\"\x41\u00e9\U0001F600\/"': '\n\t\\"A\u00e9\U0001f600/',
    '"a\\\nb"': "ab",
    "'// no comment'": "// no comment",
    "['null', null, 'true', true, false, 'MISSING', MISSING, 'nan']": (
        "null",
        None,
        "true",
        True,
        False,
        "MISSING",
        MISSING,
        "nan",
    ),
    # comments
    "// first\n[1 /* and /* not // nested */, // last\n2]": (1, 2),
    # numbers
    "[0, -7, 007]": (0, -7, 7),
    "[1., 1.50, 2d3, -1.5d-3]": (Decimal("1"), Decimal("1.50"), Decimal("2E+3"), Decimal("-0.0015")),
    "[1e0, 2.5E3, -1e-3]": (1.0, 2500.0, -0.001),
    "[nan, +inf, -inf]": (nan, inf, -inf),
    # points in time; the offset -00:00 is the one of Ion that is unknown
    "2024-02-29": dt.date(2024, 2, 29),
    "2024-02-29T": dt.date(2024, 2, 29),
    "2024-02-29T12:30Z": dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.timezone.utc),  # noqa: UP017  # named in full
    "2024-02-29T12:30:05.25+02:30": dt.datetime(
        2024, 2, 29, 12, 30, 5, 250_000, tzinfo=dt.timezone(dt.timedelta(hours=2, minutes=30))
    ),
    "2024-02-29T12:30:05-00:00": dt.datetime(2024, 2, 29, 12, 30, 5),
    # blobs
    "{{ aGVs bG8= }}": b"hello",
    "{{}}": b"",
}


@pytest.mark.parametrize(("text", "expected"), DATA.items(), ids=range(len(DATA)))
def test_data(text: str, expected: object) -> None:
    got = parse_data(text)
    if isinstance(expected, BindingsData):
        assert got == expected
    else:
        assert identity(got) == identity(expected)


def test_an_empty_collection_is_a_value() -> None:
    assert parse_data("<< >>") == Bag()
    assert parse_data("[]") == ()
    assert data_text(BindingsData("bag", ())) == "<< >>"


@pytest.mark.parametrize(
    ("text", "scan"),
    [
        ("(scan (id t) f)", Scan(parse_value("(id t)"), "f")),
        ("(scan (id t) f i)", Scan(parse_value("(id t)"), "f", "i")),
        ("(scan (id t) f i u)", Scan(parse_value("(id t)"), "f", "i", "u")),
        ("(scan (id t) f null u)", Scan(parse_value("(id t)"), "f", None, "u")),
        ("(scan (id t) f 'null')", Scan(parse_value("(id t)"), "f", "null")),
        ("(scan (id t) '')", Scan(parse_value("(id t)"), "")),
    ],
)
def test_a_scan_has_two_to_four_elements_and_prints_all(text: str, scan: Scan) -> None:
    assert parse(text) == scan
    assert len(render(scan).removeprefix("(scan (id t) ").removesuffix(")").split()) == 3
    assert parse(render(scan)) == scan


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("(unpivot (id t) v)", "(unpivot (id t) v null null)"),
        ("(join inner (scan (id t) a) (scan (id t) b))", "(join inner (scan (id t) a) (scan (id t) b) null)"),
        ("(order_by (((id a))) (scan (id t) a))", "(order_by (((id a) asc nulls_last)) (scan (id t) a))"),
        ("(order_by (((id a) desc)) (scan (id t) a))", "(order_by (((id a) desc nulls_first)) (scan (id t) a))"),
    ],
)
def test_what_may_be_left_out(short: str, full: str) -> None:
    assert parse(short) == parse(full)


def test_the_deepest_expression_is_read_as_it_was_printed() -> None:
    deepest = parse("(neg " * 126 + "(lit [1])" + ")" * 126)
    assert deepest.levels == 128
    assert parse(render(deepest)) == deepest
    assert sum(1 for _ in walk(deepest)) == 127


def test_what_stands_side_by_side_is_not_nested() -> None:
    wide = parse_value(f"(list {'(list (lit [[1], {a: <<2>>}])) ' * 300})")
    assert wide.levels == 6  # list, list, lit, list, struct, bag
    assert parse(render(wide)) == wide
    assert len(parse_bindings(f"(order_by ({'((id x)) ' * 300}) (scan (id t) x))").free) == 1


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (10**5_000, "an integer"),
        ("\ud800", "half a character"),
        (dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=30))), "parts of a minute"),
        (Decimal("inf"), "the decimal Infinity"),
        (object(), "an object"),
    ],
    ids=["integer", "text", "timestamp", "decimal", "object"],
)
def test_what_the_notation_has_no_form_for(value: Any, said: str) -> None:
    with refused(UnsupportedError, "the notation has no form for", said):
        data_text(value)


def test_a_literal_is_a_text_or_a_symbol() -> None:
    assert parse("(lit FooId)") == parse('(lit "FooId")') == parse("(lit 'FooId')") == Lit("FooId")
    assert render(Lit("FooId")) == "(lit FooId)"
    assert render(Lit("Foo Id")) == "(lit 'Foo Id')"
    assert render(Lit(Struct((("a b", "x"),)))) == "(lit { 'a b': \"x\" })"
