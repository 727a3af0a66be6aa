"""Plans as graphs: each step is a node with the words of the plan's text, in the languages of Mermaid and Graphviz.

What is written is read here by grammars that are narrower than those of the programs: whatever they take, these take.
"""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.render.graphs import MAX_ITEMS

ORDERS = sd.read_named("orders", {"id": "i64", "customer": "i64", "price": "fp64?"})
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string"})
LATE = ORDERS.filter(lambda o: o.price > 5.0)

Nodes = dict[str, list[str]]
Edges = list[tuple[str, str, str]]
"""From, to, and what the arrow says; ``subquery`` is that of a dashed one."""

MERMAID_LABEL = re.compile(r"""(?:[\w .,()=+/'>?:-]|\#[0-9]+;|<br/>)+""")
"""No quote, no bracket, no `<` but those of line breaks, no `&`, `%`, `;` or `#` but those of entities."""


def read_mermaid(content: str) -> tuple[Nodes, Edges]:
    """Read a flowchart strictly."""
    first, *lines = content.split("\n")
    assert first == "flowchart BT"
    nodes: Nodes = {}
    edges: Edges = []
    for line in lines:
        if node := re.fullmatch(r'  (n\d+)\["(.*)"\]', line):
            assert MERMAID_LABEL.fullmatch(node[2])
            assert not re.search("style|classDef|\ufb02|:[^ ]", node[2].replace("#", " #"))
            decoded = [re.sub(r"#(\d+);", lambda sign: chr(int(sign[1])), each) for each in node[2].split("<br/>")]
            nodes[node[1]] = decoded
        else:
            edge = re.fullmatch(r"  (n\d+) (?:-->(?:\|(left|right)\|)?|-\.->\|(subquery)\|) (n\d+)", line)
            assert edge, line
            edges.append((edge[1], edge[4], edge[2] or edge[3] or ""))
    return nodes, edges


def read_dot(content: str) -> tuple[Nodes, Edges]:
    """Read a graph in DOT strictly."""
    lines = content.split("\n")
    assert lines[:3] == ["digraph plan {", "  rankdir=BT;", '  node [shape=box, fontname="monospace"];']
    assert lines[-1] == "}"
    nodes: Nodes = {}
    edges: Edges = []
    for line in lines[3:-1]:
        if node := re.fullmatch(r'  (n\d+) \[label="((?:[^"\\]|\\["\\l])*)"\];', line):
            signs = re.findall(r"\\.|[^\\]", node[2])
            written = "".join({"\\l": "\n", "\\\\": "\\", '\\"': '"'}.get(sign, sign) for sign in signs)
            assert re.findall(r"&\w*;?", written) == ["&amp;"] * written.count("&")
            *shown, rest = written.split("\n")
            assert rest == ""
            nodes[node[1]] = [html.unescape(each) for each in shown]
        else:
            edge = re.fullmatch(
                r'  (n\d+) -> (n\d+)(?: \[label="(?:(left|right)"|(subquery)", style=dashed)\])?;', line
            )
            assert edge, line
            edges.append((edge[1], edge[2], edge[3] or edge[4] or ""))
    return nodes, edges


def read(value: sd.Relation | sd.Plan) -> tuple[Nodes, Edges]:
    """Read the graph of a relation or a plan, which is the same in both languages."""
    in_mermaid = read_mermaid(value.to_mermaid())
    assert read_dot(value.to_graphviz()) == in_mermaid
    return in_mermaid


def test_a_step_is_a_node_and_an_input_an_arrow() -> None:
    joined = LATE.join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
    assert read(joined.group_by("name").agg(n=f.count())) == (
        {
            "n1": ["aggregate by name -> name: string, n: i64 = count()"],
            "n2": [
                "join inner on customer = key",
                "-> id: i64, customer: i64, price: fp64?, key: i64,",
                "  name: string",
            ],
            "n3": ["filter price > 5.0"],
            "n4": ["read orders -> id: i64, customer: i64, price: fp64?"],
            "n5": ["read customers -> key: i64, name: string"],
        },
        [("n2", "n1", ""), ("n3", "n2", "left"), ("n5", "n2", "right"), ("n4", "n3", "")],
    )


def test_what_is_used_twice_is_one_node() -> None:
    nodes, edges = read(LATE.union_all(LATE))
    assert [lines[0] for lines in nodes.values()] == [
        *("set union_all", "#1: filter price > 5.0", "read orders -> id: i64, customer: i64, price: fp64?")
    ]
    assert edges == [("n2", "n1", ""), ("n2", "n1", ""), ("n3", "n2", "")]


def test_arrows_of_subqueries_say_so() -> None:
    known = CUSTOMERS.select("key")
    once = ORDERS.filter(lambda o: o.customer.is_in(known))
    nodes, edges = read(once.filter(lambda o: o.id.is_in(known)))
    by_text = {lines[0].split(" ->")[0]: name for name, lines in nodes.items()}
    subquery = by_text["subquery #1: emit"]
    assert [edge for edge in edges if edge[2]] == [
        (subquery, by_text["filter id in (subquery #1)"], "subquery"),
        (subquery, by_text["filter customer in (subquery #1)"], "subquery"),
    ]


def test_the_trees_of_a_plan_share_nodes() -> None:
    nodes, edges = read(sd.Plan(LATE, LATE.limit(3), CUSTOMERS))
    assert [lines[0].split(" ->")[0] for lines in nodes.values()] == [
        *("#1: filter price > 5.0", "read orders", "fetch 3", "read customers")
    ]
    assert edges == [("n2", "n1", ""), ("n1", "n3", "")]


def test_a_shared_relation_is_one_node_of_a_plan() -> None:
    shared = sd.shared(LATE)
    nodes, edges = read(sd.Plan(shared.limit(1), shared.limit(2)))
    assert nodes["n2"] == ["shared #1: filter price > 5.0"]
    assert edges == [("n2", "n1", ""), ("n3", "n2", ""), ("n2", "n4", "")]


def test_a_tree_after_a_change_is_evaluated_anew() -> None:
    """What is read before a change and after it are other rows, and so other nodes."""
    change = ORDERS.write("copy", "insert")
    nodes, _ = read(sd.Plan(CUSTOMERS.limit(1), change, CUSTOMERS.limit(2)))
    assert sum(lines[0].startswith("read customers") for lines in nodes.values()) == 2


def test_long_lists_are_cut() -> None:
    wide = sd.read_named("wide", {f"c{number}": "i64" for number in range(MAX_ITEMS + 5)})
    nodes, _ = read(wide)
    assert nodes["n1"][-1].endswith("... (5 more)")


HOSTILE = (
    *('"]; click n1 "javascript:alert(1)"', "%%{init: {'theme': 'dark'}}%%", "<script>alert(1)</script>", "`x`"),
    *("#lt;", "&amp;", "&#60;", "style x:#aa;", "classDef x:#aa;", "\ufb02\u00b0lt\u00b6\u00df", "\\", 'a\\"', "\\N"),
    *("__b__ **c**", "https://example.org", "fa:fa-car", "$$x$$", "\u202ex", "end", "|x|", "n1 --> n2", "a\nb"),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(name: str) -> None:
    check_names(name)


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from('"\\<>&#;:%{}[]()|`*_~$@!^-=./ \nstyleclassDef\ufb02\u00b0\u00b6\u00df1a'), min_size=1))
@example("style x:#aa;")
@example("1" * 39)  # the text of the read is longer than a line
def test_random_names_are_text(name: str) -> None:
    check_names(name)


def check_names(name: str) -> None:
    """Check that a name, wherever it stands, leaves the graph as it is, and comes back with the plan's text."""
    table = sd.read_named(name, {name: sd.String()})
    named = table.filter(sd.col(name) == name)
    nodes, edges = read(named)
    assert edges == [("n2", "n1", "")]
    assert ["".join(lines).replace(" ", "") for lines in nodes.values()] == [
        re.sub(r"^ *\| |[ \n]", "", step, flags=re.MULTILINE) for step in re.split(r"\n  (?=read)", str(named))
    ]


def test_deep_plans_have_graphs() -> None:
    rel: sd.Relation = ORDERS
    for step in range(3000):
        rel = rel.filter(sd.col("id") > step)
    nodes, edges = read(rel)
    assert (len(nodes), len(edges)) == (3001, 3000)


def test_a_graph_shows_itself_and_jupyterlab_draws_it() -> None:
    text = LATE.to_mermaid()
    assert repr(text) == str(text)
    assert text._repr_mimebundle_() == {"text/vnd.mermaid": str(text), "text/plain": str(text)}  # type: ignore[attr-defined]
    assert repr(LATE.to_graphviz()) == str(LATE.to_graphviz())
