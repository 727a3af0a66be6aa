"""Types written as text: ``parse_type("decimal<15,2>?")`` is ``Decimal(15, 2, nullable=True)``.

`str` of a type prints it, and parsing that text gives the same type.

Specification: https://substrait.io/types/type_parsing/ and the short names of
https://substrait.io/extensions/#function-signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra import types
from substrait_dsl.algebra.type_parser import parse_type_node
from substrait_dsl.algebra.type_syntax import FIXED_FORMS, Constant, Expression, Name, TypeNode
from substrait_dsl.algebra.types import EnumParameter, Func, List, Map, Struct, Type, TypeParameter, UserDefined
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, shorten

_NO_URNS: Mapping[str, str] = {}
_CLASSES = {type_class.keyword: type_class for type_class in FIXED_FORMS}


def parse_type(text: str, *, urns: Mapping[str, str] = _NO_URNS) -> Type:
    """Read a type from the text syntax.

    Keywords may be long or short and in any case (``varchar<3>``, ``VCHAR<3>``); the nullability mark stands at the
    end or before the parameters (``decimal?<15,2>``).

    Args:
        text: The type, such as ``list<struct<i64, string?>>``, ``func<(i32, i64) -> boolean>`` or ``u!point?``.
        urns: For each name of a user-defined type or of a type variation, the URN of the extension that declares it.
            A type behind an alias (``geo.u!point``) is looked up as ``geo.point``.

    Returns:
        The type. ``nstruct<a: i64>`` gives a struct with field names.

    Raises:
        PlanFormatError: If the text is no type: with the column and what was expected; or if a name is not in `urns`.
    """
    try:
        return _concrete(parse_type_node(text, urns, variables=False))
    except InvalidArgumentError as error:  # decimal<50,2>: well written, but there is no such type
        raise PlanFormatError(f'cannot read the type "{shorten(text.strip())}"', reason=error, names=[text]) from error
    except RecursionError:
        raise PlanFormatError(f"cannot read a type nested this deeply: {text[:60]}...") from None


def text_with_names(type_: Type) -> str:
    """Return the text of a type, with the names of the fields of structs: ``nstruct<a: i64>``."""
    mark = "?" if type_.nullable else ""
    match type_:
        case Struct(types=inside, names=names) if names:
            fields = (f"{name}: {text_with_names(field)}" for name, field in zip(names, inside, strict=True))
            return f"nstruct<{', '.join(fields)}>{mark}"
        case List(element=element):
            return f"list<{text_with_names(element)}>{mark}"
        case Map(key=key, value=value):
            return f"map<{text_with_names(key)}, {text_with_names(value)}>{mark}"
        case Struct(types=inside):
            return f"struct<{', '.join(map(text_with_names, inside))}>{mark}"
        case _:
            return str(type_)


def make_type(node: TypeNode, parameters: Sequence[TypeParameter]) -> Type:
    """Return the type that a node denotes, given the values of its parameters.

    Raises:
        InvalidArgumentError: If a parameter is out of range.
    """
    nullable, variation = node.nullable, node.variation
    match node.keyword:
        case "u!":
            return UserDefined(node.urn, node.name, tuple(parameters), nullable=nullable, variation=variation)
        case "struct" | "nstruct":
            return Struct(_types(parameters), node.names or None, nullable=nullable, variation=variation)
        case "func":
            *inputs, result = _types(parameters)
            return Func(tuple(inputs), result, nullable=nullable)
        case keyword:
            return _CLASSES[keyword](*parameters, nullable=nullable, variation=variation)


def _types(parameters: Sequence[TypeParameter]) -> tuple[Type, ...]:
    for parameter in parameters:
        if not isinstance(parameter, Type):
            raise InvalidArgumentError(f"expected a type, got {types.parameter_text(parameter)}")
    return tuple(parameter for parameter in parameters if isinstance(parameter, Type))


def _concrete(node: TypeNode) -> Type:
    return make_type(node, [_parameter(parameter) for parameter in node.parameters])


def _parameter(expression: Expression) -> TypeParameter:
    match expression:
        case TypeNode():
            return _concrete(expression)
        case Constant(value):
            return value
        case Name(text):
            return EnumParameter(text)
        case _:
            raise PlanFormatError(f"expected a type or a number, got {expression}")
