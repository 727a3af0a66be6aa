"""Whether user-defined types are as the extensions that declare them say.

Specification: https://substrait.io/types/user_defined_types/.
"""

from __future__ import annotations

from collections.abc import Mapping

from substrait_dsl.algebra.types import EnumParameter, Type, TypeParameter, UserDefined
from substrait_dsl.algebra.types.nested import parameter_text
from substrait_dsl.catalog.records import Extension, ParameterKind, TypeDeclaration, TypeParameterDeclaration
from substrait_dsl.errors import quoted, suggestion

_CLASSES: dict[ParameterKind, tuple[type, ...]] = {
    "dataType": (Type,),
    "boolean": (bool,),
    "integer": (int,),
    "enumeration": (EnumParameter,),
    "string": (str,),
}


def type_problem(extensions: Mapping[str, Extension], kind: UserDefined) -> str | None:
    """What is wrong with a user-defined type, in words; None for one that is right, or of an extension not known."""
    extension = extensions.get(kind.urn)
    if extension is None:
        return None
    declared = extension.types.get(kind.name)
    if declared is None:
        near = suggestion(kind.name, extension.types)
        return f'"{kind.urn}" has no type "{kind.name}"{f" ({near})" if near else ""}'
    wrong = _wrong_number(declared, len(kind.type_parameters))
    if wrong is not None:
        return f"{kind.as_required()} {wrong}"
    for position, value in enumerate(kind.type_parameters):
        parameter = declared.parameters[min(position, len(declared.parameters) - 1)]
        wrong = _wrong_value(parameter, value)
        if wrong is not None:
            return f"parameter {parameter.name or position} of {kind.as_required()} {wrong}"
    return None


def _wrong_number(declared: TypeDeclaration, given: int) -> str | None:
    most = len(declared.parameters)
    needed = sum(not parameter.optional for parameter in declared.parameters)
    if needed <= given <= most or (declared.variadic and most and given >= needed):
        return None
    if declared.variadic and most:
        takes = f"at least {needed}"
    else:
        takes = str(most) if needed == most else f"{needed} to {most}"
    return f"has {given} parameter{'' if given == 1 else 's'}; the type takes {takes}"


def _wrong_value(parameter: TypeParameterDeclaration, value: TypeParameter) -> str | None:
    if value is None:
        return None if parameter.optional else "is null, but the type needs it"
    is_of_kind = isinstance(value, _CLASSES[parameter.kind])
    if not is_of_kind or (isinstance(value, bool) and parameter.kind == "integer"):
        return f"is of the kind {parameter.kind}, got {parameter_text(value)}"
    if isinstance(value, int) and parameter.minimum is not None and value < parameter.minimum:
        return f"is at least {parameter.minimum}, got {value}"
    if isinstance(value, int) and parameter.maximum is not None and value > parameter.maximum:
        return f"is at most {parameter.maximum}, got {value}"
    if isinstance(value, EnumParameter) and parameter.options and value.value not in parameter.options:
        return f"is one of {quoted(parameter.options)}, got {value.value}"
    return None
