"""The versions of Spark that plans run on: said alike everywhere; others are refused by name. Nothing starts one."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

import pyspark.util
import pyspark.version
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.session import embedded, versions
from substrait_dsl.spark.session.local import local_session
from substrait_dsl.spark.session.servers import PYSAIL
from substrait_dsl.spark.session.versions import NEWEST, OLDEST, SAIL, SAIL_CLIENT, SINCE, has, require_supported
from tests.support import refused

ROOT = Path(__file__).parents[2]
RANGE = "{}.{} to {}.{}".format(*OLDEST, *NEWEST)


class Session:
    """A session that says which Spark it talks to, and counts how often it is asked."""

    def __init__(self, version: str) -> None:
        self._version = version
        self.asked = 0
        self.sparkContext = SimpleNamespace(startTime=0)  # as of one that runs

    @property
    def version(self) -> str:
        self.asked += 1
        return self._version

    def createDataFrame(self) -> None:  # noqa: N802  # by this a session is told
        raise AssertionError("nothing runs")


def test_the_range_is_said_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [said] = [text for text in project["optional-dependencies"]["spark"] if text.startswith("pyspark")]
    assert Requirement(said).specifier == SpecifierSet(f">={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}")
    pinned = "pyspark=={}.{}.".format(*NEWEST)
    assert pinned in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    local = {each.name: each for each in map(Requirement, project["optional-dependencies"]["local"])}
    assert local["pysail"].specifier == SpecifierSet(f">={SAIL[0]}.{SAIL[1]}.2,<{SAIL[0]}.{SAIL[1] + 1}")
    newest = f"<{SAIL_CLIENT[0]}.{SAIL_CLIENT[1] + 1}"
    assert local["pyspark-client"].specifier == SpecifierSet(f">={OLDEST[0]}.{OLDEST[1]},{newest}")
    assert Requirement(PYSAIL).specifier == local["pysail"].specifier
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    assert f"Spark {RANGE}" in page
    assert "pyspark[connect]=={}.{}.".format(*OLDEST) in page


@pytest.mark.parametrize("version", ["4.1.0", "4.1.0.dev1", "4.2.1-amzn-0", "4.3.99"])
def test_versions_of_the_range_are_taken_and_asked_for_once(version: str) -> None:
    session: Any = Session(version)
    require_supported(session)
    require_supported(session)
    assert session.asked == 1


@pytest.mark.parametrize("version", ["3.5.9", "4.0.2", "4.4.0", "5.1.0", "unknown"])
def test_other_servers_are_refused_before_anything_runs(version: str) -> None:
    session: Any = Session(version)
    relation = sd.read_virtual([(1,)], {"a": sd.I64})
    runs: dict[str, Any] = {"execute": relation.execute, "collect": relation.collect}
    for verb, run in runs.items():
        with refused(UnsupportedError, f"{verb}: plans run on Spark {RANGE}, and the session's Spark is {version}"):
            run(session)


@pytest.mark.parametrize("version", ["4.0.2", "4.4.0"])
def test_another_pyspark_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    session: Any = Session("4.1.0")
    for run in (lambda: require_supported(session), local_session):
        with refused(UnsupportedError, f"plans run on Spark {RANGE}, and pyspark is {version}", '[spark]"'):
            run()
    assert session.asked == 0


PACKAGES = {
    "all of pyspark over its client": ("4.3.0", {"pyspark": "4.3.0", "pyspark-client": "4.2.0"}, False, None),
    "both of one version": ("4.2.0", {"pyspark": "4.2.0", "pyspark-client": "4.2.0"}, False, None),
    "another module on the path": ("4.2.0", {"pyspark": "4.3.0"}, False, None),
    "the client over all of pyspark": (
        "4.2.0",
        {"pyspark": "4.3.0", "pyspark-client": "4.2.0"},
        False,
        ("pyspark 4.3.0 and pyspark-client 4.2.0 are one module", "--force-reinstall --no-deps pyspark==4.3.0"),
    ),
    "the client": ("4.2.0", {"pyspark-client": "4.2.0"}, True, ("no Spark in the package", '[spark]"')),
}
"""The version of the module, the packages that are installed, whether it is the client's alone, and what is said."""


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_that_are_one_module(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, packages, is_client, said = PACKAGES[name]
    monkeypatch.setattr(pyspark.version, "__version__", module)
    monkeypatch.setattr(pyspark.util, "is_remote_only", lambda: is_client)
    monkeypatch.setattr(versions, "_find_installed_version", packages.get)
    session: Any = Session("4.3.0")
    require = versions.require_spark.__wrapped__
    if said is None:
        require()
        return
    monkeypatch.setattr("substrait_dsl.spark.session.local.require_spark", require)
    monkeypatch.setattr(versions, "require_spark", require)
    for run in (local_session, lambda: require_supported(session)):
        with refused(UnsupportedError, *said):
            run()
    assert session.asked == 0


@pytest.mark.parametrize(("left", "line"), [("pyspark", "pyspark==4.3.0"), ("pyspark-client", "pyspark-client==4.2.0")])
@pytest.mark.parametrize("engine", ["spark", "sail"])
def test_a_module_that_lost_its_files(
    left: str, line: str, engine: Literal["spark", "sail"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the two packages was removed, and so are the files that both have."""
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setattr(versions, "_find_installed_version", {left: line.partition("==")[2]}.get)
    monkeypatch.setattr(embedded, "_sessions", [])
    with refused(UnsupportedError, "the module pyspark lacks files", f"pip install --force-reinstall --no-deps {line}"):
        local_session(engine=engine)


def test_what_only_newer_versions_have_both_sides_must_have(monkeypatch: pytest.MonkeyPatch) -> None:
    for capability, since in SINCE.items():
        assert OLDEST < since <= NEWEST
        old, new = f"{since[0]}.{since[1] - 1}.9", "{}.{}.0".format(*since)
        for client, server in ((old, old), (old, new), (new, old), (new, new)):
            monkeypatch.setattr(pyspark, "__version__", client)
            session: Any = Session(server)
            assert has(session, capability) == ((client, server) == (new, new))
