"""Relations as queries: each step goes into the SELECT below it if that says it exactly, else above it as another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Expression, Node, Rel, walk
from substrait_dsl.algebra.null_filters import checks_that_hold
from substrait_dsl.algebra.relations import as_union
from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.sql_output import joins, sets
from substrait_dsl.sql_output.aggregate_functions import write_measure
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.expressions import Columns, Outer, Place, Scope, write
from substrait_dsl.sql_output.names import Names, distinct_names, identifier
from substrait_dsl.sql_output.orders import order_key
from substrait_dsl.sql_output.outer_values import with_outer_values
from substrait_dsl.sql_output.queries import Select, to_tree
from substrait_dsl.sql_output.tables import read_table
from substrait_dsl.sql_output.unnesting import write_unnest
from substrait_dsl.sql_output.window_functions import write_window
from substrait_dsl.sql_output.written import Written, cast_tree, fill, has_column

if TYPE_CHECKING:
    from sqlglot import exp

MAX_REPEATED = 8
"""Of so many nodes an expression may be that stands in several places of a query."""


DOUBLING = ("modulus", "between", "least", "greatest", "ln", "log10", "log2")
"""Functions whose operands may stand in several places of what they are written as."""


class QueryWriter:
    """Writes the relations of one statement."""

    def __init__(self, rel: Rel, dialect: Dialect) -> None:
        self.dialect = dialect
        self.names = Names(_table_names(rel))
        self.parts: list[tuple[str, exp.Query]] = []
        """The queries in front, behind WITH, by their names."""
        self._shared = _repeated(rel)
        self._checks = checks_that_hold(rel)
        self._written: dict[int, Select] = {}

    def statement(self, rel: Rel) -> exp.Query:
        """Return the statement that a relation is."""
        from sqlglot import exp

        select = self.write(rel, {})
        tree = to_tree(select, self.dialect, keeps_names=True)
        if self.parts:
            ctes = [exp.CTE(this=query, alias=exp.TableAlias(this=identifier(name))) for name, query in self.parts]
            tree.set("with_", exp.With(expressions=ctes))
        return tree

    def subquery(self, rel: Rel, outer: Outer) -> exp.Query:
        """Return the query that the relation of a subquery is."""
        select = self.write(rel, outer)
        return to_tree(select.unordered, self.dialect)

    def scope(self, select: Select, outer: Outer, rel: Rel, *, place: Place = "value") -> Scope:
        """Return what the expressions of a relation see, whose input is a query."""
        around = outer if rel.anchor is None else {**outer, rel.anchor: select.columns}
        return Scope(
            select.columns, outer, self.dialect, lambda inner, _: self.subquery(inner, around), place, self._checks
        )

    def write(self, rel: Rel, outer: Outer) -> Select:
        """Return the query that a relation is, inside of enclosing rows. Raises `UnsupportedError`."""
        if id(rel) in self._shared and not rel.free_anchors:
            found = self._written.get(id(rel))
            if found is None:
                found = self._written[id(rel)] = self.nested(self._write(rel, {}), {}, rel)
                return found
            return self._read_again(found)
        return self._write(rel, outer)

    def _read_again(self, select: Select) -> Select:
        """Return a query over the same part, under a name of its own."""
        from sqlglot import exp

        source = select.source
        assert isinstance(source, exp.Table)
        alias = self.names.take(source.name)
        table = exp.Table(this=source.this.copy(), alias=exp.TableAlias(this=identifier(alias)))
        columns = tuple(
            Written(exp.Column(this=column.tree.this.copy(), table=identifier(alias)), column.type)
            for column in select.columns
        )
        return attrs.evolve(select, source=table, columns=columns, order=())

    def nested(self, select: Select, outer: Outer, rel: Rel, name: str | None = None) -> Select:
        """Return a query that reads another one as a table: one in front of the statement, or one in brackets.

        An order goes on above: its keys are columns of the query inside.
        """
        from sqlglot import exp

        count = len(select.columns)
        order = [written for written, _ in select.order]
        places = [
            next((n for n, column in enumerate(select.columns) if column.tree == key.tree), None) for key in order
        ]
        hidden = [key for key, place in zip(order, places, strict=True) if place is None]
        if select.union is not None or (select.is_distinct and hidden):
            hidden, order = [], []
        inside = attrs.evolve(
            select,
            columns=(*select.columns, *hidden),
            names=(*select.names, *("sort_key" for _ in hidden)),
            order=select.order if select.is_cut else (),
        )
        names = distinct_names(inside.names)
        tree = to_tree(inside, self.dialect, names)
        alias = self.names.take(name or _step_name(select))
        if _reads_outside(tree, self.dialect):
            source: exp.Expr = exp.Subquery(this=tree, alias=exp.TableAlias(this=identifier(alias)))
        else:
            self.parts.append((alias, tree))
            source = exp.Table(this=identifier(alias))
        columns = tuple(
            Written(exp.Column(this=identifier(name), table=identifier(alias)), column.type)
            for name, column in zip(names, inside.columns, strict=True)
        )
        beyond = iter(columns[count:])
        keys = (
            tuple(
                (columns[place] if place is not None else next(beyond), key)
                for place, (_, key) in zip(places, select.order, strict=True)
            )
            if order
            else ()
        )
        return Select(source, (), columns[:count], select.names, order=keys)

    # --- relations

    def _write(self, rel: Rel, outer: Outer) -> Select:  # a closed union
        match as_union(rel):
            case rl.Read() as read:
                return read_table(read, outer, self)
            case rl.Filter(input=child, condition=condition):
                return self.filtered(self.write(child, outer), condition, outer, rel)
            case rl.Sort(input=child, keys=keys):
                return self.sorted(self.write(child, outer), keys, outer, rel)
            case rl.Project(input=child, expressions=expressions, names=names):
                return self._project(self.write(child, outer), expressions, names, outer, rel)
            case rl.Emit(input=child, mapping=mapping):
                below = self.write(child, outer)
                if below.is_distinct or below.union is not None:
                    below = self.nested(below, outer, child)
                columns = tuple(below.columns[position] for position in mapping)
                if attrs.evolve(below, columns=columns).loses_its_row:
                    below = self.nested(below, outer, child)
                    columns = tuple(below.columns[position] for position in mapping)
                return attrs.evolve(below, columns=columns, names=tuple(rel.schema.names))
            case rl.Fetch(input=child, count=count, offset=offset):
                return self.cut(self.write(child, outer), count, offset, outer, rel)
            case rl.TopN(input=child, keys=keys, count=count, offset=offset, mode="rows_only"):
                return self.cut(self.sorted(self.write(child, outer), keys, outer, rel), count, offset, outer, rel)
            case rl.TopN() as top:
                return self._first_with_ties(top, outer)
            case rl.Expand() as expand:
                return self._expand(expand, outer)
            case rl.Aggregate() as aggregate:
                return self._aggregate(aggregate, outer)
            case rl.Window() as window:
                return self._window(window, outer)
            case rl.Set() as set_:
                return sets.write_set(set_, outer, self)
            case (
                rl.Cross() | rl.Join() | rl.NestedLoopJoin() | rl.HashJoin() | rl.MergeJoin() | rl.LateralJoin()
            ) as join:
                return joins.write_join(join, outer, self)
            case rl.Unnest() as unnest:
                return write_unnest(unnest, outer, self)
            case rl.Exchange(input=child) | rl.MergingCapture(input=child) | rl.SimpleCapture(input=child):
                return self.write(child, outer).unordered
            case other:
                raise UnsupportedError(
                    f"{class_words(other)} is not written as SQL of {self.dialect.title}",
                    hint="execute(session) runs the plan that has it",
                )

    def filtered(self, below: Select, condition: Expression, outer: Outer, rel: Rel) -> Select:
        """Return the rows for which a condition is true."""
        if not below.takes_conditions or (below.is_grouped and condition.flags.has_subqueries):
            below = self.nested(below, outer, rel)
        if condition.flags.has_window_functions:
            below = attrs.evolve(below, order=())
            windowed = self._project(below, [condition], ["condition"], outer, rel)
            inside = self.nested(windowed, outer, rel)
            return attrs.evolve(
                inside.filtered(inside.columns[-1].tree), columns=inside.columns[:-1], names=inside.names[:-1]
            )
        below = self._for_subqueries(below, [condition], outer, rel)
        return below.filtered(write(condition, self.scope(below, outer, rel, place="filter")).tree)

    def _for_subqueries(self, below: Select, expressions: Sequence[Expression], outer: Outer, rel: Rel) -> Select:
        """Return a query whose columns can be used in subqueries: columns as they are of tables."""
        if rel.anchor is None or not any(each.flags.has_subqueries for each in expressions):
            return below
        outside = {
            node.position
            for each in expressions
            for node in walk(each)
            if isinstance(node, ex.FieldReference) and node.root == ex.OuterReference(rel.anchor)
        }
        return below if all(below.columns[n].is_column for n in outside) else self.nested(below, outer, rel)

    def sorted(self, below: Select, keys: Sequence[ex.SortKey], outer: Outer, rel: Rel) -> Select:
        """Return the rows in an order; distinct rows are ordered by what is put out."""
        expressions = [key.expression for key in keys]
        if any(each.flags.has_window_functions or each.flags.has_subqueries for each in expressions):
            raise UnsupportedError(
                "an order by a window function or a subquery is not written as SQL",
                hint="make it a column first, by with_columns(...)",
            )
        is_put_out = all(isinstance(each, ex.FieldReference) for each in expressions)
        is_late = below.is_distinct or below.has_windows
        if below.is_cut or below.union is not None or (is_late and (not is_put_out or below.has_same_names)):
            below = self.nested(below, outer, rel)
        here = self.scope(below, outer, rel)
        return attrs.evolve(below, order=tuple((write(key.expression, here), key) for key in keys))

    def _project(
        self, below: Select, expressions: Sequence[Expression], names: Sequence[str], outer: Outer, rel: Rel
    ) -> Select:
        has_windows = any(each.flags.has_window_functions for each in expressions)
        if below.is_distinct or below.union is not None or (below.is_cut and has_windows):
            below = self.nested(below, outer, rel)
        if has_windows and (below.is_grouped or below.has_windows):
            below = self.nested(below, outer, rel)
        if below.is_grouped and any(each.flags.has_subqueries for each in expressions):
            below = self.nested(below, outer, rel)
        below = self._for_subqueries(below, expressions, outer, rel)
        if _repeats(below.columns, expressions):
            below = self.nested(below, outer, rel)
        if below.has_windows and _uses_windows(below.columns, expressions):
            below = self.nested(below, outer, rel)
        if has_windows:
            below = attrs.evolve(below, order=())
        here = self.scope(below, outer, rel)
        columns = (*below.columns, *(write(each, here) for each in expressions))
        return attrs.evolve(below, columns=columns, names=(*below.names, *names))

    def cut(self, below: Select, count: Expression | None, offset: Expression | None, outer: Outer, rel: Rel) -> Select:
        """Return some of the rows."""
        limit, skipped = (self._number(each) for each in (count, offset))
        if limit is None and not skipped:
            return below
        if below.is_cut or below.union is not None:
            below = self.nested(below, outer, rel)
        return attrs.evolve(below, limit=limit, offset=skipped or 0)

    def _first_with_ties(self, rel: rl.TopN, outer: Outer) -> Select:
        """Return the first rows, and those that are as far in front as the last of them: by their ranks.

        No row has no ties, neither have all rows.
        """
        from sqlglot import exp

        limit, skipped = self._number(rel.count), self._number(rel.offset) or 0
        if not limit:
            return self.cut(
                self.sorted(self.write(rel.input, outer), rel.keys, outer, rel), rel.count, rel.offset, outer, rel
            )
        below = self.write(rel.input, outer).unordered
        if not below.takes_conditions or below.is_grouped:
            below = self.nested(below, outer, rel)
        ordered = self.sorted(below, rel.keys, outer, rel)
        keys = [
            order_key(key, lambda part: write(part, self.scope(below, outer, rel)), self.dialect) for key in rel.keys
        ]
        functions = {"place": "RANK", "number": "ROW_NUMBER"} if skipped else {"place": "RANK"}
        windows = [
            Written(exp.Window(this=exp.Anonymous(this=each), order=exp.Order(expressions=keys)).copy(), t.I64())
            for each in functions.values()
        ]
        ranked = attrs.evolve(ordered, columns=(*ordered.columns, *windows), names=(*ordered.names, *functions))
        inside = self.nested(ranked, outer, rel)
        count = len(below.columns)
        tests = [f"{{0}} <= {limit + skipped}", f"{{0}} > {skipped}"]
        for test, column in zip(tests, inside.columns[count:], strict=False):
            inside = inside.filtered(fill(test, [column.tree], {}, self.dialect))
        return attrs.evolve(inside, columns=inside.columns[:count], names=inside.names[:count])

    def _expand(self, rel: rl.Expand, outer: Outer) -> Select:
        """Return each row several times: a union of the input with itself."""
        from sqlglot import exp

        below = self.nested(self.write(rel.input, outer).unordered, outer, rel).unordered
        names = distinct_names(rel.schema.names)
        tree: exp.Query | None = None
        for number in range(rel.copies_of_a_row):
            source = below if number == 0 or not isinstance(below.source, exp.Table) else self._read_again(below)
            here = self.scope(source, outer, rel)
            fields = [
                field.expression if isinstance(field, rl.ConsistentField) else field.duplicates[number]
                for field in rel.fields
            ]
            if any(each.flags.has_subqueries or each.flags.has_window_functions for each in fields):
                raise UnsupportedError("a subquery or a window function in an expand is not written as SQL")
            index = Written(exp.Literal.number(number), t.I32())
            columns = (*(write(each, here) for each in fields), index)
            part = to_tree(attrs.evolve(source, columns=columns, names=tuple(names)), self.dialect, names)
            tree = part if tree is None else exp.Union(this=tree, expression=part, distinct=False)
        return sets.select_from_union(tree, rel.schema, names)

    def _number(self, expression: Expression | None) -> int | None:
        match expression:
            case None:
                return None
            case ex.Literal(value=value):
                return value  # type: ignore[no-any-return]  # an integer, as the relation has checked
            case _:
                raise UnsupportedError(
                    f"a number of rows that is computed is not written as SQL of {self.dialect.title}",
                    hint="give a number",
                )

    def _aggregate(self, rel: rl.Aggregate, outer: Outer) -> Select:
        from sqlglot import exp

        below = self.write(rel.input, outer)
        operands = [
            *rel.keys,
            *(each for measure in rel.measures for each in measure.function.arguments if isinstance(each, Expression)),
            *(measure.filter for measure in rel.measures if measure.filter is not None),
        ]
        if below.is_closed or below.is_grouped or below.has_windows:
            below = self.nested(below, outer, rel)
        if any(each.flags.has_subqueries or each.flags.has_window_functions for each in operands):
            raise UnsupportedError(
                "a subquery or a window function in an aggregation is not written as SQL",
                hint="make it a column first, by with_columns(...)",
            )
        below, rel = with_outer_values(below, rel, outer, self)
        here = self.scope(below, outer, rel)
        for key in rel.keys:
            self.dialect.type_text(key.type, is_ordered=False)  # which refuses what engines may compare otherwise
        keys = [write(each, here) for each in rel.keys]
        # A number there would mean a column by position; a struct that is made there Spark does not know in HAVING.
        if not all(_has_own_column(key.tree, outer) and _is_known_key(key) for key in keys):
            below = self.nested(
                attrs.evolve(below, columns=(*below.columns, *keys), names=(*below.names, *rel.names[: len(keys)])),
                outer,
                rel,
            )
            keys = list(below.columns[len(below.columns) - len(keys) :])
            here = self.scope(below, outer, rel)
        measures = [write_measure(each, lambda part: write(part, here), self.dialect) for each in rel.measures]
        for measure, written in zip(rel.measures, measures, strict=True):
            computes = bool(measure.function.arguments) or measure.filter is not None
            if computes and has_column(written.tree) and not _has_own_column(written.tree, outer):
                raise UnsupportedError("an aggregation of nothing but columns of an outer row is not written as SQL")
        names = tuple(rel.names)
        if len(rel.grouping_sets) <= 1 and not measures:
            columns = tuple(keys)
            return attrs.evolve(below, columns=columns, names=names, is_distinct=True, order=())
        group: exp.Group | None = None
        index: tuple[Written, ...] = ()
        if len(rel.grouping_sets) > 1:
            group, index = self._grouping_sets(rel, keys)
        elif keys:
            group = exp.Group(expressions=[key.tree.copy() for key in keys])
        return attrs.evolve(
            below, columns=(*keys, *measures, *index), names=names, group=group, is_grouped=True, order=()
        )

    def _grouping_sets(self, rel: rl.Aggregate, keys: Sequence[Written]) -> tuple[exp.Group, tuple[Written, ...]]:
        """Return the GROUP BY of several grouping sets, and the column with the number of the set."""
        from sqlglot import exp

        if len({frozenset(each) for each in rel.grouping_sets}) < len(rel.grouping_sets):
            raise UnsupportedError("a grouping set that is there twice is not written as SQL")
        if any(one.tree == other.tree for one, other in combinations(keys, 2)):
            raise UnsupportedError("grouping sets of two keys that are the same are not written as SQL")
        listed = [
            exp.Tuple(expressions=[keys[position].tree.copy() for position in each]) for each in rel.grouping_sets
        ]
        group = exp.Group(expressions=[], grouping_sets=[exp.GroupingSets(expressions=listed)])
        ifs = []
        for number, each in enumerate(rel.grouping_sets[:-1]):
            tests = [
                fill("GROUPING({0}) = " + ("0" if position in each else "1"), [key.tree], {}, self.dialect)
                for position, key in enumerate(keys)
            ]
            from substrait_dsl.sql_output.queries import all_of

            ifs.append(exp.If(this=all_of(tests), true=exp.Literal.number(number)))
        index = exp.Case(ifs=ifs, default=exp.Literal.number(len(rel.grouping_sets) - 1))
        return group, (Written(index, t.I32()),)

    def _window(self, rel: rl.Window, outer: Outer) -> Select:
        below = self.write(rel.input, outer)
        if below.is_closed or below.is_grouped or below.has_windows:
            below = self.nested(below, outer, rel)
        here = self.scope(below, outer, rel)
        written = [
            write_window(call, rel.partitions, rel.sorts, lambda part: write(part, here), self.dialect)
            for call in rel.functions
        ]
        return attrs.evolve(
            below,
            columns=(*below.columns, *written),
            names=(*below.names, *rel.names),
            order=below.order if rel.method == "consistent_partition" else (),
        )


def _table_names(rel: Rel) -> Iterable[str]:
    for node in walk(rel):
        if isinstance(node, rl.Read) and isinstance(node.definition, rl.NamedTable):
            yield node.definition.names[-1]


def _repeated(rel: Rel) -> set[int]:
    """Return the relations that stand in several places, by their ids; reads, and what hardly costs more, are none."""
    seen: set[int] = set()
    found: set[int] = set()
    visits: dict[int, int] = {}
    stack: list[Node] = [rel]
    while stack:
        node = stack.pop()
        children = node.children()
        if isinstance(node, Rel):
            if id(node) in seen:
                if not _is_cheap(node):
                    found.add(id(node))
                continue
            seen.add(id(node))
        elif node.size > 1:
            visits[id(node)] = visits.get(id(node), 0) + 1
            if visits[id(node)] > 2:  # then its relations are known to repeat
                continue
        stack.extend(children)
    return found


def _is_cheap(rel: Rel) -> bool:
    while isinstance(rel, rl.Emit | rl.Filter | rl.Project):
        rel = rel.input
    return isinstance(rel, rl.Read)


def _step_name(select: Select) -> str:
    """Return what a query is called that others read."""
    if select.union is not None:
        return "united"
    if select.is_cut:
        return "first_rows" if select.order else "some_rows"
    if select.is_distinct:
        return "different"
    if select.is_grouped:
        return "grouped"
    if select.has_windows:
        return "numbered"
    if select.joins:
        return "joined"
    if select.where and all(column.is_column for column in select.columns):
        return "filtered"
    return "computed"


def _reads_outside(tree: exp.Query, dialect: Dialect) -> bool:
    """Whether a query has columns of tables that it does not read."""
    from sqlglot import exp

    tables = {each.alias_or_name for each in tree.find_all(exp.Table, exp.Subquery)}
    tables |= {each.alias for each in tree.find_all(exp.Values, exp.Lateral)}
    return any(column.table and column.table not in tables for column in tree.find_all(exp.Column))


def _repeats(columns: Columns, expressions: Sequence[Expression]) -> bool:
    """Whether a long expression would stand in several places. Some functions have their operands in several."""
    uses = [0] * len(columns)
    visits: dict[int, int] = {}
    stack: list[tuple[Node, int]] = [(each, 1) for each in expressions]
    while stack:
        node, times = stack.pop()
        visited = visits.get(id(node), 0)
        if visited > 1:  # which is enough, also for all parts of it
            continue
        visits[id(node)] = visited + times
        if isinstance(node, ex.FieldReference) and isinstance(node.root, ex.RootReference):
            uses[node.position] += times
        elif isinstance(node, ex.ScalarFunction) and (
            node.function.name in DOUBLING or node.function.key == "divide:dec_dec"
        ):
            times = 2
        stack.extend((child, times) for child in node.children() if not isinstance(child, Rel))
    return any(
        used > 1 and sum(1 for _ in column.tree.walk()) > MAX_REPEATED
        for used, column in zip(uses, columns, strict=True)
    )


def _uses_windows(columns: Columns, expressions: Sequence[Expression]) -> bool:
    """Whether an expression is computed of a window function."""
    from sqlglot import exp

    windowed = {n for n, column in enumerate(columns) if any(isinstance(x, exp.Window) for x in column.tree.walk())}
    return any(
        isinstance(node, ex.FieldReference) and node.position in windowed
        for each in expressions
        for node in walk(each, into_relations=False)
    )


def _is_known_key(key: Written) -> bool:
    return key.is_column or not isinstance(key.type, t.Struct)


def _has_own_column(tree: exp.Expr, outer: Outer) -> bool:
    """Whether a tree has a column that is none of an outer row."""
    from sqlglot import exp

    outside = {
        each.table for columns in outer.values() for column in columns for each in column.tree.find_all(exp.Column)
    }
    return any(column.table not in outside for column in tree.find_all(exp.Column))


__all__ = ["QueryWriter", "cast_tree"]
