"""Relations of the fluent API: a chain of verbs, each of which derives its schema before it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, NoReturn

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
    quote,
)
from substrait_dsl.fluent import column_arguments
from substrait_dsl.fluent.base import S2, Condition, Count, S
from substrait_dsl.fluent.calls import MeasureBase
from substrait_dsl.fluent.column_arguments import ColumnLike, Picked, Role, evaluate, evaluate_on_row
from substrait_dsl.fluent.column_names import Renaming, find_position, rename_columns
from substrait_dsl.fluent.expr import DynExpr, ExprBase, SortKey, unbound_expr
from substrait_dsl.fluent.extensions import ExtensionVerbs
from substrait_dsl.fluent.hints import HintVerbs
from substrait_dsl.fluent.joins import JoinVerbs
from substrait_dsl.fluent.physical import PhysicalVerbs
from substrait_dsl.fluent.reshaping import ReshapingVerbs
from substrait_dsl.fluent.row_selection import RowSelectionVerbs
from substrait_dsl.fluent.run_verbs import RunVerbs
from substrait_dsl.fluent.schemas import DynRow
from substrait_dsl.fluent.scope import Scope, column_of
from substrait_dsl.fluent.set_operations import SetVerbs
from substrait_dsl.fluent.sql_text import SqlVerbs
from substrait_dsl.fluent.unnest import unnest
from substrait_dsl.fluent.writes import WriteVerbs

if TYPE_CHECKING:
    from substrait_dsl.fluent.grouping import GroupBy


def _column_of(rel: rl.Rel, position: int) -> DynExpr:
    """Return a column of this very relation, wherever the expression is used."""
    return unbound_expr(partial(column_of, rel, position), rel.schema.fields[position].name)


class Relation(
    JoinVerbs[S],
    SetVerbs[S],
    RowSelectionVerbs[S],
    ReshapingVerbs[S],
    PhysicalVerbs[S],
    WriteVerbs[S],
    HintVerbs[S],
    RunVerbs,
    SqlVerbs,
    ExtensionVerbs[S],
    Generic[S],
):
    """Describe rows by a chain of verbs; the schema class `S` says which columns they have.

    Made by `read_named`, `read_virtual` and `read_files`; immutable: every verb returns a new one. Columns are given
    by name, as ``col("x")``, as ``rel.c.x``, or by a lambda that gets the row. Two relations that say the same are not
    equal, but their plans are: ``one.to_plan() == other.to_plan()``.

    Example:
        The examples of verbs, expressions and plans all go on from these two tables:

        >>> import substrait_dsl as sd
        >>> from substrait_dsl import functions as f
        >>> orders = sd.read_named("orders", {"id": "i64", "customer": "i64", "price": "fp64?"})
        >>> customers = sd.read_named("customers", {"key": "i64", "name": "string"})
        >>> print(orders.filter(lambda o: o.price > 5.0).select("id"))
        emit -> id: i64
          filter price > 5.0
            read orders -> id: i64, customer: i64, price: fp64?
    """

    __slots__ = ()

    @property
    def c(self) -> S:
        """Return the columns as expressions: ``rel.c.price``. They belong to this very relation.

        Specification: ``Expression.FieldReference``.

        Example:
            >>> orders.select(orders.c.id, half=orders.c.price / 2.0).columns
            ('id', 'half')
        """
        return self._row()  # type: ignore[return-value]  # the row has the columns of S

    def __getitem__(self, column: str | int) -> DynExpr:
        """Return a column of this very relation as an expression."""
        _require_no_condition(column)
        return self._row()[column]

    if TYPE_CHECKING:  # a checker must refuse ``for``
        __iter__: None
    else:

        def __iter__(self) -> NoReturn:
            raise TypeMismatchError(
                "a relation is no sequence of rows", hint="collect() gives the rows, collect(spark) those on Spark"
            )

    def _row(self) -> DynRow:
        return DynRow(self._rel.schema, partial(_column_of, self._rel))

    def filter(self, *conditions: Condition | Callable[[S], Condition]) -> Relation[S]:
        """Keep the rows for which all conditions are true (neither false nor NULL).

        Args:
            conditions: boolean expressions, or lambdas that get the row and return one; at least one.

        Output: the same columns; order and distribution stay. Raises `TypeMismatchError` for what is no boolean.
        Specification: ``FilterRel``.

        Example:
            >>> print(orders.filter(lambda o: o.price > 5.0))
            filter price > 5.0
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="filter"):
            if not conditions:
                raise InvalidArgumentError("expected a condition")
            scope = Scope("filter", (self._rel,))
            parts = [evaluate(condition, scope, Role.CONDITION) for condition in conditions]
            for part in parts:
                column_arguments.require_condition(part)
            condition = parts[0] if len(parts) == 1 else column_arguments.all_of(parts)
            return Relation(rl.Filter(self._rel, condition, anchor=scope.anchor))

    def project(self, /, **new: ColumnLike[S]) -> Relation[DynRow]:
        """Add columns after the existing ones, as Substrait's own projection does.

        Args:
            new: the columns, as name=expression; an expression may be a lambda that gets the row, or a Python value.

        Output: the input's columns, then one per argument. Order and distribution stay. Raises `SchemaError` for a
        name that exists; `with_columns` replaces such a column. Specification: ``ProjectRel``.

        Example:
            >>> print(orders.project(half=lambda o: o.price / 2.0).schema)
            0  id        i64
            1  customer  i64
            2  price     fp64?
            3  half      fp64?
        """
        with error_context(verb="project"):
            if not new:
                raise InvalidArgumentError("expected at least one column, as name=expression")
            existing = set(self._rel.schema.names)
            taken = [name for name in new if name in existing]
            if taken:
                raise SchemaError(
                    f"there is a column {quote(taken)} already", names=[*taken], hint="with_columns replaces it"
                )
            scope = Scope("project", (self._rel,))
            expressions = tuple(_evaluate_columns(new, scope).values())
            return Relation(rl.Project(self._rel, expressions, tuple(new), anchor=scope.anchor))

    def with_columns(self, /, **new: ColumnLike[S]) -> Relation[DynRow]:
        """Add columns, or replace those of the same name where they stand.

        Args:
            new: the columns, as name=expression, as for `project`. Every expression sees the input's columns.

        Output: the input's columns, replaced ones in their old place, then the new ones. Raises `UnknownFieldError` for
        a column that the input does not have. Specification: ``ProjectRel`` and emit.

        Example:
            >>> print(orders.with_columns(price=lambda o: o.price * 2.0, paid=False).schema)
            0  id        i64
            1  customer  i64
            2  price     fp64?
            3  paid      boolean
        """
        with error_context(verb="with_columns"):
            if not new:
                raise InvalidArgumentError("expected at least one column, as name=expression")
            schema = self._rel.schema
            existing = set(schema.names)
            scope = Scope("with_columns", (self._rel,))
            replaced = {schema.position(name) for name in new if name in existing}
            expressions = _evaluate_columns(new, scope)
            current: list[Picked] = [
                (field.name, expressions[field.name] if position in replaced else position)
                for position, field in enumerate(schema)
            ]
            added: list[Picked] = [(name, e) for name, e in expressions.items() if name not in existing]
            return Relation(column_arguments.compute(self._rel, [*current, *added], scope))

    def select(
        self, /, *chosen: str | int | ExprBase | Callable[[S], ExprBase], **named: ColumnLike[S]
    ) -> Relation[DynRow]:
        """Keep only these columns, in this order.

        Args:
            chosen: names, positions, or expressions that have a name (a column, or ``expression.alias("x")``).
            named: further columns, as name=expression; a text is the name of a column, ``lit("x")`` the text.

        Output: these columns. Order and distribution stay as far as the columns do. Raises `UnknownFieldError`,
        `AmbiguousFieldError`, `SchemaError` for an expression without a name or a name given twice.
        Specification: ``ProjectRel`` and emit.

        Example:
            >>> print(orders.select("price", key="id", half=lambda o: o.price / 2.0).schema)
            0  price  fp64?
            1  key    i64
            2  half   fp64?
        """
        with error_context(verb="select"):
            scope = Scope("select", (self._rel,))
            picked = column_arguments.pick(chosen, scope)
            picked += _evaluate_columns(named, scope, column_arguments.chosen_column).items()
            if not picked:
                raise InvalidArgumentError("expected at least one column")
            column_arguments.require_distinct([name for name, _ in picked])
            return Relation(column_arguments.compute(self._rel, picked, scope))

    def drop(self, *dropped: str | int) -> Relation[DynRow]:
        """Leave out columns.

        Args:
            dropped: names or positions.

        Output: the other columns. Raises `UnknownFieldError`, `AmbiguousFieldError`, and `SchemaError` if none is left.
        Specification: emit.

        Example:
            >>> orders.drop("price").columns
            ('id', 'customer')
        """
        with error_context(verb="drop"):
            for column in dropped:
                if column_arguments.is_list(column):
                    raise InvalidArgumentError(
                        "a column is given by name or position",
                        got=column,
                        hint=column_arguments.unpacking_hint(column),
                    )
            left_out = {find_position(self._rel.schema, column, "drop({})") for column in dropped}
            remaining = [position for position in range(len(self._rel.schema)) if position not in left_out]
            if not remaining:
                raise SchemaError("no column would be left")
            return Relation(rl.emit(self._rel, remaining))

    def rename(self, names: Renaming | None = None, /, **renamed: str) -> Relation[DynRow]:
        """Give columns other names.

        Args:
            names: new names by old name, or by position where a name stands twice; or a function that gets each name
                and returns the new one, which may be the same.
            renamed: the same, as old="new".

        Output: the same columns under other names. Raises `UnknownFieldError`, `AmbiguousFieldError`, `SchemaError`
        for a name that another column has. Specification: ``RelRoot.names``; other relations have no names of columns.

        Example:
            >>> orders.rename(id="order").columns
            ('order', 'customer', 'price')
            >>> orders.rename(lambda name: f"order_{name}").columns
            ('order_id', 'order_customer', 'order_price')
        """
        with error_context(verb="rename"):
            schema = self._rel.schema
            return Relation(rl.emit(self._rel, range(len(schema)), rename_columns(schema, names, renamed)))

    def emit(self, positions: Sequence[int]) -> Relation[DynRow]:
        """Put out the columns at these positions, in this order.

        Args:
            positions: ordinals, from 0; they may repeat.

        Output: these columns. Raises `UnknownFieldError` for a position that there is not.
        Specification: ``RelCommon.Emit``.

        Example:
            >>> orders.emit([2, 0]).columns
            ('price', 'id')
        """
        with error_context(verb="emit"):
            if not column_arguments.is_list(positions):
                raise InvalidArgumentError("expected a list of positions", got=positions)
            return Relation(rl.emit(self._rel, [self._rel.schema.position(position) for position in positions]))

    def sort(self, *keys: str | int | ExprBase | SortKey | Callable[[S], ExprBase | SortKey]) -> Relation[S]:
        """Put the rows in order.

        Args:
            keys: columns or expressions, at least one; ``asc(...)``, ``desc(...)`` or ``clustered(...)`` say how.
                A bare one is ascending, NULLs first.

        Output: the same columns; the order is the keys', the distribution stays. Raises `UnknownFieldError`, and
        `InvalidArgumentError` for a key that is neither a column nor an expression. Specification: ``SortRel``.

        Example:
            >>> print(orders.sort(sd.desc("price"), "id"))
            sort by price desc nulls last, id asc nulls first
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="sort"):
            scope = Scope("sort", (self._rel,))
            return Relation(rl.Sort(self._rel, column_arguments.sort_keys(keys, scope), anchor=scope.anchor))

    def fetch(self, count: Count = None, offset: Count = None) -> Relation[S]:
        """Keep `count` rows after the first `offset`.

        Args:
            count: how many rows; None for all. A number, or an integer expression over no row, such as a subquery.
            offset: how many rows to leave out first; None for 0.

        Output: the same columns; order and distribution stay. Raises `InvalidArgumentError` for negative numbers,
        `TypeMismatchError` for what is no integer. Specification: ``FetchRel``.

        Example:
            >>> print(orders.sort("id").fetch(10, offset=20))
            fetch 10 offset 20
              sort by id asc nulls first
                read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="fetch"):
            return self._add_fetch("fetch", count, offset)

    def _add_fetch(self, verb: str, count: int | ExprBase | None, offset: int | ExprBase | None) -> Relation[S]:
        scope = Scope(verb, (self._rel,))
        count_of_rows = column_arguments.row_count("count", count, scope)
        rows_before = column_arguments.row_count("offset", offset, scope)
        return Relation(rl.Fetch(self._rel, count_of_rows, rows_before, anchor=scope.anchor))

    def unnest(
        self,
        column: str | int | ExprBase | Callable[[S], ExprBase],
        *,
        element: str = "element",
        offset: str = "offset",
    ) -> Relation[DynRow]:
        """Make a row of each element of a list.

        Args:
            column: the list: a column, or an expression.
            element: the name of the column of the elements.
            offset: the name of the column of their offsets, from 0.

        Output: this relation's columns, then the element and its ``i64`` offset. A row whose list is empty or NULL is
        left out. Order and distribution stay. Raises `TypeMismatchError` for what is no list, `SchemaError` for a name
        that exists. The specification has no such relation; a plan holds an ``ExtensionSingleRel`` of this library.

        Example:
            >>> baskets = sd.read_named("baskets", {"id": "i64", "items": "list<string>"})
            >>> print(baskets.unnest("items", element="item").schema)
            0  id      i64
            1  items   list<string>
            2  item    string
            3  offset  i64
        """
        with error_context(verb="unnest"):
            return Relation(unnest(self._rel, column, element, offset))

    def limit(self, count: int) -> Relation[S]:
        """Keep the first `count` rows: `fetch` with a count.

        Args:
            count: how many rows.

        Output: the same columns; order and distribution stay. Raises `InvalidArgumentError` for a negative number.
        Specification: ``FetchRel``.

        Example:
            >>> print(orders.limit(3))
            fetch 3
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="limit"):
            if count is None:
                raise InvalidArgumentError("expected a number of rows, got None")
            return self._add_fetch("limit", count, None)

    def aggregate(
        self,
        /,
        *keys: str | int | ExprBase | Callable[[S], ExprBase],
        grouping_sets: Sequence[Sequence[str | int]] | None = None,
        method: rl.AggregateMethod = "any",
        **measures: MeasureBase | Callable[[S], MeasureBase],
    ) -> Relation[DynRow]:
        """Fold rows into groups.

        Args:
            keys: what to group by: names, positions, or expressions that have a name.
            grouping_sets: each makes groups of its own; tuples of the names (or numbers) of keys. They may be empty
                or repeat. By default one set of all keys.
            method: how: any, hash, or streaming, which needs an input sorted by the keys.
            measures: name=aggregate function, such as ``total=lambda r: f.sum(r.price)``, or what is computed of such
                functions and of keys: ``mean=lambda r: f.sum(r.price) / f.count().cast(FP64)``.

        Output: the keys, nullable if a set lacks them; the measures; with several sets, ``grouping_set: i32``, the
        number of the set that the row belongs to. Without keys one row, even for no input. No order, but for a
        streaming aggregate, which keeps that of the keys.
        Raises `SchemaError` for no column at all, a key in no set, a set of what is no key, a streaming aggregate of an
        input sorted otherwise, a column that is no key beside a measure.
        Specification: ``AggregateRel``, and the hash and streaming aggregates; ``ProjectRel`` for what is computed.

        Example:
            >>> print(orders.aggregate("customer", n=f.count(), total=lambda o: f.sum(o.price)).schema)
            0  customer  i64
            1  n         i64
            2  total     fp64?
        """
        from substrait_dsl.fluent.grouping import aggregate

        with error_context(verb="aggregate"):
            return Relation(aggregate(self._rel, keys, {}, grouping_sets, (), measures, method))

    def group_by(self, /, *keys: str | int | ExprBase | Callable[[S], ExprBase], **named: ColumnLike[S]) -> GroupBy[S]:
        """Start an aggregate by its keys; `GroupBy.agg` gives it its measures.

        Args:
            keys: as for `aggregate`.
            named: further keys, as name=expression, or name="column".

        Returns:
            The keys, for ``agg``, ``rollup`` or ``cube``. Raises `InvalidArgumentError` for no key.

        Specification: ``AggregateRel.grouping_expressions``.

        Example:
            >>> print(orders.group_by("customer").agg(n=f.count()).schema)
            0  customer  i64
            1  n         i64
        """
        from substrait_dsl.fluent.grouping import GroupBy

        with error_context(verb="group_by"):
            return GroupBy(self, keys, named)

    def into(self, row: Callable[[S], S2]) -> Relation[S2]:
        """Compute the columns of a declared schema: ``rel.into(lambda r: Out(key=r.a, total=r.b + r.c))``.

        Args:
            row: a lambda that gets the row and returns an instance of the schema class.

        Output: the columns of the schema class, in its order. Raises `SchemaError` for an expression of another type
        than its column, or a nullable one where the column is required (`Expr.assert_not_null` says that it is none).
        Specification: ``ProjectRel`` and emit.

        Example:
            >>> class Half(sd.Schema):
            ...     id: sd.I64
            ...     half: sd.Nullable[sd.FP64]
            >>> print(orders.into(lambda o: Half(id=o.id, half=o.price / 2.0)).schema)
            0  id    i64
            1  half  fp64?
        """
        with error_context(verb="into"):
            scope = Scope("into", (self._rel,))
            result = evaluate_on_row(row, scope, Role.ROW, raw=True)
            return Relation(column_arguments.project_declared_columns(self._rel, result, scope))

    def as_(self, schema: type[S2]) -> Relation[S2]:
        """Declare the columns of this relation by a schema class.

        Args:
            schema: the class. Columns must agree in name, order and type; a required one may stand for a nullable one.

        Output: the same columns. Raises `SchemaError` with every difference. Plans do not show it.

        Example:
            >>> class Key(sd.Schema):
            ...     id: sd.I64
            >>> print(orders.select("id").as_(Key).schema)
            0  id  i64
        """
        with error_context(verb="as_"):
            column_arguments.require_declared(self._rel.schema, schema)
            return Relation(self._rel)


def _evaluate_columns(
    new: Mapping[str, object], scope: Scope, evaluate_one: Callable[..., ex.Expression] = evaluate
) -> dict[str, ex.Expression]:
    """Return the expressions of the columns of one call, by name; none of them sees another."""
    expressions: dict[str, ex.Expression] = {}
    for name, value in new.items():
        try:
            with error_context(place="column", name=name):
                expressions[name] = evaluate_one(value, scope, Role.COLUMN)
        except UnknownFieldError as error:
            if error.name in expressions:
                error.hint = (
                    f'columns of one call do not see each other: make "{error.name}" in a with_columns(...) before'
                )
            raise
    return expressions


def _require_no_condition(column: object) -> None:
    """Raise `InvalidArgumentError` for ``rel[rel.c.x > 1]``, which filters in other libraries."""
    if isinstance(column, ExprBase) or callable(column):
        raise InvalidArgumentError(
            "a column is given by its name or position", got=column, hint="filter(...) keeps rows by a condition"
        )
