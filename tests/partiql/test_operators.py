"""The operators and functions of value expressions, paths and constructors: values, NULL and MISSING, errors.

Expected values are those of PartiQL's specification (sections on absent values and on dynamic type checking), of SQL's
three-valued logic, or arithmetic.
"""

from __future__ import annotations

from itertools import product

import pytest

from substrait_dsl.errors import EvaluationError
from substrait_dsl.partiql import Mode
from substrait_dsl.partiql.operations import AGGREGATES, FUNCTIONS, OPERATORS
from tests.partiql.evaluating import MODES, shown
from tests.support import refused

# --- logic: false < unknown < true; `and` is the smallest operand, `or` the greatest

TRUTHS = {"false": 0, "null": 1, "MISSING": 1, "true": 2}
WORDS = ("false", "null", "true")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("left", "right"), list(product(TRUTHS, TRUTHS)))
def test_and_and_or(left: str, right: str, mode: Mode) -> None:
    a, b = TRUTHS[left], TRUTHS[right]
    assert shown(f"(and (lit {left}) (lit {right}))", mode) == WORDS[min(a, b)]
    assert shown(f"(or (lit {left}) (lit {right}))", mode) == WORDS[max(a, b)]


def test_and_and_or_take_many_operands() -> None:
    assert shown("(and (lit true) (lit null) (lit false))") == "false"
    assert shown("(or (lit false) (lit null) (lit true))") == "true"


# --- what all operators have in common

ABSENT_AWARE = {"and", "or", "is_null", "is_missing", "star", "coalesce", "dynamic"}
EXAMPLES = {  # an operator, and operands that it has a value for
    "(eq {} {})": ("1", "1"),
    "(ne {} {})": ("1", "1"),
    "(lt {} {})": ("1", "1"),
    "(lte {} {})": ("1", "1"),
    "(gt {} {})": ("1", "1"),
    "(gte {} {})": ("1", "1"),
    "(in {} {})": ("1", "[1]"),
    "(not {})": ("true",),
    "(plus {} {})": ("1", "1"),
    "(minus {} {})": ("1", "1"),
    "(times {} {})": ("1", "1"),
    "(divide {} {})": ("1", "1"),
    "(modulo {} {})": ("1", "1"),
    "(neg {})": ("1",),
    "(concat {} {})": ("a", "b"),
    "(call struct_concat {} {})": ("{a: 1}", "{b: 2}"),
    "(call abs {})": ("1",),
    "(call as_boolean {})": ("true",),
    "(call as_integer {})": ("1",),
    "(call as_float {})": ("1",),
    "(call as_text {})": ("a",),
    "(call upper {})": ("a",),
    "(call lower {})": ("a",),
    "(call char_length {})": ("a",),
}


def test_every_operation_is_among_the_examples() -> None:
    seen = {text.strip("()").removeprefix("call ").split()[0] for text in EXAMPLES}
    assert seen | ABSENT_AWARE == OPERATORS.keys() | FUNCTIONS.keys()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", EXAMPLES)
def test_null_and_missing_go_through(text: str, mode: Mode) -> None:
    operands = EXAMPLES[text]
    for absent in ("null", "MISSING"):
        for place in range(len(operands)):
            given = [f"(lit {absent if number == place else one})" for number, one in enumerate(operands)]
            assert shown(text.format(*given), mode) == absent
    if len(operands) == 2:
        assert shown(text.format("(lit null)", "(lit MISSING)"), mode) == "MISSING"
        assert shown(text.format("(lit MISSING)", "(lit null)"), mode) == "MISSING"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(is_null (lit null))", "true"),
        ("(is_null (lit MISSING))", "true"),
        ("(is_null (lit 0))", "false"),
        ("(is_missing (lit null))", "false"),
        ("(is_missing (lit MISSING))", "true"),
        ("(is_missing (lit 0))", "false"),
        ("(not (lit false))", "true"),
        # equality is deep, of all types; numbers go by what they are worth, structs and bags are multisets
        ("(eq (lit 1) (lit 1.0))", "true"),
        ("(eq (lit 1) (lit 1e0))", "true"),
        ("(eq (lit 1) (lit true))", "false"),
        ("(eq (lit 1) (lit '1'))", "false"),
        ("(eq (lit [1, 2]) (lit [2, 1]))", "false"),
        ("(eq (lit <<1, 2, 2>>) (lit <<2, 1, 2.0>>))", "true"),
        ("(eq (lit <<1, 2, 2>>) (lit <<1, 1, 2>>))", "false"),
        ("(eq (lit [1]) (lit <<1>>))", "false"),
        ("(eq (lit {a: 1, b: 2}) (lit {b: 2, a: 1}))", "true"),
        ("(eq (lit {a: 1, a: 1}) (lit {a: 1}))", "false"),
        ("(eq (lit [null]) (lit [null]))", "true"),
        ("(eq (lit [null]) (lit [MISSING]))", "false"),
        ("(ne (lit 1) (lit 2))", "true"),
        # order, within a type
        ("(lt (lit 1) (lit 1.5))", "true"),
        ("(lt (lit a) (lit b))", "true"),
        ("(gte (lit true) (lit false))", "true"),
        ("(lte (lit 2020-01-01) (lit 2020-01-01))", "true"),
        ("(gt (lit 2020-01-01T00:00Z) (lit 2020-01-01T00:00+01:00))", "true"),
        ("(lt (lit {{AA==}}) (lit {{AQ==}}))", "true"),
        # membership
        ("(in (lit 1) (lit [3, 1.0]))", "true"),
        ("(in (lit 1) (lit <<2, 3>>))", "false"),
        ("(in (lit 1) (lit [2, null]))", "null"),
        ("(in (lit 1) (lit [null, 1]))", "true"),
        ("(in (lit 1) (lit []))", "false"),
        # arithmetic: of integers an integer, of a float a float, else a decimal; division is cut towards zero
        ("(plus (lit 2) (lit 3))", "5"),
        ("(plus (lit 2) (lit 3.50))", "5.50"),
        ("(plus (lit 2) (lit 35e-1))", "5.5e0"),
        ("(plus (lit 2.5) (lit 25e-1))", "5.0e0"),
        ("(minus (lit 2) (lit 3))", "-1"),
        ("(times (lit 1.5) (lit 1.5))", "2.25"),
        ("(divide (lit 7) (lit 2))", "3"),
        ("(divide (lit -7) (lit 2))", "-3"),
        ("(divide (lit 7) (lit -2))", "-3"),
        ("(divide (lit 7.) (lit 2))", "3.5"),
        ("(divide (lit 1) (lit 3.))", f"0.{'3' * 38}"),
        ("(modulo (lit 7) (lit 3))", "1"),
        ("(modulo (lit -7) (lit 3))", "-1"),
        ("(modulo (lit 7) (lit -3))", "1"),
        ("(modulo (lit -7.5) (lit 2))", "-1.5"),
        ("(modulo (lit -75e-1) (lit 2))", "-1.5e0"),
        ("(neg (lit 5))", "-5"),
        (f"(neg (lit {'1' * 38}.))", f"-{'1' * 38}."),
        (f"(call abs (lit -{'1' * 38}.))", f"{'1' * 38}."),
        ("(call abs (lit -5))", "5"),
        # values of one type
        ("(call as_boolean (lit true))", "true"),
        ("(call as_integer (lit 5))", "5"),
        ("(call as_float (lit 5))", "5.0e0"),
        ("(call as_float (lit 2.5))", "2.5e0"),
        ("(call as_text (lit '5'))", '"5"'),
        ("(call dynamic (lit [1, null, MISSING]))", "[1, null, MISSING]"),
        ("(call dynamic (lit MISSING))", "MISSING"),
        # texts and structs
        ("(concat (lit ab) (lit cd))", '"abcd"'),
        ("(call upper (lit 'a\u00e9'))", '"A\u00c9"'),
        ("(call lower (lit ABC))", '"abc"'),
        ("(call char_length (lit '\U0001f600'))", "1"),
        ("(call struct_concat (lit {a: 1}) (lit {a: 2, b: 3}) (lit {}))", "{ a: 1, a: 2, b: 3 }"),
        ("(call coalesce (lit MISSING) (lit null) (lit 3) (lit 4))", "3"),
        ("(call coalesce (lit null))", "null"),
        ("(call star (lit {a: 1}) (lit 1))", "{ a: 1 }"),
        ("(call star (lit 5) (lit 2))", "{ _2: 5 }"),
        ("(call star (lit null) (lit 1))", "{ _1: null }"),
        ("(call star (lit MISSING) (lit 1))", "{ }"),
        # paths
        ("(path (lit {a: {b: 5}}) (lit a) (lit b))", "5"),
        ("(path (lit {a: [6, 7]}) (lit a) (lit 1))", "7"),
        ("(path (lit {a: null}) (lit a) (lit b))", "null"),
        ("(path (lit MISSING) (lit a))", "MISSING"),
        ("(path (lit {a: 1}) (lit null))", "null"),
        ("(path (lit {'': 1}) (lit ''))", "1"),
        # constructors: an attribute that is missing is left out, an element is not
        ("(struct (expr_pair (lit a) (lit 1)) (expr_pair (lit a) (lit null)))", "{ a: 1, a: null }"),
        ("(struct (expr_pair (lit a) (lit MISSING)))", "{ }"),
        ("(struct (expr_pair (concat (lit a) (lit b)) (lit 1)))", "{ ab: 1 }"),
        ("(list (lit 1) (lit MISSING) (lit null))", "[1, MISSING, null]"),
        ("(bag (lit 1) (lit MISSING))", "<< 1, MISSING >>"),
        ("(list)", "[]"),
    ],
)
def test_values(text: str, expected: str, mode: Mode) -> None:
    assert shown(text, mode) == expected


@pytest.mark.parametrize(
    ("text", "permissive", "said"),
    [
        ("(and (lit true) (lit 1))", "MISSING", "and: a number is not a boolean"),
        ("(or (lit x) (lit false))", "MISSING", "or: a text is not a boolean"),
        ("(not (lit 0))", "MISSING", "not: a number is not a boolean"),
        ("(lt (lit 1) (lit '2'))", "MISSING", "lt: number and text have no order"),
        ("(lt (lit true) (lit 1))", "MISSING", "lt: boolean and number have no order"),
        ("(gt (lit [1]) (lit [2]))", "MISSING", "gt: list and list have no order"),
        ("(lte (lit {}) (lit {}))", "MISSING", "struct"),
        ("(lt (lit 2020-01-01) (lit 2020-01-01T00:00Z))", "MISSING", "date and timestamp with a zone"),
        ("(lt (lit 2020-01-01T00:00-00:00) (lit 2020-01-01T00:00Z))", "MISSING", "timestamp and timestamp with"),
        ("(in (lit 1) (lit 1))", "MISSING", "in: a number is not a collection"),
        ("(plus (lit 1) (lit a))", "MISSING", "plus: a text is not a number"),
        ("(plus (lit 1) (lit true))", "MISSING", "plus: a boolean is not a number"),
        ("(plus (lit 9223372036854775807) (lit 1))", "MISSING", "plus: the result does not fit 64 bits"),
        ("(neg (lit -9223372036854775808))", "MISSING", "neg: the result does not fit 64 bits"),
        ("(call abs (lit -9223372036854775808))", "MISSING", "abs: the result does not fit 64 bits"),
        ("(divide (lit -9223372036854775808) (lit -1))", "MISSING", "does not fit 64 bits"),
        (f"(plus (lit {'9' * 38}.) (lit 1))", "MISSING", "plus: the result does not fit 38 digits"),
        ("(times (lit 1d30) (lit 1d30))", "MISSING", "times: the result does not fit 38 digits"),
        ("(divide (lit 1) (lit 0))", "MISSING", "divide: division by zero"),
        ("(divide (lit 1.5) (lit 0.))", "MISSING", "divide: division by zero"),
        ("(divide (lit 1e0) (lit 0))", "MISSING", "divide: division by zero"),
        ("(divide (lit 0.) (lit 0.))", "MISSING", "divide: the result is no number"),
        ("(modulo (lit 1) (lit 0))", "MISSING", "modulo: division by zero"),
        ("(modulo (lit 1e0) (lit 0))", "MISSING", "modulo: the result is no number"),
        ("(modulo (lit +inf) (lit 1))", "MISSING", "modulo: the result is no number"),
        ("(modulo (lit 1d40) (lit 1d-10))", "MISSING", "modulo: the result is no number"),
        (f"(plus (lit {'9' * 400}) (lit 1e0))", "MISSING", "plus: the result is no number, or out of range"),
        ("(concat (lit a) (lit 1))", "MISSING", "concat: a number is not a text"),
        ("(call upper (lit 1))", "MISSING", "upper: a number is not a text"),
        ("(call char_length (lit [a]))", "MISSING", "char_length: a list is not a text"),
        ("(call as_boolean (lit 'true'))", "MISSING", "as_boolean: a text is not a boolean"),
        ("(call as_integer (lit 1.0))", "MISSING", "as_integer: a number is not an integer of 64 bits"),
        ("(call as_integer (lit 9223372036854775808))", "MISSING", "as_integer: a number is not an integer of 64 bits"),
        ("(call as_integer (lit true))", "MISSING", "as_integer: a boolean is not an integer"),
        (f"(call as_float (lit {'9' * 400}))", "MISSING", "as_float: the result is no number, or out of range"),
        ("(call as_float (lit '1'))", "MISSING", "as_float: a text is not a number"),
        ("(call as_text (lit 1))", "MISSING", "as_text: a number is not a text"),
        ("(call struct_concat (lit {}) (lit 1))", "MISSING", "struct_concat: a number is not a struct"),
        ("(call star (lit 5) (lit a))", "MISSING", "star: a text is not the number of an attribute"),
        ("(call star (lit 5) (lit MISSING))", "MISSING", "star: a missing value is not the number"),
        ("(path (lit {a: 1}) (lit b))", "MISSING", 'there is no attribute "b" among "a"'),
        ("(path (lit {a: 1, a: 2}) (lit a))", "1", 'several attributes are called "a"'),
        ("(path (lit [1]) (lit 1))", "MISSING", "a list of 1 has no element 1"),
        ("(path (lit [1]) (lit -1))", "MISSING", "a list of 1 has no element -1"),
        ("(path (lit [1, 2]) (lit true))", "MISSING", "the step true leads nowhere in [1, 2]"),
        ("(path (lit <<1>>) (lit 0))", "MISSING", "the step 0 leads nowhere in << 1 >>"),
        ("(path (lit 5) (lit a))", "MISSING", 'the step "a" leads nowhere in 5'),
        ("(path (lit {a: 1}) (lit 0))", "MISSING", "the step 0 leads nowhere in { a: 1 }"),
        ("(struct (expr_pair (lit 1) (lit 2)) (expr_pair (lit a) (lit 3)))", "{ a: 3 }", "a text, not 1"),
        ("(struct (expr_pair (lit null) (lit 2)))", "{ }", "a text, not null"),
    ],
)
def test_what_has_no_value_is_missing_or_an_error(text: str, permissive: str, said: str) -> None:
    assert shown(text, "permissive") == permissive
    with refused(EvaluationError, said):
        shown(text, "strict")


# --- aggregates


def aggregate(function: str, values: str, mode: Mode = "permissive") -> str:
    """An aggregate over all elements, in one group."""
    return shown(f"(map_values (id m) (group_by () ((m {function} (id x))) null (scan (id t) x)))", mode, t=values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("values", "expected"),
    [  # in the order of the names: avg, count, max, min, sum
        ("[1, 2, 6]", ["3.000000", "3", "6", "1", "9"]),
        ("[1, null, MISSING, 2]", ["1.500000", "2", "2", "1", "3"]),  # they disregard what is absent
        ("[1.5, 2]", ["1.750000", "2", "2", "1.5", "3.5"]),
        ("[1.5, 5e-1]", ["1.0e0", "2", "1.5", "0.5e0", "2.0e0"]),
        ("[]", ["null", "0", "null", "null", "null"]),
        ("[null, MISSING]", ["null", "0", "null", "null", "null"]),
    ],
)
def test_aggregates(values: str, expected: list[str], mode: Mode) -> None:
    got = {function: aggregate(function, values, mode) for function in sorted(AGGREGATES)}
    assert got == {name: f"<< {value} >>" for name, value in zip(sorted(AGGREGATES), expected, strict=True)}


def test_the_smallest_and_greatest_of_several_types() -> None:
    assert aggregate("min", "[a, 5, true, 3]") == "<< true >>"  # in the order of `order_by`
    assert aggregate("max", "[b, 5, true, a]") == '<< "b" >>'


@pytest.mark.parametrize(
    ("function", "values"),
    [*product(("sum", "avg"), ("[1, a]", "[a]", "[true]")), ("sum", "[9223372036854775807, 1]")],
)
def test_a_sum_of_what_has_none(function: str, values: str) -> None:
    assert aggregate(function, values) == "<< MISSING >>"
    with refused(EvaluationError, f"{function}: "):
        aggregate(function, values, "strict")
