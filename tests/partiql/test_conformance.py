"""Cases of PartiQL's conformance tests that scan, cross join, filter and map values, with their results.

The cases are SQL; their translation to the algebra comes with them. The interpreter agrees with all assertions but
those in `DIFFERENCES`, where each has its reason.
"""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from substrait_dsl.errors import EvaluationError, NotationError, UnknownFieldError
from substrait_dsl.partiql import Bag, Mode, ValueExpr, evaluate_value, parse, parse_value, render
from substrait_dsl.partiql.values import same
from tests.conftest import SHARED
from tests.partiql.evaluating import data

FILE = SHARED / "third_party_plans" / "partiql_tests_inscope.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else []

pytestmark = pytest.mark.usefixtures("shared")

MODES: dict[str, Mode] = {"EvalModeCoerce": "permissive", "EvalModeError": "strict"}

SELECT_IS_A_BAG = "there SELECT over a list is a bag, and AT over it missing; in the document map_values keeps the list"
ONE_VALUE = "there strict mode has no scan of what is no collection; in the document it makes one tuple in both modes"
AT_OF_A_BAG = "there strict mode has no AT over a bag; in the document it is missing in both modes"
TABLE_FIRST = "there a name in FROM is a table before it is a variable to its left; the translation did not tell them"
ANY_CASE = "there an alias without quotes is ambiguous if another differs in case only; names in the algebra do not"
AS_VARIABLE = "the translation has the name of an attribute as a variable, which nothing binds: refused in both modes"
STAR_OF_A_SCALAR = "the translation of x.* takes x for a struct; that of a scalar is the function star"
ONE_VALUE_OF_MANY = "there a subquery that stands for a value is coerced to it; the translation left that out"
LOST_POINT = "the case shows the decimal 5. as 5, which is divided as an integer"
SEXP = "S-expressions of Ion are values there, and in no document of the algebra"
UNQUOTED = "the expected value has a name with a space, without quotes"
NOT_SHOWN = "the expected value is not written down"

DIFFERENCES: dict[tuple[int, str], dict[Mode, str]] = {
    (2, "Empty Symbol in table (with Ion data)"): {"permissive": NOT_SHOWN, "strict": ONE_VALUE},
    (3, "rangeOverSexp"): {"permissive": SEXP, "strict": SEXP},
    (4, "projectOfSexp"): {"permissive": SEXP, "strict": SEXP},
    (5, "variableShadow"): {"permissive": TABLE_FIRST, "strict": ONE_VALUE},
    (12, "emptySymbol"): {"strict": ONE_VALUE},
    (16, "division with mixed StaticType"): {"permissive": LOST_POINT, "strict": LOST_POINT},
    (21, "dateTimePartsAsVariableNames"): {"strict": ONE_VALUE},
    (49, "PG_INT8_27"): {"permissive": UNQUOTED, "strict": UNQUOTED},
    (50, "PG_INT8_28"): {"permissive": UNQUOTED, "strict": UNQUOTED},
    (56, 'repeated field on struct is ambiguous{identifier:"REPEATED",cn:9,bn:"REPEATED"}'): {"strict": AS_VARIABLE},
    (57, 'repeated field on struct is ambiguous{identifier:" \\"repeated\\" ",cn:10,bn:"repeated"}'): {
        "strict": AS_VARIABLE
    },
    (58, "path expression with ambiguous table alias (lowercase, unquoted)"): {"strict": ANY_CASE},
    (59, "Empty Symbol in table"): {"strict": ONE_VALUE},
    (60, "Empty Symbol in alias"): {"strict": ONE_VALUE},
    (64, "rangeOverScalar"): {"strict": ONE_VALUE},
    (65, "rangeTwiceOverScalar"): {"strict": ONE_VALUE},
    (66, "rangeOverStruct"): {"strict": ONE_VALUE},
    (72, "rangeOverBagWithAt"): {"strict": AT_OF_A_BAG},
    (73, "rangeOverNestedWithAt"): {"permissive": SELECT_IS_A_BAG, "strict": SELECT_IS_A_BAG},
    (122, "alias1.alias2.*"): {"strict": ONE_VALUE},
    (133, "selectNonCorrelatedJoin"): {"permissive": TABLE_FIRST, "strict": ONE_VALUE},
    (134, "correlatedJoinWithShadowedAttributes"): {"strict": ONE_VALUE},
    (135, "correlatedJoinWithoutLexicalScope"): {"strict": ONE_VALUE},
    (136, "joinWithShadowedGlobal"): {"permissive": TABLE_FIRST, "strict": ONE_VALUE},
    (144, "single source FROM with bag and AT clause"): {"strict": AT_OF_A_BAG},
    (145, "single source FROM with scalar"): {"strict": ONE_VALUE},
    (146, "single source FROM with scalar and AT clause"): {"strict": ONE_VALUE},
    (147, "single source FROM with tuple"): {"strict": ONE_VALUE},
    (148, "single source FROM with tuple and AT clause"): {"strict": ONE_VALUE},
    (149, "single source FROM with absent value null"): {"strict": ONE_VALUE},
    (150, "single source FROM with absent value null and AT clause"): {"strict": ONE_VALUE},
    (151, "single source FROM with absent value missing"): {"strict": ONE_VALUE},
    (152, "single source FROM with absent value missing and AT clause"): {"strict": ONE_VALUE},
    (162, "select variable star with non tuples"): {"permissive": STAR_OF_A_SCALAR, "strict": STAR_OF_A_SCALAR},
    (164, "inner select evaluating to collection with more than one element"): {"permissive": ONE_VALUE_OF_MANY},
}
"""The assertions that do not hold, by the number and name of the case, and the mode."""

COMPARED = [number for number, case in enumerate(CASES) if not case["big"]]
LARGE = [number for number, case in enumerate(CASES) if case["big"]]
"""The cases whose tables, of more than 300 rows, and results are not there."""


def test_the_cases_are_those_that_the_differences_are_about() -> None:
    assert (len(CASES), len(LARGE)) == (165, 22)
    assert [(number, name) for number, name in DIFFERENCES if CASES[number]["name"] != name] == []


@pytest.mark.parametrize("number", COMPARED)
def test_results(number: int) -> None:
    case = CASES[number]
    differing = DIFFERENCES.get((number, case["name"]), {})
    asserted = [(MODES[mode], one) for one in case["asserts"] for mode in one["modes"]]
    assert asserted
    assert {mode for mode, one in asserted if not _holds(case, mode, one)} == differing.keys()


def _holds(case: dict[str, Any], mode: Mode, asserted: dict[str, Any]) -> bool:
    """Whether the interpreter does what is asserted."""
    tables = {name: data(text) for name, text in case["env"].items()}
    fails = bool(asserted["result"] == "EvaluationFail")
    try:
        expression = parse_value(case["sexp"])
        expected = None if fails else data(_written(asserted["output"]))
    except NotationError:
        return False
    try:
        got = evaluate_value(expression, tables, mode)
    except EvaluationError:
        return fails
    except UnknownFieldError:
        return False
    if isinstance(got, tuple):  # there SELECT over a list is a bag
        got = Bag(got)
    return not fails and same(got, expected)


def _written(output: str) -> str:
    if output == "UNREPRESENTABLE":
        raise NotationError(NOT_SHOWN)
    return output


@pytest.mark.parametrize("number", [number for number in range(len(CASES)) if number not in (3, 4)])  # see SEXP
def test_every_case_is_read_as_it_is_printed(number: int) -> None:
    expression = cast(ValueExpr, parse(CASES[number]["sexp"]))
    assert parse(render(expression)) == expression
