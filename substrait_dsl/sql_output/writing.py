"""`write_sql`: the text of a query from a relation."""

from __future__ import annotations

from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.dialects import find_dialect, require_sqlglot
from substrait_dsl.sql_output.literals import VARIABLE
from substrait_dsl.sql_output.outer_columns import find_unknown_column
from substrait_dsl.sql_output.printing import print_query
from substrait_dsl.sql_output.relations import QueryWriter


def write_sql(rel: Rel, dialect: object, *, pretty: bool) -> str:
    """Return the text of the query that a relation is.

    Raises `InvalidChoiceError` for a dialect that there is none of, `UnsupportedError` for what is not known to be
    exact in it, and without sqlglot.
    """
    found = find_dialect(dialect)
    require_sqlglot()
    query = QueryWriter(rel, found).statement(rel)
    if found.name == "spark" and (unknown := find_unknown_column(query)) is not None:
        raise UnsupportedError(
            f"{unknown} is unknown to Spark",
            hint="execute(session) runs the plan that has it",
        )
    text = print_query(query, found.name, pretty=pretty)
    if found.name == "spark" and VARIABLE in text:
        raise UnsupportedError(
            f'a name that has "{VARIABLE}" is not written as SQL of Spark, which reads it as a variable'
        )
    return text
