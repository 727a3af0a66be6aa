"""Findings: where a plan that was read differs from the specification, with codes and weights.

Every finding has a code, and `FindingCode` is the one table of them: its members have the weight and the text that
the documentation prints.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterable
from enum import StrEnum

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.validators import TEXT, between, one, several
from substrait_dsl.errors import InvalidChoiceError, printable

Weight = typing.Literal["harmless", "assumed"]
"""Whether there is one meaning only (``harmless``), or another is possible and one was assumed (``assumed``)."""

WEIGHTS: tuple[Weight, ...] = typing.get_args(Weight)
"""The weights, the lightest first."""

MAX_PATHS = 3
"""How many paths a finding has at most."""


class FindingCode(StrEnum):
    """The code of a finding; each member equals its text, and has a weight and a description.

    ``harmless`` can mean one thing only, or is preserved unchanged: an engine that does not know it refuses
    it by name. ``assumed`` is what may mean something else, by which rows can differ.

    Example:
        >>> sorted({code.weight for code in sd.FindingCode})
        ['assumed', 'harmless']
    """

    weight: Weight
    description: str

    def __new__(cls, code: str, weight: Weight, description: str) -> FindingCode:
        """Make a member out of its code, its weight and its description."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.weight = weight
        member.description = description
        return member

    @classmethod
    def _missing_(cls, value: object) -> typing.NoReturn:
        """Refuse what is no code."""
        raise InvalidChoiceError.of_word("code of a finding", value, cls)

    # --- the plan as a whole
    VERSION_MISSING = (
        "version-missing",
        "assumed",
        "no version of the specification is said: read as of today's, and some values meant something else before",
    )
    VERSION_NEWER = (
        "version-newer",
        "assumed",
        "the version is newer than the one known here: what it says may mean something else by now",
    )
    EVALUATION_MODE = (
        "evaluation-mode",
        "harmless",
        "nothing says how often variables are evaluated: once per plan; nothing in it depends on that",
    )
    EVALUATION_MODE_OF_VARIABLES = (
        "evaluation-mode-of-variables",
        "assumed",
        "nothing says how often variables are evaluated, in a plan that uses some: once per plan",
    )
    ROOT_MISSING = ("root-missing", "harmless", "no relation is a root: the plan returns nothing")
    ROOT_NAMES = ("root-names", "harmless", "a root has too few names, or too many: which are meant is clear")
    BINDING_UNUSED = ("binding-unused", "harmless", "a parameter is bound that no expression uses: preserved")
    BASE_SCHEMA = ("base-schema", "harmless", "an extended expression has no schema: it sees no columns")
    DETACHED_EXPRESSION = (
        "detached-expression",
        "harmless",
        "a detached expression is used more than once, or not at all, or only refers to another",
    )
    # --- extensions, functions, types
    EXTENSION_UNKNOWN = (
        "extension-unknown",
        "harmless",
        "an extension looks like one of the specification, which has none of this name: preserved unchanged",
    )
    EXTENSION_MISSING = (
        "extension-missing",
        "harmless",
        "a function or a type does not say which extension it is from: looked for in all",
    )
    EXTENSION_URI = ("extension-uri", "harmless", "an extension is named by an address: called by a URN made from it")
    FUNCTION_NAME = (
        "function-name",
        "harmless",
        "a function is declared by a name or a signature that is not its own, and one function takes these arguments",
    )
    FUNCTION_UNKNOWN = (
        "function-unknown",
        "harmless",
        "a function, or a call of one, that is not known: preserved unchanged, with the type that the plan declares; "
        "who runs the plan and does not know it refuses it by name",
    )
    FUNCTION_ARGUMENTS = (
        "function-arguments",
        "harmless",
        "a call lacks an argument, or has constants of another width or type of texts: read as the call of one meaning",
    )
    PRODUCER_MEANING = (
        "producer-meaning",
        "harmless",
        "a function or an aggregate is read as what its producer is known to mean by it",
    )
    OPTION_UNKNOWN = (
        "option-unknown",
        "harmless",
        "an option, or a value of one, that the function does not have: preserved unchanged",
    )
    CALL_TYPE_MISSING = (
        "call-type-missing",
        "harmless",
        "a call does not declare its type: it has that of the function's definition",
    )
    CALL_TYPE_ASSUMED = (
        "call-type-assumed",
        "assumed",
        "a call does not declare its type, and producers are known to have other types of it (decimals, quotients and "
        "averages of integers), or no overload takes it",
    )
    CALL_NULLABILITY = (
        "call-nullability",
        "harmless",
        "the declared type of a call differs from the derived one in what may be NULL: the derived one is used",
    )
    CALL_TYPE_DIFFERS = (
        "call-type-differs",
        "assumed",
        "the declared type of a call differs from the derived one in its size, precision, scale or variation",
    )
    CALL_IN_DAYS = (
        "call-in-days",
        "harmless",
        "a date and an interval of whole days are declared to give a date, not a timestamp: cast to it",
    )
    DECLARED_TYPES = (
        "declared-types",
        "assumed",
        "the derived types do not fit together, but those that the plan declares do: these are used",
    )
    TYPE_UNKNOWN = (
        "type-unknown",
        "harmless",
        "a type of an extension has a name or parameters that this does not declare: preserved unchanged",
    )
    TYPE_VARIATION = (
        "type-variation",
        "assumed",
        "a type variation that is not declared, by which values may be others: taken for the type itself",
    )
    TYPE_UNSIGNED = (
        "type-unsigned",
        "harmless",
        "a type variation that is not declared, by which DataFusion means an unsigned integer: so is a column",
    )
    TYPE_LAYOUT = (
        "type-layout",
        "harmless",
        "a type variation that is not declared, by which DataFusion means another layout of the same values",
    )
    TYPE_ALIAS = ("type-alias", "harmless", "a type alias stands for another alias: read as what that stands for")
    NULLABILITY_MISSING = (
        "nullability-missing",
        "harmless",
        "a type, or the struct of a schema or of a lambda, does not say as it should what may be NULL: taken so that "
        "every value fits",
    )
    INTERVAL_PRECISION = ("interval-precision", "harmless", "an interval says no precision: microseconds")
    NESTED_NAMES = (
        "nested-names",
        "harmless",
        "a schema names nested fields in another order, or too few: which are meant is clear",
    )
    # --- expressions
    CONSTANT_WIDTH = (
        "constant-width",
        "harmless",
        "an integer constant is of another width than what it stands beside, and its value fits",
    )
    CONSTANT_NARROWED = (
        "constant-narrowed",
        "assumed",
        "a call that gives an integer has a constant of a greater width than its function takes, and declares no type: "
        "of the width that the function takes, and so may be the result",
    )
    IF_VALUE = ("if-value", "harmless", "the first if has no then: it is the value that the others are compared with")
    ELSE_MISSING = ("else-missing", "harmless", "a conditional has no else: NULL")
    CAST_FAILURE = ("cast-failure", "assumed", "a cast does not say what happens where it fails: an error")
    CAST_NULLABILITY = ("cast-nullability", "harmless", "a cast that gives NULL where it fails says it never is NULL")
    MASK_OF_ONE_FIELD = (
        "mask-of-one-field",
        "assumed",
        "a mask of one field, or of one element, does not say whether it keeps the struct, or the list: it does",
    )
    LIKE_ESCAPE = ("like-escape", "harmless", "like has a third argument, NULL: no escape character (DataFusion)")
    PHASE_MISSING = ("phase-missing", "assumed", "an aggregate does not say its phase: initial_to_result")
    BOUNDS_TYPE = ("bounds-type", "assumed", "a frame does not say whether it is of rows or a range: rows")
    BOUND_ZERO = ("bound-zero", "harmless", "a bound is 0 rows away: the current row")
    # --- relations
    READ_SCHEMA = ("read-schema", "assumed", "a read does not say its schema: that of no columns")
    ROW_SCHEMA = ("row-schema", "harmless", "a virtual table does not say its schema: that of its first row")
    ROW_NULLABILITY = (
        "row-nullability",
        "harmless",
        "a value of a virtual table is required where its column is nullable: taken for nullable",
    )
    CONDITION_MISSING = ("condition-missing", "harmless", "a join has no expression: all rows match")
    JOIN_SIDES = (
        "join-sides",
        "harmless",
        "a join of a version before 0.72 that should put out both sides, but not DataFusion's: read as today's",
    )
    ANTI_JOIN = (
        "anti-join",
        "assumed",
        "an anti join on keys that may be NULL, which DataFusion writes for NOT IN, too: read as NOT EXISTS",
    )
    JOIN_FILTER = (
        "join-filter",
        "assumed",
        "post_join_filter of a version before 0.91 may have been a condition of the join: it filters the output",
    )
    FETCH_COUNT = ("fetch-count", "assumed", "a fetch of a version before 0.63 has no count: no row")
    FETCH_MODE = ("fetch-mode", "assumed", "a top-n does not say its mode: rows_only")
    PROJECT_EMPTY = ("project-empty", "harmless", "a project has no expressions: its input")
    GROUPING_REPEATED = (
        "grouping-repeated",
        "assumed",
        "a grouping of a former form lists an expression twice, and no root says how many columns that makes: one",
    )
    EXPAND_FIELDS = ("expand-fields", "assumed", "an expand has fewer fields than its input columns: the rest as it is")
    WRITE_OUTPUT = ("write-output", "assumed", "a write does not say its output: no_output")
    WRITE_SCHEMA = ("write-schema", "harmless", "a write does not say the schema of the table: that of its input")
    CREATE_MODE = ("create-mode", "assumed", "a table is created without a create mode: error_if_exists")
    FIELD_WITHOUT_MEANING = ("field-without-meaning", "harmless", "a field that has no meaning here: dropped")
    CHOICE_UNKNOWN = ("choice-unknown", "assumed", "a relation says what only a newer version knows: dropped")
    COMPUTATION_TYPE = ("computation-type", "harmless", "a hint of a computation does not say its type: unknown")
    HINT_IMPOSSIBLE = ("hint-impossible", "harmless", "a hint says what cannot be, or stands where none can: dropped")


@attrs.frozen(eq=False, repr=False)
class Finding(FrozenValue):
    """Something in a plan that was read which is not as the specification says, and how it was taken.

    One finding stands for all places of one kind: calls of one function, uses of one type.

    Specification: none has findings; `Plan.findings` lists them.

    Example:
        >>> sd.Plan.from_bytes(orders.to_plan().to_bytes()).findings
        ()
    """

    code: FindingCode = attrs.field(validator=one("a FindingCode", FindingCode))
    message: str = attrs.field(validator=TEXT)
    paths: tuple[str, ...] = attrs.field(default=("",), validator=several("a tuple of texts", str))
    """Where in the plan it stands, the first places: ``relations[0].root.input.read.base_schema.struct``."""
    places: int = attrs.field(default=1, validator=between(1, sys.maxsize))
    """In how many places it stands."""

    @property
    def path(self) -> str:
        """The first place in the plan where it stands; empty for the plan itself."""
        return self.paths[0]

    @property
    def weight(self) -> Weight:
        """Whether another meaning is possible (``assumed``) or not (``harmless``)."""
        return self.code.weight

    def __str__(self) -> str:
        more = self.places - 1
        where = [f"at {self.path}"] if self.path else []
        if more:
            where.append(f"{'and ' if where else ''}in {more} more place{'s' * (more > 1)}")
        placed = f" ({', '.join(where)})" if where else ""
        return printable(f"{self.message}{placed} [{self.weight}: {self.code}]")


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each code and message, the heavier first, else in their order."""
    merged: dict[tuple[FindingCode, str], Finding] = {}
    for finding in findings:
        first = merged.setdefault((finding.code, finding.message), finding)
        if first is not finding:
            paths = tuple(dict.fromkeys((*first.paths, *finding.paths)))[:MAX_PATHS]
            merged[finding.code, finding.message] = attrs.evolve(
                first, paths=paths, places=first.places + finding.places
            )
    return tuple(sorted(merged.values(), key=lambda finding: -WEIGHTS.index(finding.weight)))


def select_at_least(findings: Iterable[Finding], weight: Weight) -> tuple[Finding, ...]:
    """Return the findings of this weight, and heavier ones."""
    return tuple(each for each in findings if WEIGHTS.index(each.weight) >= WEIGHTS.index(weight))
