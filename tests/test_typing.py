"""What mypy, pyright and ty see of typed pipelines, without any plugin.

The programs under ``typing/plain`` are right: no checker may object to any line. In those under ``typing/faulty`` a
comment ``# E:`` marks each line that every checker must object to, ``# E(mypy, pyright):`` one that only those see;
nobody may object to any other line.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from substrait_dsl import functions
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.stub import COMMAND, STANDARD_FILE, standard_stub, stub_of

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests" / "typing"
PLAIN = sorted((PROGRAMS / "plain").glob("*.py"))
FILES = [PROGRAMS / "tables.py", *PLAIN, *sorted((PROGRAMS / "faulty").glob("*.py"))]

CHECKERS: Mapping[str, Sequence[str]] = {
    "mypy": ["mypy", "--strict", "--no-pretty"],
    "pyright": ["pyright", "--pythonpath", sys.executable],
    "ty": ["ty", "check", "--python", sys.executable, "--output-format", "concise"],
}
MARK = re.compile(r"# E(?:\((?P<only>[\w, ]+)\))?: ")
REPORT = re.compile(r"^\s*(?P<file>\S+?\.pyi?):(?P<line>\d+)\b.*?\berror\b.*", re.MULTILINE)

Place = tuple[Path, int]


def objections(checker: str) -> dict[Place, str]:
    """The lines that a checker objects to, with what it says."""
    assert importlib.util.find_spec(checker) is not None, f"{checker} is not installed; it belongs to the extra dev"
    command = [sys.executable, "-m", *CHECKERS[checker], *(str(file.relative_to(ROOT)) for file in FILES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {(ROOT / found["file"], int(found["line"])): found[0] for found in REPORT.finditer(done.stdout)}


def marked(checker: str, files: Iterable[Path]) -> set[Place]:
    """The lines whose comments say that a checker must object."""
    return {
        (file, number)
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if (mark := MARK.search(line)) and (mark["only"] is None or checker in mark["only"].split(", "))
    }


@pytest.mark.parametrize("checker", CHECKERS)
def test_checkers_object_to_the_faulty_lines_and_to_no_others(checker: str) -> None:
    found = objections(checker)
    expected = marked(checker, FILES)
    needless = [said for place, said in found.items() if place not in expected]
    assert not needless, "\n".join(needless)
    assert sorted(f"{file.name}:{line}" for file, line in expected - found.keys()) == []


@pytest.mark.parametrize("program", PLAIN, ids=lambda file: str(file.stem))
def test_right_programs_run(program: Path) -> None:
    importlib.import_module(".".join(program.relative_to(ROOT).with_suffix("").parts))


DECLARED = """
from tests.typing.tables import Customers, Orders
import substrait_dsl as sd
from substrait_dsl import functions as f

orders = sd.read_named("orders", Orders)
files = sd.read_files("customers.csv", Customers, format="csv")
rows = sd.read_virtual([(1, "x")], {"id": sd.I64, "name": "string?"})
best = orders.group_by("o_custkey").agg(n=f.count(), weight=lambda o: f.sum(o.o_weight)).sort(sd.desc("weight"))
both = orders.join(files, on=lambda o, c: o.o_custkey == c.c_custkey, how="left").select("o_orderkey", "c_name")
best.write("best")
both.write(("db", "both"), "ctas", schema={"key": sd.I64, "name": "string?"})
sd.create_table("orders", Orders, or_replace=True)
best.to_plan().save("best.plan")
"""


def test_strict_pyright_knows_the_types_where_pyspark_is_missing(tmp_path: Path) -> None:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for module in ("attr", "attrs", "typing_extensions"):
        found = importlib.util.find_spec(module)
        assert found is not None
        assert found.origin is not None
        place = Path(found.origin).parent if found.submodule_search_locations else Path(found.origin)
        (libraries / place.name).symlink_to(place)
    for own in ("substrait_dsl", "tests"):
        (libraries / own).symlink_to(ROOT / own)
    venv.create(tmp_path / "empty", with_pip=False)
    settings = {"typeCheckingMode": "strict", "include": ["declared.py"], "extraPaths": ["libraries"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "declared.py").write_text(DECLARED, encoding="utf-8")
    python = next((tmp_path / "empty").glob("*/python*"))
    command = [sys.executable, "-m", "pyright", "--pythonpath", str(python)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_of_the_standard_functions_is_current() -> None:
    assert STANDARD_FILE.read_text(encoding="utf-8") == standard_stub(), f"run: {COMMAND}"


def test_the_stub_has_every_function_and_no_other() -> None:
    definitions = ast.parse(STANDARD_FILE.read_text(encoding="utf-8")).body
    defined = {each.name for each in definitions if isinstance(each, ast.FunctionDef)}
    assert sorted(defined) == sorted(dir(functions))


def test_the_stub_of_an_extension_is_what_the_programs_use() -> None:
    own = PROGRAMS / "own"
    expected = (own / "functions.pyi").read_text(encoding="utf-8")
    assert stub_of(own / "extension.yaml") == expected, "run: substrait-dsl stub extension.yaml > functions.pyi"


def test_the_specifications_own_extensions_need_no_stub() -> None:
    from importlib.resources import files

    standard = files("substrait_extensions.extensions") / "functions_boolean.yaml"
    with pytest.raises(InvalidArgumentError, match="one of the specification's own"):
        stub_of(standard.read_text(encoding="utf-8"))
