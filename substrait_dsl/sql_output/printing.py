"""The text of a tree, as people write SQL: sqlglot writes the dialect, but for a few forms."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from substrait_dsl.sql_output.dialects import SqlDialect

if TYPE_CHECKING:
    from sqlglot import exp


def print_query(query: exp.Expr, dialect: SqlDialect, *, pretty: bool) -> str:
    """Return the text of a query."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    writer = _writer(dialect)(dialect=Dialect.get_or_raise(dialect), pretty=pretty, comments=False)
    texts = [node.name for node in query.find_all(exp.Literal, exp.Identifier)]
    # It becomes a line break, also where it is text.
    while any(writer.SENTINEL_LINE_BREAK in text for text in texts):
        writer.SENTINEL_LINE_BREAK += "_"
    return str(writer.generate(query))


@cache
def _writer(dialect: SqlDialect) -> Any:
    """Return sqlglot's class that writes a dialect, with the forms of this module."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    base = type(Dialect.get_or_raise(dialect).generator())

    def ordered_sql(self: Any, key: exp.Ordered) -> str:
        """Say of every key that may be NULL where NULLs are: what is left out depends on settings."""
        words = [self.sql(key, "this")]
        if key.args.get("desc"):
            words.append("DESC")
        if (first := key.args.get("nulls_first")) is not None:
            words.append("NULLS FIRST" if first else "NULLS LAST")
        return " ".join(words)

    def not_sql(self: Any, test: exp.Not) -> str:
        """Write NOT where people write it: x IS NOT NULL, x NOT IN (...)."""
        inside = test.this
        if isinstance(inside, exp.Is | exp.In | exp.Like | exp.Between):
            # Of copies, since sqlglot changes some trees when it writes them.
            text, left = self.sql(inside.copy()), self.sql(inside.copy(), "this")
            if text.startswith(f"{left} IS "):
                return f"{left} IS NOT {text.removeprefix(f'{left} IS ')}"
            if text.startswith(f"{left} "):
                return f"{left} NOT{text.removeprefix(left)}"
        return str(base.not_sql(self, test))

    def paren_sql(self: Any, tree: exp.Paren) -> str:
        """Leave what is computed in one line."""
        if tree.find(exp.Connector, exp.Query):
            return str(base.paren_sql(self, tree))
        return f"({self.sql(tree, 'this')})"

    def cast_sql(self: Any, tree: exp.Cast, safe_prefix: str | None = None) -> str:
        """Write constant dates as such."""
        is_text = isinstance(tree.this, exp.Literal) and tree.this.is_string
        if is_text and type(tree) is exp.Cast and tree.to.this == exp.DataType.Type.DATE:
            return f"DATE {self.sql(tree, 'this')}"
        return str(base.cast_sql(self, tree, safe_prefix=safe_prefix))

    def log_sql(self: Any, tree: exp.Log) -> str:
        """Write logarithms to base 10 and 2 by their own names: a quotient of logarithms has other last digits."""
        return f"LOG{self.sql(tree, 'this')}({self.sql(tree, 'expression')})"

    forms = {"ordered_sql": ordered_sql, "not_sql": not_sql, "paren_sql": paren_sql, "cast_sql": cast_sql}
    forms["log_sql"] = log_sql
    return type("Writer", (base,), forms)
