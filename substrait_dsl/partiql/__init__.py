"""PartiQL's binding-tuple algebra: expressions over bags and lists of binding tuples, and over values.

Two kinds of expressions, which nothing takes for one another: a bindings expression (`Scan`, `CrossJoin`, `Filter`,
and those that the algebra's document defers) evaluates to a bag or list of binding tuples, a value expression (`Id`,
`Path`, `MapValues` ..) to a value. People write them as `Bindings` and `Values`, which begin with `table` and `scan`,
and run on Spark. `parse` and `render` are the textual notation, `evaluate_value` and `evaluate_bindings` a plain
interpreter that says what the algebra means.
"""

from substrait_dsl.partiql.bindings import (
    CrossJoin,
    Filter,
    GroupBy,
    Join,
    Limit,
    MapLet,
    Measure,
    Named,
    Offset,
    OrderBy,
    Scan,
    SortKey,
    Unpivot,
)
from substrait_dsl.partiql.builder import Bindings, scan, unpivot
from substrait_dsl.partiql.expressions import (
    BagExpr,
    Call,
    ExprPair,
    Id,
    ListExpr,
    Lit,
    MapValues,
    Operator,
    Path,
    Pivot,
    StructExpr,
)
from substrait_dsl.partiql.interpreter import Mode, evaluate_bindings, evaluate_value
from substrait_dsl.partiql.keys import asc, avg, count, desc, max, min, sum  # noqa: A004  # as PySpark calls them
from substrait_dsl.partiql.lowered import StoredTable
from substrait_dsl.partiql.node import BindingsExpr, Node, ValueExpr, transform, walk
from substrait_dsl.partiql.notation import parse, parse_bindings, parse_data, parse_value
from substrait_dsl.partiql.printing import data_text, render
from substrait_dsl.partiql.tables import (
    as_boolean,
    as_float,
    as_integer,
    as_text,
    as_value,
    bag_of,
    bind,
    call,
    dynamic,
    list_of,
    lit,
    struct,
    struct_concat,
    table,
)
from substrait_dsl.partiql.untyped import DYNAMIC
from substrait_dsl.partiql.value_builder import Tuple, Values
from substrait_dsl.partiql.values import MISSING, Bag, BindingsData, BindingTuple, Kind, Struct, Table, Value, bag
from substrait_dsl.signature_errors import public

__all__ = [
    "DYNAMIC",
    "MISSING",
    "Bag",
    "BagExpr",
    "BindingTuple",
    "Bindings",
    "BindingsData",
    "BindingsExpr",
    "Call",
    "CrossJoin",
    "ExprPair",
    "Filter",
    "GroupBy",
    "Id",
    "Join",
    "Kind",
    "Limit",
    "ListExpr",
    "Lit",
    "MapLet",
    "MapValues",
    "Measure",
    "Mode",
    "Named",
    "Node",
    "Offset",
    "Operator",
    "OrderBy",
    "Path",
    "Pivot",
    "Scan",
    "SortKey",
    "StoredTable",
    "Struct",
    "StructExpr",
    "Table",
    "Tuple",
    "Unpivot",
    "Value",
    "ValueExpr",
    "Values",
    "as_boolean",
    "as_float",
    "as_integer",
    "as_text",
    "as_value",
    "asc",
    "avg",
    "bag",
    "bag_of",
    "bind",
    "call",
    "count",
    "data_text",
    "desc",
    "dynamic",
    "evaluate_bindings",
    "evaluate_value",
    "list_of",
    "lit",
    "max",
    "min",
    "parse",
    "parse_bindings",
    "parse_data",
    "parse_value",
    "render",
    "scan",
    "struct",
    "struct_concat",
    "sum",
    "table",
    "transform",
    "unpivot",
    "walk",
]

globals().update({name: public(globals()[name], name, __name__) for name in __all__})
