"""Relations as people write them: a chain of verbs, each of which derives its schema before it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Literal, NoReturn

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.plan import Root
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.rules import JOIN_TYPES, SET_OPS, JoinType, SetOp, join_schema
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import I64, Boolean, Null
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    naming,
    placing,
    quoted,
    unknown_choice,
)
from substrait_dsl.fluent import columns
from substrait_dsl.fluent.calls import MeasureBase, RelationLike
from substrait_dsl.fluent.columns import ColumnLike, Picked, evaluate, on_row
from substrait_dsl.fluent.expr import DynExpr, Expr, ExprBase, SortKey, deferred, resolve
from substrait_dsl.fluent.guidance import JOIN_HABITS, SET_HABITS, VERBS, UnknownAttributeError, no_attribute
from substrait_dsl.fluent.schemas import DynRow, RelationSchema, Schema
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.fluent.grouping import GroupBy
    from substrait_dsl.fluent.plan import Plan

S = TypeVar("S", bound=Schema, covariant=True, default=DynRow)
S2 = TypeVar("S2", bound=Schema)

Condition = Expr[Boolean, Null]
Count = int | ExprBase | None


class RelationBase(RelationLike):
    """What every `Relation` is, whatever its columns."""

    __slots__ = ("_rel",)

    def __init__(self, rel: rl.Rel) -> None:
        self._rel = rel

    @property
    def schema(self) -> RelationSchema:
        """The columns: names, types and nullability, in order."""
        return RelationSchema(self._rel.schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._rel.schema.names

    @property
    def properties(self) -> Properties:
        """What is known of the order and the distribution of the rows."""
        return self._rel.properties

    def explain(self, *, properties: bool = False) -> str:
        """The plan as an indented text; with `properties`, also each step's ordering and distribution."""
        from substrait_dsl.render.text import explain

        return explain(self._rel, properties=properties)

    def to_plan(self) -> Plan:
        """The Substrait plan that returns this relation.

        Raises `SchemaError` for a relation that only makes sense inside another one's subquery.
        """
        from substrait_dsl.fluent.plan import Plan

        return Plan(self)

    def execute(self, spark: SparkSession) -> DataFrame:
        """Run on Spark and return the rows as a DataFrame of exactly this relation's schema.

        Raises `UnsupportedError` for what Spark cannot do exactly, and `ExecutionError` for a table that is not there
        or does not fit; both before anything runs.
        """
        from substrait_dsl.spark.execute import execute

        with naming("execute"):
            if not hasattr(spark, "createDataFrame"):
                raise InvalidArgumentError(f"expected a SparkSession, got {spark!r}")
            return execute(Root.of(self._rel), spark)

    if not TYPE_CHECKING:  # a checker must not take every name for a verb

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            if name in self._rel.schema.names:
                raise UnknownAttributeError(f'a relation has no "{name}"', hint=f"its column is rel.c.{name}")
            raise no_attribute("a relation", name, VERBS, dir(type(self)))

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Relation({self._rel.schema})"

    def __bool__(self) -> bool:
        raise TypeMismatchError("a relation has no truth value", hint="exists(relation) tests for rows")


class Relation(RelationBase, Generic[S]):
    """A relation whose rows are described by the schema class `S`.

    Made by `read_named`, `read_virtual` and `read_files`; immutable: every verb returns a new one. Columns are given
    by name, as ``col("x")``, as ``rel.c.x``, or by a lambda that gets the row.
    """

    __slots__ = ()

    @property
    def c(self) -> S:
        """The columns as expressions: ``rel.c.price``. They belong to this very relation."""
        return self._row()  # type: ignore[return-value]  # the row has the columns of S

    def __getitem__(self, column: str | int) -> DynExpr:
        """A column of this very relation as an expression."""
        return self._row()[column]

    def __iter__(self) -> NoReturn:
        raise TypeMismatchError("a relation is no sequence of rows", hint="execute(spark).collect() gives the rows")

    def _row(self) -> DynRow:
        rel = self._rel

        def reference(position: int) -> DynExpr:
            return deferred(lambda scope: scope.column_of(rel, position), rel.schema.fields[position].name)

        return DynRow(rel.schema, reference)

    def filter(self, *conditions: Condition | Callable[[S], Condition]) -> Relation[S]:
        """Keep the rows for which all conditions are true (neither false nor NULL).

        Output: the same columns; order and distribution stay. Raises `TypeMismatchError` for what is no boolean.
        Specification: ``FilterRel``.
        """
        with naming("filter"):
            if not conditions:
                raise InvalidArgumentError("expected a condition")
            scope = Scope("filter", (self._rel,))
            parts = [evaluate(condition, scope, "a condition") for condition in conditions]
            for part in parts:
                columns.require_condition(part)
            condition = parts[0] if len(parts) == 1 else columns.all_of(parts)
            return Relation(rl.Filter(self._rel, condition, anchor=scope.anchor))

    def project(self, **new: ColumnLike[S]) -> Relation[DynRow]:
        """Add columns after the existing ones, as Substrait's own projection does.

        Output: the input's columns, then one per argument. Order and distribution stay. Raises `SchemaError` for a
        name that exists; `with_columns` replaces such a column. Specification: ``ProjectRel``.
        """
        with naming("project"):
            if not new:
                raise InvalidArgumentError("expected at least one column, as name=expression")
            taken = [name for name in new if name in self._rel.schema.names]
            if taken:
                raise SchemaError(f"there is a column {quoted(taken)} already", hint="with_columns replaces it")
            scope = Scope("project", (self._rel,))
            expressions = tuple(_column(name, value, scope) for name, value in new.items())
            return Relation(rl.Project(self._rel, expressions, tuple(new), anchor=scope.anchor))

    def with_columns(self, **new: ColumnLike[S]) -> Relation[DynRow]:
        """Add columns, or replace those of the same name where they stand.

        Output: the input's columns, replaced ones in their old place, then the new ones. Every expression sees the
        input's columns. Specification: ``ProjectRel`` and emit.
        """
        with naming("with_columns"):
            if not new:
                raise InvalidArgumentError("expected at least one column, as name=expression")
            schema = self._rel.schema
            scope = Scope("with_columns", (self._rel,))
            places: dict[int, str] = {schema.position(name): name for name in new if name in schema.names}
            expressions = {name: _column(name, value, scope) for name, value in new.items()}
            kept: list[Picked] = [
                (field.name, expressions[field.name] if position in places else position)
                for position, field in enumerate(schema)
            ]
            added: list[Picked] = [(name, e) for name, e in expressions.items() if name not in schema.names]
            return Relation(columns.compute(self._rel, [*kept, *added], scope))

    def select(
        self, *chosen: str | int | ExprBase | Callable[[S], ExprBase], **named: ColumnLike[S]
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
            picked += [(name, _column(name, value, scope)) for name, value in named.items()]
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
            gone = {self._rel.schema.position(column) for column in dropped}
            kept = [position for position in range(len(self._rel.schema)) if position not in gone]
            if not kept:
                raise SchemaError("no column would be left")
            return Relation(rl.emit(self._rel, kept))

    def rename(self, names: Mapping[str | int, str] | None = None, /, **renamed: str) -> Relation[DynRow]:
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
                raise InvalidArgumentError(f"expected a dict of new names by old name, got {names!r}")
            wanted: dict[str | int, str] = dict(names or {})
            wanted.update(renamed)
            changed = {_renamed_position(schema, old, new): new for old, new in wanted.items()}
            for new in changed.values():
                if not isinstance(new, str):
                    raise InvalidArgumentError(f"expected a name, got {new!r}")
            after = [changed.get(position, field.name) for position, field in enumerate(schema)]
            for new in changed.values():
                if after.count(new) > 1:
                    raise SchemaError(f'two columns would be called "{new}"')
            return Relation(rl.emit(self._rel, range(len(schema)), after))

    def emit(self, positions: Sequence[int]) -> Relation[DynRow]:
        """The columns at these positions, in this order, repeats allowed. Specification: ``RelCommon.Emit``."""
        with naming("emit"):
            if not columns.is_list(positions):
                raise InvalidArgumentError(f"expected a list of positions, got {positions!r}")
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
            scope = Scope("fetch", (self._rel,))
            return Relation(
                rl.Fetch(self._rel, _count("count", count, scope), _count("offset", offset, scope), anchor=scope.anchor)
            )

    def limit(self, count: int) -> Relation[S]:
        """Keep the first `count` rows: `fetch` with a count."""
        with naming("limit"):
            if count is None:
                raise InvalidArgumentError("expected a number of rows, got None")
            return self.fetch(count)

    def cross(self, other: RelationBase) -> Relation[DynRow]:
        """Pair every row with every row of another relation.

        Output: the columns of this one, then of the other; no order. Specification: ``CrossRel``.
        """
        with naming("cross"):
            return Relation(rl.Cross(self._rel, _relation(other)))

    def join(
        self,
        other: Relation[S2],
        on: Condition | Callable[[S, S2], Condition] | str | Sequence[str] | Literal[True],
        how: JoinType = "inner",
        *,
        post_filter: Condition | Callable[[DynRow], Condition] | None = None,
        mark: str = "mark",
    ) -> Relation[DynRow]:
        """Match rows with rows of another relation.

        Args:
            other: the right side.
            on: a condition, best as ``lambda l, r: l.key == r.key``; or the name, or names, of columns that both
                sides have and that must be equal; or True, to match everything.
            how: one of the twelve join types: inner, outer, left, right, left_semi, right_semi, left_anti,
                right_anti, left_single, right_single (which fail on a second match), left_mark, right_mark.
            post_filter: a condition on the output rows.
            mark: the name of the column that a mark join adds: true, NULL or false.

        Output: inner, outer, left, right, single: left columns, right columns, those of a side that may lack a match
        nullable. Semi and anti: the columns of the side they are named after. Mark: those and a ``boolean?``. No order.
        Specification: ``JoinRel``.
        """
        with naming("join"):
            right = _relation(other)
            if how not in JOIN_TYPES:  # the tuple: what cannot be hashed is no key of the table
                raise unknown_choice("how", how, JOIN_TYPES, JOIN_HABITS)
            scope = Scope("join", (self._rel, right))
            _require_free(mark, how, self._rel.schema, right.schema)
            condition = columns.join_condition(on, scope)
            columns.require_condition(condition)
            after: ex.Expression | None = None
            if post_filter is not None:
                output = Scope("join", (self._rel, right), join_schema(how, self._rel.schema, right.schema, mark))
                after = on_row(post_filter, output, "the post-join filter")
                columns.require_condition(after)
                if output.anchor is not None:
                    raise InvalidArgumentError("a post-join filter takes no correlated subquery", hint="use filter")
            return Relation(rl.Join(self._rel, right, how, condition, after, mark, anchor=scope.anchor))

    def set_op(self, op: SetOp, *others: RelationBase) -> Relation[S]:
        """Combine with the rows of other relations of the same column types; NULL equals NULL.

        Args:
            op: one of the eight operations: minus_primary (EXCEPT), minus_primary_all (EXCEPT ALL), minus_multiset,
                intersection_primary, intersection_multiset (INTERSECT), intersection_multiset_all (INTERSECT ALL),
                union_distinct, union_all.
            others: one or more relations; this one is the primary input.

        Output: the columns of this relation, nullable as the operation needs; no order. Raises `SchemaError` and
        `TypeMismatchError` for inputs that do not fit. Specification: ``SetRel``.
        """
        return self._combined("set_op", op, others)

    def _combined(self, verb: str, op: SetOp, others: Sequence[RelationBase]) -> Relation[S]:
        with naming(verb):
            if op not in SET_OPS:
                raise unknown_choice("op", op, SET_OPS, SET_HABITS)
            return Relation(rl.Set((self._rel, *map(_relation, others)), op))

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
        """Each different row once: an aggregate with every column as a key."""
        with naming("distinct"):
            schema = self._rel.schema
            scope = Scope("distinct", (self._rel,))
            positions = tuple(range(len(schema)))
            keys = tuple(scope.column(position) for position in positions)
            return Relation(rl.Aggregate(self._rel, keys, (positions,), (), schema.names))

    def aggregate(
        self,
        *keys: str | int | ExprBase | Callable[[S], ExprBase],
        grouping_sets: Sequence[Sequence[str | int]] | None = None,
        **measures: MeasureBase | Callable[[S], MeasureBase],
    ) -> Relation[DynRow]:
        """Fold rows into groups.

        Args:
            keys: what to group by: names, positions, or expressions that have a name.
            grouping_sets: each makes groups of its own; tuples of the names (or numbers) of keys. They may be empty
                or repeat. By default one set of all keys.
            measures: name=aggregate function, such as ``total=lambda r: f.sum(r.price)``.

        Output: the keys, nullable if a set lacks them; the measures; with several sets, ``grouping_set: i32``, the
        number of the set that the row belongs to. Without keys one row, even for no input. No order.
        Raises `SchemaError` for no column at all, a key in no set, a set of what is no key.
        Specification: ``AggregateRel``.
        """
        from substrait_dsl.fluent.grouping import aggregate

        with naming("aggregate"):
            return Relation(aggregate(self._rel, keys, {}, grouping_sets, (), measures))

    def group_by(self, *keys: str | int | ExprBase | Callable[[S], ExprBase], **named: ColumnLike[S]) -> GroupBy[S]:
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
        than its column, or a nullable one where the column is required (``functions.coalesce`` gives it a value).
        """
        with naming("into"):
            scope = Scope("into", (self._rel,))
            result = on_row(row, scope, "the row", raw=True)
            return Relation(columns.declared(self._rel, result, scope))

    def as_(self, schema: type[S2]) -> Relation[S2]:
        """The same relation, declared to have the columns of a schema class.

        Columns must agree in name, order and type; a required one may stand for a nullable one. Raises `SchemaError`
        with every difference.
        """
        with naming("as_"):
            columns.require_declared(self._rel.schema, schema)
            return Relation(self._rel)


def _column(name: str, value: object, scope: Scope) -> ex.Expression:
    with placing(f'column "{name}"'):
        return evaluate(value, scope, "a column")


def _count(name: str, value: Count, scope: Scope) -> ex.Expression | None:
    if value is None:
        return None
    if isinstance(value, ExprBase):
        return resolve(value, scope)
    if type(value) is not int:
        raise TypeMismatchError(f"the {name} is a number of rows, got {value!r}")
    return ex.literal(value, I64())


def _renamed_position(schema: NamedStruct, old: str | int, new: object) -> int:
    try:
        return schema.position(old)
    except UnknownFieldError as error:
        if new in schema.names:
            error.hint = f'the old name comes first: {new}="{old}"'
        raise


def _require_name(name: object) -> None:
    if not isinstance(name, str):
        raise InvalidArgumentError(f"the name of a column is a str, got {name!r}")


def _require_free(mark: str, how: JoinType, left: NamedStruct, right: NamedStruct) -> None:
    """Raise `SchemaError` if the mark column of a join would be called as a column that is there."""
    _require_name(mark)
    kept = {"left_mark": left, "right_mark": right}.get(how)
    if kept is not None and mark in kept.names:
        raise SchemaError(f'there is a column "{mark}" already', hint='call the new one otherwise: mark="..."')


def _relation(other: object) -> rl.Rel:
    if isinstance(other, RelationBase):
        return other._rel
    raise InvalidArgumentError(f"expected a relation, got {other!r}")
