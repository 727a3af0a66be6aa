"""The example in `examples/lake`: two deliveries of files, and the table after each change."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from examples.lake.pipeline import cleaned, create, history, mark_late, merge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEAD = "number,customer,due,amount\n"
TABLE = ("lake", "db", "orders")


def test_the_pipeline(tmp_path: Path, spark: SparkSession) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (first / "a.csv").write_text(HEAD + "1, Ann ,2024-01-05,10.00\n2,,2024-03-01,5.5\n1,Ann,2024-01-05,9.00\n")
    (first / "b.csv").write_text(HEAD + "x,Bob,2024-01-01,1\n3,Cid,soon,7\n4,Dan,2024-01-01,\n")
    (second / "c.csv").write_text(HEAD + '2,Eve,2024-02-01,6\n5,"Fay, Jr.",2024-01-02,8\n')
    create(TABLE, spark)
    merge(cleaned(first), TABLE, spark)
    merge(cleaned(second), TABLE, spark)
    assert mark_late(TABLE, dt.date(2024, 1, 31), spark) == 2
    ann = (1, "Ann", dt.date(2024, 1, 5), Decimal("10.00"), "open")
    cid = (3, "Cid", None, Decimal("7.00"), "open")
    eve = (2, "Eve", dt.date(2024, 2, 1), Decimal("6.00"), "open")
    fay = (5, "Fay, Jr.", dt.date(2024, 1, 2), Decimal("8.00"), "open")
    states = [[tuple(row) for row in rows] for _, rows in history(TABLE, spark)]
    assert states[-1] == [(*ann[:-1], "late"), eve, cid, (*fay[:-1], "late")]
    assert states[-2] == [ann, eve, cid, fay], "before the update"
    assert [ann, (2, "unknown", dt.date(2024, 3, 1), Decimal("5.50"), "open"), cid] in states, "after the first files"
