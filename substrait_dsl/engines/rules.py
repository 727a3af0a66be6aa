"""Rules of shape: deviations of engines from the specification that dialects have no words for.

A profile lists the rules that an engine breaks, and how (``shapes``). Lowering knows which nodes are concerned: those
that it rewrites or refuses. There is one entry here for each reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from typing import Literal as OneOf

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel

if TYPE_CHECKING:
    from substrait_dsl.engines.profile import Profile

Matches = Callable[[Node, "Profile"], bool]

PHYSICAL_JOINS = rl.HashJoin | rl.MergeJoin | rl.NestedLoopJoin
JOINS = rl.Join | PHYSICAL_JOINS | rl.LateralJoin
COUNTED = ("minus_primary_all", "minus_multiset", "intersection_multiset_all")
COMPARED = ("equal", "not_equal", "lt", "lte", "gt", "gte")
FLOATS = t.FP32 | t.FP64

RefusalCode = OneOf[
    "function",
    "option",
    "cast",
    "literal",
    "enhancement",
    "trees",
    "shared-rows",
    "size",
    "depth",
    "encoding",
    "no-form",
]
"""The reasons to refuse a node without a form on an engine."""

REFUSALS: Mapping[RefusalCode, str] = {
    "function": "a function that the engine does not have, or not as the specification says",
    "option": "an option of a call by which the engine does not compute",
    "cast": "a cast that the engine does in another way for some values",
    "literal": "a constant of a type that the engine does not read",
    "enhancement": "an enhancement of others, which must not be ignored",
    "trees": "a plan of several trees, or of one that is only evaluated",
    "shared-rows": "a shared relation that is used several times, and may have other rows each time it is computed",
    "size": "a plan that is too large when what is used several times stands there as often",
    "depth": "a plan that is too deep for one tree",
    "encoding": "something that has no form in the encoding that the engine reads",
    "no-form": "a relation or an expression that has no form on the engine",
}
"""The reasons in words."""


@attrs.frozen
class Rule:
    """A reason to rewrite a node."""

    code: str
    why: str
    """The engines' deviation, in words."""
    cure: str
    """The form that lowering writes instead."""
    matches: Matches


def _functions(rule: str) -> Matches:
    """Return the calls of functions for which a profile has this rule of lowering."""

    def matches(node: Node, profile: Profile) -> bool:
        return isinstance(node, ex.ScalarFunction) and profile.function_rules.get(node.function.standard_name) == rule

    return matches


def _types(expressions: Iterable[object]) -> tuple[t.Type, ...]:
    return tuple(each.type for each in expressions if isinstance(each, ex.Expression))


def _own(rel: Rel) -> tuple[Node, ...]:
    """Return the fields of a relation beside its inputs."""
    inputs = {id(each) for each in rel.inputs}
    return tuple(each for each in rel.children() if id(each) not in inputs)


def _has_subquery(node: Node, profile: Profile) -> bool:
    return isinstance(node, Rel) and any(part.flags.has_subqueries for part in node.children())


def _is_correlated(node: Node, profile: Profile) -> bool:
    return (
        isinstance(node, Rel)
        and not isinstance(node, rl.LateralJoin)
        and node.anchor is not None
        and any(node.anchor in part.free_anchors for part in (*_own(node), *node.inputs))
    )


def _compares_floats(node: Node, profile: Profile) -> bool:
    match node:
        case ex.ScalarFunction():
            is_compared = profile.function_rules.get(node.function.standard_name) == "one_zero"
            return is_compared and any(isinstance(each, FLOATS) for each in _types(node.arguments))
        case rl.Sort(keys=keys) | rl.TopN(keys=keys):
            return any(isinstance(each.expression.type, FLOATS) for each in keys)
        case rl.Aggregate(keys=keys):
            return any(isinstance(each, FLOATS) for each in _types(keys))
        case rl.Set():
            return any(isinstance(each, FLOATS) for each in node.schema.types)
        case ex.WindowFunction():
            values = (*node.partitions, *(each.expression for each in node.sorts))
            return any(isinstance(each, FLOATS) for each in _types(values))
        case _:
            return False


def _measures(node: Node) -> tuple[ex.Measure, ...]:
    return node.measures if isinstance(node, rl.Aggregate) else ()


def _is_integer_average(node: Node, profile: Profile) -> bool:
    return any(
        each.function.function.standard_name == "avg" and isinstance(each.function.output_type, t.INTEGER_TYPES)
        for each in _measures(node)
    )


def _has_decimals(node: Node, profile: Profile) -> bool:
    if any(isinstance(each.function.output_type, t.Decimal) for each in _measures(node)):
        return True
    return _functions("derived_decimal")(node, profile) and isinstance(getattr(node, "type", None), t.Decimal)


def _has_unread_option(node: Node, profile: Profile) -> bool:
    """Whether a call has an option that the engine does not implement."""
    return isinstance(node, ex.ScalarFunction) and any(
        not {each.upper() for each in option.preferences} & set(profile.values_of(option.name.lower(), node.function))
        for option in node.options
    )


def _has_ignored_option(node: Node, profile: Profile) -> bool:
    match node:
        case ex.ScalarFunction():
            return bool(node.options) and not _has_unread_option(node, profile)
        case ex.WindowFunction():
            return bool(node.call.options)
        case _:
            return any(each.function.options for each in _measures(node))


def _has_window_function(node: Node) -> bool:
    return isinstance(node, Rel) and any(part.flags.has_window_functions for part in node.children())


def _is_windowed(node: Node) -> bool:
    return isinstance(node, rl.Window) or _has_window_function(node)


def _has_windows(profile: Profile) -> bool:
    return profile.takes("expressions", "WINDOW_FUNCTION")


def _how(node: Node) -> str:
    return node.how if isinstance(node, JOINS) else ""


NEVER: Matches = lambda *_: False  # noqa: E731
"""The test of rules that are found while a plan is lowered."""

SAME_NAMES = Rule(
    "names",
    "columns are put out whose names are one to the engine, or none",
    "numbers behind the later ones; rows, tables and text that a session gives have the names of the plan",
    NEVER,
)

REGISTERED_FUNCTION = Rule(
    "registered-function",
    "the engine has a function only once it is registered there",
    "a function that AceroSession registers, as register_acero_functions does",
    NEVER,
)

MISREADINGS: Mapping[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule("window-twice", "of two equal window functions above each other, one is mistaken for the other",
             "values computed of them", NEVER),
        Rule("window-type", "ranks are unsigned integers, whose quotients are decimals", "ranks that are cast",
             NEVER),
        Rule("union-order", "the inputs of a union are sorted separately, without the keys that are constants there",
             "a fetch of all rows below the order", NEVER),
        Rule("sort-expression", "a computed sort key is mistaken for a column of the same name",
             "a sort by a column of a projection", NEVER),
        Rule("one-row", "a condition above the only row of an aggregate is pushed down below it, and the row stays",
             "a fetch of one row", NEVER),
        Rule("union-names", "pushdown looks for the columns of a union in its inputs, where they have other names",
             "inputs that are projections", NEVER),
        Rule("cast-digits", "a value is compared before its cast, which loses digits",
             "the cast in a conditional", NEVER),
        Rule("one-sided-key", "an equality of two columns of one side becomes a join key",
             "a condition that is no equality", NEVER),
        Rule("null-keys", "beside IS NOT DISTINCT FROM, NULL equals NULL in all equalities of a join",
             "equalities of whether values are NULL, and of stand-ins for NULL", NEVER),
        Rule("outer-constants", "a constant of a null-extended side stays a constant above the join",
             "a conditional of other columns", NEVER),
        Rule("joined-groups", "grouping keys stay unique keys above a join",
             "the keys as conditionals", NEVER),
        Rule("semi-join", "a semi join with more than equalities keeps rows without a match, too",
             "a semi join by the different values that have a match", NEVER),
        Rule("lost-order", "a relation above a sort may get its rows in several partitions, and lose their order",
             "the sort above",
             lambda node, _: isinstance(node, rl.Filter | rl.Project) and isinstance(node.input, rl.Sort)),
    )
}  # fmt: skip
"""Misreadings of engines, by code; `substrait_dsl.engines.lowering.misreadings` rewrites them."""

RULES: tuple[Rule, ...] = (
    Rule(
        "read-filter", "the filter of a read is not applied", "a filter above the read",
        lambda node, _: isinstance(node, rl.Read) and node.filter is not None,
    ),
    Rule(
        "read-columns", "the columns that a read chooses are not those that it puts out", "the columns chosen above it",
        lambda node, _: isinstance(node, rl.Read) and node.projection is not None,
    ),
    Rule(
        "correlated-subquery", "an outer reference of a subquery is not found, or is resolved to another row", "a join",
        _is_correlated,
    ),
    Rule(
        "subquery", "a subquery is in an expression", "a join",
        lambda node, profile: _has_subquery(node, profile) and not _is_correlated(node, profile),
    ),
    Rule(
        "zeros", "0.0 and -0.0, or NaNs of different bits, are distinct", "the values plus 0.0, with one NaN",
        _compares_floats,
    ),
    Rule(
        "offset", "a fetch without a count loses the order of its input", "a filter by row numbers",
        lambda node, _: isinstance(node, rl.Fetch) and node.count is None and node.offset is not None,
    ),
    Rule("top-n", "there is no top-n", "a sort and a fetch, or ranks", lambda node, _: isinstance(node, rl.TopN)),
    Rule("window-relation", "there is no window relation", "window functions in a projection",
         lambda node, profile: isinstance(node, rl.Window) and _has_windows(profile)),
    Rule("window-aggregate", "there are no window functions", "groups that are joined to their rows",
         lambda node, profile: _is_windowed(node) and not _has_windows(profile)),
    Rule("expand", "there is no expand", "a union of projections", lambda node, _: isinstance(node, rl.Expand)),
    Rule(
        "grouping-sets", "an aggregate has no more than one grouping set", "a union of aggregates",
        lambda node, _: isinstance(node, rl.Aggregate) and len(node.grouping_sets) > 1,
    ),
    Rule("integer-average", "the average of integers has a fraction", "sum by count, without the fraction",
         _is_integer_average),
    Rule("sum0", "there is no sum that is 0 of nothing", "a sum, or 0 where it is NULL",
         lambda node, _: any(each.function.function.standard_name == "sum0" for each in _measures(node))),
    Rule("decimal-digits", "decimals have another precision or scale than derived", "a cast to the derived type",
         _has_decimals),
    Rule(
        "set-repetitions", "a set operation counts repetitions in another way", "rows with numbers, or an anti join",
        lambda node, _: isinstance(node, rl.Set) and node.op in COUNTED,
    ),
    Rule(
        "set-of-many", "a set operation has no more than two inputs", "operations of two inputs",
        lambda node, _: isinstance(node, rl.Set) and len(node.relations) > 2 and not node.op.startswith("union"),
    ),
    Rule("mark-join", "the mark is false where it is NULL", "two joins by three-valued logic",
         lambda node, _: _how(node).endswith("mark")),
    Rule("single-join", "there is no join that fails for a second match", "a join with a check",
         lambda node, _: _how(node).endswith("single")),
    Rule(
        "right-join", "a join puts out its right input", "the join with its inputs in the other order",
        lambda node, _: bool(_how(node)) and _how(node).startswith("right"),
    ),
    Rule(
        "physical-join", "how a join is done is not read, or its keys are not", "the join with a condition",
        lambda node, _: isinstance(node, PHYSICAL_JOINS),
    ),
    Rule("lateral-join", "there is no lateral join", "a join by the outer columns",
         lambda node, _: isinstance(node, rl.LateralJoin)),
    Rule(
        "post-join-filter", "a post-join filter is not applied", "a filter above the join",
        lambda node, _: isinstance(node, JOINS) and getattr(node, "post_filter", None) is not None,
    ),
    Rule(
        "exchange", "an exchange distributes rows", "its input",
        lambda node, _: isinstance(node, rl.Exchange | rl.MergingCapture | rl.SimpleCapture),
    ),
    Rule("cast-failure", "a cast that is to give NULL where it fails gives an error", "one that fails for no value",
         lambda node, profile: isinstance(node, ex.Cast) and node.on_failure == "return_null"
         and not profile.takes("expressions", "CAST", "RETURN_NULL")),
    Rule("streaming-aggregate", "a method is required", "the aggregate by any method",
         lambda node, _: isinstance(node, rl.Aggregate) and node.method == "streaming"),
    Rule("unread-option", "an option is not read", "calls that compute by it", _has_unread_option),
    Rule("option-of-the-engine", "an option is set that the engine does not read", "the call without it",
         _has_ignored_option),
    Rule("between", "between is not read", "two comparisons", _functions("comparisons")),
    Rule("extract", "parts of a date are not read", "date_part, a function of the engine", _functions("date_part")),
    Rule("null-argument", "a NULL argument is skipped", "NULL where an argument is", _functions("null_if_any")),
    Rule("nullif", "nullif is another", "a conditional", _functions("nullif")),
    Rule("switch", "there is no switch", "a conditional", lambda node, _: isinstance(node, ex.Switch)),
    Rule("multi-or-list", "there is no list of records", "comparisons",
         lambda node, _: isinstance(node, ex.MultiOrList)),
    Rule("like", "a backslash in a pattern takes away the meaning of the next character", "two backslashes for each",
         _functions("like_pattern")),
    Rule("measure-order", "an aggregate over rows in an order fails", "the aggregate, whose value has no order",
         lambda node, _: any(each.function.sorts for each in _measures(node))),
    Rule(
        "window-place", "a window function stands where no projection is, or in another one",
        "a column of a projection below", lambda node, profile: _has_window_function(node) and _has_windows(profile),
    ),
    Rule("window-frame", "a range without an order is not all rows", "the frame of all rows",
         lambda node, _: isinstance(node, ex.WindowFunction) and node.call.bounds_type == "range"),
    Rule(
        "self-comparison", "of a value and itself a comparison is known to be true, even where it is NULL",
        "a conditional",
        lambda node, _: (isinstance(node, ex.ScalarFunction)
        and node.function.standard_name in COMPARED and len(set(node.arguments)) < len(node.arguments))
        or (isinstance(node, ex.SingularOrList) and node.value in node.options),
    ),
    Rule(
        "list-of-columns", "a value is looked for among the constants of a list alone", "comparisons",
        lambda node, _: isinstance(node, ex.SingularOrList) and node.value not in node.options
        and len({isinstance(each, ex.Literal) for each in node.options}) > 1,
    ),
    SAME_NAMES,
    REGISTERED_FUNCTION,
    *MISREADINGS.values(),
)  # fmt: skip
"""All rules by which nodes are rewritten."""

OTHER_FORM = Rule("other-form", "only an equal form is known to be right", "the equal form", lambda *_: True)
"""The rule where none of them says more."""

CODES = (*(rule.code for rule in RULES), OTHER_FORM.code, *REFUSALS)
"""The codes that a profile may mention."""


def rules_of(node: Node, profile: Profile) -> tuple[Rule, ...]:
    """Return the rules by which a node is rewritten for an engine."""
    return tuple(rule for rule in RULES if rule.matches(node, profile)) or (OTHER_FORM,)
