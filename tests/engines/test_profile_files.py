"""Profiles that people write: what is wrong in a file, or with its path, is said with its file and its key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import substrait_dsl as sd
from substrait_dsl.algebra.settings import LEGACY_FIELDS
from substrait_dsl.engines.profile import load_profile, shipped_profiles
from substrait_dsl.errors import CatalogError, InvalidChoiceError, PlanFormatError, SubstraitDslError
from substrait_dsl.proto.legacy_schema import REMOVED_FIELDS

SHIPPED = Path(sd.__file__).parent / "engines" / "profiles"
ROWS: sd.Relation[Any] = sd.read_named("orders", {"id": "i64", "day": "date"}).filter(lambda r: r.id > 1)
PLAN = ROWS.to_plan()
CALLS: dict[str, Callable[[Any], object]] = {
    "check": PLAN.check,
    "lower": PLAN.lower,
    "to_bytes": lambda engine: PLAN.to_bytes(engine=engine),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the copy of a profile."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_bytes((SHIPPED / "duckdb-1.1.3.yaml").read_bytes())
    return tmp_path


@pytest.mark.parametrize("name", sorted(each.name for each in SHIPPED.glob("*.yaml")))
def test_copies_of_all_profiles_are_profiles(tmp_path: Path, name: str) -> None:
    """Their words are held against the specification, which those of the library are not when they are loaded."""
    copy = tmp_path / name
    copy.write_bytes((SHIPPED / name).read_bytes())
    assert load_profile(copy).functions == shipped_profiles()[name.removesuffix(".yaml")].functions
    assert load_profile(copy).argument == str(copy)


@pytest.mark.parametrize("path", ["mine.yaml", "./mine.yaml", Path("mine.yaml")])
def test_a_path_is_relative_to_the_working_folder(folder: Path, path: str | Path) -> None:
    assert PLAN.check(path).verdict == "runs lowered"
    assert PLAN.to_bytes(engine=path) == PLAN.to_bytes(engine="duckdb") == PLAN.to_bytes(engine=folder / "mine.yaml")


@pytest.mark.parametrize("ending", [".YAML", ".yml", ".Yml"])
def test_a_name_ends_in_small_or_large_letters(folder: Path, ending: str) -> None:
    (folder / "mine.yaml").rename(folder / f"other{ending}")
    assert PLAN.check(f"other{ending}").verdict == "runs lowered"


PATHS: dict[str, tuple[type[SubstraitDslError], str]] = {
    "mime.yaml": (CatalogError, 'cannot read mime.yaml: there is no such file.*did you mean "mine.yaml"'),
    "there/mine.yaml": (CatalogError, "there/mine.yaml: there is no such file.*no folder there"),
    "folder.yaml": (CatalogError, "cannot read folder.yaml: it is a folder"),
    "pipe.yaml": (CatalogError, "cannot read pipe.yaml: it is no regular file"),
    "~/mine.yaml": (CatalogError, "no such file.*expanduser"),
    "a\0.yaml": (CatalogError, r"cannot read 'a\\x00.yaml': embedded null"),
    "https://example.com/mine.yaml": (
        CatalogError,
        "a file of this machine, got the URL https://example.com/mine.yaml",
    ),
    "file:///mine.yml": (CatalogError, "got the URL file:///mine.yml"),
    "mine": (InvalidChoiceError, """unknown engine 'mine'.*write "mine.yaml" for the file"""),
    "mine.txt": (InvalidChoiceError, "ends in .yaml or .yml, which that of the file mine.txt does not"),
    "folder": (InvalidChoiceError, "unknown engine 'folder'"),
    "": (InvalidChoiceError, "unknown engine ''"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("path", PATHS)
def test_paths_of_no_profile_say_what_is_there(folder: Path, call: str, path: str) -> None:
    (folder / "folder.yaml").mkdir()
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "mine.txt").write_text("name: x")
    kind, words = PATHS[path]
    with pytest.raises(kind, match=rf"(?s)^{call}: .*{words}"):
        CALLS[call](path)


def test_a_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:  # as for those who are not the superuser, who reads every file
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(CatalogError, match=r"^check: cannot read mine\.yaml: Permission denied$"):
        PLAN.check("mine.yaml")


def test_a_message_of_capabilities_is_named_by_its_file(folder: Path) -> None:
    (folder / "mine.json").write_text("name: x")
    with pytest.raises(PlanFormatError, match=r"^check: mine\.json is no message substrait\.Capabilities"):
        PLAN.check("mine.json")


def with_metadata(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda profile: profile["metadata"].update(values)


def with_function(**values: Any) -> Callable[[dict[str, Any]], None]:
    function = {"source": "arithmetic", "name": "abs", "supported_impls": ["i8"], **values}
    return lambda profile: profile["supported_scalar_functions"].append(function)


def with_item(key: str, item: Any) -> Callable[[dict[str, Any]], None]:
    return lambda profile: profile[key].append(item)


def with_dependency(urn: str) -> Callable[[dict[str, Any]], None]:
    return lambda profile: profile["dependencies"].update(arithmetic=urn)


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "an option": (with_metadata(options={"overfow": ["ERROR"]}), 'options: no function has an option "overfow"'),
    "a value": (with_metadata(options={"abs.overflow": ["EROR"]}), 'options, abs.overflow: there is no value "EROR"'),
    "an owner": (with_metadata(options={"abz.overflow": ["ERROR"]}), 'no function and no extension "abz"'),
    "a function": (with_function(name="absolut"), 'functions_arithmetic" has no function "absolut"'),
    "a signature": (with_function(supported_impls=["i9"]), 'abs has no signature "i9"; expected "i8"'),
    "an extension": (with_dependency("extension:io.substrait:functions_arith"), "dependencies: .*functions_arith"),
    "a URN": (with_dependency("arithmetic"), 'dependencies: the specification has no extension "arithmetic"'),
    "a least count": (with_function(variadic={"min": -1}), "variadic: min must not be negative, got -1"),
    "counts": (with_function(variadic={"min": 3, "max": 1}), "variadic: max must not be less than min, got 1 and 3"),
    "digits": (with_item("supported_types", {"type": "PRECISION_TIME", "max_precision": -1}), "max_precision must not"),
    "a type twice": (with_item("supported_types", "I8"), 'the type "I8" is there already'),
    "a relation twice": (
        with_item("supported_relations", {"relation": "JOIN", "join_types": ["INNER"]}), 'the relation "JOIN" is there',
    ),
    "a cast": (with_metadata(casts={"i64": ["fp32"]}), "metadata, casts, i64: fp32 is not among the cast_types"),
    "a field": (with_metadata(omitted_fields=["FetchRel.cuont"]), 'has no field "FetchRel.cuont"'),
    "another encoding": (
        with_metadata(encoding="spec", omitted_fields=["FetchRel.count"]), "only the legacy encoding has omitted_f",
    ),
    "a shape": (with_metadata(shapes={"top_n": "right"}), 'metadata, shapes: there is no rule of shape "top_n"'),
    "a key": (with_metadata(litterals=["i8"]), 'unknown key "litterals"'),
    "no engine": (lambda profile: profile["metadata"].pop("engine"), 'metadata: the key "engine" is missing'),
    "no version": (lambda profile: profile["metadata"].pop("version"), 'metadata: the key "version" is missing'),
}  # fmt: skip
"""What is changed in the copy of a profile, and the words of the error."""


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_in_a_profile_is_named(folder: Path, what: str) -> None:
    change, words = BROKEN[what]
    profile = yaml.safe_load((folder / "mine.yaml").read_text())
    change(profile)
    (folder / "mine.yaml").write_text(yaml.safe_dump(profile))
    with pytest.raises(CatalogError, match=rf"^to_bytes: mine\.yaml.*{words}"):
        PLAN.to_bytes(engine="mine.yaml")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name: caf\xe9", r"no text in UTF-8 \(byte 0xe9 at 9\)"),
        (b"a: &a [x]\nb: *a\n", "line 2 has an alias"),
        (b"metadata: " + b"[" * 60_000, "line 1 nests more than 99 levels"),
        (b"name: !!python/object/apply:os.system [x]\n", r"name must be a text, got \['x'\]"),
        (b"metadata: {engine: a, version: '1'}\nmetadata: {}\n", 'line 2 has the key "metadata" again'),
        (b"- name\n", "expected a mapping"),
    ],
)
def test_hostile_texts_are_refused_with_the_place(folder: Path, data: bytes, words: str) -> None:
    (folder / "mine.yaml").write_bytes(data)
    for call in CALLS.values():
        with pytest.raises(CatalogError, match=rf"mine\.yaml.*{words}"):
            call("mine.yaml")


def test_lists_may_be_empty(folder: Path) -> None:
    """No constants at all are read: that is not the same as a list that is not there."""
    (folder / "mine.yaml").write_text("name: Mine\nmetadata: {engine: mine, version: '1', literals: [], forms: []}\n")
    assert next(iter(PLAN.check("mine.yaml").findings)).code == "literal"
    assert load_profile("mine.yaml").forms == frozenset()


def test_a_hint_names_the_file(folder: Path) -> None:
    (folder / "mine.yaml").write_text("name: Mine\nmetadata: {engine: duckdb, version: 1.1.3, literals: []}\n")
    query = ROWS.select(a=lambda r: r.id + 1, b=lambda r: r.id - 1)
    with pytest.raises(SubstraitDslError, match=r'check\("mine\.yaml"\) shows them'):
        query.to_plan().to_bytes(engine="mine.yaml")


def test_the_legacy_fields_are_those_that_are_written() -> None:
    assert {f"{field.message}.{field.name}" for field in REMOVED_FIELDS if field.unwritten is None} == set(
        LEGACY_FIELDS
    )
