"""Relations of the algebra as DuckDB SQL, one query inside another; every column has a name of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel, walk
from tests.differential.sql_expressions import DIRECTIONS, Scope, marked, sql, window
from tests.differential.sql_functions import measure
from tests.differential.sql_query import Query, limit, number
from tests.differential.tables import duckdb_type


def to_sql(rel: Rel) -> tuple[str, bool]:
    """The query that a relation is, and whether it determines the order of the rows."""
    query = Writer().query(rel, {})
    return f"SELECT {', '.join(query.columns)} FROM {query.source}{query.by}", query.total


class Writer:
    """Writes relations; all names in one query are different."""

    def __init__(self) -> None:
        self.numbers = count()

    def name(self) -> str:
        """A new name."""
        return f"c{next(self.numbers)}"

    def names(self, many: int) -> tuple[str, ...]:
        """New names."""
        return tuple(self.name() for _ in range(many))

    def scope(self, columns: Sequence[str], outer: Mapping[int, Sequence[str]], anchor: int | None) -> Scope:
        """What the expressions of a relation see; those in their subqueries see the row by its anchor."""
        around = outer if anchor is None else {**outer, anchor: columns}

        def relations(rel: Rel, outer: Mapping[int, Sequence[str]]) -> tuple[str, list[str]]:
            query = self.query(rel, outer)
            return f"SELECT {', '.join(query.columns)} FROM {query.source}", list(query.columns)

        return Scope(columns, around, relations)

    def query(self, rel: Rel, outer: Mapping[int, Sequence[str]]) -> Query:  # noqa: C901  # a closed union
        """The query that a relation is, inside of rows around it."""
        match rl.as_union(rel):
            case rl.Read() as read:
                return self.read(read, outer)
            case rl.Emit(input=child, mapping=mapping):
                below = self.query(child, outer)
                columns = self.names(len(mapping))
                made = [f"{below.columns[old]} AS {new}" for old, new in zip(mapping, columns, strict=True)]
                text = f"SELECT {', '.join((*made, *below.hidden))} FROM {below.source}"
                return attrs.evolve(below, text=text, columns=columns)
            case rl.Filter(input=child, condition=condition):
                below = self.query(child, outer)
                test = sql(condition, self.scope(below.columns, outer, rel.anchor))
                return attrs.evolve(below, text=f"SELECT * FROM {below.source} WHERE {test}")
            case rl.Project(input=child, expressions=expressions):
                below = self.query(child, outer)
                here = self.scope(below.columns, outer, rel.anchor)
                if any(each.flags.has_window_functions for each in expressions):
                    below = attrs.evolve(below, order=(), total=False)
                return self.extended(below, [sql(expression, here) for expression in expressions])
            case rl.Sort(input=child, keys=keys):
                return self.sorted(self.query(child, outer), keys, outer, rel.anchor)
            case rl.Fetch(input=child, count=rows, offset=offset):
                below = self.query(child, outer)
                return attrs.evolve(below, text=f"SELECT * FROM {below.source}{below.by}{limit(rows, offset)}")
            case rl.TopN() as top:
                return self.top_n(top, outer)
            case rl.Aggregate() as aggregate:
                return self.aggregate(aggregate, outer)
            case rl.Set() as set_:
                return self.set_op(set_, outer)
            case rl.Window() as window:
                return self.window(window, outer)
            case rl.Expand() as expand:
                return self.expand(expand, outer)
            case rl.Unnest() as unnest:
                return self.unnest(unnest, outer)
            case rl.Exchange(input=child):
                return attrs.evolve(self.query(child, outer), order=(), total=False)
            case rl.MergingCapture(input=child) | rl.SimpleCapture(input=child):
                return attrs.evolve(self.query(child, outer), order=(), total=False)
            case rl.Cross(left=left, right=right):
                mine, theirs = self.query(left, outer), self.query(right, outer)
                columns = mine.columns + theirs.columns
                return Query(f"SELECT {', '.join(columns)} FROM {mine.source}, {theirs.source}", columns)
            case rl.Join(condition=condition) as join:
                return self.join(join, condition, join.post_filter, outer)
            case rl.NestedLoopJoin(condition=condition) as join:
                return self.join(join, condition, None, outer)
            case rl.HashJoin(residual=residual) | rl.MergeJoin(residual=residual) as join:
                return self.join(join, residual, join.post_filter, outer, join.keys)
            case rl.LateralJoin() as join:
                return self.lateral_join(join, outer)
            case other:
                raise NotImplementedError(type(other).__name__)

    def extended(self, below: Query, texts: Sequence[str]) -> Query:
        """The query with further columns."""
        new = self.names(len(texts))
        made = [f"{text} AS {name}" for text, name in zip(texts, new, strict=True)]
        text = f"SELECT *, {', '.join(made)} FROM {below.source}"
        return attrs.evolve(below, text=text, columns=below.columns + new)

    # --- one input

    def read(self, read: rl.Read, outer: Mapping[int, Sequence[str]]) -> Query:
        schema = read.base_schema
        columns = self.names(len(schema))
        match read.definition:
            case rl.NamedTable(names=(table,)):
                made = [f"{old} AS {new}" for old, new in zip(schema.names, columns, strict=True)]
                text = f"SELECT {', '.join(made)} FROM {table}"
            case rl.VirtualTable(rows=rows):
                here = self.scope((), {}, None)
                empty = [f"CAST(NULL AS {duckdb_type(type_)})" for type_ in schema.types]
                lines = [[sql(value, here) for value in row.fields] for row in rows] or [empty]
                selected = [
                    ", ".join(f"{value} AS {name}" for value, name in zip(line, columns, strict=True)) for line in lines
                ]
                text = " UNION ALL ".join(f"SELECT {line}" for line in selected) + ("" if rows else " WHERE FALSE")
            case other:
                raise NotImplementedError(type(other).__name__)
        for condition in (read.filter, read.best_effort_filter):
            if condition is not None:
                text = f"SELECT * FROM ({text}) WHERE {sql(condition, self.scope(columns, outer, read.anchor))}"
        if read.projection is not None:
            columns = tuple(columns[item.position] for item in read.projection.items)
        return Query(text, columns)

    def sorted(
        self, below: Query, keys: Sequence[ex.SortKey], outer: Mapping[int, Sequence[str]], anchor: int | None
    ) -> Query:
        here = self.scope(below.columns, outer, anchor)
        made = self.extended(attrs.evolve(below, order=()), [sql(key.expression, here) for key in keys])
        new = made.columns[len(below.columns) :]
        order = tuple((name, DIRECTIONS[str(key.direction)]) for name, key in zip(new, keys, strict=True))
        # A struct has several keys: whether it is NULL, and its fields.
        used = {node.position for key in keys for node in walk(key.expression) if isinstance(node, ex.FieldReference)}
        return Query(made.text, below.columns, order, len(used) >= len(below.columns))

    def top_n(self, top: rl.TopN, outer: Mapping[int, Sequence[str]]) -> Query:
        below = self.sorted(self.query(top.input, outer), top.keys, outer, top.anchor)
        if top.mode == "rows_only" or number(top.count) in (None, 0):
            return attrs.evolve(below, text=f"SELECT * FROM {below.source}{below.by}{limit(top.count, top.offset)}")
        last = (number(top.count) or 0) + (number(top.offset) or 0)
        place, row = self.names(2)
        numbers = f"rank() OVER ({below.by}) AS {place}, row_number() OVER ({below.by}) AS {row}"
        test = f"{place} <= {last} AND {row} > {number(top.offset) or 0}"
        return attrs.evolve(below, text=f"SELECT * FROM (SELECT *, {numbers} FROM {below.source}) WHERE {test}")

    def aggregate(self, rel: rl.Aggregate, outer: Mapping[int, Sequence[str]]) -> Query:
        """One query for each grouping set."""
        sets = rel.grouping_sets or ((),)
        columns = self.names(len(rel.schema))
        parts = []
        for place, grouping_set in enumerate(sets):
            below = self.query(rel.input, outer)
            here = self.scope(below.columns, outer, rel.anchor)
            inside, calls = self.operands([*rel.keys, *rel.measures], below, here)
            keys = inside.columns[len(below.columns) :]
            made = [
                keys[position] if position in grouping_set else f"CAST(NULL AS {duckdb_type(rel.keys[position].type)})"
                for position in range(len(rel.keys))
            ]
            made += calls
            if len(sets) > 1:
                made.append(f"CAST({place} AS INTEGER)")
            listed = ", ".join(f"{text} AS {name}" for text, name in zip(made, columns, strict=True))
            by = f" GROUP BY {', '.join(keys[position] for position in grouping_set)}" if grouping_set else ""
            parts.append(f"SELECT {listed} FROM {inside.source}{by}")
        return Query(" UNION ALL ".join(parts), columns)

    def operands(
        self, parts: Sequence[ex.Expression | ex.Measure], below: Query, here: Scope
    ) -> tuple[Query, list[str]]:
        """The rows with all that measures are computed of, keys first, and the calls of the measures.

        In SQL an aggregate of nothing but columns of an outer row belongs to the query outside. So what an aggregate
        takes is a column of its own.
        """
        texts = [sql(part, here) for part in parts if isinstance(part, ex.Expression)]
        measures = [part for part in parts if isinstance(part, ex.Measure)]
        operands = [
            operand
            for each in measures
            for operand in (
                *(part for part in each.function.arguments if isinstance(part, ex.Expression)),
                *(key.expression for key in each.function.sorts),
                *([each.filter] if each.filter else []),
            )
        ]
        texts += [sql(operand, here) for operand in operands]
        inside = self.extended(attrs.evolve(below, order=()), texts) if texts else below
        names = iter(inside.columns[len(inside.columns) - len(operands) :])
        calls = []
        for each in measures:
            call = each.function
            arguments = [next(names) for part in call.arguments if isinstance(part, ex.Expression)]
            keys = [f"{next(names)} {DIRECTIONS[str(key.direction)]}" for key in call.sorts]
            if call.function.name == "string_agg":  # whose separator is a constant
                arguments[1] = sql(call.arguments[1], here) if isinstance(call.arguments[1], ex.Expression) else ""
            order = f" ORDER BY {', '.join(keys)}" if keys else ""
            calls.append(measure(call, arguments, order, f" FILTER (WHERE {next(names)})" if each.filter else ""))
        return inside, calls

    def window(self, rel: rl.Window, outer: Mapping[int, Sequence[str]]) -> Query:
        below = self.query(rel.input, outer)
        here = self.scope(below.columns, outer, rel.anchor)
        made = [window(call, rel.partitions, rel.sorts, here) for call in rel.functions]
        # A window keeps the order that is known of its input: as far as the keys are columns.
        known = rel.properties.ordering
        order = tuple((below.columns[key.field[0]], DIRECTIONS[str(key.direction)]) for key in known)
        total = bool(known) and len(known) >= len(below.columns)
        return self.extended(attrs.evolve(below, order=order, total=total), made)

    def expand(self, rel: rl.Expand, outer: Mapping[int, Sequence[str]]) -> Query:
        columns = self.names(len(rel.schema))
        parts = []
        for place in range(rel.copies_of_a_row):
            below = self.query(rel.input, outer)
            here = self.scope(below.columns, outer, rel.anchor)
            made = [
                sql(field.expression if isinstance(field, rl.ConsistentField) else field.duplicates[place], here)
                for field in rel.fields
            ]
            listed = zip([*made, f"CAST({place} AS INTEGER)"], columns, strict=True)
            parts.append(f"SELECT {', '.join(f'{text} AS {name}' for text, name in listed)} FROM {below.source}")
        return Query(" UNION ALL ".join(parts), columns)

    def unnest(self, rel: rl.Unnest, outer: Mapping[int, Sequence[str]]) -> Query:
        below = self.query(rel.input, outer)
        lists, (element, offset) = below.columns[rel.column], self.names(2)
        text = f"SELECT *, unnest({lists}) AS {element}, unnest(range(len({lists}))) AS {offset} FROM {below.source}"
        return attrs.evolve(below, text=text, columns=(*below.columns, element, offset), total=False)

    # --- several inputs

    def set_op(self, rel: rl.Set, outer: Mapping[int, Sequence[str]]) -> Query:
        columns = self.names(len(rel.schema))
        parts = []
        for child in rel.relations:
            below = self.query(child, outer)
            made = [f"{old} AS {new}" for old, new in zip(below.columns, columns, strict=True)]
            parts.append(f"(SELECT {', '.join(made)} FROM {below.source})")
        first, others = parts[0], parts[1:]
        union = " UNION ALL ".join(others)
        match rel.op:
            case "union_all":
                text = " UNION ALL ".join(parts)
            case "union_distinct":
                text = " UNION ".join(parts)
            case "minus_primary":
                text = f"{first} EXCEPT ({union})"
            case "minus_primary_all":
                text = f"{first} EXCEPT ALL ({union})"
            case "intersection_primary":
                text = f"{first} INTERSECT ({union})"
            case "intersection_multiset":
                text = " INTERSECT ".join(parts)
            case "intersection_multiset_all":
                text = " INTERSECT ALL ".join(parts)
            case "minus_multiset":  # of the rows in all others none stays, of the rest all (spec decision 16)
                everywhere = " INTERSECT ".join(others)
                same = " AND ".join(f"m.{column} IS NOT DISTINCT FROM o.{column}" for column in columns)
                text = f"SELECT * FROM {first} m WHERE NOT EXISTS (SELECT 1 FROM ({everywhere}) o WHERE {same})"
        return Query(text, columns)

    def join(
        self,
        rel: rl.Join | rl.NestedLoopJoin | rl.HashJoin | rl.MergeJoin,
        condition: ex.Expression | None,
        post_filter: ex.Expression | None,
        outer: Mapping[int, Sequence[str]],
        keys: Sequence[rl.JoinKey] = (),
    ) -> Query:
        left, right = self.query(rel.left, outer), self.query(rel.right, outer)
        columns = left.columns + right.columns
        tests = [self.key_test(key, left, right) for key in keys]
        if condition is not None:
            tests.append(f"({sql(condition, self.scope(columns, outer, rel.anchor))})")
        test = " AND ".join(tests) or "TRUE"
        joined = self.matched(rel.how, left, right, test)
        if post_filter is None:
            return joined
        kept = sql(post_filter, self.scope(joined.columns, outer, rel.anchor))
        return attrs.evolve(joined, text=f"SELECT * FROM {joined.source} WHERE {kept}")

    def key_test(self, key: rl.JoinKey, left: Query, right: Query) -> str:
        assert isinstance(key.left, ex.FieldReference)
        assert isinstance(key.right, ex.FieldReference)
        x, y = left.columns[key.left.position], right.columns[key.right.position]
        match key.comparison:
            case "eq":
                return f"{x} = {y}"
            case "is_not_distinct_from":
                return f"{x} IS NOT DISTINCT FROM {y}"
            case "might_equal":
                return f"coalesce({x} = {y}, TRUE)"
            case other:
                raise NotImplementedError(str(other))

    def matched(self, how: str, left: Query, right: Query, test: str) -> Query:
        """A join of one of the twelve types."""
        columns = left.columns + right.columns
        listed = ", ".join(columns)
        words = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "outer": "FULL JOIN"}
        words |= {"left_single": "LEFT JOIN", "right_single": "RIGHT JOIN"}  # as no row has two matches
        if how in words:
            return Query(f"SELECT {listed} FROM {left.source} {words[how]} {right.source} ON {test}", columns)
        kept, other = (left, right) if how.startswith("left") else (right, left)
        mine = ", ".join(kept.columns)
        match how.partition("_")[2]:
            case "semi":
                where = f"EXISTS (SELECT 1 FROM {other.source} WHERE {test})"
                return Query(f"SELECT {mine} FROM {kept.source} WHERE {where}", kept.columns)
            case "anti":
                where = f"NOT EXISTS (SELECT 1 FROM {other.source} WHERE {test})"
                return Query(f"SELECT {mine} FROM {kept.source} WHERE {where}", kept.columns)
            case _:
                mark = self.name()
                text = f"SELECT {mine}, {marked(other.text, test)} AS {mark} FROM {kept.source}"
                return Query(text, (*kept.columns, mark))

    def lateral_join(self, rel: rl.LateralJoin, outer: Mapping[int, Sequence[str]]) -> Query:
        left = self.query(rel.left, outer)
        around = outer if rel.anchor is None else {**outer, rel.anchor: left.columns}
        right = self.query(rel.right, around)
        columns = left.columns + right.columns
        test = sql(rel.condition, self.scope(columns, outer, rel.anchor))
        match rel.how:
            case "inner" | "left" | "left_single":
                word = "JOIN" if rel.how == "inner" else "LEFT JOIN"
                inside = f"LATERAL (SELECT {', '.join(right.columns)} FROM {right.source} WHERE {test}) ON TRUE"
                return Query(f"SELECT {', '.join(columns)} FROM {left.source} {word} {inside}", columns)
            case how:
                return self.matched(how, left, right, test)
