"""Aggregation.

Specification: https://substrait.io/relations/logical_relations/#aggregate-operation.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.calls import Measure
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import SINGLETON, Distribution, Properties
from substrait_dsl.algebra.relations.rows import direct_path
from substrait_dsl.algebra.schema import Field, NamedStruct


@attrs.frozen(eq=False, repr=False)
class Aggregate(Rel):
    """Measures over groups of rows; each grouping set, a tuple of positions in `keys`, makes groups of its own.

    Without grouping sets all rows are one group, also when there are none. Output: keys, measures, and the ``i32``
    index of the grouping set if there is more than one; no order; the distribution, if every grouping set contains
    its fields.
    """

    input: Rel
    keys: tuple[Expression, ...]
    grouping_sets: tuple[tuple[int, ...], ...]
    measures: tuple[Measure, ...]
    names: tuple[str, ...] = attrs.field(eq=False)
    """What the columns are called: keys, measures, and the set index if there is one."""

    def _derive_schema(self) -> NamedStruct:
        width = len(self.keys)
        keys = [Field(name, key.type) for name, key in zip(self.names, self.keys, strict=False)]
        measures = [
            Field(name, measure.function.output_type)
            for name, measure in zip(self.names[width:], self.measures, strict=False)
        ]
        return rules.aggregate_schema(keys, self.grouping_sets, measures, self.names[-1] if self.names else "")

    def _derive_properties(self) -> Properties:
        distribution = self.input.properties.distribution
        if distribution is None or distribution == SINGLETON:
            return Properties((), distribution)
        outputs = {direct_path(key): position for position, key in enumerate(self.keys)}
        positions = [outputs.get(path) for path in distribution.fields]
        everywhere = set.intersection(*map(set, self.grouping_sets)) if self.grouping_sets else set()
        if not all(position in everywhere for position in positions):
            return Properties()
        return Properties((), Distribution("partitioned", frozenset((p,) for p in positions if p is not None)))

    @property
    def single_row(self) -> bool:
        return not any(self.grouping_sets) and len(self.grouping_sets) <= 1
