"""What a plan means that changes tables: an interpreter that runs its trees in order, each depth first.

It knows the few relations that the random plans have. Tables are lists of rows, by their names; a change changes them
when it is reached, and a shared relation has the rows that it had when it was reached first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.plan import AlgebraPlan, Root

Row = tuple[Any, ...]
Tables = dict[tuple[str, ...], list[Row]]


def run(plan: AlgebraPlan, tables: Tables) -> list[list[Row]]:
    """The rows of each root; the tables are what they are afterwards."""
    results: dict[int, list[Row]] = {}
    roots = []
    for tree in plan.trees:
        for shared in shared_in(tree.input):
            if id(shared) not in results:
                results[id(shared)] = rows_of(shared, tables, results)
        found = rows_of(tree.input, tables, results)
        if isinstance(tree, Root):
            roots.append(found)
    return roots


def shared_in(node: Node) -> list[Rel]:
    """The shared relations in a tree, inner ones first."""
    below = [rel for child in node.children() for rel in shared_in(child)]
    return [*below, node] if isinstance(node, Rel) and node.shared else below


def rows_of(rel: Rel, tables: Tables, results: dict[int, list[Row]]) -> list[Row]:
    """The rows of a relation, which is evaluated now unless it is shared and was evaluated before."""
    if id(rel) in results:
        return results[id(rel)]
    inputs = [rows_of(child, tables, results) for child in rel.inputs]
    match rel:
        case r.Read(definition=r.NamedTable(names=names)):
            return list(tables[names])
        case r.Read(definition=r.VirtualTable(rows=records)):
            return [tuple(cast("ex.Literal", value).value for value in record.fields) for record in records]
        case r.Set(op="union_all"):
            return [row for rows in inputs for row in rows]
        case r.Fetch(count=None, offset=None):
            return inputs[0]
        case r.Filter(condition=condition):
            return [row for row in inputs[0] if value(condition, row) is True]
        case r.Project(expressions=expressions):
            return [(*row, *(value(each, row) for each in expressions)) for row in inputs[0]]
        case r.Emit(mapping=mapping):
            return [tuple(row[position] for position in mapping) for row in inputs[0]]
        case r.Aggregate(keys=()):
            return [(len(inputs[0]),)]
        case r.Write(target=r.NamedObject(names=names)):
            changed = written(rel, tables.setdefault(names, []), inputs[0])
            return changed if rel.output == "modified_records" else []
        case r.Update(table=r.NamedTable(names=names), condition=condition, transformations=transformations):
            rows = tables[names]
            hit = [value(condition, row) is True for row in rows]
            tables[names] = [
                with_columns(row, {each.column: value(each.value, row) for each in transformations}) if is_hit else row
                for row, is_hit in zip(rows, hit, strict=True)
            ]
            return [(sum(hit),)]
        case _:
            raise NotImplementedError(type(rel))


def written(rel: r.Write, table: list[Row], rows: list[Row]) -> list[Row]:
    """Write rows to a table; gives those that were inserted or deleted."""
    match rel.op:
        case "insert":
            table.extend(rows)
            return rows
        case "ctas":
            table[:] = rows
            return rows
        case "delete":  # one copy for each row
            gone = []
            for row in rows:
                if row in table:
                    table.remove(row)
                    gone.append(row)
            return gone
        case _:
            raise NotImplementedError(rel.op)


def with_columns(row: Row, values: dict[int, Any]) -> Row:
    return tuple(values.get(position, old) for position, old in enumerate(row))


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "gt": lambda left, right: left > right,
    "lt": lambda left, right: left < right,
    "equal": lambda left, right: left == right,
    "add": lambda left, right: left + right,
}


def value(expression: Node, row: Row) -> Any:
    """The value of an expression for a row; NULL if an argument is."""
    match expression:
        case ex.Literal(value=constant):
            return constant
        case ex.FieldReference(position=position):
            return row[position]
        case ex.ScalarFunction(function=function, arguments=arguments):
            values = [value(cast("Node", argument), row) for argument in arguments]
            return None if None in values else FUNCTIONS[function.name](*values)
        case _:
            raise NotImplementedError(type(expression))
