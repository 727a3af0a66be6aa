"""Which columns of which sources each column of a relation comes from: the result of `trace.trace_columns`.

The words are those of OpenLineage's column lineage: a value comes from a column directly (identity, transformation,
aggregation), or a column decides indirectly about it or about its row (filter, join, group by, sort, window,
conditional).
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Literal

import attrs

from substrait_dsl.algebra.accesses import ACCESS_OBJECTS, AccessObject, format_names
from substrait_dsl.algebra.validators import TEXT, one, several
from substrait_dsl.errors import UnknownFieldError, error_context, require, require_choice
from substrait_dsl.texts import show_lines

DirectUse = Literal["identity", "transformation", "aggregation"]
IndirectUse = Literal["filter", "join", "group_by", "sort", "window", "conditional", "set_operation"]
ColumnUse = DirectUse | IndirectUse
DIRECT_USES: tuple[DirectUse, ...] = typing.get_args(DirectUse)
INDIRECT_USES: tuple[IndirectUse, ...] = typing.get_args(IndirectUse)


@attrs.frozen(order=True)
class SourceColumn:
    """A column of what a plan reads.

    Args:
        object: what is read: ``"table"``, ``"files"``, ``"iceberg_table"``, ``"virtual_table"`` (rows in the plan
            itself), or ``"extension"``.
        names: the parts of its name; of files their URIs; of a virtual table none.
        column: the name of the column.

    Example:
        >>> print(sd.SourceColumn("table", ("shop", "orders"), "price"))
        shop.orders.price
    """

    object: AccessObject = attrs.field()
    names: tuple[str, ...] = attrs.field(validator=several("a tuple of texts", str))
    column: str = attrs.field(validator=TEXT)

    def __attrs_post_init__(self) -> None:
        require_choice("object of a source", self.object, ACCESS_OBJECTS)

    def __str__(self) -> str:
        if self.object == "files":
            others = f" and {len(self.names) - 1} more" if len(self.names) > 1 else ""
            return f"{format_names(self.names[:1])}{others}.{format_names((self.column,))}"
        if self.object == "virtual_table":
            return f"(rows of the plan).{format_names((self.column,))}"
        return format_names((*self.names, self.column))


@attrs.frozen(order=True)
class ColumnOrigin:
    """A column of a source, and how a column, or the rows, of a relation depend on it.

    Args:
        source: the column of the source.
        use: how: ``"identity"``, ``"transformation"`` and ``"aggregation"`` are direct, the others decide about rows
            or branches: ``"filter"``, ``"join"``, ``"group_by"``, ``"sort"``, ``"window"``, ``"conditional"``,
            ``"set_operation"``.

    Example:
        >>> print(orders.lineage().column("price").direct[0])
        orders.price (identity)
    """

    source: SourceColumn = attrs.field(validator=one("a SourceColumn", SourceColumn))
    use: ColumnUse = attrs.field()

    def __attrs_post_init__(self) -> None:
        require_choice("use of a column", self.use, (*DIRECT_USES, *INDIRECT_USES))

    @property
    def is_direct(self) -> bool:
        """Whether values come from the column; else it decides about them."""
        return self.use in DIRECT_USES

    def __str__(self) -> str:
        return f"{self.source} ({self.use})"


@attrs.frozen
class ColumnLineage:
    """Where one column of a relation comes from.

    Example:
        >>> total = orders.group_by("customer").agg(total=lambda o: f.sum(o.price)).lineage().column("total")
        >>> print(total)
        total: orders.price (aggregation)
    """

    name: str = attrs.field(validator=TEXT)
    direct: tuple[ColumnOrigin, ...] = attrs.field(validator=several("a tuple", ColumnOrigin))
    """The columns that its values come from."""
    indirect: tuple[ColumnOrigin, ...] = attrs.field(validator=several("a tuple", ColumnOrigin))
    """The columns that decide which value it has: conditions of a `when`, the order of a window."""

    _repr_pretty_ = show_lines

    def __str__(self) -> str:
        origins = ", ".join(map(str, (*self.direct, *self.indirect)))
        return f"{format_names((self.name,))}: {origins or 'constant'}"


@attrs.frozen
class Lineage:
    """Where the columns of a relation come from, and what decides which rows it has.

    It is a collection of its columns: `len` and a loop take them, in order.

    Example:
        >>> large = orders.filter(lambda o: o.price > 5.0).select("customer", half=lambda o: o.price / 2.0)
        >>> print(large.lineage())
        customer: orders.customer (identity)
        half: orders.price (transformation)
        rows: orders.price (filter)
    """

    columns: tuple[ColumnLineage, ...] = attrs.field(validator=several("a tuple", ColumnLineage))
    """One for each column of the output; of a write, one for each column that is written."""
    rows: tuple[ColumnOrigin, ...] = attrs.field(validator=several("a tuple", ColumnOrigin))
    """The columns that decide which rows there are, and in which order."""

    def __iter__(self) -> Iterator[ColumnLineage]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def column(self, name: str) -> ColumnLineage:
        """Return the lineage of the column of that name; of several, the first.

        Args:
            name: the name of a column of the output.

        Raises:
            UnknownFieldError: there is no such column, with the nearest one.

        Specification: none; the words are those of OpenLineage's column lineage.

        Example:
            >>> orders.lineage().column("id").direct[0].source.column
            'id'
        """
        for column in self.columns:
            if column.name == name:
                return column
        with error_context(verb="column"):
            require(name, str, "a column is named by a text")
            raise UnknownFieldError.of_name(name, [column.name for column in self.columns])

    @property
    def sources(self) -> tuple[SourceColumn, ...]:
        """All columns that the relation depends on in any way, each once, sorted."""
        origins = (*self.rows, *(origin for column in self.columns for origin in (*column.direct, *column.indirect)))
        return tuple(sorted({origin.source for origin in origins}))

    def depending_on(self, source: SourceColumn) -> tuple[str, ...]:
        """Return the names of the columns that depend on a column of a source: all, if it decides about the rows.

        Args:
            source: the column of the source, one of `sources`.

        Returns:
            The names, in order: what to look at before that column changes.

        Specification: none; the words are those of OpenLineage's column lineage.

        Example:
            >>> halves = orders.select("id", half=lambda o: o.price / 2.0).lineage()
            >>> halves.depending_on(sd.SourceColumn("table", ("orders",), "price"))
            ('half',)
        """
        with error_context(verb="depending_on"):
            require(source, SourceColumn, "a column of a source is an sd.SourceColumn")
        if any(origin.source == source for origin in self.rows):
            return tuple(column.name for column in self.columns)
        return tuple(
            column.name
            for column in self.columns
            if any(origin.source == source for origin in (*column.direct, *column.indirect))
        )

    def to_dict(self) -> dict[str, object]:
        """Return it as dicts, lists and texts, for JSON.

        Returns:
            ``{"columns": [{"name", "direct", "indirect"}], "rows": [...]}``; an origin is
            ``{"object", "names", "column", "use"}``.

        Specification: none; the words are those of OpenLineage's column lineage.

        Example:
            >>> orders.lineage().to_dict()["columns"][0]["direct"]
            [{'object': 'table', 'names': ['orders'], 'column': 'id', 'use': 'identity'}]
        """
        return {
            "columns": [
                {
                    "name": column.name,
                    "direct": [*map(_origin_dict, column.direct)],
                    "indirect": [*map(_origin_dict, column.indirect)],
                }
                for column in self.columns
            ],
            "rows": [*map(_origin_dict, self.rows)],
        }

    _repr_pretty_ = show_lines

    def __str__(self) -> str:
        rows = f"rows: {', '.join(map(str, self.rows))}" if self.rows else "rows: all"
        return "\n".join([*map(str, self.columns), rows])


def _origin_dict(origin: ColumnOrigin) -> dict[str, object]:
    source = origin.source
    return {"object": source.object, "names": [*source.names], "column": source.column, "use": origin.use}
