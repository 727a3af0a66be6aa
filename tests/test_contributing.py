"""What a contributor is told is what is there: tasks, versions, files, and how others are told."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
NOXFILE = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))


def read_yaml(path: str) -> Mapping[str, Any]:
    read: Mapping[str, Any] = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    return read


WORKFLOW = read_yaml(".github/workflows/ci.yml")


def tasks() -> dict[str, tuple[str, list[list[str]]]]:
    """Each task of the task file: the first line of its docstring, and the modules of Python that it runs."""
    found: dict[str, tuple[str, list[list[str]]]] = {}
    for node in NOXFILE.body:
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
            continue
        names = [
            keyword.value.value
            for decorator in node.decorator_list
            if isinstance(decorator, ast.Call)
            for keyword in decorator.keywords
            if isinstance(keyword.value, ast.Constant)
        ]
        calls = [
            [str(each.value) for each in call.args if isinstance(each, ast.Constant)]
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("run", "session.run")
        ]
        found[str(names[0] if names else node.name)] = ((ast.get_docstring(node) or "").splitlines()[0], calls)
    return found


TASKS = tasks()


def constant(name: str) -> Any:
    """What the task file assigns to a name."""
    (value,) = [
        node.value
        for node in NOXFILE.body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]
    ]
    return ast.literal_eval(value)


def classified() -> list[str]:
    """The versions of Python that the package says it is for."""
    return [each.split()[-1] for each in PROJECT["classifiers"] if re.search(r":: \d+\.\d+$", each)]


def test_every_task_is_described() -> None:
    (table,) = re.findall(r"\| task \| what it does \|\n\|---\|---\|\n((?:\|.*\n)+)", CONTRIBUTING)
    described = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert described == TASKS.keys()


def test_the_quick_tests_are_one_line_everywhere() -> None:
    (line,) = re.findall(r"(?m)^\.venv/bin/python -m (pytest .*)$", CONTRIBUTING)
    assert [line.replace('"', "").split(" ", 5)] == TASKS["tests"][1]


def test_tasks_of_tests_are_all_tests() -> None:
    """By markers: without Java, on Spark, and slow. CI runs the first two as one."""
    marks = {
        name: calls[0][-1] for name, (_, calls) in TASKS.items() if calls[0][:1] == ["pytest"] and "-m" in calls[0]
    }
    assert marks == {"tests": "not spark and not slow", "spark": "spark and not slow", "slow": "slow"}
    assert '-m "not slow"' in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pytest -q -n 2 -m slow" in CI


def test_the_readme_installs_the_engines_that_there_are_sessions_of() -> None:
    """DuckDB in its own environment and without the constraints, which have a version without the extension."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    consumer = (ROOT / "substrait_dsl" / "consumers" / "duckdb.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'(?m)^VERSION = "(.*)"$', consumer)
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    assert pinned["duckdb"] != version
    (line,) = re.findall(r"(?m)^.*pip install .*duckdb.*$", readme)
    assert f"duckdb=={version} duckdb-extension-substrait=={version}" in line
    assert "-c constraints.txt" not in line
    (other,) = re.findall(r"(?m)^.*pip install .*datafusion.*$", readme)
    assert "-c constraints.txt" in other
    assert "datafusion" in pinned


def test_linters_and_types_are_those_of_ci() -> None:
    commands = {tuple(line.split()) for line in re.findall(r"(?m)^\.venv/bin/((?:ruff|mypy)[^>\n]*)", CI)}
    assert commands == {tuple(call) for name in ("lint", "types") for call in TASKS[name][1]}


def test_the_tests_of_pages_are_there() -> None:
    assert [path for path in constant("PAGES") if not (ROOT / path).is_file()] == []


def test_the_oldest_spark_is_that_of_the_page_and_of_the_package() -> None:
    oldest = constant("OLDEST_SPARK")
    assert f"'pyspark[connect]=={oldest}'" in (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    (required,) = [each for each in PROJECT["optional-dependencies"]["spark"] if each.startswith("pyspark")]
    assert f">={oldest.rpartition('.')[0]}," in required


# --- GitHub


def test_the_workflow_runs_on_the_versions_of_the_package() -> None:
    versions = classified()
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]["python-version"] == versions
    assert WORKFLOW["jobs"]["spark"]["strategy"]["matrix"]["python-version"] == [versions[0], versions[-1]]


def test_the_workflow_runs_tasks_that_there_are() -> None:
    lines = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
    named = {name for line in lines for name in re.findall(r"nox -s (\w+)", line)}
    assert named == {"lint", "types", "tests", "spark", "oldest_spark", "docs", "site"}
    assert named <= TASKS.keys()
    assert ".ci/run" in lines


@pytest.mark.parametrize("name", ["bug", "feature", "specification"])
def test_forms_ask_for_what_their_ids_say(name: str) -> None:
    form = read_yaml(f".github/ISSUE_TEMPLATE/{name}.yml")
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    assert fields[0]["validations"]["required"] is True
    assert len({each["id"] for each in fields}) == len(fields)


def test_hooks_are_the_commands_of_tasks() -> None:
    """They need no network: nothing but what stands in the environment."""
    (local,) = read_yaml(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    entries = {hook["id"]: hook["entry"].split() for hook in local["hooks"]}
    assert all(entry[0].startswith(".venv/bin/") for entry in entries.values())
    tools = {Path(entry[0]).name for entry in entries.values()} - {"python"}
    assert tools == {call[0] for name in ("lint", "types") for call in TASKS[name][1]}


# --- words


def test_files_that_are_named_are_there() -> None:
    """In what contributors read: a path in backquotes, or a link."""
    pages = [CONTRIBUTING, (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")]
    named = {
        path
        for page in pages
        for path in re.findall(r"[`(]([\w.-]+(?:/[\w.-]+)*\.(?:md|py|yml|yaml|toml|txt))[`)]", page)
    }
    assert {"docs/design.md", "docs/spec-decisions.md", "docs/glossary.md", "noxfile.py"} <= named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


PACKAGES = {
    "The mypy plugin": "mypy_plugin",
    "PartiQL": "partiql",
    "Plans": "proto/plan_text",
    "Spark": "spark",
    "Other engines": "engines/lowering",
}
"""The package of a section of the page on the design, whose modules it names without their folder."""


def test_modules_that_the_page_on_the_design_names_are_there() -> None:
    """From the root, from `substrait_dsl`, or from the package of the section."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    count, missing = 0, []
    for section in page.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        package = ROOT / "substrait_dsl"
        roots = (ROOT, package, package / PACKAGES.get(heading, ""))
        for path in re.findall(r"`([\w.*-]+(?:/[\w.*-]+)*(?:\.(?:py|yaml|toml|json)|/))`", text):
            count += 1
            if not any(any(root.glob(path.rstrip("/"))) for root in roots) and not path.endswith("/test_x.py"):
                missing.append((heading, path))
    assert count > 90
    assert missing == []
