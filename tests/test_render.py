"""Plans and schemas as text, against texts written by hand."""

import tracemalloc
from textwrap import dedent

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.algebra.plan import AlgebraPlan, ParameterBinding, Root
from substrait_dsl.algebra.properties import OrderKey
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.render.describe import describe
from substrait_dsl.render.plan_walk import MAX_DEPTH
from substrait_dsl.render.text import WIDTH, explain, explain_plan, show_schema
from tests.nodes import ARITHMETIC, BOOLEAN, both, call, i64, plus

PEOPLE = NamedStruct.of(
    {"p": t.Boolean(), "q": t.Boolean(), "address": t.Struct.of({"city": t.String(), "zip": t.String()})}
)
P, Q, ADDRESS = (ex.FieldReference(position, type_) for position, type_ in enumerate(PEOPLE.types))


def either(*arguments: ex.Expression) -> ex.Expression:
    return call("or", *arguments, urn=BOOLEAN)


def negation(argument: ex.Expression) -> ex.Expression:
    return call("not", argument, urn=BOOLEAN)


def table(name: str, /, **columns: t.Type) -> r.Rel:
    return r.Read(NamedStruct.of(columns), r.NamedTable((name,)))


def column(rel: r.Rel, name: str, root: ex.RootReference | ex.OuterReference = ex.ROOT) -> ex.FieldReference:
    position = rel.schema.position(name)
    return ex.FieldReference(position, rel.schema.types[position], root)


def expected(text: str) -> str:
    return dedent(text).strip()


ORDERS = table("orders", id=t.I64(), customer=t.I64(), total=t.Decimal(15, 2))
CUSTOMERS = table("customers", id=t.I64(), name=t.String(nullable=True))
ORDERS_LINE = "read orders -> id: i64, customer: i64, total: decimal<15,2>"
CUSTOMERS_LINE = "read customers -> id: i64, name: string?"


OVERFLOW = (ex.FunctionOption("overflow", ("ERROR", "SATURATE")),)


# --- relations


def test_chain() -> None:
    big = r.Filter(
        ORDERS,
        both(
            call("gt", column(ORDERS, "total"), literal(100, t.Decimal(15, 2))),
            call("lt", column(ORDERS, "id"), i64(9)),
        ),
    )
    wide = r.Project(big, (plus(column(big, "id"), i64(1)), column(big, "total")), ("next", "again"))
    rel = r.Fetch(
        r.Sort(
            r.emit(wide, [3, 0, 1], ["next", "key", "customer"]),
            (
                ex.SortKey(ex.FieldReference(1, t.I64()), "desc_nulls_last"),
                ex.SortKey(ex.FieldReference(0, t.I64()), "clustered"),
            ),
        ),
        i64(10),
        i64(5),
    )
    assert explain(rel) == expected(
        """
        fetch 10 offset 5
          sort by key desc nulls last, next clustered
            emit -> next: i64, key: i64 = id, customer: i64
              project -> *, next: i64 = id + 1, again: decimal<15,2> = total
                filter total > 100.00 and id < 9
                  read orders -> id: i64, customer: i64, total: decimal<15,2>
        """
    )


def test_fetch_without_count() -> None:
    assert explain(r.Fetch(ORDERS, None, i64(3))).splitlines()[0] == "fetch all offset 3"


SUM = ex.FunctionId(ARITHMETIC, "sum:i64")
NULLABLE = t.I64(nullable=True)


def test_aggregate() -> None:
    rel = r.Aggregate(
        ORDERS,
        (column(ORDERS, "customer"), plus(column(ORDERS, "id"), i64(1))),
        ((0, 1),),
        (ex.Measure(ex.AggregateFunction(SUM, (column(ORDERS, "id"),), NULLABLE)),),
        ("customer", "next", "n"),
    )
    assert explain(rel) == expected(
        f"""
        aggregate by customer, next -> customer: i64, next: i64 = id + 1, n: i64? = sum(id)
          {ORDERS_LINE}
        """
    )


def test_aggregate_with_grouping_sets() -> None:
    keys = (column(ORDERS, "customer"), column(ORDERS, "id"))
    rel = r.Aggregate(ORDERS, keys, ((0, 1), (0,), ()), (), ("customer", "id", "which"))
    assert explain(rel) == expected(
        f"""
        aggregate by (customer, id), (customer), ()
            | -> customer: i64?, id: i64?, which: i32 = index of the grouping set
          {ORDERS_LINE}
        """
    )


def test_measure_with_everything() -> None:
    function = ex.AggregateFunction(
        ex.FunctionId("extension:io.substrait:functions_string", "string_agg:str_str"),
        (column(CUSTOMERS, "name"), literal(",", t.String())),
        t.String(nullable=True),
        OVERFLOW,
        (ex.SortKey(column(CUSTOMERS, "id"), "asc_nulls_last"),),
        "distinct",
        "initial_to_intermediate",
    )
    measure = ex.Measure(function, call("gt", column(CUSTOMERS, "id"), i64(3)))
    rel = r.Aggregate(CUSTOMERS, (), (), (measure,), ("names",))
    assert explain(rel) == expected(
        f"""
        aggregate
            | -> names: string? = string_agg(distinct name, ',' order by id asc nulls last; overflow: ERROR
            |     or SATURATE) [initial_to_intermediate] filter (where id > 3)
          {CUSTOMERS_LINE}
        """
    )


SAME = call("equal", ex.FieldReference(1, t.I64()), ex.FieldReference(3, t.I64()))
LATE = call("gt", ex.FieldReference(1, t.I64()), ex.FieldReference(3, t.I64()))


@pytest.mark.parametrize(
    ("how", "columns"),
    [
        ("left_semi", "left.*"),
        ("right_anti", "right.*"),
        ("left_mark", "left.*, mark: boolean?"),
        ("right_mark", "right.*, mark: boolean?"),
    ],
)
def test_join_that_keeps_one_side(how: JoinType, columns: str) -> None:
    assert explain(r.Join(ORDERS, CUSTOMERS, how, SAME)) == expected(
        f"""
        join {how} on customer = right.id -> {columns}
          {ORDERS_LINE}
          {CUSTOMERS_LINE}
        """
    )


def test_join_that_keeps_both_sides() -> None:
    rel = r.Join(ORDERS, CUSTOMERS, "left", SAME, call("is_null", ex.FieldReference(3, t.I64(nullable=True))))
    assert explain(rel) == expected(
        f"""
        join left on customer = right.id then filter id#3 is null
            | -> id: i64 = left.id, customer: i64, total: decimal<15,2>, id: i64? = right.id, name: string?
          {ORDERS_LINE}
          {CUSTOMERS_LINE}
        """
    )


def test_cross() -> None:
    rel = r.Cross(r.emit(ORDERS, [1, 2]), CUSTOMERS)
    assert explain(rel) == expected(
        f"""
        cross -> customer: i64, total: decimal<15,2>, id: i64, name: string?
          emit -> customer: i64, total: decimal<15,2>
            {ORDERS_LINE}
          {CUSTOMERS_LINE}
        """
    )


def test_many_unchanged_columns_are_folded() -> None:
    wide = table("wide", **{f"c{number}": t.I64() for number in range(10)})
    rel = r.Join(r.emit(wide, [0, 1, 2, 3, 5, 6, 9]), CUSTOMERS, "outer", literal(True, t.Boolean()))
    lines = explain(r.Join(rel, wide, "inner", literal(True, t.Boolean()))).splitlines()
    assert lines[:4] == [
        "join inner on true -> c0 to name (9 columns), c0 to c9 (10 columns)",
        "  join outer on true -> c0 to c9 (7 columns, made nullable), id: i64?, name: string?",
        "    emit -> c0: i64, c1: i64, c2: i64, c3: i64, c5: i64, c6: i64, c9: i64",
        "      #1: read wide",
    ]
    assert lines[-1] == "  see #1 above (read wide)"


def test_dropping_a_column_of_a_thousand() -> None:
    wide = table("wide", **{f"c{number}": t.I64() for number in range(1000)})
    lines = explain(r.emit(wide, [n for n in range(1000) if n != 7])).splitlines()
    assert lines[0] == "emit -> c0 to c6 (7 columns), c8 to c999 (992 columns)"
    assert lines[-1].endswith("c39: i64, ... (960 more)")


def test_emit_of_nothing() -> None:
    assert explain(r.emit(CUSTOMERS, [])).splitlines()[0] == "emit -> no columns"


def test_set() -> None:
    names = r.emit(CUSTOMERS, [1])
    required = table("names", name=t.String())
    assert explain(r.Set((required, names), "union_all")) == expected(
        f"""
        set union_all -> name: string?
          read names -> name: string
          emit -> name: string?
            {CUSTOMERS_LINE}
        """
    )
    assert explain(r.Set((required, names), "minus_primary")).splitlines()[0] == "set minus_primary"


def test_read_with_filters_and_projection() -> None:
    rel = r.Read(
        ORDERS.schema,
        r.NamedTable(("shop", "order lines")),
        call("gt", column(ORDERS, "id"), i64(1)),
        call("lt", column(ORDERS, "customer"), i64(2)),
        ex.StructMask((ex.MaskItem(2),)),
    )
    assert explain(rel) == expected(
        """
        read shop."order lines" where id > 1 where perhaps customer < 2 (1 of 3 columns)
            | -> total: decimal<15,2>
        """
    )


def test_read_of_part_of_a_struct() -> None:
    mask = ex.StructMask((ex.MaskItem(2, ex.StructMask((ex.MaskItem(0),))),))
    rel = r.Read(PEOPLE, r.NamedTable(("people",)), projection=mask)
    assert explain(rel) == "read people (1 of 3 columns, some in part) -> address: struct<string>"


def test_read_of_values() -> None:
    rows = tuple(r.Record((i64(n), literal("x", t.String(nullable=True)))) for n in range(7))
    assert explain(r.Read(CUSTOMERS.schema, r.VirtualTable(rows))) == expected(
        """
        read values (0, 'x'), (1, 'x'), (2, 'x'), (3, 'x'), (4, 'x'), ... (2 more) -> id: i64, name: string?
        """
    )
    assert explain(r.Read(CUSTOMERS.schema, r.VirtualTable(()))) == "read values (no rows) -> id: i64, name: string?"


def test_read_of_files() -> None:
    items = (
        r.FileItem("/data/a.parquet", r.Parquet(), "file", start=10, length=20),
        r.FileItem("/data/*.csv", r.DelimitedText(field_delimiter="|", header_lines_to_skip=1), "glob"),
        r.FileItem("/data/it's", r.Orc()),
    )
    assert explain(r.Read(NamedStruct.of({"x": t.String()}), r.LocalFiles(items))) == expected(
        """
        read
            | files parquet file '/data/a.parquet' (start 10, length 20),
            |   delimited text (field_delimiter '|', header_lines_to_skip 1) glob '/data/*.csv',
            |   orc '/data/it''s'
            | -> x: string
        """
    )


def test_properties() -> None:
    key = ex.SortKey(column(CUSTOMERS, "id"), "asc_nulls_first")
    people = r.Read(PEOPLE, r.NamedTable(("people",)))
    city = ex.FieldAccess(ADDRESS, ex.StructField(0))
    inner = r.Sort(people, (ex.SortKey(city, "asc_nulls_last"),))
    assert inner.properties.ordering == (OrderKey((2, 0), "asc_nulls_last"),)
    assert explain(inner, properties=True).splitlines()[0] == (
        "sort by address.city asc nulls last [ordered by address.city asc nulls last]"
    )
    assert explain(r.emit(r.Sort(CUSTOMERS, (key,)), [0]), properties=True) == expected(
        f"""
        emit -> id: i64 [ordered by id asc nulls first]
          sort by id asc nulls first [ordered by id asc nulls first]
            {CUSTOMERS_LINE} [unordered]
        """
    )


def test_conditions_that_do_not_fit_stand_one_per_line() -> None:
    long = literal("a rather long text, to take up space", t.String())
    rel = r.Filter(CUSTOMERS, both(*(call("like", column(CUSTOMERS, "name"), long) for _ in range(3))))
    assert explain(rel) == expected(
        f"""
        filter
            | name like 'a rather long text, to take up space'
            |   and name like 'a rather long text, to take up space'
            |   and name like 'a rather long text, to take up space'
          {CUSTOMERS_LINE}
        """
    )


# --- subqueries, sharing, depth


def test_correlated_subqueries() -> None:
    customer = column(ORDERS, "customer", ex.OuterReference(2))
    total = column(ORDERS, "total", ex.OuterReference(1))
    deepest = r.Filter(CUSTOMERS, both(call("equal", column(CUSTOMERS, "id"), customer), call("lt", total, total)))
    middle = r.Filter(ORDERS, ex.SetPredicate("exists", deepest), anchor=2)
    rel = r.Filter(ORDERS, negation(ex.SetPredicate("exists", middle)), anchor=1)
    assert explain(rel) == expected(
        f"""
        filter not exists (subquery #1)
          subquery #1: filter exists (subquery #2)
            subquery #2: filter id = outer.customer and outer.outer.total < outer.outer.total
              {CUSTOMERS_LINE}
            #3: {ORDERS_LINE}
          see #3 above (read orders)
        """
    )


def test_subquery_in_a_join_sees_both_sides() -> None:
    names = r.emit(
        r.Filter(
            CUSTOMERS, call("equal", column(CUSTOMERS, "id"), ex.FieldReference(3, t.I64(), ex.OuterReference(1)))
        ),
        [1],
    )
    text = t.String(nullable=True)
    rel = r.Join(
        ORDERS, CUSTOMERS, "inner", call("equal", ex.FieldReference(4, text), ex.ScalarSubquery(names)), anchor=1
    )
    assert "filter id = outer.right.id" in explain(rel)


def test_relation_joined_to_itself_is_printed_once() -> None:
    rel = ORDERS
    for _ in range(15):
        rel = r.Join(rel, rel, "left_semi", literal(True, t.Boolean()))
    lines = explain(rel).splitlines()
    assert len(lines) == 15 + 1 + 15
    assert lines[14:17] == [
        " " * 28 + "#14: join left_semi on true -> left.*",
        " " * 30 + f"#15: {ORDERS_LINE}",
        " " * 30 + "see #15 above (read orders)",
    ]
    assert lines[-1] == "  see #1 above (join left_semi)"


def test_subquery_used_twice_is_printed_once() -> None:
    test = ex.SetPredicate("exists", CUSTOMERS)
    assert explain(r.Filter(r.Filter(ORDERS, test), either(test, test))) == expected(
        f"""
        filter exists (subquery #1) or exists (subquery #1)
          subquery #1: {CUSTOMERS_LINE}
          filter exists (subquery #1)
            {ORDERS_LINE}
        """
    )


def test_roots_of_a_plan_share_what_is_printed() -> None:
    asked = ex.DynamicParameter(t.I64(), 3)
    late = r.Filter(ORDERS, call("gt", column(ORDERS, "id"), asked))
    first = r.Filter(late, call("lt", column(late, "id"), i64(9)))
    roots = (Root.of(first), Root.of(r.Filter(late, call("lt", column(late, "id"), i64(7)))), Root.of(late))
    plan = AlgebraPlan(roots, (), (ParameterBinding(3, i64(5)),), "per_record")
    assert explain_plan(plan, [root.input for root in roots]) == expected(
        f"""
        filter id < 9
          #1: filter id > parameter(3):i64
            {ORDERS_LINE}
        filter id < 7
          see #1 above (filter id > parameter(3):i64)
        see #1 above (filter id > parameter(3):i64)
        parameter(3) = 5
        variables are evaluated per_record
        """
    )
    twice = str(sd.Plan(sd.Relation(late), sd.Relation(late)))
    assert twice.splitlines()[2:] == ["see #1 above (filter id > parameter(3):i64)"]


def test_a_root_far_below_another_is_printed_as_a_root() -> None:
    rel = ORDERS
    for step in range(MAX_DEPTH + 1):
        rel = r.Filter(rel, call("gt", column(rel, "id"), i64(step)))
    lines = explain_plan(AlgebraPlan((Root.of(rel), Root.of(ORDERS))), [rel, ORDERS]).splitlines()
    assert lines[MAX_DEPTH + 1 :] == ["  " * (MAX_DEPTH + 1) + "see #1 below", f"#1: {ORDERS_LINE}"]


def test_long_chain_continues_at_the_margin() -> None:
    rel = ORDERS
    for step in range(3000):
        rel = r.Filter(rel, call("gt", column(rel, "id"), i64(step)))
    lines = explain(rel).splitlines()
    assert lines[MAX_DEPTH] == "  " * MAX_DEPTH + "filter id > 2979"
    assert lines[MAX_DEPTH + 1 : MAX_DEPTH + 3] == ["  " * (MAX_DEPTH + 1) + "see #1 below", "#1: filter id > 2978"]
    assert sum("filter id > " in line for line in lines) == 3000
    assert lines[-1].strip() == ORDERS_LINE
    assert max(map(len, lines)) <= WIDTH


def test_shared_conditions_are_shown_once() -> None:
    condition: ex.Expression = both(P, Q)
    for _ in range(40):
        condition = both(condition, condition)
    text = explain(r.Filter(r.Read(PEOPLE, r.NamedTable(("t",))), condition))
    assert text.splitlines()[0] == "filter p and q"


def test_description_is_neutral() -> None:
    description = describe(r.Join(ORDERS, CUSTOMERS, "left_semi", both(SAME, LATE)))
    assert description.name == "join"
    assert [(clause.label, clause.items) for clause in description.arguments] == [
        ("", ("left_semi",)),
        ("on", ("customer = right.id", "customer > right.id")),
    ]
    assert description.inputs == (ORDERS, CUSTOMERS)
    assert describe(r.Filter(ORDERS, literal(True, t.Boolean()))).columns is None


# --- schemas


def test_show_schema() -> None:
    schema = NamedStruct.of(
        {
            "id": t.I64(),
            "home address": t.Struct.of({"city": t.String(nullable=True), "geo": t.Struct.of({"lat": t.FP64()})}),
            "items": t.List(t.Struct.of({"sku": t.String()})),
        }
    )
    assert show_schema(schema) == dedent(
        """\
        0  id              i64
        1  "home address"  struct<string?, struct<fp64>>
             city          string?
             geo           struct<fp64>
               lat         fp64
        2  items           list<struct<string>>
             sku           string"""
    )
    assert show_schema(NamedStruct(())) == "(no columns)"


def test_of_many_rows_only_those_that_are_shown_are_looked_at() -> None:
    """A virtual table of literals is not walked over: of 5,000 rows that took 3 MB."""
    kinds: dict[str, str] = {"a": "i64", "s": "struct<i64, string>", "l": "list<i64>"}
    large = sd.read_virtual([(number, (number, "x"), [number]) for number in range(5_000)], kinds)
    str(large.limit(1))  # imports what it needs
    tracemalloc.start()
    try:
        text = str(large)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "(4, (4, 'x'), [4]), ... (4995 more)" in text
    assert peak < 300_000
