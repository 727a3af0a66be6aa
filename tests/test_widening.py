"""Numbers of two types: which are cast, to what, and which stay an error."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ForwardRef, get_args, get_origin

import numpy as np
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.number_types import NUMBERS, WIDER, common_number
from substrait_dsl.catalog import CallArgument, Overload, Typed, casts, standard_catalog
from substrait_dsl.catalog.resolve import derive
from substrait_dsl.errors import FunctionNotFoundError, LiteralError, TypeMismatchError
from tests.support import f, refused, table

T = table("a: i8, b: i16?, c: i32, d: i64, x: fp32, y: fp64, m: decimal<15,2>, n: decimal<10,4>?, s: string")


def printed(column: Any) -> str:
    """A column as the plan shows it, with its type: ``z: i64 = cast(c as i64) + d``."""
    return str(T.project(z=column)).splitlines()[0].removeprefix("project -> *, ")


def values_that_tell(type_: type[t.Type]) -> list[Fraction]:
    """Values of a type of which a type that holds all of them is one of the few that hold these."""
    if type_ in t.INTEGER_RANGES:
        smallest, largest = t.INTEGER_RANGES[type_]
        return [Fraction(each) for each in (smallest, largest, largest - 2)]
    bits, exponent = (24, 127) if type_ is t.FP32 else (53, 1023)
    return [Fraction(2**bits - 1, 2**bits), Fraction(2**exponent), Fraction(1, 2 ** (exponent - 1))]


def holds(type_: type[t.Type], value: Fraction) -> bool:
    """Whether a value is one of a type, by Python's integers and the floats of numpy."""
    if type_ in t.INTEGER_RANGES:
        smallest, largest = t.INTEGER_RANGES[type_]
        return value.denominator == 1 and smallest <= value <= largest
    width = np.float32 if type_ is t.FP32 else np.float64
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(width(float(value)))
    return bool(np.isfinite(rounded)) and Fraction(rounded) == value


def test_a_type_is_wider_if_it_holds_every_value() -> None:
    assert set(WIDER) == set(NUMBERS)
    for narrow, wide in itertools.permutations(NUMBERS, 2):
        assert (wide in WIDER[narrow]) == all(holds(wide, each) for each in values_that_tell(narrow)), (narrow, wide)


def test_the_marks_for_checkers_say_what_the_table_says() -> None:
    for narrow, wider in {**WIDER, t.Decimal: ()}.items():
        marks = [base for base in narrow.__orig_bases__ if get_origin(base) is t.NarrowerThan]  # type: ignore[attr-defined]
        written = [each.__forward_arg__ for mark in marks for each in get_args(mark) if isinstance(each, ForwardRef)]
        decimals = [] if narrow in (t.FP32, t.FP64) else ["Decimal[Any, Any]"]
        assert " | ".join(written) == " | ".join([each.__name__ for each in wider] + decimals)


PAIRS = {
    # arithmetic: the narrower operand is cast, and the type is that of the function
    "c + d": "z: i64 = cast(c as i64) + d",
    "d - c": "z: i64 = d - cast(c as i64)",
    "a * b": "z: i16? = cast(a as i16) * b",
    "c % a": "z: i32 = c % cast(a as i32)",
    "c * y": "z: fp64 = cast(c as fp64) * y",
    "x + y": "z: fp64 = cast(x as fp64) + y",
    "b / x": "z: fp32? = cast(b as fp32?) / x",
    "c + x": "z: fp64 = cast(c as fp64) + cast(x as fp64)",
    # multiply(decimal<P1,S1>, decimal<P2,S2>): P1+P2+1 digits, S1+S2 of them after the point
    "m * c": "z: decimal<26,2> = m * cast(c as decimal<10,0>)",
    "d * m": "z: decimal<35,2> = cast(d as decimal<19,0>) * m",
    "n + a": "z: decimal<11,4>? = n + cast(a as decimal<3,0>)",  # max(S1,S2) + max(P1-S1,P2-S2) + 1
    # comparisons: both are of one type
    "c == d": "z: boolean = cast(c as i64) = d",
    "m > n": "z: boolean? = cast(m as decimal<17,4>) > cast(n as decimal<17,4>?)",
    "m < d": "z: boolean = cast(m as decimal<21,2>) < cast(d as decimal<21,2>)",
    "n >= c": "z: boolean? = cast(n as decimal<14,4>?) >= cast(c as decimal<14,4>)",
    "a != x": "z: boolean = cast(a as fp32) != x",
}


@pytest.mark.parametrize("written", PAIRS)
def test_operators(written: str) -> None:
    assert printed(lambda r: eval(written, {name: r[name] for name in T.columns})) == PAIRS[written]


CALLS: list[tuple[Any, str | None]] = [
    (lambda r: f.add(r.c, r.d), "z: i64 = cast(c as i64) + d"),
    (lambda r: f.divide(r.d, r.c), "z: i64 = d / cast(c as i64)"),
    (lambda r: f.power(r.c, r.y), "z: fp64 = power(cast(c as fp64), y)"),
    (lambda r: f.power(r.c, 2), "z: i64 = power(cast(c as i64), 2)"),
    (lambda r: f.bitwise_and(r.a, r.d), "z: i64 = bitwise_and(cast(a as i64), d)"),
    (lambda r: f.round(r.m, r.a), None),
    (lambda r: f.coalesce(r.b, r.a, 0), "z: i16? = coalesce(b, cast(a as i16), 0)"),
    (lambda r: f.nullif(r.c, r.d), "z: i64? = nullif(cast(c as i64), d)"),
    (lambda r: r.m.between(r.c, 5), None),
    (lambda r: r.c * Decimal("1.2"), "z: decimal<13,1> = cast(c as decimal<10,0>) * 1.2"),
    (lambda r: 10 - r.c * sd.lit(2), None),
]


def test_functions() -> None:
    types = {number: str(T.select(x=column).schema.types[0]) for number, (column, _) in enumerate(CALLS)}
    assert list(types.values()) == [
        *("i64", "i64", "fp64", "i64", "i64", "decimal<16,2>?", "i16?", "i64?", "boolean", "decimal<13,1>", "i64")
    ]
    for column, text in CALLS:
        assert text is None or printed(column) == text


def test_conditionals_and_lists() -> None:
    branches = sd.when(sd.col("a") > 1).then(sd.col("c")).when(sd.col("a") > 0).then(5).otherwise(sd.col("d"))
    assert printed(branches) == "z: i64 = case when a > 1 then cast(c as i64) when a > 0 then 5 else d end"
    assert printed(lambda r: sd.switch(r.a, {1: r.m}, r.c)) == (
        "z: decimal<15,2> = case a when 1 then m else cast(c as decimal<15,2>) end"
    )
    assert printed(lambda r: r.c.is_in([r.d, 3])) == "z: boolean = cast(c as i64) in (d, 3)"
    assert printed(lambda r: r.d.is_in([r.c, 3])) == "z: boolean = d in (cast(c as i64), 3)"
    assert printed(lambda r: sd.record(r.c, r.s).is_in([(r.d, "u"), (4, r.s)])) == (
        "z: boolean = (cast(c as i64), s) in ((d, 'u'), (4, s))"
    )
    assert printed(lambda r: sd.list_of(r.c, r.d)) == "z: list<i64> = [cast(c as i64), d]"


def test_joins() -> None:
    """A condition compares like any other; the keys of a hash join are columns, and so of one type."""
    left, right = table("k: i32, v: i64", "l"), table("k: i64, w: i64", "r")
    assert "on cast(left.k as i64) = right.k" in str(left.join(right, "k"))
    assert "on cast(left.k as i64) = right.k" in str(left.join(right, lambda one, other: one.k == other.k))
    with refused(TypeMismatchError, "i32 and i64", "cast one of them in a project below the join"):
        left.hash_join(right, "k")
    with refused(TypeMismatchError, "must have the same types"):
        left.union_all(right)
    with refused(TypeMismatchError, "i32", "i64"):
        left.filter(lambda r: r.k.is_in(right.select("k")))


ERRORS: list[tuple[Any, type[Exception], tuple[str, ...]]] = [
    (lambda r: r.d + r.y, FunctionNotFoundError, ("add(i64, fp64)", "cast argument 1 from i64 to fp64")),
    (lambda r: r.d > r.x, FunctionNotFoundError, ("gt(i64, fp32)",)),
    (lambda r: r.m * r.y, FunctionNotFoundError, ("cast argument 1 from decimal<15,2> to fp64",)),
    (lambda r: f.sin(r.c), FunctionNotFoundError, ("cast argument 1 from i32 to fp64",)),  # no float stands beside it
    (lambda r: f.floor(r.d), FunctionNotFoundError, ("floor(i64)",)),
    (lambda r: f.shift_right_unsigned(r.a, r.c), FunctionNotFoundError, ("cast argument 1 from i8 to i32",)),
    (lambda r: f.substring(r.s, r.d, 2), FunctionNotFoundError, ("cast argument 2 from i64 to i32",)),
    (
        lambda r: r.m == r.m.cast("decimal<38,0>"),
        FunctionNotFoundError,
        ("argument 2 from decimal<38,0> to decimal<36,0>",),
    ),
    (lambda r: sd.when(r.a > 1).then(r.d).otherwise(r.y), TypeMismatchError, ("there is i64 and fp64",)),
    (lambda r: r.d.is_in([r.y]), TypeMismatchError, ("the value is i64 but an option is fp64",)),
    # a Python value takes the type of the other operand, or is refused
    (lambda r: r.a + 300, FunctionNotFoundError, ("add(i8, 300)",)),
    (lambda r: r.c > 3_000_000_000, FunctionNotFoundError, ("gt(i32, 3000000000)",)),
    (lambda r: r.c * 1.5, FunctionNotFoundError, ("multiply(i32, 1.5)",)),
    (lambda r: r.m * 1.5, FunctionNotFoundError, ('write Decimal("1.5")',)),
    (lambda r: sd.switch(r.a, {1000: 1}, None), LiteralError, ("1000 does not fit i8",)),
    # quotients
    (
        lambda r: r.d / r.c,
        TypeMismatchError,
        ("/ of two integers, i64 and i32,", "functions.divide(x, y) leaves it out"),
    ),
    (lambda r: r.d / 2, TypeMismatchError, ("i64 and 2", "x.cast(FP64) / 2 has it; functions.divide(x, 2)")),
    (lambda r: 2 / r.a, TypeMismatchError, ("2 / y.cast(FP64) has it; functions.divide(2, y)",)),
    (lambda r: sd.lit(1) / sd.lit(2), TypeMismatchError, ("i64 and i64",)),
    (lambda r: f.row_number().over(order_by="a") / r.d, TypeMismatchError, ("i64? and i64",)),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_what_could_lose_or_surprise_is_an_error(number: int) -> None:
    column, error, said = ERRORS[number]
    with refused(error, *said):  # type: ignore[arg-type]
        T.select(x=column)


def test_measures() -> None:
    """What is computed of the values of groups follows the same rules."""
    of_groups = T.aggregate(
        a=lambda r: f.sum(r.m) / f.count(),
        b=lambda r: f.sum(r.c) + f.max(r.a),
        c=lambda r: f.coalesce(f.max(r.c), f.count()),
        d=lambda r: f.divide(f.sum(r.c), f.count()),
    )
    # divide(decimal<38,2>, decimal<19,0>) has max(6, 2+19+1) digits after the point, cut to the 6 that 38 in all leave
    assert [str(type_) for type_ in of_groups.schema.types] == ["decimal<38,6>?", "i64?", "i64?", "i64?"]
    with refused(TypeMismatchError, "/ of two integers, i64? and i64,", "x.cast(FP64) / y.cast(FP64) has it"):
        T.aggregate(a=lambda r: f.sum(r.c) / f.count())
    with refused(TypeMismatchError, "/ of two integers, 1 and i64,"):
        T.aggregate(a=1 / f.count())


EXTENSION = """
urn: extension:com.acme:pairs
scalar_functions:
  - name: crossed
    impls:
      - {args: [{name: x, value: i16}, {name: y, value: i64}], return: i16}
      - {args: [{name: x, value: i64}, {name: y, value: i16}], return: i64}
  - name: stepped
    impls:
      - {args: [{name: x, value: i64}, {name: y, value: i64}], return: i64}
      - {args: [{name: x, value: i32}, {name: y, value: i32}], return: i32}
"""


def test_the_overload_that_widens_each_argument_least_is_meant() -> None:
    own: Any = sd.Functions(standard_catalog().with_extension(EXTENSION))
    assert printed(lambda r: own.stepped(r.a, r.b)) == "z: i32? = stepped(cast(a as i32), cast(b as i32?))"
    assert printed(lambda r: own.crossed(r.b, r.d)) == "z: i16? = crossed(b, d)"
    with refused(FunctionNotFoundError, "crossed(i8, i8)", "crossed(x: i16, y: i64)", "crossed(x: i64, y: i16)"):
        T.select(x=lambda r: own.crossed(r.a, r.a))


def test_a_variation_of_a_type_is_not_widened() -> None:
    varied = t.I32(variation=t.TypeVariation("extension:com.acme:ids", "customer"))
    assert common_number([varied, t.I64()]) is None
    assert common_number([t.I32(), t.I64(nullable=True)]) == t.I64(nullable=True)
    assert common_number([t.String(), t.I64()]) is None
    assert common_number([t.Decimal(38, 2), t.Decimal(38, 6)]) is None


def test_the_catalogue_itself_widens_nothing() -> None:
    """So a plan that is read means what its functions say: an i32 for an i64 is refused."""
    arguments = [Typed(t.I32()), Typed(t.I64())]
    with pytest.raises(FunctionNotFoundError):
        standard_catalog().resolve("scalar", "add", arguments)
    overload = standard_catalog().overload("extension:io.substrait:functions_arithmetic", "add:i64_i64")
    with pytest.raises(FunctionNotFoundError):
        derive(overload, arguments)
    assert standard_catalog().widen("scalar", "add", arguments) == [t.I64(), None]
    assert standard_catalog().widen("scalar", "nope", arguments) is None


def test_a_call_of_many_arguments_tries_no_casts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each argument would be tried with the types of all others: seconds, of a thousand."""
    tried: list[int] = []

    def choose(overloads: Sequence[Overload], arguments: Sequence[CallArgument]) -> None:
        tried.append(len(arguments))

    monkeypatch.setattr(casts, "choose", choose)
    for count in (2, 1000):
        with refused(FunctionNotFoundError, "no overload takes coalesce(i32, "):
            T.select(z=lambda r, count=count: f.coalesce(*[r.c] * (count - 1), r.s))
    assert set(tried) == {2}


PAGE = Path(__file__).parent.parent / "docs" / "numbers.md"
ROWS_OF_THE_PAGE = re.findall(
    r"^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \| .+? \| .+? \|$", PAGE.read_text("utf-8"), re.MULTILINE
)
NAMED = {name: name for name in ("i8", "i16", "i32", "i64", "fp32", "fp64")}
NAMED |= {"m": "decimal<15,2>", "n": "decimal<10,4>", "w": "decimal<38,2>", "v": "decimal<38,6>"}


def test_the_page_has_all_rows() -> None:
    assert len(ROWS_OF_THE_PAGE) == 25


@pytest.mark.parametrize(("written", "type_", "plan", "specification"), ROWS_OF_THE_PAGE)
def test_the_page_says_what_happens(written: str, type_: str, plan: str, specification: str) -> None:
    rows = sd.read_named("t", NAMED)

    def column(row: Any) -> Any:
        names = {name: row[name] for name in NAMED}
        return eval(written, {"f": f, "sd": sd, "Decimal": Decimal, **names})

    if type_ == "error":
        with pytest.raises((FunctionNotFoundError, TypeMismatchError)):
            rows.select(z=column)
        return
    assert str(rows.select(z=column).schema.types[0]) == type_
    text = " ".join(str(rows.project(z=column)).split("\n  read")[0].replace("\n      |", "").split())
    assert text.removeprefix("project ").removeprefix("-> *, ") == f"z: {type_} = {plan.strip('`')}"
    assert (specification == type_) == ("cast(" not in plan)
