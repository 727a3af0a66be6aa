"""Relations of every kind as text, against texts written by hand."""

from __future__ import annotations

import typing
from textwrap import dedent

import attrs
import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.common import Common, Computation, Hint, Stats
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.properties import SINGLETON, OrderKey, Properties, partitioned
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.render.describe import describe
from substrait_dsl.render.text import explain
from tests.nodes import (
    COMPARE,
    COMPARISON,
    DETAIL,
    TRUE,
    asc,
    call,
    col,
    equal,
    gt,
    i32,
    i64,
    leaf,
    measure,
    part,
    plus,
    schema,
    window_sum,
)

ORDERS = leaf("id: i64, customer: i64", name="orders")
PEOPLE = leaf("id: i64, name: string?", name="people")
LISTS = leaf("id: i64, items: list<list<i8>>?", name="lists")
ORDERS_LINE = "read orders -> id: i64, customer: i64"
PEOPLE_LINE = "read people -> id: i64, name: string?"
BOTH_COLUMNS = "id: i64 = left.id, customer: i64, id: i64 = right.id, name: string?"
NESTED = leaf("id: i64, place: struct<i64, struct<i64>>", name="places")

KEY = r.JoinKey(col(ORDERS, "customer"), col(PEOPLE, "id"))
BUCKETS = leaf("bucket: i32, buckets: list<i32>", name="rows")
NEWEST = (ex.SortKey(col(ORDERS, "id"), "desc_nulls_last"),)
COLUMNS = schema("id: i64, name: string?")
TABLE = r.NamedObject(("shop", "people"))
WHOLE = "over (rows between unbounded preceding and unbounded following)"


def message(name: str) -> AnyMessage:
    return AnyMessage(f"type.googleapis.com/acme.{name}")


RELATIONS: dict[str, tuple[r.Rel, str]] = {
    # --- reads
    "declared order and distribution": (
        r.Read(
            NESTED.schema,
            NESTED.definition,
            declared=Properties((OrderKey((1, 1, 0), "asc_nulls_last"), OrderKey((0,), COMPARE)), partitioned((0,))),
            projection=ex.StructMask((ex.MaskItem(0),)),
        ),
        """
        read places (1 of 2 columns)
            | declared ordered by place.$1.$0 asc nulls last, id using compare; partitioned by id
            | -> id: i64
        """,
    ),
    "name and value pairs": (
        r.Read(COLUMNS, r.NamedTable(("people",)), name_values=(("owner", "me"), ("as of", "today"))),
        """read people with owner = 'me', "as of" = 'today' -> id: i64, name: string?""",
    ),
    "iceberg": (
        r.Read(COLUMNS, r.IcebergTable("/t/v1.json")),
        "read iceberg '/t/v1.json' -> id: i64, name: string?",
    ),
    "iceberg by id": (
        r.Read(COLUMNS, r.IcebergTable("/t/v1.json", snapshot_id="77")),
        "read iceberg '/t/v1.json' snapshot '77' -> id: i64, name: string?",
    ),
    "iceberg by time": (  # a day and two microseconds after the epoch
        r.Read(COLUMNS, r.IcebergTable("/t/v1.json", snapshot_timestamp=86_400_000_002)),
        "read iceberg '/t/v1.json' at timestamp_tz '1970-01-02 00:00:00.000002Z' -> id: i64, name: string?",
    ),
    "extension table": (
        r.Read(COLUMNS, r.ExtensionTable(DETAIL)),
        "read extension 'acme.Thing' x'0801' -> id: i64, name: string?",
    ),
    "extension format": (
        r.Read(COLUMNS, r.LocalFiles((r.FileItem("/x", r.ExtensionFormat(DETAIL), "folder"),))),
        "read files extension 'acme.Thing' x'0801' folder '/x' -> id: i64, name: string?",
    ),
    "extended table": (
        r.Read(COLUMNS, r.NamedTable(("people",), AdvancedExtension((message("Fast"),), message("Old")))),
        "read people table enhancement 'acme.Old' table optimization 'acme.Fast' -> id: i64, name: string?",
    ),
    "extended files": (
        r.Read(
            COLUMNS,
            r.LocalFiles((r.FileItem("/x", r.Orc()),), AdvancedExtension((), AnyMessage("other.net/Old", b"\1"))),
        ),
        "read files orc '/x' files enhancement 'other.net/Old' x'01' -> id: i64, name: string?",
    ),
    # --- rows
    "custom comparison": (
        r.Sort(ORDERS, (ex.SortKey(col(ORDERS, "id"), COMPARE),)),
        f"""
        sort by id using compare
          {ORDERS_LINE}
        """,
    ),
    "top n": (
        r.TopN(ORDERS, NEWEST, i64(10), i64(5), "with_ties"),
        f"""
        top n 10 offset 5 with ties by id desc nulls last
          {ORDERS_LINE}
        """,
    ),
    "top n of all": (
        r.TopN(ORDERS, NEWEST, None),
        f"""
        top n all by id desc nulls last
          {ORDERS_LINE}
        """,
    ),
    # --- groups and windows
    "streaming aggregate": (
        r.Aggregate(
            ORDERS, (col(ORDERS, "customer"),), ((0,),), (measure(col(ORDERS, "id")),), ("customer", "n"), "streaming"
        ),
        f"""
        aggregate streaming by customer -> customer: i64, n: i64? = sum(id)
          {ORDERS_LINE}
        """,
    ),
    "window": (
        r.Window(ORDERS, (window_sum(col(ORDERS, "id")),), (col(ORDERS, "customer"),), NEWEST, ("n",)),
        f"""
        window partition by customer order by id desc nulls last
            | -> *, n: i64? = sum(id) {WHOLE}
          {ORDERS_LINE}
        """,
    ),
    "hashing window": (
        r.Window(ORDERS, (window_sum(col(ORDERS, "id")),), (), (), ("n",), "hashing"),
        f"""
        window hashing
            | -> *, n: i64? = sum(id) {WHOLE}
          {ORDERS_LINE}
        """,
    ),
    "expand": (
        r.Expand(
            ORDERS,
            (
                r.SwitchingField((col(ORDERS, "id"), i64(None))),
                r.ConsistentField(col(ORDERS, "customer")),
                r.ConsistentField(plus(col(ORDERS, "id"), i64(1))),
            ),
            ("id", "customer", "next", "copy"),
        ),
        f"""
        expand
            | -> id: i64? = switching (id, null:i64), customer: i64, next: i64 = id + 1,
            |   copy: i32 = index of the duplicate
          {ORDERS_LINE}
        """,
    ),
    # --- joins
    "lateral join": (
        r.LateralJoin(ORDERS, PEOPLE, "left_semi", TRUE, gt(col(ORDERS, "id"), i64(1)), anchor=1),
        f"""
        lateral join left_semi on true then filter id > 1 -> left.*
          {ORDERS_LINE}
          {PEOPLE_LINE}
        """,
    ),
    "hash join": (
        r.HashJoin(
            ORDERS,
            PEOPLE,
            "inner",
            (KEY,),
            gt(col(ORDERS, "id"), col(PEOPLE, "id", 2)),
            gt(col(PEOPLE, "id", 2), i64(1)),
        ),
        f"""
        hash join inner build right on customer = right.id residual left.id > right.id then filter id#2 > 1
            | -> {BOTH_COLUMNS}
          {ORDERS_LINE}
          {PEOPLE_LINE}
        """,
    ),
    "keys of every comparison": (
        r.HashJoin(
            NESTED,
            NESTED,
            "left_mark",
            (
                r.JoinKey(col(NESTED, 0), part(NESTED, 1, 0), "is_not_distinct_from"),
                r.JoinKey(part(NESTED, 1, 1, 0), col(NESTED, 0), "might_equal"),
                r.JoinKey(col(NESTED, 0), col(NESTED, 0), COMPARE),
            ),
            build="left",
        ),
        """
        hash join left_mark build left
            | on left.id is not distinct from right.place.$0
            |   and left.place.$1.$0 might equal right.id
            |   and compare(left.id, right.id)
            | -> left.*, mark: boolean?
          #1: read places -> id: i64, place: struct<i64, struct<i64>>
          see #1 above (read places)
        """,
    ),
    "merge join": (
        r.MergeJoin(ORDERS, PEOPLE, "right_anti", (KEY,)),
        f"""
        merge join right_anti on customer = right.id -> right.*
          {ORDERS_LINE}
          {PEOPLE_LINE}
        """,
    ),
    "nested loop join": (
        r.NestedLoopJoin(ORDERS, PEOPLE, "left_semi", gt(col(ORDERS, "id"), col(PEOPLE, "id", 2))),
        f"""
        nested loop join left_semi on left.id > right.id -> left.*
          {ORDERS_LINE}
          {PEOPLE_LINE}
        """,
    ),
    "nested loop join of all pairs": (
        r.NestedLoopJoin(ORDERS, PEOPLE, "inner"),
        f"""
        nested loop join inner -> {BOTH_COLUMNS}
          {ORDERS_LINE}
          {PEOPLE_LINE}
        """,
    ),
    # --- exchange
    "scatter": (
        r.Exchange(NESTED, r.Scatter((col(NESTED, 0), part(NESTED, 1, 1))), 4),
        """
        exchange scatter by id, place.$1 into 4 partitions
          read places -> id: i64, place: struct<i64, struct<i64>>
        """,
    ),
    "single bucket": (
        r.Exchange(BUCKETS, r.SingleBucket(col(BUCKETS, "bucket")), 1),
        """
        exchange single bucket by bucket into 1 partition
          read rows -> bucket: i32, buckets: list<i32>
        """,
    ),
    "single bucket, constrained": (
        r.Exchange(BUCKETS, r.SingleBucket(col(BUCKETS, "bucket"), constrained=True), 2),
        """
        exchange single bucket constrained by bucket into 2 partitions
          read rows -> bucket: i32, buckets: list<i32>
        """,
    ),
    "multi bucket": (
        r.Exchange(BUCKETS, r.MultiBucket(col(BUCKETS, "buckets"))),
        """
        exchange multi bucket by buckets
          read rows -> bucket: i32, buckets: list<i32>
        """,
    ),
    "multi bucket, constrained, with targets": (
        r.Exchange(
            BUCKETS,
            r.MultiBucket(col(BUCKETS, "buckets"), constrained=True),
            3,
            (r.ExchangeTarget("host:1", (0, 2)), r.ExchangeTarget(DETAIL)),
        ),
        """
        exchange multi bucket constrained by buckets into 3 partitions
            | to 'host:1' (partitions 0, 2), 'acme.Thing' x'0801'
          read rows -> bucket: i32, buckets: list<i32>
        """,
    ),
    "broadcast": (
        r.Exchange(ORDERS, r.Broadcast()),
        f"""
        exchange broadcast
          {ORDERS_LINE}
        """,
    ),
    "round robins": (
        r.Exchange(r.Exchange(ORDERS, r.RoundRobin()), r.RoundRobin(exact=True)),
        f"""
        exchange round robin exact
          exchange round robin
            {ORDERS_LINE}
        """,
    ),
    "captures": (
        r.SimpleCapture(r.MergingCapture(r.MergingCapture(ORDERS), blocking=True)),
        f"""
        simple capture
          merging capture blocking
            merging capture
              {ORDERS_LINE}
        """,
    ),
    "an unnest": (
        r.Unnest(r.Unnest(LISTS, 1, ("item", "place")), 2),
        """
        unnest item -> *, element: i8 = element of item, offset: i64 = its offset
          unnest items -> *, item: list<i8> = element of items, place: i64 = its offset
            read lists -> id: i64, items: list<list<i8>>?
        """,
    ),
    # --- writes
    "insert": (
        r.Write(PEOPLE, TABLE, COLUMNS, "insert"),
        f"""
        write insert into shop.people columns id: i64, name: string? -> no columns
          {PEOPLE_LINE}
        """,
    ),
    "deleted records": (
        r.Write(PEOPLE, r.ExtensionObject(DETAIL), COLUMNS, "delete", "modified_records"),
        f"""
        write delete from extension 'acme.Thing' x'0801' output modified_records -> id: i64, name: string?
          {PEOPLE_LINE}
        """,
    ),
    "update by records": (
        r.Write(PEOPLE, r.NamedObject(("people",), AdvancedExtension((), DETAIL)), COLUMNS, "update"),
        f"""
        write update to people columns id: i64, name: string? table enhancement 'acme.Thing' x'0801'
            | -> no columns
          {PEOPLE_LINE}
        """,
    ),
    "table from a query, in memory": (
        r.Write(PEOPLE, r.VirtualTarget("two words", pin=True), COLUMNS, "ctas", create_mode="replace_if_exists"),
        f"""
        write ctas as virtual table "two words" pinned replace_if_exists columns id: i64, name: string?
            | -> no columns
          {PEOPLE_LINE}
        """,
    ),
    "files": (
        r.Write(PEOPLE, r.FilesTarget("/out", r.Parquet()), COLUMNS, "insert"),
        f"""
        write insert into files parquet '/out' columns id: i64, name: string? -> no columns
          {PEOPLE_LINE}
        """,
    ),
    "files in folders": (
        r.Write(PEOPLE, r.FilesTarget("/out", r.Orc(), ("name",)), COLUMNS, "insert"),
        f"""
        write insert into files orc '/out' in folders by name columns id: i64, name: string? -> no columns
          {PEOPLE_LINE}
        """,
    ),
    "update": (
        r.Update(
            r.NamedTable(("people",)),
            schema("id: i64, age: i64"),
            gt(col(ORDERS, 0), i64(3)),
            (r.Transformation(1, plus(ex.FieldReference(1, t.I64()), i64(1))),),
        ),
        """
        update people columns id: i64, age: i64 where id > 3 set age = age + 1 -> modified_records: i64
        """,
    ),
    "create table": (
        r.Ddl(TABLE, "table", "create", COLUMNS, (i64(7), literal(None, t.String(nullable=True)))),
        """
        ddl create table shop.people columns id: i64 default 7, name: string? default null:string
            | -> no columns
        """,
    ),
    "alter view": (
        r.Ddl(r.NamedObject(("v",)), "view", "alter", COLUMNS, view_definition=PEOPLE),
        f"""
        ddl alter view v columns id: i64, name: string? -> no columns
          {PEOPLE_LINE}
        """,
    ),
    "drop": (r.Ddl(TABLE, "table", "drop_if_exist"), "ddl drop_if_exist table shop.people -> no columns"),
    # --- extensions
    "extension leaf": (
        r.ExtensionLeaf(DETAIL, COLUMNS, Properties((), SINGLETON)),
        "extension leaf 'acme.Thing' x'0801' declared singleton -> id: i64, name: string?",
    ),
    "extension single": (
        r.ExtensionSingle(message("Map"), COLUMNS, input=ORDERS),
        f"""
        extension single 'acme.Map' -> id: i64, name: string?
          {ORDERS_LINE}
        """,
    ),
    "extension multi": (
        r.ExtensionMulti(message("Zip"), COLUMNS, relations=(ORDERS, PEOPLE)),
        f"""
        extension multi 'acme.Zip' -> id: i64, name: string?
          {ORDERS_LINE}
          {PEOPLE_LINE}
        """,
    ),
}


@pytest.mark.parametrize(("rel", "expected"), RELATIONS.values(), ids=RELATIONS)
def test_relation(rel: r.Rel, expected: str) -> None:
    assert explain(rel) == dedent(expected).strip()


OTHERS = (
    r.Filter(ORDERS, TRUE),
    r.Project(ORDERS, (i64(1),), ("one",)),
    r.Emit(ORDERS, (1,)),
    r.Fetch(ORDERS, i64(1)),
    r.Set((ORDERS, ORDERS), "union_all"),
    r.Join(ORDERS, PEOPLE, "inner", TRUE),
    r.Cross(ORDERS, PEOPLE),
)
"""One of each kind whose text is tested elsewhere."""


def test_every_kind_of_relation_can_be_described() -> None:
    roots = (*(rel for rel, _ in RELATIONS.values()), *OTHERS)
    examples = {type(rel): rel for root in roots for rel in walk(root) if isinstance(rel, r.Rel)}
    kinds = typing.get_args(r.AnyRelation)
    assert [kind.__name__ for kind in kinds if kind not in examples] == []
    for kind in kinds:
        words = describe(examples[kind]).name
        assert words.replace(" ", "") == kind.__name__.lower()


def test_the_right_input_of_a_lateral_join_sees_the_left_row() -> None:
    """And what stands in it sees the rows further out through it."""
    mine = ex.FieldReference(1, t.I64(), ex.OuterReference(2))
    outermost = ex.FieldReference(0, t.I64(), ex.OuterReference(1))
    right = r.Filter(r.Filter(PEOPLE, equal(col(PEOPLE, "id"), mine)), equal(col(PEOPLE, "id"), outermost))
    lateral = r.LateralJoin(ORDERS, right, "left_semi", TRUE, anchor=2)
    assert explain(r.Filter(PEOPLE, ex.SetPredicate("exists", lateral), anchor=1)) == dedent(
        f"""\
        filter exists (subquery #1)
          subquery #1: lateral join left_semi on true -> left.*
            {ORDERS_LINE}
            filter id = outer.outer.id
              filter id = outer.customer
                #2: {PEOPLE_LINE}
          see #2 above (read people)"""
    )


def test_a_subquery_in_the_condition_of_a_lateral_join_sees_both_rows() -> None:
    name = ex.FieldReference(3, t.String(nullable=True), ex.OuterReference(1))
    inner = r.Filter(PEOPLE, call("equal", col(PEOPLE, "name"), name))
    lateral = r.LateralJoin(ORDERS, PEOPLE, "inner", ex.SetPredicate("exists", inner), anchor=1)
    assert "subquery #1: filter name = outer.name" in explain(lateral)


# --- what every relation may have

HINTS: dict[str, tuple[Common, str]] = {
    "alias": (Common(Hint(alias="o")), "hint alias o"),
    "alias to be quoted": (Common(Hint(alias="my orders")), 'hint alias "my orders"'),
    "statistics": (Common(Hint(Stats(1000, 12.5))), "hint 1000 rows, 12.5 bytes a row"),
    "names": (Common(Hint(output_names=("x", "y z"))), 'hint names (x, "y z")'),
    "computations": (
        Common(Hint(saved=(Computation(1, "hashtable"),), loaded=(Computation(2, "bloom_filter"),))),
        "hint saves hashtable 1, loads bloom_filter 2",
    ),
    "all that changes nothing": (Common(Hint()), ""),
    "an enhancement": (Common(own_extension=AdvancedExtension((), DETAIL)), "enhancement 'acme.Thing' x'0801'"),
    "of the fields in common": (
        Common(extension=AdvancedExtension((message("A"), message("B")), DETAIL)),
        "common enhancement 'acme.Thing' x'0801' common optimization 'acme.A', 'acme.B'",
    ),
}


@pytest.mark.parametrize(("common", "expected"), HINTS.values(), ids=HINTS)
def test_hints_and_extensions_stand_after_the_arguments(common: Common, expected: str) -> None:
    first = explain(r.Fetch(ORDERS, i64(3), common=common)).splitlines()[0]
    assert first == f"fetch 3 {expected}".strip()


def test_hints_are_no_part_of_a_title() -> None:
    rel = r.Project(ORDERS, (i64(1),), ("one",), common=Common(Hint(alias="o")))
    assert describe(rel).title == "project"


def test_a_relation_that_the_plan_holds_once_is_labelled() -> None:
    shared = attrs.evolve(PEOPLE, shared=True)
    assert explain(r.Set((shared, PEOPLE, shared), "union_all")) == dedent(
        f"""\
        set union_all
          shared #1: {PEOPLE_LINE}
          {PEOPLE_LINE}
          see #1 above (read people)"""
    )
    assert explain(r.Filter(ORDERS, ex.SetPredicate("exists", shared))).splitlines()[1] == (
        f"  shared subquery #1: {PEOPLE_LINE}"
    )


def test_a_nested_column_without_names_is_called_by_positions() -> None:
    rel = r.Sort(NESTED, (asc(part(NESTED, 1, 1, 0)),))
    assert explain(rel, properties=True).splitlines()[0] == (
        "sort by place.$1.$0 asc nulls first [ordered by place.$1.$0 asc nulls first]"
    )


def test_long_lists_of_columns_of_a_table_are_cut() -> None:
    wide = NamedStruct.of({f"c{number}": t.I64() for number in range(1000)})
    rel = r.Write(r.Read(wide, r.NamedTable(("wide",))), TABLE, wide, "insert")
    assert "... (960 more)" in explain(rel).split("->")[0]


def test_functions_of_others_are_no_operators_in_join_keys() -> None:
    key = r.JoinKey(col(ORDERS, "id"), col(PEOPLE, "id"), ex.FunctionId(COMPARISON, "equal:any_any"))
    rel = r.MergeJoin(ORDERS, PEOPLE, "left_semi", (key,))
    assert explain(rel).splitlines()[0] == "merge join left_semi on equal(left.id, right.id) -> left.*"


def test_a_bucket_may_be_computed() -> None:
    rel = r.Exchange(BUCKETS, r.SingleBucket(plus(col(BUCKETS, "bucket"), i32(1))))
    assert explain(rel).splitlines()[0] == "exchange single bucket by bucket + 1"
