"""Files in folders that are named after values: where they lie, and that they are read back as the same rows."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from decimal import Decimal
from math import inf, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.spark.rows import collected, counted, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = dt.date(2024, 5, 1)
COLUMNS = {"id": "i64", "day": "date", "region": "string?"}
ROWS = [(1, DAY, "EU"), (2, DAY, "US"), (3, dt.date(2024, 5, 2), "EU"), (4, DAY, None), (5, DAY, "EU")]


def folders_in(path: Path) -> set[str]:
    """The folders with files in them."""
    return {str(file.parent.relative_to(path)) for file in path.rglob("part-*")}


def test_rows_lie_in_the_folders_of_their_values(tmp_path: Path, spark: SparkSession) -> None:
    out = tmp_path / "out"
    target = sd.files_target(f"{out}/{{day}}/{{region}}", "parquet")
    made = values(COLUMNS, *ROWS).write(target, "ctas", output="modified_records")
    assert counted(made, spark) == Counter(ROWS)
    assert folders_in(out) == {
        "day=2024-05-01/region=EU",
        "day=2024-05-01/region=US",
        "day=2024-05-02/region=EU",
        "day=2024-05-01/region=__HIVE_DEFAULT_PARTITION__",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    files = [pq.ParquetFile(file) for file in (out / "day=2024-05-01" / "region=EU").glob("*.parquet")]
    assert sorted(row["id"] for file in files for row in file.read().to_pylist()) == [1, 5]
    assert {tuple(file.schema_arrow.names) for file in files} == {("id",)}
    read: Any = sd.read_files(out, COLUMNS, kind="folder")
    assert counted(read, spark) == Counter(ROWS)
    assert counted(read.filter(lambda r: (r.day == DAY) & (r.region == "EU")).select("id"), spark) == Counter(
        [(1,), (5,)]
    )
    values(COLUMNS, (6, DAY, "EU")).write(target).execute(spark)
    assert counted(read, spark) == Counter([*ROWS, (6, DAY, "EU")])
    with refused(ExecutionError, "execute", "out"):
        values(COLUMNS, *ROWS).write(target, "ctas").execute(spark)


def test_a_plan_that_was_read_writes_to_the_same_folders(tmp_path: Path, spark: SparkSession) -> None:
    plan = values(COLUMNS, *ROWS).write(sd.files_target(f"{tmp_path}/out/{{region}}"), "ctas").to_plan()
    sd.Plan.from_json(sd.Plan.from_bytes(plan.to_bytes()).to_json()).execute(spark)
    assert folders_in(tmp_path / "out") == {"region=EU", "region=US", "region=__HIVE_DEFAULT_PARTITION__"}


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_all_folders_are_replaced(mode: str, tmp_path: Path, spark: SparkSession) -> None:
    setting = "spark.sql.sources.partitionOverwriteMode"
    before = spark.conf.get(setting)
    target = sd.files_target(f"{tmp_path}/out/{{region}}")
    read: Any = sd.read_files(tmp_path / "out", COLUMNS, kind="folder")
    try:
        spark.conf.set(setting, mode)
        values(COLUMNS, *ROWS).write(target, "ctas").execute(spark)
        late = read.filter(lambda r: r.id > 2).with_columns(region=lambda r: f.coalesce(r.region, "none"))
        late.write(target, "ctas", create_mode="replace_if_exists").execute(spark)
        assert folders_in(tmp_path / "out") == {"region=EU", "region=none"}
        assert sorted(collected(read.select("id"), spark)) == [(3,), (4,), (5,)]
        empty = read.filter(lambda r: r.id > 3).with_columns(region=sd.lit(""))
        with refused(ExecutionError, 'column "region"', "would make this value NULL"):
            empty.write(target, "ctas", create_mode="replace_if_exists").execute(spark)
        assert sorted(collected(read.select("id"), spark)) == [(3,), (4,), (5,)]
    finally:
        spark.conf.set(setting, str(before))


TEXTS = [
    "..", ".", "../x", "/etc", "a/b", "a\\b", "C:\\x", "%", "%2F", "%C3%A9", "{d}", "{", "}", "{{", "é", "É",
    "e\u0301", "日本", "😀", "\x85", " ", "  a ", "a=b", "_x", ".x", "k\nl", "\x01", "\x7f", "*?[]^", "'\"", "#", "~",
    "NULL", "null", "01", "1", "2024-01-01", "true", "a" * 200, None,
]  # fmt: skip
"""What a path, a pattern, a URI or a guess of types would take for something else."""


@pytest.mark.parametrize("format", ["parquet", "orc", "csv"])
def test_texts_stay_what_they_are(format: Any, tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "around").mkdir()
    columns = {"id": "string", "s": "string?", "v": "string"}
    rows = [(str(number), text, f"v{number}") for number, text in enumerate(TEXTS)]
    out = tmp_path / "around" / "out"
    values(columns, *rows).write(sd.files_target(out / "{s}", format), "ctas").execute(spark)
    assert [path.name for path in tmp_path.iterdir()] == ["around"]
    assert [path.name for path in (tmp_path / "around").iterdir()] == ["out"]
    assert len(folders_in(out)) == len(TEXTS)
    kind = sd.DelimitedText(header_lines_to_skip=1, null_value="no text") if format == "csv" else format
    assert counted(sd.read_files(out, columns, format=kind, kind="folder"), spark) == Counter(rows)


TYPES: list[tuple[str, list[Any]]] = [
    ("boolean", [True, False]),
    ("i8", [1, -128]),
    ("i16", [-32768]),
    ("i32", [0, 7]),
    ("i64", [2**63 - 1, -(2**63)]),
    ("fp32", [0.5, -0.0, 0.0, inf]),
    ("fp64", [0.1, -0.0, 0.0, 1e308, 5e-324, -inf, nan]),
    ("date", [dt.date(1000, 1, 1), dt.date(9999, 12, 31), dt.date(1582, 10, 10)]),
    ("decimal<38,10>", [Decimal("0.0000000001"), Decimal("-1234567890123456789012345678.0000000001"), Decimal(0)]),
    ("decimal<5,0>", [Decimal(12)]),
    ("varchar<3>", ["abc", "a"]),
    ("fixedchar<3>", ["abc", "1  "]),
    ("uuid", [uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")]),
    ("precision_timestamp<6>", [dt.datetime(2024, 1, 1, 1, 2, 3, 4), dt.datetime(1000, 1, 1)]),
    ("precision_timestamp<3>", [dt.datetime(2024, 1, 1, 1, 2, 3, 4000)]),
    ("precision_timestamp_tz<6>", [dt.datetime(2024, 1, 1, 1, 2, 3, 4, tzinfo=dt.UTC)]),
]


def shown(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose zeros are told apart, and whose NaN equals itself."""
    return tuple(repr(part) if isinstance(part, float) and (part == 0 or isnan(part)) else part for part in row)


@pytest.mark.parametrize(("kind", "column"), TYPES, ids=[kind for kind, _ in TYPES])
def test_values_of_each_type_are_read_back(kind: str, column: list[Any], tmp_path: Path, spark: SparkSession) -> None:
    rows = [(number, value) for number in range(2) for value in (*column, None)]  # each value in two places
    columns = {"id": "i64", "v": f"{kind}?"}
    written = values(columns, *rows)
    written.write(sd.files_target(tmp_path / "out" / "{v}"), "ctas").execute(spark)
    assert len(folders_in(tmp_path / "out")) == len(column) + 1
    found = Counter(map(shown, collected(sd.read_files(tmp_path / "out", columns, kind="folder"), spark)))
    assert found == Counter(map(shown, collected(written, spark)))


@pytest.mark.parametrize("kind", ["precision_time<6>?", "interval_year?", "interval_day<6>?", "u!u8?"])
def test_types_that_names_do_not_give_back_are_refused(kind: str, tmp_path: Path, spark: SparkSession) -> None:
    rows = values({"id": "i64", "v": kind}, (1, None))
    with refused(UnsupportedError, "execute", 'named after column "v"', "do not give back", "cast"):
        rows.write(sd.files_target(tmp_path / "out" / "{v}"), "ctas").execute(spark)
    assert not (tmp_path / "out").exists()


def test_points_in_time_need_a_session_of_utc(tmp_path: Path, spark: SparkSession) -> None:
    rows = values({"id": "i64", "v": "precision_timestamp_tz<6>"}, (1, dt.datetime(2024, 1, 1, tzinfo=dt.UTC)))
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        with refused(UnsupportedError, 'named after column "v", of timestamps', "Europe/Berlin"):
            rows.write(sd.files_target(tmp_path / "out" / "{v}"), "ctas").execute(spark)
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))


@pytest.mark.parametrize("text", ["", "__HIVE_DEFAULT_PARTITION__", "a\0b"])
def test_texts_that_no_name_has_are_errors(text: str, tmp_path: Path, spark: SparkSession) -> None:
    rows = values({"id": "i64", "s": "string"}, (1, "x"), (2, text))
    with refused(ExecutionError, "execute", 'column "s" tells partitions apart'):
        rows.write(sd.files_target(tmp_path / "out" / "{s}"), "ctas").execute(spark)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a.b", "`k", "_x", "a/b", "é", "A b", "x=y", "k'", "a\\b", "c0", "d0"])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_names_of_columns(name: str, format: Any, tmp_path: Path, spark: SparkSession) -> None:
    columns = {"c1": "string", name: "string", "v": "string"}
    values(columns, ("1", "2", "3")).write(sd.files_target(f"{tmp_path}/out/{{{name}}}", format), "ctas").execute(spark)
    assert collected(sd.read_files(tmp_path / "out", columns, format=format, kind="folder"), spark) == [("1", "2", "3")]


def test_names_that_spark_passes_over_are_refused(tmp_path: Path, spark: SparkSession) -> None:
    rows = values({".x": "i64", "v": "i64"}, (1, 2))
    with refused(UnsupportedError, "execute", '".x" are not read', "begin with _ or ."):
        rows.write(sd.files_target(tmp_path / "out" / "{.x}"), "ctas").execute(spark)


def test_a_read_of_columns_in_braces_is_told_the_folder(tmp_path: Path, spark: SparkSession) -> None:
    values(COLUMNS, *ROWS).write(sd.files_target(tmp_path / "out" / "{day}"), "ctas").execute(spark)
    with refused(ExecutionError, "nothing to read", 'the folder around those named after columns, with kind="folder"'):
        sd.read_files(tmp_path / "out" / "{day}", COLUMNS).execute(spark)


def test_other_engines_read_the_folders(duckdb: None, tmp_path: Path, spark: SparkSession) -> None:
    import duckdb as engine

    rows = [(1, DAY, "a/b"), (2, DAY, "é {x} 100%"), (3, dt.date(1582, 10, 10), "=?#"), (4, DAY, None)]
    values(COLUMNS, *rows).write(sd.files_target(f"{tmp_path}/out/{{day}}/{{region}}"), "ctas").execute(spark)
    with engine.connect() as connection:
        found = connection.execute(
            f"SELECT id, day, region FROM read_parquet('{tmp_path}/out/**/*.parquet', hive_partitioning = true, "
            "hive_types = {'day': DATE, 'region': VARCHAR}) ORDER BY id"
        ).fetchall()
    assert found == rows
