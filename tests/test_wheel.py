"""The wheel, as a user has it: installed into an environment of its own, with what its metadata requires, no more."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution, distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from substrait_dsl.mypy_plugin.versions import NEWEST, OLDEST, require_tested

ROOT = Path(__file__).parent.parent
PROFILES = ROOT / "substrait_dsl" / "engines" / "profiles"
STUBS = ROOT / "stubs" / "substrait"

CONFIGURATION = """\
[tool.mypy]
plugins = ["substrait_dsl.mypy_plugin"]
"""

PROGRAM = """\
import substrait_dsl as sd


class Orders(sd.Schema):
    key: sd.I64
    price: sd.FP64


totals = sd.read_named("orders", Orders).project(total=lambda o: o.price * 2.0)
large = totals.filter(lambda o: o.totl > 100.0)
message = large.to_plan().to_proto()
reveal_type(message)
message.relations[0].root.name
reveal_type(totals.schema.to_proto().names)
"""

SAID = """\
pipeline.py:10: error: filter: there is no column "totl"; there are "key", "price", "total"; did you mean "total"?  \
[substrait-unknown-field]
pipeline.py:12: note: Revealed type is "substrait.plan_pb2.Plan"
pipeline.py:13: error: "RelRoot" has no attribute "name"; maybe "names"?  [attr-defined]
pipeline.py:14: note: Revealed type is "google.protobuf.internal.containers.RepeatedScalarFieldContainer[str]"
Found 2 errors in 1 file (checked 1 source file)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = place.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and its extra ``mypy``; what they require is linked to, not downloaded."""
    place = tmp_path_factory.mktemp("user") / "environment"
    venv.create(place)
    bases = {"base": str(place), "platbase": str(place)}
    packages = Path(sysconfig.get_path("purelib", "venv", bases))
    with ZipFile(wheel) as archive:
        archive.extractall(packages)
    [own] = distributions(path=[str(packages)])
    for name in required(own.requires, {"mypy"}):
        for file in distribution(name).files or ():
            top = file.parts[0]
            if top != ".." and not (packages / top).exists():
                (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return Path(sysconfig.get_path("scripts", "venv", bases)) / "python"


def required(requires: Iterable[str] | None, extras: set[str]) -> Iterator[str]:
    """The distributions that are required, and those that they require."""
    for text in requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield requirement.name
            yield from required(distribution(requirement.name).requires, requirement.extras)


def test_it_has_the_package_its_stubs_and_nothing_else(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("substrait_dsl/")}
    stubs = {f"substrait-stubs/{file.relative_to(STUBS)}" for file in STUBS.rglob("*") if file.is_file()}
    assert {"substrait_dsl/py.typed", "substrait_dsl/functions.pyi", "substrait_dsl/mypy_plugin/__init__.py"} <= package
    profiles = {f"substrait_dsl/engines/profiles/{file.name}" for file in PROFILES.glob("*.yaml")}
    assert profiles
    assert profiles <= package
    assert {"substrait_dsl/render/page.js", "substrait_dsl/render/page.css"} <= package
    assert "substrait-stubs/py.typed" in stubs
    assert {name for name in names - package - stubs if ".dist-info/" not in name} == set()
    assert stubs <= names


def test_two_lines_of_configuration_check_the_columns_of_every_step(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "pipeline.py").write_text(PROGRAM, encoding="utf-8")
    command = [str(environment), "-I", "-m", "mypy", "--strict", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout + done.stderr == SAID


def test_the_extra_requires_the_tested_versions_of_mypy(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [said] = [text for text in project["optional-dependencies"]["mypy"] if text.startswith("mypy")]
    assert Requirement(said).specifier == SpecifierSet(
        f">={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}",
    )
    require_tested("{}.{}.7".format(*OLDEST))
    require_tested("{}.{}.0+dev.0123abc".format(*NEWEST))
    assert capsys.readouterr().err == ""


def test_an_older_mypy_is_refused_by_name() -> None:
    with pytest.raises(ImportError, match=r"tested with mypy 2\.2 to 2\.4, and this is 2\.1\.0; pip install"):
        require_tested("2.1.0")


def test_of_a_newer_mypy_one_line_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    require_tested("3.0.1")
    assert capsys.readouterr().err == (
        "substrait_dsl.mypy_plugin: the plugin is tested with mypy 2.2 to 2.4, and this is 3.0.1\n"
    )
