"""Dependent relations: what a relation that refers to an outer row puts out, for all outer rows at once.

`for_each` takes a relation of different values of the outer columns, the domain, and a relation that refers to them. It
gives the rows of the relation for each row of the domain, behind the columns of the domain. The domain is pushed down
until it meets a part that does not refer to the outer row: there every row of the one goes with every row of the other.

What comes in is lowered already: no expression in it has a subquery.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import (
    TRUE,
    as_type,
    call,
    column,
    columns,
    conjunction,
    first_columns,
    map_fields,
    number,
    project_only,
    row_number,
    same,
    shift_fields,
    with_columns,
)
from substrait_dsl.errors import class_words

EMPTY_COUNTS = ("count", "sum0", "approx_count_distinct")
"""Aggregate functions that give 0 where there are no rows."""


def outer_positions(node: Node, anchor: int | None) -> list[int]:
    """Return the columns of the row of an anchor that a relation refers to, in order."""
    if anchor is None or anchor not in node.free_anchors:
        return []
    root = ex.OuterReference(anchor)
    return sorted({each.position for each in walk(node) if isinstance(each, ex.FieldReference) and each.root == root})


def for_each(lowering: Lowering, rel: Rel, domain: Rel, anchor: int, positions: list[int]) -> Rel:
    """Return the rows of a relation for each row of a domain.

    Args:
        lowering: the state of lowering the plan.
        rel: the relation, which refers to the row of the anchor.
        domain: rows that all differ; a column for each of `positions`, and maybe others.
        anchor: the row that the relation refers to.
        positions: which columns of that row the first columns of the domain are.

    Raises:
        UnsupportedError: a relation that cannot be evaluated for several rows at once.
    """
    return _Domain(lowering, domain, anchor, {position: n for n, position in enumerate(positions)}).push_down(rel)


class _Domain:
    """Pushes a domain down a relation."""

    def __init__(self, lowering: Lowering, domain: Rel, anchor: int, place: Mapping[int, int]) -> None:
        self.lowering, self.domain, self.anchor, self.place = lowering, domain, anchor, place
        self.width = len(domain.schema)

    def push_down(self, rel: Rel) -> Rel:
        """Return the rows of a relation for each row of the domain; shared inputs are pushed down once."""
        done: dict[int, Rel] = {}
        stack = [rel]
        while stack:
            current = stack[-1]
            waiting = [each for each in self.correlated_inputs(current) if id(each) not in done]
            if waiting and id(current) not in done:
                stack += waiting
                continue
            stack.pop()
            if id(current) not in done:
                done[id(current)] = self.apply(current, done)
        return done[id(rel)]

    def is_dependent(self, node: Node) -> bool:
        return self.anchor in node.free_anchors

    def correlated_inputs(self, rel: Rel) -> tuple[Rel, ...]:
        """Return the inputs that the domain must be pushed into."""
        if not self.is_dependent(rel):
            return ()
        match rel:
            case rl.Join(how="inner") | rl.Cross():
                return tuple(each for each in rel.inputs if self.is_dependent(each)) or (rel.left,)
            case rl.Join() if not self.is_dependent(rel.right):
                return (rel.left,)
            case _:
                return rel.inputs

    def apply(self, rel: Rel, done: Mapping[int, Rel]) -> Rel:
        """Return a relation over inputs with the domain."""
        if not self.is_dependent(rel):
            return rl.Cross(self.domain, rel)
        match rel:
            case rl.Filter(input=child):
                return rl.Filter(done[id(child)], self.bind_outer_references(rel.condition))
            case rl.Project(input=child):
                return rl.Project(done[id(child)], tuple(map(self.bind_outer_references, rel.expressions)), rel.names)
            case rl.Emit(input=child):
                mapping = [*range(self.width), *(position + self.width for position in rel.mapping)]
                return rl.emit(done[id(child)], mapping)
            case rl.Sort(input=child):
                return rl.Sort(done[id(child)], self.bound_keys(rel.keys))
            case rl.Fetch(input=child):
                return self.apply_fetch(rel, done[id(child)])
            case rl.Aggregate(input=child):
                return self.apply_aggregate(rel, done[id(child)])
            case rl.Set():
                return rl.Set(tuple(done[id(each)] for each in rel.relations), rel.op)
            case rl.Cross():
                return self.apply_join(rl.Join(rel.left, rel.right, "inner", TRUE), done)
            case rl.Join():
                return self.apply_join(rel, done)
            case _:
                raise self.lowering.refusal(
                    f"a correlated subquery with {class_words(rel)} that refers to the outer row"
                )

    def bind_outer_references(self, expression: ex.Expression) -> ex.Expression:
        """Replace outer references by the columns of the domain, which precede those of the row."""

        def change(node: Node) -> Node:
            match node:
                case ex.FieldReference(position=position, root=root) if root == ex.ROOT:
                    return ex.FieldReference(position + self.width, node.column_type)
                case ex.FieldReference(position=position, root=ex.OuterReference(anchor)) if anchor == self.anchor:
                    return column(self.domain, self.place[position])
                case ex.WindowFunction():
                    return attrs.evolve(node, partitions=(*self.keys, *node.partitions))
                case _:
                    return node

        return rebuild(expression, change, into_relations=False)

    def bound_keys(self, keys: tuple[ex.SortKey, ...]) -> tuple[ex.SortKey, ...]:
        return tuple(ex.SortKey(self.bind_outer_references(key.expression), key.direction) for key in keys)

    @property
    def keys(self) -> tuple[ex.Expression, ...]:
        """Return the columns of the domain."""
        return columns(self.domain)

    def domain_equalities(self, offset: int) -> list[ex.Expression]:
        """Return the conditions that the domain is equal in two inputs; the second one begins at a position."""
        return [same(key, shift_fields(key, offset)) for key in self.keys]

    def apply_fetch(self, rel: rl.Fetch, child: Rel) -> Rel:
        """Return the first rows for each row of the domain, by row number."""
        if any(self.is_dependent(each) for each in (rel.count, rel.offset) if each is not None):
            raise self.lowering.refusal("a number of rows that refers to the outer row")
        ordering = rel.input.properties.ordering
        keys = (
            child.keys
            if isinstance(child, rl.Sort)
            else tuple(ex.SortKey(column(child, key.field[0] + self.width), key.direction) for key in ordering)
        )
        if not isinstance(child, rl.Sort) and any(len(key.field) > 1 for key in ordering):
            raise self.lowering.refusal("a correlated subquery with the first rows in an order by a field of a struct")
        width = len(child.schema)
        numbered = with_columns(child, row_number(self.keys, keys), name="row")
        position = column(numbered, width)
        return first_columns(rl.Filter(numbered, conjunction(fetch_conditions(position, rel.count, rel.offset))), width)

    def apply_aggregate(self, rel: rl.Aggregate, child: Rel) -> Rel:
        """Group within each row of the domain; without keys a row without input has a group, too."""
        if len(rel.grouping_sets) > 1:
            raise self.lowering.refusal("a correlated subquery with grouping sets")
        keys = (*self.keys, *map(self.bind_outer_references, rel.keys))
        measures = tuple(rebuild_measure(each, self.bind_outer_references) for each in rel.measures)
        names = (*self.domain.schema.names, *rel.names)
        groups = rl.Aggregate(child, keys, (tuple(range(len(keys))),) if keys else (), measures, names)
        if rel.keys or not self.width:
            return groups
        joined = rl.Join(self.domain, groups, "left", conjunction(self.domain_equalities(self.width)))
        values = [self.or_empty(column(joined, 2 * self.width + n), each) for n, each in enumerate(rel.measures)]
        return project_only(joined, (*columns(joined, range(self.width)), *values), names)

    def or_empty(self, value: ex.Expression, measure: ex.Measure) -> ex.Expression:
        """Return a measure, or its value for no rows."""
        function = measure.function
        if function.function.name in EMPTY_COUNTS:
            zero = number(0, function.output_type.as_required())
            return as_type(call("comparison", "coalesce", value, as_type(zero, value.type)), function.output_type)
        if not function.output_type.nullable:
            raise self.lowering.refusal(f"{function.function.name} over the rows of a correlated subquery")
        return value

    def apply_join(self, rel: rl.Join, done: Mapping[int, Rel]) -> Rel:
        """Join within each row of the domain; the preserved side always has its columns."""
        spread = [id(each) for each in self.correlated_inputs(rel)]
        left, right = (done[id(each)] if id(each) in spread else each for each in (rel.left, rel.right))
        is_left_spread, is_right_spread = id(rel.left) in spread, id(rel.right) in spread
        first, width = len(rel.left.schema), self.width
        if rel.how == "outer":  # a row without a match has no row of the domain
            raise self.lowering.refusal("an outer join that refers to the outer row")
        if is_left_spread and not is_right_spread:
            return rl.Join(left, right, rel.how, self.bind_outer_references(rel.condition), mark=rel.mark)
        if is_right_spread and not is_left_spread:  # only of an inner join
            condition = map_fields(
                self.bind_outer_references(rel.condition), lambda at: self.without_left_domain(at, first)
            )
            joined = rl.Join(left, right, "inner", condition)
            return rl.emit(
                joined, [*range(first, first + width), *range(first), *range(first + width, len(joined.schema))]
            )
        condition = map_fields(
            self.bind_outer_references(rel.condition), lambda at: at if at < width + first else at + width
        )
        joined = rl.Join(left, right, rel.how, conjunction([*self.domain_equalities(width + first), condition]))
        if len(joined.schema) <= width + first:
            return joined
        return rl.emit(joined, [*range(width + first), *range(2 * width + first, len(joined.schema))])

    def without_left_domain(self, at: int, first: int) -> int:
        """Map a position with the domain before the left input to one with the domain behind it."""
        if at < self.width:
            return at + first
        return at - self.width if at < self.width + first else at


def rebuild_measure(measure: ex.Measure, change: Callable[[ex.Expression], ex.Expression]) -> ex.Measure:
    """Return a measure with changed expressions."""
    function = measure.function
    changed = attrs.evolve(
        function,
        arguments=tuple(change(each) if isinstance(each, ex.Expression) else each for each in function.arguments),
        sorts=tuple(ex.SortKey(change(key.expression), key.direction) for key in function.sorts),
    )
    return ex.Measure(changed, None if measure.filter is None else change(measure.filter))


def fetch_conditions(
    position: ex.Expression, count: ex.Expression | None, offset: ex.Expression | None
) -> list[ex.Expression]:
    """Return the conditions for a row number, from 1, to be within a fetch.

    Count and offset are constants that are not NULL, or absent.
    """
    start = 0 if offset is None else integer_of(offset)
    conditions: list[ex.Expression] = [call("comparison", "gt", position, number(start))] if start else []
    if count is not None:
        conditions.append(call("comparison", "lte", position, number(min(start + integer_of(count), MAX_ROW))))
    return conditions


MAX_ROW = 2**63 - 1
"""The largest row number."""


def integer_of(expression: ex.Expression) -> int:
    """Return the value of an integer literal."""
    assert isinstance(expression, ex.Literal)
    value: int = expression.value
    return value
