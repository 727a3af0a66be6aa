"""Message levels of nodes: from each node to its children, and of its own fields."""

from __future__ import annotations

from itertools import chain
from typing import assert_never

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Bound,
    Cast,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    FieldAccess,
    FieldReference,
    IfClause,
    IfThen,
    InPredicate,
    Lambda,
    LambdaInvocation,
    ListMask,
    Literal,
    MapEntry,
    Mask,
    MaskedReference,
    Measure,
    MultiOrList,
    NestedList,
    NestedMap,
    NestedStruct,
    OrListRecord,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SortKey,
    StructMask,
    Switch,
    SwitchCase,
    TypeArgument,
    WindowCall,
    WindowFunction,
)
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.properties import NO_PROPERTIES
from substrait_dsl.algebra.relations import (
    Aggregate,
    Broadcast,
    ConsistentField,
    Cross,
    Ddl,
    Emit,
    Exchange,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    Filter,
    HashJoin,
    Join,
    JoinKey,
    LateralJoin,
    MergeJoin,
    MergingCapture,
    MultiBucket,
    NestedLoopJoin,
    Project,
    Read,
    Record,
    RoundRobin,
    Scatter,
    Set,
    SimpleCapture,
    SingleBucket,
    Sort,
    SwitchingField,
    TopN,
    Transformation,
    Unnest,
    Update,
    VirtualTable,
    Window,
    Write,
)

MAX_NESTING = 99
"""The maximal level of a message below ``Plan``; at 100 Python's JSON parser gives up."""

LEVELS: dict[type[Node], int] = {
    # relations: Rel, FilterRel, and what stands in it
    Read: 2,
    Filter: 2,
    Sort: 2,
    Project: 2,
    Emit: 0,
    Fetch: 2,
    Aggregate: 2,
    Set: 2,
    Join: 2,
    Cross: 2,
    LateralJoin: 2,
    HashJoin: 2,
    MergeJoin: 2,
    NestedLoopJoin: 2,
    Exchange: 2,
    MergingCapture: 2,
    SimpleCapture: 2,
    TopN: 2,
    Window: 2,
    Expand: 2,
    Unnest: 2,
    Write: 2,
    Update: 2,
    Ddl: 2,
    ExtensionLeaf: 2,
    ExtensionSingle: 2,
    ExtensionMulti: 2,
    # expressions: Expression, ScalarFunction, FunctionArgument, Expression
    FieldReference: 2,
    FieldAccess: 2,
    Literal: 1,
    ScalarFunction: 3,
    Cast: 2,
    IfThen: 2,
    Switch: 2,
    SingularOrList: 2,
    MultiOrList: 2,
    ScalarSubquery: 3,
    InPredicate: 3,
    SetPredicate: 3,
    SetComparison: 3,
    MaskedReference: 2,
    WindowFunction: 2,
    NestedStruct: 3,
    NestedList: 3,
    NestedMap: 3,
    Lambda: 2,
    LambdaInvocation: 3,
    DynamicParameter: 2,
    ExecutionContextVariable: 2,
    # the parts of both
    VirtualTable: 1,
    Record: 1,
    JoinKey: 1,
    Scatter: 1,
    SingleBucket: 1,
    MultiBucket: 1,
    RoundRobin: 1,
    Broadcast: 1,
    SwitchingField: 2,
    ConsistentField: 1,
    Transformation: 1,
    SortKey: 1,
    Measure: 1,
    AggregateFunction: 2,
    IfClause: 1,
    SwitchCase: 1,
    OrListRecord: 1,
    WindowCall: 2,
    Bound: 2,
    MapEntry: 1,
}
"""The maximal number of levels from the message of a node to those of its children."""

FLAT_TYPES = frozenset((*t.SIMPLE_TYPES, *t.LENGTH_TYPES, *t.PRECISION_TYPES, t.Decimal))
"""The types that contain no others."""
_FLAT_LEVELS = 2  # Type, Type.I64
_CHOICES_LEVELS = 20  # Rel, ReadRel, RelCommon, AdvancedExtension, Any; and in JSON the message in it, however it nests
LEAF_LEVELS = 4  # Expression, FieldReference, ReferenceSegment, StructField; Rel, FilterRel, RelCommon, Emit

_PLAIN = frozenset((FieldReference, FieldAccess, IfThen, Filter, Project, Emit, Sort, Fetch, Join, Cross, Set))
"""The commonest nodes without types and messages of their own."""


SIMPLE_LEVELS = LEVELS[ScalarFunction] + LEAF_LEVELS


def is_simple(node: Node) -> bool:
    """Whether this is a call with leaf arguments and types that are not nested.

    Most expressions are; they take `SIMPLE_LEVELS`, and need no visit.
    """
    if type(node) is not ScalarFunction or node.height > 2 or type(node.output_type) not in FLAT_TYPES:
        return False
    for argument in node.arguments:
        if not isinstance(argument, Expression) or type(argument.type) not in FLAT_TYPES:
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
            case ScalarFunction() | AggregateFunction() | WindowCall():
                levels = 2 + self._type(node.output_type)
                for argument in node.arguments:
                    if isinstance(argument, TypeArgument):
                        levels = max(levels, 3 + self._type(argument.type))
                return levels
            case Literal():
                return 1 + self.literal(node)
            case Cast(target=type_) | DynamicParameter(parameter_type=type_):
                return 2 + self._type(type_)
            case Lambda():
                return max(LEAF_LEVELS, *(3 + self._type(type_) for type_ in node.parameters), 0)
            case MaskedReference():
                return 3 + _mask_levels(node.mask)
            case Rel():
                return max(self._schema(node), _message_levels(node))
            case _:
                return LEAF_LEVELS

    def _schema(self, rel: Rel) -> int:
        """Return the levels of the schema of a relation: Rel, ReadRel, NamedStruct, Struct, Type."""
        match rel:
            case Read(base_schema=schema, projection=mask):
                levels = max(map(self._type, schema.types), default=0)
                return max(4 + levels, 0 if mask is None else 3 + _mask_levels(mask))  # ReadRel, MaskExpression
            case Write() | Update() | Ddl() if rel.table_schema is not None:
                return 4 + max(map(self._type, rel.table_schema.types), default=0)
            case _:
                return LEAF_LEVELS

    def literal(self, literal: Literal) -> int:
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


def _mask_levels(mask: Mask) -> int:
    """Return the levels of a mask.

    StructSelect, StructItem, Select, and so on, or ListSelect, ListSelectItem, ListElement.
    """
    match mask:
        case StructMask(items=items):
            return max((3 + _mask_levels(item.child) for item in items if item.child is not None), default=2)
        case ListMask(child=child):
            return max(3, 0 if child is None else 2 + _mask_levels(child))
        case _:
            assert_never(mask)


def _message_levels(rel: Rel) -> int:
    """Return the levels of the hints and the extension messages of a relation."""
    match rel:
        case Read() if rel.declared != NO_PROPERTIES or rel.name_values:
            return _CHOICES_LEVELS
        case Aggregate() if rel.method != "any":
            return _CHOICES_LEVELS
        case Expand() if len(rel.fields) < len(rel.input.schema):
            return _CHOICES_LEVELS
        case Window() if rel.method != "consistent_partition":
            return _CHOICES_LEVELS
        case Exchange(kind=SingleBucket(constrained=True)):
            return _CHOICES_LEVELS
        case Write() | MergingCapture() | SimpleCapture() | Unnest():
            return _CHOICES_LEVELS
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            return _CHOICES_LEVELS
        case _:
            return LEAF_LEVELS if rel.common is None else _CHOICES_LEVELS


def _inner_types(type_: t.Type) -> tuple[t.Type, ...]:
    if isinstance(type_, t.UserDefined):
        return tuple(parameter for parameter in type_.type_parameters if isinstance(parameter, t.Type))
    return tuple(parameter for parameter in type_.parameters if isinstance(parameter, t.Type))
