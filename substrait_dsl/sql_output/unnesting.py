"""Elements of lists as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.sql_output.expressions import Outer
from substrait_dsl.sql_output.names import distinct_names, identifier
from substrait_dsl.sql_output.queries import Select
from substrait_dsl.sql_output.written import Written

if TYPE_CHECKING:
    from substrait_dsl.sql_output.relations import QueryWriter


def write_unnest(rel: rl.Unnest, outer: Outer, writer: QueryWriter) -> Select:
    """Write a row for each element: UNNEST in the columns of DuckDB, LATERAL VIEW POSEXPLODE of Spark."""
    from sqlglot import exp

    below = writer.write(rel.input, outer)
    is_table = below.is_plain and not below.has_windows and below.source is not None
    if not is_table or not below.columns[rel.column].is_column:
        below = writer.nested(below, outer, rel)
    elements = below.columns[rel.column].tree
    element, offset = (field.type for field in rel.schema.fields[-2:])
    names = (*below.names, *rel.names)
    if writer.dialect.name == "duckdb":
        places = exp.Anonymous(this="RANGE", expressions=[exp.Anonymous(this="LEN", expressions=[elements.copy()])])
        added = [exp.Anonymous(this="UNNEST", expressions=[each.copy()]) for each in (elements, places)]
        columns = (*below.columns, Written(added[0], element), Written(added[1], offset))
        return writer.nested(attrs.evolve(below, columns=columns, names=names), outer, rel, "unnested")
    alias = writer.names.take("unnested")
    place, value = distinct_names(("place", "element"))
    view = exp.Lateral(
        this=exp.Posexplode(this=elements.copy()),
        view=True,
        alias=exp.TableAlias(this=identifier(alias), columns=[identifier(place), identifier(value)]),
    )
    added_columns = [exp.Column(this=identifier(name), table=identifier(alias)) for name in (value, place)]
    columns = (*below.columns, Written(added_columns[0], element), Written(added_columns[1], t.I64(), is_typed=False))
    above = attrs.evolve(below, columns=columns, names=names, laterals=(*below.laterals, view))
    return writer.nested(above, outer, rel, "unnested")
