"""Lowering of a plan, bottom up: each node once, after its parts.

So a relation is lowered when its inputs and its subqueries are, and its expressions, whatever their height.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import is_
from typing import assert_never

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import ScalarFunction, SortKey
from substrait_dsl.algebra.expressions import as_union as expression_as_union
from substrait_dsl.algebra.node import Expression, Node, Rel, walk, walk_upwards, with_children
from substrait_dsl.algebra.null_filters import checks_that_hold
from substrait_dsl.algebra.plan import AlgebraPlan, Root, Tree
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.stability import REPEATED_ROWS, SHARED_HINT, SHARED_ROWS, unstable_shared_relations
from substrait_dsl.catalog.implementations import is_stable_call, refusal_of_repetition
from substrait_dsl.engines.lowering import aggregates, columns, joins, rows, sets
from substrait_dsl.engines.lowering.context import Lowering, NodeLocation
from substrait_dsl.engines.lowering.expressions import lower_expression
from substrait_dsl.engines.lowering.forms import bring_to_forms
from substrait_dsl.engines.lowering.misreadings import without_misreadings
from substrait_dsl.engines.lowering.terms import column, emit_over, one_zero
from substrait_dsl.engines.lowering.windows import split_windows
from substrait_dsl.engines.profile import Profile
from substrait_dsl.errors import SubstraitDslError, UnsupportedError, class_words

MAX_SIZE = 20_000
"""The maximal number of nodes of a plan; shared subtrees count for each use, since engines read each of them."""


@attrs.frozen
class LoweringResult:
    """What lowering a plan comes to."""

    plan: AlgebraPlan | None
    """The plan with the same rows, types and unique names; None where something is refused."""
    refusals: tuple[UnsupportedError, ...]
    """The refusals, in the order of evaluation; ``refused`` is the node."""
    rewritten: tuple[NodeLocation, ...]
    """The nodes of the plan that were rewritten."""
    misread: tuple[tuple[str, NodeLocation], ...]
    """The misreadings that were rewritten, by their codes in `MISREADINGS`."""


def lower_plan(plan: AlgebraPlan, profile: Profile) -> AlgebraPlan:
    """Lower a plan to what an engine takes.

    Args:
        plan: the plan.
        profile: what the engine takes.

    Returns:
        A plan with the same rows, names and types; of columns of one name the later ones have a number behind it.

    Raises:
        UnsupportedError: for the first thing that has no form on the engine; its ``refused`` says which node that is.
        LiteralError: for a parameter that is bound to a value of another type.
    """
    result = try_to_lower(plan, profile)
    if result.plan is None:
        raise result.refusals[0]
    return result.plan


def try_to_lower(plan: AlgebraPlan, profile: Profile) -> LoweringResult:
    """Lower a plan to what an engine takes, and collect all refusals.

    Raises:
        LiteralError: for a parameter that is bound to a value of another type.
    """
    lowering = Lowering(profile)
    if plan.settings.enhancement is not None:
        lowering.refusals.append(lowering.refusal("an enhancement of the plan", rule="enhancement"))
    if len(plan.trees) != 1 or not isinstance(plan.trees[0], Root):
        lowering.refusals.append(
            lowering.refusal("a plan of several trees, or of none that is returned,", rule="trees")
        )
    for rel in unstable_shared_relations(plan.relations, lowering.is_stable):
        error = lowering.refusal_by("shared-rows", f"{lowering.profile} {SHARED_ROWS}", SHARED_HINT)
        error.refused = NodeLocation(next(top for top in plan.relations if any(node is rel for node in walk(top))), rel)
        lowering.refusals.append(error)
    bound = plan.with_parameters_bound()
    trees: list[Root] = []
    for tree in bound.trees:
        relation = _lower_tree(tree, lowering)
        if isinstance(tree, Root):
            _require_root(tree, relation, lowering)
            trees.append(
                Root(relation, tree.names).with_unique_columns(is_alike=profile.has_form("named_columns_alike"))
            )
    if lowering.refusals:
        return LoweringResult(None, tuple(lowering.refusals), tuple(lowering.rewritten), tuple(lowering.misread))
    lowered = attrs.evolve(bound, trees=tuple(trees), version=None, expected_type_urls=(), type_aliases=())
    return LoweringResult(lowered, (), tuple(lowering.rewritten), tuple(lowering.misread))


def _require_root(root: Root, rel: Rel, lowering: Lowering) -> None:
    """Refuse a root whose columns or size the engine does not take."""
    if lowering.profile.forms is not None and any(isinstance(type_, t.Struct) for type_ in root.input.schema.types):
        lowering.refusals.append(lowering.refusal("a column that is a struct"))
    if rel.size > MAX_SIZE:
        lowering.refusals.append(
            lowering.refusal_by(
                "size",
                f"for {lowering.profile} the plan would have {rel.size} parts, as it reads relations that are used "
                f"several times once for each time; at most {MAX_SIZE} are written",
            )
        )
    types, found = root.input.schema.types, rel.schema.types
    if lowering.profile.forms is not None:  # to such engines it is nothing whether a value may be NULL
        types, found = (tuple(type_.as_nullable() for type_ in each) for each in (types, found))
    if found != types and not lowering.refusals:  # the placeholder of a refused relation may have another schema
        raise AssertionError(f"lowered to {found}, not {types}")


def _lower_tree(tree: Tree, lowering: Lowering) -> Rel:
    """Lower a tree; a refused node is recorded, and a placeholder stands for it."""
    top = tree.input
    lowering.checks_that_hold.update(checks_that_hold(top))
    done: dict[int, Node] = {}
    for node in walk_upwards(top):
        try:
            done[id(node)], is_rewritten = _lower_over(node, done, lowering)
        except SubstraitDslError as error:
            lowering.refusals.append(lowering.refusal_of(error, NodeLocation(top, node)))
            done[id(node)] = _placeholder(node, done)
        else:
            if is_rewritten:
                lowering.rewritten.append(NodeLocation(top, node))
        result = done[id(node)]
        if isinstance(result, Rel):
            lowering.remember(result, node)
    result = done[id(top)]
    assert isinstance(result, Rel)
    if lowering.profile.forms is None or lowering.refusals:
        return _lower_output(result, tree, lowering)
    return bring_to_forms(result, lowering, top)


def _lower_output(relation: Rel, tree: Tree, lowering: Lowering) -> Rel:
    """Return the output of a tree as the engine reads it, with the plan's names in structs."""
    top = tree.input
    found: list[tuple[str, Node]] = []
    if not lowering.refusals:
        ordered = _restore_order(relation, top)
        found += [("lost-order", top)] if ordered is not relation else []
        relation = ordered
    try:
        if isinstance(tree, Root):
            relation = rows.with_root_names(
                relation, NamedStruct.from_types(top.schema.types, tree.names).types, lowering
            )
        relation = without_misreadings(relation, lambda code, node: found.append((code, node)), lowering)
    except UnsupportedError as error:
        error.refused = NodeLocation(top, top)
        lowering.refusals.append(error)
    if found:
        own = {id(node) for node in walk(top)}
        lowering.misread.extend((code, NodeLocation(top, _origin(node, own, lowering) or top)) for code, node in found)
    return relation


def _origin(node: Node, own: Collection[int], lowering: Lowering) -> Node | None:
    """Return the node of a plan that a node was lowered from, or is."""
    return node if id(node) in own else lowering.origin(node) if isinstance(node, Rel) else None


def _restore_order(lowered: Rel, top: Rel) -> Rel:
    """Sort a lowered relation again where its ordering is known, and no sort makes it at the top.

    Engines may lose the order of joins and window functions above a sort.
    """
    rel = lowered
    while isinstance(rel, rl.Emit | rl.Fetch):
        rel = rel.input
    if isinstance(rel, rl.Sort):
        return lowered
    keys: list[SortKey] = []
    for key in top.properties.ordering:
        type_ = top.schema.types[key.field[0]]
        if len(key.field) > 1 or isinstance(type_, t.Struct | t.List | t.Map):
            break
        keys.append(SortKey(one_zero(column(lowered, key.field[0])), key.direction))
    return rl.Sort(lowered, tuple(keys)) if keys else lowered


def _placeholder(node: Node, done: Mapping[int, Node]) -> Node:
    """Return a placeholder of the same schema or type for a refused node, so that the rest is lowered."""
    if isinstance(node, Rel):
        return rl.Read(node.schema, rl.NamedTable(("refused",)))
    return with_children(node, done)


def _lower_over(node: Node, done: Mapping[int, Node], lowering: Lowering) -> tuple[Node, bool]:
    """Lower a node over lowered parts, and return whether it was rewritten."""
    if isinstance(node, rl.Emit):  # its input may be an emit now, and emits are merged
        source = done[id(node.input)]
        assert isinstance(source, Rel)
        return emit_over(source, node), False
    _require_used_once(node, lowering)
    logical = _without_method(node) if isinstance(node, Rel) else node
    same = with_children(logical, done)
    match same:
        case Rel():
            relation = lower_relation(same, lowering)
            _require_read_once(relation, same, lowering)
            return _restore_names(relation, same), not _is_same(_without_names(relation), same) or logical is not node
        case Expression():
            if id(node) in lowering.checks_that_hold:
                lowering.checks_that_hold[id(same)] = same
            expression = lower_expression(expression_as_union(same), lowering)
            return (same, False) if _is_same(expression, same) else (expression, True)
        case _:
            return same, False  # of the relation or the expression that it is in


def _require_used_once(node: Node, lowering: Lowering) -> None:
    """Refuse a call with other values each time, but as a column of a project: what is lowered may repeat it."""
    for call in () if isinstance(node, rl.Project) else node.children():
        if isinstance(call, ScalarFunction) and not is_stable_call(call, lowering.profile.engine):
            raise refusal_of_repetition(lowering.profile, call)


def _require_read_once(lowered: Rel, rel: Rel, lowering: Lowering) -> None:
    """Refuse a relation that reads another one several times as it is lowered, if its rows may differ each time."""
    nodes = walk(rel, into_relations=False)
    for part in {id(child): child for node in nodes for child in node.children() if isinstance(child, Rel)}.values():
        if not lowering.is_stable(part) and _count_uses(lowered, part) > _count_uses(rel, part):
            raise lowering.refusal_by("shared-rows", f"{lowering.profile} {REPEATED_ROWS}", SHARED_HINT)


def _count_uses(top: Rel, part: Rel) -> int:
    """Return how often a relation is part of another one, on whatever way."""
    uses: dict[int, int] = {id(part): 1}
    for node in walk_upwards(top, done=uses):
        uses[id(node)] = sum(uses[id(child)] for child in node.children())
    return uses[id(top)]


def _without_method(node: Rel) -> Rel:
    """Drop the method that a relation asks for: its required ordering may no longer be known."""
    match node:
        case rl.MergeJoin():
            return rl.HashJoin(
                node.left,
                node.right,
                node.how,
                node.keys,
                node.residual,
                node.post_filter,
                mark=node.mark,
                anchor=node.anchor,
                common=node.common,
            )
        case rl.Aggregate(method="streaming"):
            return attrs.evolve(node, method="any")
        case rl.Window(method="streaming"):
            return attrs.evolve(node, method="hashing")
        case _:
            return node


def _restore_names(lowered: Rel, rel: Rel) -> Rel:
    """Restore the column names of a lowered relation."""
    return (
        lowered
        if lowered.schema.names == rel.schema.names
        else rl.emit(lowered, range(len(rel.schema)), rel.schema.names)
    )


def _is_same(lowered: Node, node: Node) -> bool:
    """Whether two nodes are equal; shared parts are not compared."""
    if lowered is node:
        return True
    if type(lowered) is not type(node):
        return False
    is_shared = True
    for one, other in zip(lowered.identity_fields(), node.identity_fields(), strict=True):
        if one is other or (type(one) is tuple and len(one) == len(other) and all(map(is_, one, other))):
            continue
        if isinstance(one, Node | tuple):
            is_shared = False
        elif one != other:
            return False
    return is_shared or lowered == node


def _without_names(rel: Rel) -> Rel:
    """Return a relation under an emit that only renames it."""
    is_renamed = isinstance(rel, rl.Emit) and rel.mapping == tuple(range(len(rel.input.schema)))
    return rel.input if isinstance(rel, rl.Emit) and is_renamed else rel


def lower_relation(rel: Rel, lowering: Lowering) -> Rel:
    """Lower a relation over lowered parts to others with the same rows and columns."""
    if rel.common is not None and any(
        each is not None and each.enhancement is not None for each in (rel.common.extension, rel.common.own_extension)
    ):
        raise lowering.refusal("an enhancement of a relation", rule="enhancement")
    relation = rl.as_union(rel)
    split = split_windows(relation, lowering)
    if split is not None:
        return split.restore(
            lower_relation(split.place_over(relation, lower_relation(split.projection, lowering)), lowering)
        )
    match relation:
        case rl.Read() as read:
            return rows.lower_read(read, lowering)
        case rl.Filter() as filter_:
            return rows.lower_filter(filter_, lowering)
        case rl.Sort() as sort:
            return rows.lower_sort(sort, lowering)
        case rl.Fetch() as fetch:
            return rows.lower_fetch(fetch, lowering)
        case rl.TopN() as top_n:
            return rows.lower_top_n(top_n, lowering)
        case rl.Project() as project:
            return columns.lower_project(project, lowering)
        case rl.Emit() as emit:
            return rl.emit(emit.input, emit.mapping, emit.names)
        case rl.Window() as window:
            return columns.lower_window(window, lowering)
        case rl.Expand() as expand:
            return columns.lower_expand(expand, lowering)
        case rl.Aggregate() as aggregate:
            return aggregates.lower_aggregate(aggregate, lowering)
        case rl.Set() as set_:
            return sets.lower_set(set_, lowering)
        case rl.Join() as join:
            return joins.lower_join(join, lowering)
        case rl.Cross() as cross:
            return joins.lower_cross(cross, lowering)
        case rl.LateralJoin() as lateral:
            return joins.lower_lateral_join(lateral, lowering)
        case rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin() as physical:
            return joins.lower_physical_join(physical, lowering)
        case rl.Exchange(input=child) | rl.MergingCapture(input=child) | rl.SimpleCapture(input=child):
            return child  # where rows lie changes none
        case (
            rl.Unnest()
            | rl.Write()
            | rl.Update()
            | rl.Ddl()
            | rl.ExtensionLeaf()
            | rl.ExtensionSingle()
            | rl.ExtensionMulti()
        ):
            raise lowering.refusal(class_words(rel))
        case never:
            assert_never(never)
