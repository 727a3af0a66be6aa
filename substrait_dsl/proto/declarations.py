"""Extension declarations: an anchor for every URN, function, type and variation that a plan uses.

Specification: https://substrait.io/extensions/ and ``extensions.proto``. Declarations appear in the order of first use
and are numbered from 1, each type of declaration by itself, so that equal plans are equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from google.protobuf.message import Message
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.expressions import FunctionId
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.types import Type, TypeVariation, UserDefined
from substrait_dsl.catalog.standard import OWN_URNS
from substrait_dsl.errors import PlanFormatError, close_matches, nearest

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression

    from substrait_dsl.proto.decoder import Decoder

NO_URN = 2**32 - 1
"""The reference of a declaration without an extension, as DataFusion writes it."""

_MAX_SUGGESTIONS = 100  # the nearest names are looked for so often: each time that takes a millisecond

V = TypeVar("V")


class Declarations:
    """The extension declarations of one plan, or extended expression, written on first use.

    Args:
        plan: the message to write to.
        type_nesting: how deeply types may nest inside types in this plan.
    """

    def __init__(self, plan: Plan | ExtendedExpression, type_nesting: int) -> None:
        self.type_nesting = type_nesting
        self.aliases: Mapping[Type, int] = {}
        """The anchors of the aliased types, all required."""
        self._plan = plan
        self._urns: dict[str, int] = {}
        self._functions: dict[FunctionId, int] = {}
        self._types: dict[tuple[str, str], int] = {}
        self._variations: dict[TypeVariation, int] = {}

    def function(self, function: FunctionId) -> int:
        """Return the anchor of a function."""
        anchor = self._functions.get(function)
        if anchor is None:
            anchor = self._functions[function] = len(self._functions) + 1
            declaration = self._plan.extensions.add().extension_function
            declaration.extension_urn_reference = self._urn(function.urn)
            declaration.function_anchor = anchor
            declaration.name = function.key
        return anchor

    def type(self, type_: UserDefined) -> int:
        """Return the anchor of a user-defined type."""
        key = (type_.urn, type_.name)
        anchor = self._types.get(key)
        if anchor is None:
            anchor = self._types[key] = len(self._types) + 1
            declaration = self._plan.extensions.add().extension_type
            declaration.extension_urn_reference = self._urn(type_.urn)
            declaration.type_anchor = anchor
            declaration.name = type_.name
        return anchor

    def variation(self, variation: TypeVariation) -> int:
        """Return the anchor of a type variation: never 0, which means the system's preferred one."""
        anchor = self._variations.get(variation)
        if anchor is None:
            anchor = self._variations[variation] = len(self._variations) + 1
            declaration = self._plan.extensions.add().extension_type_variation
            declaration.extension_urn_reference = self._urn(variation.urn)
            declaration.type_variation_anchor = anchor
            declaration.name = variation.name
        return anchor

    def alias(self, type_: Type) -> int | None:
        """Return the anchor of the alias of a type, if it has one."""
        return self.aliases.get(type_.as_required()) if self.aliases else None

    def _urn(self, urn: str) -> int:
        if not urn:
            return NO_URN
        anchor = self._urns.get(urn)
        if anchor is None:
            anchor = self._urns[urn] = len(self._urns) + 1
            declaration = self._plan.extension_urns.add()
            declaration.extension_urn_anchor = anchor
            declaration.urn = urn
        return anchor


def decode_declarations(decoder: Decoder, plan: Plan | ExtendedExpression) -> None:
    """Read the declarations of a plan, but for its type aliases. Unused declarations are allowed."""
    urns: dict[int, str] = {}
    looked_up: set[str] = set()
    for urn in plan.extension_urns:
        if not urn.urn:
            decoder.mark_location(urn)
            raise PlanFormatError("the URN of an extension is empty")
        if urn.urn.startswith(OWN_URNS) and urn.urn not in decoder.catalog.extensions:
            many = len(decoder.reports) > _MAX_SUGGESTIONS
            near = None if many else _suggested_extension(urn.urn, decoder.catalog.extensions)
            text = f'the specification has no extension "{urn.urn}"{f" ({near})" if near else ""}'
            decoder.report(FindingCode.EXTENSION_UNKNOWN, f"{text}: what is declared of it is kept unchanged", urn)
        _declare(decoder, urns, "extension URN", urn.extension_urn_anchor, urn.urn, urn)
    for extension in plan.extensions:
        declaration: Any
        match extension.WhichOneof("mapping_type"):
            case "extension_function":
                declaration = extension.extension_function
                function = FunctionId(_decode_urn(decoder, urns, declaration), declaration.name)
                _report_misspelt(decoder, function, looked_up, declaration)
                _declare(decoder, decoder.functions, "function", declaration.function_anchor, function, declaration)
            case "extension_type":
                declaration = extension.extension_type
                user_defined = (_decode_urn(decoder, urns, declaration), declaration.name)
                _declare(decoder, decoder.types, "type", declaration.type_anchor, user_defined, declaration)
            case "extension_type_variation":
                declaration = extension.extension_type_variation
                variation = TypeVariation(_decode_urn(decoder, urns, declaration), declaration.name)
                anchor = declaration.type_variation_anchor
                if anchor == 0:
                    decoder.mark_location(declaration)
                    raise PlanFormatError("type variation 0 is the system's preferred one: no plan declares it")
                _declare(decoder, decoder.variations, "type variation", anchor, variation, declaration)
            case None:
                decoder.mark_location(extension)
                raise PlanFormatError("an extension declaration declares nothing")
            case other:
                assert_never(other)


def _suggested_extension(urn: str, known: Iterable[str]) -> str | None:
    """Return the specification's URN that is nearest to another one; the common prefix does not count."""
    names = [each.removeprefix(OWN_URNS) for each in known if each.startswith(OWN_URNS)]
    near = nearest(urn.removeprefix(OWN_URNS), names)
    return None if near is None else f'did you mean "{OWN_URNS}{near}"?'


def _report_misspelt(decoder: Decoder, function: FunctionId, looked_up: set[str], message: Message) -> None:
    """Report an unknown URN that looks like a known one, with a function that the known one has.

    Other unknown URNs are not reported. `looked_up` are the URNs that were checked.
    """
    extensions, urn = decoder.catalog.extensions, function.urn
    if not urn or urn in extensions or urn.startswith(OWN_URNS) or urn in looked_up:
        return
    if len(looked_up) >= _MAX_SUGGESTIONS or all(function.name not in each.functions for each in extensions.values()):
        return
    looked_up.add(urn)
    near = close_matches(urn, extensions, _MISSPELT)
    if near:
        text = f'no extension "{urn}" is known, but "{near[0]}" is, and there is a "{function.name}"'
        decoder.report(FindingCode.EXTENSION_UNKNOWN, f"{text}: what is declared of it is kept unchanged", message)


_MISSPELT = 0.95
"""The minimal similarity of a misspelt URN: a letter or two of forty differ."""


def _decode_urn(decoder: Decoder, urns: Mapping[int, str], declaration: Any) -> str:
    """Return the URN of a declaration's extension; the empty string without one."""
    if not declaration.name:
        decoder.mark_location(declaration)
        raise PlanFormatError("an extension declaration has no name")
    reference = declaration.extension_urn_reference
    if reference in urns:
        return urns[reference]
    if reference not in (0, NO_URN):
        decoder.mark_location(declaration)
        raise PlanFormatError(f"the plan refers to extension URN {reference}, which it does not declare")
    decoder.report(
        FindingCode.EXTENSION_MISSING,
        f'"{declaration.name}" does not say which extension it is from: looked for in all',
        declaration,
        "",  # one finding for all of them: the findings of calls have the reading of each
    )
    return ""


def _declare(decoder: Decoder, known: dict[int, V], what: str, anchor: int, value: V, message: Message) -> None:
    if known.setdefault(anchor, value) != value:
        decoder.mark_location(message)
        raise PlanFormatError(f"the plan declares {what} {anchor} twice, differently")
