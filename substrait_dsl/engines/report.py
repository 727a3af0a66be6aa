"""The report of a check of a plan against an engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

import attrs

from substrait_dsl.algebra.requirements import Requirement
from substrait_dsl.algebra.validators import TEXT, between, one, refusal, several
from substrait_dsl.errors import printable, require_choice

Verdict = Literal["runs", "runs lowered", "refused"]
"""Whether the plan as it is written is right on the engine (``runs``), the plan that `lower` makes of it (``runs
lowered``), or neither, as far as it is known (``refused``)."""

Severity = Literal["crash", "wrong rows", "rejected", "other digits", "unspecified"]
"""What happens on the engine to the plan as it is written: the process ends; other rows without an error; an error of
the engine; numbers with other digits; or what is not known, or what the specification leaves open."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The severities, the worst first."""


def _check_severity(instance: object, attribute: attrs.Attribute[str], value: object) -> None:
    require_choice("severity", value, SEVERITIES)


def _check_verdict(instance: object, attribute: attrs.Attribute[str], value: object) -> None:
    require_choice("verdict", value, VERDICTS)


def _check_reports(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, Mapping) or not all(
        isinstance(name, str) and isinstance(each, Report) for name, each in value.items()
    ):
        raise refusal(instance, "reports", "a dict of reports by the names of engines", value)


@attrs.frozen
class CheckFinding:
    """Something in a plan that an engine does otherwise than the specification says, or not at all.

    One finding stands for all places of one kind.

    Example:
        >>> [finding.code for finding in orders.simple_capture().check("duckdb").findings]
        ['encoding', 'exchange']
    """

    code: str = attrs.field(validator=TEXT)
    """The rule: a name in `substrait_dsl.engines.rules`."""
    severity: Severity = attrs.field(validator=_check_severity)
    why: str = attrs.field(validator=TEXT)
    """The rule in words, or the requirement that the dialect lacks."""
    step: str = attrs.field(default="", validator=TEXT)
    """The first step of the plan with it, as the text of the plan shows it, or its path in the message."""
    expression: str = attrs.field(default="", validator=TEXT)
    """The part of the step."""
    cure: str = attrs.field(default="", validator=TEXT)
    """The form that lowering writes instead; empty where it has none."""
    is_refused: bool = attrs.field(default=True, validator=one("true or false", bool))
    """Whether the plan is refused for it."""
    places: int = attrs.field(default=1, validator=between(1, sys.maxsize))
    """The number of places where it occurs."""
    requirement: Requirement | None = attrs.field(
        default=None, validator=attrs.validators.optional(one("a requirement", Requirement))
    )
    """The requirement that the dialect lacks, or does not mention."""

    def __str__(self) -> str:
        more = f", and in {self.places - 1} more" if self.places > 1 else ""
        where = " in ".join(text for text in (self.expression, self.step) if text)
        lines = [f"{self.code}: {self.severity} as it is written", f"    why: {self.why}"]
        lines.insert(1, f"    step: {where}{more}") if where else None
        if self.is_refused or self.cure:
            lines.append("    refused" if self.is_refused else f"    lowered: {self.cure}")
        return "\n".join(map(printable, lines))


@attrs.frozen
class Report:
    """What an engine does with a plan.

    It is true unless the plan is refused, and prints as a list of its findings.

    Example:
        >>> orders.check("duckdb").verdict
        'runs'
    """

    engine: str = attrs.field(validator=TEXT)
    """The engine with its version, or the system, that the plan was checked against."""
    verdict: Verdict = attrs.field(validator=_check_verdict)
    findings: tuple[CheckFinding, ...] = attrs.field(validator=several("a tuple", CheckFinding))
    """The findings: refusals first, the worst of them at the top."""

    def __bool__(self) -> bool:
        return self.verdict != "refused"

    @property
    def missing(self) -> tuple[CheckFinding, ...]:
        """The requirements that the dialect lacks."""
        return tuple(each for each in self.findings if each.requirement is not None and each.is_refused)

    @property
    def undeclared(self) -> tuple[Requirement, ...]:
        """The requirements that the dialect does not mention."""
        return tuple(each.requirement for each in self.findings if each.requirement is not None and not each.is_refused)

    def __str__(self) -> str:
        return "\n".join([printable(f"{self.engine}: {self.verdict}"), *map(str, self.findings)])

    def _repr_html_(self) -> str:
        from substrait_dsl.markup import fragment

        return fragment(_folded(self, is_open=True))


@attrs.frozen
class CheckMatrix:
    """Reports of one plan, by the names of engines; prints as a table of engines and findings.

    Example:
        >>> print(sd.check_all(orders.simple_capture(), ["duckdb"]))
                  duckdb-1.1.3
        verdict   runs lowered
        encoding  wrong rows, lowered
        exchange  rejected, lowered
    """

    reports: Mapping[str, Report] = attrs.field(validator=_check_reports)

    def __getitem__(self, engine: str) -> Report:
        require_choice("engine", engine, tuple(self.reports))
        return self.reports[engine]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def _rows(self) -> list[list[str]]:
        """Return the rows of the table, the names of the engines first."""
        codes = dict.fromkeys(finding.code for report in self.reports.values() for finding in report.findings)
        rows = [["", *self.reports], ["verdict", *(report.verdict for report in self.reports.values())]]
        return rows + [[code, *(_cell(report, code) for report in self.reports.values())] for code in codes]

    def _repr_html_(self) -> str:
        from substrait_dsl.markup import element, fragment

        head, *rows = self._rows()
        lines = [element("tr", *(element(cell, text) for text in row)) for cell, row in
                 (("th", head), *(("td", row) for row in rows))]  # fmt: skip
        return fragment(element("table", *lines), *(_folded(each) for each in self.reports.values() if each.findings))

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(printable(line.rstrip()) for line in lines)


def _cell(report: Report, code: str) -> str:
    found = [finding for finding in report.findings if finding.code == code]
    if not found:
        return "-"
    worst = min((finding.severity for finding in found), key=SEVERITIES.index)
    refused = any(finding.is_refused for finding in found)
    return f"{worst}, {'refused' if refused else 'lowered' if any(each.cure for each in found) else 'noted'}"


def _folded(report: Report, *, is_open: bool = False) -> str:
    """Return a report as HTML that folds: the verdict, and the findings below it."""
    from substrait_dsl.markup import element

    findings = [
        element("li", *(element("div", line.strip(), class_="sd-text") for line in str(each).split("\n")))
        for each in report.findings
    ]
    head = element("summary", element("b", f"{report.engine}: "), report.verdict)
    if not findings:
        return element("div", element("b", f"{report.engine}: "), report.verdict)
    return element("details", head, element("ul", *findings), **({"open": ""} if is_open else {}))
