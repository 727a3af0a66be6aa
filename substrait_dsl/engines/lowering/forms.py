"""Relations in the forms that an engine takes, where it takes few.

`lower_plan` gives a plan of reads, filters, projections, sorts, fetches, aggregates, sets and joins without subqueries.
An engine whose profile has ``forms`` takes less: emits only as projections of all columns, joins of some types,
aggregates of columns. Here each relation becomes one, or several, of such a form.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, FieldReference, Literal, SortKey
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.rules import JoinType, SetOp
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.engines.lowering.calls import to_form
from substrait_dsl.engines.lowering.context import Lowering, NodeLocation
from substrait_dsl.engines.lowering.groups import form_aggregate
from substrait_dsl.engines.lowering.known_types import union_of_columns
from substrait_dsl.engines.lowering.pairs import form_join
from substrait_dsl.engines.lowering.semi_joins import form_semi_join, is_wrong_semi_join
from substrait_dsl.engines.lowering.shown import merge_filter, merge_projection
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    TRUE,
    call,
    case_when,
    column,
    columns,
    conjunction,
    equal,
    is_null,
    number,
    project_only,
    same,
    shift_fields,
)
from substrait_dsl.engines.lowering.values_by_functions import Carrier, carrier_of
from substrait_dsl.errors import SubstraitDslError, class_words

ZERO = number(0, t.I64())


def bring_to_forms(top: Rel, lowering: Lowering, original: Rel) -> Rel:
    """Return a relation with the same rows in the forms of the engine; nodes without a form are recorded as refused.

    Args:
        top: the relation, which is lowered.
        lowering: the state of lowering the plan, whose profile has forms.
        original: the relation that was lowered, for the place of what is refused.
    """
    done: dict[int, Rel] = {}
    stack: list[tuple[Rel, bool]] = [(top, False)]
    while stack:
        rel, is_ready = stack.pop()
        if id(rel) in done:
            continue
        if not is_ready:
            stack.append((rel, True))
            stack += ((child, False) for child in rel.inputs)
            continue
        if is_wrong_semi_join(rel, lowering):
            lowering.misread.append(("semi-join", NodeLocation(original, lowering.origin(rel) or original)))
        try:
            done[id(rel)] = _form(rel, [done[id(child)] for child in rel.inputs], lowering)
        except SubstraitDslError as error:
            lowering.refusals.append(
                lowering.refusal_of(error, NodeLocation(original, lowering.origin(rel) or original))
            )
            done[id(rel)] = rl.Read(rel.schema, rl.NamedTable(("refused",)))
    return done[id(top)]


def _form(rel: Rel, inputs: Sequence[Rel], lowering: Lowering) -> Rel:
    match rel:
        case rl.Read():
            return _read(rel, lowering)
        case rl.Filter(condition=condition):
            return merge_filter(inputs[0], to_form(condition, lowering), lowering)
        case rl.Project(expressions=expressions):
            values = [*columns(inputs[0]), *(to_form(each, lowering) for each in expressions)]
            return merge_projection(inputs[0], values, rel.schema.names, lowering)
        case rl.Emit(mapping=mapping):
            return merge_projection(inputs[0], columns(inputs[0], mapping), rel.schema.names, lowering)
        case rl.Sort(keys=keys):
            by = [
                SortKey(to_form(each.expression, lowering), each.direction) for each in _with_nan_keys(keys, lowering)
            ]
            return _sort(_separate_from_join(inputs[0], lowering), by, lowering)
        case rl.Fetch(count=count, offset=offset):
            if lowering.profile.has_form("counts_of_32_bits"):
                _require_small((count, offset or ZERO), lowering)
            return rl.Fetch(_sort_unordered(_separate_from_join(inputs[0], lowering), lowering), count, offset)
        case rl.Aggregate():
            return form_aggregate(rel, inputs[0], lowering)
        case rl.Set(op=op):
            return _set(op, inputs, rel, lowering)
        case rl.Cross():
            return form_join(rl.Join(inputs[0], inputs[1], "inner", TRUE), lowering)
        case rl.Join(how=how, condition=condition):
            join = rl.Join(inputs[0], inputs[1], how, condition)
            return form_semi_join(join, lowering) if is_wrong_semi_join(join, lowering) else form_join(join, lowering)
        case _:
            raise lowering.refusal(class_words(rel))


def _require_small(numbers: Sequence[Expression | None], lowering: Lowering) -> None:
    """Refuse a fetch without a count, which is written as the largest number, and numbers of more than 32 bits."""
    for each in numbers:
        if not isinstance(each, Literal) or each.value is None or each.value >= 2**31:
            raise lowering.refusal("a fetch without a count, or of more than 2^31 - 1 rows,")


def _read(rel: rl.Read, lowering: Lowering) -> Rel:
    match rel.definition:
        case rl.NamedTable(names):
            if len(names) > 1 and lowering.profile.has_form("names_of_one_part"):
                raise lowering.refusal("a table whose name has several parts")
            return rel
        case rl.VirtualTable(rows):
            if not lowering.profile.takes("relations", "READ", "VIRTUAL_TABLE"):
                raise lowering.refusal("a table of rows in the plan")
            if lowering.profile.has_form("texts_of_latin_1") or lowering.profile.has_form("floats_of_digits"):
                for cell in (cell for row in rows for cell in row.fields):
                    to_form(cell, lowering)
            return _rows(rel, rows, lowering) if lowering.profile.has_form("rows_of_bare_literals") else rel
        case _:
            raise lowering.refusal_of_read(rel.definition)


def _rows(rel: rl.Read, rows: Sequence[rl.Record], lowering: Lowering) -> Rel:
    """Return a virtual table whose columns are cast above it, and which always has a row."""
    if not rel.schema.fields:
        raise lowering.refusal("rows without columns")
    cells = [list(row.fields) for row in rows]
    if not all(isinstance(cell, Literal) for row in cells for cell in row):
        raise lowering.refusal("rows of computed values")
    types = rel.schema.types
    carriers = [carrier_of(type_, lowering) for type_ in types]
    bare = [
        carrier.type if carrier is not None else t.I32() if isinstance(type_, t.I16) else type_
        for type_, carrier in zip(types, carriers, strict=True)
    ]
    values = [[_bare(*each) for each in zip(row, bare, carriers, strict=True)] for row in cells]
    literals = values or [[Literal(None, type_.as_nullable()) for type_ in bare]]
    names = rel.schema.names
    fields = tuple(
        Field(name, type_.as_nullable() if any(row[n].value is None for row in literals) else type_)
        for n, (name, type_) in enumerate(zip(names, bare, strict=True))
    )
    table = rl.Read(NamedStruct(fields), rl.VirtualTable(tuple(rl.Record(tuple(row)) for row in literals)))
    source: Rel = table if values else rl.Filter(table, FALSE)
    typed = [_cast_cell(each, type_, lowering) for each, type_ in zip(columns(source), types, strict=True)]
    return merge_projection(source, typed, names, lowering)


def _bare(cell: Expression, type_: t.Type, carrier: Carrier | None) -> Literal:
    assert isinstance(cell, Literal)
    value = cell.value if carrier is None or cell.value is None else carrier.encode(cell.value)
    return Literal(value, type_.as_nullable() if cell.value is None else type_.as_required())


def _cast_cell(cell: Expression, type_: t.Type, lowering: Lowering) -> Expression:
    """Cast a column of a virtual table to its type: a NULL in it changed the type of the cells."""
    carrier = carrier_of(type_, lowering)
    if carrier is not None:
        return carrier.compute(Cast(cell, carrier.type.with_nullability(type_.nullable)), type_)
    if lowering.profile.casts_to(type_):
        return Cast(cell, type_)
    if isinstance(type_, t.I8 | t.FP32) and not cell.type.nullable:
        return cell
    raise lowering.refusal(f"rows in the plan with NULL of {type_}")


def _with_nan_keys(keys: Sequence[SortKey], lowering: Lowering) -> list[SortKey]:
    """Return sort keys, with a test for NaN before each one that the engine would sort beside NULL."""
    extended: list[SortKey] = []
    for key in keys:
        if isinstance(key.expression.type, t.FP32 | t.FP64) and lowering.profile.has_form("nans_beside_nulls"):
            extended.append(SortKey(call("comparison", "is_nan", key.expression), key.direction))
        extended.append(key)
    return extended


def _separate_from_join(rel: Rel, lowering: Lowering) -> Rel:
    """Put a projection between a sort or fetch and a join, or filters of one.

    DuckDB makes a join, and the filters above it, one SELECT with the projection, the filter or the aggregate above: so
    a filter above a fetch would choose among the rows below it, and a sort be by the columns of the projection.
    """
    if not lowering.profile.has_form("sorts_above_projections"):
        return rel
    is_join = isinstance(lowering.find_below(rel, (rl.Filter, rl.Sort, rl.Fetch)), rl.Join | rl.Cross)
    return project_only(rel, columns(rel), rel.schema.names) if is_join else rel


def _sort_unordered(rel: Rel, lowering: Lowering) -> Rel:
    """Sort a relation below a fetch where it has no order: Acero takes no rows of an unordered one."""
    if not lowering.profile.has_form("fetches_of_ordered_rows"):
        return rel
    if isinstance(lowering.find_below(rel, (rl.Filter, rl.Fetch, rl.Project, rl.Emit)), rl.Sort | rl.Read):
        return rel
    return rl.Sort(rel, (SortKey(column(rel, 0), "asc_nulls_first"),))


def _sort(child: Rel, keys: Sequence[SortKey], lowering: Lowering) -> Rel:
    """Sort by columns."""
    if all(isinstance(key.expression, FieldReference) for key in keys):
        return rl.Sort(child, tuple(keys))
    width, names = len(child.schema), child.schema.names
    below = merge_projection(
        child,
        [*columns(child), *(key.expression for key in keys)],
        [*names, *(f"key{n}" for n in range(len(keys)))],
        lowering,
    )
    by = tuple(SortKey(each, key.direction) for each, key in zip(columns(below)[width:], keys, strict=True))
    ordered = rl.Sort(below, by)
    return merge_projection(ordered, columns(ordered, range(width)), names, lowering)


# --- set operations


def _set(op: SetOp, inputs: Sequence[Rel], rel: rl.Set, lowering: Lowering) -> Rel:
    """Lower a set operation; where the engine lacks it, by unions, aggregates and joins."""
    if lowering.profile.takes("relations", "SET", op.upper()):
        return union_of_columns(inputs, lowering) if op == "union_all" else rl.Set(tuple(inputs), op)
    first, *others = inputs
    width = len(first.schema)
    match op:
        case "union_all":
            return _union(inputs, rel, lowering)
        case "union_distinct":
            union = _set("union_all", inputs, rel, lowering)
            return _cast_columns(form_aggregate(_all_keys(union), union, lowering), rel, lowering)
        case "minus_primary" | "intersection_primary" | "intersection_multiset" if len(others) == 1:
            rows = form_aggregate(_all_keys(first), first, lowering)
            tests = [
                same(one, shift_fields(other, width))
                for one, other in zip(columns(rows), columns(others[0]), strict=True)
            ]
            how: JoinType = "left_anti" if op == "minus_primary" else "left_semi"
            return _cast_columns(form_join(rl.Join(rows, others[0], how, conjunction(tests)), lowering), rel, lowering)
        case _:
            raise lowering.refusal(f"a set operation {op}")


def _all_keys(rel: Rel) -> rl.Aggregate:
    return rl.Aggregate(rel, columns(rel), (tuple(range(len(rel.schema))),), (), rel.schema.names)


def _union(inputs: Sequence[Rel], rel: rl.Set, lowering: Lowering) -> Rel:
    """Return all rows of several inputs: pairwise outer joins in which no row has a match."""
    level = list(inputs)
    while len(level) > 1:
        pairs = [_union_of_two(level[n], level[n + 1], rel, lowering) for n in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def _union_of_two(left: Rel, right: Rel, rel: rl.Set, lowering: Lowering) -> Rel:
    width, names = len(rel.schema), rel.schema.names
    sides = [
        merge_projection(side, [*columns(side), number(n, t.I32())], [*names, "side"], lowering)
        for n, side in enumerate((left, right))
    ]
    ends = [column(side, width) for side in sides]
    joined = form_join(rl.Join(sides[0], sides[1], "outer", equal(ends[0], shift_fields(ends[1], width + 1))), lowering)
    is_right = is_null(column(joined, width))
    values = [
        _cast_set_column(case_when([(is_right, column(joined, width + 1 + n))], column(joined, n)), type_, lowering)
        for n, type_ in enumerate(rel.schema.types)
    ]
    return merge_projection(joined, values, names, lowering)


def _cast_set_column(value: Expression, type_: t.Type, lowering: Lowering) -> Expression:
    return value if value.type == type_ else to_form(Cast(value, type_), lowering)


def _cast_columns(source: Rel, rel: Rel, lowering: Lowering) -> Rel:
    """Cast the columns to the types of a relation."""
    values = [
        _cast_set_column(each, type_, lowering) for each, type_ in zip(columns(source), rel.schema.types, strict=True)
    ]
    return merge_projection(source, values, rel.schema.names, lowering)
