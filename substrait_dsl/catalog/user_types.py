"""Checks of user-defined types against the extensions that declare them.

Specification: https://substrait.io/types/user_defined_types/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType

import attrs

from substrait_dsl.algebra.type_syntax import Constant, Expression, TypeNode, parts_of
from substrait_dsl.algebra.types import EnumParameter, Type, TypeParameter, UserDefined, types_in
from substrait_dsl.algebra.types.nested import parameter_text
from substrait_dsl.catalog.records import Extension, ParameterKind, TypeDeclaration, TypeParameterDeclaration
from substrait_dsl.errors import quote, suggestion

_Value = TypeParameter | TypeNode | EllipsisType
"""A parameter, the type that a file writes for one, or ``...`` for what a file gives a name or computes."""

_CLASSES: dict[ParameterKind, tuple[type, ...]] = {
    "dataType": (Type, TypeNode),
    "boolean": (bool,),
    "integer": (int,),
    "enumeration": (EnumParameter,),
    "string": (str,),
}


def problem_in(extensions: Mapping[str, Extension], type_: Type) -> str | None:
    """Return the problem of the first wrong user-defined type inside a type; None if all are right."""
    problems = (type_problem(extensions, part) for part in types_in(type_) if isinstance(part, UserDefined))
    return next(filter(None, problems), None)


def problem_in_text(extensions: Mapping[str, Extension], expression: Expression) -> str | None:
    """Return the problem of a user-defined type in an extension file, as far as its parameters are written there."""
    problem = next(filter(None, (problem_in_text(extensions, part) for part in parts_of(expression))), None)
    if problem or not isinstance(expression, TypeNode) or expression.keyword != "u!":
        return problem
    values = [_write_parameter(part) for part in expression.parameters]
    return _problem(extensions, expression.urn, expression.name, values, attrs.evolve(expression, nullable=False))


def _write_parameter(parameter: Expression) -> _Value:
    match parameter:
        case Constant(value):
            return value
        case TypeNode():
            return parameter
        case _:
            return ...


def type_problem(extensions: Mapping[str, Extension], type_: UserDefined) -> str | None:
    """Return the problem of a user-defined type; None if it is right, or its extension is unknown."""
    return _problem(extensions, type_.urn, type_.name, type_.type_parameters, type_.as_required())


def _problem(
    extensions: Mapping[str, Extension], urn: str, name: str, values: Sequence[_Value], shown: Type | TypeNode
) -> str | None:
    extension = extensions.get(urn)
    if extension is None:
        return None
    declared = extension.types.get(name)
    if declared is None:
        near = suggestion(name, extension.types)
        return f'"{urn}" has no type "{name}"{f" ({near})" if near else ""}'
    wrong = _find_wrong_count(declared, len(values))
    if wrong is not None:
        return f"{shown} {wrong}"
    for position, value in enumerate(values):
        parameter = declared.parameters[min(position, len(declared.parameters) - 1)]
        wrong = None if value is ... else _find_wrong_value(parameter, value)
        if wrong is not None:
            return f"parameter {parameter.name or position} of {shown} {wrong}"
    return None


def _find_wrong_count(declared: TypeDeclaration, count: int) -> str | None:
    """Return what is wrong with a number of parameters; None if the type takes so many."""
    most = len(declared.parameters)
    needed = sum(not parameter.optional for parameter in declared.parameters)
    is_repeated = declared.variadic and most > 0
    if needed <= count and (count <= most or is_repeated):
        return None
    if is_repeated:
        takes = f"at least {needed}"
    elif needed < most:
        takes = f"{needed} to {most}"
    else:
        takes = str(most)
    return f"has {count} parameter{'' if count == 1 else 's'}; the type takes {takes}"


def _find_wrong_value(parameter: TypeParameterDeclaration, value: TypeParameter | TypeNode) -> str | None:
    if value is None:
        return None if parameter.optional else "is null, but the type needs it"
    has_class = isinstance(value, _CLASSES[parameter.kind])
    if not has_class or (isinstance(value, bool) and parameter.kind == "integer"):
        return f"is of the kind {parameter.kind}, got {value if isinstance(value, TypeNode) else parameter_text(value)}"
    if isinstance(value, int) and parameter.minimum is not None and value < parameter.minimum:
        return f"is at least {parameter.minimum}, got {value}"
    if isinstance(value, int) and parameter.maximum is not None and value > parameter.maximum:
        return f"is at most {parameter.maximum}, got {value}"
    if isinstance(value, EnumParameter) and parameter.options and value.value not in parameter.options:
        return f"is one of {quote(parameter.options)}, got {value.value}"
    return None
