"""Right sides that refer to the left one, outer joins and unpivots: which relations they become."""

from __future__ import annotations

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import Aggregate, Expand, Join, LateralJoin, Rel, Unnest
from substrait_dsl.errors import EvaluationError, SchemaError, UnsupportedError
from substrait_dsl.partiql import (
    Bindings,
    Tuple,
    Values,
    bind,
    data_text,
    desc,
    list_of,
    lit,
    parse_bindings,
    scan,
    struct,
    table,
    unpivot,
)
from substrait_dsl.partiql import count as counted

ORDERS = sd.read_named("orders", {"id": "i64", "items": "list<i64>", "tags": "list<string>?", "name": "string?"})
CUSTOMERS = sd.read_named("customers", {"key": "i64", "label": "string"})


def orders() -> Bindings:
    return scan(table("orders", ORDERS), as_="o")


def relations(rows: Bindings) -> list[Rel]:
    """The relations of a plan that comes back from its bytes."""
    plan = rows.to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan
    return [node for node in walk(rows.as_relation()._rel) if isinstance(node, Rel)]


def kinds(rows: Bindings) -> set[type[Rel]]:
    return {type(rel) for rel in relations(rows)}


def test_a_scan_of_a_list_in_a_row_is_an_unnest_of_the_rows() -> None:
    """The plan is the one that a user would write; the elements, and their index, are its columns."""
    got = orders().cross_join(lambda t: scan(t.o.items, as_="i", at="n"))
    written = ORDERS.project(list=lambda o: o["items"]).unnest("list").emit([0, 1, 2, 3, 5, 6])
    assert got.as_relation()._rel == written._rel
    assert got.as_relation().columns == ("o.id", "o.items", "o.tags", "o.name", "i", "n")


def test_what_is_done_row_by_row_needs_no_lateral_join() -> None:
    def inside(row: Tuple) -> Bindings:
        elements = (
            scan(row.o.tags, as_="tag", at="n").filter(lambda t: t.n > row.o.id).map_let(k=lambda t: t.n + row.o.id)
        )
        return elements.cross_join(lambda t: scan(list_of(t.k, row.o.id), as_="part"))

    rows = orders().cross_join(inside).filter(lambda t: t.part > 3)
    assert {Unnest, Expand} <= kinds(rows)
    assert LateralJoin not in kinds(rows)
    related = orders().cross_join(lambda t: scan(table("c", CUSTOMERS), as_="c").filter(lambda u: u.c.key == t.o.id))
    written = ORDERS.cross(CUSTOMERS).filter(lambda r: r.key == r.id)
    assert related.as_relation()._rel.inputs == (written._rel,)  # below new names


@pytest.mark.parametrize(
    "fold",
    [
        lambda rows: rows.order_by(desc(lambda t: t.i)).limit(1),
        lambda rows: rows.group_by(measures={"n": counted(lambda t: t.i)}),
        lambda rows: scan(rows.filter(lambda t: t.i > 3).map_values(lambda t: t.i), as_="j", at="n"),
    ],
    ids=["limit", "group by", "index"],
)
def test_what_folds_picks_or_numbers_rows_is_a_lateral_join(fold: object) -> None:
    rows = orders().cross_join(lambda t: fold(scan(t.o.items, as_="i")))  # type: ignore[operator]
    (join,) = (rel for rel in relations(rows) if isinstance(rel, LateralJoin))
    assert join.left == ORDERS._rel
    assert not any(isinstance(node, Unnest) for node in walk(join.left))


def test_several_parts_of_a_right_side() -> None:
    """A variable of a row further out is seen from any depth, beside anything."""

    def inside(row: Tuple) -> Bindings:
        first = scan(row.o.items, as_="a").order_by(lambda t: t.a).limit(2)
        second = scan(row.o.tags, as_="b").cross_join(scan([1, 2], as_="c"))
        third = scan(list_of(row.o.id, 5), as_="d").order_by(lambda t: t.d).limit(1)
        return first.cross_join(second).cross_join(third).filter(lambda t: t.a + t.d > row.o.id)

    rows = orders().cross_join(inside)
    joins = [rel for rel in relations(rows) if isinstance(rel, LateralJoin)]
    assert len({join.anchor for join in joins}) == len(joins) == 2
    assert rows.as_relation().columns[4:] == ("a", "b", "c", "d")


def test_an_outer_join_has_a_column_that_tells_where_a_side_has_no_tuple() -> None:
    joined = orders().join(scan(table("c", CUSTOMERS), as_="c"), on=lambda t: t.o.id == t.c.key, how="left")
    paths = joined.map_values(lambda t: struct(id=t.o.id, label=t.c.label)).as_relation()
    written = ORDERS.join(CUSTOMERS.project(there=True), on=lambda o, c: o.id == c.key, how="left")
    assert paths._rel == written.emit([0, 5])._rel
    assert [str(type_) for type_ in paths.schema.types] == ["i64", "string?"]
    lateral = orders().join(lambda t: scan(t.o.items, as_="i"), on=lambda t: t.i > 3, how="left")
    assert [rel.how for rel in relations(lateral) if isinstance(rel, LateralJoin)] == ["left"]


def test_a_join_is_lateral_only_if_the_right_side_is_computed_from_the_left_one() -> None:
    """An attribute of a number is missing, whatever the row."""
    text = "(join left (scan (lit << 1 >>) a null null) (scan (path (id a) (lit n)) b null null) null)"
    rows = bind(parse_bindings(text), {})
    (read,) = sd.Plan.from_bytes(rows.to_plan().to_bytes()).roots
    assert read._rel == rows.as_relation()._rel
    assert LateralJoin not in kinds(rows)
    assert Join in kinds(rows)


def test_an_unpivot_copies_the_row_for_each_attribute() -> None:
    rows = orders().cross_join(lambda t: unpivot(struct(a=t.o.id, b=t.o.id + 1), as_="v", at="k"))
    assert Expand in kinds(rows)
    assert [(field.name, str(field.type)) for field in rows.as_relation().schema][-2:] == [
        ("v", "i64"),
        ("k", "string"),
    ]
    closed = bind(parse_bindings("(unpivot (lit { a: 1, b: 2 }) v k)"), {})
    assert [(field.name, str(field.type)) for field in closed.as_relation().schema] == [("v", "i64"), ("k", "string")]


def test_a_query_in_a_row_is_folded_into_a_column() -> None:
    rows = orders().map_let(keys=lambda t: scan(table("c", CUSTOMERS), as_="c").map_values(lambda u: u.c.key + t.o.id))
    (join,) = (rel for rel in relations(rows) if isinstance(rel, LateralJoin))
    assert isinstance(join.right, Aggregate)
    assert str(rows.as_relation().schema.types[-1]) == "list<i64>"
    assert rows.variables == ("o", "keys")


def test_a_query_in_a_condition_is_a_column_that_is_not_put_out() -> None:
    def keys(t: Tuple) -> Values:
        return scan(table("c", CUSTOMERS), as_="c").map_values(lambda u: u.c.key)

    for rows in (
        orders().filter(lambda t: ~t.o.id.is_in(keys(t))),
        orders().join(scan(table("c", CUSTOMERS), as_="d"), on=lambda t: t.o.id.is_in(keys(t))),
    ):
        assert Aggregate in kinds(rows)
        assert "any_match" in str(rows.as_relation())
        assert not any("list<i64>" in str(type_) for type_ in rows.as_relation().schema.types[4:])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            lambda: orders().cross_join(lambda t: scan(list_of(t.o.id, t.o.name), as_="x")),
            "several types, i64 and string",
        ),
        (lambda: orders().cross_join(lambda t: scan(list_of(t.o, 1), as_="x")), "a struct or collection and for other"),
        (lambda: orders().cross_join(lambda t: unpivot(t.o, as_="x")), "several types"),
        (
            lambda: orders().cross_join(
                lambda t: scan(scan(t.o.tags, as_="x").map_values(lambda u: u.x), as_="y", at="n")
            ),
            "the index in a list that may be null or missing",
        ),
        (lambda: orders().cross_join(lambda t: scan(t.o.items, as_="i").limit(t.o.id)), "a limit that is computed"),
        (
            lambda: orders().map_let(q=lambda t: scan(t.o.tags, as_="i").map_values(lambda u: u.i)),
            "a query in a row over",
        ),
        (
            lambda: orders().order_by(lambda t: t.o.id.is_in(scan(t.o["items"], as_="i").map_values(lambda u: u.i))),
            "map_values in the condition of an outer join, a key",
        ),
        (lambda: orders().group_by(group_as="g").filter(lambda t: lit(1).is_in(t.g)), "in of structs of a query"),
        (
            lambda: (
                orders()
                .map_let(q=lambda t: scan(t.o["items"], as_="i").map_values(lambda u: struct(i=u.i)))
                .map_values(lambda t: t.q[0])
            ),
            "a path into a query",
        ),
    ],
)
def test_what_is_not_lowered_is_refused_by_name(rows: object, said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        rows().as_relation()  # type: ignore[operator]
    assert said in str(caught.value)


def test_strict_mode() -> None:
    rows = orders().cross_join(lambda t: unpivot(t.o.id, as_="v", at="k"))
    assert "part" in str(rows.as_relation())
    with pytest.raises(EvaluationError, match="unpivot: a value that is not a struct"):
        rows.as_relation("strict")
    with pytest.raises(EvaluationError, match='there is no attribute "itms"'):
        orders().cross_join(lambda t: scan(t.o.itms, as_="i")).as_relation("strict")
    with pytest.raises(SchemaError, match="the right side of a full join cannot refer"):
        orders().join(lambda t: scan(t.o.items, as_="i"), how="full")


def test_the_interpreter_and_the_notation_have_them_too() -> None:
    text = "(cross_join (scan (id t) o null null) (scan (path (id o) (lit xs)) x i null))"
    rows = bind(parse_bindings(text), {"t": [{"xs": [5, 6]}, {"xs": []}, {"xs": None}, {}]})
    assert str(rows) == text
    assert data_text(rows.map_values(lambda t: struct(x=t.x, i=t.i)).evaluate()) == (
        "<< { x: 5, i: 0 }, { x: 6, i: 1 }, { x: null }, { } >>"
    )
