"""Relations as the text of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.trees import check_closed
from substrait_dsl.errors import error_context
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.choices import require_flag

if TYPE_CHECKING:
    from substrait_dsl.sql_output.dialects import SqlDialect


class SqlVerbs(RelationBase):
    """The query in SQL that a relation is."""

    __slots__ = ()

    def to_sql(self, dialect: SqlDialect = "spark", *, pretty: bool = True) -> str:
        """Write the query in SQL that this relation is, as a person would have written it.

        Run over tables with the declared columns, it gives the rows that the plan means, with the derived types. What
        is not known to do so in the dialect is refused: docs/sql.md has the functions of each.

        Args:
            dialect: ``"spark"`` (Spark 4 in its ANSI mode) or ``"duckdb"`` (DuckDB 2).
            pretty: whether to write it in lines; otherwise it is one.

        Returns:
            The text of one query. An order is put out if it is the last step, or chooses rows.

        Raises `InvalidChoiceError` for a dialect that there is none of, `UnsupportedError` for what is not known to be
        exact in it, by name, and without sqlglot, which the extra ``sql`` installs, `SchemaError` for a relation that
        only makes sense inside another one's subquery. Specification: https://substrait.io/relations/logical_relations/.

        Example:
            >>> print(orders.filter(lambda o: o.price > 5.0).sort("id").limit(3).to_sql("duckdb", pretty=False))
            SELECT id, customer, price FROM orders WHERE price > 5.0e0 ORDER BY id LIMIT 3
        """
        from substrait_dsl.sql_output.writing import write_sql

        with error_context(verb="to_sql"):
            require_flag("pretty", pretty)
            check_closed(self._rel)
            return write_sql(self._rel, dialect, pretty=pretty)
