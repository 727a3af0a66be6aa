"""The relations: one class per relation, all of them frozen, with schema, ordering and distribution derived."""

from typing import cast

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations.columns import Emit, Project, emit
from substrait_dsl.algebra.relations.groups import Aggregate
from substrait_dsl.algebra.relations.joins import Cross, Join
from substrait_dsl.algebra.relations.read import (
    PATH_KINDS,
    Arrow,
    DelimitedText,
    Dwrf,
    FileFormat,
    FileItem,
    LocalFiles,
    MaskItem,
    NamedTable,
    Orc,
    Parquet,
    PathKind,
    Read,
    ReadDefinition,
    Record,
    StructMask,
    VirtualTable,
)
from substrait_dsl.algebra.relations.rows import Fetch, Filter, Sort
from substrait_dsl.algebra.relations.sets import Set

AnyRelation = Read | Filter | Sort | Project | Emit | Fetch | Aggregate | Set | Join | Cross
"""The closed union of relations: a `match` over it that forgets one is an error of the type checker."""


def closed(rel: Rel) -> AnyRelation:
    """The same relation, as a member of the closed union."""
    return cast("AnyRelation", rel)


__all__ = [
    "PATH_KINDS",
    "Aggregate",
    "AnyRelation",
    "Arrow",
    "Cross",
    "DelimitedText",
    "Dwrf",
    "Emit",
    "Fetch",
    "FileFormat",
    "FileItem",
    "Filter",
    "Join",
    "LocalFiles",
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
    "VirtualTable",
    "closed",
    "emit",
]
