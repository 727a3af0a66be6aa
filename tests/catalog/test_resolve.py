"""Overload choice: bare Python values, options, kinds and catalogues, and what a call that fits nothing is told."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as Number

import pytest

from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I64,
    INTEGER_RANGES,
    Decimal,
    FixedChar,
    List,
    Map,
    String,
    Struct,
    Type,
    VarChar,
    struct_names,
)
from substrait_dsl.catalog import (
    CallArgument,
    EnumValue,
    Open,
    Typed,
    TypeValue,
    derive,
    derive_intermediate,
    standard_catalog,
)
from substrait_dsl.catalog.catalog import Kinds
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError, InvalidChoiceError


def typed(*texts: str) -> list[Typed]:
    return [Typed(parse_type(text)) for text in texts]


def bare(value: int | float | str | Number) -> Open:
    """A bare value, with the rules that a caller might have."""
    match value:
        case int():
            digits = len(str(abs(value)))
            return Open(
                I64(),
                lambda type_: fits_number(value, type_),
                also=(decimal_type(digits, 0),),
                integer=value,
                text=str(value),
            )
        case float():
            return Open(FP64(), lambda type_: isinstance(type_, FP32 | FP64), text=str(value))
        case Number():
            digits, scale = len(value.as_tuple().digits), -int(value.as_tuple().exponent)
            return Open(
                decimal_type(max(digits, scale), scale), lambda type_: fits_number(value, type_), text=str(value)
            )
        case str():
            return Open(
                String(),
                lambda type_: fits_text(value, type_),
                enum=value,
                also=(VarChar(len(value)),),
                text=repr(value),
            )


def decimal_type(precision: int, scale: int) -> Type:
    return parse_type(f"decimal<{precision},{scale}>")


def fits_number(value: int | Number, type_: Type) -> bool:
    if type(type_) in INTEGER_RANGES:
        low, high = INTEGER_RANGES[type(type_)]
        return isinstance(value, int) and low <= value <= high
    if isinstance(type_, Decimal):
        scaled = Number(value).scaleb(type_.scale)
        return scaled == int(scaled) and abs(scaled) < 10**type_.precision
    return isinstance(type_, FP32 | FP64) and isinstance(value, int)


def fits_text(value: str, type_: Type) -> bool:
    match type_:
        case String():
            return True
        case VarChar(length=length):
            return bool(len(value) <= length)
        case FixedChar(length=length):
            return bool(len(value) == length)
    return False


@pytest.mark.parametrize(
    ("name", "arguments", "key", "types"),
    [
        # the type that the other argument forces
        ("add", ["i32", 1], "add:i32_i32", "i32"),
        ("add", [1, "i8?"], "add:i8_i8", "i8"),
        ("multiply", ["fp32", 2.5], "multiply:fp32_fp32", "fp32"),
        ("divide", ["fp64", 2], "divide:fp64_fp64", "fp64"),
        ("equal", [5, "decimal<15,2>"], "equal:any_any", "decimal<15,2>"),
        ("between", [5, 6, "i16"], "between:any_any_any", "i16"),
        ("subtract", [1, "decimal<15,2>"], "subtract:dec_dec", "decimal<15,2>"),
        ("round", ["decimal<15,2>", 1], "round:dec_i32", "i32"),
        ("like", ["varchar<9>", String, "%x%"], "like:vchar_vchar", "varchar<9>"),
        # too large for the other's type: the value's own of that kind
        ("multiply", ["decimal<3,2>", 1000], "multiply:dec_dec", "decimal<4,0>"),
        ("multiply", ["decimal<15,2>", Number("0.125")], "multiply:dec_dec", "decimal<3,3>"),
        ("like", ["varchar<2>", String, "%xy%"], "like:vchar_vchar", "varchar<4>"),
        # nothing forces a type: the natural one
        ("sqrt", [2], "sqrt:i64", "i64"),
        ("add", [1, 2], "add:i64_i64", "i64"),
        ("coalesce", [1, 2.5], "coalesce:any", "fp64"),
        ("equal", [2.5, 1], "equal:any_any", "fp64"),
        ("index_in", [3, "list<i16>"], "index_in:any_list", "i16"),
    ],
)  # fmt: skip
def test_a_bare_value_takes_the_type_that_is_needed(name: str, arguments: list[object], key: str, types: str) -> None:
    given: list[CallArgument] = []
    for position, argument in enumerate(arguments):
        is_type = isinstance(argument, str) and (position == 0 or String not in arguments)
        if argument is not String:  # it marks that the text behind it is a value
            given.append(*typed(argument) if is_type else [bare(argument)])  # type: ignore[arg-type]  # one of the two
    resolution = standard_catalog().resolve("scalar", name, given)
    assert resolution.overload.key == key
    for argument, kind in zip(given, resolution.argument_types, strict=True):
        assert kind == (argument.type if isinstance(argument, Typed) else parse_type(types))


def test_a_text_may_be_an_enumeration_value() -> None:
    resolution = standard_catalog().resolve("scalar", "extract", [bare("year"), *typed("date")])
    assert resolution.overload.key == "extract:req_date"
    assert resolution.argument_types[0] == EnumValue("YEAR")


def test_an_integer_literal_decides_a_precision() -> None:
    texts = typed("string", "string")
    for three in (bare(3), Typed(parse_type("i8"), integer=3)):
        assert standard_catalog().resolve("scalar", "strptime_time", [*texts, three]).output_type == parse_type("pt<3>")
    with pytest.raises(
        InvalidArgumentError, match=r"argument precision of strptime_time .* expected an integer literal"
    ):
        standard_catalog().resolve("scalar", "strptime_time", [*texts, *typed("i8")])
    with pytest.raises(InvalidArgumentError, match="from 0 to 12, got 13"):
        standard_catalog().resolve("scalar", "strptime_time", [*texts, bare(13)])


def test_constant_arguments() -> None:
    def quantile(n: CallArgument) -> Type:
        given = [EnumValue("BOTH"), EnumValue("EXACT"), n, *typed("fp64?")]
        return standard_catalog().resolve("aggregate", "quantile", given).output_type

    assert quantile(bare(4)) == parse_type("list<fp64>?")
    assert quantile(Typed(I64(), constant=True)) == parse_type("list<fp64>?")
    with pytest.raises(InvalidArgumentError, match="argument n of quantile must be a constant"):
        quantile(Typed(I64(), constant=False))


def test_inner_nullability_must_match() -> None:
    catalog = standard_catalog()
    taken = catalog.resolve("scalar", "filter", typed("list<i32?>", "func<i32? -> boolean?>"))
    assert taken.output_type == parse_type("list<i32?>")
    with pytest.raises(FunctionNotFoundError):
        catalog.resolve("scalar", "filter", typed("list<i32>", "func<i32 -> boolean>"))
    with pytest.raises(FunctionNotFoundError):
        catalog.resolve("scalar", "any_match", typed("list<i32?>", "func<i32 -> boolean?>"))


def test_one_precision_for_one_name() -> None:
    catalog = standard_catalog()
    assert catalog.resolve("scalar", "add", typed("pts<3>", "iday<3>")).output_type == parse_type("pts<3>")
    with pytest.raises(FunctionNotFoundError, match=r"cast argument 1 from precision_timestamp<3> to .*<6>"):
        catalog.resolve("scalar", "add", typed("pts<3>", "iday<6>"))


def test_kinds_and_extensions_narrow_the_choice() -> None:
    catalog = standard_catalog()
    assert catalog.resolve(("window", "aggregate"), "sum", typed("i64")).overload.kind == "aggregate"
    assert catalog.resolve(None, "row_number", []).output_type == parse_type("i64?")
    decimal_output = "extension:io.substrait:functions_aggregate_decimal_output"
    assert catalog.resolve("aggregate", "count", [], urn=decimal_output).output_type == Decimal(38, 0)


def test_a_known_overload_derives() -> None:
    overload = standard_catalog().overload("extension:io.substrait:functions_arithmetic_decimal", "avg:dec")
    assert derive(overload, typed("decimal<10,2>")) == parse_type("decimal<38,2>?")
    assert derive_intermediate(overload, typed("decimal<10,2>")) == parse_type("struct<decimal<38,2>, i64>")
    with pytest.raises(FunctionNotFoundError, match=r"avg:dec does not take \(i64\): it is avg\(x: decimal<P,S>\)"):
        derive(overload, typed("i64"))


def test_options_take_the_files_spelling() -> None:
    resolution = standard_catalog().resolve(
        "scalar", "add", typed("i8", "i8"), options={"OVERFLOW": ["error", "Silent"]}
    )
    assert resolution.options == {"overflow": ("ERROR", "SILENT")}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("add", {"overflo": ["ERROR"]}, 'unknown option of add \'overflo\'; expected one of "overflow"\n  hint: '),
        ("add", {"overflow": ["WRAP"]},
         "unknown value of option overflow of add 'WRAP'; expected one of \"SILENT\", \"SATURATE\", \"ERROR\""),
        ("bitwise_and", {"overflow": ["ERROR"]}, 'bitwise_and(x: i64, y: i64) -> i64 has no options, got "overflow"'),
    ],
)  # fmt: skip
def test_unknown_options_are_explained(name: str, options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InvalidChoiceError) as error:
        standard_catalog().resolve("scalar", name, typed("i64", "i64"), options=options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("multply", [], 'there is no scalar function "multply"\n  hint: did you mean "multiply"?'),
        ("sum", typed("i64"), '"sum" is an aggregate function; expected a scalar function'),
        ("factorial", typed("string"), "no overload takes factorial(string); there is\n    factorial(n: i32) -> i32"),
        ("add", typed("i64", "i32"), "hint: cast argument 2 from i32 to i64"),
        ("factorial", typed("i16?"), "hint: cast argument 1 from i16? to i32?"),
        ("equal", typed("decimal<15,2>", "decimal<10,2>"), "cast argument 2 from decimal<10,2> to decimal<15,2>"),
        ("multiply", typed("decimal<21,2>", "i64"), "cast argument 2 from i64 to decimal<21,2>"),
        ("multiply", typed("i32?", "decimal<9,2>"), "cast argument 1 from i32? to decimal<10,0>?"),
        ("gt", typed("i32?", "decimal<9,2>"), "cast both to decimal<12,2>?"),
        ("equal", typed("decimal<9,2>", "decimal<10,4>"), "cast both to decimal<11,4>"),
        ("concat_ws", typed("string", "varchar<3>"), "cast argument 2 from varchar<3> to string"),
        ("add", [bare("one"), *typed("i64")], "no overload takes add('one', i64)"),
        ("extract", [EnumValue("YAER"), *typed("date")], "no overload takes extract(YAER, date)"),
        ("add", [TypeValue(I64()), *typed("i64")], "no overload takes add(type i64, i64)"),
    ],
)
def test_calls_that_fit_nothing_are_explained(name: str, arguments: list[CallArgument], message: str) -> None:
    with pytest.raises(FunctionNotFoundError) as error:
        standard_catalog().resolve("scalar", name, arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("kinds", "name", "message"),
    [
        ("aggregate", "last_value", '"last_value" is a window function; expected an aggregate function'),
        (("aggregate", "window"), "add", '"add" is a scalar function; expected an aggregate or a window function'),
        ("scalar", "ntile", '"ntile" is a window function; expected a scalar function'),
    ],
)
def test_functions_of_another_kind_are_told_with_their_article(kinds: Kinds, name: str, message: str) -> None:
    with pytest.raises(FunctionNotFoundError) as error:
        standard_catalog().resolve(kinds, name, typed("i64"))
    assert str(error.value) == message


def test_the_nearest_overloads_come_first() -> None:
    with pytest.raises(FunctionNotFoundError) as error:
        standard_catalog().resolve("scalar", "substring", typed("varchar<9>", "i64"))
    listed = [line.strip() for line in error.value.message.splitlines()[1:]]
    assert listed[0] == "substring(input: varchar<L1>, start: i32) -> varchar<L1>"
    assert listed[3:] == ["... (6 in all)"]
    with pytest.raises(FunctionNotFoundError) as error:
        standard_catalog().resolve("scalar", "add", typed("i64"))
    assert error.value.message.splitlines()[-1].strip() == "... (17 in all)"


def test_unknown_extensions_and_signatures_are_explained() -> None:
    arithmetic = "extension:io.substrait:functions_arithmetic"
    with pytest.raises(FunctionNotFoundError, match=r'did you mean "extension:io\.substrait:functions_arithmetic"'):
        standard_catalog().resolve("scalar", "add", [], urn="extension:io.substrait:function_arithmetic")
    with pytest.raises(FunctionNotFoundError, match='has no function with the signature "add:i64_i32"'):
        standard_catalog().overload(arithmetic, "add:i64_i32")
    with pytest.raises(FunctionNotFoundError, match='there is no scalar or aggregate or window function "plus"'):
        standard_catalog().overload(arithmetic, "plus:i64_i64")


def test_a_repeated_call_is_remembered_and_the_integers_in_it_count() -> None:
    catalog = standard_catalog()
    assert catalog.resolve("scalar", "add", typed("i64", "i64")) is catalog.resolve(
        "scalar", "add", typed("i64", "i64")
    )
    for precision in (3, 6):
        given = [*typed("string", "string"), Typed(parse_type("i8"), integer=precision)]
        assert catalog.resolve("scalar", "strptime_time", given).output_type == parse_type(f"pt<{precision}>")


@pytest.mark.parametrize(
    "around", [lambda kind: kind, List, lambda kind: Map(String(), kind), lambda kind: Map(kind, I64())]
)
def test_a_remembered_call_does_not_lend_its_names(around: Callable[[Type], Type]) -> None:
    """Structs are equal whatever their fields are called."""
    for names in (("a", "b"), ("b", "a"), None):
        type_ = around(Struct((I64(), I64()), names))
        given = [Typed(type_), Typed(type_)]
        made = standard_catalog().resolve("scalar", "coalesce", given).output_type
        assert (made, list(struct_names(made))) == (type_, list(struct_names(type_)))


def test_all_functions_by_name() -> None:
    grouped = standard_catalog().by_name("aggregate")
    assert list(grouped)[:3] == ["any_value", "approx_count_distinct", "avg"]
    assert [function.urn.rpartition(":")[2] for function in grouped["approx_count_distinct"]] == [
        "functions_aggregate_approx",
        "functions_aggregate_decimal_output",
    ]
    functions = [function for same_name in standard_catalog().by_name().values() for function in same_name]
    assert sum(len(function.overloads) for function in functions) == 535
    assert all(function.description for function in grouped["sum"])
