"""The state of writing one plan, and of reading one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs
from google.protobuf.message import Message
from substrait.plan_pb2 import Plan

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.paths import path_of
from substrait_dsl.proto.plan_text.names import Extensions, Kind


@attrs.define
class TextWriter:
    """The state of writing one plan: the message, and what it declares of extensions."""

    plan: Plan
    extensions: Extensions = attrs.field(factory=Extensions)

    def refuse(self, what: str, message: Message, hint: str | None = None) -> UnsupportedError:
        """Return the error for something that the format has no place for."""
        text = f"the text format has no place for {what}"
        return UnsupportedError(text, path=path_of(self.plan, message) or None, hint=hint or _OTHER_FORMS)

    def require_only(self, message: Any, fields: Collection[str], what: str) -> None:
        """Raise `UnsupportedError` if a message has other fields than these."""
        for field, _ in message.ListFields():
            if field.name not in fields:
                raise self.refuse(f"{field.name} of {what}", message)

    def reference(self, kind: Kind, anchor: int, message: Message) -> str:
        """Write a reference to something that is declared."""
        written = self.extensions.write_reference(kind, anchor)
        if written is None:
            raise self.refuse(f"a {kind.replace('_', ' ')} that the plan does not declare ({anchor})", message)
        return written


_OTHER_FORMS = "to_json and to_bytes have a place for everything"


@attrs.define
class TextReader:
    """The state of reading one plan: what it declares of extensions, and the number of the line of each relation."""

    extensions: Extensions = attrs.field(factory=Extensions)
    lines: list[tuple[Message, int]] = attrs.field(factory=list)
