"""Legal relations that engines misread, or fail at, rewritten so that they do not.

All relations of a plan are checked, also those that lowering made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.joined_groups import joined_groups
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk_upwards, with_children
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.engines.lowering.constants import Constants, no_constant
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.dependent import MAX_ROW
from substrait_dsl.engines.lowering.null_keys import with_equalities
from substrait_dsl.engines.lowering.structs import accesses_field, has_random, opaque_false
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    call,
    case_when,
    column,
    columns,
    conjunction,
    emit_over,
    first_columns,
    number,
    project_only,
    with_columns,
)
from substrait_dsl.engines.lowering.windows import outermost_windows
from substrait_dsl.errors import UnsupportedError

Note = Callable[[str, Node], None]
_Conditional = TypeVar("_Conditional", rl.Filter, rl.Join)


def without_misreadings(top: Rel, note: Note, lowering: Lowering) -> Rel:
    """Rewrite the relations that engines misread; the rows stay the same.

    Args:
        top: the relation.
        note: is called with the code of each misreading (`substrait_dsl.engines.rules.MISREADINGS`) and its node.
        lowering: the state of lowering the plan; its profile has the functions of the engine.

    Raises `UnsupportedError` for a cast that they do not have.
    """
    upwards = list(walk_upwards(top))
    downwards = [node for node in reversed(upwards) if isinstance(node, Rel)]
    rewriter = _Rewriter(
        lowering,
        note,
        Constants.of_plan(downwards),
        joined_groups(downwards, lambda rel: rel.inputs) if has_random(lowering) else (),
        len([rel for rel in downwards if isinstance(rel, rl.Project) and outermost_windows(rel)]) > 1,
    )
    done: dict[int, Node] = {}
    for node in upwards:
        if isinstance(node, rl.Emit):  # its input may be an emit now, and emits are merged
            source = done[id(node.input)]
            assert isinstance(source, Rel)
            done[id(node)] = emit_over(source, node)
        else:
            done[id(node)] = rewriter.rewrite(node, with_children(node, done))
    result = done[id(top)]
    assert isinstance(result, Rel)
    return result


Step = tuple[str | None, Callable[[Any], Node]]
"""A rewriting of a node, with the code of its misreading; it returns the node itself where there is none."""


@attrs.frozen
class _Rewriter:
    """Rewrites the misreadings of a plan, node by node."""

    lowering: Lowering
    note: Note
    constants: Constants
    joined: Collection[int]
    """The `id` of the aggregates and set operations whose groups are joined to others."""
    has_several_windows: bool
    """Whether several projections have window functions."""

    def rewrite(self, node: Node, same: Node) -> Node:
        """Return a node over rewritten parts without misreadings; notes are about the node that it was."""
        for code, step in self._steps(node, same):
            changed = step(same)
            if changed is not same and code is not None:
                self.note(code, node)
            same = changed
        return same

    def _steps(self, node: Node, same: Node) -> Sequence[Step]:
        match same:
            case rl.Aggregate() | rl.Set() if id(node) in self.joined:
                return (("joined-groups", lambda groups: _with_hidden_keys(groups, self.lowering)),)
            case rl.Project():
                return self._steps_of_project(same)
            case rl.Sort():
                return (
                    ("outer-constants", lambda sort: _without_constants(sort, self.constants)),
                    ("sort-expression", lambda sort: _sort_by_columns(sort, self.lowering)),
                )
            case rl.Aggregate() if not any(same.grouping_sets) and same.measures:
                # Engines move conditions without a column, or that turn out to have none, to the input, and the one
                # row comes out of no rows, too. They do not move them through a fetch.
                return (("one-row", lambda aggregate: rl.Fetch(aggregate, number(1), None)),)
            case rl.Set(op="union_all" | "union_distinct"):
                return (("union-names", _project_inputs),)
            case rl.Filter():
                return (("null-keys", lambda rel: _without_null_keys(rel, self.lowering)),)
            case rl.Join():
                return (
                    ("null-keys", lambda rel: _without_null_keys(rel, self.lowering)),
                    ("one-sided-key", _with_keys_of_both_sides),
                )
            case ex.Cast():
                return (("cast-digits", _without_loss),)
            case _:
                return ()

    def _steps_of_project(self, project: rl.Project) -> Sequence[Step]:
        typed: Sequence[Step] = (("window-type", _with_signed_windows), (None, _with_key_columns))
        if not outermost_windows(project):
            return typed
        twice: Sequence[Step] = (("window-twice", _with_computed_windows),) if self.has_several_windows else ()
        return (
            ("outer-constants", lambda rel: _windows_without_constants(rel, self.constants)),
            ("union-order", lambda rel: _collect_into_one_part(rel, self.lowering)),
            *twice,
            *typed,
        )


def _project_inputs(union: rl.Set) -> rl.Set:
    """Make projections of the inputs of a union, but for the first one."""
    first, *others = union.relations
    named = (first, *map(_as_projection, others))
    is_same = all(one is other for one, other in zip(named, union.relations, strict=True))
    return union if is_same else attrs.evolve(union, relations=named)


def _without_loss(cast: ex.Cast) -> ex.Expression:
    """Hide a cast that loses digits. Raises `UnsupportedError` for a cast to a struct with required fields."""
    # Engines take what they compute for nullable, and cast no struct to one with other fields.
    if isinstance(cast.target, t.Struct) and not all(type_.nullable for type_ in cast.target.types):
        raise UnsupportedError(f"the engine makes no {cast.target} of another struct")
    return _hide_cast(cast) if _loses_digits(cast.input.type, cast.type) else cast


def _collect_into_one_part(project: rl.Project, lowering: Lowering) -> rl.Project:
    """Put all rows below a projection of window functions into one part, if they are sorted by computed keys."""
    source = _as_one_part(project.input, _window_keys(project), lowering)
    return project if source is project.input else attrs.evolve(project, input=source)


def _window_keys(project: rl.Project) -> list[ex.Expression]:
    """Return the partition and sort keys of the window functions of a projection."""
    windows = outermost_windows(project)
    return [key for each in windows for key in (*each.partitions, *(sort.expression for sort in each.sorts))]


def _loses_digits(source: t.Type, target: t.Type) -> bool:
    """Whether a cast of numbers loses digits of some values."""
    if source.as_required() == target.as_required():
        return False
    most, least = _digits(source, 0), _digits(target, 1)
    return most is not None and least is not None and (least[0] < most[0] or least[1] < most[1])


def _digits(type_: t.Type, partial: int) -> tuple[int, int] | None:
    """Return the digits of a number type before and behind the point.

    An integer has `partial` digits fewer than the largest of its type.
    """
    match type_:
        case t.I8() | t.I16() | t.I32() | t.I64():
            return DIGITS[type(type_)] - partial, 0
        case t.Decimal(precision=precision, scale=scale):
            return precision - scale, scale
        case _:
            return None


DIGITS: Mapping[type[t.Type], int] = {t.I8: 3, t.I16: 5, t.I32: 10, t.I64: 19}
"""The number of digits of the largest integers."""


def _hide_cast(cast: ex.Cast) -> ex.Expression:
    """Wrap a cast in a conditional with the cast as both values.

    Engines compare its input with constants, as if the cast lost nothing: 2.50 as an integer is not 2.
    """
    type_ = cast.input.type.as_required()
    zero = ex.Literal(Decimal(0) if isinstance(type_, t.Decimal) else 0, type_)
    return case_when([(call("comparison", "equal", cast.input, zero), cast)], cast)


def _with_hidden_keys(groups: rl.Aggregate | rl.Set, lowering: Lowering) -> Rel:
    """Wrap the keys of groups in conditionals, so that the engine does not know them to be the keys."""
    width = len(groups.keys) if isinstance(groups, rl.Aggregate) else len(groups.schema)
    keys = [case_when([(opaque_false(lowering), key)], key) for key in columns(groups, range(width))]
    return project_only(groups, [*keys, *columns(groups, range(width, len(groups.schema)))], groups.schema.names)


def _with_key_columns(project: rl.Project) -> Rel:
    """Compute the window keys that access struct fields as columns of a projection below.

    Engines compute such a key in place, and so do not find the rows in its order.
    """
    field_keys = list(dict.fromkeys(key for key in _window_keys(project) if accesses_field(key)))
    if not field_keys:
        return project
    width = len(project.input.schema)
    source = with_columns(project.input, *field_keys, name="key")
    key_columns = {key: column(source, width + number) for number, key in enumerate(field_keys)}

    def replace_keys(node: Node) -> Node:
        if not isinstance(node, ex.WindowFunction):
            return node
        sorts = tuple(ex.SortKey(key_columns.get(key.expression, key.expression), key.direction) for key in node.sorts)
        return ex.WindowFunction(node.call, tuple(key_columns.get(each, each) for each in node.partitions), sorts)

    expressions = tuple(rebuild(each, replace_keys, into_relations=False) for each in project.expressions)
    computed = attrs.evolve(project, input=source, expressions=expressions)
    inner = len(source.schema)
    return rl.emit(computed, [*range(width), *range(inner, inner + len(expressions))])


def _with_computed_windows(project: rl.Project) -> rl.Project:
    """Wrap window functions in computed values.

    Engines name a column after its window function, and refuse the same one over an input that has it.
    """
    return attrs.evolve(
        project,
        expressions=tuple(
            call("comparison", "coalesce", each, each) if isinstance(each, ex.WindowFunction) else each
            for each in project.expressions
        ),
    )


UNSIGNED = ("row_number", "rank", "dense_rank", "ntile")
"""Window functions that DataFusion computes as unsigned integers, which with others become decimals."""


def _with_signed_windows(project: rl.Project) -> rl.Project:
    """Cast window functions to their types."""

    def change(node: Node) -> Node:
        is_unsigned = isinstance(node, ex.WindowFunction) and node.call.function.standard_name in UNSIGNED
        return ex.Cast(node, node.type) if isinstance(node, ex.WindowFunction) and is_unsigned else node

    if not any(each.call.function.standard_name in UNSIGNED for each in outermost_windows(project)):
        return project
    expressions = tuple(rebuild(each, change, into_relations=False) for each in project.expressions)
    return attrs.evolve(project, expressions=expressions)


def _without_constants(sort: rl.Sort, constants: Constants) -> rl.Sort:
    keys = [no_constant(key.expression, sort.input, constants) for key in sort.keys]
    if all(key is each.expression for key, each in zip(keys, sort.keys, strict=True)):
        return sort
    return attrs.evolve(
        sort, keys=tuple(ex.SortKey(key, each.direction) for key, each in zip(keys, sort.keys, strict=True))
    )


def _windows_without_constants(project: rl.Project, constants: Constants) -> rl.Project:
    source = project.input

    def without(value: ex.Expression) -> ex.Expression:
        if not isinstance(value, ex.WindowFunction):
            return value
        sorts = [ex.SortKey(no_constant(key.expression, source, constants), key.direction) for key in value.sorts]
        partitions = [no_constant(each, source, constants) for each in value.partitions]
        changed = attrs.evolve(value, partitions=tuple(partitions), sorts=tuple(sorts))
        return value if changed == value else changed

    expressions = tuple(map(without, project.expressions))
    is_same = all(one is other for one, other in zip(expressions, project.expressions, strict=True))
    return project if is_same else attrs.evolve(project, expressions=expressions)


def _sort_by_columns(sort: rl.Sort, lowering: Lowering) -> Rel:
    """Sort by columns, above a projection of the computed keys.

    In keys engines take an expression for a column of the same name, such as the condition of a filter below, or the
    constant that the first input of a union has for the column.
    """
    computed = [key.expression for key in sort.keys if not isinstance(key.expression, ex.FieldReference)]
    if not computed:
        return sort
    width = len(sort.input.schema)
    source = with_columns(_as_one_part(sort.input, computed, lowering), *computed, name="key")
    places = iter(range(width, width + len(computed)))
    keys = tuple(
        key
        if isinstance(key.expression, ex.FieldReference)
        else ex.SortKey(column(source, next(places)), key.direction)
        for key in sort.keys
    )
    return first_columns(rl.Sort(source, keys), width)


def _as_one_part(rel: Rel, keys: Sequence[ex.Expression], lowering: Lowering) -> Rel:
    """Return the input of a sort; a union below computed keys under a fetch of all rows.

    Engines sort the inputs of a union, remove keys that are constants there, and take the result for unsorted.
    """
    if all(isinstance(key, ex.FieldReference) for key in keys):
        return rel
    inner = lowering.find_below(rel, (rl.Emit, rl.Project, rl.Filter, rl.Sort))
    is_union = isinstance(inner, rl.Set) and inner.op == "union_all"
    return rl.Fetch(rel, number(MAX_ROW), None) if is_union else rel


def _as_projection(rel: Rel) -> Rel:
    """Return a relation that is a projection.

    Engines give the columns of such an input of a union the names of those of the first input. Columns of others have
    none, and fail when a condition on the union is pushed down to its inputs.
    """
    return rel if isinstance(rel, rl.Emit | rl.Project) else project_only(rel, columns(rel), rel.schema.names)


def _with_keys_of_both_sides(join: rl.Join) -> rl.Join:
    """Hide equalities of two columns of one input, which engines take for a key of both."""
    width = len(join.left.schema)
    tests = tuple(conjuncts(join.condition))
    changed = tuple(
        call("comparison", "coalesce", test, FALSE) if _is_of_one_side(test, width) else test for test in tests
    )
    return join if changed == tests else attrs.evolve(join, condition=conjunction(changed))


def _without_null_keys(rel: _Conditional, lowering: Lowering) -> _Conditional:
    """Rewrite comparisons in which NULL equals NULL in the condition of a filter or a join."""
    condition = with_equalities(rel.condition, lowering)
    return rel if condition is rel.condition else attrs.evolve(rel, condition=condition)


def _is_of_one_side(test: ex.Expression, width: int) -> bool:
    match test:
        case ex.ScalarFunction(arguments=(ex.FieldReference(position=one), ex.FieldReference(position=other))):
            is_equality = test.function.standard_name in ("equal", "is_not_distinct_from")
            return is_equality and (one < width) == (other < width)
        case _:
            return False
