"""The type text syntax: every type reads back as itself, and mistakes are explained."""

import pytest
from hypothesis import given, settings

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.errors import PlanFormatError
from tests.strategies import URNS, types


@settings(max_examples=300)
@given(types())
def test_reading_what_was_printed_gives_the_same_type(kind: t.Type) -> None:
    assert parse_type(str(kind), urns=URNS) == kind


POINT = "extension:geo:shapes"


@pytest.mark.parametrize(
    ("text", "kind"),
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
def test_spellings(text: str, kind: t.Type) -> None:
    urns = {"point": POINT, "geo.point": POINT, "large": "extension:v"}
    assert parse_type(text, urns=urns) == kind


@pytest.mark.parametrize(
    ("short", "kind"),
    [  # the short names of the specification's "Function Signature" section
        ("bool", t.Boolean()), ("str", t.String()), ("vbin", t.Binary()), ("iyear", t.IntervalYear()),
        ("iday<6>", t.IntervalDay(6)), ("icompound<0>", t.IntervalCompound(0)), ("fchar<1>", t.FixedChar(1)),
        ("vchar<3>", t.VarChar(3)), ("fbin<4>", t.FixedBinary(4)), ("dec<10,2>", t.Decimal(10, 2)),
        ("pt<9>", t.PrecisionTime(9)), ("pts<6>", t.PrecisionTimestamp(6)), ("ptstz<12>", t.PrecisionTimestampTZ(12)),
    ],
)  # fmt: skip
def test_short_names(short: str, kind: t.Type) -> None:
    assert parse_type(short) == kind
    assert parse_type(short.upper()) == kind


def test_a_struct_with_field_names() -> None:
    kind = parse_type("NSTRUCT<longitude: i32, latitude: i32?>")
    assert kind == t.Struct((t.I32(), t.I32(nullable=True)))
    assert isinstance(kind, t.Struct)
    assert kind.names == ("longitude", "latitude")


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


def test_a_misspelt_user_defined_type_has_its_near_miss() -> None:
    with pytest.raises(PlanFormatError, match='did you mean "point"'):
        parse_type("u!pointt", urns={"point": POINT})
