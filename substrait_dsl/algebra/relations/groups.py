"""Aggregation.

Specification: https://substrait.io/relations/logical_relations/#aggregate-operation, and for the methods
https://substrait.io/relations/physical_relations/#hash-aggregate-operation.
"""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.aggregates import Measure
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import FieldPath, Properties
from substrait_dsl.algebra.relations.sortedness import direct_path, may_be_sorted_by, may_be_sorted_within
from substrait_dsl.algebra.schema import Field, NamedStruct, check_names
from substrait_dsl.errors import SchemaError, require_choice

AggregateMethod = Literal["any", "hash", "streaming"]
AGGREGATE_METHODS: tuple[AggregateMethod, ...] = get_args(AggregateMethod)


@attrs.frozen(eq=False, repr=False)
class Aggregate(Rel):
    """Measures over groups of rows; each grouping set, a tuple of positions in `keys`, makes groups of its own.

    Without grouping sets all rows are one group, also when there are none. Output: keys, measures, and the ``i32``
    index of the grouping set if there is more than one; the distribution, if every grouping set contains its fields.

    `method` says how it is done. A streaming aggregate needs an input sorted by its keys, then as its measures want it,
    which is checked where the order of the input is known, and keeps that order; the others have none.
    """

    input: Rel
    keys: tuple[Expression, ...]
    grouping_sets: tuple[tuple[int, ...], ...]
    measures: tuple[Measure, ...]
    names: tuple[str, ...] = attrs.field(eq=False)
    """The names of the columns: keys, measures, and the grouping set index if there is one."""
    method: AggregateMethod = "any"

    def _validate(self) -> None:
        require_choice("method of an aggregate", self.method, AGGREGATE_METHODS)
        check_names(self.names, len(self.keys) + len(self.measures) + (len(self.grouping_sets) > 1))
        if self.method == "streaming":
            self._check_sorted()
        Rel._validate(self)

    def _check_sorted(self) -> None:
        for grouping_set in self.grouping_sets or ((),):
            keys = [self.keys[position] for position in grouping_set if position < len(self.keys)]
            if not may_be_sorted_by(self.input, keys):
                ordering = self.input.properties.ordering
                names = ", ".join(self.input.schema.fields[key.field[0]].name for key in ordering)
                raise SchemaError(
                    f"a streaming aggregate needs an input sorted by its keys, but it is sorted by {names}",
                    hint="sort it by the keys of every grouping set, or use a hash aggregate",
                )
            if not all(may_be_sorted_within(self.input, keys, measure.function.sorts) for measure in self.measures):
                raise SchemaError(
                    "a streaming aggregate takes the rows of a group as they come, but a measure wants another order",
                    hint="sort the input by the keys, then by the order of the measure, or use a hash aggregate",
                )

    def _derive_schema(self) -> NamedStruct:
        width = len(self.keys)
        keys = [Field(name, key.type) for name, key in zip(self.names, self.keys, strict=False)]
        measures = [
            Field(name, measure.function.output_type)
            for name, measure in zip(self.names[width:], self.measures, strict=False)
        ]
        return rules.aggregate_schema(keys, self.grouping_sets, measures, self.names[-1] if self.names else "")

    def _derive_properties(self) -> Properties:
        properties = self.input.properties if self.method == "streaming" else self.input.properties.unordered()
        if properties.fieldless and len(self.keys) < 2:
            return properties
        everywhere = set.intersection(*map(set, self.grouping_sets)) if self.grouping_sets else set()
        moves: list[tuple[FieldPath, FieldPath]] = []
        for position in sorted(everywhere):
            path = direct_path(self.keys[position])
            if path is not None:
                moves.append((path, (position,)))
        return properties.moved(moves)

    @property
    def single_row(self) -> bool:
        return not any(self.grouping_sets) and len(self.grouping_sets) <= 1
