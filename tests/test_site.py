"""The site of the pages: its links, and the pages that it makes; `nox -s site` builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.links import ROOT_PAGES, link_pages, slug

ROOT = Path(__file__).parent.parent
PAGES = frozenset({"index.md", "changelog.md", "spark.md", "coverage.md", "coverage/basics.md"})


@pytest.mark.parametrize(
    ("path", "text", "linked"),
    [
        ("docs/plans.md", "see [Spark](spark.md#tables)", "see [Spark](spark.md#tables)"),
        ("README.md", "see [Spark](docs/spark.md)", "see [Spark](spark.md)"),
        ("docs/plans.md", "[changes](../CHANGELOG.md)", "[changes](changelog.md)"),
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


def test_pages_of_the_root_are_there() -> None:
    assert [path for path in ROOT_PAGES if not (ROOT / path).is_file()] == []


def test_an_anchor_is_that_of_github() -> None:
    """Its rule: lower case, no punctuation, a hyphen for each space."""
    assert slug("`sd.read_json`: JSON lines, typed") == "sdread_json-json-lines-typed"
