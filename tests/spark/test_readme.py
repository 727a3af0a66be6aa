"""The Python of README.md and docs/verbs.md, from the first line, as a stranger runs it: on the embedded engine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "verbs.md")
"""The second goes on from the first."""
STARTS_JAVA = "local_session()"
"""What stands in the one block that is for Spark alone."""

MONEY = """
urn: extension:example:money
types:
  - name: money
scalar_functions:
  - name: in_euro
    impls:
      - args: [{name: amount, value: fp64}, {name: rate, value: fp64}]
        return: fp64
"""


def statements() -> Iterator[tuple[str, str | None]]:
    """Each statement, and the error that the page says it is."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert sum(STARTS_JAVA in block for block in blocks) == 1
    for block in blocks:
        lines = block.splitlines()
        for each in () if STARTS_JAVA in block else ast.parse(block).body:
            end = each.end_lineno or each.lineno
            after = lines[end] if end < len(lines) else ""
            error = after.removeprefix("# error: ") if after.startswith("# error: ") else None
            yield "\n".join(lines[each.lineno - 1 : end]), error


@pytest.fixture
def orders(sail: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tables that the README reads: a file in the current folder, and a view of the session."""
    monkeypatch.chdir(tmp_path)
    table = pa.table(
        {
            "o_orderkey": pa.array([1], pa.int64()),
            "o_custkey": pa.array([5], pa.int64()),
            "o_totalprice": pa.array([200_000], pa.decimal128(15, 2)),
            "o_orderdate": pa.array([0], pa.date32()),
            "o_comment": pa.array([None], pa.string()),
        }
    )
    pq.write_table(table, "orders.parquet")
    sail.createDataFrame(table).createOrReplaceTempView("orders")
    yield
    sail.catalog.dropTempView("orders")


@pytest.mark.usefixtures("orders")
def test_every_statement_runs(sail: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "money.yaml").write_text(MONEY, encoding="utf-8")
    names: dict[str, object] = {"spark": sail}
    for text, error in statements():
        if error is None:
            exec(text, names)
            continue
        with pytest.raises(sd.SubstraitDslError) as caught:
            exec(text, names)
        words, _, hint = error.partition("; did you mean")
        assert str(caught.value).startswith(words)
        assert hint.partition("?")[0] in str(caught.value)
    shown = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [[cell.strip() for cell in row] for row in shown[1::2]] == [
        ["5", "1", "200000.00"],  # of the file
        ["5", "1", "200000.00"],  # of the session
        ["7", "2", "400000.50"],  # of the rows in the README
    ]
