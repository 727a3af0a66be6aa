"""The tasks of the project: ``nox -l`` lists them, ``nox -s tests`` runs one, arguments after ``--`` go to its tool.

A task runs in the environment `.venv` of the working tree where there is one (`CONTRIBUTING.md` says how to make it),
else in the environment that runs nox. Nothing is installed but by `oldest_spark`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
LOCAL = ROOT / ".venv" / SCRIPTS / "python"
PYTHON = str(LOCAL) if LOCAL.exists() else sys.executable
OLDEST_SPARK = "4.1.4"
"""The oldest Spark that is tested: `docs/spark.md`."""

PAGES = (
    "tests/partiql/test_docs.py",
    "tests/proto/test_plans_page.py",
    "tests/spark/test_recipes.py",
    "tests/test_contributing.py",
    "tests/test_coverage_table.py",
    "tests/test_glossary.py",
    "tests/test_spec_decisions.py",
    "tests/test_testing.py",
    "tests/test_tutorial.py",
    "tests/test_typing_docs.py",
    "tests/test_why.py",
)
"""The tests that run what the pages of `docs` show."""

nox.options.default_venv_backend = "none"
nox.options.sessions = ["tests", "lint", "types"]


def run(session: nox.Session, *arguments: str) -> None:
    """Run a module of Python in the environment of the tasks, with the arguments that follow ``--``."""
    session.run(PYTHON, "-m", *arguments, *session.posargs, external=True)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests without Java that are not slow: less than a minute."""
    run(session, "pytest", "-q", "-n", "2", "-m", "not spark and not slow")


@nox.session
def spark(session: nox.Session) -> None:
    """Run the tests on Spark that are not slow: some minutes."""
    run(session, "pytest", "-q", "-n", "2", "-m", "spark and not slow")


@nox.session
def slow(session: nox.Session) -> None:
    """Run the slow tests: half an hour and more."""
    run(session, "pytest", "-q", "-n", "2", "-m", "slow")


@nox.session
def docs(session: nox.Session) -> None:
    """Run the examples of the pages, on Spark too, and compare their tables with the code."""
    run(session, "pytest", "-q", *PAGES)


@nox.session
def site(session: nox.Session) -> None:
    """Build the site of the pages, into `build/site`; a warning, or a link that leads nowhere, is an error."""
    session.env["NO_MKDOCS_2_WARNING"] = "1"  # of what comes after this version of the theme
    run(session, "mkdocs", "build", "--quiet", "--config-file", "docs/site/mkdocs.yml")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")


@nox.session(name="format")
def mend(session: nox.Session) -> None:
    """Mend style and format."""
    run(session, "ruff", "check", "--fix", ".")
    run(session, "ruff", "format", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly, in the package, its examples, benchmarks and tests."""
    run(session, "mypy")


@nox.session
def oldest_spark(session: nox.Session) -> None:
    """Run the tests on the oldest Spark, in an environment of its own, which is made if it is missing."""
    home = ROOT / ".venv" / "spark41"
    python = str(home / SCRIPTS / "python")
    if not home.exists():
        session.run(sys.executable, "-m", "venv", str(home), external=True)
        pip = (python, "-m", "pip", "install", "-q")
        session.run(*pip, "-c", "constraints.txt", "-e", ".[dev]", external=True)
        session.run(*pip, f"pyspark[connect]=={OLDEST_SPARK}", external=True)
    paths = ("tests/spark", "tests/differential", "tests/test_tpch.py")
    session.run(python, "-m", "pytest", "-q", *(session.posargs or paths), external=True)


@nox.session
def ci(session: nox.Session) -> None:
    """Do all of what CI does, from a clean clone of the last commit."""
    session.run(".ci/run", external=True)
