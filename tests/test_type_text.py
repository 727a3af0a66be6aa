"""The type text syntax: every type reads back as itself, and mistakes are explained."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.type_parser import parse_program
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.errors import PlanFormatError
from tests.strategies import URNS, types


@settings(max_examples=300)
@given(types())
def test_reading_what_was_printed_gives_the_same_type(type_: t.Type) -> None:
    assert parse_type(str(type_), urns=URNS) == type_


POINT = "extension:geo:shapes"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("i64", t.I64()),
        ("I64?", t.I64(nullable=True)),
        ("decimal<15,2>?", t.Decimal(15, 2, nullable=True)),
        ("decimal?<15,2>", t.Decimal(15, 2, nullable=True)),
        (" DECIMAL < 15 , 2 > ", t.Decimal(15, 2)),
        ("list<struct<i64, string?>>", t.List(t.Struct((t.I64(), t.String(nullable=True))))),
        ("LIST?<map<string, i64?>>", t.List(t.Map(t.String(), t.I64(nullable=True)), nullable=True)),
        ("struct", t.Struct(())),
        ("func<(i32, i64) -> boolean>", t.Func((t.I32(), t.I64()), t.Boolean())),
        ("func<i32 -> boolean?>?", t.Func((t.I32(),), t.Boolean(nullable=True), nullable=True)),
        ("func<() -> i32>", t.Func((), t.I32())),
        ("func<func<i32 -> i32> -> func<() -> date>>", t.Func((t.Func((t.I32(),), t.I32()),), t.Func((), t.Date()))),
        ("u!point?", t.UserDefined(POINT, "point", nullable=True)),
        ("geo.u!point<i64, 3>", t.UserDefined(POINT, "point", (t.I64(), 3))),
        (r"u!point<'a\'b', true, null, -2, CARTESIAN>",
         t.UserDefined(POINT, "point", ("a'b", True, None, -2, t.EnumParameter("CARTESIAN")))),
        ("varchar?[large]<3>", t.VarChar(3, nullable=True, variation=t.TypeVariation("extension:v", "large"))),
        ("varchar[large]<3>?", t.VarChar(3, nullable=True, variation=t.TypeVariation("extension:v", "large"))),
    ],
)  # fmt: skip
def test_spellings(text: str, type_: t.Type) -> None:
    urns = {"point": POINT, "geo.point": POINT, "large": "extension:v"}
    assert parse_type(text, urns=urns) == type_


@pytest.mark.parametrize(
    ("short", "type_"),
    [  # the short names of the specification's "Function Signature" section
        ("bool", t.Boolean()), ("str", t.String()), ("vbin", t.Binary()), ("iyear", t.IntervalYear()),
        ("iday<6>", t.IntervalDay(6)), ("icompound<0>", t.IntervalCompound(0)), ("fchar<1>", t.FixedChar(1)),
        ("vchar<3>", t.VarChar(3)), ("fbin<4>", t.FixedBinary(4)), ("dec<10,2>", t.Decimal(10, 2)),
        ("pt<9>", t.PrecisionTime(9)), ("pts<6>", t.PrecisionTimestamp(6)), ("ptstz<12>", t.PrecisionTimestampTZ(12)),
    ],
)  # fmt: skip
def test_short_names(short: str, type_: t.Type) -> None:
    assert parse_type(short) == type_
    assert parse_type(short.upper()) == type_


def test_a_struct_with_field_names() -> None:
    type_ = parse_type("NSTRUCT<longitude: i32, latitude: i32?>")
    assert type_ == t.Struct((t.I32(), t.I32(nullable=True)))
    assert isinstance(type_, t.Struct)
    assert type_.names == ("longitude", "latitude")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("decimle<15,2>", 'expected the name of a type at column 1, got "decimle"\n  hint: did you mean "decimal"?'),
        ("list<strin>", 'at column 6, got "strin"\n  hint: did you mean "string"?'),
        ("list<i64", 'expected ">" at column 9, got the end of the text'),
        ("i64 i32", 'expected the end of the text at column 5, got "i32"'),
        ("string??", 'expected the end of the text at column 8, got "?"'),
        ("i64@", 'expected the end of the text at column 4, got "@"'),
        ("", "expected a type at column 1, got the end of the text"),
        ("decimal", "expected decimal<precision,scale> at column 1, got no parameters"),
        ("map<i64>", "expected map<key,value> at column 1, got 1 parameter"),
        ("i64<3>", "expected i64 without parameters at column 1, got 1 parameter"),
        ("decimal<50,2>", "precision of Decimal must be an integer from 1 to 38, got 50"),
        ("decimal<i64,2>", 'expected a number at column 9, got "i64"'),
        ("list<3>", 'expected a type at column 6, got "3"'),
        ("varchar<P>", 'expected a number at column 9, got "P"'),
        ("any1", 'expected the name of a type at column 1, got "any1"'),
        ("func<i32>", 'expected "->" at column 9, got ">"'),
        ("func[x]<i32 -> i32>", "func has no variations"),
        ("u!pointt", 'expected a user-defined type that an extension declares at column 3, got "pointt"'),
        ("i64[dict]", 'expected a type variation that an extension declares at column 5, got "dict"'),
        ("list<" * 2000, "nested this deeply"),
        (f"varchar<{'9' * 5000}>", "expected a number of at most 20 digits at column 9"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(text: str, message: str) -> None:
    with pytest.raises(PlanFormatError) as error:
        parse_type(text, urns={"point": POINT})
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "type_"),
    [  # the grammar's comments are hidden: what is in them is no part of the type
        ("i64 // may be NULL?", t.I64()),
        ("i64 // abc", t.I64()),
        ("i64 // list<x>", t.I64()),
        ("i64?// x", t.I64(nullable=True)),
        ("i64 // a\n", t.I64()),
        ("// a\n i64 // b\n // c", t.I64()),
        ("i64 /* x */", t.I64()),
        ("i64/**/", t.I64()),
        ("i64/***/?/* ? */", t.I64(nullable=True)),
        ("/* i32 */ i64", t.I64()),
        ("i64 /* a\n b? */", t.I64()),
        ("i64 // /* ends with the line\n", t.I64()),
        ("decimal</* of\n digits */ 15, // and a scale\n 2> // ?", t.Decimal(15, 2)),
        ("u!point<'// no comment', '/* nor this */'> // a comment",
         t.UserDefined(POINT, "point", ("// no comment", "/* nor this */"))),
    ],
)  # fmt: skip
def test_comments(text: str, type_: t.Type) -> None:
    assert parse_type(text, urns={"point": POINT}) == type_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i64 /* x", 'expected the end of the text at column 5, got "/*"\n  hint: a comment that begins with "/*" ends '
         'with "*/"'),
        ("i64 /*/", 'expected the end of the text at column 5, got "/*"'),
        ("list<i64 /* > ", 'expected ">" at column 10, got "/*"'),
        ("i64 /* /* x */ */", 'expected the end of the text at column 16, got "*"'),  # they do not nest
        ("i64 /* x */ y", 'expected the end of the text at column 13, got "y"'),
        ("i64 // x\r i32", 'expected the end of the text at column 11, got "i32"'),
        ("// x", "expected a type at column 5, got the end of the text"),
        ("decimal<\u0663,2>", 'expected a type at column 9, got "\u0663"'),  # a digit, but none of the grammar's
    ],
)  # fmt: skip
def test_comments_that_are_none(text: str, message: str) -> None:
    with pytest.raises(PlanFormatError) as error:
        parse_type(text, urns={"point": POINT})
    assert message in str(error.value)


_COMMENTS = ("// i32? <>,\n", "/* i32? */", "/* // */", "/**/", "/*\n*/")


@settings(max_examples=100)
@given(types(), st.data())
def test_comments_between_all_tokens_change_nothing(type_: t.Type, data: st.DataObject) -> None:
    tokens = re.findall(r"'(?:[^'\\]|\\.)*'|u!|[\w$]+|->|\s|.", str(type_), re.DOTALL)
    text = "".join(token + data.draw(st.sampled_from(_COMMENTS)) if token != "u!" else token for token in tokens)
    assert parse_type(text, urns=URNS) == type_


@pytest.mark.parametrize("part", ["/*", "//", "/**/", "'", "*", "/", " ", "//\n", "/*'", "'\\"])
def test_the_time_for_comments_is_linear(part: str) -> None:
    """A text in which every character may begin a comment: quadratic work would take hours."""
    with pytest.raises(PlanFormatError):
        parse_type(f"i64 {part * 30_000}\n@")


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("a = 1 // x?\n// all\ndecimal<a /* ? */,2> // y?", "a = 1\ndecimal<a,2>"),
        ("a = 1 /* over\n lines */ + 2\n\ndecimal<a,2>", "a = (1 + 2)\ndecimal<a,2>"),
        ("/* a\n b */ i64 // ?", "i64"),
        ("a = 1 // /* x\ndecimal<a,2> // */", "a = 1\ndecimal<a,2>"),
    ],
)
def test_comments_in_programs(text: str, program: str) -> None:
    assert str(parse_program(text, {})) == program


def test_mistakes_behind_comments_are_found_where_they_are() -> None:
    with pytest.raises(PlanFormatError, match=r"expected a type at line 2, column 13, got \"@\""):
        parse_program("a = 1 /* over\n lines */ + @\n\ndecimal<a,2>", {})
    with pytest.raises(PlanFormatError, match=r"at line 1, column 7, got \"/\*\""):
        parse_program("a = 1 /* without\n an end\ndecimal<a,2>", {})


def test_a_misspelt_user_defined_type_has_its_near_miss() -> None:
    with pytest.raises(PlanFormatError, match='did you mean "point"'):
        parse_type("u!pointt", urns={"point": POINT})
