"""Reports of messages that deviate from the specification, gathered into findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
from google.protobuf.message import Message

from substrait_dsl.algebra.findings import (
    MAX_PATHS,
    WEIGHTS,
    Finding,
    FindingCode,
    Weight,
    merge_findings,
    select_at_least,
)
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.paths import paths_of

MAX_REPORTED = 10_000_000
"""The maximal number of characters of all findings."""


@attrs.define
class Report:
    """A finding under construction: its places are messages, whose paths are computed at the end."""

    code: FindingCode
    text: str
    messages: dict[int, Any] = attrs.field(factory=dict)
    """The messages by their `id`: a tree that is decoded in two places reports everything twice."""


class Reports:
    """The reports of one plan, one for each subject."""

    def __init__(self) -> None:
        self._reports: dict[tuple[FindingCode, str], Report] = {}
        self._characters = 0
        self.count = 0
        """The number of reports."""

    def add(self, code: FindingCode, text: str, message: Any, subject: str | None = None) -> None:
        """Report a message.

        Args:
            code: what kind of finding it is.
            text: what is not as it should be, and how it was read.
            message: the message that is so.
            subject: what it is about, such as a function; the text itself by default. Of all reports of one code about
                one subject, the first has the word.

        Raises:
            UnsupportedError: it would be too much text: a large type that has a number is told in a few bytes.
        """
        self.count += 1
        key = code, text if subject is None else subject
        report = self._reports.get(key)
        if report is None:
            report = self._reports[key] = Report(code, text)
            self._characters += len(text)
            if self._characters > MAX_REPORTED:
                raise UnsupportedError(
                    "the plan is not as the specification says in so many places that it takes more than "
                    f"{MAX_REPORTED} characters to tell"
                )
        report.messages.setdefault(id(message), message)

    def __len__(self) -> int:
        return len(self._reports)

    def __iter__(self) -> Iterator[Report]:
        return iter(self._reports.values())

    def findings(self, document: Message) -> tuple[Finding, ...]:
        """Return the findings, the heavier first, with their paths in a plan."""
        shown = [list(report.messages.values())[:MAX_PATHS] for report in self._reports.values()]
        paths = iter(paths_of(document, (message for messages in shown for message in messages)))
        return merge_findings(
            Finding(report.code, report.text, tuple(next(paths) for _ in messages), len(report.messages))
            for report, messages in zip(self._reports.values(), shown, strict=True)
        )


def require_none(findings: Iterable[Finding], strict: bool | Weight) -> None:
    """Raise `PlanFormatError` for the first finding of a weight or a heavier one, if there is any.

    True is the lightest weight, so that any finding is refused; with False none is.
    """
    weight = (WEIGHTS[0] if strict else None) if isinstance(strict, bool) else strict
    refused = () if weight is None else select_at_least(findings, weight)
    if refused:
        more = f" (and {len(refused) - 1} more such findings)" if len(refused) > 1 else ""
        raise PlanFormatError(refused[0].message + more, path=refused[0].path)
