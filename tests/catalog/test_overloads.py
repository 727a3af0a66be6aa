"""Every overload of every extension file, called with its own argument types.

The files are read here a second time, as plain YAML: expected types come from the files' text by replacing the names of
parameters (``P1``, ``any1``) with fixed values, and for computed return types from a table worked out by hand.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import attrs
import pytest
import yaml

from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import CallArgument, EnumValue, Kind, Typed, derive, standard_catalog

VALUES = {
    "P": "12", "P1": "12", "P2": "10", "S": "3", "S1": "3", "S2": "4",
    "L1": "7", "l1": "7", "L2": "5", "L3": "6", "any": "date", "any1": "i64", "any2": "string",
}  # fmt: skip
"""What stands for the names in the files' patterns."""

PRECISION = 9
"""The value of the integer literals passed, which `integer_parameter` reads."""

COMPUTED = {
    # scale max(3, 4) = 4; digits before the point max(12-3, 10-4) = 9, and one for the carry
    ("functions_arithmetic_decimal", "add"): "decimal<14,4>",
    ("functions_arithmetic_decimal", "subtract"): "decimal<14,4>",
    ("functions_arithmetic_decimal", "multiply"): "decimal<23,7>",  # 12+10+1, 3+4
    ("functions_arithmetic_decimal", "divide"): "decimal<33,14>",  # scale 3+10+1 = 14; 12-3+10+14
    ("functions_arithmetic_decimal", "modulus"): "decimal<10,4>",  # scale max(3, 4); min(9, 6) + 4
    ("functions_arithmetic_decimal", "bitwise_and"): "decimal<12,0>",
    ("functions_arithmetic_decimal", "bitwise_or"): "decimal<12,0>",
    ("functions_arithmetic_decimal", "bitwise_xor"): "decimal<12,0>",
    ("functions_rounding_decimal", "ceil"): "decimal<10,0>",  # 12-3 digits before the point, and one
    ("functions_rounding_decimal", "floor"): "decimal<10,0>",
    ("functions_rounding_decimal", "round"): "decimal?<13,3>",
    ("functions_datetime", "assume_timezone"): "precision_timestamp_tz<9>",
    ("functions_datetime", "strptime_timestamp"): "precision_timestamp_tz<9>",
    ("functions_datetime", "strptime_time"): "precision_time<9>",
}
"""The types that return programs of several lines compute for these values."""

SHORT_NAMES = {
    "string": "str", "binary": "vbin", "boolean": "bool", "interval_year": "iyear", "interval_day": "iday",
    "interval_compound": "icompound", "fixedchar": "fchar", "varchar": "vchar", "fixedbinary": "fbin",
    "decimal": "dec", "precision_time": "pt", "precision_timestamp": "pts", "precision_timestamp_tz": "ptstz",
    "any1": "any", "any2": "any",
}  # fmt: skip
"""The specification's table of short names; other types are their own."""

TYPE_URNS = {
    "geometry": "extension:io.substrait:functions_geometry",
    **dict.fromkeys(("u8", "u16", "u32", "u64"), "extension:io.substrait:unsigned_integers"),
}


@attrs.frozen
class Written:
    """An overload as the file has it."""

    file: str
    kind: Kind
    name: str
    implementation: dict[str, Any] = attrs.field(hash=False)

    @property
    def arguments(self) -> list[dict[str, Any]]:
        arguments: list[dict[str, Any]] = self.implementation.get("args", [])
        return arguments

    @property
    def mirrors(self) -> bool:
        return bool(self.implementation.get("nullability", "MIRROR") == "MIRROR")

    @property
    def key(self) -> str:
        return f"{self.name}:{'_'.join(short_name(argument) for argument in self.arguments)}"

    def given(self) -> list[CallArgument]:
        """The arguments of a call, variadic ones as often as they must stand."""
        given = [as_given(argument) for argument in self.arguments]
        least: int = self.implementation.get("variadic", {}).get("min", 1)
        return given + given[-1:] * (least - 1)

    def returns(self) -> Type:
        text = COMPUTED.get((self.file, self.name)) if "\n" in self.implementation["return"] else None
        return concrete(text or self.implementation["return"])

    def __str__(self) -> str:
        return f"{self.file}/{self.key}"


def short_name(argument: dict[str, Any]) -> str:
    if "options" in argument:
        return "req"
    keyword = re.split(r"[<?]", argument["value"].lower())[0]
    return SHORT_NAMES.get(keyword, keyword)


def as_given(argument: dict[str, Any]) -> CallArgument:
    if "options" in argument:
        return EnumValue(argument["options"][-1].lower())
    type_ = concrete(argument["value"])
    return Typed(type_, PRECISION if type_.keyword == "i8" else None)


def concrete(text: str) -> Type:
    return parse_type(re.sub(r"\w+", lambda word: VALUES.get(word[0], word[0]), text), urns=TYPE_URNS)


EXTENSIONS = files("substrait_extensions.extensions")
FILES = sorted(
    file.name.removesuffix(".yaml")
    for file in EXTENSIONS.iterdir()
    if file.name.endswith(".yaml") and "schema" not in file.name
)
FUNCTIONS = [name for name in FILES if "_functions:" in (EXTENSIONS / f"{name}.yaml").read_text(encoding="utf-8")]
"""The files that declare functions; others declare types alone."""


@cache
def written_overloads(file: str) -> list[Written]:
    content = yaml.safe_load((EXTENSIONS / f"{file}.yaml").read_text(encoding="utf-8"))
    kinds: tuple[Kind, ...] = ("scalar", "aggregate", "window")
    return [
        Written(file, kind, function["name"], implementation)
        for kind in kinds
        for function in content.get(f"{kind}_functions", [])
        for implementation in function["impls"]
    ]


def resolve(written: Written, given: list[CallArgument]) -> Any:
    return standard_catalog().resolve(written.kind, written.name, given, urn=f"extension:io.substrait:{written.file}")


def test_the_catalogue_has_every_overload() -> None:
    keys = [(overload.urn, overload.kind, overload.key) for overload in standard_catalog().overloads()]
    assert len(keys) == 535
    assert len(set(keys)) == 535
    expected = {
        (f"extension:io.substrait:{each.file}", each.kind, each.key)
        for file in FILES
        for each in written_overloads(file)
    }
    assert set(keys) == expected


@pytest.mark.parametrize("file", FUNCTIONS)
def test_overloads_resolve_to_themselves_with_the_type_they_declare(file: str) -> None:
    for written in written_overloads(file):
        resolution = resolve(written, written.given())
        expected = written.returns().as_required() if written.mirrors else written.returns()
        assert resolution.overload.key == written.key, written
        assert resolution.output_type == expected, written
        assert derive(resolution.overload, written.given()) == expected, written


@pytest.mark.parametrize("file", FUNCTIONS)
def test_a_nullable_argument_makes_a_mirroring_result_nullable_and_no_other(file: str) -> None:
    for written in written_overloads(file):
        given = written.given()
        for position, argument in enumerate(given):
            if isinstance(argument, Typed):
                nullable = argument._replace(type=argument.type.as_nullable())
                resolution = resolve(written, [*given[:position], nullable, *given[position + 1 :]])
                expected = written.returns().as_nullable() if written.mirrors else written.returns()
                assert resolution.overload.key == written.key, written
                assert resolution.output_type == expected, (written, position)


@pytest.mark.parametrize(
    ("kind", "name", "arguments", "result"),
    [
        # any1? on required values: nullable, whatever comes in
        ("window", "lag", ["i64"], "i64?"),
        ("window", "lag", ["i64?", "i32"], "i64?"),
        ("window", "lag", ["string", "i32", "string"], "string?"),
        ("window", "lead", ["decimal<10,2>"], "decimal<10,2>?"),
        ("window", "nth_value", ["date", "i32"], "date?"),
        ("scalar", "nullif", ["i64", "i64"], "i64?"),
        ("aggregate", "any_value", ["list<i32?>"], "list<i32?>?"),
        # spec decision 33: any1 binds the bare type, so first_value of a nullable column is required by the letter
        ("window", "first_value", ["i64?"], "i64"),
        # spec decision 34: coalesce mirrors
        ("scalar", "coalesce", ["i64?", "i64"], "i64?"),
        ("scalar", "coalesce", ["i64", "i64", "i64"], "i64"),
        # decimals: specification's formulas by hand; spec decision 37 for divide (scale 2+5+1, digits 10-2+5+8)
        ("scalar", "add", ["decimal<10,2>", "decimal<5,1>"], "decimal<11,2>"),
        ("scalar", "subtract", ["decimal<10,2>", "decimal<5,1>"], "decimal<11,2>"),
        ("scalar", "multiply", ["decimal<10,2>", "decimal<5,1>"], "decimal<16,3>"),
        ("scalar", "divide", ["decimal<10,2>", "decimal<5,1>"], "decimal<21,8>"),
        ("scalar", "divide", ["decimal<10,2>?", "decimal<5,1>"], "decimal<21,8>?"),
        ("scalar", "modulus", ["decimal<10,2>", "decimal<5,1>"], "decimal<6,2>"),
        # over 38 digits: 77,20 gives up 39 digits of scale but keeps 6; divide 49,16 gives up 11 of 16 but keeps 6
        ("scalar", "multiply", ["decimal<38,10>", "decimal<38,10>"], "decimal<38,6>"),
        ("scalar", "divide", ["decimal<38,10>", "decimal<5,1>"], "decimal<38,6>"),
        ("scalar", "add", ["decimal<38,10>", "decimal<38,10>"], "decimal<38,9>"),
        ("aggregate", "sum", ["decimal<10,2>"], "decimal<38,2>?"),
        ("aggregate", "sum0", ["decimal<10,2>?"], "decimal<38,2>"),
        ("scalar", "round", ["decimal<10,2>", "i32"], "decimal<11,2>?"),  # spec decision 35
        # user-defined results, precisions carried over, variadics
        ("scalar", "point", ["fp64", "fp64"], "u!geometry"),
        ("scalar", "make_line", ["u!geometry", "u!geometry?"], "u!geometry?"),
        ("aggregate", "min", ["precision_time<3>"], "precision_time<3>?"),
        ("aggregate", "max", ["precision_timestamp_tz<9>"], "precision_timestamp_tz<9>?"),
        ("aggregate", "sum", ["u!u8"], "u!u64?"),
        ("scalar", "concat_ws", ["varchar<1>", "varchar<9>", "varchar<9>"], "varchar<9>"),  # spec decision 39
        ("scalar", "and", [], "boolean"),
        ("scalar", "or", ["boolean", "boolean?", "boolean"], "boolean?"),
        ("scalar", "transform", ["list<i32?>", "func<i32? -> string?>"], "list<string?>"),
        ("aggregate", "count", [], "i64"),
        ("aggregate", "count", ["struct<i64, string?>?"], "i64"),
    ],
)  # fmt: skip
def test_types_that_others_get_wrong(kind: Kind, name: str, arguments: list[str], result: str) -> None:
    given = [Typed(parse_type(text, urns=TYPE_URNS)) for text in arguments]
    resolution = standard_catalog().resolve(kind, name, given)
    assert resolution.output_type == parse_type(result, urns=TYPE_URNS)
    assert resolution.argument_types == tuple(argument.type for argument in given)


def test_temporal_rounding_keeps_the_precision() -> None:
    time = parse_type("precision_time<4>")
    arguments: list[CallArgument] = [
        Typed(time),
        EnumValue("ROUND_TIE_UP"),
        EnumValue("second"),
        Typed(parse_type("i64")),
        Typed(time),
    ]
    resolution = standard_catalog().resolve("scalar", "round_temporal", arguments)
    assert resolution.output_type == time
    assert resolution.argument_types[2] == EnumValue("SECOND")
