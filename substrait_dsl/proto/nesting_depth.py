"""Message levels of nodes: from each node to its children, and of its own fields."""

from __future__ import annotations

from itertools import chain
from typing import assert_never

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.properties import NO_PROPERTIES
from substrait_dsl.proto.shallow_plans import FLAT_TYPES, MAX_NESTING

LEVELS: dict[type[Node], int] = {
    # relations: Rel, FilterRel, and its fields
    rl.Read: 2,
    rl.Filter: 2,
    rl.Sort: 2,
    rl.Project: 2,
    rl.Emit: 0,
    rl.Fetch: 2,
    rl.Aggregate: 2,
    rl.Set: 2,
    rl.Join: 2,
    rl.Cross: 2,
    rl.LateralJoin: 2,
    rl.HashJoin: 2,
    rl.MergeJoin: 2,
    rl.NestedLoopJoin: 2,
    rl.Exchange: 2,
    rl.MergingCapture: 2,
    rl.SimpleCapture: 2,
    rl.TopN: 2,
    rl.Window: 2,
    rl.Expand: 2,
    rl.Unnest: 2,
    rl.Write: 2,
    rl.Update: 2,
    rl.Ddl: 2,
    rl.ExtensionLeaf: 2,
    rl.ExtensionSingle: 2,
    rl.ExtensionMulti: 2,
    # expressions: Expression, ScalarFunction, FunctionArgument, Expression
    ex.FieldReference: 2,
    ex.FieldAccess: 2,
    ex.Literal: 1,
    ex.ScalarFunction: 3,
    ex.Cast: 2,
    ex.IfThen: 2,
    ex.Switch: 2,
    ex.SingularOrList: 2,
    ex.MultiOrList: 2,
    ex.ScalarSubquery: 3,
    ex.InPredicate: 3,
    ex.SetPredicate: 3,
    ex.SetComparison: 3,
    ex.MaskedReference: 2,
    ex.WindowFunction: 2,
    ex.NestedStruct: 3,
    ex.NestedList: 3,
    ex.NestedMap: 3,
    ex.Lambda: 2,
    ex.LambdaInvocation: 3,
    ex.DynamicParameter: 2,
    ex.ExecutionContextVariable: 2,
    # the parts of both
    rl.VirtualTable: 1,
    rl.Record: 1,
    rl.JoinKey: 1,
    rl.Scatter: 1,
    rl.SingleBucket: 1,
    rl.MultiBucket: 1,
    rl.RoundRobin: 1,
    rl.Broadcast: 1,
    rl.SwitchingField: 2,
    rl.ConsistentField: 1,
    rl.Transformation: 1,
    ex.SortKey: 1,
    ex.Measure: 1,
    ex.AggregateFunction: 2,
    ex.IfClause: 1,
    ex.SwitchCase: 1,
    ex.OrListRecord: 1,
    ex.WindowCall: 2,
    ex.Bound: 2,
    ex.MapEntry: 1,
}
"""The maximal number of levels from the message of a node to those of its children."""

_FLAT_LEVELS = 2  # Type, Type.I64
_CHOICES_LEVELS = 20  # Rel, ReadRel, RelCommon, AdvancedExtension, Any; and in JSON the message in it, however it nests
LEAF_LEVELS = 4  # Expression, FieldReference, ReferenceSegment, StructField; Rel, FilterRel, RelCommon, Emit

_PLAIN = frozenset(
    (
        ex.FieldReference,
        ex.FieldAccess,
        ex.IfThen,
        rl.Filter,
        rl.Project,
        rl.Emit,
        rl.Sort,
        rl.Fetch,
        rl.Join,
        rl.Cross,
        rl.Set,
    )
)
"""The commonest nodes without types and messages of their own."""


SIMPLE_LEVELS = LEVELS[ex.ScalarFunction] + LEAF_LEVELS


def is_simple(node: Node) -> bool:
    """Whether this is a call with leaf arguments and types that are not nested.

    Most expressions are; they take `SIMPLE_LEVELS`, and need no visit.
    """
    if type(node) is not ex.ScalarFunction or node.height > 2 or type(node.output_type) not in FLAT_TYPES:
        return False
    for argument in node.arguments:
        if not isinstance(argument, ex.Expression) or type(argument.type) not in FLAT_TYPES:
            return False
    return True


class OwnLevels:
    """The levels of nodes by themselves; those of types are cached, which plans repeat."""

    def __init__(self) -> None:
        self._types: dict[int, int] = {}

    def of(self, node: Node) -> int:
        """Return the levels of a node without its children: those of its types, literals and references."""
        if type(node) in _PLAIN and (not isinstance(node, Rel) or node.common is None):
            return LEAF_LEVELS
        match node:
            case ex.ScalarFunction() | ex.AggregateFunction() | ex.WindowCall():
                levels = 2 + self._type(node.output_type)
                for argument in node.arguments:
                    if isinstance(argument, ex.TypeArgument):
                        levels = max(levels, 3 + self._type(argument.type))
                return levels
            case ex.Literal():
                return 1 + self.literal(node)
            case ex.Cast(target=type_) | ex.DynamicParameter(parameter_type=type_):
                return 2 + self._type(type_)
            case ex.Lambda():
                return max(LEAF_LEVELS, *(3 + self._type(type_) for type_ in node.parameters), 0)
            case ex.MaskedReference():
                return 3 + _mask_levels(node.mask)
            case Rel():
                return max(self._schema(node), _message_levels(node))
            case _:
                return LEAF_LEVELS

    def _schema(self, rel: Rel) -> int:
        """Return the levels of the schema of a relation: Rel, ReadRel, NamedStruct, Struct, Type."""
        match rel:
            case rl.Read(base_schema=schema, projection=mask):
                levels = max(map(self._type, schema.types), default=0)
                return max(4 + levels, 0 if mask is None else 3 + _mask_levels(mask))  # ReadRel, MaskExpression
            case rl.Write() | rl.Update() | rl.Ddl() if rel.table_schema is not None:
                return 4 + max(map(self._type, rel.table_schema.types), default=0)
            case _:
                return LEAF_LEVELS

    def literal(self, literal: ex.Literal) -> int:
        """Return the levels of a literal, without those of its ``Expression``."""
        type_, value = literal.literal_type, literal.value
        if type(value) is not tuple and value is not None and type(type_) in FLAT_TYPES:
            return 2  # Literal, and at most one message more, such as Literal.Decimal
        if type(value) is not tuple or not value:
            return max(3, 1 + self._type(type_))  # Literal, its type; Literal, Literal.UserDefined, Any
        items = chain.from_iterable(value) if isinstance(type_, t.Map) else value
        # Literal, Literal.List; Literal, Literal.Map, KeyValue; Literal, Literal.UserDefined, Literal.Struct
        below = 3 if isinstance(type_, t.Map | t.UserDefined) else 2
        declared = 1 + self._type(type_) if isinstance(type_, t.UserDefined) else 0  # its parameters
        return max(declared, below + max(map(self.literal, items)))

    def _type(self, type_: t.Type, depth: int = 0) -> int:
        if type(type_) in FLAT_TYPES:
            return _FLAT_LEVELS
        levels = self._types.get(id(type_))
        if levels is None:
            if depth > MAX_NESTING:
                return MAX_NESTING
            levels = _FLAT_LEVELS
            below = 3 if isinstance(type_, t.UserDefined) else 2  # Type, Type.UserDefined, Parameter; Type, Type.List
            for inner in _inner_types(type_):
                levels = max(levels, below + self._type(inner, depth + 1))
            self._types[id(type_)] = levels
        return levels


def levels_of_type(type_: t.Type) -> int:
    """Return the message levels of a type, its own included."""
    return OwnLevels()._type(type_)


def _mask_levels(mask: ex.Mask) -> int:
    """Return the levels of a mask.

    StructSelect, StructItem, Select, and so on, or ListSelect, ListSelectItem, ListElement.
    """
    match mask:
        case ex.StructMask(items=items):
            return max((3 + _mask_levels(item.child) for item in items if item.child is not None), default=2)
        case ex.ListMask(child=child):
            return max(3, 0 if child is None else 2 + _mask_levels(child))
        case _:
            assert_never(mask)


def _message_levels(rel: Rel) -> int:
    """Return the levels of the hints and the extension messages of a relation."""
    match rel:
        case rl.Read() if rel.declared != NO_PROPERTIES or rel.name_values:
            return _CHOICES_LEVELS
        case rl.Aggregate() if rel.method != "any":
            return _CHOICES_LEVELS
        case rl.Expand() if len(rel.fields) < len(rel.input.schema):
            return _CHOICES_LEVELS
        case rl.Window() if rel.method != "consistent_partition":
            return _CHOICES_LEVELS
        case rl.Exchange(kind=rl.SingleBucket(constrained=True)):
            return _CHOICES_LEVELS
        case rl.Write() | rl.MergingCapture() | rl.SimpleCapture() | rl.Unnest():
            return _CHOICES_LEVELS
        case rl.ExtensionLeaf() | rl.ExtensionSingle() | rl.ExtensionMulti():
            return _CHOICES_LEVELS
        case _:
            return LEAF_LEVELS if rel.common is None else _CHOICES_LEVELS


def _inner_types(type_: t.Type) -> tuple[t.Type, ...]:
    if isinstance(type_, t.UserDefined):
        return tuple(parameter for parameter in type_.type_parameters if isinstance(parameter, t.Type))
    return tuple(parameter for parameter in type_.parameters if isinstance(parameter, t.Type))
