"""Plan parameters and context variables: values that are bound when a plan runs.

Specification: ``DynamicParameter`` and https://substrait.io/expressions/execution_context_variables/.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra.node import Expression, SubtreeFlags
from substrait_dsl.algebra.types import Date, PrecisionTimestampTZ, String, Type
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, TypeMismatchError

ContextVariable = typing.Literal["current_timestamp", "current_timezone", "current_date"]
CONTEXT_VARIABLES: dict[ContextVariable, type[Type]] = {
    "current_timestamp": PrecisionTimestampTZ,
    "current_timezone": String,
    "current_date": Date,
}
"""The variables there are, and what class of type each has."""

MAX_REFERENCE = 2**32 - 1
"""The highest number that a plan can call a parameter by."""


@attrs.frozen(eq=False, repr=False)
class DynamicParameter(Expression):
    """A plan parameter, by its number: its value is bound when the plan runs, or by the plan to a literal."""

    leaf: typing.ClassVar[bool] = True
    own_flags: typing.ClassVar[SubtreeFlags] = SubtreeFlags(has_plan_parameters=True)

    parameter_type: Type
    reference: int

    def _derive_type(self) -> Type:
        if not 0 <= self.reference <= MAX_REFERENCE:
            raise InvalidArgumentError(f"a parameter has a number of 0 to {MAX_REFERENCE}, got {self.reference}")
        return self.parameter_type


def remember_type(known: dict[int, Type], parameter: DynamicParameter) -> None:
    """Remember the type of a parameter by its number.

    Raises `TypeMismatchError` for a number that has another type already, nullability aside: a value that is not NULL
    can stand for both.
    """
    type_ = parameter.parameter_type
    first = known.setdefault(parameter.reference, type_)
    if not first.matches(type_):
        raise TypeMismatchError(f"parameter {parameter.reference} is {first} in one expression and {type_} in another")


@attrs.frozen(eq=False, repr=False)
class ExecutionContextVariable(Expression):
    """The time, the time zone or the date of the execution: required, and one value for the whole plan."""

    leaf: typing.ClassVar[bool] = True
    own_flags: typing.ClassVar[SubtreeFlags] = SubtreeFlags(has_context_variables=True)

    variable: ContextVariable
    variable_type: Type

    def _derive_type(self) -> Type:
        type_class = CONTEXT_VARIABLES.get(self.variable)
        if type_class is None:
            raise InvalidChoiceError.of_word("execution context variable", self.variable, CONTEXT_VARIABLES)
        if type(self.variable_type) is not type_class or self.variable_type.nullable:
            raise TypeMismatchError(f"{self.variable} is a required {type_class.keyword}, not {self.variable_type}")
        return self.variable_type
