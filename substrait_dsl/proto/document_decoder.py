"""Decoding of a document, a plan or an extended expression, with the path of every error.

Specification: https://substrait.io/serialization/basics/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.findings import Finding, FindingCode, Weight, merge_findings
from substrait_dsl.catalog import Catalog, standard_catalog
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, TypeMismatchError, UnsupportedError
from substrait_dsl.proto.decoder import Decoder
from substrait_dsl.proto.expressions import decode_expression
from substrait_dsl.proto.paths import path_of
from substrait_dsl.proto.relations import decode_relation
from substrait_dsl.proto.reports import require_none
from substrait_dsl.proto.versions import WORDS, newer_version_problem, version_in

W = TypeVar("W", Plan, ExtendedExpression)
R = TypeVar("R")
S = TypeVar("S", bound=bytes | str)


def decode_document(
    message: W, read: Callable[[Decoder, W], R], catalog: Catalog | None, strict: bool | Weight
) -> tuple[R, tuple[Finding, ...]]:
    """Decode a document.

    Args:
        message: the message, in the fields of the installed version.
        read: reads it, given the state of decoding.
        catalog: the functions to derive types by; those of the specification by default.
        strict: refuse findings of this weight and heavier ones, instead of listing them.

    Returns:
        What was read, and what in it was not as the specification says, with how it was taken.

    Raises:
        PlanFormatError: a rule is broken; with the path of the message that does.
        UnsupportedError: there is something that the algebra has no place for; with its path.
    """
    noun = WORDS[message.DESCRIPTOR.name]
    decoder = Decoder(catalog or standard_catalog(), decode_relation, decode_expression, message)
    try:
        try:
            result = read(decoder, message)
        except TypeMismatchError as error:
            if not decoder.disagreed:
                raise
            # The types of the producer may fit together where the derived types do not.
            text = f"by the definitions of the functions, {error.message}; the types that {noun} declares are kept"
            failed = decoder.error_source
            decoder = Decoder(decoder.catalog, decode_relation, decode_expression, message)
            decoder.keep_declared = True
            decoder.report(FindingCode.DECLARED_TYPES, text, failed)
            result = read(decoder, message)
    except UnsupportedError as error:
        error.path = path_of(message, decoder.error_source)
        raise
    except SubstraitDslError as error:
        path = error.path or path_of(message, decoder.error_source)
        raise PlanFormatError(error.message, hint=error.hint, path=path) from error
    except RecursionError:
        raise PlanFormatError(f"{noun} is nested too deeply") from None
    findings = decoder.reports.findings(message)
    require_none(findings, strict)
    return result, findings


def read_document(
    message_class: type[W],
    source: S,
    to_current: Callable[[S, list[Finding]], W],
    read: Callable[[Decoder, W], R],
    catalog: Catalog | None,
    strict: bool | Weight,
) -> tuple[R, tuple[Finding, ...]]:
    """Decode bytes or JSON of any version of the specification.

    Args:
        message_class: the class of the message.
        source: the bytes or the text.
        to_current: makes the message of today, and tells what it translated by a reading of ours.
        read: as for `decode_document`.
        catalog: as for `decode_document`, as are the results and the errors.
        strict: as for `decode_document`.
    """
    result: R
    found: tuple[Finding, ...]
    translated: list[Finding] = []
    try:
        message = to_current(source, translated)
        require_none(merge_findings(translated), strict)
        result, found = decode_document(message, read, catalog, strict)
    except PlanFormatError as error:
        error.hint = _hint_for_other_class(message_class, source) or error.hint
        newer = newer_version_problem(version_in(message_class, source), WORDS[message_class.DESCRIPTOR.name])
        if newer is not None and newer != error.message:
            error.hint = newer if error.hint is None else f"{newer}; {error.hint}"
        raise
    return result, merge_findings((*translated, *found)) if translated else found


def _hint_for_other_class(message_class: type[Plan | ExtendedExpression], source: bytes | str) -> str | None:
    """Return a hint for a document of the other class; None if it is not one."""
    from substrait_dsl.proto import legacy  # not needed for writing

    try:
        if message_class is Plan:
            if isinstance(source, str):
                extended = legacy.modern_extended_expression_from_json(source)
            else:
                extended = legacy.modern_extended_expression(source)
            text = "this is an extended expression: read it with ExtendedExpression.load, from_bytes or from_json"
            return text if extended.referred_expr else None
        plan = legacy.modern_plan_from_json(source) if isinstance(source, str) else legacy.modern_plan(source)
        return "this is a plan: read it with Plan.load, from_bytes or from_json" if plan.relations else None
    except PlanFormatError:
        return None
