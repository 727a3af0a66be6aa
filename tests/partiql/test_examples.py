"""Every example of the document "PartiQL's Relational Algebra", as it is written there, in both modes.

Expressions, data and results are the document's own texts, so the notation is tested with them as well. One expression
is mended: in the example of `filter`, a parenthesis of the path is in the wrong place, see `test_faults`.
"""

from __future__ import annotations

import pytest

from substrait_dsl.partiql import (
    Bag,
    BindingsData,
    Mode,
    Table,
    Value,
    evaluate_bindings,
    evaluate_value,
    parse,
    parse_bindings,
    parse_data,
    parse_value,
    render,
)
from tests.partiql.evaluating import MODES, data

FOO = "<< { FooId: 100, FooName: 'Foo #1' }, { FooId: 200, FooName: 'Foo #2' } >>"
BAR = "<< { BarId: 300, BarName: 'Bar #1' }, { BarId: 400, BarName: 'Bar #2' } >>"
TABLES: dict[str, Value | Table] = {
    "Foo": Table(data(FOO), ("c7559f84-3768", "d2bdb79e-4432")),
    "Bar": data(BAR),
}

BINDINGS = {
    "scan, example 1: a bag": (
        "(scan (id Foo) f idx uid)",
        """
        <<
          <{ f: { FooId: 100, FooName: 'Foo #1' }, idx: MISSING, uid: 'c7559f84-3768' }>,
          <{ f: { FooId: 200, FooName: 'Foo #2' }, idx: MISSING, uid: 'd2bdb79e-4432' }>,
        >>
        """,
    ),
    "scan, example 2: a list": (
        "(scan (lit [{x: 1}, {x: 2}]) f idx uid)",
        """
        [
            <{ f: { x: 1 }, idx: 0, uid: MISSING }>,
            <{ f: { x: 2 }, idx: 1, uid: MISSING }>
        ]
        """,
    ),
    "scan, example 3: a scalar": (
        "(scan (lit 42) f idx uid)",
        """
        <<
            <{ f: 42, idx: MISSING, uid: MISSING }>
        >>
        """,
    ),
    "cross_join": (
        """
        // Equivalent to: FROM Foo AS f, Bar AS b
        (cross_join
            (scan (id Foo) f)
            (scan (id Bar) b)
        )
        """,
        """
        <<
            <{
                f: { FooId: 100, FooName: 'Foo #1' },
                b: { BarId: 300, BarName: 'Bar #1' }
            }>,
            <{
                f: { FooId: 100, FooName: 'Foo #1' },
                b: { BarId: 400, BarName: 'Bar #2' }
            }>,
            <{
                f: { FooId: 200, FooName: 'Foo #2' },
                b: { BarId: 300, BarName: 'Bar #1' }
            }>,
            <{
                f: { FooId: 200, FooName: 'Foo #2' },
                b: { BarId: 400, BarName: 'Bar #2' }
            }>
        >>
        """,
    ),
    "filter": (
        """
        // Equivalent to: FROM Foo AS f WHERE f.FooId = 200
        (filter
            (eq (path (id f) (lit FooId)) (lit 200))
            (scan (id Foo) f null null))
        """,
        """
        <<
            <{ f: { FooId: 200, FooName: 'Foo #2' }}>
        >>
        """,
    ),
    "filter, its source": (
        "(scan (id Foo) f null null)",
        """
        <<
            <{ f: { FooId: 100, FooName: 'Foo #1' } }>,
            <{ f: { FooId: 200, FooName: 'Foo #2' }}>
        >>
        """,
    ),
}

VALUES = {
    "map_values, example 1: SELECT VALUE": (
        """
        (map_values
            (path (id f) (lit FooId))
            (scan (id Foo) f null null))
        """,
        "<< 100, 200 >>",
    ),
    "map_values, example 2: SELECT": (
        """
        (map_values
            (struct
                (expr_pair (lit fid) (path (id f) (lit FooId)))
                (expr_pair (lit fname) (path (id f) (lit FooName))))
            (scan (id Foo) f null null))
        """,
        """
        <<
            { fid: 100, fname: "Foo #1" },
            { fid: 200, fname: "Foo #2" }
        >>
        """,
    ),
    "map_values, example 3: SELECT * of one source": (
        """
        (map_values
            (id f)
           (scan (id Foo) f null null))
        """,
        FOO,
    ),
    "map_values, example 4: SELECT * of two sources": (
        """
        (map_values
            (call struct_concat (id f) (id b))
            (cross_join
               (scan (id Foo) f null null)
               (scan (id Bar) b null null)))
        """,
        """
        <<
            { FooId: 100, FooName: 'Foo #1', BarId: 300, BarName: 'Bar #1' },
            { FooId: 100, FooName: 'Foo #1', BarId: 400, BarName: 'Bar #2' },
            { FooId: 200, FooName: 'Foo #2', BarId: 300, BarName: 'Bar #1' },
            { FooId: 200, FooName: 'Foo #2', BarId: 400, BarName: 'Bar #2' }
        >>
        """,
    ),
    "struct_concat": ("(call struct_concat (lit {'a': 1}) (lit {'a': 2, b: 3}))", "{'a': 1, 'a': 2, b: 3 }"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("text", "expected"), BINDINGS.values(), ids=BINDINGS)
def test_bindings(text: str, expected: str, mode: Mode) -> None:
    got = evaluate_bindings(parse_bindings(text), TABLES, mode)
    wanted = parse_data(expected)
    assert isinstance(wanted, BindingsData)
    assert got.collection_type == wanted.collection_type
    assert got == wanted


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("text", "expected"), VALUES.values(), ids=VALUES)
def test_values(text: str, expected: str, mode: Mode) -> None:
    got = evaluate_value(parse_value(text), TABLES, mode)
    assert type(got) is type(data(expected))
    assert got == data(expected)


@pytest.mark.parametrize("mode", MODES)
def test_map_values_of_a_list_is_a_list(mode: Mode) -> None:  # "The type .. is the same as the collection returned"
    assert evaluate_value(parse_value("(map_values (id f) (scan (lit [2, 1]) f))"), {}, mode) == (2, 1)
    assert evaluate_value(parse_value("(map_values (id f) (scan (lit <<2, 1>>) f))"), {}, mode) == Bag((1, 2))


@pytest.mark.parametrize("text", [text for text, _ in (*BINDINGS.values(), *VALUES.values())], ids=[*BINDINGS, *VALUES])
def test_the_notation_of_every_example_is_read_as_it_is_printed(text: str) -> None:
    assert parse(render(parse(text))) == parse(text)


def test_an_expression_is_printed_on_one_line() -> None:
    text, _ = VALUES["map_values, example 1: SELECT VALUE"]
    assert str(parse(text)) == "(map_values (path (id f) (lit FooId)) (scan (id Foo) f null null))"
    text, _ = BINDINGS["cross_join"]
    assert str(parse(text)) == "(cross_join (scan (id Foo) f null null) (scan (id Bar) b null null))"


def test_names_that_are_null_are_not_bound() -> None:
    names = {text: parse_bindings(text).variables for text in ("(scan (id Foo) f)", "(scan (id Foo) f null uid)")}
    assert names == {"(scan (id Foo) f)": ("f",), "(scan (id Foo) f null uid)": ("f", "uid")}
