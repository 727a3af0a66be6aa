"""Rows for the parts of a value: the elements of a collection, the attributes of a struct.

A list of any length is a column, whose elements an unnest turns into rows. Known parts are the copies that an expand
makes of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.references import StructField
from substrait_dsl.algebra.relations import Expand, Filter, Project, SwitchingField, Unnest
from substrait_dsl.errors import EvaluationError, UnsupportedError
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.calls import call, cast, comparison_class_of_type
from substrait_dsl.partiql.collected_lists import element_of
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.extension_catalog import own_call
from substrait_dsl.partiql.functions import common_type
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lateral import ONE_ROW
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredCollection, constants
from substrait_dsl.partiql.null_and_missing import absent_where, fail_where, is_true
from substrait_dsl.partiql.untyped import is_dynamic, values_of_dynamic
from substrait_dsl.partiql.values import MISSING, Bag


def elements(lowered: lv.LoweredValue) -> LoweredCollection:
    """Return the elements of a collection as rows beside its row; another value is its only element."""
    match lowered:
        case lv.Column() if is_dynamic(lowered):
            return _iterate_dynamic(lowered)
        case lv.Column(expression=lists) if isinstance(lists.type, t.List):
            return _iterate_list(lowered, lists.type)
        case lv.Constant(value=value):
            return constants(value)
        case lv.CollectedList(column=column, element=element, collection_type=collection_type):
            if column.type.nullable:
                raise UnsupportedError("a scan of a group that may be null is not lowered to Substrait")
            rel = Unnest(Project(ONE_ROW, (column.expression,), ("group",)), 0)
            item, offset = (ex.FieldReference(position, rel.schema.types[position]) for position in (1, 2))
            return _with_index(LoweredBindings(rel, collection_type, {}), element_of(element, item), offset)
        case lv.NullableComposite(parts=lv.ElementList()):
            raise UnsupportedError("a scan of a collection that may be null is not lowered to Substrait")
        case lv.ElementList(collection_type=collection_type, items=()):
            return constants(() if collection_type == "list" else Bag())
        case lv.ElementList(collection_type=collection_type, items=items):
            copies = _Copies()
            element = copies.merge(items)
            ordinal = copies.column([ex.literal(number, t.I64()) for number in range(len(items))])
            return _with_index(LoweredBindings(copies.rel, collection_type, {}), element, ordinal)
        case _:
            return LoweredCollection(LoweredBindings(ONE_ROW, "bag", {}), lowered)


def _with_index(rows: LoweredBindings, element: lv.LoweredValue, ordinal: ex.FieldReference) -> LoweredCollection:
    """Return elements with the column of their index; those of a bag have none."""
    if rows.collection_type == "bag":
        return LoweredCollection(rows, element)
    order = (ex.SortKey(ordinal, "asc_nulls_first"),)
    return LoweredCollection(LoweredBindings(rows.rel, rows.collection_type, {}, order), element, ordinal)


def _iterate_list(column: lv.Column, type_: t.List) -> LoweredCollection:
    """Return the elements of a column of lists. A list that is null or missing is its only element."""
    lists = column.expression
    if not type_.nullable:
        rel = Unnest(Project(ONE_ROW, (lists,), ("list",)), 0)
        element, offset = (ex.FieldReference(position, rel.schema.types[position]) for position in (1, 2))
        return _with_index(LoweredBindings(rel, "list", {}), lv.Column(element), offset)
    inside = type_.element.as_nullable()
    is_null = call("is_null", lists)
    itself = ex.NestedList((ex.literal(None, inside),))
    filled = ex.IfThen((ex.IfClause(is_null, itself),), cast(lists, t.List(inside)))
    rel = Unnest(Project(ONE_ROW, (filled,), ("list",)), 0)
    absent = absent_where(column.missing) if type_.element.nullable else column.absent  # an element may be null itself
    rows = LoweredBindings(rel, None, {})
    place = ex.IfThen((ex.IfClause(is_null, ex.literal(None, t.I64(nullable=True))),), ex.FieldReference(2, t.I64()))
    rows, (ordinal,) = rows.with_columns(("at", place))
    return _with_index(rows, lv.Column(ex.FieldReference(1, inside), absent), ordinal)


def _iterate_dynamic(column: lv.Column) -> LoweredCollection:
    """Return the elements of a dynamic value: a list in some rows; any other value is its only element."""
    (value,) = values_of_dynamic([column])
    parts = (own_call("elements", value), own_call("is_list", value))
    rel = Unnest(Project(ONE_ROW, parts, ("list", "is_list")), 0)
    is_list, element, offset = (ex.FieldReference(position, rel.schema.types[position]) for position in (1, 2, 3))
    place = ex.IfThen((ex.IfClause(is_list, cast(offset, t.I64())),), ex.literal(None, t.I64(nullable=True)))
    rows, (ordinal,) = LoweredBindings(rel, None, {}).with_columns(("at", place))
    return _with_index(rows, lv.Column(element, "missing"), ordinal)


def attributes(lowered: lv.LoweredValue, mode: Mode) -> tuple[LoweredBindings, lv.LoweredValue, lv.LoweredValue]:
    """Return the attributes of a struct as rows beside its row: row, values and names.

    Another value counts as a struct of one attribute, and missing as one of none; in strict mode it is an error.
    """
    if isinstance(lowered, lv.Column) and is_dynamic(lowered):
        return _attributes_of_dynamic(lowered, mode)
    struct = lv.split_struct(lowered)
    if isinstance(struct, lv.Column) and isinstance(struct.type, t.Map):
        raise UnsupportedError(f"an unpivot of a {struct.type} is not lowered to Substrait")
    if isinstance(struct, lv.NullableComposite | lv.CollectedList):
        raise UnsupportedError("an unpivot of a value that may be null, or of a group, is not lowered to Substrait")
    if not isinstance(struct, lv.Attributes):
        if mode == "strict":
            raise EvaluationError("unpivot: a value that is not a struct")
        struct = lv.Attributes((("_1", struct),))
    fields = [(name, value) for name, value in struct.fields if value != lv.NOTHING]
    if not fields:
        return constants(Bag()).source, lv.NOTHING, lv.NOTHING
    copies = _Copies()
    value = copies.merge([value for _, value in fields])
    name = copies.column([ex.literal(name, t.String()) for name, _ in fields])
    missing = [inside.missing if isinstance(inside, lv.Column) else None for _, inside in fields]
    if not any(missing):
        return LoweredBindings(copies.rel, "bag", {}), value, lv.Column(name)
    is_present = copies.column([_true() if one is None else is_true(call("not", one)) for one in missing])
    return LoweredBindings(Filter(copies.rel, is_present), "bag", {}), value, lv.Column(name)


def _attributes_of_dynamic(column: lv.Column, mode: Mode) -> tuple[LoweredBindings, lv.LoweredValue, lv.LoweredValue]:
    (value,) = values_of_dynamic([column])
    pairs = own_call("attributes", value)
    if mode == "strict":
        pairs = fail_where(pairs, call("not", own_call("is_struct", value)), "unpivot: a value that is not a struct")
    rel = Unnest(Project(ONE_ROW, (pairs,), ("attributes",)), 0)
    pair = ex.FieldReference(1, rel.schema.types[1])
    name, inside = (lv.Column(ex.FieldAccess(pair, StructField(number)), "missing") for number in range(2))
    return LoweredBindings(rel, "bag", {}), inside, name


class _Copies:
    """Copies of a row, one for each part of a value, and their columns."""

    def __init__(self) -> None:
        self.fields: list[SwitchingField] = []

    @property
    def rel(self) -> Expand:
        """Return the expanded row."""
        names = (*("part" for _ in self.fields), "copy")
        return Expand(ONE_ROW, tuple(self.fields), names)

    def column(self, values: Sequence[ex.Expression]) -> ex.FieldReference:
        """Add a column with a value for each copy, all of one type."""
        self.fields.append(SwitchingField(tuple(values)))
        type_ = values[0].type.with_nullability(any(value.type.nullable for value in values))
        return ex.FieldReference(len(self.fields) - 1, type_)

    def merge(self, parts: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
        """Return the value that has these parts in the copies. Raises `UnsupportedError` without a common type.

        Raises `UnsupportedError` for values that no typed columns hold.
        """
        found = [lv.expand_constant(part) for part in parts]
        if all(part == lv.NOTHING for part in found):
            return lv.NOTHING
        structs = [part for part in found if isinstance(part, lv.Attributes)]
        if len(structs) == len(found):
            return self._struct(structs)
        lists = [part for part in found if isinstance(part, lv.ElementList)]
        if len(lists) == len(found) and len({(part.collection_type, len(part.items)) for part in lists}) == 1:
            items = zip(*(part.items for part in lists), strict=True)
            return lv.ElementList(lists[0].collection_type, tuple(self.merge(each) for each in items))
        scalars = [part for part in found if isinstance(part, lv.Column | lv.Constant)]
        if len(scalars) < len(found):
            raise UnsupportedError("rows for a struct or collection and for other values are not lowered to Substrait")
        return self._scalar(scalars)

    def _struct(self, structs: Sequence[lv.Attributes]) -> lv.LoweredValue:
        names = [tuple(name for name, _ in struct.fields) for struct in structs]
        if len(set(names)) == 1:
            values = zip(*([value for _, value in struct.fields] for struct in structs), strict=True)
            return lv.Attributes(tuple((name, self.merge(each)) for name, each in zip(names[0], values, strict=True)))
        if any(len(set(some)) < len(some) for some in names):
            raise UnsupportedError("structs that repeat names, and differ in them, have no columns in common")
        known = [dict(struct.fields) for struct in structs]
        every = dict.fromkeys(name for some in names for name in some)
        return lv.Attributes(
            tuple((name, self.merge([struct.get(name, lv.NOTHING) for struct in known])) for name in every)
        )

    def _scalar(self, parts: Sequence[lv.Column | lv.Constant]) -> lv.Column:
        """Return a column of these values; a second column tells null from missing, where both occur."""
        known = [_known_type(part) for part in parts]
        known_types = [type_ for type_ in known if type_ is not None]
        type_ = reduce(_common, known_types) if known_types else t.Boolean()
        columns: list[lv.Column] = []
        for part, own in zip(parts, known, strict=True):
            if own is None:
                absent = part.absent if isinstance(part, lv.Column) else "missing" if part.value is MISSING else "null"
                columns.append(lv.Column(ex.literal(None, type_.as_nullable()), absent))
            elif isinstance(part, lv.Constant):
                columns.append(lv.Column(cast(to_literal(part.value), type_)))
            else:
                columns.append(lv.Column(cast(part.expression, type_), part.absent))
        merged = self.column([column.expression for column in columns])
        stands_for = {column.absent for column in columns if column.type.nullable}
        if stands_for <= {"null"} or stands_for == {"missing"}:
            return lv.Column(merged, next(iter(stands_for), "null"))
        missing = [column.missing for column in columns]
        return lv.Column(merged, self.column([_false() if one is None else is_true(one) for one in missing]))


def _known_type(part: lv.Column | lv.Constant) -> t.Type | None:
    """Return the type of a value; None if it is always absent."""
    if isinstance(part, lv.Column):
        is_null = isinstance(part.expression, ex.Literal) and part.expression.value is None
        return None if is_null else part.type.as_required()
    return None if part.value is None or part.value is MISSING else to_literal(part.value).type.as_required()


def _common(a: t.Type, b: t.Type) -> t.Type:
    """Return the type of a column that holds the values of both types unchanged."""
    if a == b:
        return a
    if isinstance(a, t.INTEGER_TYPES) and isinstance(b, t.INTEGER_TYPES):
        return t.I64()
    if comparison_class_of_type(a) == comparison_class_of_type(b) == "text":
        return t.String()
    if isinstance(a, t.Decimal) and isinstance(b, t.Decimal) and (decimal := common_type(a, b)) is not None:
        return decimal
    raise UnsupportedError(f"rows for parts of several types, {a} and {b}, which a typed column cannot hold")


def _false() -> ex.Expression:
    return ex.literal(False, t.Boolean())


def _true() -> ex.Expression:
    return ex.literal(True, t.Boolean())
