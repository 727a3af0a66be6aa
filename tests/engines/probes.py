"""Makes the dialect part of a profile anew, from what an installed engine does: functions, constants and casts.

Run from the repository's root: ``python -m tests.engines.probes > probed.yaml``. What is probed is sent as it is
written, not lowered. A signature of a function is listed if all cases of the specification for it, without options,
come out as stated. What comes out otherwise stands under ``metadata``, and so does what casts give. `differences` holds
that against a profile.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import attrs
import yaml

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import FunctionId
from substrait_dsl.engines.profile import Profile
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.proto.plan import encode_plan, to_bytes
from tests.engines.corpus_forms import LITERALS, column_of
from tests.engines.runners import Rows, canonical_rows, run_on_datafusion
from tests.engines.test_function_cases import plan_of
from tests.spark.test_functions import is_expected, runnable

Run = Callable[[bytes], Rows]
SPEC = "extension:io.substrait:functions_"

CASTED: dict[str, tuple[Any, ...]] = {
    "boolean?": (True, None),
    "i8?": (-128, 127),
    "i64?": (0, 127, 128, 2**53 + 1),
    "fp64?": (0.5, -2.5, 1e20, float("nan")),
    "decimal<10,2>?": (Decimal("2.50"), Decimal("-0.05"), Decimal("99999999.99")),
    "string?": ("1", " 1 ", "1.5", "x", "2020-01-01"),
    "date?": (dt.date(2020, 2, 29),),
    "precision_timestamp<6>?": (dt.datetime(1969, 12, 31, 23, 59, 59, 999999),),
}
"""Values whose casts tell engines apart, by their types."""

TARGETS = (
    "boolean?",
    "i8?",
    "i32?",
    "i64?",
    "fp32?",
    "fp64?",
    "decimal<5,1>?",
    "string?",
    "date?",
    "precision_timestamp<3>?",
)


@attrs.frozen
class Probed:
    """What an engine does."""

    functions: Mapping[tuple[str, str], Mapping[str, int]]
    """By the URN and the key of a scalar function how many cases are right, wrong and rejected."""
    constants: Mapping[str, str]
    """By the type what becomes of a constant of it: right, wrong or rejected."""
    casts: Mapping[str, Mapping[str, list[str]]]
    """By the types that are cast from and to what becomes of the values."""

    def right(self) -> frozenset[tuple[str, str]]:
        """The functions whose cases are all right."""
        return frozenset(each for each, counted in self.functions.items() if set(counted) == {"right"})


def probe(run: Run) -> Probed:
    """Find out what an engine does, by a function that runs the bytes of a plan."""
    functions: dict[tuple[str, str], dict[str, int]] = {}
    for function, happened in _cases(run):
        counted = functions.setdefault((function.urn, function.key), defaultdict(int))
        counted[happened] += 1
    constants = {
        kind: _worst(_outcome(run, column_of(kind, value), [(value,)]) for value in values)
        for kind, values in LITERALS.items()
    }
    casts = {
        source: {target: _casts(run, source, target) for target in TARGETS if target != source} for source in CASTED
    }
    return Probed(functions, constants, casts)


def _cases(run: Run) -> Iterator[tuple[FunctionId, str]]:
    for each in runnable()[0]:
        if each.case.kind != "scalar" or each.case.options:
            continue
        fails = each.case.expected in ("ERROR", "UNDEFINED")
        try:
            ((value,),) = run(to_bytes(encode_plan(plan_of(each))))
        except BaseException as error:  # panics of Rust are no Exception
            _require_failure(error)
            yield each.call.function, "right" if fails else "rejected"
        else:
            yield each.call.function, "right" if is_expected(value, each.case) else "wrong"


def _outcome(run: Run, relation: sd.Relation[Any], expected: Rows) -> str:
    try:
        rows = canonical_rows(run(relation.to_plan().to_bytes()))
    except BaseException as error:
        _require_failure(error)
        return "rejected"
    return "right" if rows == canonical_rows(expected) else "wrong"


def _worst(outcomes: Iterator[str]) -> str:
    return min(outcomes, key=("wrong", "rejected", "right").index)


def _casts(run: Run, source: str, target: str) -> list[str]:
    """What the values of a type become, each in a plan of its own."""
    return [_cast(run, source, target, value) for value in CASTED[source]]


def _cast(run: Run, source: str, target: str, value: Any) -> str:
    table = sd.read_virtual([(value,)], {"v": source})
    try:
        ((made,),) = run(table.select(c=lambda r: r.v.cast(target)).to_plan().to_bytes())
    except BaseException as error:
        _require_failure(error)
        return "rejected"
    return repr(made)


def _require_failure(error: BaseException) -> None:
    """Raise what is no failure of the engine."""
    if isinstance(error, SubstraitDslError | KeyboardInterrupt | SystemExit):
        raise error


def dialect_of(name: str, probed: Probed) -> str:
    """A dialect file of what an engine does."""
    sources = {urn: urn.removeprefix(SPEC) for urn, _ in probed.functions}
    listed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for urn, key in sorted(probed.right()):
        function, _, signature = key.partition(":")
        listed[urn, function].append(signature)
    others = {f"{sources[urn]} {key}": dict(counted) for (urn, key), counted in sorted(probed.functions.items())
              if (urn, key) not in probed.right()}  # fmt: skip
    return yaml.safe_dump(
        {
            "name": name,
            "metadata": {
                "constants": dict(probed.constants),
                "casts": {source: dict(targets) for source, targets in probed.casts.items()},
                "other_functions": others,
            },
            "dependencies": {source: urn for urn, source in sorted(sources.items())},
            "supported_scalar_functions": [
                {"source": sources[urn], "name": function, "supported_impls": signatures}
                for (urn, function), signatures in listed.items()
            ],
        },
        sort_keys=False,
        allow_unicode=True,
        width=120,
    )


def differences(probed: Probed, profile: Profile) -> tuple[set[str], set[str]]:
    """What a profile has that the engine does not, and what the engine has that the profile does not.

    Functions that lowering writes another way by a rule of the profile are not compared.
    """
    has = {(urn, key) for kind, urn, key in profile.functions if kind == "scalar function"}

    def names(some: set[tuple[str, str]]) -> set[str]:
        return {
            f"{urn.removeprefix(SPEC)} {key}"
            for urn, key in some
            if key.partition(":")[0] not in profile.function_rules
        }

    failing = {each for each in has if each in probed.functions} - probed.right()
    constants = {kind for kind, happened in probed.constants.items() if happened == "right"}
    listed = {kind for kind in LITERALS if sd.parse_type(kind).keyword in profile.literals}
    lacking = names(failing) | (listed - constants) | set(_rejected_casts(probed, profile))
    return lacking, names(set(probed.right()) - has) | (constants - listed)


def _rejected_casts(probed: Probed, profile: Profile) -> Iterator[str]:
    """The casts of a profile that the engine rejects for all values."""
    for source, targets in probed.casts.items():
        for target, made in targets.items():
            kinds = [sd.parse_type(each).keyword for each in (source, target)]
            if kinds[1] in profile.casts.get(kinds[0], ()) and set(made) == {"rejected"}:
                yield f"cast {kinds[0]} to {kinds[1]}"


def datafusion() -> Run:
    """The installed DataFusion."""
    from datafusion import SessionContext

    context = SessionContext()
    return lambda data: run_on_datafusion(context, data)


if __name__ == "__main__":
    from importlib.metadata import version

    print(dialect_of(f"DataFusion {version('datafusion')}", probe(datafusion())), end="")
