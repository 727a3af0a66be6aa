"""What the notation refuses: with the line, the column and what was expected, and never with another error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrait_dsl.errors import InvalidArgumentError, NotationError
from substrait_dsl.partiql import parse, parse_bindings, parse_data, parse_value, render
from tests.support import refused

FAULTS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "": (1, 1, ("`(` of an expression", "the end")),
    "scan": (1, 1, ("`(`", "scan")),
    "(": (1, 2, ('"scan"', "the end")),
    "()": (1, 2, ('"scan"',)),
    "(scna (id x) f)": (1, 2, ("got scna", 'did you mean "scan"?')),
    "('scan' (id x) f)": (1, 2, ("got 'scan'",)),
    "(filter\n  (id p)\n  (scan (id x) f)": (3, 18, ("`)`", "the end")),
    "(filter (id p)\n (scan (id x) f)))": (2, 18, ("expected the end", "too early")),
    "(id x) (id y)": (1, 8, ("expected the end", "too early")),
    "(scan (id x))": (1, 13, ("a name (as)", "got )")),
    "(scan (id x) f g h i)": (1, 20, ("`)`", "got i")),
    "(id null)": (1, 5, ("a name", "got null")),
    "(id 5)": (1, 5, ("a name", "got 5")),
    "(id x": (1, 6, ("`)`", "the end")),
    "(expr_pair (lit a) (lit b))": (1, 1, ("expected an expression", "expr_pair")),
    "(limit (lit 1)\n  (id x))": (1, 1, ("limit: source is a bindings expression", "scan makes bindings")),
    "(filter (lit true)\n  (filter (scan (id x) f)\n    (scan (id x) f)))": (
        2,
        3,
        ("filter: condition is a value expression", "got a scan", "map_values makes values"),
    ),
    "(struct (id x))": (1, 10, ('expected "expr_pair", got id',)),
    "(order_by ((id x) asc) (scan (id x) f))": (1, 13, ("`(`", "got id")),
    "(order_by (((id f) upwards)) (scan (id x) f))": (1, 12, ("direction", "'upwards'", '"asc", "desc"')),
    "(join iner (scan (id x) f) (scan (id y) g))": (1, 1, ("'iner'", 'did you mean "inner"?')),
    "(group_by () ((n cuont (id f))) null (scan (id x) f))": (1, 15, ("'cuont'", 'did you mean "count"?')),
    "(group_by () ())": (1, 16, ("a name (group_as)", "got )")),
    "(group_by () ((n)) null (scan (id x) f))": (1, 17, ('one of "count", "sum", "avg", "min", "max", got )',)),
    # the document's example of `filter`, as it is written there
    "(filter\n    (eq (path (id f) (lit FooId) (lit 200)))\n    (scan (id Foo) f null null))": (
        2,
        5,
        ("eq takes 2 operands, got 1", "a parenthesis of the path may be in the wrong place"),
    ),
    # what newcomers write
    "SELECT VALUE f FROM Foo f": (1, 1, ("`(` of an expression, got SELECT", "queries of PartiQL are not read")),
    "\n (from Foo)": (2, 3, ('"map_values"', "got from")),
    "(path (id f) FooId)": (1, 14, ("got FooId", "(lit FooId) is a constant, (id FooId) a variable")),
    "(eq (id f) 5)": (1, 12, ("got 5", "(lit 5) is a constant")),
    "(upper (id f))": (1, 2, ("got upper", "write (call upper ..)")),
    "(scan (id x) f": (1, 15, ("a name (at), null or `)`", "the end")),
    "(group_by () () (scan (id x) f))": (1, 17, ("a name (group_as) or null, got (",)),
    "(join (scan (id x) f) (scan (id y) g))": (1, 7, ('one of "inner", "left", "right", "full", got (',)),
    "(map_let (z (lit 1)) (scan (id x) f))": (1, 11, ("`(` of a variable and its value, `(name (id f))`, got z",)),
    "(group_by ((k)) () null (scan (id x) f))": (1, 14, ("`(` of an expression, got )",)),
    "(call upper (id a) (id b))": (1, 1, ("upper takes 1", "got 2")),
    "(call uper (id a))": (1, 1, ("'uper'", 'did you mean "upper"?')),
    "(call concat (id a) (id b))": (1, 1, ("'concat'", "write (concat ..)")),
    "(path (id x))": (1, 1, ("path: it has no step",)),
    "(filter (id p)\n (limit (lit -1) (scan (id x) y)))": (2, 2, ("limit: expected a number of tuples", "got -1")),
    "(scan (id x) f f)": (1, 1, ("scan", '"f" more than once')),
    "(cross_join\n (scan (id x) f)\n (scan (id y) f))": (1, 1, ("cross_join", '"f" more than once')),
    "(lit)": (1, 5, ("a value", "got )")),
    "(lit 1 2)": (1, 8, ("`)`", "got 2")),
    "(lit (1 2))": (1, 6, ("a value", "got (")),
    "(lit << <{ a: 1 }> >>)": (1, 9, ("a value", "a binding tuple is no value")),
    "(lit #1)": (1, 6, ("a value", "'#1'")),
    "(lit abc-d)": (1, 9, ("a value", "'-d'")),
    '(lit "abc)\n': (1, 6, ("a text is not closed", '"abc)')),
    "(lit 'abc\n')": (1, 6, ("a text is not closed",)),
    "(lit 1)\n/* what": (2, 1, ("a comment is not closed",)),
    r"(lit 'a\q')": (1, 8, ("no escape", r"\q")),
    r"(lit 'a\u12')": (1, 8, ("no escape", r"\u")),
    r'(lit "\ud800")': (1, 7, ("no character", r"\ud800")),
}

FAULTY_DATA: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "<< <{ a: 1 }>, 2 >>": (1, 16, ("values or binding tuples, not both",)),
    "[ 2,\n <{ a: 1 }> ]": (2, 2, ("values or binding tuples, not both",)),
    "<{ a: 1 }>": (1, 1, ("a value", "stand in a bag or a list")),
    "<< 1, [ <{ a: 1 }> ] >>": (1, 9, ("a binding tuple is no value",)),
    "[ <{ a: 1, a: 2 }> ]": (1, 3, ('"a" more than once',)),
    "1 2": (1, 3, ("expected the end, got 2",)),
    "[": (1, 2, ("a value", "the end")),
    "[1 2]": (1, 4, ("`,` or `]`", "got 2")),
    "[1,,2]": (1, 4, ("a value", "got ,")),
    "<<1>": (1, 4, ("`,` or `>>`", "got >")),
    "<<1> >": (1, 4, ("`,` or `>>`", "got >")),
    "< <1>>": (1, 1, ("a value", "got <")),
    "{a: 1>>": (1, 6, ("`,` or `}`", "got >")),
    "[<{a: 1}>>]": (1, 10, ("`,` or `]`", "got >")),
    "{a 1}": (1, 4, ("`:`", "got 1")),
    "{1: 2}": (1, 2, ("a name", "got 1")),
    "{a: 1,, b: 2}": (1, 7, ("a name", "got ,")),
    "2020-13-01": (1, 1, ("2020-13-01", "month")),
    "2020-01-01T25:00Z": (1, 1, ("2020-01-01T25:00Z", "hour")),
    "2020-01-01T10:00:00.1234567Z": (1, 1, ("parts of a microsecond",)),
    "{{abc}}": (1, 1, ("base 64",)),
    "[1e999]": (1, 2, ("1e999 is out of range",)),
    "[1d99999999999999999999]": (1, 2, ("out of range",)),
    f"[{'9' * 10_000}]": (1, 2, ("out of range",)),
    "\u0663": (1, 1, ("a value",)),  # a digit, but none of Ion's
    "x" * 100_000 + "-": (1, 100_001, ("'-'",)),
}


Fault = tuple[int, int, tuple[str, ...]]
"""Line and column, from 1, and what the error says."""


@pytest.mark.parametrize(("text", "fault"), FAULTS.items(), ids=range(len(FAULTS)))
def test_faults_of_expressions(text: str, fault: Fault) -> None:
    _check_fault(parse, text, fault)


@pytest.mark.parametrize(("text", "fault"), FAULTY_DATA.items(), ids=range(len(FAULTY_DATA)))
def test_faults_of_data(text: str, fault: Fault) -> None:
    _check_fault(parse_data, text, fault)


def _check_fault(read: Callable[[str], object], text: str, fault: Fault) -> None:
    line, column, said = fault
    with pytest.raises(NotationError) as caught:
        read(text)
    error = str(caught.value)
    assert [part for part in said if part not in error] == []
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"(at line {line}, column {column})" in error
    assert len(error) < 600


def test_what_a_node_refuses_is_the_cause() -> None:
    with pytest.raises(NotationError) as caught:
        parse("(filter (scan (id x) f) (scan (id x) f))")
    assert isinstance(caught.value.__cause__, TypeError)
    with pytest.raises(NotationError) as caught:
        parse("(cross_join (scan (id x) f) (scan (id y) f))")
    assert isinstance(caught.value.__cause__, ValueError)


def test_the_other_kind_of_expression() -> None:
    with refused(NotationError, "expected a bindings expression", "scan makes bindings"):
        parse_bindings("(id x)")
    with refused(NotationError, "expected a value expression", "map_values makes values"):
        parse_value("(scan (id x) f)")


def test_a_text_is_needed() -> None:
    readers: list[Any] = [parse, parse_bindings, parse_value, parse_data]
    for read in readers:
        with refused(InvalidArgumentError, "a text, got 5"):
            read(5)


@pytest.mark.parametrize("unclosed", ["(neg ", "(filter ", "(", "(order_by ((", "(struct (expr_pair ", "(map_values "])
def test_expressions_cannot_be_nested_too_deep(unclosed: str) -> None:
    with pytest.raises(NotationError):
        parse(unclosed * 10_000)


@pytest.mark.parametrize("unclosed", ["[", "<<", "{a:", "<<[{a:"])
def test_data_cannot_be_nested_too_deep(unclosed: str) -> None:
    for read, text in ((parse_data, unclosed * 10_000), (parse, f"(lit {unclosed * 10_000}")):
        with refused(NotationError, "nested more than 128 levels deep"):
            read(text)


@settings(max_examples=300)
@given(st.one_of(st.text(), st.binary().map(lambda some: some.decode("latin-1"))))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (parse, parse_data):
        _read_or_refused(read, text)


def _read_or_refused(read: Callable[[str], Any], text: str) -> Any:
    """What is read, or the error that says why not; any other error is raised."""
    try:
        return read(text)
    except NotationError as error:
        return error


_PIECES = st.sampled_from([*"(){}[]<>,:'\"\\/*-.0 \n", "<<", ">>", "<{", "}>", "null", "(id x)", "\u00e9", "1e9", "{{"])


VALID = (
    "(map_values (struct (expr_pair (lit 'a b') (path (id f) (lit x)))) (scan (id t) f i u)) // and a comment",
    "(order_by (((id f) desc nulls_last) ((id g))) (cross_join (scan (id t) f) (unpivot (id f) g h null)))",
    "(group_by ((k (id f))) ((n count (lit 1))) g (join left (scan (id t) f) (scan (id u) e) null))",
    "(pivot (id f) (call upper (id g)) (map_let ((g (plus (id f) (lit -1.5d3)))) (limit (lit 1) (scan (id t) f))))",
    "(filter (and (lit true) (in (id f) (bag (lit nan) (list)))) (offset (lit 2) (scan (id t) f)))",
    "(lit << [ { a: {{ aGVs }}, 'b': \"c\" }, MISSING ], 2020-01-01T10:00Z, null >>)",
)


@settings(max_examples=400)
@given(
    st.sampled_from(VALID),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 2), _PIECES), min_size=1, max_size=3),
)
def test_a_damaged_text_is_read_or_refused(text: str, damages: list[tuple[int, int, str]]) -> None:
    parse(text)
    for place, cut, piece in damages:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + cut :]
    found = _read_or_refused(parse, text)
    if isinstance(found, NotationError):
        lines = text.split("\n")
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1
    else:
        assert parse(render(found)) == found
