"""The relations: one class per relation, all of them frozen, with schema, ordering and distribution derived."""

from substrait_dsl.algebra.expressions.masks import ListMask, Mask, MaskItem, StructMask
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations.exchange import (
    Broadcast,
    Exchange,
    ExchangeKind,
    ExchangeTarget,
    MergingCapture,
    MultiBucket,
    RoundRobin,
    Scatter,
    SimpleCapture,
    SingleBucket,
)
from substrait_dsl.algebra.relations.extensions import ExtensionLeaf, ExtensionMulti, ExtensionSingle
from substrait_dsl.algebra.relations.filtering import FETCH_MODES, Fetch, FetchMode, Filter, Sort, TopN
from substrait_dsl.algebra.relations.groups import AGGREGATE_METHODS, Aggregate, AggregateMethod
from substrait_dsl.algebra.relations.joins import Cross, Join, LateralJoin
from substrait_dsl.algebra.relations.physical_joins import (
    KEY_COMPARISONS,
    BuildSide,
    HashJoin,
    JoinKey,
    KeyComparison,
    MergeJoin,
    NestedLoopJoin,
)
from substrait_dsl.algebra.relations.projection import Emit, Project, emit
from substrait_dsl.algebra.relations.read import (
    AS_SPECIFIED,
    ENCODINGS,
    HEADER_RULES,
    LINE_BREAKS,
    PATH_KINDS,
    Arrow,
    DelimitedText,
    Dwrf,
    ExtensionFormat,
    ExtensionTable,
    FileFormat,
    FileItem,
    HeaderRule,
    IcebergTable,
    LineBreaks,
    LocalFiles,
    NamedTable,
    Orc,
    Parquet,
    PathKind,
    Read,
    ReadDefinition,
    Record,
    TextReading,
    VirtualTable,
)
from substrait_dsl.algebra.relations.sets import Set
from substrait_dsl.algebra.relations.unnest import Unnest
from substrait_dsl.algebra.relations.windows import (
    WINDOW_METHODS,
    ConsistentField,
    Expand,
    ExpandField,
    SwitchingField,
    Window,
    WindowMethod,
)
from substrait_dsl.algebra.relations.writes import (
    CREATE_MODES,
    DDL_OBJECTS,
    DDL_OPS,
    DROPS,
    OUTPUT_MODES,
    WRITE_OPS,
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    DdlTarget,
    ExtensionObject,
    FilesTarget,
    NamedObject,
    OutputMode,
    Transformation,
    Update,
    VirtualTarget,
    Write,
    WriteOp,
    WriteTarget,
)

AnyRelation = (
    Read
    | Filter
    | Sort
    | Project
    | Emit
    | Fetch
    | Aggregate
    | Set
    | Join
    | Cross
    | LateralJoin
    | HashJoin
    | MergeJoin
    | NestedLoopJoin
    | Exchange
    | MergingCapture
    | SimpleCapture
    | TopN
    | Window
    | Expand
    | Unnest
    | Write
    | Update
    | Ddl
    | ExtensionLeaf
    | ExtensionSingle
    | ExtensionMulti
)
"""The closed union of relations: a `match` over it that forgets one is an error of the type checker."""


def as_union(rel: Rel) -> AnyRelation:
    """Return the same relation, as a member of the closed union."""
    return rel  # type: ignore[return-value]  # there are no others; `cast` would cost a call for each


__all__ = [
    "AGGREGATE_METHODS",
    "AS_SPECIFIED",
    "CREATE_MODES",
    "DDL_OBJECTS",
    "DDL_OPS",
    "DROPS",
    "ENCODINGS",
    "FETCH_MODES",
    "HEADER_RULES",
    "KEY_COMPARISONS",
    "LINE_BREAKS",
    "OUTPUT_MODES",
    "PATH_KINDS",
    "WINDOW_METHODS",
    "WRITE_OPS",
    "Aggregate",
    "AggregateMethod",
    "AnyRelation",
    "Arrow",
    "Broadcast",
    "BuildSide",
    "ConsistentField",
    "CreateMode",
    "Cross",
    "Ddl",
    "DdlObject",
    "DdlOp",
    "DdlTarget",
    "DelimitedText",
    "Dwrf",
    "Emit",
    "Exchange",
    "ExchangeKind",
    "ExchangeTarget",
    "Expand",
    "ExpandField",
    "ExtensionFormat",
    "ExtensionLeaf",
    "ExtensionMulti",
    "ExtensionObject",
    "ExtensionSingle",
    "ExtensionTable",
    "Fetch",
    "FetchMode",
    "FileFormat",
    "FileItem",
    "FilesTarget",
    "Filter",
    "HashJoin",
    "HeaderRule",
    "IcebergTable",
    "Join",
    "JoinKey",
    "KeyComparison",
    "LateralJoin",
    "LineBreaks",
    "ListMask",
    "LocalFiles",
    "Mask",
    "MaskItem",
    "MergeJoin",
    "MergingCapture",
    "MultiBucket",
    "NamedObject",
    "NamedTable",
    "NestedLoopJoin",
    "Orc",
    "OutputMode",
    "Parquet",
    "PathKind",
    "Project",
    "Read",
    "ReadDefinition",
    "Record",
    "Rel",
    "RoundRobin",
    "Scatter",
    "Set",
    "SimpleCapture",
    "SingleBucket",
    "Sort",
    "StructMask",
    "SwitchingField",
    "TextReading",
    "TopN",
    "Transformation",
    "Unnest",
    "Update",
    "VirtualTable",
    "VirtualTarget",
    "Window",
    "WindowMethod",
    "Write",
    "WriteOp",
    "WriteTarget",
    "as_union",
    "emit",
]
