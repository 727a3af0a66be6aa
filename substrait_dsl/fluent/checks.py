"""Checks of plans against engines: reports whose findings name the steps of the plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.capabilities import Capabilities
from substrait_dsl.algebra.capability_comparison import unmet_requirements
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.requirements import Requirement
from substrait_dsl.algebra.settings import Encoding, OuterReferences
from substrait_dsl.catalog.implementations import bound_by, bound_calls
from substrait_dsl.engines.report import SEVERITIES, CheckFinding, CheckMatrix, Report, Verdict
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError, error_context, quote, require
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.capabilities import DIALECT_ENDINGS, capabilities_of
from substrait_dsl.fluent.lowering import name_step, step_of
from substrait_dsl.fluent.session_checks import NAMES

if TYPE_CHECKING:
    from substrait.plan_pb2 import Plan as PlanMessage

    from substrait_dsl.engines.check import PlanCheck, Refusal
    from substrait_dsl.engines.profile import Profile
    from substrait_dsl.fluent.plan import Plan

ENDINGS = (*DIALECT_ENDINGS, ".json", ".bin", ".pb")
"""How the names of files end that say what a system takes."""

SHAPES_UNKNOWN = "a dialect is a list of words: that the plan has no others does not say that the system computes it"


def profile_or_capabilities(engine: object) -> Profile | Capabilities:
    """Return the profile of an engine, or the capabilities that a system declares.

    Raises:
        InvalidArgumentError: for what is neither a name, nor a path, nor `Capabilities`.
        InvalidChoiceError: there is no profile of such an engine, with the nearest one.
        CatalogError: a file cannot be read, or is broken.
    """
    from substrait_dsl.engines.profile import is_profile, load_profile
    from substrait_dsl.engines.profile_files import require_no_url

    if isinstance(engine, Capabilities):
        return engine
    require(engine, (str, Path), "an engine is a name such as datafusion, the path of a dialect, or sd.Capabilities")
    assert isinstance(engine, str | Path)
    require_no_url(engine)
    is_path = isinstance(engine, Path) or engine.lower().endswith(ENDINGS) or os.sep in engine
    if is_path and not is_profile(Path(engine)):
        return capabilities_of(engine)
    return load_profile(engine, others=NAMES)


# --- the words of a dialect


def capability_report(requirements: Iterable[Requirement], system: Capabilities) -> Report:
    """Report the requirements that a system does not meet; whether its rows are right, capabilities do not tell."""
    findings = []
    for requirement, reason in unmet_requirements(requirements, system):
        where = f"at {requirement.path}" if requirement.path else ""
        if reason is None:
            why = f"the system says nothing about {requirement}"
            findings.append(
                CheckFinding("undeclared", "unspecified", why, where, is_refused=False, requirement=requirement)
            )
        else:
            findings.append(
                CheckFinding("dialect", "rejected", f"{requirement}: {reason}", where, requirement=requirement)
            )
    findings.append(CheckFinding("shapes-unknown", "unspecified", SHAPES_UNKNOWN, is_refused=False))
    return Report(
        system.name, "refused" if any(each.is_refused for each in findings) else "runs", _sort_findings(findings)
    )


# --- engines with a profile


@attrs.frozen
class CheckedPlan:
    """A plan that was lowered and checked, and its message."""

    check: PlanCheck
    refusals: tuple[Refusal, ...]
    message: PlanMessage | None
    """The message that the engine gets; None where it gets nothing."""


def check_and_encode(
    plan: AlgebraPlan,
    profile: Profile,
    encoding: Encoding | None = None,
    outer_references: OuterReferences | None = None,
) -> CheckedPlan:
    """Lower a plan, check it, and encode it as the engine reads it, or in another encoding."""
    from substrait_dsl.engines.check import check_plan, refusal_for
    from substrait_dsl.proto.plan import encode_plan

    check = check_plan(plan, profile)
    if check.lowered is None:
        worst_first = sorted(check.refusals, key=lambda each: SEVERITIES.index(each.severity))
        return CheckedPlan(check, tuple(worst_first), None)
    try:
        message = encode_plan(
            check.lowered,
            encoding=encoding or profile.encoding,
            outer_references=outer_references,
            omitted_fields=profile.omitted_fields if encoding is None else (),
        )
    except UnsupportedError as error:
        error.rule = "encoding"
        return CheckedPlan(check, (refusal_for(error, profile),), None)
    parts = len(message.relations) + sum(len(each.detached_expressions) for each in message.relations)
    if parts > 1:
        too_deep = UnsupportedError(
            f"the plan is too deep for {profile}: it would be written in {parts} parts, of which engines read one",
            hint="a message has at most 100 levels: about 45 steps one after the other, or 30 calls in each other",
        )
        too_deep.rule = "depth"
        return CheckedPlan(check, (refusal_for(too_deep, profile),), None)
    return CheckedPlan(check, (), message)


def message_for(
    plan: AlgebraPlan, profile: Profile, encoding: Encoding | None, outer_references: OuterReferences | None
) -> PlanMessage:
    """Return the message that an engine gets.

    Raises:
        UnsupportedError: for the worst thing that is refused, with its step and the number of others.
    """
    checked = check_and_encode(plan, profile, encoding, outer_references)
    if checked.message is not None:
        _require_registered(checked.check)
        return checked.message
    first, *others = checked.refusals
    raise first_error(first.error, len(others), profile)


def first_error(error: UnsupportedError, others: int, profile: Profile) -> UnsupportedError:
    """Return the error for the first refusal, with its step and the number of others."""
    name_step(error)
    if others:
        count = f"{others} more {'thing is' if others == 1 else 'things are'} refused"
        more = f'{count}: check("{profile.argument}") shows them'
        hint = error.hint
        error.hint = f"{hint}; {more}" if hint else more
    return error


def profile_report(plan: AlgebraPlan, profile: Profile) -> Report:
    """Report what an engine does with a plan, as it is written and as it is lowered."""
    checked = check_and_encode(plan, profile)
    findings = list(_merge_findings([*_list_refusals(checked.refusals), *_rewritten(checked.check)]))
    verdict = _verdict(plan, checked)
    if verdict == "runs lowered":
        findings += _find_repeated_names(plan, checked.check)
        findings += _find_registered_functions(checked.check)
        findings += _encoding_findings(profile, has_others=bool(findings))
    return Report(profile.name, verdict, _sort_findings(findings))


def _find_repeated_names(plan: AlgebraPlan, check: PlanCheck) -> Iterator[CheckFinding]:
    """Yield the findings about output columns of one name."""
    from substrait_dsl.engines.rules import SAME_NAMES

    assert check.lowered is not None
    if any(
        root.columns != lowered_root.columns for root, lowered_root in zip(plan.roots, check.lowered.roots, strict=True)
    ):
        shape = check.profile.shapes.get(SAME_NAMES.code, "unspecified")
        severity = "unspecified" if shape == "right" else shape
        yield CheckFinding(SAME_NAMES.code, severity, SAME_NAMES.why, cure=SAME_NAMES.cure, is_refused=False)


def _find_registered_functions(check: PlanCheck) -> Iterator[CheckFinding]:
    """Yield the findings about functions that have to be registered."""
    from substrait_dsl.engines.rules import REGISTERED_FUNCTION

    shape = check.profile.shapes.get(REGISTERED_FUNCTION.code, "unspecified")
    severity = "unspecified" if shape == "right" else shape
    for key in _registered_keys(check):
        why = f"{REGISTERED_FUNCTION.why}: {key}"
        yield CheckFinding(REGISTERED_FUNCTION.code, severity, why, cure=REGISTERED_FUNCTION.cure, is_refused=False)


def _registered_keys(check: PlanCheck) -> list[str]:
    """Return the functions that have to be registered for a plan."""
    from substrait_dsl.engines.registered import registered_keys

    assert check.lowered is not None
    return registered_keys(root.input for root in check.lowered.roots)


def _require_registered(check: PlanCheck) -> None:
    """Raise `UnsupportedError` for a plan that calls functions which have to be registered, and are not."""
    from substrait_dsl.consumers.acero import are_acero_functions_registered

    assert check.lowered is not None
    for bound in bound_calls(root.input for root in check.lowered.roots):
        raise UnsupportedError(
            f"the bytes would call {bound_by(bound.function)}, which is bound in this process, to what it executes",
            hint="plan.execute(session) runs the plan; to_bytes() without an engine writes the function that it calls",
        )
    keys = _registered_keys(check)
    if keys and not are_acero_functions_registered():
        raise UnsupportedError(
            f"the bytes would call functions that {check.profile} has only once they are registered: {quote(keys)}",
            hint="sd.register_acero_functions() registers them, in each process that writes or runs such bytes; "
            "plan.execute(sd.AceroSession(tables)) runs the plan",
        )


def _encoding_findings(profile: Profile, *, has_others: bool) -> Iterator[CheckFinding]:
    """Yield the findings about the form in which an engine reads plans."""
    from substrait_dsl.engines.rules import OTHER_FORM

    if profile.encoding == "legacy":
        shape = profile.shapes.get("encoding", "unspecified")
        why = "the engine reads earlier versions of the messages, and some forms of relations alone"
        severity = "unspecified" if shape == "right" else shape
        yield CheckFinding(
            "encoding", severity, why, cure="removed fields beside today's, those forms", is_refused=False
        )
    elif not has_others:
        yield CheckFinding(OTHER_FORM.code, "unspecified", OTHER_FORM.why, cure=OTHER_FORM.cure, is_refused=False)


def _verdict(plan: AlgebraPlan, checked: CheckedPlan) -> Verdict:
    """As it is written, a plan is known to be right only if the engine gets the very same bytes lowered."""
    from substrait_dsl.proto.plan import encode_plan, to_bytes

    if checked.message is None:
        return "refused"
    if checked.check.rewritten or to_bytes(encode_plan(plan)) != to_bytes(checked.message):
        return "runs lowered"
    return "runs"


def _list_refusals(refusals: Sequence[Refusal]) -> Iterator[tuple[CheckFinding, tuple[Rel, Node] | None]]:
    for each in refusals:
        place = None if each.location is None else (each.location.top, each.location.node)
        hint = f"; {each.error.hint}" if each.error.hint else ""
        why = f"{each.error.message}{hint}"
        yield CheckFinding(each.code, each.severity, why, requirement=each.requirement), place


def _rewritten(check: PlanCheck) -> Iterator[tuple[CheckFinding, tuple[Rel, Node] | None]]:
    for each in check.rewritings():
        finding = CheckFinding(each.code, each.severity, each.why, cure=each.cure, is_refused=False)
        yield finding, (each.location.top, each.location.node)


def _merge_findings(findings: Iterable[tuple[CheckFinding, tuple[Rel, Node] | None]]) -> Iterator[CheckFinding]:
    """One finding for all places of one kind, with the step of the first."""
    merged: dict[CheckFinding, tuple[tuple[Rel, Node] | None, int]] = {}
    for finding, place in findings:
        first, places = merged.get(finding, (place, 0))
        merged[finding] = (first, places + 1)
    for finding, (place, places) in merged.items():
        if place is None:
            yield attrs.evolve(finding, places=places)
        else:
            step = step_of(*place)
            yield attrs.evolve(finding, step=step.text, expression=step.part or "", places=places)


def _sort_findings(findings: Iterable[CheckFinding]) -> tuple[CheckFinding, ...]:
    """Sort findings: refused ones first, of these the worst first; the others stay in their order."""
    return tuple(sorted(findings, key=lambda each: (not each.is_refused, SEVERITIES.index(each.severity))))


def check_all(plan: Plan | RelationBase, engines: Iterable[str | Path | Capabilities] | None = None) -> CheckMatrix:
    """Say what each of several engines does with a plan.

    Args:
        plan: the plan, or a relation, which means its plan.
        engines: the engines, each as of `Plan.check`; by default Spark, Sail, and all that there is a profile of.

    Returns:
        The reports by the names of the engines, in order. It prints as a table.

    Raises:
        InvalidArgumentError: `plan` is neither a plan nor a relation; `engines` is one, or none.
        SubstraitDslError: what `Plan.check` raises.

    Specification: ``dialect_schema.yaml``.

    Example:
        >>> [report.verdict for report in sd.check_all(orders, ["datafusion", "duckdb"]).reports.values()]
        ['runs', 'runs']
    """
    from substrait_dsl.engines.profile import shipped_profiles
    from substrait_dsl.fluent.plan import Plan

    with error_context(verb="check_all"):
        require(plan, (Plan, RelationBase), "a plan or a relation is checked")
        if engines is None:
            targets: tuple[str | Path | Capabilities, ...] = tuple(
                dict.fromkeys((*(each.name for each in shipped_profiles().values()), *NAMES))
            )
        else:
            targets = _require_engines(engines)
        document = plan.to_plan() if isinstance(plan, RelationBase) else plan
        reports = [document._check(engine) for engine in targets]
    return CheckMatrix({report.engine: report for report in reports})


def _require_engines(engines: object) -> tuple[str | Path | Capabilities, ...]:
    """Return several engines. Raises `InvalidArgumentError` for one, or for none."""
    if isinstance(engines, str | bytes | Path | Capabilities) or not isinstance(engines, Iterable):
        raise InvalidArgumentError("expected several engines", got=engines, hint="plan.check(engine) takes one")
    found = tuple(engines)
    if not found:
        raise InvalidArgumentError("expected at least one engine")
    return found
