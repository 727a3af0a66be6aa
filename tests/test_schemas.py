"""Schemas: how columns are declared, how results are declared, and the three ways of naming a column."""

from __future__ import annotations

import enum
from typing import Annotated, Any, ClassVar
from typing import Literal as L

import attrs
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.plan import Version
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    PlanFormatError,
    SchemaError,
    UnknownFieldError,
)
from tests.support import columns, f, refused, table


class Orders(sd.Schema):
    key: sd.I64
    price: sd.Decimal[L[15], L[2]]
    comment: sd.Nullable[sd.String]


class Place(sd.Schema):
    city: sd.String
    zip: sd.Nullable[sd.VarChar[L[9]]]


class Everything(sd.Schema):
    limit: ClassVar[int] = 3
    flag: sd.Boolean
    at: sd.Nullable[sd.PrecisionTimestamp[L[6]]]
    tags: sd.List[sd.Nullable[sd.String]]
    prices: sd.Nullable[sd.Map[sd.String, sd.I32]]
    place: sd.Struct[Place]
    places: sd.List[sd.Nullable[sd.Struct[Place]]]
    code: Annotated[sd.FixedChar[Any], sd.FixedChar(3)]


# --- declaring ---


def test_a_schema_class_declares_columns_in_order() -> None:
    assert columns(sd.read_named("t", Orders)) == "key: i64, price: decimal<15,2>, comment: string?"
    assert columns(sd.read_named("t", Everything)) == (
        "flag: boolean, at: precision_timestamp<6>?, tags: list<string?>, prices: map<string, i32>?, "
        "place: struct<string, varchar<9>?>, places: list<struct<string, varchar<9>?>?>, code: fixedchar<3>"
    )


def test_names_of_nested_fields_are_listed_depth_first() -> None:
    """Specification: "a name to every struct field and column encountered"."""
    assert sd.read_named("t", Everything)._rel.schema.depth_first_names() == (
        *("flag", "at", "tags", "prices", "place", "city", "zip", "places", "city", "zip", "code"),
    )


def test_a_schema_class_may_extend_another() -> None:
    class Priced(Orders):
        discount: sd.FP64

    assert Priced.__struct__.names == ("key", "price", "comment", "discount")


def test_dicts_texts_and_other_schemas_declare_the_same() -> None:
    wanted = sd.read_named("t", Orders)
    for schema in (
        {"key": sd.I64, "price": sd.Decimal(15, 2), "comment": sd.Nullable[sd.String]},
        {"key": "i64", "price": "decimal<15,2>", "comment": "string?"},
        {"key": sd.I64(), "price": sd.Decimal[L[15], L[2]], "comment": sd.String(nullable=True)},
        wanted.schema,
        wanted.schema.struct,
    ):
        assert sd.read_named("t", schema)._rel == wanted._rel


BAD_SCHEMAS: list[tuple[Any, type[sd.SubstraitDslError], tuple[str, ...]]] = [
    ({}, SchemaError, ("at least one column",)),
    (type("Empty", (sd.Schema,), {}), SchemaError, ("at least one column",)),
    ({"a": int}, InvalidArgumentError, ('column "a"', "int is no Substrait type", "did you mean I64")),
    ({"a": sd.Decimal}, InvalidArgumentError, ('column "a"', "Decimal needs its parameters")),
    ({"a": sd.Decimal[Any, Any]}, InvalidArgumentError, ('column "a"', "must be literals")),
    ({"a": sd.VarChar[5]}, InvalidArgumentError, ("of VarChar[...] must be literals", "write VarChar[L[5]]")),  # type: ignore[valid-type]
    ({"a": sd.Map[sd.String]}, InvalidArgumentError, ("Map needs its parameters",)),
    ({"a": sd.Type}, InvalidArgumentError, ("Type is no Substrait type",)),
    ({"a": Place}, InvalidArgumentError, ("Place is no Substrait type", "write Struct[Place]")),
    ({"a": Place | None}, InvalidArgumentError, ("did you mean Nullable[Struct[Place]]?",)),
    ({"a": "i63"}, PlanFormatError, ('column "a"', "i63")),
    ({1: "i64"}, InvalidArgumentError, ("name of a column is a str", "1")),
    (NamedStruct.of([("a", t.I64()), ("a", t.I32())]), SchemaError, ("names each column once", '"a"')),
    ("orders", InvalidArgumentError, ("cannot read columns", "'orders'", "Schema class")),
    (None, InvalidArgumentError, ("cannot read columns", "None")),
]


@pytest.mark.parametrize(("schema", "error", "said"), BAD_SCHEMAS)
def test_what_declares_no_columns_is_refused(
    schema: Any, error: type[sd.SubstraitDslError], said: tuple[str, ...]
) -> None:
    with pytest.raises(error) as caught:
        sd.read_named("t", schema)
    for part in said:
        assert part in str(caught.value)


def test_an_annotation_that_is_no_type_is_refused_where_the_class_is_written() -> None:
    with refused(SchemaError, "Wrong", 'column "price"', "float is no Substrait type", "did you mean FP64"):

        class Wrong(sd.Schema):
            price: float


def test_a_name_that_python_changes_in_a_class_is_refused() -> None:
    for name in ("__secret", "__name__"):
        with refused(SchemaError, "Wrong", f'column "{name}"', "two underscores", "by a dict"):
            exec(f"class Wrong(sd.Schema):\n    {name}: sd.I64", {"sd": sd})
        assert sd.read_named("t", {name: sd.I64}).select(name).columns == (name,)


def test_a_class_has_constants_and_a_column_called_self() -> None:
    class Own(sd.Schema):
        self: sd.I64
        _other: sd.I64
        LEAST = 3
        MOST: ClassVar = 10

    rows = sd.read_named("t", Own)
    assert rows.columns == ("self", "_other")
    assert rows.into(lambda r: Own(self=r._other, _other=r.self)).columns == ("self", "_other")
    row: Any = {"self": lambda r: r._other}
    assert rows.select(**row).columns == ("self",)
    assert rows.with_columns(**row).columns == ("self", "_other")
    assert rows.drop("self").project(**row).columns == ("_other", "self")
    assert rows.group_by(**row).agg(n=f.count()).columns == ("self", "n")
    measure: Any = {"self": f.count()}
    assert rows.aggregate(**measure).columns == ("self",)
    assert rows.group_by("_other").agg(**measure).columns == ("_other", "self")


@pytest.mark.parametrize("kind", ["sd.I64", "sd.Decimal(9, 2)", "sd.Nullable[sd.String]", "sd.List[sd.I64]"])
def test_an_equals_sign_declares_no_column(kind: str) -> None:
    with refused(SchemaError, 'Wrong: "price" is a type, and declares no column', 'write "price: " for "price = "'):
        exec(f"class Wrong(sd.Schema):\n    id: sd.I64\n    price = {kind}", {"sd": sd})
    with refused(SchemaError, 'Wrong: column "price" has a value, but columns have no defaults'):
        exec(f"class Wrong(sd.Schema):\n    price: {kind} = 5", {"sd": sd})


class Name(enum.StrEnum):
    KEY = "key"


class Mixed(str, enum.Enum):  # noqa: UP042  # what there was before StrEnum
    KEY = "key"


class Position(enum.IntEnum):
    PRICE = 1


class Plain(enum.Enum):
    KEY = "key"


def test_members_of_enums_that_are_texts_or_numbers_name_columns() -> None:
    orders = sd.read_named("t", Orders)
    names: list[str] = [Name.KEY, Mixed.KEY]
    for name in names:
        assert orders.select(name, orders[name].alias("x")).sort(name).filter(sd.col(name) > 1).columns == ("key", "x")
        assert type(orders.select(sd.col(name)).columns[0]) is str
        with refused(UnknownFieldError, 'no column "key"'):
            orders.select("price").sort(name)
    assert orders.select(Position.PRICE).columns == ("price",)
    plain: Any = Plain.KEY
    with refused(InvalidArgumentError, "got <Plain.KEY: 'key'>"):
        orders.sort(plain)


def test_types_check_their_parameters() -> None:
    decimal: Any = sd.Decimal
    varchar: Any = sd.VarChar
    moment: Any = sd.PrecisionTimestamp
    cases: list[tuple[Any, str]] = [
        (lambda: decimal(39, 0), "1 to 38, got 39"),
        (lambda: decimal(5, 6), "scale of Decimal must not exceed"),
        (lambda: varchar(0), "1 to 2147483647, got 0"),
        (lambda: moment(13), "0 to 12, got 13"),
        (lambda: moment("6"), "got '6'"),
        (lambda: sd.List(int), "type such as I64()"),  # type: ignore[arg-type]  # on purpose
    ]
    for make, said in cases:
        with refused(InvalidArgumentError, said):
            make()


def test_a_relation_s_schema_is_a_sequence_of_fields() -> None:
    schema = sd.read_named("t", Orders).schema
    assert [field.name for field in schema] == ["key", "price", "comment"]
    assert (len(schema), schema.names[0], schema.types[0]) == (3, "key", t.I64())
    assert schema["price"] == schema[1] == schema[-2] == t.Decimal(15, 2)
    assert schema == table("key: i64, price: decimal<15,2>, comment: string?").schema
    assert schema != table("key: i64, price: decimal<15,2>, comment: string").schema
    with refused(UnknownFieldError, '"pric"', 'did you mean "price"'):
        schema["pric"]
    with refused(UnknownFieldError, "no column 3", "3 columns"):
        schema[3]


# --- declaring results ---


class Summary(sd.Schema):
    key: sd.I64
    total: sd.Nullable[sd.Decimal[L[38], L[2]]]


def test_into_computes_the_columns_of_a_schema_class() -> None:
    class Out(sd.Schema):
        twice: sd.I64
        key: sd.I64

    rel = sd.read_named("t", Orders).into(lambda r: Out(key=r.key, twice=r.key * 2))
    assert columns(rel) == "twice: i64, key: i64"


def test_into_checks_types_and_nullability() -> None:
    class Declared(sd.Schema):
        key: sd.I64
        comment: sd.String

    orders: Any = sd.read_named("t", Orders)
    Out: Any = Declared  # noqa: N806  # a class, called wrongly on purpose
    with refused(SchemaError, "into", "Declared", "comment is nullable (string?), declared required"):
        orders.into(lambda r: Out(key=r.key, comment=r.comment))
    with refused(SchemaError, "into", "key is decimal<15,2>, declared i64"):
        orders.into(lambda r: Out(key=r.price, comment=f.coalesce(r.comment, "x")))
    with refused(SchemaError, "into", "Declared", "no expression for comment"):
        orders.into(lambda r: Out(key=r.key))
    with refused(UnknownFieldError, "into", '"kye"', 'did you mean "key"'):
        orders.into(lambda r: Out(kye=r.key, comment="x"))
    with refused(InvalidArgumentError, "into", "instance of a Schema class"):
        orders.into(lambda r: r.key)


def test_as_declares_what_is_there() -> None:
    totals = sd.read_named("t", Orders).aggregate("key", total=lambda r: f.sum(r.price))
    assert totals.as_(Summary)._rel is totals._rel
    assert columns(table("key: i64, total: decimal<38,2>").as_(Summary)) == "key: i64, total: decimal<38,2>"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("total: decimal<38,2>?, key: i64", ("another order: total, key instead of key, total", 'select("key", "tot')),
        ("key: i64", ("total is missing",)),
        ("key: i64, total: decimal<38,2>?, n: i64", ("n is not declared",)),
        ("key: i64?, total: decimal<38,2>?", ("key is nullable (i64?), declared required",)),
        ("key: i32, total: decimal<38,3>?", ("key is i32, declared i64", "total is decimal<38,3>?, declared")),
    ],
)  # fmt: skip
def test_as_names_every_difference(given: str, said: tuple[str, ...]) -> None:
    with refused(SchemaError, "as_", *said):
        table(given).as_(Summary)


# --- naming columns ---


NAMES: dict[str, Any] = {
    "lambda": lambda rel: rel.filter(lambda r: r.key > 1),
    "lambda, by item": lambda rel: rel.filter(lambda r: r["key"] > 1),
    "lambda, by position": lambda rel: rel.filter(lambda r: r[0] > 1),
    "lambda, from the end": lambda rel: rel.filter(lambda r: r[-3] > 1),
    "col": lambda rel: rel.filter(sd.col("key") > 1),
    "col, by position": lambda rel: rel.filter(sd.col(0) > 1),
    "the relation's columns": lambda rel: rel.filter(rel.c.key > 1),
    "the relation's items": lambda rel: rel.filter(rel["key"] > 1),
    "the schema class": lambda rel: rel.filter(Orders.key > 1),
}


@pytest.mark.parametrize("filtered", NAMES.values(), ids=NAMES)
def test_all_ways_of_naming_a_column_build_the_same(filtered: Any) -> None:
    rel = sd.read_named("t", Orders)
    assert filtered(rel)._rel == NAMES["lambda"](rel)._rel


def test_ways_of_naming_columns_may_be_mixed() -> None:
    rel: Any = sd.read_named("t", Orders)
    mixed = rel.filter(lambda r: (r.key > 1) & (sd.col("key") < 5) & (rel.c.key != 3))
    assert mixed._rel == rel.filter(lambda r: (r.key > 1) & (r.key < 5) & (r.key != 3))._rel


def test_an_expression_by_name_serves_any_relation() -> None:
    positive = sd.col("a") > 0
    assert columns(table("a: i64").filter(positive)) == "a: i64"
    assert columns(table("x: date, a: fp64?").filter(positive)) == "x: date, a: fp64?"


@pytest.mark.parametrize(
    "used",
    [
        lambda rel: rel.filter(lambda r: r.kye > 1),
        lambda rel: rel.filter(lambda r: r["kye"] > 1),
        lambda rel: rel.filter(sd.col("kye") > 1),
        lambda rel: rel.select("kye"),
        lambda rel: rel.sort("kye"),
        lambda rel: rel.drop("kye"),
        lambda rel: rel.aggregate("kye"),
        lambda rel: rel.join(rel, "kye"),
        lambda rel: rel.rename(kye="x"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_the_nearest(used: Any) -> None:
    with refused(UnknownFieldError, '"kye"', '"key", "price", "comment"', 'did you mean "key"'):
        used(sd.read_named("t", Orders))


def test_a_column_looked_up_on_a_relation_is_checked_at_once() -> None:
    rel: Any = sd.read_named("t", Orders)
    with refused(UnknownFieldError, '"kye"', 'did you mean "key"'):
        rel.c.kye  # noqa: B018  # looking it up is what fails
    with refused(UnknownFieldError, '"kye"', 'did you mean "key"'):
        rel["kye"]
    with refused(InvalidArgumentError, "col takes the name or the position", "1.5"):
        sd.col(1.5)  # type: ignore[arg-type]  # on purpose


def test_names_are_unicode_text() -> None:
    """Python has lone surrogates, for the bytes of names of files for example; protobuf has no such text."""
    told = "lone surrogate"
    with refused(InvalidArgumentError, "read_virtual", "the name of a column", told):
        sd.read_virtual([(1,)], {"\ud800": "i64"})
    with refused(InvalidArgumentError, "select", "the name of a column", told):
        sd.read_virtual([(1,)], {"a": "i64"}).select(**{"\udc80": lambda r: r.a})
    with refused(InvalidArgumentError, "read_named", "the name of a table", told):
        sd.read_named("\ud800", {"a": "i64"})
    with refused(InvalidArgumentError, "read_files", "a path", told):
        sd.read_files("/tmp/\ud800.parquet", {"a": "i64"})
    for name in ("\ud800", ("a", "\ud800")):
        with refused(InvalidArgumentError, "write", "the name of an object", told):
            sd.read_virtual([(1,)], {"a": "i64"}).write(name)
    with refused(InvalidArgumentError, "drop_table", "the name of an object", told):
        sd.drop_table("\ud800")
    with refused(InvalidArgumentError, "virtual_target", "the name of a table in memory", told):
        sd.virtual_target("\ud800")
    with refused(InvalidArgumentError, "files_target", "NUL"):
        sd.files_target("/tmp/a\0b")
    assert sd.read_virtual([(1,)], {"\U0001d11e": "i64"}).columns == ("\U0001d11e",)


def test_columns_of_another_relation_are_refused() -> None:
    one, other = table("a: i64"), table("a: i64", "u")
    with refused(SchemaError, "filter", '"a" belongs to another relation', "lambda"):
        one.filter(other.c.a > 1)
    with refused(SchemaError, "filter", '"a" belongs to another relation'):
        one.filter(one.c.a > 1).filter(one.c.a > 2)  # the second filter has another input


def test_relations_that_are_equal_are_still_two() -> None:
    left, right = table("a: i64"), table("a: i64")
    assert left._rel == right._rel
    assert [side.position for side in left.join(right, left.c.a == right.c.a)._rel.condition.arguments] == [0, 1]
    with refused(SchemaError, "filter", '"a" belongs to another relation'):
        left.filter(right.c.a > 1)


def test_a_self_join_needs_a_lambda() -> None:
    rel = table("id: i64, parent: i64?")
    told = '"parent" is ambiguous'  # the first that is wrong, from left to right
    with refused(AmbiguousFieldError, "join", told, "both inputs are the same relation", "lambda l, r"):
        rel.join(rel, rel.c.parent == rel.c.id)
    joined = rel.join(rel, lambda child, parent: child.parent == parent.id)
    assert [side.position for side in joined._rel.condition.arguments] == [1, 2]


def test_a_name_that_stands_twice_is_refused_with_the_ways_out() -> None:
    twice = table("a: i64, b: i64").cross(table("b: i64, c: i64"))
    ways: list[Any] = [
        lambda: twice.filter(lambda r: r.b > 1),
        lambda: twice.filter(sd.col("b") > 1),
        lambda: twice.select("b"),
        lambda: twice.c.b,
    ]
    for used in ways:
        with refused(AmbiguousFieldError, '"b" is ambiguous', "positions 1, 2", "rename or drop", "col(1) or col(2)"):
            used()
    assert columns(twice.filter(sd.col(2) > 1).drop(1)) == "a: i64, b: i64, c: i64"


def test_names_that_python_or_the_library_uses_are_columns_by_item() -> None:
    rel = table("class: i64, alias: i64, __x: i64")
    assert columns(rel.select(lambda r: r["class"], lambda r: r["__x"], lambda r: r.alias)) == (
        "class: i64, __x: i64, alias: i64"
    )


def test_values_print_as_attrs_prints_them() -> None:
    """Their texts are not made for each class; what has no place in them, and nothing else, is left out."""
    field = Field("a", t.List(t.I64(nullable=True)))
    field.with_nullability(True)  # which it remembers
    for value in (field, field.type, NamedStruct((field,)), Version(0, 1, 2)):
        names = [each.name for each in attrs.fields(type(value)) if each.repr]
        made = attrs.make_class(type(value).__name__, names)
        assert repr(value) == repr(made(*(getattr(value, name) for name in names)))
    assert repr(t.I64(nullable=True)) == "I64(nullable=True, variation=None)"
