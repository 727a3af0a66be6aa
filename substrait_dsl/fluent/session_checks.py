"""Checks of plans for engines that run them in a session of Spark's interface: Spark, and Sail, the embedded engine.

These engines take no plans as bytes and have no profile: the library lowers a plan to Spark's SQL. So a report has the
refusals of that lowering, found without a session, without Java and without pyspark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Node
from substrait_dsl.engines.report import CheckFinding, Report, Severity, Verdict
from substrait_dsl.errors import InvalidChoiceError, UnsupportedError
from substrait_dsl.render.step_summary import step

if TYPE_CHECKING:
    from substrait_dsl.algebra.plan import AlgebraPlan
    from substrait_dsl.spark.preflight import Refused
    from substrait_dsl.spark.session.engines import Engine

NAMES = ("spark", "sail")
"""The names of these engines."""


@attrs.frozen
class SessionEngine:
    """An engine with the versions that plans run on."""

    name: str
    """The engine with its version, as reports call it: ``sail-0.7``."""
    engine: Engine


def session_engine(engine: object) -> SessionEngine | None:
    """Return the engine that a name means, alone or with its version; None: it means none of these.

    Raises:
        InvalidChoiceError: there is no such version.
    """
    if not isinstance(engine, str) or engine.partition("-")[0] not in NAMES:
        return None
    from substrait_dsl.spark.sail.engine import SAIL
    from substrait_dsl.spark.session.engines import SPARK
    from substrait_dsl.spark.session.versions import NEWEST
    from substrait_dsl.spark.session.versions import SAIL as SAIL_VERSION

    name, _, version = engine.partition("-")
    versions = {"spark": str(NEWEST[0]), "sail": ".".join(map(str, SAIL_VERSION))}
    if version not in ("", versions[name]):
        known = [each for name, version in versions.items() for each in (name, f"{name}-{version}")]
        raise InvalidChoiceError.of_word("engine", engine, known)
    return SessionEngine(f"{name}-{versions[name]}", SPARK if name == "spark" else SAIL)


def require_bytes(engine: object) -> None:
    """Refuse an engine that gets no plans as bytes.

    Raises:
        UnsupportedError: it is one of these.
        InvalidChoiceError: it is a version of one that there is not.
    """
    found = session_engine(engine)
    if found is not None:
        name = found.engine.name
        arguments = "" if name == "Spark" else 'engine="sail"'
        raise UnsupportedError(
            f"{name} takes no Substrait plans, neither as bytes nor lowered: the library runs them in a session",
            hint="plan.execute(session) runs it, session being "
            f"substrait_dsl.spark.session.local_session({arguments}); "
            f'plan.check("{engine}") says whether it does',
        )


def session_report(plan: AlgebraPlan, engine: SessionEngine) -> Report:
    """Report what a session of an engine does with a plan."""
    from substrait_dsl.spark.preflight import preflight

    found = preflight(plan, engine.engine)
    findings = _merge_findings(_finding(each) for each in found.refused)
    needed = (
        CheckFinding("setting", "unspecified", f"a session needs the setting {each.fix}", is_refused=False)
        for each in found.settings
    )
    verdict: Verdict = "refused" if found.refused else "runs"
    return Report(engine.name, verdict, (*findings, *needed))


def _finding(refused: Refused) -> CheckFinding:
    error = refused.error
    hint = f"; {error.hint}" if error.hint else ""
    severity: Severity = "unspecified" if refused.is_of_session else "rejected"
    code = "session" if refused.is_of_session else _code(refused)
    found = CheckFinding(code, severity, f"{error.message}{hint}")
    if refused.top is None or refused.rel is None:
        return found
    place = step(refused.top, refused.rel, refused.part)
    return attrs.evolve(found, step=place.text, expression=place.part or "")


def _code(refused: Refused) -> str:
    match refused.part:
        case ex.ScalarFunction() | ex.AggregateFunction() | ex.WindowCall() | ex.WindowFunction() | ex.Measure():
            return "function"
        case ex.Cast():
            return "cast"
        case ex.Literal():
            return "literal"
        case Node() | None:
            return "no-form"


def _merge_findings(findings: Iterator[CheckFinding]) -> Iterator[CheckFinding]:
    """One finding for all places of one kind, with the step of the first."""
    merged: dict[CheckFinding, list[CheckFinding]] = {}
    for each in findings:
        merged.setdefault(attrs.evolve(each, step="", expression=""), []).append(each)
    for places in merged.values():
        yield attrs.evolve(places[0], places=len(places))
