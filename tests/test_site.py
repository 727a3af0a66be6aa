"""The site of the pages: its links, and the pages that it makes; `nox -s site` builds it."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import substrait_dsl as sd
from docs.site.broken_links import find_broken_links
from docs.site.docstrings import name_sections
from docs.site.links import ROOT_PAGES, link_pages, slug
from docs.site.markdown import adapt_markdown
from docs.site.notebooks import write_notebook_page
from docs.site.reference import ELSEWHERE, NAMES, write_pages
from substrait_dsl import everyday, partiql, testing
from substrait_dsl.fluent.function_examples import EXAMPLES

ROOT = Path(__file__).parent.parent
PAGES = frozenset({"images/a.svg", "index.md", "changelog.md", "spark.md", "coverage.md", "coverage/basics.md"})


@pytest.mark.parametrize(
    ("path", "text", "linked"),
    [
        ("docs/plans.md", "see [Spark](spark.md#tables)", "see [Spark](spark.md#tables)"),
        ("README.md", "see [Spark](docs/spark.md)", "see [Spark](spark.md)"),
        ("docs/plans.md", "[changes](../CHANGELOG.md)", "[changes](changelog.md)"),
        ("README.md", "![a graph](docs/images/a.svg)", "![a graph](images/a.svg)"),
        ("docs/coverage/basics.md", "[all](../coverage.md)", "[all](../coverage.md)"),
        ("docs/coverage/basics.md", "[start](../../README.md)", "[start](../index.md)"),
        ("README.md", "[web](https://substrait.io), [below](#try-it)", "[web](https://substrait.io), [below](#try-it)"),
        ("README.md", "in `docs/spark.md`.", "in [`docs/spark.md`](spark.md)."),
        ("docs/plans.md", "in `spark.md`.", "in [`spark.md`](spark.md)."),
        ("docs/coverage/basics.md", "in `docs/spark.md`.", "in [`docs/spark.md`](../spark.md)."),
        ("docs/spark.md", "`docs/spark.md` is this page", "`docs/spark.md` is this page"),
        ("docs/spark.md", "`no_page.md` is none", "`no_page.md` is none"),
        ("README.md", '`docs/spark.md`,\n"Without Java"', '[`docs/spark.md`,\n"Without Java"](spark.md#without-java)'),
        ("README.md", "```sh\ncat `docs/spark.md`\n```\n", "```sh\ncat `docs/spark.md`\n```\n"),
    ],
)
def test_links_lead_to_pages_of_the_site(path: str, text: str, linked: str) -> None:
    assert link_pages(text, path, PAGES, None) == linked


def test_what_the_site_lacks_is_named_or_linked_in_the_repository() -> None:
    text = "[the queries](../examples/tpch/queries.py)"
    assert link_pages(text, "docs/plans.md", PAGES, None) == "the queries"
    there = "[the queries](https://example.org/blob/main/examples/tpch/queries.py)"
    assert link_pages(text, "docs/plans.md", PAGES, "https://example.org/blob/main") == there


def test_markdown_means_what_it_does_on_github() -> None:
    """A bar in the code of a cell, and the name of a file behind the language of a block."""
    assert adapt_markdown("| `x \\| y` | a \\| b |\n`x \\| y`") == "| `x | y` | a \\| b |\n`x \\| y`"
    named = "```python file=shop/reports.py\nx = 1\n```"
    assert adapt_markdown(named) == '```python title="shop/reports.py"\nx = 1\n```'
    session = "```python\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb\n```\n```python\nx = 1\n```"
    assert adapt_markdown(session) == "```pycon\n>>> print('a\\n\\nb')\na\n\nb\n```\n```python\nx = 1\n```"


def test_pages_of_the_root_are_there() -> None:
    assert [path for path in ROOT_PAGES if not (ROOT / path).is_file()] == []


def test_an_anchor_is_that_of_github() -> None:
    """Its rule: lower case, no punctuation, a hyphen for each space."""
    assert slug("`sd.read_json`: JSON lines, typed") == "sdread_json-json-lines-typed"


# --- the reference


@cache
def reference() -> dict[str, str]:
    return dict(write_pages())


def test_every_public_name_stands_once() -> None:
    named = [name for _, modules in NAMES.values() for name in modules.get("substrait_dsl", ())]
    assert sorted([*named, *ELSEWHERE]) == sorted({*sd.api.__all__})
    assert set(ELSEWHERE.values()) <= reference().keys()
    assert "## `sd.L`" in reference()[ELSEWHERE["L"]]


def test_every_public_name_of_other_modules_stands_there() -> None:
    calls = {name for name, value in vars(testing).items() if name.startswith("assert_") and callable(value)}
    assert set(NAMES["testing"][1]["substrait_dsl.testing"]) == calls
    for module in (everyday, partiql):
        page = reference()[f"reference/{module.__name__.rpartition('.')[2]}.md"]
        assert [name for name in module.__all__ if f"::: {module.__name__}.{name}\n" not in page] == []


def test_every_overload_of_the_specification_has_its_signature() -> None:
    """By the extension files themselves, whose signatures `standard_catalog` reads strictly."""
    count = 0
    for urn, extension in sd.standard_catalog().extensions.items():
        page = reference()[f"reference/functions/{urn.rpartition(':')[2].removeprefix('functions_')}.md"]
        for overload in extension.overloads():
            count += 1
            assert f"\n{overload}\n" in page
            assert f"\n## {overload.name}\n" in page
    assert count > 500


def test_a_function_names_the_engines_that_have_it() -> None:
    """Both of these engines have sums: tests/engines runs them there."""
    page = reference()["reference/functions/arithmetic.md"]
    (total,) = re.findall(r"(?m)^## sum\n\n(.*)$", page)
    assert total.startswith("Aggregate function, `f.sum`. Engines: ")
    assert {"DuckDB 1.1.3", "DataFusion 55"} <= {*re.split(r", |: |\.$", total)}


def test_every_example_of_a_function_stands_once() -> None:
    pages = "".join(text for path, text in reference().items() if path.startswith("reference/functions/"))
    assert [name for name, example in EXAMPLES.items() if pages.count(f"```python\n{example}\n```") != 1] == []
    assert "`f.and_`" in reference()["reference/functions/boolean.md"]


def test_every_code_of_an_error_has_a_row() -> None:
    page = reference()["reference/errors.md"]
    classes = [sd.errors.SubstraitDslError]
    for each in classes:
        classes += each.__subclasses__()
    own = {each for each in classes if each.__module__ == "substrait_dsl.errors"}
    assert len(own) > 15
    assert [each for each in own if f"| `{each.code}` | [`{each.__name__}`]" not in page] == []


def test_sections_of_docstrings_are_those_that_the_site_shows() -> None:
    text = "Keep rows.\n\nOutput: the same.\nSpecification: ``FilterRel``.\n\nExample:\n    >>> 1\n    1"
    shown = "Keep rows.\n\n\n**Output**: the same.\n\n**Specification**: ``FilterRel``.\n\nExamples:\n    >>> 1\n    1"
    assert name_sections(text) == shown


# --- notebooks


def cell(kind: str, source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": kind, "source": [source], "outputs": list(outputs)}


def test_a_notebook_is_a_page_with_what_its_cells_show() -> None:
    shown = {"output_type": "execute_result", "data": {"text/html": ["<b>\n", "x</b>"], "text/plain": "x"}}
    printed = {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]}
    notebook = {"cells": [cell("markdown", "# A title"), cell("code", "x", shown, printed)]}
    page = "# A title\n\n```python\nx\n```\n\n<div><b>x</b></div>\n\n```text\none\ntwo\n```\n"
    assert write_notebook_page(json.dumps(notebook)) == page


def test_a_notebook_whose_cell_failed_is_no_page() -> None:
    failed = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}
    with pytest.raises(ValueError, match="KeyError"):
        write_notebook_page(json.dumps({"cells": [cell("code", "x", failed)]}))


# --- the site as it is built


def test_addresses_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "index.html").write_text(
        '<h1 id="top">a</h1><a href="sub/b.html#part">b</a><a href="#top">t</a><a href="https://example.org">e</a>'
        '<img src="a.svg"><a href=".">home</a><img src="data:image/png;base64,AA==">',
        encoding="utf-8",
    )
    (tmp_path / "sub" / "b.html").write_text(
        '<h2 id="part">b</h2><a href="../index.html#bottom">x</a><a href="c.html">c</a><a href="../a.svg">p</a>'
        '<script src="https://example.org/x.js"></script><link rel="stylesheet" href="//example.org/x.css">',
        encoding="utf-8",
    )
    assert [*find_broken_links(tmp_path)] == [
        "sub/b.html: ../index.html#bottom: there is no such anchor",
        "sub/b.html: c.html: there is no such file",
        "sub/b.html: https://example.org/x.js: it is fetched from elsewhere",
        "sub/b.html: //example.org/x.css: it is fetched from elsewhere",
    ]


# --- the picture of the first page


def texts_of(picture: Path) -> list[str]:
    """The lines of code in a picture."""
    root = ElementTree.parse(picture).getroot()
    namespace = "{http://www.w3.org/2000/svg}"
    texts = (each for each in root.iter(f"{namespace}text") if "code" in each.get("class", "").split())
    return ["".join(each.itertext()) for each in texts]


def test_the_picture_shows_what_the_library_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = texts_of(ROOT / "docs" / "images" / "overview.svg")
    program, mistake, error, columns = lines[:6], lines[6], lines[7:10], lines[10:12]
    orders = sd.read_named("orders", {"customer": "i64", "price": "decimal<15,2>"})
    names: dict[str, Any] = {"sd": sd, "f": sd.functions, "orders": orders}
    exec("\n".join(program), names)
    derived = [" ".join(line.split()[1:]) for line in str(names["best"].schema).splitlines()]
    assert [" ".join(line.split()) for line in columns] == derived
    with pytest.raises(sd.errors.UnknownFieldError) as caught:
        exec(mistake, names)
    message, _, hint = str(caught.value).partition("\n  hint: ")
    assert " ".join(error) == f"{message}; {hint}"
    monkeypatch.chdir(tmp_path)
    exec(lines[12], names)
    assert sd.Plan.load("best.plan") == names["best"].to_plan()
