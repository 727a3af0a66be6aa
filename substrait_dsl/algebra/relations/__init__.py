"""The relations: one class per relation, all of them frozen, with schema, ordering and distribution derived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.loading import load_when_used
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations.filtering import Fetch, Filter
from substrait_dsl.algebra.relations.projection import Emit, Project, emit
from substrait_dsl.algebra.relations.read import NamedTable, Read, Record, VirtualTable

if TYPE_CHECKING:
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
    from substrait_dsl.algebra.relations.extensions import (
        ExtensionLeaf,
        ExtensionMulti,
        ExtensionSingle,
        ExtensionTable,
    )
    from substrait_dsl.algebra.relations.files import (
        AS_SPECIFIED,
        ENCODINGS,
        HEADER_RULES,
        LINE_BREAKS,
        PATH_KINDS,
        Arrow,
        DelimitedText,
        Dwrf,
        ExtensionFormat,
        FileFormat,
        FileItem,
        HeaderRule,
        IcebergTable,
        LineBreaks,
        LocalFiles,
        Orc,
        Parquet,
        PathKind,
        TextReading,
    )
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
    from substrait_dsl.algebra.relations.sets import Set
    from substrait_dsl.algebra.relations.sorting import FETCH_MODES, FetchMode, Sort, TopN
    from substrait_dsl.algebra.relations.union import AnyRelation, ReadDefinition
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
    "Change",
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
    "LocalFiles",
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

SELDOM_USED: Mapping[str, tuple[str, ...]] = {
    "exchange": (
        "Broadcast", "Exchange", "ExchangeKind", "ExchangeTarget", "MergingCapture", "MultiBucket",
        "RoundRobin", "Scatter", "SimpleCapture", "SingleBucket",
    ),
    "extensions": ("ExtensionLeaf", "ExtensionMulti", "ExtensionSingle", "ExtensionTable"),
    "files": (
        "AS_SPECIFIED", "ENCODINGS", "HEADER_RULES", "LINE_BREAKS", "PATH_KINDS", "Arrow", "DelimitedText",
        "Dwrf", "ExtensionFormat", "FileFormat", "FileItem", "HeaderRule", "IcebergTable", "LineBreaks",
        "LocalFiles", "Orc", "Parquet", "PathKind", "TextReading",
    ),
    "groups": ("AGGREGATE_METHODS", "Aggregate", "AggregateMethod"),
    "joins": ("Cross", "Join", "LateralJoin"),
    "physical_joins": (
        "KEY_COMPARISONS", "BuildSide", "HashJoin", "JoinKey", "KeyComparison", "MergeJoin", "NestedLoopJoin",
    ),
    "sets": ("Set",),
    "sorting": ("FETCH_MODES", "FetchMode", "Sort", "TopN"),
    "unnest": ("Unnest",),
    "windows": (
        "WINDOW_METHODS", "ConsistentField", "Expand", "ExpandField", "SwitchingField", "Window",
        "WindowMethod",
    ),
    "writes": (
        "CREATE_MODES", "DDL_OBJECTS", "DDL_OPS", "DROPS", "OUTPUT_MODES", "WRITE_OPS", "Change", "CreateMode",
        "Ddl", "DdlObject", "DdlOp", "DdlTarget", "ExtensionObject", "FilesTarget", "NamedObject", "OutputMode",
        "Transformation", "Update", "VirtualTarget", "Write", "WriteOp", "WriteTarget",
    ),
    "union": ("AnyRelation", "ReadDefinition"),
}  # fmt: skip
"""Modules that are loaded when a program first uses one of their names.

To define one of their classes takes a thousandth of the start of a program that builds a small plan.
"""

if not TYPE_CHECKING:  # a checker knows the names by the imports above
    __getattr__ = load_when_used(globals(), SELDOM_USED)
