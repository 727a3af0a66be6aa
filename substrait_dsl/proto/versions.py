"""Versions of the specification: the one that a plan is of, and the one of the installed messages.

Specification: https://substrait.io/serialization/binary_serialization/ (``Version``, ``PlanVersion``) and
https://substrait.io/spec/versioning/.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeAlias

from google.protobuf.message import DecodeError
from substrait.plan_pb2 import Plan, PlanVersion
from substrait.plan_pb2 import Version as VersionMessage

from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.plan import Version
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.installed_versions import find_version

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression

    from substrait_dsl.proto.decoder import Decoder

DocumentMessage: TypeAlias = "Plan | ExtendedExpression"
"""A message that is written and read by itself."""

WORDS: dict[str, str] = {"Plan": "the plan", "ExtendedExpression": "the extended expression"}
"""The noun for such a message, by its name."""


def encode_version(message: VersionMessage) -> None:
    """Write the version of the specification of the installed messages, and the producer."""
    message.major_number, message.minor_number, message.patch_number = installed_version()
    message.producer = _producer()


def decode_version(decoder: Decoder, message: DocumentMessage) -> Version | None:
    """Read the version of the specification that a plan was written for.

    Raises `PlanFormatError` for one of another major version.
    """
    from substrait_dsl.proto.producers import producer_of  # not needed for writing

    version = message.version
    require_known_major(message)
    decoder.version = numbers_of(version)
    decoder.producer = producer_of(version.producer, decoder.version)
    if decoder.version == (0, 0, 0):
        noun = WORDS[message.DESCRIPTOR.name]
        decoder.report(FindingCode.VERSION_MISSING, f"{noun} does not set its version of the specification", version)
    newer = newer_version_problem(version, WORDS[message.DESCRIPTOR.name])
    if newer is not None:
        decoder.report(FindingCode.VERSION_NEWER, f"{newer}: read as of that", version)
    with decoder.part(version):
        return Version(*decoder.version, version.git_hash, version.producer) if message.HasField("version") else None


def numbers_of(message: VersionMessage) -> tuple[int, int, int]:
    """Return the three numbers of a version; zeros without one."""
    return message.major_number, message.minor_number, message.patch_number


@functools.cache
def installed_version() -> tuple[int, int, int]:
    """Return the version of the specification of the installed messages."""
    version = find_version("substrait_protobuf")
    assert version is not None, "require_messages has refused to go on without them"
    major, minor, patch = version.split(".")[:3]
    return int(major), int(minor), int(patch)


@functools.cache
def _producer() -> str:
    version = find_version("substrait_dsl")
    return "substrait_dsl" if version is None else f"substrait_dsl {version}"  # without one: used from its sources


# --- what cannot be read


def require_known_major(message: DocumentMessage) -> None:
    """Raise `PlanFormatError` for another major version, whose messages may mean anything else."""
    if message.version.major_number != installed_version()[0]:
        raise PlanFormatError(
            newer_version_problem(message.version, WORDS[message.DESCRIPTOR.name]) or "",
            hint="versions with different first numbers do not fit together: have it written for the version known "
            "here",
            path="version",
        )


def newer_version_problem(message: VersionMessage, noun: str) -> str | None:
    """Describe a version that is newer than the installed messages; None for others."""
    version, known = numbers_of(message), installed_version()
    if version[:2] > known[:2] or version[0] != known[0]:
        newer, here = ".".join(map(str, version)), ".".join(map(str, known))
        return f"{noun} is of version {newer} of the specification, and this library knows version {here}"
    return None


def version_in(message_class: type[DocumentMessage], source: bytes | str) -> VersionMessage:
    """Return the version in bytes or JSON, as far as it can be read where the plan cannot; empty otherwise."""
    import json

    from google.protobuf import json_format  # not needed for writing

    try:
        if isinstance(source, str):
            version = json.loads(source[source.find("{") :])["version"]  # there may be comments in front of it
            return json_format.ParseDict(version, VersionMessage(), ignore_unknown_fields=True)
        # `PlanVersion` has no other field, so that nothing else can be wrong
        return (PlanVersion if message_class is Plan else message_class).FromString(source).version
    except (DecodeError, json_format.ParseError, ValueError, LookupError, TypeError, RecursionError, SystemError):
        return VersionMessage()
