"""Programs that nobody would write: the mypy plugin never fails on one.

They are the programs under ``typing/plugin`` with some of their tokens dropped, doubled, exchanged or replaced by
others, as long as Python can compile them. With ``--show-traceback`` a hook that fails ends mypy with an internal
error.
"""

from __future__ import annotations

import io
import tokenize
import warnings
from pathlib import Path
from random import Random

import pytest

from tests.projects import SETTINGS, Project

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted((ROOT / "tests" / "typing" / "plugin").rglob("[!_]*.py"))
COUNT = 25
"""How many programs are made; mypy checks them in one run."""

LEAST, MOST = 3, 25
"""How many mutations a program has."""

FIXED = frozenset(
    (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.COMMENT)
)

Token = tuple[int, str]


def tokens(text: str) -> list[Token]:
    return [(token.type, token.string) for token in tokenize.generate_tokens(io.StringIO(text).readline)]


def mutated(found: list[Token], random: Random, others: list[Token]) -> list[Token]:
    """Some tokens with one mutation."""
    places = [place for place, (kind, _) in enumerate(found) if kind not in FIXED]
    one, other = random.choice(places), random.choice(places)
    changed = list(found)
    match random.randrange(5):
        case 0:
            del changed[one]
        case 1:
            changed.insert(one, changed[one])
        case 2:
            changed[one], changed[other] = changed[other], changed[one]
        case 3:
            alike = [token for token in others if token[0] == changed[one][0]]
            changed[one] = random.choice(alike)
        case 4:
            del changed[one : one + random.randint(2, 6)]
    return changed


def compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "program", "exec")
        except (SyntaxError, ValueError):
            return False
    return True


def program(random: Random, others: list[Token]) -> str:
    """One of the programs, mutated."""
    found = tokens(random.choice(PROGRAMS).read_text(encoding="utf-8"))
    text = tokenize.untokenize(found)
    done, wanted = 0, random.randint(LEAST, MOST)
    for _ in range(6 * wanted):
        changed = mutated(found, random, others)
        try:
            changed_text = tokenize.untokenize(changed)
        except (IndexError, ValueError):
            continue  # the indents are not in order
        if compiles(changed_text):
            found, text, done = changed, changed_text, done + 1
        if done == wanted:
            break
    return text


@pytest.mark.parametrize("seed", ["mutations"])
def test_no_mutated_program_makes_a_hook_fail(seed: str, library_cache: Path, tmp_path: Path) -> None:
    random = Random(seed)
    others = [token for file in PROGRAMS for token in tokens(file.read_text(encoding="utf-8"))]
    programs = {f"program_{number}.py": program(random, others) for number in range(COUNT)}
    project = Project(tmp_path / "project", library_cache)
    settings = SETTINGS.replace("[mypy]", f"[mypy]\nmypy_path = {ROOT}\nexplicit_package_bases = True")
    project.write({"mypy.ini": settings, **programs})
    said = project.checked("--show-traceback", *programs)
    assert sum("[substrait-" in line for line in said) > COUNT
