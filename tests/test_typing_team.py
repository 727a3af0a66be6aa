"""What mypy says of the modules of a team: nothing of the correct ones, and most of the faults seeded in them.

See `seeded_faults`. The share of the faults that mypy reports with the plugin may not fall.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from substrait_dsl.errors import SubstraitDslError
from tests.projects import SETTINGS, Project
from tests.seeded_faults import PACKAGE_OF, PACKAGES, TEAM, build, make_copies, read_faults, read_text

ROOT = Path(__file__).parent.parent
MIN_SHARE = 0.98
"""Which part of the faults mypy reports. What is missing stands in the message of the test."""

SAID = re.compile(r"\w+/(?P<module>\w+)\.py:(?P<line>\d+): error: ")


@pytest.mark.parametrize("module", PACKAGE_OF)
def test_each_fault_is_an_error_when_the_pipelines_are_built(module: str) -> None:
    text = read_text(module)
    build(module, text)
    for fault in read_faults(module):
        assert text.count(fault.old) == 1, fault
        with pytest.raises(SubstraitDslError):
            build(module, text.replace(fault.old, fault.new))


def test_mypy_reports_the_faults_and_nothing_in_correct_modules(library_cache: Path, tmp_path: Path) -> None:
    copies = [copy for module in PACKAGE_OF for copy in make_copies(module)]
    project = Project(tmp_path / "project")
    for package in PACKAGES:
        shutil.copytree(TEAM / package, project.path / package, ignore=shutil.ignore_patterns("__pycache__"))
    settings = SETTINGS.replace("[mypy]", f"[mypy]\nmypy_path = {ROOT}\nexplicit_package_bases = True")
    project.write({"mypy.ini": settings, **{f"{copy.package}/{copy.name}.py": copy.text for copy in copies}})
    shutil.copytree(library_cache, project.path / "cache")
    reported: defaultdict[str, list[int]] = defaultdict(list)
    for line in project.checked("--cache-dir", "cache", *PACKAGES):
        if found := SAID.match(line):
            reported[found["module"]].append(int(found["line"]))
    assert not [module for module in PACKAGE_OF if module in reported]
    results = [
        (fault, any(line in lines for line in reported[copy.name])) for copy in copies for fault, lines in copy.places
    ]
    missed = [str(fault) for fault, is_reported in results if not is_reported]
    assert len(results) > 800
    assert len(missed) <= (1 - MIN_SHARE) * len(results), "\n".join(missed)
