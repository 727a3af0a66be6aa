"""Plans of strangers that are read, and what they would do, without anything that runs them."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.errors import (
    CatalogError,
    InvalidArgumentError,
    InvalidChoiceError,
    NotAllowedError,
    UnsupportedError,
)
from tests.support import f, refused, table


def test_a_plan_of_more_bytes_than_may_be_is_not_read(tmp_path: Path) -> None:
    plan = table("a: i64").to_plan()
    data, text = plan.to_bytes(), plan.to_json()
    (tmp_path / "plan").write_bytes(data)
    (tmp_path / "plan.json").write_text(text)
    assert sd.Plan.from_bytes(data, max_bytes=len(data)) == plan
    assert sd.Plan.from_json(text, max_bytes=None) == plan
    assert sd.Plan.load(tmp_path / "plan", max_bytes=len(data)) == plan
    with refused(UnsupportedError, "from_bytes", f"more than {len(data) - 1} bytes", "max_bytes=..."):
        sd.Plan.from_bytes(data, max_bytes=len(data) - 1)
    with refused(UnsupportedError, "from_json", "more than 10 bytes"):
        sd.Plan.from_json(text, max_bytes=10)
    with refused(UnsupportedError, "from_proto", "more than 10 bytes"):
        sd.Plan.from_proto(plan.to_proto(), max_bytes=10)
    for name in ("plan", "plan.json"):
        with refused(UnsupportedError, "load", "more than 10 bytes"):
            sd.Plan.load(tmp_path / name, max_bytes=10)
    with refused(UnsupportedError, "from_bytes", "more than 67,108,864 bytes"):
        sd.Plan.from_bytes(bytes(64 * 2**20 + 1))
    for wrong in (-1, 1.5, True, "1"):
        with pytest.raises(InvalidArgumentError, match="max_bytes is a number of bytes"):
            sd.Plan.from_bytes(data, max_bytes=wrong)  # type: ignore[arg-type]  # on purpose


def test_nothing_endless_is_read_to_its_end() -> None:
    with refused(UnsupportedError, "load", "more than 1,000 bytes"):
        sd.Plan.load("/dev/zero", max_bytes=1000)


@pytest.mark.parametrize("name", ["relations", "extensions", "extension_urns", "parameter_bindings", "type_aliases"])
def test_a_million_empty_messages_are_refused_at_once(name: str) -> None:
    number = Plan.DESCRIPTOR.fields_by_name[name].number
    data = bytes([8 * number + 2, 0]) * 1_000_000
    with refused(UnsupportedError, "from_bytes", f"there are 1,000,000 {name}, and 100,000 are the most"):
        sd.Plan.from_bytes(data)


T = table("a: i64, b: string?")
U = table("a: i64, b: string?", "u")
V = sd.read_named(("db", "v"), {"c": "i64"})
MESSAGE = sd.AnyMessage("type.googleapis.com/acme.Secret", b"")
READ_T, READ_U, READ_V = (sd.Access("read", "table", names) for names in (("t",), ("u",), ("db", "v")))


def access(operation: Any, object: Any, *names: str) -> sd.Access:
    return sd.Access(operation, object, names)


ACCESSES: dict[str, tuple[Callable[[], Any], list[sd.Access]]] = {
    "rows in the plan": (lambda: sd.read_virtual([(1,)], {"a": "i64"}), []),
    "a table, twice": (lambda: T.union_all(T), [READ_T]),
    "exists": (lambda: T.filter(lambda r: sd.exists(V.filter(lambda v: v.c == r.a))), [READ_T, READ_V]),
    "a scalar subquery in a measure": (
        lambda: T.aggregate(n=lambda r: f.sum(r.a + sd.scalar_subquery(V.fetch(1)))),
        [READ_T, READ_V],
    ),
    "a subquery in a subquery": (
        lambda: T.filter(lambda r: r.a.is_in(V.filter(lambda v: sd.exists(U)))),
        [READ_T, READ_V, READ_U],
    ),
    "the filter of a read": (
        lambda: sd.read_named("t", {"a": "i64"}, filter=lambda r: r.a.is_in(V)),
        [READ_T, READ_V],
    ),
    "a lateral join": (lambda: T.lateral_join(lambda r: V.filter(lambda v: v.c == r.a)), [READ_T, READ_V]),
    "the condition of a join": (lambda: T.join(V, on=lambda l, r: sd.exists(U)), [READ_T, READ_V, READ_U]),
    "shared": (lambda: twice(sd.shared(T.cross(V))), [READ_T, READ_V]),
    "files": (
        lambda: sd.read_files(["/x/a.parquet", "s3://b/*.parquet"], {"a": "i64"}, kind="glob"),
        [access("read", "files", "file:///x/a.parquet"), access("read", "files", "s3://b/*.parquet")],
    ),
    "a metadata file": (
        lambda: sd.read_iceberg("s3://x/m.json", {"a": "i64"}),
        [access("read", "iceberg_table", "s3://x/m.json")],
    ),
    "an insert": (lambda: T.write(("db", "w")), [access("insert", "table", "db", "w"), READ_T]),
    "a ctas": (lambda: T.write("w", op="ctas"), [access("ctas", "table", "w"), READ_T]),
    "a ctas that replaces": (
        lambda: T.write("w", op="ctas", create_mode="replace_if_exists"),
        [access("ctas", "table", "w"), access("drop_if_exist", "table", "w"), READ_T],
    ),
    "a ctas that does not": (
        lambda: T.write("w", op="ctas", create_mode="ignore_if_exists"),
        [access("ctas", "table", "w"), READ_T],
    ),
    "files that are replaced": (
        lambda: T.write(sd.files_target("s3://out"), op="ctas", create_mode="replace_if_exists"),
        [access("ctas", "files", "s3://out"), access("drop_if_exist", "files", "s3://out"), READ_T],
    ),
    "a table in memory": (
        lambda: T.write(sd.virtual_target("w"), op="ctas"),
        [access("ctas", "virtual_table", "w"), READ_T],
    ),
    "written files": (
        lambda: T.write(sd.files_target("s3://out/{a}"), op="ctas"),
        [access("ctas", "files", "s3://out"), READ_T],
    ),
    "a delete that shows what it took": (
        lambda: T.write("w", op="delete", output="modified_records"),
        [access("delete", "table", "w"), access("read", "table", "w"), READ_T],
    ),
    "a write inside": (
        lambda: T.write("w", output="modified_records").filter(lambda r: sd.exists(V)),
        [access("insert", "table", "w"), READ_T, READ_V],
    ),
    "an update": (
        lambda: sd.update("t", {"a": "i64"}, {"a": lambda r: r.a + 1}, lambda r: r.a.is_in(V)),
        [access("update", "table", "t"), READ_T, READ_V],
    ),
    "a new table": (lambda: sd.create_table("w", {"a": "i64"}), [access("create", "table", "w")]),
    "an altered table": (lambda: sd.alter_table("w", {"a": "i64"}), [access("alter", "table", "w")]),
    "a dropped table": (lambda: sd.drop_table(("db", "w")), [access("drop", "table", "db", "w")]),
    "a view": (
        lambda: sd.create_view("w", T.filter(lambda r: sd.exists(V))),
        [access("create", "view", "w"), READ_T, READ_V],
    ),
    "an exchange": (
        lambda: T.exchange(sd.broadcast(), targets=[sd.exchange_target("http://x", 0), sd.exchange_target(MESSAGE)]),
        [access("insert", "uri", "http://x"), access("insert", "extension", MESSAGE.type_url), READ_T],
    ),
    "an extension": (
        lambda: sd.extension_multi([T, V], MESSAGE, {"a": "i64"}),
        [access("any", "extension", MESSAGE.type_url), READ_T, READ_V],
    ),
    "an enhancement": (
        lambda: T.with_extension(common=sd.AdvancedExtension(enhancement=MESSAGE)),
        [access("any", "extension", MESSAGE.type_url), READ_T],
    ),
}


def twice(relation: Any) -> Any:
    return relation.union_all(relation)


@pytest.mark.parametrize("name", ACCESSES)
def test_all_accesses_of_a_plan_are_found(name: str) -> None:
    make, wanted = ACCESSES[name]
    plan = make().to_plan()
    assert sorted(map(str, plan.accesses().all)) == sorted(map(str, wanted))
    assert set(plan.accesses().all) == set(wanted)
    if name not in (
        "an extension",
        "written files",
        "files that are replaced",
        "a table in memory",
    ):  # which no message, or not all of it, holds
        assert set(sd.Plan.from_bytes(plan.to_bytes()).accesses().all) == set(wanted)


def test_accesses_of_all_trees_of_a_plan() -> None:
    plan = sd.Plan(
        sd.subtree(T.write("w")), V, sd.drop_table("u"), advanced_extensions=sd.AdvancedExtension(enhancement=MESSAGE)
    )
    found = plan.accesses()
    insert, drop = access("insert", "table", "w"), access("drop", "table", "u")
    unknown = access("any", "extension", MESSAGE.type_url)
    assert set(found.all) == {insert, READ_T, READ_V, drop, unknown}
    assert set(found.reads) == {READ_T, READ_V, unknown}
    assert set(found.writes) == {insert, unknown}
    assert set(found.definitions) == {drop, unknown}
    assert [*found] == [*found.all]
    assert len(found) == 5
    assert drop in found
    assert access("drop", "table", "w") not in found
    ctas = T.write("w", op="ctas").to_plan().accesses()
    assert ctas.writes == ctas.definitions == (access("ctas", "table", "w"),)
    assert str(sd.read_virtual([(1,)], {"a": "i64"}).to_plan().accesses()) == "nothing outside of the plan"


class NoSession:
    """Stands for a session that must not be asked anything."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the session was asked for {name}")


RUNS: dict[str, Callable[[Any, Any, Any], object]] = {
    "execute": lambda rel, spark, allow: rel.execute(spark, allow=allow),
    "collect": lambda rel, spark, allow: rel.collect(spark, allow=allow),
    "show": lambda rel, spark, allow: rel.show(spark, allow=allow),
    "running": lambda rel, spark, allow: rel.running(spark, allow=allow),
    "plan.execute": lambda rel, spark, allow: rel.to_plan().execute(spark, allow=allow),
    "plan.running": lambda rel, spark, allow: rel.to_plan().running(spark, allow=allow),
}


@pytest.mark.parametrize("run", RUNS)
def test_what_is_not_allowed_is_refused_before_the_session_is_asked(run: str) -> None:
    plan = T.filter(lambda r: sd.exists(V)).write("w", output="modified_records")
    session, verb = NoSession(), run.rpartition(".")[2]
    for allow in (
        [],
        [READ_T, access("insert", "table", "w"), access("read", "table", "DB", "v")],
        T.to_plan().accesses(),
        lambda access: access.names != ("db", "v"),
        iter([READ_T]),
    ):
        with pytest.raises(NotAllowedError, match=f"{verb}: the plan has .* not allowed: .*read table db.v") as error:
            RUNS[run](plan, session, allow)
        assert READ_V in error.value.accesses
    for fit in (plan.to_plan().accesses(), plan.to_plan().accesses().all, lambda access: True, None):
        with pytest.raises(AssertionError, match="the session was asked"):
            RUNS[run](plan, session, fit)
    wrong: list[Any] = ["t", b"t", 5, READ_T, [("read", "table", ("t",))], lambda access: None, lambda access: "no"]
    for allow in wrong:
        with pytest.raises(InvalidArgumentError, match="allow"):
            RUNS[run](plan, session, allow)


def test_an_access_says_what_is_accessed() -> None:
    with pytest.raises(InvalidChoiceError, match="operation of an access"):
        access("reads", "table", "t")
    with pytest.raises(InvalidChoiceError, match="object of an access"):
        access("read", "tables", "t")
    with pytest.raises(InvalidArgumentError, match="has the name of"):
        access("read", "table")
    with pytest.raises(InvalidArgumentError, match="names of Access must be a tuple of texts"):
        sd.Access("read", "table", "t")  # type: ignore[arg-type]  # on purpose


class Events:
    """What reaches outside of the process, or runs code of others, while something is watched."""

    OUTSIDE = ("open", "socket.", "subprocess.", "os.", "pickle.", "shutil.", "urllib.", "http.", "ctypes.", "import")

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.is_watching = False
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_watching and event.startswith(self.OUTSIDE):
            self.seen.append(f"{event} {arguments!r:.200}")


@cache
def events() -> Events:
    """The events of this process; Python knows no way to stop listening."""
    return Events()


class Canary:
    """Would make a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.folder,)


NAMES_OF_PLACES = ("file:///etc/passwd", "http://127.0.0.1:1/x.yaml", "/etc/passwd", "urn:os:system", "../../x")


def plans_of_strangers(folder: Path) -> list[bytes]:
    """Plans whose names are those of files and hosts, with a pickle inside, and one for each kind of access."""
    pickled = sd.AnyMessage("type.googleapis.com/acme.Function", pickle.dumps(Canary(folder)))
    plans = [make().to_plan() for make, _ in ACCESSES.values()]
    plans.append(T.with_extension(common=sd.AdvancedExtension((pickled,))).to_plan())
    found = [plan.to_bytes() for plan in plans]
    for name in NAMES_OF_PLACES:
        message = T.project(x=lambda r: r.a + 1).to_plan().to_proto()
        for urn in message.extension_urns:
            urn.urn = name
        message.expected_type_urls.append(name)
        message.version.producer = name
        found.append(message.SerializeToString())
        found.append(sd.read_named((name, name), {name: "i64"}).to_plan().to_bytes())
    return found


def gone_through(data: bytes) -> None:
    plan = sd.Plan.from_bytes(data)
    again = sd.Plan.from_bytes(plan.to_bytes())
    assert plan == again
    assert hash(plan) == hash(again)
    for text in (str(plan), repr(plan), plan.explain(), str(plan.accesses()), str(plan.findings), plan.to_json()):
        assert text
    assert plan.requirements() == again.requirements()
    for root in plan.roots:
        assert str(root.schema)
        assert root.explain(properties=True)


def test_a_plan_that_is_read_and_printed_reaches_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "ran"
    plans = plans_of_strangers(canary)
    for data in plans:
        with suppress(UnsupportedError):  # of messages that JSON cannot say
            gone_through(data)  # what the library loads when it is needed first
    found = events()
    found.seen.clear()
    found.is_watching = True
    try:
        for data in plans:
            with suppress(UnsupportedError):
                gone_through(data)
        open(os.devnull).close()  # is seen
    finally:
        found.is_watching = False
    assert len(found.seen) == 1, found.seen
    assert not canary.exists()


FORGERIES = ("x\nwrite v", "x\r\nread v", "\x1b[2J\x1b[1;1Hread v", "\u2028read v", "\x85read v", "\u202ev daer")


@pytest.mark.parametrize("text", FORGERIES)
def test_no_text_of_a_plan_begins_a_line(text: str) -> None:
    plain, forged = (
        sd.read_named((name, "t"), {name: "i64", "s": "string"})
        .filter(sd.col("s") == name)
        .project(**{f"{name}2": f.concat(sd.col("s"), sd.lit(name, "string"))})
        .write((name,), op="ctas")
        .to_plan()
        for name in ("x", text)
    )
    shows: list[Callable[[sd.Plan], str]] = [str, sd.Plan.explain, lambda plan: str(plan.accesses())]
    for show in shows:
        assert beginnings(show(forged)) == beginnings(show(plain))
        assert all(line.isprintable() for line in show(forged).split("\n"))


@pytest.mark.parametrize("text", FORGERIES)
def test_a_text_that_is_read_again_is_exact_and_shown_without_what_moves_a_terminal(text: str) -> None:
    plan = sd.read_named((text,), {text: "i64"}).to_plan()
    assert sd.Plan.from_text(plan.to_text()) == plan
    assert all(line.isprintable() for line in repr(plan.to_text()).split("\n"))


def beginnings(text: str) -> list[str]:
    """The first words of the lines of a text, but of those that go on with the one before."""
    return [line.split()[0] for line in text.splitlines() if not line.lstrip().startswith("|")]


def test_an_access_is_shown_on_one_line_and_like_no_other() -> None:
    parts = (("a", "b"), ("a.b",), ('a"."b',), ("a\n", "b"), ("é",))
    assert [str(sd.Access("read", "table", names)) for names in parts] == [
        "read table a.b",
        'read table "a.b"',
        r'read table "a\".\"b"',
        r'read table "a\n".b',
        'read table "é"',
    ]


def test_tags_of_an_extension_file_make_no_objects(tmp_path: Path) -> None:
    canary = tmp_path / "ran"
    for tag in ("!!python/object/apply:os.mkdir", "!!python/object/new:os.mkdir", "!!python/name:os.mkdir", "!!int"):
        for text in (
            f"urn: {tag} [{canary}]\n",
            f"urn: extension:x:y\nmetadata: {tag} [{canary}]\n",
            f"urn: extension:x:y\nscalar_functions: {tag} [{canary}]\n",
            f"%TAG ! tag:yaml.org,2002:python/\n---\nurn: extension:x:y\nx: !object/apply:os.mkdir [{canary}]\n",
        ):
            with suppress(CatalogError):
                sd.standard_catalog().with_extension(text)
    assert not canary.exists()
