"""Relations and plans as pictures: the texts of graphs, which other programs draw, and a page to walk about in."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from substrait_dsl.errors import error_context, require
from substrait_dsl.fluent.shown_text import ShownText
from substrait_dsl.signature_errors import Called

if TYPE_CHECKING:
    from substrait_dsl.fluent.base import RelationBase
    from substrait_dsl.fluent.plan import Plan
    from substrait_dsl.render.graphs import Graph


class MermaidText(ShownText):
    """A flowchart of Mermaid, which JupyterLab draws."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/vnd.mermaid": str(self), "text/plain": repr(self)}


class Diagrams(Called):
    """What can be drawn: a graph with a node for each step."""

    __slots__ = ()

    @abstractmethod
    def _graph(self) -> Graph:
        """Return the graph."""

    def to_mermaid(self) -> str:
        """Write the steps as a flowchart of Mermaid, which GitHub, GitLab and JupyterLab draw.

        Returns:
            The text, which shows itself; in Markdown it stands in a block ``mermaid``. Each step is a node with its
            verb, its arguments and, unless they are those of its input, its columns; rows flow along the arrows, those
            of subqueries along dashed ones. What is used twice is one node.

        Specification: none; the language is Mermaid's.

        Example:
            >>> orders.filter(lambda o: o.price > 5.0).select("id").to_mermaid()
            flowchart BT
              n1["emit -> id: i64"]
              n2["filter price > 5.0"]
              n3["read orders -> id: i64, customer: i64, price: fp64?"]
              n2 --> n1
              n3 --> n2
        """
        from substrait_dsl.render.graphs import mermaid

        with error_context(verb="to_mermaid"):
            return MermaidText(mermaid(self._graph()))

    def to_graphviz(self) -> str:
        r"""Write the steps as a graph in DOT, the language of Graphviz.

        Returns:
            The text, which shows itself: ``graphviz.Source(text)`` of the package graphviz draws it, and so does the
            program ``dot``. The nodes and the arrows are those of `to_mermaid`.

        Specification: none; the language is Graphviz's.

        Example:
            >>> orders.filter(lambda o: o.price > 5.0).to_graphviz()
            digraph plan {
              rankdir=BT;
              node [shape=box, fontname="monospace"];
              n1 [label="filter price > 5.0\l"];
              n2 [label="read orders -> id: i64, customer: i64, price: fp64?\l"];
              n2 -> n1;
            }
        """
        from substrait_dsl.render.graphs import dot

        with error_context(verb="to_graphviz"):
            return ShownText(dot(self._graph()))

    def to_html(self, *, compare: RelationBase | Plan | None = None, title: str = "plan") -> str:
        """Write a page that shows the steps as a graph, for a browser, which needs no server and no network.

        Args:
            compare: a relation or a plan that this one became: the page shows both, side by side, with what differs as
                of `sd.diff`.
            title: what the window is called, and the page.

        Returns:
            The page, to be written to a file in UTF-8. A click on a step shows its columns, with types, nullability
            and order, and its message of the specification; a click on a column follows it to where it comes from and
            where it goes. What the plan says is text on the page, never markup; the page loads and sends nothing, and
            runs only the script that is in it.

        Raises:
            InvalidArgumentError: what is compared is neither a relation nor a plan; the title is no text.
            SchemaError: of two that are compared, a relation that no plan can have, as of `to_plan`.

        Specification: none; the messages are those of ``algebra.proto``.

        Example:
            >>> page = orders.filter(lambda o: o.price > 5.0).to_html(title="orders above 5")
            >>> "<title>orders above 5</title>" in page
            True
        """
        from substrait_dsl.fluent.pages import comparison_page, page_of

        with error_context(verb="to_html"):
            require(title, str, "the title of a page is a text")
            shown: Any = self  # a relation or a plan: there are no others
            return page_of(shown, title) if compare is None else comparison_page(shown, compare, title)
