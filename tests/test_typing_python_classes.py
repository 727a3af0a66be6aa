"""Classes of Python as schemas: the plugin knows of each what the library reads, and notices what mypy forgets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SubstraitDslError
from tests.projects import SETTINGS, Project
from tests.typing.plugin import models

CLASSES = sorted(
    name
    for name, value in vars(models).items()
    if isinstance(value, type)
    and value.__module__ == models.__name__
    and name not in ("City", "Color", "Level", "Outer")
)
USES = "import substrait_dsl as sd\nimport models\n" + "".join(
    f'sd.reveal_schema(sd.read_named("t", models.{name}))\n' for name in CLASSES
)
SAID = re.compile(r"use\.py:(\d+): (?:note: Schema is (.*)|error: read_named, (.*)  \[.*\])")


def runtime(name: str) -> str:
    """What the library reads of a class, or has against it."""
    try:
        return str(sd.read_named("t", getattr(models, name)).schema.struct)
    except SubstraitDslError as error:
        return "; ".join(str(error).removeprefix("read_named, ").split("\n  hint: "))


def plugin(project: Project) -> dict[str, str]:
    """What the plugin knows of each class, or has against it."""
    found = [each for line in project.checked("use.py") if (each := SAID.match(line))]
    known = {CLASSES[int(each[1]) - 3]: each[2] for each in found if each[2]}
    return known | {CLASSES[int(each[1]) - 3]: each[3] for each in found if each[3]}


@pytest.mark.parametrize("plugins", ["", "pydantic.mypy, "])
def test_the_plugin_knows_what_the_library_reads(plugins: str, library_cache: Path, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write({"mypy.ini": SETTINGS.replace("plugins = ", f"plugins = {plugins}")})
    project.write({"models.py": Path(models.__file__).read_text(encoding="utf-8"), "use.py": USES})
    expected = {name: runtime(name) for name in CLASSES}
    assert len(expected) >= 14
    assert plugin(project) == expected
    project.write({"use.py": USES + "\n"})  # now the models come from the cache
    assert plugin(project) == expected


MODELS = """
import dataclasses
from decimal import Decimal
from typing import Annotated
import substrait_dsl as sd
Money = Annotated[Decimal, sd.Decimal(15, 2)]
@dataclasses.dataclass
class Order:
    pieces: int
    price: Annotated[Decimal, sd.Decimal(15, 2)]
    cost: Money
"""
USE = """
import substrait_dsl as sd
from models import Order
sd.reveal_schema(sd.read_named("t", Order))
"""


@pytest.mark.parametrize(
    ("old", "new", "known"),
    [
        ("price: Annotated[Decimal, sd.Decimal(15, 2)]", "price: Annotated[Decimal, sd.Decimal(15, 3)]", "15,3"),
        (
            "Money = Annotated[Decimal, sd.Decimal(15, 2)]",
            "Money = Annotated[Decimal, sd.Decimal(9, 1)]",
            "cost: decimal<9,1>",
        ),
        ("pieces: int", "pieces: Annotated[int, sd.I32]", "pieces: i32"),
        ("pieces: int", "pieces: float", "pieces: fp64"),
        ("    pieces: int\n", "", "Schema is price"),
    ],
)
def test_what_uses_a_class_is_checked_again_when_it_changes(
    old: str, new: str, known: str, library_cache: Path, tmp_path: Path
) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write({"models.py": MODELS, "use.py": USE})
    assert "pieces: i64, price: decimal<15,2>, cost: decimal<15,2>" in project.checked("use.py")[0]
    project.write({"models.py": MODELS.replace(old, new, 1)})
    assert known in project.checked("use.py")[0]


def test_the_daemon_notices_another_type(library_cache: Path, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write({"models.py": MODELS, "use.py": USE})
    try:
        assert "pieces: i64" in project.checked("run", "--", "use.py", "models.py", program="mypy.dmypy")[0]
        project.write({"models.py": MODELS.replace("pieces: int", "pieces: float")})
        assert "pieces: fp64" in project.checked("run", "--", "use.py", "models.py", program="mypy.dmypy")[0]
    finally:
        project.run("mypy.dmypy", "stop")


MONEY = MODELS.split("@", maxsplit=1)[0]
OF_ANOTHER_MODULE = """
from typing import TypedDict
from money import Money
class Order(TypedDict):
    x: Money
"""


def test_metadata_behind_an_alias_of_another_module_is_not_known(library_cache: Path, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write({"money.py": MONEY, "models.py": OF_ANOTHER_MODULE, "use.py": USE})
    assert project.checked("use.py") == ["use.py:4: note: Schema is unknown"]
