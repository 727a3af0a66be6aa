"""Column pruning: the columns of a read that a plan uses. The others are left out of the text that Spark analyses.

One pass from the root down to the reads. A relation that this module does not know uses all columns of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import ROOT
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.rules import JOIN_RULES
from substrait_dsl.algebra.types import Struct, Type
from substrait_dsl.spark.relations.physical_joins import as_join
from substrait_dsl.spark.relations.subqueries import is_subquery, relation_of


def used_columns(relations: Sequence[Rel]) -> Mapping[int, Set[int]]:
    """Return the output positions that a plan uses, for each of its relations by id; the relations come parents first.

    For a read, they are positions in its base schema.
    """
    root = relations[0]
    used: dict[int, set[int]] = {id(root): set(_everything(root))}
    for rel in relations:
        for child, positions in (*_find_used_columns(rel, used[id(rel)]), *_find_subquery_columns(rel)):
            used.setdefault(id(child), set()).update(positions)
    return used


def referenced_positions(expressions: Iterable[Node], anchor: int | None) -> set[int]:
    """Return the positions of the row with this anchor to which expressions refer.

    Outer references from inside their subqueries count, too.
    """
    positions: set[int] = set()
    outer = ex.OuterReference(anchor) if anchor is not None else None
    for expression in expressions:
        direct = walk(expression, into_relations=False)
        positions.update(position for node in direct for root, position in referenced_columns(node) if root == ROOT)
        if outer is not None and anchor in expression.free_anchors:
            inside = walk(expression)
            positions.update(
                position for node in inside for root, position in referenced_columns(node) if root == outer
            )
    return positions


def referenced_columns(node: Node) -> Iterator[tuple[ex.Root, int]]:
    """Yield the columns that a node itself refers to: the root of the reference, and the position."""
    match node:
        case ex.FieldReference(root=root, position=position):
            yield root, position
        case ex.MaskedReference(input=ex.Row(root=root), mask=mask):
            yield from ((root, item.position) for item in mask.items)
        case _:
            pass


def columns_outside(nodes: Iterable[Node], anchors: Set[int]) -> Iterator[tuple[int, int]]:
    """Yield the columns of outer rows with these anchors to which nodes refer: the anchor, and the position."""
    for start in nodes:
        if not start.free_anchors.isdisjoint(anchors):
            for node in walk(start):
                for root, position in referenced_columns(node):
                    if isinstance(root, ex.OuterReference) and root.anchor in anchors:
                        yield root.anchor, position


def referenced_types(nodes: Iterable[Node], root: ex.Root, *, into_relations: bool = True) -> dict[int, Type]:
    """Return the types of the columns to which nodes refer, by position."""
    types: dict[int, Type] = {}
    for start in nodes:
        for node in walk(start, into_relations=into_relations):
            match node:
                case ex.FieldReference(position=position, type=type_) if node.root == root:
                    types[position] = type_
                case ex.MaskedReference(input=ex.Row(types=Struct(types=field_types)) as row, mask=mask) if (
                    row.root == root
                ):
                    types |= {item.position: field_types[item.position] for item in mask.items}
                case _:
                    pass
    return types


def relations_inside(rel: Rel) -> Iterator[Rel]:
    """Yield the relations directly inside a relation: its inputs, and those of its subqueries."""
    yield from rel.inputs
    yield from (inside for inside, _ in _find_subquery_columns(rel))


def _everything(rel: Rel) -> range:
    return range(len(rel.schema))


def _find_used_columns(rel: Rel, used: Set[int]) -> Iterator[tuple[Rel, Iterable[int]]]:
    """Yield the inputs of a relation, with the positions that it uses of them if `used` are used of its own output."""
    match rel:
        case rl.Read(projection=None):
            yield rel, referenced_positions(_expressions(rel), rel.anchor)
        case rl.Read():
            yield rel, range(len(rel.base_schema))
        case rl.Filter(input=child) | rl.Sort(input=child) | rl.TopN(input=child):
            yield child, used | referenced_positions(_expressions(rel), rel.anchor)
        case rl.Fetch(input=child):  # the first rows are those of the known ordering
            yield child, used | {key.field[0] for key in child.properties.ordering}
        case rl.Project(input=child) | rl.Window(input=child):
            passed = used & set(_everything(child))
            yield child, passed | referenced_positions(_expressions(rel), rel.anchor)
        case rl.Emit(input=child, mapping=mapping):
            yield child, {mapping[position] for position in used}
        case rl.Aggregate(input=child) | rl.Expand(input=child):
            yield child, referenced_positions(_expressions(rel), rel.anchor)
        case rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin():
            yield from _find_used_columns(as_join(rel), used)
        case rl.Cross(left=left, right=right):
            yield from _find_all_columns(left, right, used)
        case rl.Join(how=how, post_filter=None) if "single" not in how:
            yield from _find_used_join_columns(rel, used)
        case _:
            yield from ((child, _everything(child)) for child in rel.inputs)


def _find_used_join_columns(rel: rl.Join, used: Set[int]) -> Iterator[tuple[Rel, Iterable[int]]]:
    """Yield the inputs of a join with the positions that it uses of them."""
    rule, left, right = JOIN_RULES[rel.how], len(rel.left.schema), len(rel.right.schema)
    dropped = left if rule.left == "dropped" else 0
    end = left + (right if rule.right != "dropped" else 0)  # what follows the columns of the inputs is the mark
    passed = {position + dropped for position in used if position + dropped < end}
    yield from _find_all_columns(rel.left, rel.right, passed | referenced_positions([rel.condition], rel.anchor))


def _find_all_columns(left: Rel, right: Rel, used: Set[int]) -> Iterator[tuple[Rel, Iterable[int]]]:
    width = len(left.schema)
    yield left, {position for position in used if position < width}
    yield right, {position - width for position in used if position >= width}


def _find_subquery_columns(rel: Rel) -> Iterator[tuple[Rel, Iterable[int]]]:
    for expression in _expressions(rel):
        for node in walk(expression, into_relations=False):
            if is_subquery(node):
                inside = relation_of(node)
                is_exists = isinstance(node, ex.SetPredicate) and node.op == "exists"
                yield inside, () if is_exists else _everything(inside)


def _expressions(rel: Rel) -> list[Node]:
    return [child for child in rel.children() if not isinstance(child, Rel)]


def parents_first(root: Rel) -> list[Rel]:
    """Return all relations of a plan in topological order, parents first."""
    order: list[Rel] = []
    entered: set[int] = set()
    stack: list[tuple[Rel, bool]] = [(root, False)]
    while stack:
        rel, left = stack.pop()
        if left:
            order.append(rel)
        elif id(rel) not in entered:
            entered.add(id(rel))
            stack.append((rel, True))
            stack.extend((inside, False) for inside in relations_inside(rel))
    return order[::-1]
