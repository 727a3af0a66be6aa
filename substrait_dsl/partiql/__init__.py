"""PartiQL's binding-tuple algebra: expressions over bags and lists of binding tuples, and over values.

Two kinds of expressions, which nothing takes for one another: a bindings expression (`Scan`, `CrossJoin`, `Filter`,
and those that the algebra's document defers) evaluates to a bag or list of binding tuples, a value expression (`Id`,
`Path`, `MapValues` ..) to a value. `parse` and `render` are the textual notation, `evaluate_value` and
`evaluate_bindings` a plain interpreter that says what the algebra means.
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
from substrait_dsl.partiql.interpreter import Mode, Table, evaluate_bindings, evaluate_value
from substrait_dsl.partiql.node import BindingsExpr, Node, ValueExpr, transform, walk
from substrait_dsl.partiql.notation import parse, parse_bindings, parse_data, parse_value
from substrait_dsl.partiql.printing import data_text, render
from substrait_dsl.partiql.values import MISSING, Bag, BindingsData, BindingTuple, Kind, Struct, Value, bag

__all__ = [
    "MISSING",
    "Bag",
    "BagExpr",
    "BindingTuple",
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
    "Struct",
    "StructExpr",
    "Table",
    "Unpivot",
    "Value",
    "ValueExpr",
    "bag",
    "data_text",
    "evaluate_bindings",
    "evaluate_value",
    "parse",
    "parse_bindings",
    "parse_data",
    "parse_value",
    "render",
    "transform",
    "walk",
]
