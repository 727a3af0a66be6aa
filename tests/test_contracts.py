"""Contracts: the columns of pipelines are stored, compared, and refused by name if they are others."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.analysis.schema_changes import COLUMN_CHANGES
from substrait_dsl.cli import main
from substrait_dsl.contracts import Contracts
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, UnsupportedError
from substrait_dsl.testing import assert_contract
from tests.support import refused

Captured = pytest.CaptureFixture[str]

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"

TABLES = """
import substrait_dsl as sd

orders = sd.read_named("orders", {"id": "i64", "price": "fp64?", "tags": "list<string>"})
imported = orders.select("id")
"""
PIPELINES = """
import substrait_dsl as sd
from shop.tables import imported, orders

ids = orders.select("id", "price")
_draft = orders.select("tags")
users = sd.read_named("users", {"id": "i64"})
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the working directory; its folder of modules."""
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "shop"
    package.mkdir()
    (package / "tables.py").write_text(TABLES)
    (package / "pipelines.py").write_text(PIPELINES)
    return package


def edit(file: Path, before: str, after: str) -> None:
    """Write a file anew; its length differs, as Python does not look into a file of the same time and length."""
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after) + "\n")


def stored() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(Path("contracts.json").read_text(encoding="utf-8"))
    return found


def run(arguments: str, capsys: Captured) -> tuple[int, str, str]:
    status = main(arguments.split())
    return status, *capsys.readouterr()


def test_what_is_written_is_what_relations_have(shop: Path, capsys: Captured) -> None:
    """No read, no relation of another module, no name with an underscore."""
    assert run("contract write shop.pipelines", capsys) == (
        0,
        "shop.pipelines.ids: has no contract\ncontracts.json: written\n",
        "",
    )
    assert stored() == {"shop.pipelines.ids": {"id": "i64", "price": "fp64?"}}
    assert run("contract write shop.pipelines", capsys) == (0, "contracts.json: up to date\n", "")
    assert run("contract check shop.pipelines", capsys) == (0, "", "")


def test_contracts_of_other_modules_stay(shop: Path, capsys: Captured) -> None:
    assert run("contract write shop.pipelines", capsys)[0] == 0
    assert run("contract write shop.tables", capsys)[0] == 0
    assert stored() == {"shop.pipelines.ids": {"id": "i64", "price": "fp64?"}, "shop.tables.imported": {"id": "i64"}}
    assert run("contract check shop.pipelines shop.tables", capsys) == (0, "", "")


@pytest.mark.parametrize(
    ("before", "after", "change", "kind"),
    [
        ('select("id", "price")', 'select("id", "price", key="id")', "+ key: i64", "added"),
        ('select("id", "price")', 'select("id")', "- price: fp64?", "dropped"),
        ('select("id", "price")', 'select("price", "id")', "~ price: moved", "moved"),
        ('"price")', 'price="id")', "~ price: fp64? -> i64 (retyped)", "retyped"),
        ('"price")', '"price").drop_nulls("price")', "~ price: fp64? -> fp64 (tightened)", "tightened"),
    ],
)
def test_each_change_is_named_and_may_be_allowed(
    before: str, after: str, change: str, kind: str, shop: Path, capsys: Captured
) -> None:
    assert run("contract write shop.pipelines", capsys)[0] == 0
    edit(shop / "pipelines.py", before, after)
    status, out, err = run("contract check shop.pipelines", capsys)
    assert (status, out) == (1, f"shop.pipelines.ids\n  {change}\n")
    assert run(f"contract check shop.pipelines --allow {kind}", capsys) == (
        0,
        f"shop.pipelines.ids\n  {change}  (allowed)\n",
        "",
    )
    for other in {*COLUMN_CHANGES} - {kind}:
        assert run(f"contract check shop.pipelines --allow {other}", capsys)[0] == 1
    # The hint is followed.
    assert run(err.split("substrait-dsl ")[-1], capsys)[1] == f"{out}contracts.json: written\n"
    assert run("contract check shop.pipelines", capsys) == (0, "", "")


def test_a_column_that_may_be_null_now_is_loosened(shop: Path, capsys: Captured) -> None:
    assert run("contract write shop.pipelines", capsys)[0] == 0
    edit(shop / "tables.py", '"id": "i64"', '"id": "i64?"')
    change = "shop.pipelines.ids\n  ~ id: i64 -> i64? (loosened)"
    assert run("contract check shop.pipelines", capsys)[:2] == (1, f"{change}\n")
    assert run("contract check shop.pipelines --allow loosened", capsys)[:2] == (0, f"{change}  (allowed)\n")


def test_a_pipeline_that_is_new_or_gone_is_not_allowed(shop: Path, capsys: Captured) -> None:
    assert run("contract write shop.pipelines", capsys)[0] == 0
    edit(shop / "pipelines.py", "ids =", "keys =")
    allowed = " ".join(f"--allow {kind}" for kind in COLUMN_CHANGES)
    status, out, _ = run(f"contract check shop.pipelines {allowed}", capsys)
    assert status == 1
    assert out == "shop.pipelines.ids: there is no such pipeline\nshop.pipelines.keys: has no contract\n"


def test_help_has_each_change(capsys: Captured) -> None:
    _, out, _ = run("contract check --help", capsys)
    assert set(COLUMN_CHANGES) <= set(re.findall(r"\w+", out))


def test_commands_refuse_by_name(shop: Path, capsys: Captured) -> None:
    _, _, err = run("contract check shop.pipelines", capsys)
    assert (
        err == "substrait-dsl: there is no file contracts.json\n  hint: write it: substrait-dsl contract write MODULE\n"
    )
    assert run("contract write shop/pipelines.py", capsys)[2].endswith("hint: write shop.pipelines\n")
    assert "ModuleNotFoundError: No module named 'shop.pipeline'\n" in run("contract write shop.pipeline", capsys)[2]
    assert run("contract write shop.pipelines", capsys)[0] == 0
    assert 'did you mean "loosened"?' in run("contract check shop.pipelines --allow loosend", capsys)[2]
    edit(shop / "pipelines.py", "ids =", "_ids =")
    assert "module shop.pipelines has no pipeline" in run("contract check shop.pipelines", capsys)[2]
    edit(shop / "pipelines.py", '"price")', '"prize")')
    assert re.search(
        r'cannot be imported: .*"prize".* \(at shop/pipelines.py:5\)', run("contract check shop.pipelines", capsys)[2]
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "this is no JSON"),
        ("\udcff", "utf-8"),
        ("[" * 100_000, "this is no JSON"),
        ("[]", "expected an object: the columns by the names of pipelines"),
        ('{"a": 1}', 'pipeline "a" cannot be read: expected an object: the types by the names of columns'),
        ('{"a": {"x": 1}}', "expected an object: the types by the names of columns"),
        ('{"a": {"x": "i65"}}', 'cannot read the type "i65"'),
        ('{"a": {}}', 'pipeline "a" cannot be read: a schema needs at least one column'),
        ('{"a": {"x": "i64", "x": "i64"}}', 'duplicate key "x"'),
        ('{"a": {"x": "i64"}, "a": {"x": "i64"}}', 'duplicate key "a"'),
    ],
)
def test_a_file_that_holds_no_contracts(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(PlanFormatError, match=re.escape(words)) as raised:
        Contracts.load(file)
    assert f"{file} holds no contracts" in str(raised.value)


def test_any_names_and_types_come_back(tmp_path: Path) -> None:
    columns = NamedStruct.of(
        {
            'a "b"\n': t.Decimal(38, 10, nullable=True),
            "Ü\u202e": t.List(t.Struct((t.I64(), t.String(nullable=True)), ("x", "y"))),
            "m": t.Map(t.String(), t.PrecisionTimestampTZ(6), nullable=True),
        }
    )
    contracts = Contracts({"p": columns})
    contracts.save(tmp_path / "c.json")
    assert Contracts.load(tmp_path / "c.json") == contracts


def test_what_a_contract_cannot_say_is_refused(tmp_path: Path) -> None:
    twice = NamedStruct.of({"a": t.I64()}).fields * 2
    with pytest.raises(UnsupportedError, match=r'pipeline "p" cannot be stored: .*"a" stands twice'):
        Contracts({"p": NamedStruct(twice)}).save(tmp_path / "c.json")
    with pytest.raises(UnsupportedError, match=r'pipeline "p" cannot be stored: .*u!point'):
        Contracts({"p": NamedStruct.of({"a": t.UserDefined("urn", "point")})}).save(tmp_path / "c.json")
    assert not os.listdir(tmp_path)


def test_assert_contract(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    ids = sd.read_named("orders", {"id": "i64", "price": "fp64?"})
    Contracts({"shop.ids": ids.schema.struct}).save(file)
    assert_contract(ids, "shop.ids", file=file)
    assert_contract(ids.schema, "shop.ids", file=str(file))
    more = ids.select("id", "price", more="id")
    assert_contract(more, "shop.ids", file=file, allow=["added"])
    with pytest.raises(AssertionError) as raised:
        assert_contract(more, "shop.ids", file=file, allow=["dropped"])
    assert str(raised.value).splitlines() == [
        "the columns are not those of the contract of shop.ids",
        "  + more: i64",
        "if that is meant, write: substrait-dsl contract write shop",
    ]
    with refused(
        InvalidArgumentError, "assert_contract", 'pipeline "shop.id" has no contract', 'did you mean "shop.ids"?'
    ):
        assert_contract(ids, "shop.id", file=file)
    with refused(InvalidArgumentError, "assert_contract", "substrait-dsl contract write other"):
        assert_contract(ids, "other.pipeline", file=file)
    with refused(InvalidArgumentError, "assert_contract", "a relation has columns"):
        assert_contract(5, "shop.ids", file=file)  # type: ignore[arg-type]
    with refused(InvalidArgumentError, "assert_contract", "there is no file"):
        assert_contract(ids, "shop.ids", file=tmp_path / "other.json")


def test_the_page_prints_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Contracts")[2].partition("\n## ")[0]
    [program] = re.findall(r"```python[^\n]*\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    file = tmp_path / "shop" / "reports.py"
    file.write_text(program)
    first, second = (
        re.findall(r"^\$ substrait-dsl (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
        for console in re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    )
    for command, expected in first:
        assert "".join(run(command, capsys)[1:]) == expected
    edit(file, '"price": "fp64"', '"price": "fp64?"')
    edit(file, "spent=", "total=")
    for command, expected in second:
        assert "".join(run(command, capsys)[1:]) == expected
