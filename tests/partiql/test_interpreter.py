"""The interpreter, bindings: what each operator makes of its tuples, in both modes."""

from __future__ import annotations

from typing import Any

import pytest

from substrait_dsl.errors import (
    EvaluationError,
    InvalidArgumentError,
    InvalidChoiceError,
    NotationError,
    TypeMismatchError,
    UnknownFieldError,
)
from substrait_dsl.partiql import (
    MISSING,
    Bag,
    Mode,
    Struct,
    Table,
    bag,
    data_text,
    evaluate_bindings,
    evaluate_value,
    parse,
    parse_bindings,
    parse_data,
    parse_value,
)
from tests.partiql.evaluating import MODES, bindings_of, data, rows, value_of
from tests.support import refused

FAILS = object()
"""What strict mode does where permissive mode has a value."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<<1, 2>>", "<< <{x: 1, i: MISSING, u: MISSING}>, <{x: 2, i: MISSING, u: MISSING}> >>"),
        ("[1, 2]", "[ <{x: 1, i: 0, u: MISSING}>, <{x: 2, i: 1, u: MISSING}> ]"),
        ("<< >>", "<< >>"),
        ("[]", "[]"),
        ("{a: [1]}", "<< <{x: {a: [1]}, i: MISSING, u: MISSING}> >>"),  # a struct is one value
        ("null", "<< <{x: null, i: MISSING, u: MISSING}> >>"),
        ("MISSING", "<< <{x: MISSING, i: MISSING, u: MISSING}> >>"),
    ],
)
def test_scan(value: str, expected: str, mode: Mode) -> None:
    got = bindings_of("(scan (id t) x i u)", mode, t=value)
    assert data_text(got) == data_text(parse_data(expected))
    assert got.collection_type == ("list" if expected.startswith("[") else "bag")


def test_record_ids_come_with_the_elements_of_a_table() -> None:
    tables = {"listed": Table((1, 2), ("a", "b")), "one": Table(42, ("c",)), "some": Table(Bag((1, 2)), (MISSING, "d"))}
    found = {name: evaluate_bindings(parse_bindings(f"(scan (id {name}) x null u)"), tables) for name in tables}
    assert {name: [one["u"] for one in tuples] for name, tuples in found.items()} == {
        "listed": ["a", "b"],
        "one": ["c"],
        "some": [MISSING, "d"],
    }
    for text in ("(scan (map_values (id x) (scan (id listed) x)) x null u)", "(scan (list (lit 1)) x null u)"):
        first, *_ = evaluate_bindings(parse_bindings(text), tables)
        assert first["u"] is MISSING  # a value that is made has none


def test_a_variable_that_hides_a_table_has_not_its_record_ids() -> None:
    text = "(cross_join (scan (id t) t) (scan (id t) x null u))"
    (found,) = evaluate_bindings(parse_bindings(text), {"t": Table(Bag((7,)), ("a",))})
    assert (found["t"], found["x"], found["u"]) == (7, 7, MISSING)


def test_a_table_is_a_value_where_it_is_not_scanned() -> None:
    assert evaluate_value(parse_value("(id t)"), {"t": Table((1, 2), ("a", "b"))}) == (1, 2)


def test_tables_may_be_plain_python_objects() -> None:
    tables: Any = {"t": [{"a": 1}, {"a": 2}]}
    text = "(map_values (path (id x) (lit a)) (scan (id t) x))"
    assert evaluate_value(parse_value(text), tables) == (1, 2)


@pytest.mark.parametrize("mode", MODES)
def test_cross_join_is_a_bag_of_all_pairs(mode: Mode) -> None:
    got = bindings_of("(cross_join (scan (lit [1, 2]) a) (scan (lit [3, 4]) b))", mode)
    assert got.collection_type == "bag"
    assert got == parse_data("<< <{a: 2, b: 4}>, <{a: 2, b: 3}>, <{a: 1, b: 4}>, <{a: 1, b: 3}> >>")
    assert [one.names for one in got] == [("a", "b")] * 4


def test_the_right_side_of_a_cross_join_sees_the_left_tuple() -> None:
    lateral = "(cross_join (scan (id t) a) (scan (path (id a) (lit items)) b i))"
    got = rows(lateral, t="<< {items: [7, 8]}, {items: []}, {items: 9} >>")
    items = [
        "a: { items: [7, 8] }, b: 7, i: 0",
        "a: { items: [7, 8] }, b: 8, i: 1",
        "a: { items: 9 }, b: 9, i: MISSING",
    ]
    assert got == f"<< {', '.join(f'<{{ {item} }}>' for item in items)} >>"


FILTERS: list[tuple[str, object, object]] = [  # the condition, and what is kept of [1, 2, 3]
    ("(gt (id x) (lit 1))", [2, 3], [2, 3]),
    ("(lit true)", [1, 2, 3], [1, 2, 3]),
    ("(lit false)", [], []),
    ("(lit null)", [], []),  # unknown: excluded, no error
    ("(eq (id x) (lit null))", [], []),
    ("(lit MISSING)", [], []),
    ("(lit 1)", [], FAILS),
    ("(lit 'true')", [], FAILS),
    ("(id x)", [], FAILS),
    ("(struct)", [], FAILS),
    ("(path (id x) (lit a))", [], FAILS),  # MISSING, which strict mode does not make
    ("(gt (id x) (lit 'a'))", [], FAILS),
]


@pytest.mark.parametrize("kind", ["bag", "list"])
@pytest.mark.parametrize(("condition", "permissive", "strict"), FILTERS)
def test_filter(condition: str, permissive: Any, strict: Any, kind: str) -> None:
    text = f"(map_values (id x) (filter {condition} (scan (id t) x)))"
    table = "[1, 2, 3]" if kind == "list" else "<<1, 2, 3>>"
    assert value_of(text, "permissive", t=table) == (tuple(permissive) if kind == "list" else bag(permissive))
    if strict is FAILS:
        with refused(EvaluationError):
            value_of(text, "strict", t=table)
    else:
        assert value_of(text, "strict", t=table) == (tuple(strict) if kind == "list" else bag(strict))
    assert len(bindings_of(f"(filter {condition} (scan (lit []) x))", "strict")) == 0  # no tuple, no error


def test_the_error_of_a_condition_says_what_it_got() -> None:
    with refused(EvaluationError, "a condition is a boolean, not [1, 2]"):
        bindings_of("(filter (lit [1, 2]) (scan (lit 1) x))", "strict")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(limit (lit 2) (scan (id t) x))", "[<{ x: 1 }>, <{ x: 2 }>]"),
        ("(limit (lit 0) (scan (id t) x))", "[]"),
        ("(limit (lit 9) (scan (id t) x))", "[<{ x: 1 }>, <{ x: 2 }>, <{ x: 3 }>]"),
        ("(offset (lit 2) (scan (id t) x))", "[<{ x: 3 }>]"),
        ("(offset (lit 0) (scan (id t) x))", "[<{ x: 1 }>, <{ x: 2 }>, <{ x: 3 }>]"),
        ("(offset (lit 9) (scan (id t) x))", "[]"),
        ("(limit (minus (lit 2) (lit 1)) (offset (lit 1) (scan (id t) x)))", "[<{ x: 2 }>]"),
    ],
)
def test_limit_and_offset(text: str, expected: str, mode: Mode) -> None:
    assert rows(text, mode, t="[1, 2, 3]") == expected
    assert bindings_of(text, mode, t="<<1, 2, 3>>").collection_type == "bag"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("verb", ["limit", "offset"])
@pytest.mark.parametrize("count", ["-1", "1.0", "1e0", "null", "MISSING", "true", "'1'"])
def test_what_is_no_number_of_tuples_is_an_error(verb: str, count: str, mode: Mode) -> None:
    with refused(EvaluationError, f"{verb} is a number of tuples, 0 or more"):
        rows(f"({verb} (id n) (scan (lit [1]) x))", mode, n=count)
    with refused(NotationError, f"{verb}: expected a number of tuples, 0 or more"):  # what is written is seen before
        rows(f"({verb} (lit {count}) (scan (lit [1]) x))", mode)


def test_a_limit_may_depend_on_an_enclosing_tuple() -> None:
    text = "(map_values (map_values (id b) (limit (id a) (scan (lit [7, 8, 9]) b))) (scan (lit [1, 2]) a))"
    assert value_of(text) == ((7,), (7, 8))


JOINS = {  # of 1, 2 with 2, 3
    "inner": ["a: 2, b: 2"],
    "left": ["a: 1, b: null", "a: 2, b: 2"],
    "right": ["a: 2, b: 2", "a: null, b: 3"],
    "full": ["a: 1, b: null", "a: 2, b: 2", "a: null, b: 3"],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", JOINS)
def test_join(how: str, mode: Mode) -> None:
    got = rows(f"(join {how} (scan (lit [1, 2]) a) (scan (lit [2, 3]) b) (eq (id a) (id b)))", mode)
    assert got == f"<< {', '.join(f'<{{ {pair} }}>' for pair in JOINS[how])} >>"


def test_a_join_without_a_condition_pairs_all() -> None:
    assert bindings_of("(join inner (scan (lit [1, 2]) a) (scan (lit [3, 4]) b))") == bindings_of(
        "(cross_join (scan (lit [1, 2]) a) (scan (lit [3, 4]) b))"
    )
    assert rows("(join left (scan (lit [1]) a) (scan (lit []) b i))") == "<< <{ a: 1, b: null, i: null }> >>"
    assert rows("(join full (scan (lit []) a) (scan (lit [1]) b))") == "<< <{ a: null, b: 1 }> >>"


def test_a_tuple_that_is_there_twice_is_joined_twice() -> None:
    got = rows("(join full (scan (lit [1, 1]) a) (scan (lit [1, 2, 2]) b) (eq (id a) (id b)))")
    assert got.count("a: 1, b: 1") == 2
    assert got.count("a: null, b: 2") == 2


def test_the_right_side_of_a_left_join_sees_the_left_tuple() -> None:
    condition = "(gt (id b) (path (id a) (lit i)))"
    text = f"(join left (scan (id t) a) (scan (path (id a) (lit s)) b) {condition})"
    assert [one["b"] for one in bindings_of(text, t="[{i: 1, s: [1, 2]}, {i: 5, s: []}]")] == [2, None]


def test_the_condition_of_a_join_is_a_boolean() -> None:
    text = "(join {} (scan (lit 1) a) (scan (lit 2) b) (lit 'x'))"
    assert rows(text.format("inner")) == "<< >>"
    assert rows(text.format("left")) == "<< <{ a: 1, b: null }> >>"
    with refused(EvaluationError, "a condition is a boolean"):
        rows(text.format("inner"), "strict")


def sorted_by(keys: str, values: str) -> str:
    return data_text(value_of(f"(map_values (id x) (order_by ({keys}) (scan (id t) x)))", "strict", t=values))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("((id x))", "[1, 2, 3, null, MISSING]"),
        ("((id x) asc)", "[1, 2, 3, null, MISSING]"),
        ("((id x) asc nulls_first)", "[null, MISSING, 1, 2, 3]"),
        ("((id x) desc)", "[null, MISSING, 3, 2, 1]"),
        ("((id x) desc nulls_last)", "[3, 2, 1, null, MISSING]"),
    ],
)
def test_order_by_places_nulls(key: str, expected: str) -> None:
    assert sorted_by(key, "[2, null, 3, MISSING, 1]") == expected
    assert bindings_of(f"(order_by ({key}) (scan (lit <<1>>) x))").collection_type == "list"


def test_order_by_is_stable_and_goes_by_the_first_key_first() -> None:
    values = "[{k: 2, n: 1}, {k: 1, n: 2}, {k: 2, n: 3}, {k: 1, n: 4}]"
    by = {"up": "((path (id x) (lit k)))", "down": "((path (id x) (lit k)) desc)"}
    texts = {name: f"(map_values (path (id x) (lit n)) (order_by ({key}) (scan (id t) x)))" for name, key in by.items()}
    assert {name: value_of(text, t=values) for name, text in texts.items()} == {
        "up": (2, 4, 1, 3),
        "down": (1, 3, 2, 4),
    }
    both = "((path (id x) (lit k))) ((path (id x) (lit n)) desc)"
    text = f"(map_values (path (id x) (lit n)) (order_by ({both}) (scan (id t) x)))"
    assert value_of(text, t=values) == (4, 2, 3, 1)


def test_order_by_sorts_values_of_all_types() -> None:
    # PartiQL's specification: booleans, numbers, dates and times, texts, blobs, lists, structs, bags; but NaN comes
    # first there, and here last of the numbers, as it does for engines
    in_order = [
        *("false", "true", "-inf", "-1", "0.5", "1", "2.5e0", "+inf", "nan", "2020-01-02"),
        *("2020-01-01T00:00:00-00:00",),
        *("2020-01-01T00:00:00+00:00", '"B"', '"a"', "{{AA==}}", "{{AQ==}}", "[]", "[1]", "[1, null]", "[1, 0]", "[2]"),
        *("{ }", "{ a: 1 }", "{ a: 2 }", "{ b: 0 }", "<< >>", "<< 1 >>"),
    ]
    assert sorted_by("((id x))", f"<< {', '.join(reversed(in_order))} >>") == f"[{', '.join(in_order)}]"
    assert sorted_by("((id x) desc)", f"<< {', '.join(in_order)} >>") == f"[{', '.join(reversed(in_order))}]"


def test_map_let() -> None:
    text = "(map_let ((b (plus (id a) (lit 1))) (c (id i))) (scan (id t) a i))"
    assert rows(text, t="[5]") == "[<{ a: 5, i: 0, b: 6, c: 0 }>]"
    assert rows(text, t="<<5>>") == "<< <{ a: 5, i: MISSING, b: 6, c: MISSING }> >>"


@pytest.mark.parametrize("mode", MODES)
def test_map_values_sees_the_enclosing_tuples(mode: Mode) -> None:
    text = "(map_values (map_values (plus (id a) (id b)) (scan (lit [10, 20]) b)) (scan (lit <<1, 2>>) a))"
    assert value_of(text, mode) == bag([[11, 21], [12, 22]])


def test_a_variable_hides_a_table_and_an_outer_variable() -> None:
    assert value_of("(map_values (id t) (scan (id t) t))", t="[1, 2]") == (1, 2)
    inner = "(map_values (id a) (scan (lit [7]) a))"
    assert value_of(f"(map_values (list (id a) {inner}) (scan (lit [1]) a))") == ((1, (7,)),)
    assert rows("(cross_join (scan (id t) t) (scan (id t) u))", t="<<[1], [2]>>") == (
        "<< <{ t: [1], u: 1 }>, <{ t: [2], u: 2 }> >>"
    )


@pytest.mark.parametrize("mode", MODES)
def test_unpivot_of_a_struct(mode: Mode) -> None:
    got = bindings_of("(unpivot (id s) v k u)", mode, s="{a: 1, b: 2, a: 3}")
    assert got.collection_type == "bag"
    assert [(one["k"], one["v"], one["u"]) for one in got] == [("a", 1, MISSING), ("b", 2, MISSING), ("a", 3, MISSING)]


@pytest.mark.parametrize(
    ("value", "expected"), [("5", [("_1", 5)]), ("null", [("_1", None)]), ("[1]", [("_1", (1,))]), ("MISSING", [])]
)
def test_unpivot_of_another_value(value: str, expected: Any) -> None:
    assert [(one["k"], one["v"]) for one in bindings_of("(unpivot (id s) v k)", s=value)] == expected
    with refused(EvaluationError, "unpivot", "is not a struct"):
        bindings_of("(unpivot (id s) v k)", "strict", s=value)


def test_pivot() -> None:
    text = "(pivot (path (id x) (lit k)) (path (id x) (lit v)) (scan (id t) x))"
    assert value_of(text, "strict", t="[{k: a, v: 1}, {k: b, v: 2}, {k: a, v: 3}]") == data("{a: 1, b: 2, a: 3}")
    assert value_of(text, "strict", t="[]") == Struct()
    odd = "[{k: a, v: 1}, {k: 5, v: 2}, {k: null, v: 3}, {v: 4}, {k: b}]"
    assert value_of(text, t=odd) == data("{a: 1}")
    with refused(EvaluationError, "the name of an attribute is a text, not 5"):
        value_of(text, "strict", t="[{k: 5, v: 2}]")


def test_unpivot_and_pivot_are_inverse() -> None:
    text = "(pivot (id k) (id v) (unpivot (id s) v k))"
    assert value_of(text, "strict", s="{a: 1, b: [2], a: 3}") == data("{a: 1, b: [2], a: 3}")


# --- names and calls


def test_unknown_names() -> None:
    with refused(UnknownFieldError, '"Fooo"', 'the tables are "Foo", "Bar"', 'did you mean "Foo"?'):
        value_of("(map_values (id f) (scan (id Fooo) f))", Foo="<<>>", Bar="<<>>")
    with refused(UnknownFieldError, '"frist"', "none", 'did you mean "first"?'):
        value_of("(map_values (id frist) (scan (lit []) first))")  # no tuple: it is an error all the same
    with refused(UnknownFieldError, '"f"', '"f" is not bound here'):
        rows("(limit (id f) (scan (lit [1]) f))")


def test_the_mode_is_one_of_two() -> None:
    strikt: Any = "strikt"
    with refused(InvalidChoiceError, "mode", "'strikt'", 'did you mean "strict"?'):
        evaluate_value(parse_value("(lit 1)"), {}, strikt)


def test_tables_have_names() -> None:
    unnamed: Any = [1, 2]
    with refused(InvalidArgumentError, "tables are a mapping of names to values, got [1, 2]"):
        evaluate_value(parse_value("(id t)"), unnamed)


def test_each_function_evaluates_its_kind_of_expressions() -> None:
    value: Any = parse("(id x)")
    bindings: Any = parse("(scan (id x) f)")
    text: Any = "(id x)"
    with refused(TypeMismatchError, "evaluate_value takes a value expression", "(scan (id x) f", "evaluate_bindings"):
        evaluate_value(bindings, {"x": 1})
    with refused(TypeMismatchError, "evaluate_bindings takes a bindings expression", "(id x)", "evaluate_value"):
        evaluate_bindings(value, {"x": 1})
    with refused(TypeMismatchError, "evaluate_value takes a value expression", "(id x)"):
        evaluate_value(text, {"x": 1})


def test_a_message_does_not_grow_with_the_data() -> None:
    with pytest.raises(EvaluationError) as caught:
        value_of("(path (id t) (lit a))", "strict", t=f"[{', '.join(map(str, range(10_000)))}]")
    assert len(str(caught.value)) < 400
