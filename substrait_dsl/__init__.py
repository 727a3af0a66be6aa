"""A typed, fluent builder of Substrait plans that derives every schema as you write and runs on Spark.

    import substrait_dsl as sd
    from substrait_dsl import functions as f

Importing the package is cheap: protobuf, pyspark, pyarrow and the extension files are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Literal as L

    from substrait_dsl import errors, functions
    from substrait_dsl.algebra.expressions.literals import Compound, DaySeconds, YearMonths
    from substrait_dsl.algebra.properties import Distribution, OrderKey, Properties
    from substrait_dsl.algebra.relations.read import Arrow, DelimitedText, Dwrf, Orc, Parquet
    from substrait_dsl.algebra.rules import JoinType, SetOp
    from substrait_dsl.algebra.schema import Field
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
    from substrait_dsl.fluent.calls import Measure
    from substrait_dsl.fluent.conditions import (
        all_of,
        any_of,
        col,
        exists,
        lit,
        null,
        record,
        scalar_subquery,
        switch,
        unique,
        when,
    )
    from substrait_dsl.fluent.expr import DynExpr, Expr
    from substrait_dsl.fluent.plan import Plan
    from substrait_dsl.fluent.reads import read_files, read_named, read_virtual
    from substrait_dsl.fluent.relation import Relation
    from substrait_dsl.fluent.schemas import DynRow, RelationSchema, Schema, SchemaLike, parse_type
    from substrait_dsl.fluent.sorting import asc, clustered, desc
    from substrait_dsl.functions import Functions

__version__ = "0.1.0"

_TYPES = (
    "FP32 FP64 I8 I16 I32 I64 UUID Binary Boolean Date Decimal FixedBinary FixedChar Func IntervalCompound IntervalDay "
    "IntervalYear List Map Null Nullable PrecisionTime PrecisionTimestamp PrecisionTimestampTZ Req String Struct Type "
    "TypeVariation Unbound UserDefined VarChar"
)

_HOMES = {
    "algebra.expressions.literals": "Compound DaySeconds YearMonths",
    "algebra.properties": "Distribution OrderKey Properties",
    "algebra.relations.read": "Arrow DelimitedText Dwrf Orc Parquet",
    "algebra.rules": "JoinType SetOp",
    "algebra.schema": "Field",
    "algebra.types": _TYPES,
    "catalog": "Catalog standard_catalog",
    "errors": "SubstraitDslError",
    "fluent.calls": "Measure",
    "fluent.conditions": "all_of any_of col exists lit null record scalar_subquery switch unique when",
    "fluent.expr": "DynExpr Expr",
    "fluent.plan": "Plan",
    "fluent.reads": "read_files read_named read_virtual",
    "fluent.relation": "Relation",
    "fluent.schemas": "DynRow RelationSchema Schema SchemaLike parse_type",
    "fluent.sorting": "asc clustered desc",
    "functions": "Functions",
}
"""Where each public name lives."""

_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = ("errors", "functions")

__all__ = [  # the names are those of the table above
    "L",
    "errors",
    "functions",
    *_HOME,
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{name}")
    elif name == "L":
        from typing import Literal as value
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
