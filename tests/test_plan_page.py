"""The page of a plan: what is on it says the same as the plan, its lineage, its messages and its differences.

Nothing here needs a browser: `test_page_in_browser` has what is seen and clicked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from substrait_dsl import functions as f
from substrait_dsl.algebra.node import Rel
from substrait_dsl.analysis.column_lineage import DIRECT_USES
from substrait_dsl.analysis.step_lineage import MAX_FOLLOWED, ROWS
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.render.graph_layout import lay_out_graph
from substrait_dsl.render.graphs import Edge
from substrait_dsl.render.plan_page import MAX_COLUMNS
from tests.test_graphs import read_mermaid
from tests.trees.relations import plans

ORDERS = sd.read_named("orders", {"id": "i64", "customer": "i64", "price": "fp64?"})
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string"})
TOTALS = (
    ORDERS.filter(lambda o: o.price > 5.0)
    .join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
    .group_by("name")
    .agg(total=lambda o: f.sum(o.price))
    .sort(sd.desc("total"))
)


class Parts(HTMLParser):
    """The elements of a page, and the texts in its scripts and its style."""

    def __init__(self, content: str) -> None:
        """Parse a page."""
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = [("", ())]
        self.texts: dict[str, str] = {}
        self.policy = ""
        self.comments: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        if dict(attrs).get("http-equiv"):
            self.policy = dict(attrs)["content"] or ""

    def handle_data(self, data: str) -> None:
        """Note the text of an element."""
        tag = self.elements[-1][0] + ("" if not self.elements[-1][1] else " data")
        self.texts[tag] = self.texts.get(tag, "") + data

    def handle_comment(self, data: str) -> None:
        """Note a comment."""
        self.comments.append(data)


def data_of(page: str) -> dict[str, Any]:
    """What a page says, read as a browser does: the text of the element, as JSON."""
    found: dict[str, Any] = json.loads(Parts(page).texts["script data"])
    return found


def plan_of(value: sd.Relation[Any] | sd.Plan) -> dict[str, Any]:
    """The plan on the page of a relation or a plan."""
    [plan] = data_of(value.to_html())["plans"]
    found: dict[str, Any] = plan
    return found


def columns_of(plan: dict[str, Any], number: int) -> list[Any]:
    """The columns of a step, as the script of the page has them."""
    fields = plan["steps"][number]["fields"]
    if isinstance(fields, int):
        return columns_of(plan, fields)
    return [plan["fields"][start + place] for start, length in fields for place in range(length)]


def uses_of(plan: dict[str, Any], number: int) -> list[list[list[Any]]]:
    """What each column of a step comes from, as the script of the page has it."""
    found = []
    for entry in plan["steps"][number]["lineage"]:
        if isinstance(entry, int):
            found.append(plan["uses"][entry])
        else:
            length, step, start = entry
            found += [[[step, start + place, "identity"]] for place in range(length)]
    return found


def test_the_steps_are_those_of_the_graph() -> None:
    change = ORDERS.write("copy", "insert")  # what is read after it is read anew
    several = (sd.Plan(TOTALS, TOTALS.limit(3), ORDERS), sd.Plan(CUSTOMERS.limit(1), change, CUSTOMERS.limit(2)))
    for value in (TOTALS, *several, TOTALS.union_all(TOTALS)):
        nodes, edges = read_mermaid(value.to_mermaid())
        plan = plan_of(value)
        assert [(f"n{source + 1}", f"n{target + 1}", label) for source, target, label, _ in plan["edges"]] == edges
        for step, lines in zip(plan["steps"], nodes.values(), strict=True):
            words = " ".join([step["heading"] + step["verb"], *step["arguments"]])
            assert " ".join(lines).startswith(words)


def test_a_step_has_its_columns_their_types_and_its_order() -> None:
    plan = plan_of(TOTALS)
    assert [step["verb"] for step in plan["steps"]] == ["sort", "aggregate", "join", "filter", "read", "read"]
    assert columns_of(plan, 0) == [["name", "string", False, []], ["total", "fp64?", True, []]]
    assert [row[0] for row in columns_of(plan, 2)] == ["id", "customer", "price", "key", "name"]
    assert columns_of(plan, 3) == columns_of(plan, 4)
    assert plan["steps"][0]["properties"] == "ordered by total desc nulls last"
    assert plan["steps"][1]["computed"] == {"1": "sum(price)"}
    assert [step["size"] for step in plan["steps"]] == [2, 2, 5, 3, 3, 2]


def test_fields_of_structs_stand_below_their_column() -> None:
    table = sd.read_named("t", {"place": sd.Struct.of({"city": sd.String(), "zip": sd.I32(nullable=True)})})
    [[name, _, _, nested]] = columns_of(plan_of(table), 0)
    assert (name, nested) == ("place", [[1, "city", "string", False], [1, "zip", "i32?", True]])


def test_a_column_is_followed_step_by_step() -> None:
    plan = plan_of(TOTALS)
    assert uses_of(plan, 0) == [[[1, 0, "identity"]], [[1, 1, "identity"]]]
    assert uses_of(plan, 1) == [[[2, 4, "identity"]], [[2, 2, "aggregation"]]]
    assert uses_of(plan, 2)[2] == [[3, 2, "identity"]]
    assert uses_of(plan, 4)[2] == [["orders.price", "identity"]]
    decided = [plan["uses"][step["rows"]] for step in plan["steps"] if step["rows"] is not None]
    assert [[use for use in uses if use[1] != ROWS] for uses in decided] == [
        [[1, 1, "sort"]],
        [[2, 4, "group_by"]],
        [[3, 1, "join"], [5, 0, "join"]],
        [[4, 2, "filter"]],
    ]


def sources(plan: dict[str, Any], number: int, position: int) -> set[tuple[str, bool]]:
    """The sources at the end of all ways down from a column, and whether values come from each directly."""
    found = set()
    seen = set()
    waiting = [(number, position, True)]
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        rows = plan["steps"][here[0]]["rows"]
        uses = uses_of(plan, here[0])[here[1]] if here[1] != ROWS else [] if rows is None else plan["uses"][rows]
        for *place, use in uses:
            is_direct = here[2] and use in DIRECT_USES
            if len(place) == 1:
                found.add((place[0], is_direct))
            else:
                waiting.append((*place, is_direct))
    return found


def check_ways(relation: sd.Relation[Any]) -> None:
    """Check that the ways of all columns end where the lineage of the relation says."""
    plan = plan_of(relation)
    for position, column in enumerate(relation.lineage()):
        expected = {(str(origin.source), origin.is_direct) for origin in (*column.direct, *column.indirect)}
        assert sources(plan, 0, position) == expected, column
    assert sources(plan, 0, ROWS) == {(str(origin.source), False) for origin in relation.lineage().rows}


def test_ways_end_where_the_lineage_says() -> None:
    check_ways(TOTALS)
    check_ways(ORDERS.select("id", n=lambda o: f.row_number().over(partition_by=o.customer, order_by=o.price)))
    check_ways(ORDERS.select(x=lambda o: sd.when(o.id > 3).then(o.price).otherwise(0.0)))
    check_ways(ORDERS.union_all(ORDERS.filter(lambda o: o.id > 3)))


def test_ways_go_through_correlated_subqueries() -> None:
    """The order's own row decides which customer is its own."""

    def name_of(order: Any) -> Any:
        return sd.scalar_subquery(CUSTOMERS.filter(lambda c: c.key == order.customer).select("name"))

    last = ORDERS.select("id", name=name_of)
    check_ways(last)
    assert any(step["is_correlated"] for step in plan_of(last)["steps"])
    assert not any(step["is_correlated"] for step in plan_of(TOTALS)["steps"])


@settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)
@given(plans())
def test_the_ways_of_any_plan_end_where_its_lineage_says(rel: Rel) -> None:
    if not rel.free_anchors and not rel.flags.has_changes:
        check_ways(wrap_relation(rel))


def outputs(value: sd.Relation[Any] | sd.Plan) -> list[str]:
    """The steps at which ways up end, by their numbers and verbs."""
    return [f"{number} {step['verb']}" for number, step in enumerate(plan_of(value)["steps"]) if step["is_output"]]


def test_ways_end_at_all_roots() -> None:
    large = ORDERS.filter(lambda o: o.price > 5.0)
    assert outputs(large) == ["0 filter"]
    assert outputs(sd.Plan(large, large.select(x="id"))) == ["0 filter", "2 emit"]
    assert outputs(sd.Plan(large.select(x="id"), large)) == ["0 emit", "1 filter"]
    assert outputs(sd.Plan(large, large)) == ["0 filter"]


def test_ways_end_at_roots_that_are_evaluated_anew() -> None:
    """After a change of a table, what was read before is read again: the filter below the emit is no root."""
    large = ORDERS.filter(lambda o: o.price > 5.0)
    change = CUSTOMERS.write("copy", "insert")
    plan = sd.Plan(large, change, large.select(x="id"))
    assert [step["verb"] for step in plan_of(plan)["steps"]] == [
        "filter",
        "read",
        "write",
        "read",
        "emit",
        "filter",
        "read",
    ]
    assert outputs(plan) == ["0 filter", "2 write", "4 emit"]


def test_what_is_too_wide_is_not_followed() -> None:
    wide = sd.read_named("wide", {f"c{number}": "i64" for number in range(MAX_FOLLOWED + 1)})
    plan = plan_of(wide.filter(lambda r: r.c0 > 1).select("c0"))
    assert [step["is_followed"] for step in plan["steps"]] == [False, False, False]
    assert len(columns_of(plan, 2)) == MAX_COLUMNS < plan["steps"][2]["size"]


def with_names(part: Any, declared: list[dict[str, Any]]) -> Any:
    """A part of a message with the names of functions in place of references to their declarations.

    And without anchors of rows: where an input is a reference, the row of a relation is called by its own anchor.
    """
    names = {each["extensionFunction"].get("functionAnchor", 0): each["extensionFunction"]["name"] for each in declared}

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [*map(named, value)]
        if not isinstance(value, dict):
            return value
        return {
            key: names[each] if key == "functionReference" else named(each)
            for key, each in value.items()
            if key != "relAnchor"
        }

    return named(part)


def messages(value: sd.Relation[Any]) -> Any:
    """The messages of the steps, with those of the inputs in place of references to them."""
    plan = plan_of(value)

    def full(part: Any) -> Any:
        if isinstance(part, list):
            return [*map(full, part)]
        if not isinstance(part, dict):
            return part
        if part.keys() == {"reference"}:
            return message(part["reference"]["subtreeOrdinal"] - 1)
        return {key: full(each) for key, each in part.items()}

    def message(number: int) -> Any:
        return full(json.loads(plan["steps"][number]["message"]))

    return with_names(message(0), json.loads(plan["declarations"])["extensions"])


@pytest.mark.parametrize("value", ["totals", "subquery", "emit", "of one row"])
def test_the_messages_of_the_steps_are_those_of_the_plan(value: str) -> None:
    relation: sd.Relation[Any] = {
        "totals": TOTALS,
        "subquery": TOTALS.filter(lambda t: t.name.is_in(CUSTOMERS.select("name"))),
        "emit": TOTALS.select("total").limit(3),
        "of one row": ORDERS.filter(lambda o: sd.exists(CUSTOMERS.filter(lambda c: c.key == o.customer))).select("id"),
    }[value]
    written = MessageToDict(relation.to_plan().to_proto())
    assert messages(relation) == with_names(written["relations"][0]["root"]["input"], written["extensions"])


def test_an_anchor_is_that_of_the_row_that_a_subquery_refers_to() -> None:
    correlated = ORDERS.filter(lambda o: sd.exists(CUSTOMERS.filter(lambda c: c.key == o.customer)))
    outer, subquery = (json.loads(step["message"])["filter"] for step in plan_of(correlated)["steps"][:2])
    [anchor] = re.findall(r'"relReference": (\d+)', json.dumps(subquery))
    assert outer["common"]["relAnchor"] == int(anchor)


def test_the_messages_refer_to_functions_that_the_page_declares() -> None:
    plan = plan_of(TOTALS)
    declared = json.loads(plan["declarations"])["extensions"]
    assert {each["extensionFunction"]["name"] for each in declared} == {"gt:any_any", "equal:any_any", "sum:fp64"}


@pytest.mark.parametrize("name", ["unit\u00a0price", "tag\U000e0041", "a\x7f\n\u202e\\", '"\u2028"', "plain \u00e9"])
def test_messages_are_json_whatever_the_names_are(name: str) -> None:
    [step] = plan_of(sd.read_named(name, {name: "i64"}))["steps"]
    assert step["message"].isprintable()
    read = json.loads(step["message"])["read"]
    assert (read["baseSchema"]["names"], read["namedTable"]["names"]) == ([name], [name])


def test_a_step_without_a_message_says_why() -> None:
    """A type that is deeper than messages may be; the rest of the page is there."""
    type_: sd.Type = sd.I64()
    for _ in range(100):
        type_ = sd.List(type_)
    plan = plan_of(sd.read_named("deep", {"x": type_}))
    assert plan["steps"][0]["message"].startswith("a type or a literal inside a Read nests too deeply")
    assert columns_of(plan, 0)[0][0] == "x"


def test_two_plans_have_the_differences_of_their_steps() -> None:
    after = (
        ORDERS.filter(lambda o: o.price > 9.0)
        .join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
        .group_by("name")
        .agg(total=lambda o: f.sum(o.price))
        .limit(3)
    )
    data = data_of(TOTALS.to_html(compare=after))
    before, now = data["plans"]
    assert (before["title"], now["title"]) == ("before", "after")
    assert [step["change"] for step in before["steps"]] == ["removed", "", "", "changed", "", ""]
    assert [step["change"] for step in now["steps"]] == ["added", "", "", "changed", "", ""]
    assert data["changes"] == str(sd.diff(TOTALS, after)).split("\n")
    for number, step in enumerate(before["steps"]):
        if step["partner"] is not None:
            assert now["steps"][step["partner"]]["partner"] == number
            assert now["steps"][step["partner"]]["verb"] == step["verb"]


WORDS = ("verb", "arguments", "properties", "computed", "size")
"""What the page says of a step wherever it stands."""


def changes_of(before: sd.Relation[Any] | sd.Plan, after: sd.Relation[Any] | sd.Plan) -> list[list[tuple[str, str]]]:
    """The steps of both sides that have no like on the other side, and what the page says became of them."""
    pages = data_of(before.to_html(compare=after))["plans"]
    check_partners(pages)
    return [[(step["verb"], step["change"]) for step in page["steps"] if step["change"]] for page in pages]


def check_partners(pages: list[dict[str, Any]]) -> None:
    """Check that each step but those that were added and removed is the partner of its partner, which has its verb.

    An emit that only gives the names of a root is no step of the plan. A copy has the partner of what it is a copy of.
    """
    for page, other in (pages, pages[::-1]):
        for number, step in enumerate(page["steps"]):
            if step["change"] in ("added", "removed"):
                assert step["partner"] is None
            elif step["partner"] is None:
                assert (step["verb"], step["is_output"], step["change"]) == ("emit", True, "")
            else:
                partner = other["steps"][step["partner"]]
                assert (partner["verb"], partner["change"]) == (step["verb"], step["change"])
                if partner["partner"] != number:
                    first = page["steps"][partner["partner"]]
                    assert [first[key] for key in WORDS] == [step[key] for key in WORDS]


def test_relations_on_both_sides_are_compared() -> None:
    """A relation that a program goes on with is the same object in both; its number need not be the same."""
    large = ORDERS.filter(lambda o: o.price > 5.0)
    assert changes_of(large, large.limit(3)) == [[], [("fetch", "added")]]
    assert changes_of(large.limit(3), large) == [[("fetch", "removed")], []]
    assert changes_of(ORDERS.cross(CUSTOMERS), CUSTOMERS.cross(ORDERS)) == [[("read", "removed")], [("read", "added")]]
    [before, _] = data_of(large.to_html(compare=large.limit(3)))["plans"]
    assert [step["partner"] for step in before["steps"]] == [1, 2]


def test_columns_of_roots_with_other_names_are_compared() -> None:
    """A plan that is read has the names of its columns at its root alone, which is no step."""

    def read_again(relation: sd.Relation[Any]) -> sd.Plan:
        return sd.Plan.from_bytes(relation.to_plan().to_bytes())

    named = read_again(ORDERS.select(x="id"))
    assert changes_of(named, read_again(ORDERS.select(y="customer"))) == [[("emit", "changed")], [("emit", "changed")]]
    assert changes_of(named, read_again(ORDERS.select(y="id"))) == [[], []]
    filtered = read_again(ORDERS.filter(lambda o: o.price > 5.0).select(y="id"))
    assert changes_of(named, filtered) == [[], [("filter", "added")]]
    several = [
        sd.Plan(ORDERS.select(x=one), ORDERS.select(y=other)) for one, other in (("id", "price"), ("price", "id"))
    ]
    before, after = (sd.Plan.from_bytes(plan.to_bytes()) for plan in several)
    assert changes_of(before, after) == [[("emit", "changed")] * 2] * 2


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_queries_and_edits_of_them_have_the_differences_of_their_steps(name: str) -> None:
    query = QUERIES[name]()
    names = sorted(QUERIES)
    following = QUERIES[names[(names.index(name) + 1) % len(names)]]()
    text = query.to_plan().to_json()
    other_table = sd.Plan.from_json(re.sub(r'("namedTable": {\s*"names": \[\s*")', r"\1other_", text))
    filtered = query.filter(sd.col(query.columns[0]).is_not_null())
    edits: list[sd.Relation[Any] | sd.Plan] = [query.limit(3), filtered, other_table, following]
    for before, after in [(query, each) for each in edits] + [(query.limit(3), query)]:
        expected = sd.diff(before, after).steps
        removed, added = changes_of(before, after)
        for shown, steps in (
            (removed, [(step.before.split()[0], step.kind) for step in expected if step.before]),
            (added, [(step.after.split()[0], step.kind) for step in expected if step.after]),
        ):
            assert set(shown) == set(steps)
            assert Counter(shown) >= Counter(steps)  # the page has the copies of a step, too
        assert expected


def test_equal_plans_have_no_difference_whatever_they_share() -> None:
    """A message has an input as often as it is used; the objects of a program are shared."""
    large = ORDERS.filter(lambda o: o.price > 5.0)
    shared = large.union_all(large)
    data = data_of(shared.to_html(compare=sd.Plan.from_bytes(shared.to_plan().to_bytes())))
    assert data["changes"] == ["no difference"]
    before, after = ([(step["verb"], step["partner"]) for step in page["steps"]] for page in data["plans"])
    assert before == [("set", 0), ("filter", 1), ("read", 2)]
    assert after == [("set", 0), ("filter", 1), ("read", 2), ("filter", 1), ("read", 2)]
    assert not any(step["change"] for page in data["plans"] for step in page["steps"])


def test_a_plan_and_itself_have_no_difference() -> None:
    data = data_of(TOTALS.to_plan().to_html(compare=TOTALS))
    assert data["changes"] == ["no difference"]
    for plan in data["plans"]:
        assert [(step["change"], step["partner"]) for step in plan["steps"]] == [("", place) for place in range(6)]


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(plans(), plans())
def test_any_two_plans_are_compared(one: Rel, other: Rel) -> None:
    before, after = wrap_relation(one).to_plan(), wrap_relation(other).to_plan()
    pages = data_of(before.to_html(compare=after))["plans"]
    for page, partners in (pages, pages[::-1]):
        for step in page["steps"]:
            if step["partner"] is not None:
                assert partners["steps"][step["partner"]]["change"] == step["change"] != "added"
    found = sd.diff(before, after).steps
    for page, kinds in zip(pages, (("removed", "changed"), ("added", "changed")), strict=True):
        changed = {str([step[key] for key in WORDS]) for step in page["steps"] if step["change"]}
        assert len(changed) <= sum(change.kind in kinds for change in found)  # copies of a step count once


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="to_html: expected a relation or a plan to compare"):
        TOTALS.to_html(compare="totals")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="to_html: the title of a page is a text"):
        TOTALS.to_html(title=3)  # type: ignore[arg-type]


# --- what a stranger's plan may not do

HOSTILE = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1),
    st.sampled_from(
        [
            *("</script><script>alert(1)</script>", "<!--<script>", "-->", "]]>", "\u2028\u2029", "</title><b>"),
            *('"; alert(1); "', "\\u003c/script\\u003e", "&lt;/script>", "__proto__", "\u202e\u2066\u200b\ufeff"),
            *("\x00\x1b[31m\x7f\x85", "${alert(1)}", "`", "a\nb\r\tc"),
        ]
    ),
)


def page_with(name: str) -> str:
    """A page with a name in all places."""
    table = sd.read_named(name, {name: sd.String(), "inside": sd.Struct.of({name: sd.I64()})})
    relation = table.filter(sd.col(name) == name).hint(alias=name)
    return relation.to_html(compare=relation.limit(3), title=name)


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_a_strangers_name_is_text(name: str) -> None:
    harmless, hostile = Parts(page_with("x")), Parts(page_with(name))
    assert hostile.elements == harmless.elements
    assert hostile.comments == []
    assert hostile.policy == harmless.policy
    assert hostile.texts["script"] == harmless.texts["script"]
    assert re.search("[<>&]", hostile.texts["script data"]) is None
    assert hostile.texts["script data"].isascii()
    assert all(text.isprintable() for text in texts(json.loads(hostile.texts["script data"])))


def texts(value: Any) -> Iterator[str]:
    """All texts of JSON, those of the keys, too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def test_the_page_runs_its_own_script_and_nothing_else() -> None:
    page = Parts(TOTALS.to_html())
    directives = dict(each.strip().split(" ", 1) for each in page.policy.split(";"))
    digests = {
        name: f"'sha256-{base64.b64encode(hashlib.sha256(page.texts[tag].encode()).digest()).decode()}'"
        for name, tag in (("script-src", "script"), ("style-src", "style"))
    }
    assert directives == {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
        **digests,
    }
    writes_markup = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|import"
    assert not re.search(writes_markup, page.texts["script"])
    assert "//" not in page.texts["style"]
    assert re.findall(r"https?://[^\"]*", page.texts["script"]) == ["http://www.w3.org/2000/svg"]


# --- where the nodes stand


@given(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=30))
def test_no_two_nodes_meet_and_inputs_stand_below(inputs: list[list[int]]) -> None:
    edges = [
        Edge(source, target, "", is_subquery=False)
        for target, sources in enumerate(inputs)
        for source in sources
        if target < source < len(inputs)
    ]
    places = lay_out_graph(len(inputs), edges)
    for edge in edges:
        assert places[edge.source].layer > places[edge.target].layer
    for layer in {place.layer for place in places}:
        columns = sorted(place.column for place in places if place.layer == layer)
        assert all(right - left >= 1 for left, right in pairwise(columns))
        assert all(0 <= column < max(len(inputs), 1) for column in columns)


def test_long_plans_have_pages_that_grow_with_the_steps() -> None:
    def size(steps: int) -> int:
        rel: sd.Relation[Any] = ORDERS
        for step in range(steps):
            rel = rel.filter(sd.col("id") > 1000 + step)
        return len(rel.to_html())

    small, medium, large = map(size, (200, 400, 800))
    assert (large - medium) < 2.2 * (medium - small)
