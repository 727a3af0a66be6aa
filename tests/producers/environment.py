"""The tables and the queries of TPC-DS, made by DuckDB in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

DUCKDB = "1.5.5"
"""The version of DuckDB whose extension ``tpcds`` comes as a package; the project tests with another one."""

SCALE = 0.01
"""The scale factor of the tables: below it the generator does not end."""

_PACKAGES = ("duckdb", "duckdb-extension-tpcds")

_PROGRAM = """
import json, pathlib, sys
import duckdb, duckdb_extension_tpcds

folder, scale = pathlib.Path(sys.argv[1]), sys.argv[2]
module = pathlib.Path(duckdb_extension_tpcds.__file__).parent
(extension,) = module.glob("extensions/*/tpcds.duckdb_extension")
connection = duckdb.connect()
connection.execute(f"LOAD '{extension}'")
connection.execute(f"CALL dsdgen(sf={scale})")
for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
    connection.execute(f"COPY {table} TO '{folder / table}.parquet'")
queries = dict(connection.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall())
(folder / "queries.json").write_text(json.dumps(queries))
"""


def tpcds_folder(cache: Path, scale: float = SCALE) -> Path:
    """A folder with a Parquet file for each table of TPC-DS, and the texts of the queries; made once.

    Args:
        cache: a folder that stays from one run to the next.
        scale: the scale factor.

    Raises:
        AssertionError: the packages cannot be installed, or the tables cannot be made.
    """
    packages, folder = cache / f"duckdb-{DUCKDB}", cache / f"tpcds-{scale}"
    if (folder / "queries.json").exists():
        return folder
    if not (packages / "duckdb_extension_tpcds").exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(packages)]
        _run([*install, *(f"{package}=={DUCKDB}" for package in _PACKAGES)])
    folder.mkdir(exist_ok=True)
    _run([sys.executable, "-c", _PROGRAM, str(folder), str(scale)], PYTHONPATH=str(packages))
    return folder


def _run(command: list[str], **variables: str) -> None:
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, f"{command[:4]} failed:\n{done.stdout}{done.stderr}"


def queries(folder: Path) -> Mapping[int, str]:
    """The 99 queries, by their numbers."""
    texts: Mapping[str, str] = json.loads((folder / "queries.json").read_text())
    return {int(number): text.strip().rstrip(";") for number, text in texts.items()}
