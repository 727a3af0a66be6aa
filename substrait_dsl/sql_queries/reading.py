"""`from_sql`: the text of a query over relations as a relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.algebra.requirements import FUNCTION_KINDS
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError, error_context
from substrait_dsl.fluent.base import RelationBase, rel_of, wrap_relation
from substrait_dsl.fluent.plan import Plan
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct
from substrait_dsl.sql_queries.counted_rows import count_rows
from substrait_dsl.sql_queries.decorrelated_joins import restore_nulls
from substrait_dsl.sql_queries.dropped_clauses import without_quotes
from substrait_dsl.sql_queries.function_names import as_any_value, sql_catalog
from substrait_dsl.sql_queries.hints import OF_RANGES, OF_ROWS, hint_of_function
from substrait_dsl.sql_queries.merged_keys import write_on
from substrait_dsl.sql_queries.nanoseconds import without_nanoseconds
from substrait_dsl.sql_queries.parser import AS_WRITTEN, MOVING_RULES, PlannedQuery, find_table, plan_query
from substrait_dsl.sql_queries.rewritten_clauses import rewrite_clauses
from substrait_dsl.sql_queries.simplification import simplify

if TYPE_CHECKING:
    from substrait_dsl.algebra.schema import NamedStruct
    from substrait_dsl.fluent.relation import Relation


def from_sql(
    query: str, tables: Mapping[str, Relation[Any] | SchemaLike] | None = None, /, **named: Relation[Any] | SchemaLike
) -> Relation[DynRow]:
    """Read a query in SQL, in DataFusion's dialect, as a relation over those that are given.

    ``from_sql("select key, sum(price) as total from orders group by key", orders=orders)``

    What is made goes on from there as from any other relation: more verbs, plans for all engines, Spark. The steps are
    those of the text where Substrait can say them as DataFusion writes them; of a query with correlated subqueries they
    are those of DataFusion's optimizer. As in PostgreSQL, names without double quotes are in lower case, NULL is the
    largest value of an order, and integers are divided without a fraction.

    Args:
        query: the text of one query. What changes something is refused, and so are clocks and random numbers.
        tables: by the names that the text uses, a relation each, which may have any steps, or the schema of a table
            of that name.
        named: the same, for names that may stand before a ``=``.

    Output: the columns of the query, with the types and the nullability that are derived. Raises
    `InvalidArgumentError` with the words of DataFusion for a text that it does not take, `UnsupportedError` for
    functions that Substrait does not have, for columns of types that DataFusion does not have, for what DataFusion
    leaves out of its Substrait, and without DataFusion, which the extra ``sql`` installs. Specification: https://substrait.io/relations/logical_relations/.

    Example:
        >>> totals = sd.from_sql(
        ...     "select customer, sum(price) as total from orders where id > 9 group by customer", orders=orders
        ... )
        >>> print(totals)
        aggregate by customer -> customer: i64, total: fp64? = sum(price)
          filter id > 9
            read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="from_sql"):
        if not isinstance(query, str):
            raise InvalidArgumentError("query is the text of a query", got=query)
        read = dict(_find_tables(tables, named))
        schemas = {name: rel.schema for name, rel in read.items()}
        rel = _read_query(query, schemas)
        return wrap_relation(simplify(rebuild(rel, partial(_put_in_table, read))))


def _find_tables(tables: Mapping[str, Any] | None, named: Mapping[str, Any]) -> Iterator[tuple[str, rl.Rel]]:
    """Yield each table that was given: its name and its rows."""
    if tables is not None and not isinstance(tables, Mapping):
        raise InvalidArgumentError("tables is a dict of relations by their names", got=tables)
    if repeated := sorted({*(tables or {})} & {*named}):
        raise InvalidArgumentError(f'the table "{repeated[0]}" is given twice')
    names: dict[str, str] = {}
    for name, value in {**(tables or {}), **named}.items():
        if not isinstance(name, str):
            raise InvalidArgumentError("the name of a table is a str", got=name)
        if (other := names.setdefault(name.lower(), name)) != name:
            raise InvalidArgumentError(f'the tables "{other}" and "{name}" are one to a query, which has small letters')
        yield name, value._rel if isinstance(value, RelationBase) else rl.Read(as_struct(value), rl.NamedTable((name,)))


def _read_query(query: str, schemas: Mapping[str, NamedStruct]) -> rl.Rel:
    """Return the tree of a query over tables of those columns: with the steps of the text if it can be had so."""
    query = write_on(rewrite_clauses(query), {name.lower(): schema.names for name, schema in schemas.items()})
    refusal: UnsupportedError | None = None
    for without in (AS_WRITTEN, MOVING_RULES):
        planned = plan_query(query, schemas, without)
        if isinstance(planned, UnsupportedError):
            refusal = planned if refusal is None else refusal
            continue
        try:
            return count_rows(_read_plan(planned), without_quotes(query))
        except UnsupportedError as error:
            if error.function is not None:
                error = _unknown_function(error.function)
            error.verb = "from_sql"  # it is no plan that the program reads
            refusal = error
    assert refusal is not None
    raise refusal


def _unknown_function(name: str) -> UnsupportedError:
    return UnsupportedError(
        f'Substrait has no function that DataFusion calls "{name}"', hint=_HINTS.get(name) or hint_of_function(name)
    )


def _read_plan(planned: PlannedQuery) -> rl.Rel:
    """Return the tree of a plan. DataFusion writes ranges with offsets of some types as ranges without bounds."""
    plan = Plan.from_bytes(planned.data, catalog=sql_catalog())
    unknown = [each.name for each in plan.requirements() if each.kind in FUNCTION_KINDS and not each.urn]
    if unknown:
        raise _unknown_function(unknown[0])
    (root,) = plan.roots
    rel = rel_of(root)
    if any(isinstance(node, ex.DynamicParameter) for node in walk(rel)):
        raise UnsupportedError(
            "a query has no parameters of its own",
            hint="write the value, or give a table that is filtered by parameter(0, type)",
        )
    if _count_offsets(rel) < planned.offsets:
        raise UnsupportedError(
            "DataFusion leaves out the offset of a range of a window where it writes Substrait", hint=OF_RANGES
        )
    rel = without_nanoseconds(rebuild(rel, as_any_value))
    return restore_nulls(rel, has_null_aware_joins=planned.has_null_aware_joins, has_in=planned.has_in)


_HINTS = {"like": "without ESCAPE a backslash takes the character behind it as it is: note like '%50\\%'"}
"""What to write instead of a function, by DataFusion's name."""


def _count_offsets(rel: rl.Rel) -> int:
    """Return how many bounds of ranges have an offset."""
    calls = (node for node in walk(rel) if isinstance(node, ex.WindowCall) and node.bounds_type == "range")
    return sum(bound.offset is not None for call in calls for bound in (call.lower, call.upper))


def _put_in_table(tables: Mapping[str, rl.Rel], node: Node) -> Node:
    """Return what stands for a read of a table that was given: the relation, with the columns that the read has."""
    match node:
        case rl.Read(definition=rl.NamedTable(names=names), projection=mask):
            table = find_table(tables, names[0]) if len(names) == 1 else None
            if table is None:
                hint = OF_ROWS if names[0].endswith("()") else None
                raise InvalidArgumentError(f"there is no table {'.'.join(names)} among those given", hint=hint)
            if node.filter is not None or node.best_effort_filter is not None:
                raise UnsupportedError("DataFusion puts a filter into the read of a table")
            _check_types(names[0], node, table)
            return table if mask is None else rl.emit(table, [item.position for item in mask.items])
    return node


def _check_types(name: str, read: rl.Read, table: rl.Rel) -> None:
    """Check that DataFusion has the columns of a table as they are."""
    for field, column in zip(read.base_schema, table.schema, strict=True):
        if field.type != column.type:
            raise UnsupportedError(
                f'DataFusion has no {column.type}: the column "{column.name}" of "{name}" would be {field.type}',
                hint=f'give the table with {column.name}=lambda r: r["{column.name}"].cast("{field.type}")',
            )
