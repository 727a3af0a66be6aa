"""Plans and files of strangers on Spark: what is read chooses no code, no host and no other file."""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import pickle
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pytest
from pyarrow import parquet

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import ExecutionError, SchemaError, SubstraitDslError, UnsupportedError
from tests.spark.rows import counted
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = {"a": "i64?"}
SECRET = "a-secret-of-the-environment"
KEY = b"org.apache.spark.sql.parquet.row.metadata"


class Canary:
    """Leaves a sign, ``ran``, in a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.sign = str(folder / "ran")

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.sign,)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module that can be imported, and leaves a sign, ``ran``, when it is; nothing may do so."""
    name = f"canary_{uuid.uuid4().hex}"
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / f"{name}.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\nclass Files: ...\n")
    monkeypatch.syspath_prepend(folder)
    yield name
    assert name not in sys.modules
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def requests() -> Iterator[list[str]]:
    """The requests that a server of this machine gets, whose address comes first."""
    seen: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def _note(self) -> None:
            seen.append(self.requestline)
            self.send_error(404)

        do_GET = do_HEAD = do_PUT = do_POST = _note  # noqa: N815  # the names that the server of Python looks for

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        seen.append(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield seen
        server.shutdown()
        thread.join()


def metadata_file(folder: Path, properties: dict[str, str], manifest_list: str | None = None) -> str:
    """Write a metadata file of Iceberg by hand: one column, and a snapshot if there is a manifest list."""
    snapshot = {
        "snapshot-id": 1,
        "sequence-number": 1,
        "timestamp-ms": 1,
        "summary": {"operation": "append"},
        "manifest-list": manifest_list,
        "schema-id": 0,
    }
    told = {
        "format-version": 2,
        "table-uuid": str(uuid.uuid4()),
        "location": str(folder),
        "last-sequence-number": 1,
        "last-updated-ms": 1,
        "last-column-id": 1,
        "current-schema-id": 0,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "long"}]}
        ],
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "properties": properties,
        **({} if manifest_list is None else {"snapshots": [snapshot], "current-snapshot-id": 1}),
    }
    path = folder / f"{uuid.uuid4().hex}.metadata.json"
    path.write_text(json.dumps(told))
    return str(path)


def test_a_metadata_file_of_iceberg_chooses_no_class(tmp_path: Path, module: str, spark: SparkSession) -> None:
    sign = tmp_path / "ran"
    for properties in (
        {"mkdir": "", str(sign): "", "py-io-impl": "subprocess.Popen"},
        {"py-io-impl": f"{module}.Files"},
        {"py-location-provider.impl": f"{module}.Files", "write.py-location-provider.impl": f"{module}.Files"},
        {"s3.retry-strategy-impl": f"{module}.Files", "py-catalog-impl": f"{module}.Files"},
    ):
        read = sd.read_iceberg(metadata_file(tmp_path, properties), NUMBERS)
        read.explain(spark)
        assert counted(read, spark) == Counter()
    assert not sign.exists()


def test_a_metadata_file_of_iceberg_chooses_no_host(
    tmp_path: Path, requests: list[str], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, SECRET)
    address = requests[0]
    for properties, uri in (
        ({"s3.endpoint": address, "s3.region": "x"}, "s3://bucket/list.avro"),
        ({"s3.proxy-uri": address, "s3.region": "x"}, "s3a://bucket/list.avro"),
        ({"s3.signer": "S3V4RestSigner", "s3.signer.uri": address, "uri": address}, "s3n://bucket/list.avro"),
        ({"gcs.service.host": address, "gcs.oauth2.token": "x"}, "gs://bucket/list.avro"),
        ({"s3.endpoint": address, "DEFAULT_SCHEME": "s3", "DEFAULT_NETLOC": "bucket"}, "s3://bucket/list.avro"),
        ({"hdfs.host": "127.0.0.1"}, "hdfs://127.0.0.1:1/list.avro"),
        ({}, f"{address}/list.avro"),
    ):
        plan = sd.read_iceberg(metadata_file(tmp_path, properties, uri), NUMBERS).to_plan()
        with refused(UnsupportedError, "execute", uri, "another store"):
            sd.Plan.from_bytes(plan.to_bytes()).execute(spark)
    assert requests[1:] == []


def test_what_a_metadata_file_says_of_the_rows_is_kept(tmp_path: Path, spark: SparkSession) -> None:
    """Files that Iceberg did not write have no field ids: a property of the table says which columns are which."""
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("test", uri="sqlite://", warehouse=tmp_path.as_uri())
    catalog.create_namespace("db")
    rows = pa.table({"a": [1, 2]})
    parquet.write_table(rows, tmp_path / "added.parquet")
    table = catalog.create_table("db.t", rows.schema)
    table.add_files([(tmp_path / "added.parquet").as_uri()])
    assert "schema.name-mapping.default" in table.properties
    assert counted(sd.read_iceberg(table.metadata_location, NUMBERS), spark) == Counter([(1,), (2,)])


def user_type(**said: object) -> bytes:
    """What a Parquet file says of a column of a user-defined type."""
    kind = {"type": "udt", "sqlType": "long", **said}
    return json.dumps(
        {"type": "struct", "fields": [{"name": "a", "type": kind, "nullable": True, "metadata": {}}]}
    ).encode()


def test_a_parquet_file_chooses_no_class(
    tmp_path: Path, module: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the file is not on this machine, where only what Spark says of it is known."""
    pickled = base64.b64encode(pickle.dumps(Canary(tmp_path))).decode()
    rows = pa.table({"a": [1, 2]})
    keys = {
        "imported": user_type(pyClass=f"{module}.Files", serializedClass=""),
        "unpickled": user_type(pyClass="os.no_such_class", serializedClass=pickled),
        "nested": user_type(pyClass=f"{module}.Files", serializedClass="", sqlType="long")
        .replace(
            b'"type": {"type": "udt"', b'"type": {"type": "array", "containsNull": true, "elementType": {"type": "udt"'
        )
        .replace(b'"long"}', b'"long"}}'),
        "java": user_type(**{"class": "java.util.concurrent.atomic.AtomicLong"}),
        "twice": user_type(pyClass="pyspark.ml.linalg.VectorUDT", serializedClass=pickled),
        "deep": b"[" * 100_000,
        "no JSON": b'{"type": ',
    }
    for name, key in keys.items():
        folder = tmp_path / "files" / name
        folder.mkdir(parents=True)
        path = folder / "rows.parquet"
        parquet.write_table(rows.replace_schema_metadata({KEY: key}), path)
        for where in (path, folder):
            read = sd.read_files(where, NUMBERS, format=sd.Parquet())
            if name == "deep":
                assert counted(read, spark) == Counter([(1,), (2,)])  # no key of Spark's, but anything else
            else:
                with refused(UnsupportedError, "execute", str(path), "does not choose what code is loaded"):
                    read.execute(spark)
    monkeypatch.setattr("substrait_dsl.spark.sources.files.require_known_classes", lambda *_: None)
    for name in ("imported", "unpickled", "twice"):
        with refused(UnsupportedError, "execute", "written in Python", "does not choose what code is loaded"):
            sd.read_files(tmp_path / "files" / name / "rows.parquet", NUMBERS).execute(spark)


def test_a_pattern_and_a_scheme_hide_no_class(tmp_path: Path, spark: SparkSession) -> None:
    """Hadoop finds names with a dot, and takes a scheme in any case, and one that is percent-encoded."""
    key = user_type(**{"class": "java.util.concurrent.atomic.AtomicLong"})
    rows = pa.table({"a": [1, 2]}).replace_schema_metadata({KEY: key})
    for folder in (".h", "^h", "odd/a:"):
        (tmp_path / folder).mkdir(parents=True)
        parquet.write_table(rows, tmp_path / folder / "x.parquet")
    wild = ("*/x.parquet", "?h/x.parquet", "[.]h/x.parquet", r"\.h/x.parquet", "{.h,g}/x.parquet", ".h")
    odd = (r"\^h/x.parquet", r"\S?/x.parquet", r"[\^a]h/x.parquet", "*")
    hidden = f"{tmp_path}/.h/x.parquet"
    uris: list[tuple[Literal["glob", "file"], str]] = [("glob", f"{tmp_path}/{pattern}") for pattern in (*wild, *odd)]
    uris += [("glob", f"File://{tmp_path}/*/x.parquet"), ("file", f"{tmp_path}/odd/a://x.parquet")]
    uris += [("file", scheme + hidden) for scheme in ("FILE://", "fiLe:", "%66ile://")]
    for kind, uri in uris:
        read = sd.read_files(uri, NUMBERS, kind=kind, format=sd.Parquet())
        with refused(UnsupportedError, "execute", "AtomicLong", "does not choose what code is loaded"):
            read.execute(spark)
    parquet.write_table(pa.table({"a": [7]}), tmp_path / "x.parquet")
    uris = [("glob", "/?.parquet"), ("glob", "/[^y].parquet"), ("file", "/x.parquet")]
    for kind, uri in uris:
        for scheme in ("FILE://", ""):
            read = sd.read_files(f"{scheme}{tmp_path}{uri}", NUMBERS, kind=kind, format=sd.Parquet())
            assert counted(read, spark) == Counter([(7,)])


def test_rows_are_written_where_a_scheme_in_capitals_says(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    rows = sd.read_virtual([(1,)], {"a": "i64"})
    for scheme in ("FILE://", "File:"):
        folder = tmp_path / f"out{len(scheme)}"
        rows.write(sd.files_target(f"{scheme}{folder}", "parquet"), op="ctas").execute(spark)
        assert parquet.read_table(folder).to_pydict() == {"a": [1]}
        assert counted(sd.read_files(folder, NUMBERS, kind="folder", format=sd.Parquet()), spark) == Counter([(1,)])
    assert not list((tmp_path / "here").iterdir())


def test_types_of_spark_itself_are_read_beside(tmp_path: Path, spark: SparkSession) -> None:
    key = user_type(**{"class": "org.apache.spark.ml.linalg.VectorUDT", "pyClass": "pyspark.ml.linalg.VectorUDT"})
    both = json.loads(key)
    both["fields"].append({"name": "b", "type": "long", "nullable": True, "metadata": {}})
    rows = pa.table({"a": [1], "b": [7]}).replace_schema_metadata({KEY: json.dumps(both)})
    parquet.write_table(rows, tmp_path / "vectors.parquet")
    assert counted(sd.read_files(tmp_path / "vectors.parquet", {"b": "i64?"}), spark) == Counter([(7,)])
    with pytest.raises(SchemaError, match='"a" is vector'):
        sd.read_files(tmp_path / "vectors.parquet", NUMBERS).execute(spark)


def test_an_arrow_file_loads_no_pickle(tmp_path: Path, spark: SparkSession) -> None:
    told = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": pickle.dumps(Canary(tmp_path)),
    }
    schema = pa.schema([pa.field("a", pa.int64(), metadata=told)])
    with pa.OSFile(str(tmp_path / "rows.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_table(pa.table([[1]], schema=schema))
    assert counted(sd.read_files(tmp_path / "rows.arrow", NUMBERS, format="arrow"), spark) == Counter([(1,)])
    parquet.write_table(pa.table([[1]], schema=schema), tmp_path / "rows.parquet")
    assert counted(sd.read_files(tmp_path / "rows.parquet", NUMBERS), spark) == Counter([(1,)])
    assert not (tmp_path / "ran").exists()


def test_a_folder_does_not_choose_what_else_is_read(tmp_path: Path, spark: SparkSession) -> None:
    """The list that a stream of Spark's leaves in a folder is kept to, as long as it names files of the folder."""
    elsewhere = tmp_path / "elsewhere" / "day=1"
    folder = tmp_path / "folder"
    for each in (elsewhere, folder / "day=2", folder / "_spark_metadata"):
        each.mkdir(parents=True)
    day = folder / "day=2"
    for path, value in ((elsewhere / "x.parquet", 666), (day / "x.parquet", 7), (day / "y.parquet", 8)):
        parquet.write_table(pa.table({"a": [value]}), path)
        path.with_suffix(".txt").write_text(f"{value}\n")

    def listed(path: Path) -> None:
        told = {"path": path.as_uri(), "size": path.stat().st_size, "isDir": False, "modificationTime": 1}
        line = json.dumps({**told, "blockReplication": 1, "blockSize": 1000, "action": "add"})
        (folder / "_spark_metadata" / "0").write_text(f"v1\n{line}\n")

    listed(day / "x.parquet")
    assert counted(sd.read_files(folder, NUMBERS, kind="folder", format=sd.Parquet()), spark) == Counter([(7,)])
    text = sd.read_files(folder, {"line": "string"}, kind="folder", format=sd.DelimitedText(field_delimiter=","))
    for path, read in (
        (elsewhere / "x.parquet", sd.read_files(folder, NUMBERS, kind="folder", format=sd.Parquet())),
        (elsewhere / "x.txt", text),
    ):
        listed(path)
        with refused(UnsupportedError, "execute", str(path), "_spark_metadata", "does not choose what else is read"):
            read.execute(spark)
    listed(elsewhere / "x.parquet")
    for uri in (str(folder), f"{folder}/", f"FILE://{folder}", f"file://{tmp_path}/fo%6Cder"):
        with refused(UnsupportedError, "execute", "_spark_metadata", "does not choose what else is read"):
            sd.read_files(uri, NUMBERS, kind="glob", format=sd.Parquet()).execute(spark)
    found = sd.read_files(f"{folder}/*/*.parquet", NUMBERS, kind="glob", format=sd.Parquet())
    assert counted(found, spark) == Counter([(7,), (8,)])
    folder.rename(tmp_path / "fold*")
    with refused(UnsupportedError, "execute", "_spark_metadata", "does not choose what else is read"):
        sd.read_files(tmp_path / "fold*", NUMBERS, kind="glob", format=sd.Parquet()).execute(spark)


@pytest.fixture
def one(spark: SparkSession) -> sd.Relation[Any]:
    """A view with one row."""
    spark.range(1).selectExpr("id AS k").createOrReplaceTempView("one_of_strangers")
    return sd.read_named("one_of_strangers", {"k": "i64?"})


def twice(relation: sd.Relation[Any]) -> sd.Relation[Any]:
    return relation.union_all(relation)


def places(named: sd.Relation[Any], one: sd.Relation[Any]) -> dict[str, sd.Relation[Any]]:
    """A relation in each of the places where one can stand in a plan that Spark runs."""
    return {
        "read": named,
        "count": named.aggregate(n=lambda r: functions.count()),
        "exists": one.filter(lambda r: sd.exists(named)),
        "in": one.filter(lambda r: r.k.cast("string?").is_in(named)),
        "scalar": one.project(v=lambda r: sd.scalar_subquery(named)),
        "join": one.cross(named),
        "lateral": one.lateral_join(lambda r: named, how="left"),
        "many": one.cross(named.rename(value="a")).cross(named.rename(value="b")),
        "shared": twice(sd.shared(named)),
        "view": named.write("of_strangers", op="ctas"),
    }


def test_a_name_is_that_of_a_table(tmp_path: Path, one: sd.Relation[Any], spark: SparkSession) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    parquet.write_table(pa.table({"value": [SECRET]}), tmp_path / "secret.parquet")
    for form in ("text", "TEXT", "Csv", "parquet", "binaryFile", "org.apache.spark.sql.execution.datasources.text"):
        where = str(secret) + (".parquet" if form == "parquet" else "")
        for place, relation in places(sd.read_named((form, where), {"value": "string?"}), one).items():
            plan = sd.Plan.from_bytes(relation.to_plan().to_bytes())
            with pytest.raises(ExecutionError, match="there is no table") as error:
                plan.execute(spark)
            assert SECRET not in str(error.value), place
            with pytest.raises(ExecutionError, match="there is no table"):
                plan.explain(spark)
            if form != "text":
                break
    for name in (f"{tmp_path}/sec*", "../secret", "secret"):
        with pytest.raises(ExecutionError, match="there is no table"):
            sd.read_named(("text", name), {"value": "string?"}).execute(spark)


def test_a_database_may_have_the_name_of_a_format(spark: SparkSession) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS json")
    try:
        spark.sql("CREATE OR REPLACE VIEW json.numbers AS SELECT 1L AS k")
        spark.sql("CREATE OR REPLACE GLOBAL TEMPORARY VIEW numbers AS SELECT 2L AS k")
        for names, value in ((("json", "numbers"), 1), (("JSON", "Numbers"), 1), (("global_temp", "numbers"), 2)):
            assert counted(sd.read_named(names, {"k": "i64?"}), spark) == Counter([(value,)])
        with pytest.raises(ExecutionError, match=r'there is no table "json\./etc/passwd"; there are'):
            sd.read_named(("json", "/etc/passwd"), {"k": "i64?"}).execute(spark)
    finally:
        spark.sql("DROP DATABASE json CASCADE")
        spark.catalog.dropGlobalTempView("numbers")


def test_nothing_is_put_in_the_place_of_a_name(
    tmp_path: Path, one: sd.Relation[Any], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark replaces ``${...}`` in every text that it parses, by settings and variables of the environment."""
    monkeypatch.setenv("A_SECRET_OF_STRANGERS", SECRET)
    # Java knows its own environment alone, of which every process has this one.
    shown = os.environ["PATH"]
    spark.conf.set("spark.which", "one_of_strangers")
    for name in (
        "${spark.which}",
        "${env:PATH}",
        "${system:java.version}",
        "${hiveconf:spark.which}",
        "${spark:spark.which}",
    ):
        for names in (name, f"a`{name}", ("db", name), (name, "t")):
            for relation in (
                *places(sd.read_named(names, {"value": "string?"}), one).values(),
                one.write(names, op="ctas"),
                one.write(sd.virtual_target(name), op="ctas"),
                sd.drop_table(names),
            ):
                with pytest.raises(UnsupportedError) as error:
                    relation.execute(spark)
                assert shown not in str(error.value)
                assert "${" in str(error.value)
    day = tmp_path / "day" / "${env:PATH}=2"
    day.mkdir(parents=True)
    parquet.write_table(pa.table({"a": [7]}), day / "x.parquet")
    declared = {"a": "i64?", "${env:PATH}": "i64?"}
    with pytest.raises(SubstraitDslError) as failed:
        sd.read_files(tmp_path / "day", declared, kind="folder", format=sd.Parquet()).execute(spark)
    assert shown not in str(failed.value)
    type_ = sd.Struct((sd.Date(nullable=True),), ("${env:PATH}",))
    with refused(UnsupportedError, "execute", "${env:PATH}"):
        sd.read_virtual([({"${env:PATH}": dt.date(2024, 1, 1)},)], {"s": type_}).write(
            sd.files_target(str(tmp_path / "orc"), "orc"), op="ctas"
        ).execute(spark)


def doubled(relation: sd.Relation[Any], how: Callable[[Any], sd.Relation[Any]], times: int) -> sd.Relation[Any]:
    for _ in range(times):
        relation = how(relation)
    return relation


DOUBLINGS: dict[str, Callable[[Any], sd.Relation[Any]]] = {
    "shared": lambda r: twice(sd.shared(r)),
    "written twice": twice,
    "joined": lambda r: (lambda s: s.cross(s.rename(a="b")).select("a"))(sd.shared(r)),
    "exists": lambda r: (lambda s: s.filter(lambda _: sd.exists(s)))(sd.shared(r)),
    "lateral": lambda r: (lambda s: s.lateral_join(lambda _: s.rename(a="b"), how="left").select("a"))(sd.shared(r)),
}


def test_what_is_used_more_and_more_often_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    """Some hundred bytes, which stand for thousands of relations, or more than there are atoms."""
    start = sd.read_virtual([(1,)], {"a": "i64"})
    for name, how in DOUBLINGS.items():
        for times in (14, 40) if name == "shared" else (14,):
            plan = sd.Plan.from_bytes(doubled(start, how, times).to_plan().to_bytes())
            with refused(UnsupportedError, "execute", "relations", "counted in every place"):
                plan.execute(spark)
            with refused(UnsupportedError, "explain", "counted in every place"):
                plan.explain(spark)
    folder = tmp_path / "out"
    large = doubled(start, DOUBLINGS["shared"], 14)
    for written in (
        large.write(sd.files_target(folder), op="ctas"),
        large.write(sd.virtual_target("large"), op="ctas"),
    ):
        with refused(UnsupportedError, "execute", "counted in every place"):
            written.execute(spark)
    assert not folder.exists()
    few = doubled(start, DOUBLINGS["shared"], 5).aggregate(n=lambda r: functions.count())
    assert few.collect(spark) == [(32,)]
    many = reduce(lambda one, other: one.union_all(other), [start] * 40).aggregate(n=lambda r: functions.count())
    assert many.collect(spark) == [(40,)]


def test_numbers_that_take_all_memory_are_refused(spark: SparkSession) -> None:
    table = sd.read_virtual([("ab", 2**31 - 1), ("ab", 3)], {"s": "string", "n": "i32"})
    for count in (2**31 - 1, 100_001):
        with refused(UnsupportedError, "execute", f"{count:,} partitions"):
            table.exchange(sd.round_robin(), partition_count=count).execute(spark)
    made: dict[str, Callable[[Any], Any]] = {
        "lpad": lambda r: functions.lpad(r.s, r.n, "x"),
        "rpad": lambda r: functions.rpad(r.s, r.n, "x"),
        "center": lambda r: functions.center(r.s, r.n, "x", padding="LEFT"),
        "repeat": lambda r: functions.repeat(functions.repeat(functions.repeat(r.s, 30_000), 30_000), 30_000),
    }
    for name, make in made.items():
        with refused(ExecutionError, "collect", f"{name} gives too long a text"):
            table.select(x=make).collect(spark)
    short = table.filter(lambda r: r.n < 4)
    padded = short.select(l=made["lpad"], r=made["rpad"], c=made["center"])
    assert padded.collect(spark) == [("xab", "abx", "xab")]  # of an odd number, LEFT has one more
    nothing = sd.read_virtual([(None, 2**31 - 1), ("a", None)], {"s": "string?", "n": "i32?"})
    assert nothing.select(x=made["lpad"]).collect(spark) == [(None,), (None,)]


TEXTS = (
    "x' OR '1'='1", 'x" OR 1=1 --', "`; DROP VIEW canary_of_strangers; --", "/*+ BROADCAST(x) */", "x\\", "\\'",
    "'; --", "${spark.app.name}", "${env:PATH}", "{x}", "{{x}}", "__s0", "__frame0__", "\x00", "a\nb", "\u2028",
    "\u2019 OR 1=1", "r.x", "*", "", " ", "SELECT", "\U0001f600", "x" * 300,
)  # fmt: skip
"""What would be something else as a part of SQL."""


def test_no_text_of_a_plan_becomes_sql(spark: SparkSession) -> None:
    """Rows and names come back as they are, from a text alone and step by step, and a view beside is untouched."""
    spark.range(1).selectExpr("id AS k").createOrReplaceTempView("canary_of_strangers")
    one = sd.read_named("canary_of_strangers", {"k": "i64?"})
    names = [f"{text}#{number}" for number, text in enumerate(TEXTS)]
    told: dict[str, Any] = {name: sd.lit(text, "string") for name, text in zip(names, TEXTS, strict=True)}
    stored = [text for text in TEXTS if text]
    rows = sd.read_virtual([(text, number) for number, text in enumerate(stored)], {"s": "string", "n": "i64"})
    wide = sd.read_virtual([tuple(TEXTS)], dict.fromkeys(names, "string"))
    relations: list[tuple[sd.Relation[Any], list[tuple[object, ...]]]] = [
        (one.select(**told), [tuple(TEXTS)]),
        (wide, [tuple(TEXTS)]),
        (wide.filter(sd.col(names[0]) == TEXTS[0]).sort(names[1]), [tuple(TEXTS)]),
        (one.select("k").cross(wide).select(*names), [tuple(TEXTS)]),
        (wide.aggregate(*names).select(*names), [tuple(TEXTS)]),
        (one.filter(sd.exists(wide.filter(sd.col(names[3]) == TEXTS[3]))), [(0,)]),
    ]
    numbers = range(len(stored))
    same = {f"x{number}": sd.col("s") == stored[number] for number in numbers}
    relations.append((rows.select(**same).sort(*same), sorted(tuple(i == n for i in numbers) for n in numbers)))
    found = {f"x{number}": functions.contains(sd.col("s"), stored[number]) for number in numbers}
    inside: list[tuple[object, ...]] = [tuple(part in text for part in stored) for text in stored]
    relations.append((rows.sort("n").select(**found), inside))
    texts = {f"x{number}": sd.lit(f"<{text}>", "string") for number, text in enumerate(stored)}
    replaced = {name: functions.replace(texts[name], text, "y") for name, text in zip(texts, stored, strict=True)}
    relations.append((one.select(**replaced), [("<y>",) * len(stored)]))
    for relation, wanted in relations:
        frame = sd.Plan.from_bytes(relation.to_plan().to_bytes()).execute(spark)[0]
        assert tuple(frame.columns) == relation.columns
        assert [tuple(row) for row in frame.collect()] == wanted
    for text in stored[:3]:
        with pytest.raises(SubstraitDslError):
            sd.read_named(text, {"k": "i64?"}).execute(spark)
        with pytest.raises(SubstraitDslError):
            sd.drop_table((text, "t")).execute(spark)
    assert one.collect(spark) == [(0,)]


def test_a_table_to_drop_that_is_not_there_has_the_nearest_name(one: sd.Relation[Any], spark: SparkSession) -> None:
    one.write("strangers_stored", "ctas").execute(spark)
    with pytest.raises(
        ExecutionError, match=r'"strangers_store"(.|\n)*"strangers_stored".*; if_exists=True drops what'
    ):
        sd.drop_table("strangers_store").execute(spark)
    sd.drop_table("strangers_stored").execute(spark)


def test_spark_says_nothing_to_a_terminal(one: sd.Relation[Any], spark: SparkSession) -> None:
    for text, escaped in (
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\u202eb", r"a\u202eb"),
        ("\x9b2J", r"\x9b2J"),
        ("c\rd", r"c\rd"),
    ):
        for relation in (
            one.select(x=sd.lit(text, "string")),
            one.filter(sd.col("k").cast("string?") == text),
        ):
            shown = relation.explain(spark).partition("--- on Spark")[2].partition("--- where")[0]
            assert escaped in shown
            assert all(line.isprintable() for line in shown.split("\n"))


def test_to_explain_a_change_changes_nothing(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "there"
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "kept.parquet")
    folder.mkdir()
    (folder / "kept").write_text("x")
    rows = sd.read_files(tmp_path / "kept.parquet", NUMBERS)
    spark.range(1).selectExpr("id AS a").createOrReplaceTempView("kept_of_strangers")
    for change in (
        rows.write(sd.files_target(folder), op="ctas", create_mode="replace_if_exists"),
        rows.write(sd.files_target(tmp_path / "new"), op="ctas"),
        rows.write("new_of_strangers", op="ctas"),
        rows.write(sd.virtual_target("kept_of_strangers"), op="ctas", create_mode="replace_if_exists"),
        sd.create_table("new_of_strangers", NUMBERS),
        sd.create_view("new_of_strangers", rows),
        sd.drop_table("kept_of_strangers"),
    ):
        assert change.explain(spark)
        assert sd.Plan(sd.subtree(change), rows).explain(spark)
    assert [path.name for path in folder.iterdir()] == ["kept"]
    assert not (tmp_path / "new").exists()
    assert not spark.catalog.tableExists("new_of_strangers")
    assert spark.table("kept_of_strangers").collect() == [(0,)]
