"""Texts that are no values of their types: the hint for each is followed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import everyday
from substrait_dsl import functions as f
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.support import refused


def lines(folder: Path, text: str, schema: Any, **options: Any) -> sd.Relation[Any]:
    (folder / "in.csv").write_text(text, encoding="utf-8")
    return sd.read_csv(folder / "in.csv", schema, **options)


V: Any = sd.col("x")
BEHIND = '; in a column that is nullable, invalid="null" gives NULL there'
FOLLOWED: list[tuple[str, str, str, dict[str, Any], Any, Any]] = [
    ("i64?", "NA", 'read_csv(..., null_value="NA") reads that text as NULL', {"null_value": "NA"}, V, None),
    (
        "i64",
        "12.50",
        'it has digits after the point: declare it "decimal<21,2>" or "fp64"',
        {"x": "decimal<21,2>"},
        V,
        Decimal("12.5"),
    ),
    ("i32?", "3.0", 'declare it "decimal<20,1>?" or "fp64?"', {"x": "fp64?"}, V, 3.0),
    ("i32", "3000000000", 'it is beyond i32: declare it "i64"', {"x": "i64"}, V, 3 * 10**9),
    ("i64", f"{2**63}", 'it is beyond i64: declare it "decimal<38,0>"', {"x": "decimal<38,0>"}, V, Decimal(2**63)),
    ("decimal<9,2>", "1.239", 'declare it "decimal<10,3>" or "fp64"', {"x": "decimal<10,3>"}, V, Decimal("1.239")),
    (
        "decimal<9,2>",
        "12,50",
        'declare it "string", and compute the value of col("x"): functions.replace(col("x"), ",", ".")'
        '.cast("decimal<9,2>")',
        {"x": "string"},
        f.replace(V, ",", ".").cast("decimal<9,2>"),
        Decimal("12.5"),
    ),
    (
        "fp64?",
        "1.080,5",
        'declare it "string?", and compute the value of col("x"): '
        'functions.replace(functions.replace(col("x"), ".", ""), ",", ".").cast("fp64?")',
        {"x": "string?"},
        f.replace(f.replace(V, ".", ""), ",", ".").cast("fp64?"),
        1080.5,
    ),
    (
        "fp64",
        "1,080.5",
        'functions.replace(col("x"), ",", "").cast("fp64")',
        {"x": "string"},
        f.replace(V, ",", "").cast("fp64"),
        1080.5,
    ),
    (
        "i64",
        "1,080",
        'functions.replace(col("x"), ",", "").cast("i64")',
        {"x": "string"},
        f.replace(V, ",", "").cast("i64"),
        1080,
    ),
    (
        "fp64",
        "1,080",
        'functions.replace(col("x"), ",", ".").cast("fp64"), or "" for "." if the comma separates thousands',
        {"x": "string"},
        f.replace(V, ",", "").cast("fp64"),
        1080.0,
    ),
    (
        "boolean",
        "on",
        'declare it "string", and compute the value of col("x"): col("x") == "on"',
        {"x": "string"},
        V == "on",
        True,
    ),
    (
        "date",
        "31.01.2026",
        'formats={"x": "%d.%m.%Y"}) reads it;',
        {"formats": {"x": "%d.%m.%Y"}},
        V,
        dt.date(2026, 1, 31),
    ),
    (
        "date",
        "01/31/2026",
        'formats={"x": "%m/%d/%Y"}) reads it;',
        {"formats": {"x": "%m/%d/%Y"}},
        V,
        dt.date(2026, 1, 31),
    ),
    (
        "date?",
        "02/01/2026",
        'formats={"x": "%d/%m/%Y"}) reads it, "%m/%d/%Y" if the month is first;',
        {"formats": {"x": "%m/%d/%Y"}},
        V,
        dt.date(2026, 2, 1),
    ),
    ("date", "20260131", 'formats={"x": "%Y%m%d"}) reads it;', {"formats": {"x": "%Y%m%d"}}, V, dt.date(2026, 1, 31)),
    (
        "precision_timestamp<6>",
        "31.01.2026 10:00",
        'formats={"x": "%d.%m.%Y %H:%M"}) reads it;',
        {"formats": {"x": "%d.%m.%Y %H:%M"}},
        V,
        dt.datetime(2026, 1, 31, 10),
    ),
    (
        "date",
        "2026-01-31 10:00:00",
        'declare it "precision_timestamp<6>", and cast it: col("x").cast("date")',
        {"x": "precision_timestamp<6>"},
        V.cast("date"),
        dt.date(2026, 1, 31),
    ),
    (
        "date?",
        "31/01/2026 10:00",
        'declare it "precision_timestamp<6>?", with formats={"x": "%d/%m/%Y %H:%M"}, and cast it: ',
        {"x": "precision_timestamp<6>?", "formats": {"x": "%d/%m/%Y %H:%M"}},
        V.cast("date"),
        dt.date(2026, 1, 31),
    ),
    (
        "precision_timestamp<6>",
        "2026-01-31 10:00:00Z",
        'a time with a zone is a "precision_timestamp_tz<6>"',
        {"x": "precision_timestamp_tz<6>"},
        f.local_timestamp(V, "UTC"),
        dt.datetime(2026, 1, 31, 10),
    ),
    (
        "precision_timestamp_tz<6>?",
        "2026-01-31 10:00:00",
        'a time without a zone is a "precision_timestamp<6>?"',
        {"x": "precision_timestamp<6>?"},
        V,
        dt.datetime(2026, 1, 31, 10),
    ),
]
"""Types, texts, what the hint says of these, what is declared then, what is computed of it, and its value."""


@pytest.mark.parametrize(("type_", "text", "said", "declared", "computed", "value"), FOLLOWED)
def test_the_hint_for_a_text_is_followed(
    type_: str, text: str, said: str, declared: dict[str, Any], computed: Any, value: Any, tmp_path: Path
) -> None:
    content = f'n,x\n1,"{text}"\n'
    with pytest.raises(ExecutionError) as caught:
        lines(tmp_path, content, {"n": "i64", "x": type_}).collect()
    assert said in f"{caught.value.hint}"
    assert str(caught.value.hint).endswith(BEHIND)
    arguments = {name: each for name, each in declared.items() if name != "x"}
    read = lines(tmp_path, content, {"n": "i64", "x": declared.get("x", type_)}, **arguments)
    assert read.select(x=computed).collect() == [(value,)]


@pytest.mark.parametrize(
    ("type_", "text"), [("i64", "many"), ("date", "2026-02-30"), ("date", "31/02/2026"), ("date", "2026-1-3")]
)
def test_of_other_texts_nothing_more_is_known(type_: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(ExecutionError) as caught:
        lines(tmp_path, f"x\n{text}\n", {"x": type_}).collect()
    assert str(caught.value.hint).startswith('in a column that is nullable, read_csv(..., invalid="null")')


@pytest.mark.parametrize(
    ("type_", "text", "said", "computed", "value"),
    [
        (
            "date",
            "31.01.2026",
            'everyday.to_date(x, "%d.%m.%Y") reads it; ',
            everyday.to_date(V, "%d.%m.%Y"),
            "2026-01-31",
        ),
        (
            "precision_timestamp<6>",
            "01/02/2026 10:00",
            'everyday.to_timestamp(x, "%d/%m/%Y %H:%M") reads it, "%m/%d/%Y %H:%M" if the month is first; ',
            everyday.to_timestamp(V, "%m/%d/%Y %H:%M"),
            "2026-01-02 10:00:00",
        ),
        ("i32", "1,200", 'functions.replace(x, ",", "").cast("i32"); ', f.replace(V, ",", "").cast("i32"), "1200"),
    ],
)
def test_the_hint_for_a_cast_of_a_text_is_followed(type_: str, text: str, said: str, computed: Any, value: str) -> None:
    rows = sd.read_virtual([(text,)], {"x": "string"})
    with refused(ExecutionError, text, said + 'cast(type, on_failure="return_null") gives NULL there'):
        rows.select(x=V.cast(type_)).collect()
    assert [str(each) for (each,) in rows.select(x=computed).collect()] == [value]


def test_a_time_without_a_zone_is_found_by_its_form(tmp_path: Path) -> None:
    """Sail shows the words behind it alone, and reads these as a zone."""
    text = "n,x\n1,2026-01-31 10:00:00Z\n2,\n3,2026-01-31 10:00:00\n"
    with refused(
        ExecutionError,
        f"collect: line 4 of {tmp_path}/in.csv, column \"x\": the text '2026-01-31 10:00:00' is not of the form "
        "%Y-%m-%d %H:%M:%S+00:00 (precision_timestamp_tz<6>)",
    ):
        lines(tmp_path, text, {"n": "i64", "x": "precision_timestamp_tz<6>?"}).collect()


def test_a_folder_without_folders_has_no_pattern(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="there is nothing to read") as caught:
        sd.read_csv(tmp_path, {"x": "i64"}).collect()
    assert caught.value.hint is None


def test_a_path_where_nothing_is_has_the_nearest_name_beside_it(tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / "orders.csv").write_text("x\n1\n")
    for path, folder, near in (("exports/order.csv", "/exports", "orders.csv"), ("export/orders.csv", "", "exports")):
        with refused(ExecutionError, "there is nothing to read", f'hint: in {tmp_path}{folder} is "{near}"'):
            sd.read_csv(tmp_path / path, {"x": "i64"}).collect()
        with refused(ExecutionError, "there is nothing to read", f'hint: in {tmp_path}{folder} is "{near}"'):
            sd.read_files(tmp_path / path, {"x": "string"}, format="csv").collect()
    with pytest.raises(ExecutionError, match="there is nothing to read") as caught:
        sd.read_files(tmp_path / "else.parquet", {"x": "i64"}).collect()
    assert caught.value.hint is None


def test_a_shared_relation_that_may_differ_each_time_is_refused() -> None:
    first = sd.shared(sd.read_virtual([(1,), (2,)], {"x": "i64"}).limit(1))
    with refused(
        UnsupportedError, "Sail computes a shared relation once for each use", 'local_session(engine="spark")'
    ):
        first.union_all(first).collect()


def test_a_text_of_another_format_is_what_the_error_says() -> None:
    rows = sd.read_virtual([("2026-01-31",)], {"x": "string"})
    said = ("collect: the text '2026-01-31' is not of the form %d.%m.%Y in", 'everyday.to_date(x, "%Y-%m-%d") reads it')
    with refused(ExecutionError, *said, 'to_date(..., on_failure="return_null")'):
        rows.select(x=everyday.to_date(V, "%d.%m.%Y")).collect()
    assert rows.select(x=everyday.to_date(V, "%d.%m.%Y", on_failure="return_null")).collect() == [(None,)]
