"""The declarations of an extension file, as immutable records.

Specification: https://substrait.io/extensions/ and ``simple_extensions_schema.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Literal

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.rules import require_distinct_options
from substrait_dsl.algebra.type_syntax import Program, TypeNode
from substrait_dsl.algebra.types import TypeVariation
from substrait_dsl.errors import InvalidChoiceError

Kind = Literal["scalar", "aggregate", "window"]
KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")

Nullability = Literal["MIRROR", "DECLARED_OUTPUT", "DISCRETE"]
Decomposable = Literal["NONE", "ONE", "MANY"]
WindowType = Literal["STREAMING", "PARTITION"]
ParameterKind = Literal["dataType", "boolean", "integer", "enumeration", "string"]


@attrs.frozen(eq=False, repr=False)
class ValueArgument(FrozenValue):
    """An argument that takes a value of a type that matches `pattern`; `constant` ones take no column."""

    pattern: TypeNode
    name: str = ""
    description: str = ""
    constant: bool = False

    @property
    def short_name(self) -> str:
        """The argument in a function signature."""
        return self.pattern.short_name

    def __str__(self) -> str:
        return _label_text(self.name, str(self.pattern))


@attrs.frozen(eq=False, repr=False)
class EnumArgument(FrozenValue):
    """An argument that takes one of a closed list of words, in any case."""

    options: tuple[str, ...]
    name: str = ""
    description: str = ""

    short_name: ClassVar[str] = "req"

    def __str__(self) -> str:
        return _label_text(self.name, " | ".join(self.options))


@attrs.frozen(eq=False, repr=False)
class TypeArgument(FrozenValue):
    """An argument that takes a type that matches `pattern`, and no value."""

    pattern: TypeNode
    name: str = ""
    description: str = ""

    short_name: ClassVar[str] = "type"

    def __str__(self) -> str:
        return _label_text(self.name, f"type {self.pattern}")


Argument = ValueArgument | EnumArgument | TypeArgument


@attrs.frozen(eq=False, repr=False)
class Variadic(FrozenValue):
    """How often the last argument may stand: `minimum` to `maximum` times, both inclusive."""

    minimum: int = 0
    maximum: int | None = None
    consistent: bool = True  # spec decision 40: all of one type unless the file says INCONSISTENT
    """Whether every occurrence must have the same type."""


@attrs.frozen(eq=False, repr=False)
class Option(FrozenValue):
    """A function option and the values it may take."""

    name: str
    values: tuple[str, ...]
    description: str = ""


@attrs.frozen(eq=False, repr=False)
class Deprecation(FrozenValue):
    """Since which version something is deprecated, and why."""

    since: str
    reason: str = ""


@attrs.frozen(eq=False, repr=False)
class Overload(FrozenValue):
    """One implementation of a function: what it takes and what type it returns. `urn` and `key` identify it."""

    kind: Kind
    urn: str
    name: str
    arguments: tuple[Argument, ...]
    returns: Program
    nullability: Nullability = "MIRROR"
    variadic: Variadic | None = None
    options: tuple[Option, ...] = ()
    deterministic: bool = True
    session_dependent: bool = False
    description: str = ""
    deprecated: Deprecation | None = None
    intermediate: Program | None = None
    decomposable: Decomposable = "NONE"
    ordered: bool = False
    max_set: int | None = None
    window_type: WindowType = "PARTITION"
    implementation: tuple[tuple[str, str], ...] = ()
    key: str = attrs.field(init=False)
    """The signature in a plan's function declarations, such as ``add:i64_i64``."""

    @key.default
    def _key(self) -> str:
        return f"{self.name}:{'_'.join(argument.short_name for argument in self.arguments)}"

    function: FunctionId = attrs.field(init=False, eq=False, repr=False)
    """Its name in expressions."""

    @function.default
    def _function(self) -> FunctionId:
        return FunctionId(self.urn, self.key)

    def takes_count(self, count: int) -> bool:
        """Return whether a call may have this many arguments."""
        return count == self.nearest_count(count)

    def nearest_count(self, count: int) -> int:
        """Return the number of arguments, of those that a call may have, that is nearest to the given one."""
        if self.variadic is None:
            return len(self.arguments)
        fixed, most = len(self.arguments) - 1, self.variadic.maximum
        repeats = max(count - fixed, self.variadic.minimum)
        return fixed + (repeats if most is None else min(repeats, most))

    def argument_at(self, position: int) -> Argument:
        """Return the argument at a position of a call; past the end, the variadic one again."""
        return self.arguments[min(position, len(self.arguments) - 1)]

    def argument_position(self, name: str) -> int | None:
        """Return the position of an argument given by name."""
        return next((position for position, argument in enumerate(self.arguments) if argument.name == name), None)

    def option(self, name: str) -> Option:
        """Return the option of a name, in any case.

        Raises:
            InvalidChoiceError: With the options there are.
        """
        for option in self.options:
            if option.name.lower() == name.lower():
                return option
        if not self.options:
            raise InvalidChoiceError(f'{self} has no options, got "{name}"')
        raise InvalidChoiceError.of_word(f"option of {self.name}", name, (option.name for option in self.options))

    def option_values(self, name: str, values: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Return an option and its preferred values, as the file spells them.

        Raises:
            InvalidChoiceError: For an unknown option or value.
        """
        option = self.option(name)
        spelling = {value.lower(): value for value in option.values}
        for value in values:
            if value.lower() not in spelling:
                raise InvalidChoiceError.of_word(f"value of option {option.name} of {self.name}", value, option.values)
        return option.name, tuple(spelling[value.lower()] for value in values)

    def resolve_options(self, options: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
        """Options with their preferred values, as the file spells them.

        Raises:
            InvalidArgumentError: For an option that is given twice.
            InvalidChoiceError: For an unknown option or value.
        """
        said = [*options]
        require_distinct_options((name for name, _ in said), self.name)
        return dict(self.option_values(name, values) for name, values in said)

    def __str__(self) -> str:
        arguments = ", ".join(map(str, self.arguments)) + (", ..." if self.variadic else "")
        return f"{self.name}({arguments}) -> {self.returns.result}"


@attrs.frozen(eq=False, repr=False)
class Function(FrozenValue):
    """All overloads that one file gives a function of one kind."""

    kind: Kind
    urn: str
    name: str
    overloads: tuple[Overload, ...]
    description: str = ""
    deprecated: Deprecation | None = None


@attrs.frozen(eq=False, repr=False)
class TypeParameterDeclaration(FrozenValue):
    """The declaration of a parameter of a user-defined type."""

    kind: ParameterKind
    name: str = ""
    description: str = ""
    minimum: int | None = None
    maximum: int | None = None
    options: tuple[str, ...] = ()
    optional: bool = False


@attrs.frozen(eq=False, repr=False)
class TypeDeclaration(FrozenValue):
    """A user-defined type; `structure` is the type that holds its values, where they can be written as literals."""

    urn: str
    name: str
    structure: TypeNode | None = None
    parameters: tuple[TypeParameterDeclaration, ...] = ()
    variadic: bool = False
    description: str = ""
    deprecated: Deprecation | None = None


@attrs.frozen(eq=False, repr=False)
class VariationDeclaration(FrozenValue):
    """A variation of a type; `separate` ones are not taken by the functions of the parent type."""

    variation: TypeVariation
    parent: str
    separate: bool = False
    description: str = ""
    deprecated: Deprecation | None = None


@attrs.frozen(eq=False, repr=False)
class Extension(FrozenValue):
    """The declarations of one file. `functions` returns the functions of a name, rarely of several kinds."""

    urn: str
    functions: Mapping[str, tuple[Function, ...]]
    types: Mapping[str, TypeDeclaration]
    variations: Mapping[str, VariationDeclaration]
    dependencies: Mapping[str, str]
    description: str = ""

    def overloads(self) -> Iterator[Overload]:
        """Every overload, in the order of the file."""
        for functions in self.functions.values():
            for function in functions:
                yield from function.overloads


def _label_text(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text
