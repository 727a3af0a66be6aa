"""Relations as people write them: a chain of verbs, each of which derives its schema before it returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, NoReturn

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.rules import SET_OPS, SetOp
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    naming,
    placing,
    quoted,
    require,
    require_choice,
)
from substrait_dsl.fluent import columns
from substrait_dsl.fluent.base import S2, Condition, Count, RelationBase, S, rel_of
from substrait_dsl.fluent.calls import MeasureBase
from substrait_dsl.fluent.columns import ColumnLike, Picked, Role, evaluate, on_row
from substrait_dsl.fluent.expr import DynExpr, ExprBase, SortKey, deferred
from substrait_dsl.fluent.extensions import ExtensionVerbs
from substrait_dsl.fluent.habits import SET_HABITS
from substrait_dsl.fluent.hints import HintVerbs
from substrait_dsl.fluent.joins import JoinVerbs
from substrait_dsl.fluent.physical import PhysicalVerbs
from substrait_dsl.fluent.schemas import DynRow
from substrait_dsl.fluent.scope import Scope, column_of
from substrait_dsl.fluent.unnest import unnest
from substrait_dsl.fluent.writes import WriteVerbs

if TYPE_CHECKING:
    from substrait_dsl.fluent.grouping import GroupBy


def _column_of(rel: rl.Rel, position: int) -> DynExpr:
    """A column of this very relation, wherever the expression is used."""
    return deferred(partial(column_of, rel, position), rel.schema.fields[position].name)


class Relation(JoinVerbs[S], PhysicalVerbs[S], WriteVerbs[S], HintVerbs[S], ExtensionVerbs[S], Generic[S]):
    """A relation whose rows are described by the schema class `S`.

    Made by `read_named`, `read_virtual` and `read_files`; immutable: every verb returns a new one. Columns are given
    by name, as ``col("x")``, as ``rel.c.x``, or by a lambda that gets the row. Two relations that say the same are not
    equal, but their plans are: ``one.to_plan() == other.to_plan()``.
    """

    __slots__ = ()

    @property
    def c(self) -> S:
        """The columns as expressions: ``rel.c.price``. They belong to this very relation."""
        return self._row()  # type: ignore[return-value]  # the row has the columns of S

    def __getitem__(self, column: str | int) -> DynExpr:
        """A column of this very relation as an expression."""
        _require_no_condition(column)
        return self._row()[column]

    def __iter__(self) -> NoReturn:
        raise TypeMismatchError("a relation is no sequence of rows", hint="collect(spark) gives the rows")

    def _row(self) -> DynRow:
        return DynRow(self._rel.schema, partial(_column_of, self._rel))

    def filter(self, *conditions: Condition | Callable[[S], Condition]) -> Relation[S]:
        """Keep the rows for which all conditions are true (neither false nor NULL).

        Output: the same columns; order and distribution stay. Raises `TypeMismatchError` for what is no boolean.
        Specification: ``FilterRel``.
        """
        with naming("filter"):
            if not conditions:
                raise InvalidArgumentError("expected a condition")
            scope = Scope("filter", (self._rel,))
            parts = [evaluate(condition, scope, Role.CONDITION) for condition in conditions]
            for part in parts:
                columns.require_condition(part)
            condition = parts[0] if len(parts) == 1 else columns.all_of(parts)
            return Relation(rl.Filter(self._rel, condition, anchor=scope.anchor))

    def project(self, /, **new: ColumnLike[S]) -> Relation[DynRow]:
        """Add columns after the existing ones, as Substrait's own projection does.

        Output: the input's columns, then one per argument. Order and distribution stay. Raises `SchemaError` for a
        name that exists; `with_columns` replaces such a column. Specification: ``ProjectRel``.
        """
        with naming("project"):
            if not new:
                raise InvalidArgumentError("expected at least one column, as name=expression")
            there = set(self._rel.schema.names)
            taken = [name for name in new if name in there]
            if taken:
                raise SchemaError(
                    f"there is a column {quoted(taken)} already", names=[*taken], hint="with_columns replaces it"
                )
            scope = Scope("project", (self._rel,))
            expressions = tuple(_named(new, scope).values())
            return Relation(rl.Project(self._rel, expressions, tuple(new), anchor=scope.anchor))

    def with_columns(self, /, **new: ColumnLike[S]) -> Relation[DynRow]:
        """Add columns, or replace those of the same name where they stand.

        Output: the input's columns, replaced ones in their old place, then the new ones. Every expression sees the
        input's columns. Specification: ``ProjectRel`` and emit.
        """
        with naming("with_columns"):
            if not new:
                raise InvalidArgumentError("expected at least one column, as name=expression")
            schema = self._rel.schema
            there = set(schema.names)
            scope = Scope("with_columns", (self._rel,))
            places: dict[int, str] = {schema.position(name): name for name in new if name in there}
            expressions = _named(new, scope)
            kept: list[Picked] = [
                (field.name, expressions[field.name] if position in places else position)
                for position, field in enumerate(schema)
            ]
            added: list[Picked] = [(name, e) for name, e in expressions.items() if name not in there]
            return Relation(columns.compute(self._rel, [*kept, *added], scope))

    def select(
        self, /, *chosen: str | int | ExprBase | Callable[[S], ExprBase], **named: ColumnLike[S]
    ) -> Relation[DynRow]:
        """Keep only these columns, in this order.

        Args:
            chosen: names, positions, or expressions that have a name (a column, or ``expression.alias("x")``).
            named: further columns, as name=expression.

        Output: these columns. Order and distribution stay as far as the columns do. Raises `UnknownFieldError`,
        `AmbiguousFieldError`, `SchemaError` for an expression without a name or a name given twice.
        Specification: ``ProjectRel`` and emit.
        """
        with naming("select"):
            scope = Scope("select", (self._rel,))
            picked = columns.pick(chosen, scope)
            picked += _named(named, scope).items()
            if not picked:
                raise InvalidArgumentError("expected at least one column")
            columns.require_distinct([name for name, _ in picked])
            return Relation(columns.compute(self._rel, picked, scope))

    def drop(self, *dropped: str | int) -> Relation[DynRow]:
        """Leave out columns, given by name or position.

        Output: the other columns. Raises `UnknownFieldError`, `AmbiguousFieldError`, and `SchemaError` if none is left.
        Specification: emit.
        """
        with naming("drop"):
            for column in dropped:
                if columns.is_list(column):
                    raise InvalidArgumentError(
                        "a column is given by name or position", got=column, hint=columns.unpacked(column)
                    )
            gone = {_position(self._rel.schema, column, "drop({})") for column in dropped}
            kept = [position for position in range(len(self._rel.schema)) if position not in gone]
            if not kept:
                raise SchemaError("no column would be left")
            return Relation(rl.emit(self._rel, kept))

    def rename(
        self,
        names: Mapping[str, str] | Mapping[int, str] | Mapping[str | int, str] | None = None,  # keys are invariant
        /,
        **renamed: str,
    ) -> Relation[DynRow]:
        """Give columns other names.

        Args:
            names: new names by old name, or by position where a name stands twice.
            renamed: the same, as old="new".

        Output: the same columns under other names. Raises `UnknownFieldError`, `AmbiguousFieldError`, `SchemaError`
        for a name that another column has.
        """
        with naming("rename"):
            schema = self._rel.schema
            if names is not None and not isinstance(names, Mapping):
                raise InvalidArgumentError("expected a dict of new names by old name", got=names)
            wanted: dict[str | int, str] = {}
            wanted.update(names or {})  # type: ignore[arg-type]  # keys of either kind
            wanted.update(renamed)
            for new in wanted.values():
                require(new, str, "the new name of a column is a str")
            changed = {_renamed_position(schema, old, new): new for old, new in wanted.items()}
            after = [changed.get(position, field.name) for position, field in enumerate(schema)]
            uses = Counter(after)
            for new in changed.values():
                if uses[new] > 1:
                    raise SchemaError(f'two columns would be called "{new}"', names=[new])
            return Relation(rl.emit(self._rel, range(len(schema)), after))

    def emit(self, positions: Sequence[int]) -> Relation[DynRow]:
        """The columns at these positions, in this order, repeats allowed. Specification: ``RelCommon.Emit``."""
        with naming("emit"):
            if not columns.is_list(positions):
                raise InvalidArgumentError("expected a list of positions", got=positions)
            return Relation(rl.emit(self._rel, [self._rel.schema.position(position) for position in positions]))

    def sort(self, *keys: str | int | ExprBase | SortKey | Callable[[S], ExprBase | SortKey]) -> Relation[S]:
        """Put the rows in order.

        Args:
            keys: columns or expressions, at least one; ``asc(...)``, ``desc(...)`` or ``clustered(...)`` say how.
                A bare one is ascending, NULLs first.

        Output: the same columns; the order is the keys', the distribution stays. Specification: ``SortRel``.
        """
        with naming("sort"):
            scope = Scope("sort", (self._rel,))
            return Relation(rl.Sort(self._rel, columns.sort_keys(keys, scope), anchor=scope.anchor))

    def fetch(self, count: Count = None, offset: Count = None) -> Relation[S]:
        """Keep `count` rows after the first `offset`.

        Args:
            count: how many rows; None for all. A number, or an integer expression over no row, such as a subquery.
            offset: how many rows to leave out first; None for 0.

        Output: the same columns; order and distribution stay. Raises `InvalidArgumentError` for negative numbers,
        `TypeMismatchError` for what is no integer. Specification: ``FetchRel``.
        """
        with naming("fetch"):
            return self._fetched("fetch", count, offset)

    def _fetched(self, verb: str, count: int | ExprBase | None, offset: int | ExprBase | None) -> Relation[S]:
        scope = Scope(verb, (self._rel,))
        first, skipped = columns.row_count("count", count, scope), columns.row_count("offset", offset, scope)
        return Relation(rl.Fetch(self._rel, first, skipped, anchor=scope.anchor))

    def unnest(
        self,
        column: str | int | ExprBase | Callable[[S], ExprBase],
        *,
        element: str = "element",
        offset: str = "offset",
    ) -> Relation[DynRow]:
        """Make a row of each element of a list: ``orders.unnest("items", element="item")``.

        Args:
            column: the list: a column, or an expression.
            element: the name of the column of the elements.
            offset: the name of the column of their offsets, from 0.

        Output: this relation's columns, then the element and its ``i64`` offset. A row whose list is empty or NULL is
        left out. Order and distribution stay. Raises `TypeMismatchError` for what is no list, `SchemaError` for a name
        that exists. The specification has no such relation; a plan holds an ``ExtensionSingleRel`` of this library.
        """
        with naming("unnest"):
            return Relation(unnest(self._rel, column, element, offset))

    def limit(self, count: int) -> Relation[S]:
        """Keep the first `count` rows: `fetch` with a count."""
        with naming("limit"):
            if count is None:
                raise InvalidArgumentError("expected a number of rows, got None")
            return self._fetched("limit", count, None)

    def set_op(self, op: SetOp, *others: RelationBase) -> Relation[S]:
        """Combine with the rows of other relations of the same column types; NULL equals NULL.

        Args:
            op: which rows come out. The different ones of this relation that no other has: minus_primary (EXCEPT), that
                some other has: intersection_primary, that every other has: intersection_multiset (INTERSECT). As
                often as they are left when each of the others has taken its own away: minus_primary_all (EXCEPT
                ALL); as often as every relation has them: intersection_multiset_all (INTERSECT ALL). The rows, with
                their repetitions, that not every other has: minus_multiset. Those of all relations:
                union_distinct (UNION), union_all (UNION ALL).
            others: one or more relations; this one is the primary input.

        Output: the columns of this relation, nullable as the operation needs; no order. Raises `SchemaError` and
        `TypeMismatchError` for inputs that do not fit. Specification: ``SetRel``.
        """
        return self._combined("set_op", op, others)

    def _combined(self, verb: str, op: SetOp, others: Sequence[RelationBase]) -> Relation[S]:
        with naming(verb):
            require_choice("op", op, SET_OPS, SET_HABITS)
            return Relation(rl.Set((self._rel, *map(rel_of, others)), op))

    def union_all(self, *others: RelationBase) -> Relation[S]:
        """All rows of all relations, as ``UNION ALL``."""
        return self._combined("union_all", "union_all", others)

    def union(self, *others: RelationBase) -> Relation[S]:
        """The different rows of all relations, as ``UNION``."""
        return self._combined("union", "union_distinct", others)

    def intersect(self, *others: RelationBase) -> Relation[S]:
        """The different rows that all relations have, as ``INTERSECT``."""
        return self._combined("intersect", "intersection_multiset", others)

    def subtract(self, *others: RelationBase) -> Relation[S]:
        """The different rows that none of the others has, as ``EXCEPT``."""
        return self._combined("subtract", "minus_primary", others)

    def distinct(self) -> Relation[S]:
        """Each different row once: an aggregate with every column as a key.

        Raises `SchemaError` for a relation without columns.
        """
        with naming("distinct"):
            schema = self._rel.schema
            if not schema.names:
                raise SchemaError(
                    "a relation without columns has no rows that differ", hint="limit(1) leaves one of them"
                )
            scope = Scope("distinct", (self._rel,))
            positions = tuple(range(len(schema)))
            keys = tuple(scope.column(position) for position in positions)
            return Relation(rl.Aggregate(self._rel, keys, (positions,), (), schema.names))

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
            measures: name=aggregate function, such as ``total=lambda r: f.sum(r.price)``.

        Output: the keys, nullable if a set lacks them; the measures; with several sets, ``grouping_set: i32``, the
        number of the set that the row belongs to. Without keys one row, even for no input. No order, but for a
        streaming aggregate, which keeps that of the keys.
        Raises `SchemaError` for no column at all, a key in no set, a set of what is no key, a streaming aggregate of an
        input sorted otherwise. Specification: ``AggregateRel``, and the hash and streaming aggregates.
        """
        from substrait_dsl.fluent.grouping import aggregate

        with naming("aggregate"):
            return Relation(aggregate(self._rel, keys, {}, grouping_sets, (), measures, method))

    def group_by(self, /, *keys: str | int | ExprBase | Callable[[S], ExprBase], **named: ColumnLike[S]) -> GroupBy[S]:
        """Start an aggregate by its keys: ``rel.group_by("a").agg(n=f.count())``.

        Args:
            keys: as for `aggregate`.
            named: further keys, as name=expression.
        """
        from substrait_dsl.fluent.grouping import GroupBy

        with naming("group_by"):
            return GroupBy(self, keys, named)

    def into(self, row: Callable[[S], S2]) -> Relation[S2]:
        """Compute the columns of a declared schema: ``rel.into(lambda r: Out(key=r.a, total=r.b + r.c))``.

        Output: the columns of the schema class, in its order. Raises `SchemaError` for an expression of another type
        than its column, or a nullable one where the column is required (`Expr.assert_not_null` says that it is none).
        """
        with naming("into"):
            scope = Scope("into", (self._rel,))
            result = on_row(row, scope, Role.ROW, raw=True)
            return Relation(columns.declared(self._rel, result, scope))

    def as_(self, schema: type[S2]) -> Relation[S2]:
        """The same relation, declared to have the columns of a schema class.

        Columns must agree in name, order and type; a required one may stand for a nullable one. Raises `SchemaError`
        with every difference.
        """
        with naming("as_"):
            columns.require_declared(self._rel.schema, schema)
            return Relation(self._rel)


def _named(new: Mapping[str, object], scope: Scope) -> dict[str, ex.Expression]:
    """Columns that one call makes; none of them sees another."""
    made: dict[str, ex.Expression] = {}
    for name, value in new.items():
        try:
            with placing("column", name):
                made[name] = evaluate(value, scope, Role.COLUMN)
        except UnknownFieldError as error:
            if error.name in made:
                before = f'make "{error.name}" in a with_columns(...) before'
                error.hint = f"columns of one call do not see each other: {before}"
            raise
    return made


def _require_no_condition(column: object) -> None:
    """Raise `InvalidArgumentError` for ``rel[rel.c.x > 1]``, which filters in other libraries."""
    if isinstance(column, ExprBase) or callable(column):
        raise InvalidArgumentError(
            "a column is given by its name or position", got=column, hint="filter(...) keeps rows by a condition"
        )


def _position(schema: NamedStruct, column: str | int, written: str) -> int:
    """The position of a column, and how to write it if the name does not tell it."""
    try:
        return schema.position(column)
    except AmbiguousFieldError as error:
        found = (position for position, name in enumerate(schema.names) if name == column)
        error.hint = "say which by its position: " + " or ".join(map(written.format, found))
        raise


def _renamed_position(schema: NamedStruct, old: str | int, new: str) -> int:
    try:
        return _position(schema, old, "rename({{{}: ...}})")
    except UnknownFieldError as error:
        if new in schema.names:
            error.hint = f'the old name comes first: {new}="{old}"'
        raise
