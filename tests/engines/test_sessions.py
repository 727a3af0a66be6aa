"""Rows without Spark: on the embedded engine, which needs no session, and in a session of DataFusion."""

from __future__ import annotations

import datetime as dt
import gc
import pickle
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    NotAllowedError,
    SchemaError,
    SubstraitDslError,
    UnsupportedError,
)
from tests.support import f, refused

if TYPE_CHECKING:
    from datafusion import SessionContext

ORDERS = sd.read_named("orders", {"id": "i64", "price": "decimal<10,2>?", "day": "date?"})
ROWS = pa.table(
    {
        "id": [1, 2, 3],
        "price": pa.array([Decimal("1.50"), None, Decimal("2.25")], pa.decimal128(10, 2)),
        "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None],
    }
)
TABLES = {"orders": ROWS}


@pytest.fixture
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    return SessionContext()


@pytest.fixture(params=["embedded", "datafusion"])
def session(request: pytest.FixtureRequest, context: SessionContext) -> Any:
    return None if request.param == "embedded" else context


def test_rows_have_names(session: Any) -> None:
    first, second = ORDERS.filter(lambda o: o.id > 1).sort("id").collect(session, tables=TABLES)
    assert (first, second) == ((2, None, dt.date(2024, 1, 2)), (3, Decimal("2.25"), None))
    assert (second.id, second["price"], second[0], "id" in second) == (3, Decimal("2.25"), 3, True)
    assert second.asDict() == {"id": 3, "price": Decimal("2.25"), "day": None}
    assert repr(first) == "Row(id=2, price=None, day=datetime.date(2024, 1, 2))"
    assert pickle.loads(pickle.dumps(first)).day == dt.date(2024, 1, 2)
    with pytest.raises(AttributeError):
        _ = first.nothing


def test_totals_of_groups(session: Any) -> None:
    total = ORDERS.aggregate(n=f.count(), most=lambda o: f.max(o.price), total=lambda o: f.sum(o.id))
    assert total.collect(session, tables=TABLES) == [(3, Decimal("2.25"), 6)]


def test_frames_of_exact_types(session: Any) -> None:
    table = ORDERS.to_arrow(session, tables=TABLES)
    assert table.schema.equals(ORDERS.schema.to_arrow(), check_metadata=True)
    assert table.to_pylist() == ROWS.to_pylist()
    frame = ORDERS.to_pandas(session, tables=TABLES)
    assert list(map(str, frame.dtypes)) == ["int64[pyarrow]", "decimal128(10, 2)[pyarrow]", "date32[day][pyarrow]"]
    assert frame["id"].tolist() == [1, 2, 3]


def test_structs_are_those_of_the_plan(session: Any) -> None:
    pairs = sd.read_named("pairs", {"w": sd.Struct((sd.I32(), sd.String(nullable=True)), ("b", "a"), nullable=True)})
    rows = pa.table({"w": [{"b": 1, "a": "x"}, None]}, pairs.schema.to_arrow())
    with_struct = pairs.select("w", n=lambda r: r.w["b"])
    table = with_struct.to_arrow(session, tables={"pairs": rows})
    assert table.schema.equals(with_struct.schema.to_arrow(), check_metadata=True)
    assert table.to_pylist() == [{"w": {"b": 1, "a": "x"}, "n": 1}, {"w": None, "n": None}]


def test_a_frame_of_polars(session: Any) -> None:
    polars = pytest.importorskip("polars")
    frame = ORDERS.to_polars(session, tables=TABLES)
    assert frame.schema == {"id": polars.Int64, "price": polars.Decimal(10, 2), "day": polars.Date}
    assert frame.rows() == [tuple(row.values()) for row in ROWS.to_pylist()]
    assert ORDERS.collect(session, tables={"orders": frame}) == frame.rows()  # and back


def test_without_the_library_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("substrait_dsl.arrow.frames.find_spec", lambda name: None)
    with refused(UnsupportedError, "to_polars needs polars", "pip install polars"):
        ORDERS.to_polars(tables=TABLES)
    with refused(UnsupportedError, "to_pandas needs pandas", "pip install"):
        ORDERS.to_pandas(tables=TABLES)


def test_show_prints_a_table(session: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ORDERS.select("id", "price").show(session, n=2, tables=TABLES)
    table = "+---+-----+\n| id|price|\n+---+-----+\n|  1| 1.50|\n|  2| NULL|\n+---+-----+\nonly showing top 2 rows\n"
    assert capsys.readouterr().out == table


def test_a_plan_gives_a_frame_for_each_root(session: Any) -> None:
    frames = sd.Plan(ORDERS, ORDERS.limit(0)).execute(session, tables=TABLES)
    assert [frame.count() for frame in frames] == [3, 0]


REFUSED: dict[str, tuple[dict[Any, Any], type[SubstraitDslError], tuple[str, ...]]] = {
    "no table": ({}, ExecutionError, ("orders",)),
    "no column": ({"orders": ROWS.select(["id", "day"])}, SchemaError, ('it has no column "price"',)),
    "a type": ({"orders": ROWS.set_column(0, "id", pa.array(["a"] * 3))}, SchemaError, ('column "id" is string',)),
    "NULL": (
        {"orders": ROWS.set_column(0, "id", pa.array([1, None, 2], pa.int64()))},
        ExecutionError,
        ('column "id" is required, but it is NULL',),
    ),
    "another name": ({"order": ROWS}, InvalidArgumentError, ('table "order"', 'did you mean "orders"?')),
}


@pytest.mark.parametrize("case", REFUSED)
def test_tables_that_do_not_fit(case: str, session: Any) -> None:
    tables, error, words = REFUSED[case]
    with refused(error, "collect", *words):
        ORDERS.collect(session, tables=tables)


def test_accesses_are_asked_for_before_anything_runs(session: Any) -> None:
    with refused(NotAllowedError, "read table orders"):
        ORDERS.collect(session, tables=TABLES, allow=())


# --- the embedded engine alone


def test_large_tables_are_sent_once_and_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As views, which live as long as what is made of them, and are gone with the next that are made."""
    from substrait_dsl.spark.session.embedded import embedded_session
    from substrait_dsl.spark.sources import arrow_tables

    def views() -> int:
        return len(embedded_session().catalog.listTables())

    monkeypatch.setattr(arrow_tables, "LARGE", 0)
    monkeypatch.setattr(arrow_tables, "MAX_SENT", 80)
    numbers = sd.read_named("numbers", {"n": "i64"})
    table = pa.table({"n": range(55)})  # of 8 bytes each
    before = views()
    assert sorted(row.n for row in numbers.collect(tables={"numbers": table})) == list(range(55))
    gc.collect()
    frame = numbers.execute(tables={"numbers": table}).filter("n < 2")
    gc.collect()
    assert views() == before + 6
    assert sorted(frame.collect()) == [(0,), (1,)]
    del frame
    gc.collect()
    assert numbers.collect(tables={"numbers": table.slice(50, 3)}) == [(50,), (51,), (52,)]
    assert views() == before + 1
    assert numbers.collect(tables={"numbers": table.slice(0, 0)}) == []


# --- DataFusion alone


def test_its_own_frame_with_names_and_types(context: SessionContext) -> None:
    import datafusion

    halved = ORDERS.select("id", half=lambda o: o.price / 2)
    frame = halved.execute(context, tables=TABLES)
    assert isinstance(frame, datafusion.DataFrame)
    assert frame.schema().types == halved.schema.to_arrow().types
    assert frame.schema().names == ["id", "half"]
    with halved.running(context, tables=TABLES) as inside:
        assert inside.count() == 3


def test_tables_of_the_session(context: SessionContext) -> None:
    """Columns of other layouts and in other cases are as good; what is required is NULL in no row."""
    there = pa.table({"Name": pa.array(["x", "y"], pa.string_view()), "ID": [1, 2]})
    context.register_record_batches("things", [there.to_batches()])
    things = sd.read_named("things", {"id": "i64", "name": "string"})
    assert things.collect(context) == [(1, "x"), (2, "y")]
    given = {"things": pa.table({"id": [9], "name": ["z"]})}
    assert things.collect(context, tables=given) == [(9, "z")]
    assert things.collect(context) == [(1, "x"), (2, "y")]
    assert context.catalog().schema("public").names() == {"things"}
    with refused(SchemaError, 'column "id" is int64, declared i32'):
        sd.read_named("things", {"id": "i32"}).collect(context)
    with refused(ExecutionError, 'there is no table "thing"', 'did you mean "things"?'):
        sd.read_named("thing", {"id": "i64"}).collect(context)


@pytest.mark.parametrize("name", ["zebras", ("farm", "zebras"), 'the "zebras"'])
def test_the_hint_for_a_missing_table_gives_its_rows(name: str | tuple[str, ...], session: Any) -> None:
    """It has the name of the table, as a program writes it."""
    zebras = sd.read_named(name, {"id": "i64"})
    with pytest.raises(ExecutionError, match="there is no table") as caught:
        zebras.collect(session)
    argument = re.search(r"give its rows, for this execution alone: tables=(\{.*: frame\})", str(caught.value.hint))
    assert argument is not None
    assert zebras.collect(session, tables=eval(argument[1], {"frame": pa.table({"id": [7]})})) == [(7,)]


def test_names_of_several_parts(context: SessionContext) -> None:
    things = sd.read_named(("shop", "things"), {"id": "i64"})
    context.sql("CREATE SCHEMA shop").collect()
    context.sql("CREATE TABLE shop.things AS SELECT CAST(7 AS BIGINT) AS id").collect()
    assert things.collect(context) == [(7,)]
    assert things.collect(context, tables={("shop", "things"): pa.table({"id": [1]})}) == [(1,)]
    plain = sd.read_named("shop.things", {"id": "i64"})
    both = {("shop", "things"): pa.table({"id": [1]}), "shop.things": pa.table({"id": [2]})}
    assert sorted(things.union_all(plain).collect(context, tables=both)) == [(1,), (2,)]
    with refused(ExecutionError, 'there is no table "shop.thing"', 'did you mean "things"?'):
        sd.read_named(("shop", "thing"), {"id": "i64"}).collect(context)


@pytest.mark.parametrize("kind", ["i64", "string", "list<i64?>", "struct<i64?, string?>", "date", "decimal<5,2>"])
def test_nulls_of_a_required_column_of_the_session_fail(kind: str, context: SessionContext) -> None:
    wanted = sd.read_named("things", {"x": kind})
    optional = sd.read_named("things", {"x": f"{kind}?"})
    values: list[Any] = [{"i64": 1, "string": "a", "date": dt.date(2024, 1, 1)}.get(kind)]
    if kind.startswith("list"):
        values = [[1, None]]
    elif kind.startswith("struct"):
        values = [{"0": 1, "1": None}]
    elif kind.startswith("decimal"):
        values = [Decimal("1.25")]
    storage = optional.schema.to_arrow().field("x").type
    context.register_record_batches("things", [pa.table({"x": pa.array(values, storage)}).to_batches()])
    context.register_record_batches("holes", [pa.table({"x": pa.array([*values, None], storage)}).to_batches()])
    context.register_record_batches("none", [[pa.record_batch({"x": pa.array([], storage)})]])
    assert wanted.to_arrow(context).to_pylist() == [{"x": values[0]}]
    assert sd.read_named("none", {"x": kind}).to_arrow(context).to_pylist() == []
    holes = sd.read_named("holes", {"x": kind})
    with refused(ExecutionError, 'column "x" is required, but it is NULL', "(step: read holes"):
        holes.collect(context)


@pytest.mark.parametrize("case", ["runs", "refused", "write", "persisted", "progress", "several"])
def test_errors_are_of_the_tree(case: str, context: SessionContext) -> None:
    if case == "runs":
        quotient = ORDERS.select(x=lambda o: f.divide(o.id, o.id - 1)).filter(lambda o: o.x > 0)
        with refused(ExecutionError, "collect: DataFusion fails", "in id / (id - 1) (step: project -> x: i64"):
            quotient.collect(context, tables=TABLES)
        with pytest.raises(Exception, match=r"^of the user$"), ORDERS.running(context, tables=TABLES):
            raise Exception("of the user")
        with pytest.raises(ExecutionError) as caught, quotient.running(context, tables=TABLES) as frame:
            frame.collect()
        assert caught.value.step == "project -> x: i64 = id / (id - 1)"
        twice = quotient.select(y=lambda o: f.divide(o.x, o.x))
        with refused(ExecutionError, "in x / x (step: project -> y", "in id / (id - 1) (step"):
            twice.collect(context, tables=TABLES)
    elif case == "refused":
        added = ORDERS.select(x=lambda o: f.factorial(o.id, overflow="ERROR"))
        with refused(UnsupportedError, "collect", "overflow", "(step: project"):
            added.collect(context, tables=TABLES)
    elif case == "write":
        with refused(UnsupportedError, "a write cannot be lowered", "(step: write ctas as copies"):
            ORDERS.write("copies", op="ctas").execute(context, tables=TABLES)
    elif case == "persisted":
        with refused(UnsupportedError, "persist_shared is for sessions of Spark"):
            ORDERS.collect(context, tables=TABLES, persist_shared=True)
    elif case == "progress":
        with refused(UnsupportedError, "progress is for sessions of Spark"):
            ORDERS.collect(context, tables=TABLES, progress=True)
    else:
        joined = ORDERS.join(ORDERS, on=lambda a, b: a.id == b.id)
        with refused(UnsupportedError, "no two columns of one name"):
            joined.execute(context, tables=TABLES)
        assert joined.to_arrow(context, tables=TABLES).schema.names == ["id", "price", "day"] * 2


def test_what_is_shared_has_the_same_rows_in_all_roots_or_is_refused(context: SessionContext) -> None:
    first, all_rows = sd.shared(ORDERS.limit(1)), sd.shared(ORDERS.select("id"))
    with refused(UnsupportedError, "execute", "DataFusion computes a shared relation once for each use"):
        sd.Plan(first, first.select("id")).execute(context, tables=TABLES)
    frames = sd.Plan(all_rows, all_rows.aggregate(n=f.count()), first).execute(context, tables=TABLES)
    assert [frame.count() for frame in frames] == [3, 1, 1]


def test_explain_shows_the_plan_of_the_engine(context: SessionContext) -> None:
    text = ORDERS.explain(context, tables=TABLES)
    assert "--- on DataFusion\n" in text
    assert "DataSourceExec" in text
    with refused(InvalidArgumentError, "mode selects a form of Spark's plan"):
        ORDERS.explain(context, "simple", tables=TABLES)


def test_what_is_no_session() -> None:
    with refused(InvalidArgumentError, "expected a SparkSession, got 5", "show(n=5)"):
        ORDERS.show(5)  # type: ignore[call-overload, arg-type, unused-ignore]
    with refused(InvalidArgumentError, "expected a SparkSession", 'tables={"orders": frame}'):
        ORDERS.collect(TABLES)  # type: ignore[arg-type]
