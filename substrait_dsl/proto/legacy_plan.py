"""The version and the extension URIs of a legacy plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import attrs
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.findings import Finding, FindingCode
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import PlanFormatError

UNDECLARED = 2**32 - 1
"""The reference of producers that do not declare an extension."""


def version_of(plan: Plan | ExtendedExpression) -> tuple[int, int]:
    """Return the version that a plan declares; (0, 0) without one."""
    return plan.version.major_number, plan.version.minor_number


_OF_THE_SPECIFICATION = "extension:io.substrait:"
"""The prefix of the URNs of the specification's extensions."""


@attrs.define
class OldPlan:
    """The state of translating one legacy plan."""

    version: tuple[int, int]
    has_removed: bool
    """Whether the plan has removed fields, so that it is old even without a version."""
    uris: dict[int, str]
    urns: Any
    """The declarations of URNs, which grow."""
    findings: list[Finding]
    _declared: dict[int, str]
    """The URNs that the plan itself declares, by their anchors."""
    _anchors: dict[str, int]
    _uris_by_urn: dict[str, str] = attrs.field(factory=dict)
    """The URIs behind the URNs that were made here."""
    _reports: list[tuple[FindingCode, str]] = attrs.field(factory=list)
    repeated: list[tuple[Any, list[int]]] = attrs.field(factory=list)
    """Aggregates whose only grouping lists an expression twice, with all listed positions."""
    _numbers: Iterator[int] = attrs.field(factory=lambda: count(1))

    @classmethod
    def of(cls, plan: Any, has_removed: bool, findings: list[Finding]) -> OldPlan:
        """Read the version and the extensions of a plan."""
        uris: dict[int, str] = {}
        for index, uri in enumerate(plan.extension_uris):
            if uris.setdefault(uri.extension_uri_anchor, uri.uri) != uri.uri:
                raise PlanFormatError(
                    f"a second extension has the anchor {uri.extension_uri_anchor}", path=f"extension_uris[{index}]"
                )
        declared = {each.extension_urn_anchor: each.urn for each in plan.extension_urns}
        anchors = {urn: anchor for anchor, urn in declared.items()}
        return cls(version_of(plan), has_removed, uris, plan.extension_urns, findings, declared, anchors)

    def is_before(self, major: int, minor: int) -> bool:
        """Whether the plan declares an earlier version."""
        return (0, 0) < self.version < (major, minor)

    def is_since(self, major: int, minor: int) -> bool:
        """Whether the plan is of this version or a later one."""
        return self.version >= (major, minor)

    def report(self, code: FindingCode, text: str) -> None:
        """Report the reading of the message that is being translated."""
        self._reports.append((code, text))

    def take(self) -> list[tuple[FindingCode, str]]:
        """Return the reports since the previous call, and forget them."""
        reports, self._reports = self._reports, []
        return reports

    def extension(self, urn_reference: int, uri_reference: int) -> int:
        """Return the anchor of the URN of a declaration, which may refer to a URN, a URI or both.

        The URN is newer and wins; 0 may also be an unset reference. Both name an extension of the specification only if
        they name the same one.

        Raises:
            PlanFormatError: the URN and the URI name two extensions of the specification.
        """
        if urn_reference in self._declared and (urn_reference or not uri_reference):
            if uri_reference or not urn_reference:
                self._require_one_extension(self._declared[urn_reference], self.uris.get(uri_reference, ""))
            return urn_reference
        if uri_reference in self.uris:
            uri = self.uris[uri_reference]
            return UNDECLARED if names_nothing(uri) else self._urn_anchor(uri)
        if urn_reference in self._declared:
            return urn_reference
        return UNDECLARED if urn_reference or uri_reference else 0

    @staticmethod
    def _require_one_extension(urn: str, uri: str) -> None:
        """Raise if a URN and a URI name two extensions of the specification; other URIs may be any."""
        named = urn_of(uri)
        if named != urn and named in standard_catalog().urns and urn.startswith(_OF_THE_SPECIFICATION):
            raise PlanFormatError(
                f'a declaration is of "{urn}" by its URN, and of "{named}" by its URI "{uri}": these are to be the same'
            )

    def _urn_anchor(self, uri: str) -> int:
        """Return the anchor of an extension's URN, and declare it if need be."""
        urn = urn_of(uri)
        if urn not in standard_catalog().urns:
            if self._uris_by_urn.setdefault(urn, uri) != uri:
                raise PlanFormatError(
                    f'the extensions "{uri}" and "{self._uris_by_urn[urn]}" would have one URN, "{urn}"'
                )
            if urn != uri and urn not in self._anchors:
                self.report(
                    FindingCode.EXTENSION_URI, f'no URN is known for the extension "{uri}"; it is called "{urn}"'
                )
        anchor = self._anchors.get(urn)
        if anchor is None:
            anchor = next(number for number in self._numbers if number not in self._declared)
            self._declared[anchor] = urn
            self._anchors[urn] = anchor
            self.urns.add(extension_urn_anchor=anchor, urn=urn)
        return anchor


def names_nothing(uri: str) -> bool:
    """Whether the URI of an extension names no file: it is empty, or a folder of no owner or of the specification."""
    return not uri.rpartition("/")[2].removesuffix(".yaml") and _is_own(uri)


def _is_own(uri: str) -> bool:
    return "://" not in uri or "/substrait-io/substrait/" in uri or "://substrait.io/" in uri


def urn_of(uri: str) -> str:
    """Return the URN of an extension that old plans name by the URI of its file.

    A file of the specification is one of its names, alone or below the specification's own address. Other URIs become
    part of the URN, so that different extensions stay different.
    """
    if uri.startswith("extension:"):
        return uri
    own = f"{_OF_THE_SPECIFICATION}{uri.rpartition('/')[2].removesuffix('.yaml')}"
    if _is_own(uri) and own in standard_catalog().urns:
        return own
    host, slash, path = uri.rpartition("://")[2].partition("/")
    owner, name = (host, path) if slash else ("", host)
    name = re.sub(r"[^A-Za-z0-9_.-]+", ".", name.removesuffix(".yaml"))
    return f"extension:{re.sub(r'[^A-Za-z0-9_.-]+', '.', owner) or 'unknown'}:{name or 'unknown'}"
