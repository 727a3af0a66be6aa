"""The state of lowering one plan, and the errors that lowering raises."""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import FunctionId, FunctionOption
from substrait_dsl.algebra.node import Node, Rel, walk_upwards
from substrait_dsl.algebra.stability import does_not_depend_on_order
from substrait_dsl.catalog.catalog import standard_catalog
from substrait_dsl.catalog.implementations import bindable, is_stable_call
from substrait_dsl.engines.profile import Profile
from substrait_dsl.engines.rules import RefusalCode
from substrait_dsl.errors import SubstraitDslError, UnsupportedError

_READS: dict[type, str] = {
    rl.LocalFiles: "files",
    rl.IcebergTable: "an Iceberg table by its metadata",
    rl.ExtensionTable: "a table of an extension",
}
"""What is read, other than tables with a name and rows in the plan."""


@attrs.frozen
class NodeLocation:
    """A node of a plan that is being lowered, and the relation at the top of its tree."""

    top: Rel
    node: Node


def _hint_of_own(function_type: str, name: str) -> str:
    """Return the hint for a function of an extension of the user's own, which the engine does not run."""
    bound = f'sd.implement(my.{name}, "spark", ...)'
    if function_type == "scalar function":
        return f'{bound} is for Spark and Sail, sd.implement(my.{name}, "datafusion", ...) for DataFusion'
    return f"{bound} is for Spark and Sail, which run aggregate functions of your own, also over windows"


@attrs.frozen
class Lowering:
    """The state of lowering one plan for one engine."""

    profile: Profile
    refusals: list[UnsupportedError] = attrs.field(factory=list)
    """The refusals so far, each with its location in the plan."""
    rewritten: list[NodeLocation] = attrs.field(factory=list)
    """The nodes that were rewritten so far."""

    misread: list[tuple[str, NodeLocation]] = attrs.field(factory=list)
    """The rewritten misreadings, by their codes in `MISREADINGS`, with their locations."""

    known_columns: dict[tuple[int, int], tuple[Rel, bool]] = attrs.field(factory=dict, init=False)
    """By the `id` of a relation and a position: the relation, and whether the engine knows the column's type."""
    checks_that_hold: dict[int, Node] = attrs.field(factory=dict, init=False)
    """The casts to required types that meet no NULL, by their ids, before and after their parts were lowered."""
    _sets: dict[int, tuple[Rel, bool]] = attrs.field(factory=dict, init=False)
    _stable: dict[int, tuple[Node, bool]] = attrs.field(factory=dict, init=False)
    _below: dict[tuple[int, tuple[type[Rel], ...]], tuple[Rel, Rel]] = attrs.field(factory=dict, init=False)
    origins: dict[int, tuple[Rel, Node]] = attrs.field(factory=dict)
    """By the `id` of a lowered relation: the relation, and the node that it was lowered from."""

    def remember(self, lowered: Rel, node: Node) -> None:
        """Record the origin of a lowered relation, and of the new relations inside it."""
        stack = [lowered]
        while stack:
            rel = stack.pop()
            if id(rel) not in self.origins:
                self.origins[id(rel)] = (rel, node)
                stack += rel.inputs

    def origin(self, lowered: Rel) -> Node | None:
        """Return the node that a relation was lowered from."""
        found = self.origins.get(id(lowered))
        return None if found is None else found[1]

    def has_set(self, rel: Rel) -> bool:
        """Whether a relation contains a set operation; each relation is visited once."""
        stack = [rel]
        while stack:
            current = stack[-1]
            waiting = [each for each in current.inputs if id(each) not in self._sets]
            if waiting and id(current) not in self._sets:
                stack += waiting
                continue
            stack.pop()
            found = isinstance(current, rl.Set) or any(self._sets[id(each)][1] for each in current.inputs)
            self._sets[id(current)] = (current, found)
        return self._sets[id(rel)][1]

    def find_below(self, rel: Rel, classes: tuple[type[Rel], ...]) -> Rel:
        """Return the first relation along the first inputs that is of none of these classes, or has no input.

        Each relation is visited once.
        """
        path: list[Rel] = []
        while isinstance(rel, classes) and rel.inputs and (id(rel), classes) not in self._below:
            path.append(rel)
            rel = rel.inputs[0]
        _, found = self._below.get((id(rel), classes), (rel, rel))
        for each in path:
            self._below[id(each), classes] = (each, found)
        return found

    def is_stable(self, rel: Rel) -> bool:
        """Whether every evaluation gives the same rows (`stability.is_stable`); each node is visited once."""
        for node in walk_upwards(rel, done=self._stable):
            is_stable = does_not_depend_on_order(node) and is_stable_call(node, self.profile.engine)
            is_stable = is_stable and all(self._stable[id(each)][1] for each in node.children())
            self._stable[id(node)] = (node, is_stable)
        return self._stable[id(rel)][1]

    def has_window_functions(self) -> bool:
        """Whether the engine has window functions."""
        return self.profile.takes("expressions", "WINDOW_FUNCTION")

    def refusal(self, what: str, hint: str | None = None, *, rule: RefusalCode = "no-form") -> UnsupportedError:
        """Return the error for a node without a form on the engine, such as ``"an unnest"``, and its rule."""
        return self.refusal_by(rule, f"{what} cannot be lowered to {self.profile}", hint)

    def refusal_of_read(self, definition: rl.ReadDefinition) -> UnsupportedError:
        """Return the error for a read of what is neither a table with a name nor rows in the plan."""
        hint = None
        if isinstance(definition, rl.LocalFiles):
            is_text = any(isinstance(item.format, rl.DelimitedText) for item in definition.items)
            rows = (
                "the table that to_arrow() of the read makes" if is_text else "the path of a Parquet or an Arrow file"
            )
            hint = f'read_named("t", schema) reads a table, and tables={{"t": ...}} of an execution takes {rows}'
        return self.refusal(f"a read of {_READS.get(type(definition), 'what is no table with a name')}", hint)

    def refusal_by(self, rule: RefusalCode, message: str, hint: str | None = None) -> UnsupportedError:
        """Return the error of a refusal by a rule."""
        error = UnsupportedError(message, hint=hint)
        error.rule = rule
        return error

    def refusal_of(self, error: SubstraitDslError, location: NodeLocation) -> UnsupportedError:
        """Return the error that refuses a node: the error itself, or one for an illegal lowered node."""
        if not isinstance(error, UnsupportedError):
            error = self.refusal_by("no-form", f"what {self.profile} would get instead is not legal: {error.message}")
        if error.refused is None:
            error.refused = location
        return error

    def has_function(self, function_type: str, function: FunctionId) -> bool:
        """Whether the engine has a function of this type under its own name."""
        return (function_type, function.urn, function.key) in self.profile.functions

    def require_meaning(self, function_type: str, function: FunctionId) -> None:
        """Raise for a function of an extension that is not the specification's, unless the engine has that very one.

        Its name says nothing: what is written instead of a function is written of those of the specification.
        """
        if function.urn not in standard_catalog().extensions:
            self.require_function(function_type, function)

    def require_function(self, function_type: str, function: FunctionId) -> None:
        """Raise unless the engine has a function of this type, such as ``"scalar function"``, under its own name."""
        if not self.has_function(function_type, function):
            message = f"{self.profile} has no {function_type} {function.key} that does what the specification says"
            hint = None
            if function.urn and (own := bindable(function, "spark")) is not None:
                message = f"{self.profile} has no {function_type} {function.key}, which {function.urn} declares"
                hint = _hint_of_own(function_type, own["function"])
            error = self.refusal_by("function", message, hint)
            if function_type == "scalar function" and (details := bindable(function, self.profile.engine)) is not None:
                error = UnsupportedError(message, remedy="unbound-function", details=details)
                error.rule = "function"
            raise error

    def require_options(self, function: FunctionId, options: tuple[FunctionOption, ...]) -> None:
        """Raise unless each option allows what the engine does anyway."""
        for option in options:
            does = self.profile.values_of(option.name.lower(), function)
            if not any(preference.upper() in does for preference in option.preferences):
                wanted = f"{option.name}={'|'.join(option.preferences)}"
                raise self.refusal_by("option", f"{self.profile} does not compute {function.name} with {wanted}")
