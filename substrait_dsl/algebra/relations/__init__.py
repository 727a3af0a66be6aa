"""The relations: one class per relation, all of them frozen, with schema, ordering and distribution derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions.masks import ListMask, Mask, MaskItem, StructMask
from substrait_dsl.algebra.loading import load_when_used
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations.filtering import FETCH_MODES, Fetch, FetchMode, Filter, Sort, TopN
from substrait_dsl.algebra.relations.groups import AGGREGATE_METHODS, Aggregate, AggregateMethod
from substrait_dsl.algebra.relations.joins import Cross, Join, LateralJoin
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

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import union
    from substrait_dsl.algebra.relations.union import *  # noqa: F403  # they are listed in its __all__
    from substrait_dsl.algebra.relations.union import AnyRelation


def as_union(rel: Rel) -> AnyRelation:
    """Return the same relation, as a member of the closed union."""
    return rel  # type: ignore[return-value]  # there are no others; `cast` would cost a call for each


__all__ = [
    "AGGREGATE_METHODS",
    "AS_SPECIFIED",
    "ENCODINGS",
    "FETCH_MODES",
    "HEADER_RULES",
    "LINE_BREAKS",
    "PATH_KINDS",
    "Aggregate",
    "AggregateMethod",
    "Arrow",
    "Cross",
    "DelimitedText",
    "Dwrf",
    "Emit",
    "ExtensionFormat",
    "ExtensionTable",
    "Fetch",
    "FetchMode",
    "FileFormat",
    "FileItem",
    "Filter",
    "HeaderRule",
    "IcebergTable",
    "Join",
    "LateralJoin",
    "LineBreaks",
    "ListMask",
    "LocalFiles",
    "Mask",
    "MaskItem",
    "NamedTable",
    "Orc",
    "Parquet",
    "PathKind",
    "Project",
    "Read",
    "ReadDefinition",
    "Record",
    "Rel",
    "Set",
    "Sort",
    "StructMask",
    "TextReading",
    "TopN",
    "VirtualTable",
    "as_union",
    "emit",
]

if TYPE_CHECKING:
    __all__ += union.__all__
else:
    __getattr__ = load_when_used(__name__, globals())  # those that few programs use
