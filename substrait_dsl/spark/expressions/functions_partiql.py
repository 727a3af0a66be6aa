"""The functions of PartiQL's extension, ``partiql/extension.yaml``. Its type `dynamic` is Spark's VARIANT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import Literal, literal
from substrait_dsl.algebra.types import String
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.named_values import template_with_name, with_name
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.expressions.types import PARTIQL_URN
from substrait_dsl.spark.session.engines import ENGINE

__all__ = ["PARTIQL", "PARTIQL_URN"]


def _step(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """A step of a path. PartiQL's null has any part, which is null; a part that is not there is NULL."""
    step = call.arguments[1]
    assert isinstance(step, Literal)
    path = literal_to_sql(literal(f"$[{_quote_step(step.value)}]", String()))
    return with_name(texts[0], "v", f"if(is_variant_null(v), v, try_variant_get(v, {path}, 'variant'))")


def _quote_step(step: object) -> str:
    """A name or an index, as paths of Spark have it. They have no way to write a quotation mark inside one."""
    if not isinstance(step, str):
        return str(step)
    mark = "'" if '"' in step else '"'
    if mark in step:
        raise UnsupportedError(f"{ENGINE} has no path by the name {step!r}, which holds both kinds of quotation marks")
    return f"{mark}{step}{mark}"


def _convert_to(sql_type: str, *schemas: str) -> Template:
    """A value of a type; Spark's own conversion would also make a number of a text, and a text of a number."""
    tests = " OR ".join(f"schema_of_variant(v) LIKE '{schema}'" for schema in schemas)
    return Template(template_with_name("{0}", "v", f"if({tests}, try_variant_get(v, '$', '{sql_type}'), NULL)"))


_IS_STRUCT = "schema_of_variant(v) LIKE 'OBJECT<%'"
_ENTRIES = "transform(map_entries(CAST(v AS MAP<STRING, VARIANT>)), e -> named_struct('f0', e.key, 'f1', e.value))"
_OTHER = "ELSE array(named_struct('f0', '_1', 'f1', v))"
_IS_LIST = "schema_of_variant(v) LIKE 'ARRAY<%'"


def _order(left: str, right: str) -> str:
    return f"CASE WHEN {left} < {right} THEN -1 WHEN {left} > {right} THEN 1 ELSE 0 END"


_INTEGER = "try_variant_get(n.v, '$', 'bigint')"
_ROUNDED = "try_variant_get(n.v, '$', 'decimal(38,0)')"
_DIGIT = r"regexp_extract(try_variant_get(n.v, '$', 'string'), '[.]([0-9])', 1)"
_BELOW_ZERO = "startswith(try_variant_get(n.v, '$', 'string'), '-')"
# A decimal that is rounded to an integer is further away from zero than that, if its first digit behind the point is 0
# to 4, and else nearer to it.
_OF_DECIMAL = (
    f"CASE WHEN {_ROUNDED} < n.x THEN -1 WHEN {_ROUNDED} > n.x THEN 1 WHEN {_DIGIT} = '' THEN 0"
    f" WHEN ({_DIGIT} < '5') = {_BELOW_ZERO} THEN -1 ELSE 1 END"
)
_FLOAT = "try_variant_get(n.v, '$', 'double')"
# An integer lies on the same side of a double as the double that it is rounded to. Where that is the same one, both are
# compared as integers; 2**63 is the only one that is none of 64 bits.
_OF_FLOAT = (
    f"CASE WHEN {_FLOAT} < CAST(n.x AS DOUBLE) THEN -1 WHEN {_FLOAT} > CAST(n.x AS DOUBLE) THEN 1"
    f" WHEN {_FLOAT} = 9223372036854775808D THEN 1 ELSE {_order(f'TRY_CAST({_FLOAT} AS BIGINT)', 'n.x')} END"
)
_COMPARED = template_with_name(
    "named_struct('v', {0}, 'x', {1})",
    "n",
    "CASE WHEN n.x IS NULL THEN NULL"
    f" WHEN schema_of_variant(n.v) = 'BIGINT' THEN {_order(_INTEGER, 'n.x')}"
    f" WHEN schema_of_variant(n.v) LIKE 'DECIMAL(%' THEN {_OF_DECIMAL}"
    f" WHEN schema_of_variant(n.v) IN ('DOUBLE', 'FLOAT') THEN {_OF_FLOAT} END",
)

PARTIQL: Table = {
    "has_key": Template("map_contains_key({0}, {1})"),
    "attribute": Template(_step, literal_arguments=(1,)),
    "element": Template(_step, literal_arguments=(1,)),
    "elements": Template(template_with_name("{0}", "v", f"if({_IS_LIST}, CAST(v AS ARRAY<VARIANT>), array(v))")),
    "attributes": Template(
        template_with_name(
            "{0}", "v", f"CASE WHEN {_IS_STRUCT} THEN {_ENTRIES} WHEN v IS NULL THEN array() {_OTHER} END"
        )
    ),
    "is_struct": Template(template_with_name("{0}", "v", f"coalesce({_IS_STRUCT}, FALSE)")),
    "from_json": Template("parse_json({0})"),
    "is_list": Template(template_with_name("{0}", "v", f"coalesce({_IS_LIST}, FALSE)")),
    "is_null_value": Template("is_variant_null({0})"),
    "compare": Template(_COMPARED),
    "as_boolean": _convert_to("boolean", "BOOLEAN"),
    "as_integer": _convert_to("bigint", "BIGINT"),
    "as_float": _convert_to("double", "BIGINT", "DECIMAL(%", "DOUBLE", "FLOAT"),
    "as_text": _convert_to("string", "STRING"),
}
