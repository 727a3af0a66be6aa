"""What `check` says of Spark and of Sail, and what happens on them: what is let through is right."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from substrait_dsl import functions
from substrait_dsl.errors import InvalidChoiceError, UnsupportedError
from substrait_dsl.fluent.session_checks import NAMES
from substrait_dsl.spark.session.servers import ENGINES
from tests.differential.engines import duckdb_engine, spark_engines
from tests.differential.tables import TABLES, rows
from tests.engines.corpus_forms import chain
from tests.engines.session_outcomes import NOTHING_SAYS, outcomes
from tests.engines.test_verdicts import CORPUS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

f: Any = functions
T = sd.read_named("t", {"k": "i64?", "a": "i32", "s": "string?", "m": "precision_timestamp<6>?"})
U = sd.read_named("u", {"k": "i64?", "b": "i32"})


def test_the_engines_are_those_that_sessions_are_made_for() -> None:
    assert NAMES == ENGINES


@pytest.mark.parametrize("engine", NAMES)
def test_queries_run(engine: str) -> None:
    assert {name: str(query().check(engine)) for name, query in QUERIES.items() if not query().check(engine)} == {}


def test_a_check_needs_no_pyspark() -> None:
    program = """
import sys
sys.modules.update(dict.fromkeys(("pyspark", "py4j", "pysail"), None))
import substrait_dsl as sd
orders = sd.read_named("orders", {"id": "i64", "day": "date"})
lines = sd.read_named("lines", {"id": "i64"})
both = orders.filter(lambda o: sd.exists(lines.filter(lambda l: l.id == o.id))).top_n(1, "day")
print(*(report.verdict for report in sd.check_all(both, ["spark", "sail"]).reports.values()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "runs runs\n"


REFUSED: dict[str, tuple[Any, str, str, str, str]] = {
    "a cast": (
        lambda: T.select("k", c=lambda t: t.m.cast("precision_timestamp<3>?")), "spark",
        "cast", "rejected", "project -> c: precision_timestamp<3>? = cast(m as precision_timestamp<3>?)",
    ),
    "a function": (
        lambda: T.filter(lambda t: f.asinh(t.a.cast("fp64")) > 0), "sail",
        "function", "rejected", "filter asinh(cast(a as fp64)) > 0.0",
    ),
    "a write": (lambda: T.write("copy", op="ctas"), "spark", "session", "unspecified", "write ctas as copy"),
    "a write on Sail": (lambda: T.write("copy", op="ctas"), "sail", "no-form", "rejected", "write ctas as copy"),
    "a subquery in a subquery": (
        lambda: T.filter(
            lambda t: sd.exists(U.filter(lambda u: sd.exists(U.filter(lambda v: (v.k == u.k) & (v.b == t.a)))))
        ), "spark", "session", "unspecified", "filter exists",
    ),
    "a default": (
        lambda: T.select("k", v=lambda t: f.lag(t.a, 1, t.a).over(order_by="k")), "sail",
        "function", "rejected", "project -> v",
    ),
    "an exchange": (lambda: T.exchange(sd.round_robin(exact=True)), "sail", "no-form", "rejected", "exchange round"),
    "files": (
        lambda: sd.read_files("x.dwrf", {"k": "i64?"}, format=sd.Dwrf()), "spark", "no-form", "rejected", "read",
    ),
    "a parameter": (
        lambda: T.filter(lambda t: t.a > sd.parameter(1, "i32")), "spark", "no-form", "rejected", "filter a > ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_why_a_plan_is_refused(name: str) -> None:
    make, engine, code, severity, step = REFUSED[name]
    report = make().check(engine)
    assert (report.verdict, len(report.findings)) == ("refused", 1), report
    (finding,) = report.findings
    assert (finding.code, finding.severity) == (code, severity)
    assert finding.step.startswith(step)


def test_all_that_is_refused_is_found() -> None:
    """One finding for each kind, in the steps that it stands in, and a step of which nothing is known goes on."""
    report = (
        T.select("k", c=lambda t: t.m.cast("precision_timestamp<3>?"))
        .filter(lambda t: t.k > 1)
        .select(d=lambda t: t.k.cast("interval_year?"))
        .check("spark")
    )
    assert [finding.code for finding in report.findings] == ["cast", "cast"]


def test_settings_that_a_session_needs() -> None:
    moments = sd.read_named("t", {"m": "precision_timestamp_tz<6>"}).select(d=lambda t: t.m.cast("string"))
    (finding,) = moments.check("spark").findings
    assert (finding.code, finding.is_refused, moments.check("spark").verdict) == ("setting", False, "runs")
    assert 'spark.conf.set("spark.sql.session.timeZone", "UTC")' in finding.why


@pytest.mark.parametrize("engine", ["spark", "sail", "spark-4", "sail-0.7"])
def test_no_bytes_are_written_for_a_session(engine: str) -> None:
    plan = T.to_plan()
    for call in (lambda: plan.to_bytes(engine=engine), lambda: plan.lower(engine)):
        with pytest.raises(UnsupportedError, match="takes no Substrait plans") as caught:
            call()
        assert caught.value.hint is not None
        assert "plan.execute(session)" in caught.value.hint
    assert plan.check(engine).engine == {"spark": "spark-4", "sail": "sail-0.7"}[engine.partition("-")[0]]


@pytest.mark.parametrize(("name", "hint"), [("sprak", "spark"), ("spark-3", "spark-4"), ("sail-0.6", "sail-0.7")])
def test_names_of_engines_are_suggested(name: str, hint: str) -> None:
    with pytest.raises(InvalidChoiceError) as caught:
        T.check(name)
    assert caught.value.hint == f'did you mean "{hint}"?'


def test_expressions_alone_have_no_session() -> None:
    with pytest.raises(UnsupportedError, match="expressions alone"):
        sd.ExtendedExpression({"a": "i64"}, x=lambda r: r.a + 1).check("spark")


def test_the_cost_of_a_check_grows_with_the_steps() -> None:
    """Four times the steps take at most eight times as long; were it quadratic, they would take sixteen times."""
    small, large = (chain(steps).to_plan() for steps in (100, 400))

    def least(plan: sd.Plan) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            assert plan.check("spark")
            times.append(time.process_time() - start)
        return min(times)

    assert least(large) <= 8 * least(small)


# --- what happens

LOUD = {
    "first_value": "it is declared never to be NULL, and is NULL here: an error by name on every engine",
    "cast reals.x to decimal<10,2>?": "Sail rounds some floats otherwise, and these are an error by name",
}
"""The plans that fail for values of their tables."""

OPEN = {
    "struct, less": "whether a NULL field is the least or the greatest, the specification leaves open: DuckDB differs",
    "cast reals.x to string?": "the form of a float's text the specification leaves open: DuckDB has inf for Infinity",
}
"""The plans whose rows the judge does not know."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that one of the plans reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": [1, None]}), "x.parquet")


def with_lists(session: SparkSession) -> SparkSession:
    """The session with the table of lists, which only one of the plans reads."""
    sd.read_virtual([([1, 2],), ([],)], {"xs": "list<i32>"}).execute(session).createOrReplaceTempView("lists")
    return session


def require_right(happened: dict[str, str], least: int) -> None:
    wrong = {name: what for name, what in happened.items() if what != "right" and NOTHING_SAYS not in what}
    wrong = {name: what for name, what in wrong.items() if name not in OPEN}
    assert {name: what for name, what in wrong.items() if name not in LOUD} == {}
    assert [what for what in wrong.values() if not what.startswith("rejected")] == []
    assert list(happened.values()).count("right") >= least


def test_what_is_let_through_is_right_on_sail(sail: SparkSession, duckdb: None, files: None) -> None:
    for name, (columns, _) in TABLES.items():
        sd.read_virtual(rows(name), columns).execute(sail).createOrReplaceTempView(name)
    with_lists(sail).conf.set("spark.sql.timeType.enabled", "true")
    require_right(dict(outcomes(CORPUS, "sail", sail, duckdb_engine())), least=330)


EVERY = 5
"""Of so many plans one runs on Spark: each takes a third of a second there."""


def test_what_is_let_through_is_right_on_spark(spark: SparkSession, duckdb: None, files: None, tmp_path: Path) -> None:
    (session,) = spark_engines(spark, tmp_path, [("cache", True)])
    with_lists(session)
    session.conf.set("spark.sql.timeType.enabled", "true")
    names = list(CORPUS)[::EVERY]
    require_right(dict(outcomes(names, "spark", session, duckdb_engine())), least=len(names) * 9 // 10)
