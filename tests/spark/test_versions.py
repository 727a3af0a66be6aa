"""The versions of Spark that plans run on: said alike everywhere; others are refused by name. Nothing starts one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.session import local_session
from substrait_dsl.spark.versions import NEWEST, OLDEST, SINCE, has, require_supported
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
        with refused(UnsupportedError, f"plans run on Spark {RANGE}, and pyspark is {version}", "substrait-dsl[spark]"):
            run()
    assert session.asked == 0


def test_what_only_newer_versions_have_both_sides_must_have(monkeypatch: pytest.MonkeyPatch) -> None:
    for capability, since in SINCE.items():
        assert OLDEST < since <= NEWEST
        old, new = f"{since[0]}.{since[1] - 1}.9", "{}.{}.0".format(*since)
        for client, server in ((old, old), (old, new), (new, old), (new, new)):
            monkeypatch.setattr(pyspark, "__version__", client)
            session: Any = Session(server)
            assert has(session, capability) == ((client, server) == (new, new))
