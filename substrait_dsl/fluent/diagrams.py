"""Relations and plans as pictures: the texts of graphs, which other programs draw."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from substrait_dsl.errors import error_context
from substrait_dsl.fluent.shown_text import ShownText
from substrait_dsl.signature_errors import Called

if TYPE_CHECKING:
    from substrait_dsl.render.graphs import Graph


class MermaidText(ShownText):
    """A flowchart of Mermaid, which JupyterLab draws."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/vnd.mermaid": str(self), "text/plain": str(self)}


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
