"""Set operations.

Specification: https://substrait.io/relations/logical_relations/#set-operation.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.rules import SetOp
from substrait_dsl.algebra.schema import NamedStruct


@attrs.frozen(eq=False, repr=False)
class Set(Rel):
    """The rows of two or more inputs combined by one of the eight set operations; NULL equals NULL.

    The first input is the primary one. Output: its columns, nullable as `rules.set_schema` says; no order; the
    distribution, if all inputs have the same.
    """

    relations: tuple[Rel, ...]
    op: SetOp

    def _derive_schema(self) -> NamedStruct:
        return rules.set_schema(self.op, [rel.schema for rel in self.relations])

    def _derive_properties(self) -> Properties:
        first, *others = (rel.properties for rel in self.relations)
        lie_alike = all(other.distribution == first.distribution for other in others)
        are_alike = all(other.equal == first.equal for other in others)
        return Properties((), first.distribution if lie_alike else None, equal=first.equal if are_alike else {})
