"""The rows that the mypy plugin infers, as types: ``Row[F[Literal["a"], I64], F[Literal["b"], Nullable[I64]]]``.

They have no instances. They are ordinary classes, so that annotations may name them and the caches of a checker can
hold them.
"""

from __future__ import annotations

from typing import Generic

from typing_extensions import TypeVar, TypeVarTuple

from substrait_dsl.fluent.schemas import DynRow

Name = TypeVar("Name", bound=str)
Annotation = TypeVar("Annotation")
Text = TypeVar("Text", bound=str)
Urn = TypeVar("Urn", bound=str)
Columns = TypeVarTuple("Columns")


class F(Generic[Name, Annotation]):
    """A column of an inferred row: its name as a literal, and what a schema class would be annotated with.

    Example:
        >>> def ids(orders: "sd.Relation[sd.Row[sd.F[sd.L['id'], sd.I64]]]") -> "sd.Relation":
        ...     return orders.distinct()
        >>> ids(orders.select("id")).columns
        ('id',)
    """

    __slots__ = ()


class Foreign(Generic[Text, Name, Urn]):
    """The annotation of a column of a user-defined type, or of a variation, in an inferred row.

    That is the text of the type, the name in it that an extension declares, and the URN of the extension.
    """

    __slots__ = ()


class Row(DynRow, Generic[*Columns]):
    """A row whose columns, in order, the mypy plugin has inferred; to other checkers, a row of unknown columns.

    Example:
        >>> def ids(orders: "sd.Relation[sd.Row[sd.F[sd.L['id'], sd.I64]]]") -> "sd.Relation":
        ...     return orders.distinct()
        >>> ids(orders.select("id")).columns
        ('id',)
    """

    __slots__ = ()
