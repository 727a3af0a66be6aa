"""Environments of their own for producers whose packages do not go with the project's: what is made there."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DUCKDB = "1.5.5"
"""The version of DuckDB whose extension ``tpcds`` comes as a package; the project tests with another one."""

SCALE = 0.01
"""The scale factor of the tables: below it the generator does not end."""

_TPCDS = tuple(f"{package}=={DUCKDB}" for package in ("duckdb", "duckdb-extension-tpcds"))

DUCKDB_SUBSTRAIT = ("duckdb==1.1.3", "duckdb-extension-substrait==1.1.3")
"""The last version of DuckDB in whose plans a project puts out its expressions only, and its extension."""

_IBIS = ("ibis-substrait==4.0.1", "ibis-framework[duckdb]==9.5.0", "substrait==0.23.0", "protobuf<6", "duckdb==1.1.3")
"""The last version of ibis-substrait, with the versions that it works with."""

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
    folder = cache / f"tpcds-{scale}"
    if (folder / "queries.json").exists():
        return folder
    packages = installed(cache / f"duckdb-{DUCKDB}", _TPCDS, "--no-deps")
    folder.mkdir(exist_ok=True)
    run([sys.executable, "-c", _PROGRAM, str(folder), str(scale)], PYTHONPATH=str(packages))
    return folder


_COMPILER = """
import json, pickle, sys
import ibis
from ibis_substrait.compiler.core import SubstraitCompiler

path, texts, made = sys.argv[1:]
connection = ibis.duckdb.connect()
table = connection.read_parquet(path, table_name="ibis_values")
results = []
for text in json.loads(texts):
    plan = SubstraitCompiler().compile(eval(text, {"ibis": ibis, "t": ibis.table(table.schema(), name="ibis_values")}))
    rows = connection.to_pyarrow(eval(text, {"ibis": ibis, "t": table})).to_pylist()
    results.append((plan.SerializeToString(), [tuple(row.values()) for row in rows]))
with open(made, "wb") as file:
    pickle.dump(results, file)
"""


def compiled_by_ibis(cache: Path, folder: Path, values: Path, texts: Sequence[str]) -> list[tuple[bytes, list[Any]]]:
    """The plans that ibis makes of expressions, and the rows that it gives of them in DuckDB.

    Args:
        cache: a folder that stays from one run to the next.
        folder: a folder for the results.
        values: a Parquet file, the table ``t`` of the expressions; the plans call it ``ibis_values``.
        texts: the expressions, as Python.

    Raises:
        AssertionError: the packages cannot be installed, or an expression cannot be compiled.
    """
    packages = installed(cache / "ibis-9.5.0", _IBIS)
    made = folder / "compiled.pickle"
    run([sys.executable, "-c", _COMPILER, str(values), json.dumps(texts), str(made)], PYTHONPATH=str(packages))
    results: list[tuple[bytes, list[Any]]] = pickle.loads(made.read_bytes())
    return results


_PLANNER = """
import json, pathlib, pickle, sys
import duckdb, duckdb_extension_substrait

folder, texts, made = sys.argv[1:]
module = pathlib.Path(duckdb_extension_substrait.__file__).parent
(extension,) = module.glob("extensions/*/substrait.duckdb_extension")
connection = duckdb.connect(config={"allow_unsigned_extensions": True})
connection.execute(f"LOAD '{extension}'")
for file in pathlib.Path(folder).glob("*.parquet"):
    connection.execute(f"CREATE TABLE {file.stem} AS FROM '{file}'")
results = {}
for name, text in json.loads(texts).items():
    try:
        (plan,) = connection.execute("CALL get_substrait(?)", [text]).fetchone()
    except duckdb.NotImplementedException as error:
        results[name] = str(error)
    else:
        results[name] = (plan, connection.execute(text).fetchall())
with open(made, "wb") as file:
    pickle.dump(results, file)
"""


def planned_by_duckdb(
    cache: Path, folder: Path, tables: Path, texts: Mapping[str, str]
) -> Mapping[str, tuple[bytes, list[Any]] | str]:
    """The plans that DuckDB 1.1.3 makes of queries, and its rows; the error of a query that it cannot write as a plan.

    Args:
        cache: a folder that stays from one run to the next.
        folder: a folder for the results.
        tables: a folder with a Parquet file for each table.
        texts: the queries, by their names.

    Raises:
        AssertionError: the packages cannot be installed, or DuckDB fails otherwise.
    """
    packages = installed(cache / "duckdb-1.1.3", DUCKDB_SUBSTRAIT, "--no-deps")
    made = folder / "planned.pickle"
    run([sys.executable, "-c", _PLANNER, str(tables), json.dumps(texts), str(made)], PYTHONPATH=str(packages))
    results: Mapping[str, tuple[bytes, list[Any]] | str] = pickle.loads(made.read_bytes())
    return results


_VALIDATOR = ("substrait-validator==0.1.4",)

_CHECK = """
import json, pathlib, sys
import substrait_validator as validator

plans, extensions = map(pathlib.Path, sys.argv[1:])
config = validator.Config()
config.add_uri_resolver(lambda uri: (extensions / uri.rpartition("/")[2]).read_bytes())
results = {}
for file in plans.glob("*.plan"):
    data = file.read_bytes()
    if validator.check_plan(data, config) >= 0:  # its report of a deep plan cannot be read
        results[file.stem] = []
    else:
        found = validator.plan_to_diagnostics(data, config)
        results[file.stem] = [each.msg for each in found if each.adjusted_level == 3]
print(json.dumps(results))
"""


def errors_of_the_validator(
    cache: Path, folder: Path, extensions: Path, plans: Mapping[str, bytes]
) -> Mapping[str, list[str]]:
    """What substrait-validator finds wrong in plans.

    Args:
        cache: a folder that stays from one run to the next.
        folder: an empty folder.
        extensions: the folder of the specification's extension files.
        plans: the plans, by their names.

    Raises:
        AssertionError: the package cannot be installed, or the validator fails.
    """
    packages = installed(cache / "validator-0.1.4", _VALIDATOR)
    for name, data in plans.items():
        (folder / f"{name}.plan").write_bytes(data)
    text = run([sys.executable, "-c", _CHECK, str(folder), str(extensions)], PYTHONPATH=str(packages))
    results: Mapping[str, list[str]] = json.loads(text)
    return results


def installed(folder: Path, packages: Sequence[str], *options: str) -> Path:
    """A folder with packages, to stand on Python's path; installed once, also where several processes ask for it."""
    done = folder / "installed"
    with locked(folder):
        if not done.exists():
            install = [sys.executable, "-m", "pip", "install", "--quiet", *options, "--target", str(folder)]
            run([*install, *packages])
            done.touch()
    return folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A folder of this process alone, which is made if it is not there: the others wait until it is left."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: list[str], **variables: str) -> str:
    """What a program prints. Raises `AssertionError` if it fails."""
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, f"{command[:4]} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


def queries(folder: Path) -> Mapping[int, str]:
    """The 99 queries, by their numbers."""
    texts: Mapping[str, str] = json.loads((folder / "queries.json").read_text())
    return {int(number): text.strip().rstrip(";") for number, text in texts.items()}
