"""The closed union of relations, with the relations that few programs use.

To define their classes takes a twentieth of the start of a program that builds a small plan: they are loaded when one
of them is first asked for.
"""

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
from substrait_dsl.algebra.relations.filtering import Fetch, Filter, Sort, TopN
from substrait_dsl.algebra.relations.groups import Aggregate
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
from substrait_dsl.algebra.relations.projection import Emit, Project
from substrait_dsl.algebra.relations.read import Read
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
    Change,
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

__all__ = [
    "CREATE_MODES",
    "DDL_OBJECTS",
    "DDL_OPS",
    "DROPS",
    "KEY_COMPARISONS",
    "OUTPUT_MODES",
    "WINDOW_METHODS",
    "WRITE_OPS",
    "AnyRelation",
    "Broadcast",
    "BuildSide",
    "Change",
    "ConsistentField",
    "CreateMode",
    "Ddl",
    "DdlObject",
    "DdlOp",
    "DdlTarget",
    "Exchange",
    "ExchangeKind",
    "ExchangeTarget",
    "Expand",
    "ExpandField",
    "ExtensionLeaf",
    "ExtensionMulti",
    "ExtensionObject",
    "ExtensionSingle",
    "FilesTarget",
    "HashJoin",
    "JoinKey",
    "KeyComparison",
    "MergeJoin",
    "MergingCapture",
    "MultiBucket",
    "NamedObject",
    "NestedLoopJoin",
    "OutputMode",
    "RoundRobin",
    "Scatter",
    "SimpleCapture",
    "SingleBucket",
    "SwitchingField",
    "Transformation",
    "Unnest",
    "Update",
    "VirtualTarget",
    "Window",
    "WindowMethod",
    "Write",
    "WriteOp",
    "WriteTarget",
]
