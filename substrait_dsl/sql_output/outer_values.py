"""Values of outer rows that are aggregated: columns of a query of their own, as SQL would aggregate the outer rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Expression
from substrait_dsl.sql_output.expressions import Outer, write
from substrait_dsl.sql_output.queries import Select

if TYPE_CHECKING:
    from substrait_dsl.sql_output.relations import QueryWriter


def with_outer_values(
    below: Select, rel: rl.Aggregate, outer: Outer, writer: QueryWriter
) -> tuple[Select, rl.Aggregate]:
    """Return a query whose columns are what is aggregated of outer rows, and the aggregation of these.

    Spark knows no outer row in a query inside of FROM.
    """
    calls = [measure.function for measure in rel.measures]
    operands = [
        *(argument for call in calls for argument in call.arguments),
        *(key.expression for call in calls for key in call.sorts),
        *(measure.filter for measure in rel.measures),
    ]
    found = {id(each): each for each in operands if isinstance(each, Expression) and each.free_anchors}
    if not found or writer.dialect.name == "spark":
        return below, rel
    here = writer.scope(below, outer, rel)
    columns = [write(each, here) for each in found.values()]
    wide = attrs.evolve(
        below, columns=(*below.columns, *columns), names=(*below.names, *("outer_value" for _ in columns)), order=()
    )
    references = {
        key: ex.FieldReference(len(below.columns) + number, each.type)
        for number, (key, each) in enumerate(found.items())
    }
    measures = tuple(_with_references(measure, references) for measure in rel.measures)
    return writer.nested(wide, outer, rel), attrs.evolve(rel, measures=measures)


def _with_references(measure: ex.Measure, references: Mapping[int, ex.FieldReference]) -> ex.Measure:
    """Return a measure with references in place of expressions, by their ids."""
    call = measure.function
    keys = [(key, references.get(id(key.expression), key.expression)) for key in call.sorts]
    function = attrs.evolve(
        call,
        arguments=tuple(references.get(id(each), each) for each in call.arguments),
        sorts=tuple(attrs.evolve(key, expression=expression) for key, expression in keys),
    )
    return attrs.evolve(measure, function=function, filter=references.get(id(measure.filter), measure.filter))
