"""The relations that expressions become, and what is refused by name."""

from __future__ import annotations

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import (
    EvaluationError,
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    UnsupportedError,
)
from substrait_dsl.partiql import Values, bind, lit, parse, scan, struct, struct_concat, table
from tests.partiql.engines import BAR_SCHEMA, FOO_SCHEMA, NAMED

FOO = sd.read_named("Foo", FOO_SCHEMA)
BAR = sd.read_named("Bar", BAR_SCHEMA)


def relation(text: str) -> sd.Relation[sd.DynRow]:
    return bind(parse(text), NAMED).as_relation()


def test_a_path_is_a_column_of_the_table() -> None:
    """The plan is the one that a user of Substrait would write."""
    got = relation("(map_values (path (id f) (lit FooId)) (scan (id Foo) f))")
    assert got._rel == FOO.emit([0])._rel
    assert got.columns == ("value",)


def test_a_filter_and_a_cross_join_are_those_of_substrait() -> None:
    got = relation("(filter (eq (path (id f) (lit FooId)) (lit 200)) (cross_join (scan (id Foo) f) (scan (id Bar) b)))")
    written = FOO.cross(BAR).filter(lambda r: r[0] == sd.lit(200, sd.I32)).emit([0, 1, 3, 4])
    assert got._rel == written._rel
    assert got.columns == ("f.FooId", "f.FooName", "b.BarId", "b.BarName")


def test_a_struct_is_columns() -> None:
    got = relation("(map_values (struct (expr_pair (lit fid) (path (id f) (lit FooId)))) (scan (id Foo) f))")
    assert [(field.name, str(field.type)) for field in got.schema] == [("fid", "i32")]


def test_the_index_of_a_literal_list_is_its_column() -> None:
    got = relation("(scan (lit [{x: 1}, {x: 2}]) f idx)")
    assert [(field.name, str(field.type)) for field in got.schema] == [("f.x", "i64"), ("idx", "i64")]
    assert "row_number" not in str(got)


def test_columns_of_two_variables_have_different_names() -> None:
    rows = scan([{"a": 1}], as_="v").map_let(**{"v.a": lambda t: t.v.a + 1})
    with pytest.raises(SchemaError) as caught:
        rows.as_relation()
    assert 'as_relation: a column of the variable "v" and one of "v.a" would both be called "v.a"' in str(caught.value)
    twice = scan([1], as_="x").map_values(lambda t: struct_concat(struct(a=t.x), struct(a=t.x)))
    assert twice.as_relation().columns == ("a", "a")


def test_what_a_variable_stands_for_is_computed_once() -> None:
    rows = scan(lit([1, 2]), as_="x0")
    for number in range(40):
        rows = rows.map_let(**{f"x{number + 1}": lambda t, last=f"x{number}": t[last] + t[last]})
    last = rows.map_values(lambda t: t["x40"])
    assert len(last.to_plan().to_bytes()) < 20_000
    nested = scan(last, as_="y").map_values(lambda t: t.y + t.y)
    assert len(nested.to_plan().to_bytes()) < 20_000
    assert last.evaluate() == (2**40, 2**41)


def test_a_list_is_sorted_where_it_is_output() -> None:
    assert "sort by ordinal" in str(relation("(scan (lit [3, 1, 2]) x)"))
    assert "sort by" not in str(relation("(scan (lit <<3, 1, 2>>) x)"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(scan (lit [1, 2.5]) x)", "several types, i64, decimal<2,1>"),
        ("(scan (lit [<<1>>, <<1, 2>>]) x)", "several sizes"),
        ("(scan (lit [[1], [1, 'a']]) x)", "several types, i64, string"),
        ("(scan (lit [[1], [1, MISSING]]) x)", "are missing inside a list"),
        ("(scan (lit [[{a: 1}], [{b: 1}, {a: 1}]]) x)", "are structs of several attributes"),
        ("(group_by () ((n sum (id f))) null (scan (id Foo) f))", "the sum of what that is no column"),
        ("(group_by () ((n avg (id x))) null (scan (lit [1.1234567]) x))", "the average of decimal<8,7>"),
        (
            "(group_by () ((n max (path (id f) (lit FooName)))) null (scan (id Foo) f))",
            '"n": the max of varchar<50>? is not lowered',
        ),
        ("(map_values (pivot (lit a) (id f) (scan (id Foo) f)) (scan (id Bar) b))", "pivot as a value in a row"),
        ("(map_values (divide (path (id f) (lit FooId)) (lit 2.5)) (scan (id Foo) f))", "engines round differently"),
        (
            "(map_values (modulo (path (id f) (lit FooId)) (lit 2.5e0)) (scan (id Foo) f))",
            "the remainder of i32 and fp64",
        ),
        ("(map_values (id Bar) (scan (id Foo) f))", 'the table "Bar" as a value in a row'),
        (
            "(map_values (eq (bag (id f) (id f)) (bag (id f) (id f))) (scan (id Foo) f))",
            "bags in a row are not compared",
        ),
        ("(limit (map_values (id f) (scan (id Foo) f)) (scan (id Foo) g))", "a limit that is computed from tables"),
        ("(scan (lit [1, 9223372036854775808]) x)", "no literal of a value: 9223372036854775808 does not fit i64"),
        ("(scan (lit [{ d: 0001-01-01 }]) x)", "no literal of a value: datetime.date(1, 1, 1) does not fit date"),
    ],
)
def test_what_is_not_lowered_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        relation(text)
    assert said in str(caught.value)


def test_a_float_that_is_an_integer_is_compared_as_one() -> None:
    """So that the column stays as it is, and no digit of it is lost."""
    rows = sd.read_named("t", {"n": "i64"})
    got = scan(table("t", rows), as_="t").filter(lambda t: t.t.n > 2.0**53).as_relation()
    assert got._rel == rows.filter(lambda r: r.n > sd.lit(2**53, sd.I64)).rename({"n": "t.n"})._rel


def test_groups_of_several_keys() -> None:
    got = relation(
        "(group_by ((x (path (id f) (lit FooId))) (y (path (id f) (lit FooName)))) ((n count (lit 1))) g "
        "(scan (id Foo) f null null))"
    )
    assert [(field.name, str(field.type)) for field in got.schema] == [
        ("x", "i32"),
        ("y", "varchar<50>?"),
        ("n", "i64"),
        ("g", "list<struct<struct<i32, varchar<50>?>>>"),
    ]


def test_a_limit_beyond_all_numbers_of_rows() -> None:
    """Nothing has more rows than 64 bits count."""
    most = relation(f"(limit (lit {2**63 - 1}) (offset (lit {2**63 - 1}) (scan (id Foo) f)))")
    assert relation(f"(limit (lit {2**70}) (offset (lit {2**63}) (scan (id Foo) f)))")._rel == most._rel


def test_what_is_known_to_have_no_value_is_an_error_in_strict_mode() -> None:
    path = scan(table("Foo", FOO), as_="f").map_values(lambda t: t.f.FooNam)
    assert path.as_relation().columns == ("value",)  # missing, for each row
    with pytest.raises(EvaluationError) as caught:
        path.as_relation("strict")
    assert 'as_relation: there is no attribute "FooNam" among "FooId", "FooName", "uid"' in str(caught.value)
    total = scan(table("Foo", FOO), as_="f").map_values(lambda t: t.f.FooName + 1)
    with pytest.raises(EvaluationError, match="a text is not a number"):
        total.as_relation("strict")


def test_a_condition_that_is_no_boolean_is_planned_in_both_modes() -> None:
    rows = scan(table("Foo", FOO), as_="f").filter(lambda t: t.f.FooId)
    assert rows.to_plan("strict").to_bytes() != rows.to_plan("permissive").to_bytes()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("(scan (id Foo) f)", "bag"),
        ("(scan (lit [1]) f)", "list"),
        ("(scan (list (id Foo)) f)", "list"),
        ("(scan (lit 42) f)", "bag"),
        ("(scan (id some) f)", "list"),
        ("(limit (lit 1) (filter (lit true) (map_let ((k (id f))) (offset (lit 1) (scan (lit [1]) f)))))", "list"),
        ("(order_by (((id f) asc nulls_last)) (scan (id Foo) f))", "list"),
        ("(cross_join (scan (lit [1]) f) (scan (lit [1]) g))", "bag"),
        ("(group_by ((k (id f))) () null (scan (lit [1]) f))", "bag"),
        ("(map_values (id f) (scan (lit [1]) f))", "list"),
        ("(scan (map_values (id f) (scan (lit [1]) f)) g)", "list"),
        ("(scan (call struct_concat (lit {a: 1})) g)", "bag"),
        ("(scan (path (id some) (lit 0)) g)", None),
    ],
)
def test_the_kind_is_known_before(text: str, kind: str | None) -> None:
    written = bind(parse(text), {**NAMED, "some": [[1], [2]]})
    assert written.collection_type == kind


def test_tables_that_are_values_are_known_to_the_interpreter() -> None:
    rows = bind(parse("(scan (id some) f)"), {"some": [1, 2]})
    assert len(rows.evaluate()) == 2  # type: ignore[arg-type]
    assert len(rows.evaluate({"some": (1, 2, 3)})) == 3  # type: ignore[arg-type]


def test_names() -> None:
    rows = bind(parse("(scan (id Foos) f)"), NAMED)
    with pytest.raises(UnknownFieldError) as caught:
        rows.as_relation()
    assert caught.value.hint == 'did you mean "Foo"?'
    foo = table("Foo", FOO)
    with pytest.raises(SchemaError, match='the name "Foo" stands for two tables'):
        scan(foo, as_="f").cross_join(scan(table("Foo", BAR), as_="b"))
    assert scan(foo, as_="f").cross_join(scan(foo, as_="g")).variables == ("f", "g")
    with pytest.raises(UnknownFieldError) as caught:
        scan(foo, as_="foo").filter(lambda t: t.fooo.FooId == 1)
    assert caught.value.hint == 'did you mean "foo"?'
    with pytest.raises(UnknownFieldError):
        table("Foo", FOO, record_id="uuid")


def test_a_value_of_the_builder_is_the_same_node() -> None:
    made = scan(table("Foo", FOO), as_="f").map_values(lambda t: struct(fid=t.f.FooId, name=t.f["FooName"]))
    assert made.expression == parse(
        "(map_values (struct (expr_pair (lit fid) (path (id f) (lit FooId))) "
        "(expr_pair (lit name) (path (id f) (lit FooName)))) (scan (id Foo) f))"
    )


def test_values_and_bindings_are_apart() -> None:
    rows = scan(lit([1, 2]), as_="x")
    for wrong in (
        lambda: scan(rows, as_="y"),  # type: ignore[arg-type]
        lambda: rows.cross_join(lit(1)),  # type: ignore[arg-type]
        lambda: rows.filter(rows),  # type: ignore[arg-type]
        lambda: rows.map_values(rows),  # type: ignore[arg-type]
        lambda: Values(rows.expression),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeMismatchError) as caught:
            wrong()
        assert caught.value.hint in ("map_values makes values of bindings", "scan makes bindings of a value")
    with pytest.raises(TypeError, match="no truth value"):
        bool(lit(1) == 1)
    with pytest.raises(InvalidArgumentError, match="a value is None, MISSING"):
        lit({1, 2})
    with pytest.raises(InvalidArgumentError) as named:
        scan(FOO, as_="f")  # type: ignore[arg-type]
    assert named.value.hint == 'partiql.table("t", relation) makes a value of it'
