"""Extension relations, with declared columns: only the owner of their message knows what they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, overload

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.common import Common
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyLike, any_message
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.base import S2, RelationBase, S, rel_of, wrap_relation
from substrait_dsl.fluent.column_arguments import is_list
from substrait_dsl.fluent.declared_properties import Distributed, Ordering, declared_properties
from substrait_dsl.fluent.hints import with_common
from substrait_dsl.fluent.messages import require_extension
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

_DETAIL = "the detail of an extension relation"


class ExtensionVerbs(RelationBase, Generic[S]):
    """The verbs of extensions: extension relations, and messages that are attached to relations."""

    __slots__ = ()

    @overload
    def extension_single(
        self, detail: AnyLike, schema: type[S2], *, ordering: Ordering = ..., distribution: Distributed | None = ...
    ) -> Relation[S2]: ...
    @overload
    def extension_single(
        self, detail: AnyLike, schema: Declared, *, ordering: Ordering = ..., distribution: Distributed | None = ...
    ) -> Relation[DynRow]: ...
    def extension_single(
        self,
        detail: AnyLike,
        schema: SchemaLike,
        *,
        ordering: Ordering = (),
        distribution: Distributed | None = None,
    ) -> Relation[Any]:
        """Put a relation over this one that only those know who know the message.

        Args:
            detail: the message: an `AnyMessage`, or one of protobuf.
            schema: the columns that it puts out.
            ordering: the order that it puts rows out in, as keys of `sort`; by default nothing is known of it.
            distribution: the columns by which rows are distributed, or a `Distribution`.

        Output: the columns of the schema. Raises `SchemaError`, `UnknownFieldError`.
        Specification: ``ExtensionSingleRel``.

        Example:
            >>> print(orders.extension_single(sd.AnyMessage("type.acme.com/Sample", b""), {"id": "i64"}))
            extension single 'type.acme.com/Sample' -> id: i64
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="extension_single"):
            struct = as_struct(schema)
            declared = declared_properties(struct, ordering, distribution)
            return wrap_relation(rl.ExtensionSingle(any_message(detail, _DETAIL), struct, declared, input=self._rel))

    def with_extension(
        self, own: AdvancedExtension | None = None, *, common: AdvancedExtension | None = None
    ) -> Relation[S]:
        """Attach messages of others to this relation.

        Args:
            own: what stands in the relation's own message.
            common: what stands among the fields that all relations have.

        Output: the same columns. Messages that are there already are replaced. On a relation that only picks or
        renames columns, they belong to what it picks from. Raises `InvalidArgumentError` for `own` on an extension
        relation, whose message holds everything. Specification: ``AdvancedExtension``.

        Example:
            >>> note = sd.AdvancedExtension(optimizations=(sd.AnyMessage("type.acme.com/Note", b""),))
            >>> print(orders.with_extension(note))
            read orders optimization 'type.acme.com/Note' -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="with_extension"):
            require_extension(own, "own")
            require_extension(common, "common")
            if own is None and common is None:
                raise InvalidArgumentError("expected an AdvancedExtension", hint="own=..., common=..., or both")

            def extended(known: Common) -> Common:
                return attrs.evolve(
                    known, extension=common or known.extension, own_extension=own or known.own_extension
                )

            return wrap_relation(with_common(self._rel, extended))


@overload
def extension_leaf(
    detail: AnyLike, schema: type[S2], *, ordering: Ordering = ..., distribution: Distributed | None = ...
) -> Relation[S2]: ...
@overload
def extension_leaf(
    detail: AnyLike, schema: Declared, *, ordering: Ordering = ..., distribution: Distributed | None = ...
) -> Relation[DynRow]: ...
def extension_leaf(
    detail: AnyLike, schema: SchemaLike, *, ordering: Ordering = (), distribution: Distributed | None = None
) -> Relation[Any]:
    """Make a relation of no input that only those know who know the message.

    Args:
        detail: the message: an `AnyMessage`, or one of protobuf.
        schema: the columns that it puts out.
        ordering: the order that it puts rows out in, as keys of `sort`; by default nothing is known of it.
        distribution: the columns by which rows are distributed, or a `Distribution`.

    Output: the columns of the schema. Raises `SchemaError`, `UnknownFieldError`.
    Specification: ``ExtensionLeafRel``.

    Example:
        >>> print(sd.extension_leaf(sd.AnyMessage("type.acme.com/Ticks", b""), {"at": "i64"}))
        extension leaf 'type.acme.com/Ticks' -> at: i64
    """
    with error_context(verb="extension_leaf"):
        struct = as_struct(schema)
        declared = declared_properties(struct, ordering, distribution)
        return wrap_relation(rl.ExtensionLeaf(any_message(detail, _DETAIL), struct, declared))


@overload
def extension_multi(
    relations: Sequence[RelationBase],
    detail: AnyLike,
    schema: type[S2],
    *,
    ordering: Ordering = ...,
    distribution: Distributed | None = ...,
) -> Relation[S2]: ...
@overload
def extension_multi(
    relations: Sequence[RelationBase],
    detail: AnyLike,
    schema: Declared,
    *,
    ordering: Ordering = ...,
    distribution: Distributed | None = ...,
) -> Relation[DynRow]: ...
def extension_multi(
    relations: Sequence[RelationBase],
    detail: AnyLike,
    schema: SchemaLike,
    *,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
) -> Relation[Any]:
    """Make a relation over several others that only those know who know the message.

    Args:
        relations: the inputs, in the order that the message means.
        detail: the message: an `AnyMessage`, or one of protobuf.
        schema: the columns that it puts out.
        ordering: the order that it puts rows out in, as keys of `sort`; by default nothing is known of it.
        distribution: the columns by which rows are distributed, or a `Distribution`.

    Output: the columns of the schema. Raises `SchemaError`, `UnknownFieldError`.
    Specification: ``ExtensionMultiRel``.

    Example:
        >>> print(sd.extension_multi([orders, customers], sd.AnyMessage("type.acme.com/Match", b""), {"id": "i64"}))
        extension multi 'type.acme.com/Match' -> id: i64
          read orders -> id: i64, customer: i64, price: fp64?
          read customers -> key: i64, name: string
    """
    with error_context(verb="extension_multi"):
        if not is_list(relations):
            raise InvalidArgumentError("expected a list of relations", got=relations)
        inputs = tuple(rel_of(each) for each in relations)
        struct = as_struct(schema)
        declared = declared_properties(struct, ordering, distribution)
        return wrap_relation(rl.ExtensionMulti(any_message(detail, _DETAIL), struct, declared, relations=inputs))
