"""Sessions of Acero: rows over tables in memory, the functions that they register, and what is refused by name."""

from __future__ import annotations

import datetime as dt
import math
import os
import pickle
import subprocess
import sys
import threading
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from substrait_dsl.consumers import acero
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    NotAllowedError,
    SchemaError,
    SubstraitDslError,
    UnsupportedError,
)
from tests.support import f, refused
from tests.tpch_answers import require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ORDERS = sd.read_named("orders", {"id": "i64", "price": "decimal<10,2>?", "day": "date?", "note": "string?"})
ROWS = pa.table(
    {
        "more": [0, 0, 0],
        "note": ["special big requests", None, "big\nspecial"],
        "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None],
        "price": pa.array([Decimal("1.50"), None, Decimal("2.25")], pa.decimal128(10, 2)),
        "id": [1, 2, 3],
    }
)


@pytest.fixture
def session() -> sd.AceroSession:
    return sd.AceroSession({"orders": ROWS})


def test_rows_types_and_text(session: sd.AceroSession, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = ORDERS.filter(lambda o: o.id > 1).sort("id").select("id", "price", "day").collect(session)
    assert (first, second) == ((2, None, dt.date(2024, 1, 2)), (3, Decimal("2.25"), None))
    assert (second.id, second["price"]) == (3, Decimal("2.25"))
    table = ORDERS.execute(session)
    assert table.schema.equals(ORDERS.schema.to_arrow(), check_metadata=True)
    assert table.equals(ROWS.select(ORDERS.schema.names).cast(ORDERS.schema.to_arrow()))
    frames = sd.Plan(ORDERS, ORDERS.limit(0)).execute(session)
    assert [frame.num_rows for frame in frames] == [3, 0]
    ORDERS.select("id", "price").show(session, n=2)
    text = "+---+-----+\n| id|price|\n+---+-----+\n|  1| 1.50|\n|  2| NULL|\n+---+-----+\nonly showing top 2 rows\n"
    assert capsys.readouterr().out == text
    assert repr(session) == "AceroSession(orders)"


def test_tables_of_any_library_and_files(tmp_path: Path) -> None:
    import pandas as pd

    pq.write_table(ROWS, tmp_path / "orders.parquet")
    ids = sd.read_named("ids", {"id": "i64?"})
    named = sd.read_named(("shop", "ids"), {"ID": "i64?", "text": "string?"})
    session = sd.AceroSession(
        {
            "orders": str(tmp_path / "orders.parquet"),
            "ids": pd.DataFrame({"id": [1, 2]}),
            ("shop", "ids"): pa.table({"text": pa.array(["x", None]).dictionary_encode(), "id": [5, 6]}),
        }
    )
    joined = ORDERS.select("note", key=lambda o: o.id).join(ids, lambda o, i: o.key == i.id)
    assert joined.select("id").sort("id").collect(session) == [(1,), (2,)]
    assert named.collect(session) == [(5, "x"), (6, None)]
    given = {"ids": pa.table({"id": [9]})}
    assert ids.collect(session, tables=given) == [(9,)]
    assert ids.collect(session) == [(1,), (2,)]
    assert ids.collect(sd.AceroSession(), tables=given) == [(9,)]


def test_functions_of_columns_and_constants(session: sd.AceroSession) -> None:
    """Over arrays in several parts, of no rows, and with more rows than a batch has; the values by hand."""
    texts = sd.read_named("texts", {"t": "string?", "p": "string?", "n": "i32?"})
    query = texts.select(
        a=lambda r: f.like(r.t, "%b_%c%"),
        b=lambda r: f.like(r.t, r.p),
        c=lambda r: f.substring(r.t, -3, 2),
        d=lambda r: f.substring(r.t, r.n),
        e=lambda r: f.strpos(r.t, r.p),
        g=lambda r: f.starts_with(r.t, r.p),
        h=lambda r: f.upper(f.trim(r.t, "\n ")),
    )
    parts = pa.table({"t": ["b\nxc", None], "p": ["%c", "%"], "n": pa.array([2, 1], pa.int32())})
    more = pa.table({"t": ["😊b😊c😊"], "p": ["😊"], "n": pa.array([-1], pa.int32())})
    expected = [
        (True, True, "\nx", "\nxc", 0, False, "B\nXC"),
        (None, None, None, None, None, None, None),
        (True, False, "😊c", "😊", 1, True, "😊B😊C😊"),
    ]
    chunked = pa.concat_tables([parts, more.slice(0, 0), more])
    assert query.collect(session, tables={"texts": chunked}) == expected
    assert query.collect(session, tables={"texts": chunked.slice(0, 0)}) == []
    many = pa.concat_tables([pa.concat_tables([chunked] * 15_000).combine_chunks()] * 2)
    counted = query.group_by("a", "b", "e").agg(n=f.count())
    assert sorted(counted.collect(session, tables={"texts": many}), key=repr) == [
        (None, None, None, 30_000), (True, False, 1, 30_000), (True, True, 0, 30_000),
    ]  # fmt: skip


def test_a_session_in_another_process_registers_the_functions_there(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pickle.loads(pickle.dumps(sd.AceroSession({"orders": ROWS})))
    monkeypatch.setattr(acero, "_registered", False)
    assert LIKE.collect(made) == [(1,)]
    assert acero.are_acero_functions_registered()


def test_queries_in_several_threads(session: sd.AceroSession) -> None:
    found: list[Any] = []
    query = ORDERS.filter(lambda o: f.like(o.note, "%special%requests%")).select("id")
    threads = [threading.Thread(target=lambda: found.append(query.collect(session))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [[(1,)]] * 8


REFUSED: dict[str, tuple[Any, type[SubstraitDslError], tuple[str, ...]]] = {
    "no dict": (lambda _: sd.AceroSession(5), InvalidArgumentError, ("AceroSession", "got 5")),  # type: ignore[arg-type]  # wrong
    "no table": (lambda _: sd.AceroSession({"a": 5}), InvalidArgumentError, ("AceroSession", 'table "a"', "got 5")),
    "no name": (lambda _: sd.AceroSession({3: ROWS}), InvalidArgumentError, ("AceroSession", "tuple of str: 3")),
    "twice": (
        lambda _: sd.AceroSession({"a": ROWS, ("a",): ROWS}), InvalidArgumentError, ("AceroSession", 'table "a" twice'),
    ),
    "no file": (lambda _: sd.AceroSession({"a": "none.parquet"}), ExecutionError, ("AceroSession", "no file")),
    "a table that is not there": (
        lambda session: sd.read_named("order", {"id": "i64"}).collect(session),
        ExecutionError, ("collect", 'there is no table "order"', 'did you mean "orders"?'),
    ),
    "a column of another type": (
        lambda session: sd.read_named("orders", {"id": "i32"}).collect(session),
        SchemaError, ("collect", 'column "id" is int64, declared i32'),
    ),
    "NULL": (
        lambda session: sd.read_named("orders", {"note": "string"}).collect(session),
        ExecutionError, ("collect", 'column "note" is required, but it is NULL'),
    ),
    "a window": (
        lambda session: ORDERS.select(n=f.row_number().over(order_by="id")).collect(session),
        UnsupportedError, ("collect", "Acero 26", "row_number"),
    ),
    "an option": (
        lambda session: ORDERS.select(s=lambda o: f.substring(o.note, 0, 1, negative_start="ERROR")).collect(session),
        UnsupportedError, ("collect", "Acero 26 does not compute substring with negative_start=ERROR"),
    ),
    "a text that is too long": (
        lambda session: ORDERS.select(s=lambda o: f.repeat(o.note, 2**40)).collect(session),
        ExecutionError, ("collect", "Acero fails", "too long a text"),
    ),
    "an access": (lambda session: ORDERS.collect(session, allow=()), NotAllowedError, ("collect", "read table orders")),
    "its plan": (lambda session: ORDERS.explain(session), UnsupportedError, ("explain", "Acero does not explain")),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, session: sd.AceroSession) -> None:
    run, error, words = REFUSED[case]
    with refused(error, *words):
        run(session)


LIKE = ORDERS.filter(lambda o: f.like(o.note, "%a%b%")).select("id")


def test_bytes_are_written_where_the_functions_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` says that they are needed, before and behind; plans that call none are written anyway."""
    monkeypatch.setattr(acero, "_registered", False)
    plain = ORDERS.filter(lambda o: f.like(o.note, "a%b") & f.contains(o.note, "c")).to_plan()
    assert plain.to_bytes(engine="acero")
    assert "registered-function" not in {each.code for each in plain.check("acero").findings}
    for relation, keys in (
        (LIKE, {"like:str_str"}),
        (ORDERS.select(a=lambda o: f.substring(o.note, 1, 2)), {"substring:str_i32_i32"}),
        (ORDERS.aggregate(n=lambda o: f.max(f.strpos(o.note, "a")), m=lambda o: f.count(f.upper(o.note))),
         {"strpos:str_str", "upper:str"}),
    ):  # fmt: skip
        report = relation.check("acero")
        found = [each for each in report.findings if each.code == "registered-function"]
        assert report.verdict == "runs lowered"
        assert {each.why.split("there: ")[1] for each in found if not each.is_refused} == keys
        with refused(UnsupportedError, "to_bytes", *keys, "register_acero_functions"):
            relation.to_plan().to_bytes(engine="acero")
        sd.register_acero_functions()
        sd.register_acero_functions()
        assert relation.to_plan().to_bytes(engine="acero") == relation.to_plan().to_bytes(engine="acero")
        assert relation.check("acero") == report
        monkeypatch.setattr(acero, "_registered", False)


def test_another_version_of_pyarrow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pa, "__version__", "27.0.0")
    for call in (sd.AceroSession, sd.register_acero_functions):
        with refused(UnsupportedError, call.__name__, "pyarrow 26", "pyarrow 27.0.0", "pip install 'pyarrow==26.*'"):
            call()


NUMBERS: Any = sd.read_named(
    "numbers", {"b": "i8?", "k": "i64?", "x": "fp64?", "d": "decimal<10,2>?", "e": "decimal<38,0>?", "t": "string?"}
)
VALUES = pa.table(
    {
        "b": pa.array([-128, 127, None, -7], pa.int8()),
        "k": [-(2**63), 1, None, 7],
        "x": [math.inf, -0.0, None, -1.0],
        "d": pa.array([Decimal("-1.50"), Decimal("99999999.99"), None, Decimal("-99999999.99")], pa.decimal128(10, 2)),
        "e": pa.array([Decimal(1 - 10**38), Decimal(0), None, Decimal(5)], pa.decimal128(38, 0)),
        "t": ["aé😊", "e\u0301b", None, ""],
    }
)
WITHOUT_REGISTERED: dict[str, tuple[Any, list[Any]]] = {
    "char_length": (lambda r: f.char_length(r.t), [3, 3, None, 0]),
    "octet_length": (lambda r: f.octet_length(r.t), [7, 4, None, 0]),
    "bit_length": (lambda r: f.bit_length(r.t), [56, 32, None, 0]),
    "reverse": (lambda r: f.reverse(r.t), ["😊éa", "b\u0301e", None, ""]),
    "modulus": (lambda r: f.modulus(r.k, 7), [-1, 1, None, 0]),
    "modulus of the least": (lambda r: f.modulus(r.k, -(2**63)), [0, 1, None, 7]),
    "modulus by a negative": (lambda r: f.modulus(r.b, sd.lit(-3, "i8")), [-2, 1, None, -1]),
    "abs": (lambda r: f.abs(r.d), [Decimal("1.50"), Decimal("99999999.99"), None, Decimal("99999999.99")]),
    "abs of all digits": (lambda r: f.abs(r.e), [Decimal(10**38 - 1), Decimal(0), None, Decimal(5)]),
    "abs, computed with": (
        lambda r: f.abs(r.d) + r.d,
        [Decimal("0.00"), Decimal("199999999.98"), None, Decimal("0.00")],
    ),
    "bitwise_not": (lambda r: f.bitwise_not(r.k), [2**63 - 1, -2, None, -8]),
    "bitwise_not of the least": (lambda r: f.bitwise_not(r.b), [127, -128, None, 6]),
    "is_infinite": (lambda r: f.is_infinite(r.x), [True, False, None, False]),
    "sqrt": (lambda r: f.sqrt(r.x * r.x), [math.inf, 0.0, None, 1.0]),
    "sqrt of less than zero": (lambda r: f.is_nan(f.sqrt(r.x, on_domain_error="NAN")), [False, False, None, True]),
}


@pytest.mark.parametrize("case", WITHOUT_REGISTERED)
def test_functions_that_acero_has_itself(case: str) -> None:
    """Also as keys of groups and of joins, which must be of types that it knows."""
    make, expected = WITHOUT_REGISTERED[case]
    session = sd.AceroSession({"numbers": VALUES})
    column = NUMBERS.select(v=make)
    assert column.execute(session)["v"].to_pylist() == expected
    assert "registered-function" not in {each.code for each in column.check("acero").findings}
    groups = {value: expected.count(value) for value in expected}
    assert dict(column.group_by("v").agg(n=f.count()).collect(session)) == groups
    joined = column.join(column.rename(v="w"), lambda a, b: a.v == b.w)
    assert len(joined.collect(session)) == sum(count**2 for value, count in groups.items() if value is not None)


TIMESTAMPS = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999000), dt.datetime(2020, 1, 1), dt.datetime(1, 1, 1), None,
    dt.datetime(9999, 12, 31, 23, 59, 59, 1000), dt.datetime(1900, 2, 28, 1, 2, 3), dt.datetime(2020, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("precision", [3, 6])
@pytest.mark.parametrize("zone", [None, dt.UTC], ids=["without a zone", "in a zone"])
def test_points_in_time(zone: dt.timezone | None, precision: int) -> None:
    """Compared to constants, grouped, joined, sorted and as extremes, of which Acero itself reads no constants."""
    kind = f"precision_timestamp{'_tz' if zone else ''}<{precision}>"
    timestamps = [None if each is None else each.replace(tzinfo=zone) for each in TIMESTAMPS]
    known = [each for each in timestamps if each is not None]
    table: Any = sd.read_named("timestamps", {"m": f"{kind}?"})
    session = sd.AceroSession({"timestamps": pa.table({"m": pa.array(timestamps)}).cast(table.schema.to_arrow())})

    def values(relation: Any) -> list[Any]:
        made: list[Any] = relation.execute(session).column(0).to_pylist()
        return made

    for constant in known:
        given = sd.lit(constant, kind)
        filled = [constant if each is None else each for each in timestamps]
        either = table.select(v=lambda r, given=given: f.coalesce(r.m, given))
        cases: list[tuple[Any, list[Any]]] = [
            (table.filter(lambda r, given=given: r.m > given), [each for each in known if each > constant]),
            (table.filter(lambda r, given=given: r.m == given), [each for each in known if each == constant]),
            (table.filter(lambda r, given=given: r.m.is_in([given])), [each for each in known if each == constant]),
            (table.select(v=given), [constant] * len(timestamps)),
            (either, filled),
            (either.distinct(), list(set(filled))),
            (either.aggregate(v=lambda r: f.max(r.v)), [max(filled)]),
            (either.aggregate(v=lambda r: f.min(r.v)), [min(filled)]),
            (
                either.join(table, lambda a, b: a.v == b.m),
                [a for a in filled for b in known if a == b],
            ),
        ]
        for relation, expected in cases:
            assert Counter(values(relation)) == Counter(expected)
        assert values(either.sort("v")) == sorted(filled)
    assert values(table.select(v=sd.null(kind))) == [None] * len(timestamps)


QUICK = ("q04", "q06", "q11", "q12", "q13", "q14", "q15", "q16", "q19", "q22")
"""Queries of TPC-H that take less than a second at scale 0.1, those with functions that are registered among them."""


@pytest.fixture(scope="module")
def tpch_session(tpch_folder: Path) -> sd.AceroSession:
    return sd.AceroSession({name: tpch_folder / f"{name}.parquet" for name in TABLES})


@pytest.mark.parametrize("tpch_folder", [0.1], indirect=True)
@pytest.mark.parametrize("name", QUICK)
def test_queries_of_tpch_have_the_rows_of_their_sql_text(
    name: str, tpch_session: sd.AceroSession, tpch_in_duckdb: DuckDBPyConnection
) -> None:
    require_rows_of_query(name, QUERIES[name]().collect(tpch_session), tpch_in_duckdb)


PROGRAM = """
import pyarrow as pa, pyarrow.compute as pc, pyarrow.substrait as ps
import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.engines.registered import registered_name

def tried(run):
    try:
        print(run())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])

rows = pa.table({"t": ["xab", "b"]})
plan = sd.read_named("rows", {"t": "string?"}).filter(lambda r: f.like(r.t, "%a%b%")).to_plan()
tried(lambda: plan.to_bytes(engine="acero"))
from substrait_dsl.consumers import acero
acero._registered = True
data = plan.to_bytes(engine="acero")
acero._registered = False
tried(lambda: ps.run_query(pa.py_buffer(data), table_provider=lambda *_: rows).read_all())
sd.register_acero_functions()
tried(lambda: ps.run_query(pa.py_buffer(data), table_provider=lambda *_: rows).read_all().to_pylist())
from importlib import reload
reload(acero).register_acero_functions()
tried(lambda: plan.to_bytes(engine="acero") == data)
"""

OTHER = """
import pyarrow as pa, pyarrow.compute as pc
import substrait_dsl as sd
from substrait_dsl.engines.registered import registered_name

name = registered_name("upper:str")
pc.register_scalar_function(lambda _, t: t, name, {"summary": "", "description": ""}, {"t": pa.string()}, pa.string())
try:
    sd.AceroSession()
except sd.SubstraitDslError as error:
    print(error)
"""


WITHOUT = """
import sys
sys.modules["pyarrow"] = None
import substrait_dsl as sd

try:
    sd.AceroSession()
except sd.SubstraitDslError as error:
    print(error)
"""


def lines(program: str) -> list[str]:
    """What a program prints in a process of its own, whose registry is as pyarrow has it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.splitlines()


def test_a_process_that_has_not_registered_the_functions() -> None:
    """It writes no bytes that call them, gives an error for such bytes of others, and has them once for all."""
    refusal, error, rows, same = lines(PROGRAM)
    assert refusal.startswith("UnsupportedError to_bytes: the bytes would call functions that Acero 26 has only once")
    assert error.startswith("ArrowKeyError No function registered with name: substrait_dsl.like_str_str")
    assert (rows, same) == ("[{'t': 'xab'}]", "True")


def test_a_function_of_another_that_has_the_name_is_refused() -> None:
    (error,) = lines(OTHER)
    assert error == "AceroSession: pyarrow has another function of the name substrait_dsl.upper_str"


def test_without_pyarrow_the_line_to_install_it() -> None:
    error, hint = lines(WITHOUT)
    assert error == "AceroSession: Arrow data needs pyarrow, which is not installed"
    assert "pip install" in hint
