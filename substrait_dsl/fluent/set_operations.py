"""The verbs that combine the rows of relations of the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.rules import SET_OPS, SetOp
from substrait_dsl.errors import error_context, require_choice
from substrait_dsl.fluent.base import RelationBase, S, rel_of, wrap_relation
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.set_inputs import match_by_name, require_same_order

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation


class SetVerbs(RelationBase, Generic[S]):
    """Set operations: union, intersection and difference of rows."""

    __slots__ = ()

    def set_op(self, op: SetOp, *others: RelationBase, by_name: bool = False) -> Relation[S]:
        """Combine with the rows of other relations of the same column types; NULL equals NULL.

        Args:
            op: which rows come out. The different ones of this relation that no other has: minus_primary (EXCEPT), that
                some other has: intersection_primary, that every other has: intersection_multiset (INTERSECT). As
                often as they are left when each of the others has taken its own away: minus_primary_all (EXCEPT
                ALL); as often as every relation has them: intersection_multiset_all (INTERSECT ALL). The rows, with
                their repetitions, that not every other has: minus_multiset. Those of all relations:
                union_distinct (UNION), union_all (UNION ALL).
            others: one or more relations; this one is the primary input.
            by_name: whether columns are matched by their names, in any order; else by their positions.

        Output: the columns of this relation, nullable as the operation needs; no order. Raises `SchemaError` and
        `TypeMismatchError` for inputs that do not fit, also for columns of the same names in another order without
        `by_name`, and with it for a name that an input lacks; `InvalidChoiceError` for another word.
        Specification: ``SetRel``.

        Example:
            >>> print(orders.select("customer").set_op("minus_primary_all", customers.select("key")))
            set minus_primary_all
              emit -> customer: i64
                read orders -> id: i64, customer: i64, price: fp64?
              emit -> key: i64
                read customers -> key: i64, name: string
        """
        return self._combine("set_op", op, others, by_name)

    def _combine(self, verb: str, op: SetOp, others: Sequence[RelationBase], by_name: bool) -> Relation[S]:
        with error_context(verb=verb):
            require_choice("op", op, SET_OPS, "set-operation")
            require_flag("by_name", by_name)
            inputs = [*map(rel_of, others)]
            if by_name:
                inputs = [match_by_name(self._rel, other, number) for number, other in enumerate(inputs, start=2)]
            for number, other in enumerate(inputs, start=2):
                require_same_order(self._rel, other, number)
            return wrap_relation(rl.Set((self._rel, *inputs), op))

    def union_all(self, *others: RelationBase, by_name: bool = False) -> Relation[S]:
        """Put out all rows of all relations, as ``UNION ALL``.

        Args:
            others: relations of the same column types.
            by_name: whether columns are matched by their names, as for `set_op`.

        Output: the columns of this relation, nullable where one is. Raises `SchemaError`, `TypeMismatchError` for
        inputs that do not fit. Specification: ``SetRel``, ``SET_OP_UNION_ALL``.

        Example:
            >>> print(orders.select("customer").union_all(customers.select("key")))
            set union_all
              emit -> customer: i64
                read orders -> id: i64, customer: i64, price: fp64?
              emit -> key: i64
                read customers -> key: i64, name: string
            >>> orders.union_all(orders.select("price", "customer", "id"), by_name=True).columns
            ('id', 'customer', 'price')
        """
        return self._combine("union_all", "union_all", others, by_name)

    def union(self, *others: RelationBase, by_name: bool = False) -> Relation[S]:
        """Put out the different rows of all relations, as ``UNION``; NULL equals NULL.

        Args:
            others: relations of the same column types.
            by_name: whether columns are matched by their names, as for `set_op`.

        Output: the columns of this relation, nullable where one is. Raises `SchemaError`, `TypeMismatchError` for
        inputs that do not fit. Specification: ``SetRel``, ``SET_OP_UNION_DISTINCT``.

        Example:
            >>> orders.select("customer").union(customers.select("key")).columns
            ('customer',)
        """
        return self._combine("union", "union_distinct", others, by_name)

    def intersect(self, *others: RelationBase, by_name: bool = False) -> Relation[S]:
        """Put out the different rows that all relations have, as ``INTERSECT``; NULL equals NULL.

        Args:
            others: relations of the same column types.
            by_name: whether columns are matched by their names, as for `set_op`.

        Output: the columns of this relation, required where one is. Raises `SchemaError`, `TypeMismatchError` for
        inputs that do not fit. Specification: ``SetRel``, ``SET_OP_INTERSECTION_MULTISET``.

        Example:
            >>> optional = sd.read_named("visits", {"customer": "i64?"})
            >>> print(optional.intersect(customers.select("key")).schema)
            0  customer  i64
        """
        return self._combine("intersect", "intersection_multiset", others, by_name)

    def subtract(self, *others: RelationBase, by_name: bool = False) -> Relation[S]:
        """Put out the different rows that none of the others has, as ``EXCEPT``; NULL equals NULL.

        Args:
            others: relations of the same column types.
            by_name: whether columns are matched by their names, as for `set_op`.

        Output: the columns of this relation. Raises `SchemaError`, `TypeMismatchError` for inputs that do not fit.
        Specification: ``SetRel``, ``SET_OP_MINUS_PRIMARY``.

        Example:
            >>> customers.select("key").subtract(orders.select("customer")).columns
            ('key',)
        """
        return self._combine("subtract", "minus_primary", others, by_name)
