"""A Substrait plan as an object: to bytes, to JSON, to a file, to Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.errors import InvalidArgumentError, naming
from substrait_dsl.fluent.relation import Relation, RelationBase

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from substrait.plan_pb2 import Plan as PlanMessage


class Plan:
    """The plan that returns one or more relations.

    Specification: ``Plan`` in ``plan.proto``.
    """

    __slots__ = ("_plan",)

    def __init__(self, *relations: RelationBase) -> None:
        with naming("Plan"):
            if not relations:
                raise InvalidArgumentError("expected at least one relation")
            for relation in relations:
                if not isinstance(relation, RelationBase):
                    raise InvalidArgumentError(f"expected relations, got {relation!r}")
            self._plan = AlgebraPlan(tuple(Root.of(relation._rel) for relation in relations))

    @property
    def roots(self) -> tuple[Relation[Any], ...]:
        """The relations that the plan returns."""
        return tuple(Relation(root.input) for root in self._plan.roots)

    def to_proto(self) -> PlanMessage:
        """The plan as a protobuf message.

        Raises `UnsupportedError` for what no message can hold, such as an expression nested too deeply.
        """
        from substrait_dsl.proto.plan import encode_plan

        with naming("to_proto"):
            return encode_plan(self._plan)

    def to_bytes(self) -> bytes:
        """The plan in protobuf's binary form; the same plan always gives the same bytes. Raises as `to_proto`."""
        from substrait_dsl.proto.plan import to_bytes

        return to_bytes(self.to_proto())

    def to_json(self) -> str:
        """The plan in protobuf's JSON form. Raises as `to_proto`."""
        from substrait_dsl.proto.plan import to_json

        return to_json(self.to_proto())

    def save(self, path: str | Path) -> None:
        """Write the plan to a file: as JSON if its name ends in ``.json``, else in the binary form."""
        target = Path(path)
        if target.suffix == ".json":
            target.write_text(self.to_json(), encoding="utf-8")
        else:
            target.write_bytes(self.to_bytes())

    def execute(self, spark: SparkSession) -> list[DataFrame]:
        """Run on Spark: one DataFrame for each root. Raises as `Relation.execute`."""
        return [relation.execute(spark) for relation in self.roots]

    def __eq__(self, other: object) -> bool:
        return self._plan == other._plan if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._plan)

    def __str__(self) -> str:
        return "\n".join(relation.explain() for relation in self.roots)

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.roots))})"
