"""``substrait-dsl typing``: the schema modules of pipelines are written, kept up to date, and refused by name."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import substrait_dsl as sd
from substrait_dsl.cli import main
from substrait_dsl.errors import InvalidArgumentError, SchemaError
from substrait_dsl.schema_modules import schema_modules

TABLES = """
from typing import Literal as L
import substrait_dsl as sd

class Address(sd.Schema):
    city: sd.String
    zip: sd.Nullable[sd.String]

class Orders(sd.Schema):
    key: sd.I64
    customer: sd.I64
    price: sd.Decimal[L[15], L[2]]
    ship_to: sd.Nullable[sd.Struct[Address]]

orders = sd.read_named("orders", Orders)
"""

HEAD = """
from __future__ import annotations
import datetime as dt
from decimal import Decimal
from typing import Any
import substrait_dsl as sd
from substrait_dsl import functions as f
from shop import pipelines_schemas as schemas
from shop.tables import Orders, orders
"""

SPENT = """
spent = orders.group_by("customer").agg(spent=lambda o: f.sum(o.price), orders=f.count()).as_(schemas.Spent)
"""

LARGE = """
def large(orders: sd.Relation[Orders], least: int, *, day: dt.date) -> sd.Relation[schemas.Large]:
    return orders.filter(lambda o: o.key > least).select("key", "ship_to", day=sd.lit(day)).as_(schemas.Large)
"""

BEST = """
def best(rows: sd.Relation[schemas.Spent], /) -> sd.Relation[schemas.Best]:
    return rows.filter(lambda s: s.orders > 3).select("customer").as_(schemas.Best)
"""

EXPECTED = '''"""The columns of the pipelines of ``shop.pipelines``.

Generated, not to be edited, by:

    substrait-dsl typing --write shop.pipelines
"""

from typing import Literal

import substrait_dsl as sd


class Best(sd.Schema):
    """The columns of a pipeline."""

    customer: sd.I64


class LargeShipTo(sd.Schema):
    """The fields of a struct."""

    city: sd.String
    zip: sd.Nullable[sd.String]


class Large(sd.Schema):
    """The columns of a pipeline."""

    key: sd.I64
    ship_to: sd.Nullable[sd.Struct[LargeShipTo]]
    day: sd.Date


class Spent(sd.Schema):
    """The columns of a pipeline."""

    customer: sd.I64
    spent: sd.Nullable[sd.Decimal[Literal[38], Literal[2]]]
    orders: sd.I64
'''


class Shop:
    """A package with a module of pipelines, in the working directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "shop").mkdir()
        self.write(__init__="", tables=TABLES)

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.path / "shop" / f"{name}.py").write_text(text, encoding="utf-8")

    def columns(self, *modules: str) -> Mapping[str, str]:
        """The columns of the classes that are made for modules."""
        names: dict[str, object] = {}
        for each in schema_modules([f"shop.{module}" for module in modules or ("pipelines",)]):
            exec(compile(each.text, str(each.path), "exec"), names)
        classes = {name: made for name, made in names.items() if isinstance(made, type)}
        return {name: str(made.__struct__) for name, made in classes.items() if issubclass(made, sd.Schema)}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files change within a second, which its cache does not see
    return Shop(tmp_path)


def test_a_schema_module_is_written_and_kept_up_to_date(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    file = shop.path / "shop" / "pipelines_schemas.py"
    shop.write(pipelines=HEAD + SPENT + LARGE + BEST)
    assert main(["typing", "--check", "shop.pipelines"]) == 1
    assert f"{file} is out of date; run substrait-dsl typing --write shop.pipelines" in capsys.readouterr().err
    assert not file.exists()
    assert main(["typing", "--write", "shop.pipelines"]) == 0
    assert capsys.readouterr().out == f"{file}: written\n"
    assert file.read_text(encoding="utf-8") == EXPECTED
    assert main(["typing", "--check", "shop.pipelines"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["typing", "--write", "shop.pipelines"]) == 0
    assert capsys.readouterr().out == f"{file}: up to date\n"

    shop.write(pipelines=HEAD + SPENT.replace("orders=f.count()", "most=lambda o: f.max(o.key)"))
    assert main(["typing", "--check", "shop.pipelines"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert "--- shop/pipelines_schemas.py" in said
    assert "-    orders: sd.I64" in said
    assert "+    most: sd.Nullable[sd.I64]" in said
    assert "-class Best(sd.Schema):" in said
    assert main(["typing", "--write", "shop.pipelines"]) == 0
    assert shop.columns() == {"Spent": "customer: i64, spent: decimal<38,2>?, most: i64?"}


def test_the_module_runs_with_what_is_written(shop: Shop) -> None:
    shop.write(pipelines=HEAD + SPENT + LARGE + BEST + "\nprint(best(spent).schema, schemas.Spent.spent)\n")
    for command in (["-m", "substrait_dsl.cli", "typing", "--write", "shop.pipelines"], ["-m", "shop.pipelines"]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    assert done.stdout == "0  customer  i64 Expr(spent)\n"


def test_the_page_shows_what_is_written(shop: Shop) -> None:
    page = (Path(__file__).parent.parent / "docs" / "typing" / "checkers.md").read_text(encoding="utf-8")
    program, classes = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    tables = TABLES.replace("sd.Decimal[L[15], L[2]]", "sd.FP64")  # as in the programs of the page
    shop.write(tables=tables, pipelines=program)
    [found] = schema_modules(["shop.pipelines"])
    assert found.text.endswith(f"import substrait_dsl as sd\n\n\n{classes}")


def test_nothing_is_left_of_an_evaluation(shop: Shop) -> None:
    shop.write(pipelines=HEAD + SPENT)
    modules, paths, finders = set(sys.modules), sys.path[:], sys.meta_path[:]
    schema_modules(["shop.pipelines"])
    assert {name for name in set(sys.modules) - modules if name.startswith("shop")} == set()
    assert (sys.path, sys.meta_path) == (paths, finders)


IMPORTS = {
    "of the module": "from shop import pipelines_schemas\nSpent = pipelines_schemas.Spent",
    "of the class": "from shop.pipelines_schemas import Spent",
    "under another name": "from shop.pipelines_schemas import Spent as Spent",
    "relative": "from . import pipelines_schemas as s\nSpent = s.Spent",
    "relative, of the class": "from .pipelines_schemas import Spent",
    "absolute": "import shop.pipelines_schemas\nSpent = shop.pipelines_schemas.Spent",
}


@pytest.mark.parametrize("form", IMPORTS)
def test_the_schema_module_may_be_imported_in_any_way(shop: Shop, form: str) -> None:
    shop.write(pipelines=f'{IMPORTS[form]}\nfrom shop.tables import orders\nx = orders.select("key").as_(Spent)\n')
    assert shop.columns() == {"Spent": "key: i64"}


def test_a_package_and_a_module_outside_of_packages_have_one_too(shop: Shop) -> None:
    for name in ("alone.py", "pack/__init__.py"):
        (shop.path / name).parent.mkdir(exist_ok=True)
        module = name.partition(".")[0].partition("/")[0]
        text = (
            f'from {module}_schemas import Keys\nfrom shop.tables import orders\nx = orders.select("key").as_(Keys)\n'
        )
        (shop.path / name).write_text(text, encoding="utf-8")
    assert [found.path for found in schema_modules(["alone", "pack"])] == [
        shop.path / "alone_schemas.py",
        shop.path / "pack_schemas.py",
    ]


def test_modules_may_use_the_schemas_of_each_other(shop: Shop) -> None:
    shop.write(
        pipelines=HEAD + SPENT,
        reports="""
from __future__ import annotations
import substrait_dsl as sd
from shop.pipelines_schemas import Spent
from shop.reports_schemas import Top, Tops

def tops(top: sd.Relation[Top]) -> sd.Relation[Tops]:
    return top.select("customer").as_(Tops)

def top(spent: sd.Relation[Spent]) -> sd.Relation[Top]:
    return spent.select("customer", half=lambda s: s.spent / 2).as_(Top)

class More(sd.Schema):
    all: sd.List[sd.I64]
""",
    )
    assert shop.columns("reports", "pipelines") == {
        "Spent": "customer: i64, spent: decimal<38,2>?, orders: i64",
        "Top": "customer: i64, half: decimal<38,6>?",
        "Tops": "customer: i64",
    }
    with pytest.raises(InvalidArgumentError, match=r"module shop.reports cannot be imported: ModuleNotFoundError"):
        shop.columns("reports")  # the other one is not written yet
    assert main(["typing", "--write", "shop.pipelines"]) == 0
    assert "Spent" not in shop.columns("reports")


PROGRAMS = {
    "variable": ('x: sd.Relation[schemas.X] = orders.select("key")', "key: i64"),
    "no as_": ('def x() -> sd.Relation[schemas.X]:\n    return orders.select("key")', "key: i64"),
    "default": (
        'def x(names: Any = ("key",), *more: str, **other: int) -> sd.Relation[schemas.X]:\n'
        "    return orders.select(*names).as_(schemas.X)",
        "key: i64",
    ),
    "called": (
        "def x(names: list[str]) -> sd.Relation[schemas.X]:\n    return orders.select(*names).as_(schemas.X)\n"
        'y = x(["customer"])',
        "customer: i64",
    ),
    "decorated": (
        "from functools import cache\n@cache\ndef x() -> sd.Relation[schemas.X]:\n"
        '    return orders.select("key").as_(schemas.X)',
        "key: i64",
    ),
    "two branches": (
        "def x(flag: bool) -> sd.Relation[schemas.X]:\n    rows = orders.select('key')\n"
        "    return rows.as_(schemas.X) if flag else rows.distinct().as_(schemas.X)",
        "key: i64",
    ),
    "columns": ("x = orders.select('key').as_(schemas.X).filter(schemas.X.key > 1).as_(schemas.X)", "key: i64"),
    "inherited": (
        "x = orders.select('key').as_(schemas.X)\nclass More(schemas.X):\n    y: sd.I64\n"
        "z = orders.select('key', y=lambda o: o.customer).as_(More)",
        "key: i64",
    ),
    "nested": (
        "x = orders.select('key').as_(schemas.X)\nclass Of(sd.Schema):\n    x: sd.Struct[schemas.X]\n"
        "z = sd.read_named('z', Of).select(k=lambda z: z.x['key'])",
        "key: i64",
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_what_is_annotated_is_evaluated(shop: Shop, case: str) -> None:
    program, columns = PROGRAMS[case]
    shop.write(pipelines=HEAD + program)
    assert shop.columns() == {"X": columns}


REFUSED: dict[str, tuple[str, str]] = {
    "no import": (
        "import nothing_like_it",
        "shop.pipelines cannot be imported: ModuleNotFoundError.*pipelines.py:10\\)",
    ),
    "an error": (
        "1 / 0",
        "cannot be imported: ZeroDivisionError: division by zero \\(at shop/pipelines.py:10\\)",
    ),
    "a syntax error": ("def", "cannot be imported: SyntaxError"),
    "an exit": ("raise SystemExit(2)", "cannot be imported: SystemExit: 2"),
    "a wrong pipeline": (
        "orders.select('kee')",
        'cannot be imported: select: there is no column "kee".*pipelines.py:10\\)\\n  hint: did you mean "key"',
    ),
    "a function fails": (
        ("def x() -> sd.Relation[schemas.X]:\n    return orders.select('kee')"),
        'pipeline x of shop.pipelines fails: select: there is no column "kee".*pipelines.py:11\\)',
    ),
    "a function of Python fails": (
        ("def x() -> sd.Relation[schemas.X]:\n    return 1 / 0"),
        "pipeline x of shop.pipelines fails: ZeroDivisionError",
    ),
    "no relation": (
        ("def x() -> sd.Relation[schemas.X]:\n    return 5"),
        "pipeline x of shop.pipelines fails: it is annotated to give a relation, got 5",
    ),
    "two of one name": (
        ("x = orders.select('key').as_(schemas.X)\ny = orders.select('customer').as_(schemas.X)"),
        (
            "two pipelines are declared by X: that at .*pipelines.py:11 has customer: i64, that at "
            ".*pipelines.py:10 has key: i64"
        ),
    ),
    "two that differ in NULL": (
        ("x = orders.select(a=lambda o: o.key).as_(schemas.X)\ny = orders.select(a=sd.null(sd.I64)).as_(schemas.X)"),
        "has a: i64\\?, that",
    ),
    "two that differ in a field": (
        (
            "x = orders.select(a=sd.struct_of(b=1)).as_(schemas.X)\n"
            "y = orders.select(a=sd.struct_of(c=1)).as_(schemas.X)"
        ),
        "two pipelines are declared by X",
    ),
    "a parameter decides": (
        ("def x(name: str) -> sd.Relation[schemas.X]:\n    return orders.select(**{name: sd.lit(1)})"),
        'fails for other values of "name": two pipelines',
    ),
    "an unknown parameter": (
        ("def x(names: list[str]) -> sd.Relation[schemas.X]:\n    return orders.select(*names)"),
        'its parameter "names" has no default',
    ),
    "any relation": (
        ("def x(rows: sd.Relation) -> sd.Relation[schemas.X]:\n    return rows"),
        'its parameter "rows" has no default',
    ),
    "a class that nobody declares": (
        ("x = orders.select('key').as_(schemas.Y)\ndef f(x: sd.Relation[schemas.X]) -> None: ...\nschemas.X"),
        'no pipeline has the columns of "X" of shop.pipelines_schemas',
    ),
    "a circle": (
        ("def x(rows: sd.Relation[schemas.X]) -> sd.Relation[schemas.X]:\n    return rows"),
        "x of shop.pipelines waits for X",
    ),
    "used before": ("sd.read_named('x', schemas.X)", "the columns of X are not known here"),
    "a column before": ("orders.filter(schemas.X.key > 1)", "the columns of X are not known here"),
    "made before": ("orders.into(lambda o: schemas.X(key=o.key))", "the columns of X are not known here"),
    "inherited before": (
        ("class Y(schemas.X):\n    a: sd.I64"),
        "the columns of X are not known here",
    ),
    "nested before": (
        ("class Y(sd.Schema):\n    a: sd.Struct[schemas.X]"),
        "the columns of X are not known here",
    ),
    "no pipeline": ("", "no pipeline of shop.pipelines is declared by a class of shop.pipelines_schemas"),
    "no identifier": (
        "x = orders.rename(key='a key').as_(schemas.X)",
        'X: "a key" can be no attribute of a class',
    ),
    "a name twice": (
        "x = orders.select('key').cross(orders.select('key')).as_(schemas.X)",
        'X: a schema class has each column once; "key" stands twice',
    ),
}
"""Programs, and what is said of them."""

OF_SCHEMAS = ("no identifier", "a name twice")
"""Those of which no schema class has the columns."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused_by_name(shop: Shop, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, words = REFUSED[case]
    kind = SchemaError if case in OF_SCHEMAS else InvalidArgumentError
    shop.write(pipelines=HEAD + program + "\n")
    with pytest.raises(kind, match=words):
        schema_modules(["shop.pipelines"])
    for option in ("--write", "--check"):
        assert main(["typing", option, "shop.pipelines"]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert re.search(words, said.err)
    assert not (shop.path / "shop" / "pipelines_schemas.py").exists()


def test_no_file_that_somebody_wrote_is_overwritten(shop: Shop) -> None:
    shop.write(pipelines=HEAD + SPENT, pipelines_schemas="class Spent: ...\n")
    [found] = schema_modules(["shop.pipelines"])
    for use in (found.write, lambda: found.difference):
        with pytest.raises(InvalidArgumentError, match=r"pipelines_schemas.py is no schema module that this command"):
            use()
    assert found.path.read_text(encoding="utf-8") == "class Spent: ...\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shop/pipelines.py", r"a module is given by its name.*\n  hint: write shop.pipelines$"),
        ("shop.pipelines_schemas", r"is the name of a schema module\n  hint: write shop.pipelines$"),
        ("", "a module is given by its name"),
        ("shop..x", "a module is given by its name"),
        ("shop.nothing", "module shop.nothing cannot be imported"),
        ("sys", "no pipeline of sys"),
    ],
)
def test_what_is_no_module_of_pipelines_is_refused(shop: Shop, name: str, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        schema_modules([name])


@pytest.mark.parametrize(
    "arguments", [["typing"], ["typing", "x"], ["typing", "--write"], ["typing", "--write", "--check", "x"]]
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "Usage: substrait-dsl" in capsys.readouterr().err


def test_long_lines_are_broken_and_formatters_leave_them_so(shop: Shop) -> None:
    long = 'orders.select(by_customer_and_country=sd.null("map<varchar<40>, map<varchar<2>, list<decimal<38,2>?>>?>"))'
    shop.write(pipelines=f"{HEAD}\nx = {long}.as_(schemas.X)\n")
    [found] = schema_modules(["shop.pipelines"])
    assert max(map(len, found.text.splitlines())) <= 88
    for width in ("88", "120"):
        command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", width, "-"]
        done = subprocess.run(command, input=found.text, capture_output=True, text=True, check=True)
        assert done.stdout == found.text
    assert shop.columns() == {"X": "by_customer_and_country: map<varchar<40>, map<varchar<2>, list<decimal<38,2>?>>?>?"}
