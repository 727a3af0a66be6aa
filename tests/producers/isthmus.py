"""Isthmus, the producer of substrait-java: its jars, and the plans that it makes of SQL."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import pyspark

from substrait_dsl.spark.session.local import java_environment
from tests.producers.environment import locked

VERSION = "0.89.1"
"""The version of Isthmus, and so of substrait-java."""

JARS = Path(pyspark.__file__).parent / "jars"
"""Where Spark has Ivy, which fetches jars with all that they need, and the bridge between Python and Java."""

TRIES = 3
"""How often the jars are asked for: what came stays, and a server may fail once among a hundred files."""


def planned_by_isthmus(cache: Path, tables: Sequence[str], texts: Mapping[str, str]) -> Mapping[str, bytes]:
    """The plans that Isthmus makes of queries.

    Args:
        cache: a folder that stays from one run to the next.
        tables: CREATE TABLE statements.
        texts: the queries, by their names.

    Raises:
        AssertionError: the jars cannot be fetched.
    """
    with _gateway(cache) as gateway:
        isthmus = gateway.jvm.io.substrait.isthmus
        statements = gateway.jvm.java.util.ArrayList()
        for table in tables:
            statements.add(table)
        catalog = isthmus.sql.SubstraitCreateStatementParser.processCreateStatementsToCatalog(statements)
        converter = gateway.jvm.io.substrait.plan.PlanProtoConverter()
        return {
            name: bytes(converter.toProto(isthmus.SqlToSubstrait().convert(text, catalog)).toByteArray())
            for name, text in texts.items()
        }


def queries_of_isthmus(cache: Path, plans: Mapping[str, bytes]) -> Mapping[str, str]:
    """The query, in the SQL of DuckDB, that Isthmus makes of each plan, or ``error: `` and what it says.

    Args:
        cache: as for `planned_by_isthmus`.
        plans: the plans, by their names.

    Raises:
        AssertionError: the jars cannot be fetched.
    """
    with _gateway(cache) as gateway:
        dialect = gateway.jvm.org.apache.calcite.sql.dialect.DuckDBSqlDialect.DEFAULT
        found: dict[str, str] = {}
        for name, data in plans.items():
            try:
                read = getattr(gateway.jvm.io.substrait.plan.ProtoPlanConverter(), "from")(
                    gateway.jvm.io.substrait.proto.Plan.parseFrom(data)
                )
                (found[name],) = gateway.jvm.io.substrait.isthmus.SubstraitToSql().convert(read, dialect)
            except import_module("py4j.protocol").Py4JJavaError as error:
                found[name] = f"error: {error.java_exception}"
        return found


@attrs.frozen
class Reading:
    """What substrait-java makes of a plan."""

    types: tuple[str, ...]
    """The record type of each root, in the specification's words."""
    written: bytes
    """The plan as it writes it back."""


def read_by_substrait_java(cache: Path, plans: Mapping[str, bytes]) -> Mapping[str, Reading | str]:
    """What substrait-java makes of plans, or the message of its error.

    Args:
        cache: as for `planned_by_isthmus`.
        plans: the plans, by their names.

    Raises:
        AssertionError: the jars cannot be fetched.
    """
    with _gateway(cache) as gateway:
        found: dict[str, Reading | str] = {}
        text_of = gateway.jvm.io.substrait.type.StringTypeVisitor()
        for name, data in plans.items():
            try:
                read = getattr(gateway.jvm.io.substrait.plan.ProtoPlanConverter(), "from")(
                    gateway.jvm.io.substrait.proto.Plan.parseFrom(data)
                )
                written = gateway.jvm.io.substrait.plan.PlanProtoConverter().toProto(read)
                types = tuple(root.getInput().getRecordType().accept(text_of) for root in read.getRoots())
                found[name] = Reading(types, bytes(written.toByteArray()))
            except import_module("py4j.protocol").Py4JJavaError as error:
                found[name] = str(error.java_exception)
        return found


def _java() -> str:
    home = java_environment().get("JAVA_HOME") or os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    assert found is not None
    return found


def _jars(java: str, folder: Path) -> str:
    """The class path of Isthmus, whose jars are fetched once."""
    path = folder / "classpath"
    with locked(folder):
        if not path.exists():
            made = folder / "made"
            module = ("-dependency", "io.substrait", "isthmus", VERSION, "-confs", "default")
            (ivy,) = JARS.glob("ivy-*.jar")
            command = [java, "-jar", str(ivy), "-cache", str(folder), *module, "-cachepath", str(made)]
            for _ in range(TRIES):
                done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
                if done.returncode == 0:
                    break
            else:
                raise AssertionError(f"cannot fetch isthmus {VERSION}:\n{done.stdout}{done.stderr}")
            made.rename(path)
    return path.read_text().strip()


@contextmanager
def _gateway(cache: Path) -> Iterator[Any]:
    """A Java process of its own, with the jars of Isthmus."""
    java = _java()
    jars = _jars(java, cache / f"isthmus-{VERSION}")
    py4j = import_module("py4j.java_gateway")
    (bridge,) = JARS.glob("py4j-*.jar")
    port, token = py4j.launch_gateway(
        jarpath=str(bridge), classpath=jars, java_path=java, die_on_exit=True, enable_auth=True
    )
    parameters = py4j.GatewayParameters(port=port, auth_token=token, auto_convert=True)
    gateway = py4j.JavaGateway(gateway_parameters=parameters)
    try:
        yield gateway
    finally:
        gateway.shutdown()
