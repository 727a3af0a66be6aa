"""Derived columns in checkers without plugins: pyright, ty and pyrefly check them, and their editors complete them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Timer

import pytest

from substrait_dsl.cli import main
from tests.language_server import language_server

PIPELINES = """\
from __future__ import annotations

from typing import Annotated

import substrait_dsl as sd
from substrait_dsl import functions as f

import pipelines_schemas as schemas


class Address(sd.Schema):
    city: sd.String
    zip: sd.Nullable[sd.String]


class Orders(sd.Schema):
    key: sd.I64
    customer: sd.I64
    price: sd.FP64
    ship_to: sd.Nullable[sd.Struct[Address]]
    place: Annotated[sd.UserDefined, sd.UserDefined("extension:io.substrait:extension_types", "point")]


orders = sd.read_named("orders", Orders)
spent = (
    orders.group_by("customer")
    .agg(spent=lambda o: f.sum(o.price), orders=f.count(), to=lambda o: f.any_value(o.ship_to))
    .as_(schemas.Spent)
)


def best(spent: sd.Relation[schemas.Spent], least: float) -> sd.Relation[schemas.Best]:
    return spent.filter(lambda s: s.spent > least).select("customer", n=lambda s: s.orders + 1).as_(schemas.Best)


def placed(orders: sd.Relation[Orders]) -> sd.Relation[schemas.Placed]:
    return orders.select("key", "place").as_(schemas.Placed)
"""

USES = """\
import substrait_dsl as sd
import pipelines_schemas as schemas
from pipelines import best, orders, placed, spent


def label(row: schemas.Best) -> sd.Expr[sd.I64]:
    return row.n


spent.filter(lambda s: s.orders > 3)
best(spent, 1.0).filter(lambda b: b.customer == b.n).select(x=label)
placed(orders).filter(lambda p: p.key > 1)
spent.filter(lambda s: s.spend > 3.0)  # E
spent.filter(lambda s: s.orders > "x")  # E
best(orders, 1.0)  # E
best(spent, 1.0).filter(lambda b: b.orders > 1)  # E
placed(orders).filter(lambda p: p.kee > 1)  # E
spent.filter(schemas.Spent.spend > 3.0)  # E
"""

COMPLETED: Mapping[str, set[str]] = {
    "spent.filter(lambda s: s.": {"customer", "spent", "orders", "to"},
    "best(spent, 1.0).filter(lambda b: b.": {"customer", "n"},
    "placed(orders).c.": {"key", "place"},
    "schemas.Spent.": {"customer", "spent", "orders", "to"},
    "spent.filter(lambda s: s.orders.": {"is_null", "cast", "alias"},
}
"""What may stand at the end of a line, besides what every row has."""

HEADER = "import pipelines_schemas as schemas\nfrom pipelines import best, orders, placed, spent\n\n"

CHECKERS: Mapping[str, Sequence[str]] = {
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable, "uses.py", "pipelines.py", "pipelines_schemas.py"],
    "ty": ["-m", "ty", "check", "--python", sys.executable, "--output-format", "concise", "."],
    "pyrefly": ["-m", "pyrefly", "check", "--python-interpreter-path", sys.executable, "--output-format", "min-text"],
}

SERVERS: Mapping[str, Sequence[str]] = {
    "pyright": ["-m", "pyright.langserver", "--stdio"],
    "ty": ["-m", "ty", "server"],
    "pyrefly": ["-m", "pyrefly", "lsp"],
}

SETTINGS: Mapping[str, object] = {
    "python": {"pythonPath": sys.executable, "analysis": {"diagnosticMode": "openFilesOnly"}},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose schema module is written."""
    path = tmp_path_factory.mktemp("project")
    (path / "pipelines.py").write_text(PIPELINES, encoding="utf-8")
    (path / "uses.py").write_text(USES, encoding="utf-8")
    (path / "ty.toml").write_text(f'[environment]\npython = "{sys.prefix}"\n', encoding="utf-8")
    (path / "pyrefly.toml").write_text(f'python-interpreter-path = "{sys.executable}"\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        assert main(["typing", "--write", "pipelines"]) == 0
        assert main(["typing", "--check", "pipelines"]) == 0
    return path


@pytest.mark.parametrize("checker", CHECKERS)
def test_checkers_object_to_wrong_uses_of_derived_columns_and_to_nothing_else(checker: str, project: Path) -> None:
    done = subprocess.run(
        [sys.executable, *CHECKERS[checker]], cwd=project, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = {(Path(file).name, int(line)) for file, line in re.findall(r"(\w+\.py):(\d+):", done.stdout)}
    expected = {("uses.py", number) for number, line in enumerate(USES.splitlines(), 1) if line.endswith("# E")}
    assert lines == expected, done.stdout


@pytest.mark.parametrize("server", SERVERS)
def test_editors_complete_derived_columns(server: str, project: Path) -> None:
    with language_server([sys.executable, *SERVERS[server]], project, SETTINGS) as found:
        timer = Timer(120, found.stop)
        timer.start()
        try:
            for number, (line, columns) in enumerate(COMPLETED.items()):
                offered = found.completions(project / f"edited{number}.py", HEADER + line)
                assert columns <= offered, f"{line} {sorted(offered)}"
                assert not offered & {"price", "ship_to"}  # columns of what the pipelines are made of
        finally:
            timer.cancel()
