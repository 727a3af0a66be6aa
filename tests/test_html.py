"""What cells of notebooks show: well-formed HTML with the words of the plan's text, in which no name is markup."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from IPython.core.formatters import HTMLFormatter, PlainTextFormatter

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.findings import Finding, FindingCode
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.engines.report import CheckFinding, CheckMatrix, Report
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.markup import element, page, text
from substrait_dsl.render.html import MAX_OPEN, plan_html
from substrait_dsl.render.plan_walk import MAX_DEPTH
from substrait_dsl.render.text import MAX_ITEMS

ORDERS = sd.read_named("orders", {"id": "i64", "customer": "i64", "price": "fp64?"})
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string"})

ALLOWED = {
    *("div", "style", "details", "summary", "table", "tr", "th", "td", "span", "ul", "li", "b", "i", "code"),
    *("html", "head", "body", "title", "meta"),
}
ALLOWED_ATTRIBUTES = {"class", "open", "style", "lang", "charset", "http-equiv", "content", "name"}
HOSTILE = st.one_of(
    st.text(min_size=1),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            '" onmouseover="alert(1)',
            "' onload='alert(1)",
            "</td></details><img src=x onerror=alert(1)>",
            "&lt;b&gt;",
            "</style><b>",
            "<!-- ",
            "]]>",
            "\x00\x1b[31m\x7f\x85",
            "\u202eevil\u2066\u200b\ufeff",
            "a\nb\r\tc",
        ]
    ),
)


class Page(HTMLParser):
    """A page that is parsed strictly: each element is one of ours, and is closed by its own end tag."""

    def __init__(self, content: str) -> None:
        """Parse a page."""
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        """The elements in their order, each with the names of its attributes."""
        self.texts: list[str] = []
        self.deepest = 0
        self.feed(content)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        assert tag in ALLOWED
        assert {name for name, _ in attrs} <= {
            "class",
            "open",
            "style",
            "lang",
            "charset",
            "http-equiv",
            "content",
            "name",
        }
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        if tag != "meta":
            self.open.append(tag)
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if "style" not in self.open:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Refuse what is no element."""
        raise AssertionError(data)

    handle_pi = unknown_decl = handle_comment

    @property
    def text(self) -> str:
        """The texts, one after the other."""
        return "".join(self.texts)

    def cells(self) -> str:
        """The texts with a bar between them."""
        return "|".join(self.texts)


def hostile_relation(name: str) -> sd.Relation:
    """A relation with a name in all places: of a table, a column, a field of a struct, a constant."""
    table = sd.read_named(name, {name: sd.String(), "inside": sd.Struct.of({name: sd.I64()})})
    return table.filter(sd.col(name) == name).hint(alias=name)


def shown(name: str) -> list[str]:
    """All that is shown of a relation with a name in all places."""
    relation = hostile_relation(name)
    finding = Finding(FindingCode.FUNCTION_UNKNOWN, name, (name,))
    algebra = relation.to_plan()._algebra
    roots = [root.input for root in algebra.roots]
    expression = relation.c[name] == name
    extended = sd.ExtendedExpression(relation.schema, same=lambda r: r[name] == name)
    values = (relation, relation.schema, relation.to_plan(), expression, extended)
    return [
        *(value._repr_html_() for value in values),
        plan_html(algebra, roots, origin=name, findings=[finding]),
        page(name, relation._repr_html_()),
    ]


@settings(max_examples=40, deadline=None)
@given(HOSTILE)
@example("<script>alert(1)</script>")
def test_a_strangers_name_is_text(name: str) -> None:
    for harmless, hostile in zip(shown("x"), shown(name), strict=True):
        assert Page(hostile).elements == Page(harmless).elements
        assert hostile.replace("\n", "").isprintable()


def test_a_strangers_name_is_there() -> None:
    name = '<b>"&'
    for hostile in shown(name):
        assert "<b>" in Page(hostile).text
        assert "&" in Page(hostile).text


@given(st.text())
def test_a_text_comes_back(content: str) -> None:
    """What can be seen is shown as it is; all else is an escape of Python's."""
    found = Page(element("b", content)).text
    assert found.isprintable()
    if content.isprintable():
        assert found == content
    assert Page(element("b", text(content))).text == found  # it is escaped once


def test_a_relation_is_shown_with_its_columns_and_steps() -> None:
    joined = ORDERS.join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
    total = joined.group_by("name").agg(total=lambda o: f.sum(o.price)).sort("name")
    shown = Page(total._repr_html_())
    assert "relation: 2 columns, 5 steps" in shown.texts
    assert "|0|name|string|no|1|total|fp64?|yes|" in shown.cells()
    assert (
        "|sort| by name asc nulls first|2 columns, as in the input; ordered by name asc nulls first|" in shown.cells()
    )
    assert "|total|fp64?|yes|sum(price)|" in shown.cells()
    assert "|read| customers|2 columns; unordered|" in shown.cells()
    assert [name for name in shown.texts if name in ("sort", "aggregate", "join", "read")] == [
        *("sort", "aggregate", "join", "read", "read")
    ]


def test_what_is_shared_is_shown_once() -> None:
    late = ORDERS.filter(lambda o: o.price > 5.0)
    shown = Page(late.union_all(late)._repr_html_())
    assert shown.text.count("price > 5.0") == 2  # the step, and the mention
    assert "|#1: |filter| price > 5.0|" in shown.cells()
    assert "|see #1 above (filter price > 5.0)" in shown.cells()


def test_subqueries_stand_in_their_step() -> None:
    shown = Page(ORDERS.filter(lambda o: o.customer.is_in(CUSTOMERS.select("key")))._repr_html_())
    assert "|subquery #1: |emit|" in shown.cells()


def test_a_schema_is_a_table_with_the_fields_of_structs() -> None:
    nested = sd.read_named("t", {"id": "i64", "places": "list<nstruct<city: string?, at: nstruct<x: fp64, y: fp64>>>"})
    assert Page(nested.schema._repr_html_()).texts == [
        *("column", "type", "nullable"),
        *("0", "id", "i64", "no"),
        *("1", "places", "list<struct<string?, struct<fp64, fp64>>>", "no"),
        *("city", "string?", "yes"),
        *("at", "struct<fp64, fp64>", "no"),
        *("x", "fp64", "no"),
        *("y", "fp64", "no"),
    ]


class _Places(sd.Schema):
    id: sd.I64
    city: sd.Nullable[sd.String]


def _html_in_ipython(value: object) -> str | None:
    """Return what IPython shows of a value: of a class it calls class methods only."""
    shown: str | None = HTMLFormatter()(value)
    return shown


def test_a_schema_class_is_a_table_below_its_name() -> None:
    shown = _html_in_ipython(_Places)
    assert shown is not None
    columns = ["0", "id", "i64", "no", "1", "city", "string?", "yes"]
    assert Page(shown).texts == ["_Places", "column", "type", "nullable", *columns]


@pytest.mark.parametrize("value", [sd.Schema, sd.DynRow, ORDERS.c], ids=["base", "class of rows", "row"])
def test_what_is_no_declared_schema_is_shown_by_its_text(value: object) -> None:
    assert _html_in_ipython(value) is None


def test_a_schema_shows_all_columns_and_a_relation_says_how_many_are_missing() -> None:
    wide = sd.read_named("wide", {f"c{number}": "i64" for number in range(MAX_ITEMS + 3)})
    assert f"c{MAX_ITEMS + 2}" in Page(wide.schema._repr_html_()).texts
    assert "... (3 more; schema shows all)" in Page(wide._repr_html_()).texts
    assert "(no columns)" in Page(RelationSchema(NamedStruct(()))._repr_html_()).texts


def test_a_plan_says_its_size_and_its_findings_the_heavier_first() -> None:
    plan = sd.Plan(ORDERS, CUSTOMERS)
    shown = Page(plan._repr_html_())
    assert shown.texts[0] == "plan: 2 trees, 2 roots, 2 steps"
    assert "root 1: 2 columns" in shown.texts
    findings = [
        Finding(FindingCode.EXTENSION_URI, "an address"),
        Finding(FindingCode.VERSION_MISSING, "no version"),
    ]
    algebra = plan._algebra
    found = Page(plan_html(algebra, [root.input for root in algebra.roots], origin="by somebody", findings=findings))
    assert found.texts[:6] == [
        *("plan: 2 trees, 2 roots, 2 steps", " (by somebody)"),
        *("1 finding: assumed", "no version [assumed: version-missing]"),
        *("1 finding: harmless", "an address [harmless: extension-uri]"),
    ]


def test_a_plan_that_was_read_says_who_wrote_it() -> None:
    read = sd.Plan.from_bytes(ORDERS.to_plan().to_bytes())
    assert f" (version {read.version}, by {read.producer})" in Page(read._repr_html_()).texts


def test_an_expression_is_its_text() -> None:
    assert Page((ORDERS.c.price / 2.0)._repr_html_()).texts == ["price / 2.0: fp64?"]
    assert Page((sd.col("x") > 3)._repr_html_()).texts == ["x > 3"]


def test_an_explanation_shows_itself() -> None:
    text = ORDERS.limit(3).explain()
    assert repr(text) == str(text) == str(ORDERS.limit(3))
    assert repr(ORDERS.to_plan().explain()) == str(ORDERS)


def test_lineage_and_differences_show_their_lines() -> None:
    """At a prompt of IPython, and as the text of a cell."""
    large = ORDERS.filter(lambda o: o.price > 5.0)
    for shown in (large.lineage(), large.lineage().column("id"), sd.diff(large, ORDERS)):
        assert PlainTextFormatter()(shown) == str(shown)
        assert "\n" in str(shown) or str(shown) == "id: orders.id (identity)"


def test_a_report_has_its_verdict_and_its_findings() -> None:
    report = ORDERS.simple_capture().check("duckdb")
    page = Page(report._repr_html_())
    assert page.texts[:2] == ["duckdb-1.1.3: ", "runs lowered"]
    lines = [line.strip() for line in str(report).split("\n")[1:]]
    assert page.texts[2:] == lines
    assert [tag for tag, _ in page.elements].count("li") == len(report.findings) == 2
    assert ("details", ("open",)) in page.elements


def test_reports_of_several_engines_are_a_table() -> None:
    checked = sd.check_all(ORDERS.simple_capture(), ["duckdb", "datafusion"])
    page = Page(checked._repr_html_())
    words = " ".join(" ".join(page.texts).split())
    table = " ".join(str(checked).split())
    assert words.startswith(table)
    assert [tag for tag, _ in page.elements].count("details") == sum(bool(checked[name].findings) for name in checked)


def test_names_in_a_report_are_text() -> None:
    def elements(name: str) -> list[tuple[str, tuple[str, ...]]]:
        finding = CheckFinding(name, "rejected", why=name, step=name, expression=name, cure=name)
        matrix = CheckMatrix({name: Report(name, "refused", (finding,))})
        return Page(matrix._repr_html_()).elements

    assert elements("<script>alert(1)</script>") == elements("x")


def test_keys_that_wait_for_measures_are_a_table() -> None:
    page = Page(ORDERS.group_by("customer", half=lambda o: o.price / 2.0)._repr_html_())
    assert page.texts[0].startswith("group by 2 keys")
    assert page.cells().endswith("0|customer|i64|no|1|half|fp64?|yes")


def test_the_columns_are_offered_after_a_bracket() -> None:
    for value in (ORDERS, ORDERS.schema, ORDERS.c):
        assert value._ipython_key_completions_() == ["id", "customer", "price"]


def test_deep_plans_are_as_deep_as_a_browser_takes() -> None:
    rel = ORDERS
    for step in range(5000):
        rel = rel.filter(sd.col("id") > step)
    shown = Page(rel._repr_html_())
    assert "relation: 3 columns, 5,001 steps" in shown.texts
    assert shown.texts.count("filter") == 5000
    assert shown.deepest <= MAX_DEPTH + 2
    unfolded = [attributes for tag, attributes in shown.elements if tag == "details" and "open" in attributes]
    assert len(unfolded) == MAX_OPEN + 1  # and the columns


@pytest.mark.parametrize("show", [lambda rel: rel._repr_html_(), lambda rel: rel.to_plan()._repr_html_()])
def test_it_grows_with_the_steps(show: Callable[[sd.Relation], str]) -> None:
    """Twice the steps are twice the text, no more, also of a wide relation."""

    def size(steps: int) -> int:
        rel: sd.Relation = sd.read_named("wide", {f"c{number}": "i64" for number in range(100)})
        for step in range(steps):
            rel = rel.filter(sd.col("c1") > 1000 + step).with_columns(c2=sd.col("c3") + 1)
        return len(show(rel))

    small, middle, large = size(50), size(100), size(200)
    assert large - middle <= 2.1 * (middle - small)


def test_a_page_loads_and_runs_nothing() -> None:
    content = page("a plan", ORDERS._repr_html_())
    assert content.startswith("<!doctype html>\n")
    assert "default-src 'none'" in content
    assert ("title", ()) in Page(content.removeprefix("<!doctype html>")).elements
