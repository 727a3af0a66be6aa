"""Hints about relations, and shared relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.common import Common, Computation, ComputationType, Hint, Stats
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.base import RelationBase, S, rel_of, wrap_relation
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.column_arguments import is_list
from substrait_dsl.fluent.messages import require_extension

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

ComputationLike = Computation | tuple[int, ComputationType]
"""A computation that a relation saves or loads: a number, and ``"hashtable"``, ``"bloom_filter"`` or ``"unknown"``."""


class HintVerbs(RelationBase, Generic[S]):
    """Advice that changes no result."""

    __slots__ = ()

    def hint(
        self,
        row_count: float | None = None,
        record_size: float | None = None,
        alias: str | None = None,
        *,
        output_names: bool = False,
        saved: Sequence[ComputationLike] = (),
        loaded: Sequence[ComputationLike] = (),
        constraint: AdvancedExtension | None = None,
        extension: AdvancedExtension | None = None,
    ) -> Relation[S]:
        """Say what an engine may want to know of this relation. It never changes the result.

        Args:
            row_count: how many rows to expect.
            record_size: the average size of a row, in bytes.
            alias: a name for the relation.
            output_names: whether to give the names of the columns along.
            saved: data structures that this relation saves, such as ``(1, "hashtable")``.
            loaded: those that it loads.
            constraint: messages about how the relation is to run.
            extension: further messages.

        What an earlier hint says stays unless it is said anew; one that wants names gives those of the columns as they
        are here. On a relation that only picks or renames columns, it is about what that puts out.

        Output: the same columns. Raises `InvalidArgumentError`, `InvalidChoiceError`.
        Specification: ``RelCommon.Hint``.

        Example:
            >>> print(orders.hint(row_count=1000, alias="o"))
            read orders hint alias o, 1000 rows -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="hint"):
            _require_number("row_count", row_count)
            _require_number("record_size", record_size)
            if alias is not None and not isinstance(alias, str):
                raise InvalidArgumentError("an alias is a str", got=alias)
            require_flag("output_names", output_names)
            require_extension(constraint, "constraint")
            require_extension(extension, "extension")
            arguments: dict[str, Any] = {
                "alias": alias,
                "output_names": self._rel.schema.depth_first_names() if output_names else None,
                "saved": _computations("saved", saved) or None,
                "loaded": _computations("loaded", loaded) or None,
                "constraint": constraint,
                "extension": extension,
            }

            def hinted(known: Common) -> Common:
                hint = known.hint or Hint()
                stats = _update_fields(hint.stats or Stats(), {"row_count": row_count, "record_size": record_size})
                values = {**arguments, "stats": None if stats == Stats() else stats}
                return attrs.evolve(known, hint=_update_fields(hint, values))

            return wrap_relation(with_common(self._rel, hinted))


def shared(relation: Relation[S]) -> Relation[S]:
    """Share a relation: a plan holds it once, however often it is used.

    Wherever it stands, the plan refers to the one place: ``both = shared(rel); both.join(both, "id")``.

    Args:
        relation: the relation.

    Output: the same columns. Raises `InvalidArgumentError` for what is no relation. Specification: ``ReferenceRel``.

    Example:
        >>> large = sd.shared(orders.select("id"))
        >>> print(large.union_all(large))
        set union_all
          shared #1: emit -> id: i64
            read orders -> id: i64, customer: i64, price: fp64?
          see #1 above (emit)
    """
    with error_context(verb="shared"):
        rel = rel_of(relation)
        return wrap_relation(rel if rel.shared else attrs.evolve(rel, shared=True))


def with_common(rel: rl.Rel, change: Callable[[Common], Common]) -> rl.Rel:
    """Return the relation with other hints and extensions; below an emit, which has none."""
    if isinstance(rel, rl.Emit):
        return attrs.evolve(rel, input=with_common(rel.input, change))
    return attrs.evolve(rel, common=change(rel.common or Common()))


def _update_fields(known: Any, values: dict[str, Any]) -> Any:
    return attrs.evolve(known, **{name: value for name, value in values.items() if value is not None})


def _require_number(name: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InvalidArgumentError(f"the {name} is a number", got=value)


def _computations(name: str, value: Any) -> tuple[Computation, ...]:
    if not is_list(value):
        raise InvalidArgumentError(f"{name} is a list of computations", got=value, hint='such as [(1, "hashtable")]')
    return tuple(_computation(name, each) for each in value)


def _computation(name: str, value: Any) -> Computation:
    match value:
        case Computation():
            return value
        case (int() as number, kind) if not isinstance(number, bool):
            return Computation(number, kind)
    raise InvalidArgumentError(f'{name} holds pairs such as (1, "hashtable")', got=value)
