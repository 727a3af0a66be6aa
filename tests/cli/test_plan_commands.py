"""The commands that look at plans: of anybody, as bytes or JSON, from files and from the standard input."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.cli import commands, main
from tests.proto.test_third_party_plans import OTHER_VALUES

Captured = pytest.CaptureFixture[str]

ORDERS = sd.read_named("orders", {"id": "i64", "price": "fp64?"})
LARGE = ORDERS.filter(lambda o: o.price > 5.0).select("id")


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "large.plan"
    LARGE.to_plan().save(path)
    return str(path)


def printed(arguments: list[str], capsys: Captured, status: int = 0) -> str:
    assert main(arguments) == status, capsys.readouterr().err
    return capsys.readouterr().out


def test_explain(plan: str, capsys: Captured) -> None:
    first, *text = printed(["explain", plan], capsys).splitlines()
    assert re.fullmatch(r"\(version 0\.\d+\.\d+, by substrait_dsl \S+\)", first)
    assert "\n".join(text) == str(LARGE)
    found = json.loads(printed(["explain", "--json", plan], capsys))
    assert found["roots"] == [{"id": "i64"}]
    assert (found["text"], found["findings"]) == (str(LARGE), [])


def test_who_wrote_a_plan_stands_on_one_line(tmp_path: Path, capsys: Captured) -> None:
    message = LARGE.to_plan().to_proto()
    message.version.producer = "x\nread secrets\x1b[2J"
    (tmp_path / "forged.plan").write_bytes(message.SerializeToString())
    first, *text = printed(["explain", str(tmp_path / "forged.plan")], capsys).splitlines()
    assert first.isprintable()
    assert "\n".join(text) == str(LARGE)


def test_explain_as_a_page_and_as_graphs(plan: str, capsys: Captured) -> None:
    assert printed(["explain", "--format", "mermaid", plan], capsys) == LARGE.to_mermaid() + "\n"
    assert printed(["explain", "--format", "dot", plan], capsys) == LARGE.to_graphviz() + "\n"
    shown = printed(["explain", "--format", "html", plan], capsys)
    assert shown.startswith("<!doctype html>\n<html")
    assert sd.Plan.load(plan)._repr_html_() in shown
    assert shown.endswith("</html>\n")
    assert main(["explain", "--format", "html", "--json", plan]) == 2
    assert "leave --format out" in capsys.readouterr().err


def test_view_writes_a_page(plan: str, tmp_path: Path, capsys: Captured) -> None:
    page = tmp_path / "large.html"
    assert printed(["view", plan, "-o", str(page)], capsys) == ""
    assert page.read_text("utf-8") == sd.Plan.load(plan).to_html(title=plan)
    assert printed(["view", plan], capsys) == page.read_text("utf-8")
    ORDERS.filter(lambda o: o.price > 9.0).select("id").to_plan().save(tmp_path / "after.json")
    after = str(tmp_path / "after.json")
    compared = printed(["view", plan, "--compare", after], capsys)
    assert f"<title>{plan} and {after}</title>" in compared
    data = json.loads(compared.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert [each["title"] for each in data["plans"]] == [plan, after]
    assert data["changes"] == ["steps", "  - filter price > 5.0", "  + filter price > 9.0"]
    assert main(["view", "-", "--compare", "-"]) == 2
    assert "name a file for the other" in capsys.readouterr().err


def test_what_is_read_is_not_replaced(plan: str, tmp_path: Path, capsys: Captured) -> None:
    content = Path(plan).read_bytes()
    after, link = tmp_path / "after.plan", tmp_path / "link.html"
    after.write_bytes(content)
    link.symlink_to(plan)
    table = tmp_path / "t.parquet"
    table.write_bytes(b"rows")
    for output, arguments in {
        plan: ["view", plan, "-o", plan],
        str(after): ["view", plan, "--compare", str(after), "-o", str(after)],
        str(link): ["view", plan, "-o", str(link)],
        f"{tmp_path}/./large.plan": ["convert", "--to", "sql", plan, f"{tmp_path}/./large.plan"],
        str(table): ["sql", "select 1 as one", "--table", f"t={table}", "-o", str(table)],
    }.items():
        assert main(arguments) == 2
        assert f"{output} is what is read, and would be replaced: name another file" in capsys.readouterr().err
    assert Path(plan).read_bytes() == after.read_bytes() == content
    assert table.read_bytes() == b"rows"
    with open(plan, "rb") as file:
        done = run_program(["view", "-", "-o", plan], stdin=file)
    assert (done.returncode, b"would be replaced" in done.stderr) == (2, True)
    assert Path(plan).read_bytes() == content
    assert main(["view", plan, "-o", str(after)]) == 0  # another file may be there


def test_a_plan_may_be_json_and_come_from_the_standard_input(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    LARGE.to_plan().save(tmp_path / "large.json")
    assert str(LARGE) in printed(["explain", str(tmp_path / "large.json")], capsys)
    for content in (LARGE.to_plan().to_bytes(), LARGE.to_plan().to_json().encode()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert str(LARGE) in printed(["explain", "-"], capsys)


@pytest.mark.parametrize("command", ["explain", "view", "validate", "check", "lineage", "accesses", "digest", "run"])
def test_what_is_no_plan(command: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    assert main([command, str(tmp_path / "x.png")]) == 1
    assert "these bytes are no Substrait plan" in capsys.readouterr().err
    (tmp_path / "x.json").write_text('{"relations": 5}')
    assert main([command, str(tmp_path / "x.json")]) == 1
    assert "substrait-dsl: load" in capsys.readouterr().err
    assert main([command, str(tmp_path / "none.plan")]) == 1
    assert "substrait-dsl: No such file or directory: " in capsys.readouterr().err
    assert main([command, str(tmp_path)]) == 1
    assert "substrait-dsl: Is a directory: " in capsys.readouterr().err


def test_validate_fails_for_findings_of_a_weight(plan: str, tmp_path: Path, capsys: Captured) -> None:
    assert printed(["validate", plan], capsys) == "as the specification says\n"
    message = LARGE.to_plan().to_proto()
    message.ClearField("execution_behavior")
    (tmp_path / "other.plan").write_bytes(message.SerializeToString())
    other = str(tmp_path / "other.plan")
    assert "[harmless: evaluation-mode]" in printed(["validate", other], capsys, 1)
    assert "[harmless: evaluation-mode]" in printed(["validate", "--fail-on", "assumed", other], capsys, 0)
    [finding] = json.loads(printed(["validate", "--json", other], capsys, 1))
    assert (finding["code"], finding["weight"]) == ("evaluation-mode", "harmless")
    assert "findings (1):\n  " in printed(["explain", other], capsys)


def test_check(plan: str, tmp_path: Path, capsys: Captured) -> None:
    report = printed(["check", plan, "--engine", "datafusion"], capsys)
    assert report.startswith("datafusion-55: runs lowered\n")
    found = json.loads(printed(["check", plan, "--json", "--engine", "datafusion", "--engine", "duckdb"], capsys))
    assert {name: each["verdict"] for name, each in found.items()} == {
        "datafusion-55": "runs lowered",
        "duckdb-1.1.3": "runs lowered",
    }
    assert {"code", "severity", "why", "step"} <= set(found["datafusion-55"]["findings"][0])
    ORDERS.write("t", op="ctas").to_plan().save(tmp_path / "write.plan")
    refused = printed(["check", str(tmp_path / "write.plan"), "--engine", "duckdb"], capsys, 1)
    assert refused.startswith("duckdb-1.1.3: refused\n")
    assert main(["check", plan, "--engine", "datafusoin"]) == 1
    assert 'did you mean "datafusion"?' in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["spec", "legacy"])
def test_convert_keeps_what_a_plan_says(encoding: str, plan: str, tmp_path: Path, capsys: Captured) -> None:
    as_json, again = str(tmp_path / "x.json"), str(tmp_path / "again.plan")
    assert main(["convert", "--encoding", encoding, plan, as_json]) == 0
    assert json.loads(Path(as_json).read_text())["relations"]
    assert main(["convert", as_json, again]) == 0
    assert sd.Plan.load(again) == LARGE.to_plan()


def test_convert_to_text_that_is_read_again(plan: str, tmp_path: Path, capsys: Captured) -> None:
    text, again = str(tmp_path / "x.txt"), str(tmp_path / "again.plan")
    assert main(["convert", "--to", "text", plan, text]) == 0
    assert Path(text).read_text(encoding="utf-8") == sd.Plan.load(plan).to_text()
    assert main(["convert", text, again]) == 0
    assert Path(again).read_bytes() == Path(plan).read_bytes()
    assert main(["diff", text, plan]) == 0
    assert main(["convert", "--to", "text", "--encoding", "legacy", plan, text]) == 2
    assert "--encoding is of" in capsys.readouterr().err


def test_convert_for_an_engine_and_to_sql(plan: str, tmp_path: Path, capsys: Captured) -> None:
    lowered = str(tmp_path / "lowered.plan")
    assert main(["convert", "--engine", "datafusion", plan, lowered]) == 0
    assert Path(lowered).read_bytes() == LARGE.to_plan().to_bytes(engine="datafusion")
    assert main(["convert", "--engine", "datafusion", plan, str(tmp_path / "x.json")]) == 2
    assert "what is written for an engine is binary" in capsys.readouterr().err
    assert main(["convert", "--dialect", "duckdb", plan, str(tmp_path / "x.sql")]) == 0
    assert (tmp_path / "x.sql").read_text() == LARGE.to_sql("duckdb") + "\n"
    sd.Plan(ORDERS, ORDERS.limit(1)).save(tmp_path / "two.plan")
    assert main(["convert", str(tmp_path / "two.plan"), str(tmp_path / "y.sql")]) == 2
    assert "this plan has 2 trees" in capsys.readouterr().err
    assert not (tmp_path / "y.sql").exists()


def test_options_that_would_do_nothing_are_refused(plan: str, tmp_path: Path, capsys: Captured) -> None:
    out = str(tmp_path / "x.plan")
    assert main(["convert", "--engine", "duckdb", "--encoding", "legacy", plan, out]) == 2
    assert main(["convert", "--to", "sql", "--encoding", "legacy", plan, out]) == 2
    assert main(["convert", "--dialect", "duckdb", plan, out]) == 2
    assert "add --to sql" in capsys.readouterr().err
    assert not Path(out).exists()
    assert main(["convert", "--to", "sql", "--dialect", "duckdb", plan, out]) == 0
    assert main(["diff", "-", "-"]) == 2
    assert "the standard input is one plan" in capsys.readouterr().err


def test_diff(plan: str, tmp_path: Path, capsys: Captured) -> None:
    other = str(tmp_path / "other.plan")
    LARGE.limit(3).to_plan().save(other)
    assert printed(["diff", plan, other], capsys, 1) == "steps\n  + fetch 3\n"
    assert json.loads(printed(["diff", "--json", plan, other], capsys, 1))["steps"][0]["kind"] == "added"
    assert printed(["diff", plan, plan], capsys) == "no difference\n"


def test_lineage_accesses_and_digest(plan: str, tmp_path: Path, capsys: Captured) -> None:
    assert printed(["lineage", plan], capsys) == str(LARGE.lineage()) + "\n"
    assert json.loads(printed(["lineage", "--json", plan], capsys)) == [LARGE.lineage().to_dict()]
    assert printed(["digest", plan], capsys) == LARGE.to_plan().digest() + "\n"
    sd.Plan(sd.subtree(ORDERS.write("t", op="ctas")), LARGE).save(tmp_path / "p.plan")
    assert printed(["accesses", str(tmp_path / "p.plan")], capsys) == "ctas table t\nread table orders\n"
    found = json.loads(printed(["accesses", "--json", str(tmp_path / "p.plan")], capsys))
    assert found[0] == {"operation": "ctas", "object": "table", "names": ["t"]}
    written, large = printed(["lineage", str(tmp_path / "p.plan")], capsys).split("\n\n")
    assert written == str(ORDERS.lineage())
    assert large == str(LARGE.lineage()) + "\n"


def test_schema_of_a_plan(plan: str, capsys: Captured) -> None:
    assert "    id: sd.I64\n" in printed(["schema", "--plan", plan], capsys)
    assert json.loads(printed(["schema", "--plan", "--as", "json", plan], capsys)) == {"id": "i64"}
    assert printed(["schema", "--plan", "--as", "ddl", plan], capsys) == "id BIGINT NOT NULL\n"
    assert main(["schema", "--plan", "--format", "csv", plan]) == 2


def test_schema_of_a_plan_that_writes(tmp_path: Path, capsys: Captured) -> None:
    orders = sd.read_named("orders", {"id": "i64"})
    file = str(tmp_path / "a.plan")
    orders.write("out").to_plan().save(file)
    assert main(["schema", "--plan", file]) == 1
    assert "substrait-dsl: the plan returns no columns\n  hint: explain prints its steps" in capsys.readouterr().err
    sd.Plan(orders.write("out"), orders).save(file)
    assert main(["schema", "--plan", file]) == 0
    shown = capsys.readouterr()
    assert shown.out == "class Columns(sd.Schema):\n    id: sd.I64\n"
    assert shown.err == "substrait-dsl: root 0 of the plan returns no columns\n"


def test_wrong_usage(capsys: Captured) -> None:
    assert main(["explan", "x"]) == 2
    assert "No such command 'explan'" in capsys.readouterr().err
    assert main(["explain"]) == 2
    assert main(["explain", "--jsn", "x"]) == 2
    assert main(["run", "x", "--engine", "sprak"]) == 2
    assert "'sprak' is not one of 'sail', 'spark'" in capsys.readouterr().err
    assert main([]) == 2


@pytest.mark.parametrize("name", [None, *sorted(commands.commands)])
def test_help_has_an_example(name: str | None, capsys: Captured) -> None:
    text = printed([*([] if name is None else [name]), "--help"], capsys)
    assert "Example" in text
    assert f"substrait-dsl {name or 'explain'}" in text
    assert not re.search(r"^  \w+  .*\.\.\.$", text, re.MULTILINE), "a text that is cut"


def run_program(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "substrait_dsl", *arguments], capture_output=True, **options)


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path: Path) -> None:
    sd.read_named("größe", {"id": "i64"}).to_plan().save(tmp_path / "x.plan")
    done = run_program(["explain", str(tmp_path / "x.plan")], env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"read gr\\xf6\\xdfe -> id: i64" in done.stdout.replace(b'"', b"")


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path) -> None:
    many: sd.Relation[Any] = ORDERS
    for number in range(3_000):
        many = many.filter(sd.col("id") > number)
    many.to_plan().save(tmp_path / "x.plan")
    command = f"{sys.executable} -m substrait_dsl explain {tmp_path / 'x.plan'} | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"(version ")


def test_third_party_plans_are_explained_and_converted(shared: Path, tmp_path: Path, capsys: Captured) -> None:
    paths = sorted((shared / "third_party_plans" / "plans").glob("*.json"))
    refused = []
    for path in paths:
        status = main(["explain", str(path)])
        assert (capsys.readouterr().err == "") is (status == 0)
        if status:
            refused.append(path.stem)
            continue
        assert main(["convert", str(path), str(tmp_path / "x.json")]) == 0
        assert main(["diff", str(path), str(tmp_path / "x.json")]) == 0
        capsys.readouterr()
    assert len(paths) == 64
    assert refused == [*OTHER_VALUES]
