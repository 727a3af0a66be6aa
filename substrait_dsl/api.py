"""The public names, all in one place; `import substrait_dsl` loads them when the first one is used."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from typing import Literal as L

import substrait_dsl.errors as errors  # by their own names: the package's are those of this module
import substrait_dsl.functions as functions
from substrait_dsl.algebra.common import Computation
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.findings import Finding, FindingCode
from substrait_dsl.algebra.properties import Distribution, OrderKey, Properties
from substrait_dsl.algebra.rules import JoinType, LateralJoinType, SetOp
from substrait_dsl.algebra.schema import Field
from substrait_dsl.algebra.settings import Encoding, OuterReferences
from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    Null,
    Nullable,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Req,
    String,
    Struct,
    Type,
    TypeVariation,
    Unbound,
    UserDefined,
    VarChar,
)
from substrait_dsl.catalog import Catalog, standard_catalog
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.expr import Expr, SortKey
from substrait_dsl.fluent.extensions import extension_leaf, extension_multi
from substrait_dsl.fluent.hints import shared
from substrait_dsl.fluent.lambdas import LambdaFunction, lambda_
from substrait_dsl.fluent.leaf_expressions import col, lit, null
from substrait_dsl.fluent.parts import elements
from substrait_dsl.fluent.plan import Plan
from substrait_dsl.fluent.reads import read_extension, read_iceberg, read_named, read_virtual
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.rows import F, Row
from substrait_dsl.fluent.schemas import DynRow, Schema, SchemaLike, parse_type
from substrait_dsl.fluent.sorting import asc, clustered, compared, desc
from substrait_dsl.fluent.subqueries import all_of, any_of, exists, record, scalar_subquery, unique
from substrait_dsl.fluent.trees import Subtree, subtree
from substrait_dsl.fluent.writes import extension_object, files_target, virtual_target
from substrait_dsl.functions import Functions

if TYPE_CHECKING:
    import substrait_dsl.everyday as everyday
    from substrait_dsl.algebra.accesses import Access, Accesses
    from substrait_dsl.algebra.capabilities import Capabilities, FunctionCapability
    from substrait_dsl.algebra.relations.files import Arrow, DelimitedText, Dwrf, ExtensionFormat, Orc, Parquet
    from substrait_dsl.algebra.relations.groups import AggregateMethod
    from substrait_dsl.algebra.relations.windows import WindowMethod
    from substrait_dsl.algebra.relations.writes import CreateMode, OutputMode, WriteOp
    from substrait_dsl.algebra.requirements import Requirement
    from substrait_dsl.analysis.column_lineage import ColumnLineage, ColumnOrigin, Lineage, SourceColumn
    from substrait_dsl.analysis.schema_changes import ColumnChange
    from substrait_dsl.consumers.acero import AceroSession, register_acero_functions
    from substrait_dsl.engines.report import CheckFinding, CheckMatrix, Report
    from substrait_dsl.fluent.capabilities import read_capabilities
    from substrait_dsl.fluent.checks import check_all
    from substrait_dsl.fluent.conditionals import switch, when
    from substrait_dsl.fluent.differences import DeclarationChange, PlanDiff, StepChange, diff
    from substrait_dsl.fluent.exchange import (
        ExchangeKind,
        broadcast,
        exchange_target,
        multi_bucket,
        round_robin,
        scatter,
        single_bucket,
    )
    from substrait_dsl.fluent.expand import Switching, switching
    from substrait_dsl.fluent.extended import ExtendedExpression
    from substrait_dsl.fluent.files import FileSlice, read_files
    from substrait_dsl.fluent.frames import from_arrow
    from substrait_dsl.fluent.grouping import GroupBy
    from substrait_dsl.fluent.implementing import implement
    from substrait_dsl.fluent.join_keys import JoinKey, join_key
    from substrait_dsl.fluent.json_lines import read_json
    from substrait_dsl.fluent.nested import list_of, map_of, struct_of
    from substrait_dsl.fluent.parameters import current_date, current_timestamp, current_timezone, parameter
    from substrait_dsl.fluent.reveal import reveal_schema
    from substrait_dsl.fluent.schema_of import schema_of
    from substrait_dsl.fluent.tables import (
        alter_table,
        alter_view,
        create_table,
        create_view,
        drop_table,
        drop_view,
        update,
    )
    from substrait_dsl.fluent.typed_text import read_csv
    from substrait_dsl.fluent.windows import following, preceding
    from substrait_dsl.sql_queries.reading import from_sql

    DynExpr = Expr[Any, Any]  # so a function that is declared to give one may give any expression, in every checker
else:
    from substrait_dsl.fluent.expr import DynExpr

__all__: list[str] = [
    "FP32",
    "FP64",
    "I8",
    "I16",
    "I32",
    "I64",
    "UUID",
    "Access",
    "Accesses",
    "AceroSession",
    "AdvancedExtension",
    "AggregateMethod",
    "AnyMessage",
    "Arrow",
    "Binary",
    "Boolean",
    "Capabilities",
    "Catalog",
    "CheckFinding",
    "CheckMatrix",
    "ColumnChange",
    "ColumnLineage",
    "ColumnOrigin",
    "Compound",
    "Computation",
    "CreateMode",
    "Date",
    "DaySeconds",
    "Decimal",
    "DeclarationChange",
    "DelimitedText",
    "Distribution",
    "Dwrf",
    "DynExpr",
    "DynRow",
    "Encoding",
    "ExchangeKind",
    "Expr",
    "ExtendedExpression",
    "ExtensionFormat",
    "F",
    "Field",
    "FileSlice",
    "Finding",
    "FindingCode",
    "FixedBinary",
    "FixedChar",
    "Func",
    "FunctionCapability",
    "Functions",
    "GroupBy",
    "IntervalCompound",
    "IntervalDay",
    "IntervalYear",
    "JoinKey",
    "JoinType",
    "L",
    "LambdaFunction",
    "LateralJoinType",
    "Lineage",
    "List",
    "Map",
    "Measure",
    "Null",
    "Nullable",
    "Orc",
    "OrderKey",
    "OuterReferences",
    "OutputMode",
    "Parquet",
    "Plan",
    "PlanDiff",
    "PrecisionTime",
    "PrecisionTimestamp",
    "PrecisionTimestampTZ",
    "Properties",
    "Relation",
    "RelationSchema",
    "Report",
    "Req",
    "Requirement",
    "Row",
    "Schema",
    "SchemaLike",
    "SetOp",
    "SortKey",
    "SourceColumn",
    "StepChange",
    "String",
    "Struct",
    "SubstraitDslError",
    "Subtree",
    "Switching",
    "Type",
    "TypeVariation",
    "Unbound",
    "UserDefined",
    "VarChar",
    "WindowFunction",
    "WindowMethod",
    "WriteOp",
    "YearMonths",
    "all_of",
    "alter_table",
    "alter_view",
    "any_of",
    "asc",
    "broadcast",
    "check_all",
    "clustered",
    "col",
    "compared",
    "create_table",
    "create_view",
    "current_date",
    "current_timestamp",
    "current_timezone",
    "desc",
    "diff",
    "drop_table",
    "drop_view",
    "elements",
    "errors",
    "everyday",
    "exchange_target",
    "exists",
    "extension_leaf",
    "extension_multi",
    "extension_object",
    "files_target",
    "following",
    "from_arrow",
    "from_sql",
    "functions",
    "implement",
    "join_key",
    "lambda_",
    "list_of",
    "lit",
    "map_of",
    "multi_bucket",
    "null",
    "parameter",
    "parse_type",
    "preceding",
    "read_capabilities",
    "read_csv",
    "read_extension",
    "read_files",
    "read_iceberg",
    "read_json",
    "read_named",
    "read_virtual",
    "record",
    "register_acero_functions",
    "reveal_schema",
    "round_robin",
    "scalar_subquery",
    "scatter",
    "schema_of",
    "shared",
    "single_bucket",
    "standard_catalog",
    "struct_of",
    "subtree",
    "switch",
    "switching",
    "unique",
    "update",
    "virtual_target",
    "when",
]

SELDOM_USED: Mapping[str, str] = {
    "Access": "algebra.accesses",
    "Accesses": "algebra.accesses",
    "AceroSession": "consumers.acero",
    "AggregateMethod": "algebra.relations.groups",
    "Arrow": "algebra.relations.files",
    "Capabilities": "algebra.capabilities",
    "CheckFinding": "engines.report",
    "CheckMatrix": "engines.report",
    "ColumnChange": "analysis.schema_changes",
    "ColumnLineage": "analysis.column_lineage",
    "ColumnOrigin": "analysis.column_lineage",
    "CreateMode": "algebra.relations.writes",
    "DeclarationChange": "fluent.differences",
    "DelimitedText": "algebra.relations.files",
    "Dwrf": "algebra.relations.files",
    "ExchangeKind": "fluent.exchange",
    "ExtendedExpression": "fluent.extended",
    "ExtensionFormat": "algebra.relations.files",
    "FileSlice": "fluent.files",
    "FunctionCapability": "algebra.capabilities",
    "GroupBy": "fluent.grouping",
    "JoinKey": "fluent.join_keys",
    "Lineage": "analysis.column_lineage",
    "Orc": "algebra.relations.files",
    "OutputMode": "algebra.relations.writes",
    "Parquet": "algebra.relations.files",
    "PlanDiff": "fluent.differences",
    "Report": "engines.report",
    "Requirement": "algebra.requirements",
    "SourceColumn": "analysis.column_lineage",
    "StepChange": "fluent.differences",
    "Switching": "fluent.expand",
    "WindowMethod": "algebra.relations.windows",
    "WriteOp": "algebra.relations.writes",
    "alter_table": "fluent.tables",
    "alter_view": "fluent.tables",
    "broadcast": "fluent.exchange",
    "check_all": "fluent.checks",
    "create_table": "fluent.tables",
    "create_view": "fluent.tables",
    "current_date": "fluent.parameters",
    "current_timestamp": "fluent.parameters",
    "current_timezone": "fluent.parameters",
    "diff": "fluent.differences",
    "drop_table": "fluent.tables",
    "drop_view": "fluent.tables",
    "everyday": "everyday",
    "exchange_target": "fluent.exchange",
    "following": "fluent.windows",
    "from_arrow": "fluent.frames",
    "from_sql": "sql_queries.reading",
    "implement": "fluent.implementing",
    "join_key": "fluent.join_keys",
    "list_of": "fluent.nested",
    "map_of": "fluent.nested",
    "multi_bucket": "fluent.exchange",
    "parameter": "fluent.parameters",
    "preceding": "fluent.windows",
    "read_capabilities": "fluent.capabilities",
    "read_csv": "fluent.typed_text",
    "read_files": "fluent.files",
    "read_json": "fluent.json_lines",
    "register_acero_functions": "consumers.acero",
    "reveal_schema": "fluent.reveal",
    "round_robin": "fluent.exchange",
    "scatter": "fluent.exchange",
    "schema_of": "fluent.schema_of",
    "single_bucket": "fluent.exchange",
    "struct_of": "fluent.nested",
    "switch": "fluent.conditionals",
    "switching": "fluent.expand",
    "update": "fluent.tables",
    "when": "fluent.conditionals",
}
"""The modules of names that many programs do not use, and whose modules nothing else needs: loaded when first used."""


if not TYPE_CHECKING:  # a checker knows the names by the imports above

    def __getattr__(name: str) -> Any:
        if name not in SELDOM_USED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"substrait_dsl.{SELDOM_USED[name]}")
        value = globals()[name] = module if name == SELDOM_USED[name] else getattr(module, name)
        return value
