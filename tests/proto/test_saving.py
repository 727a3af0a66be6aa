"""Files of documents are written whole or not at all."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from tests.support import table


def plans() -> tuple[Any, Any]:
    rows: Any = sd.read_virtual([(number,) for number in range(2000)], {"a": "i64"})
    return table("a: i64").to_plan(), rows.to_plan()


def expressions() -> tuple[Any, Any]:
    columns: Any = {f"b{number}": lambda r: r.a + 1 for number in range(500)}
    return sd.ExtendedExpression(table("a: i64"), b=lambda r: r.a + 1), sd.ExtendedExpression(
        table("a: i64"), **columns
    )


DOCUMENTS = {"plan": plans, "expressions": expressions}
"""For each kind a small document, and one that is larger than `LIMIT`."""
LIMIT = 2000


@contextmanager
def full_disk() -> Iterator[None]:
    """Files of this process grow up to `LIMIT` bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("name", ["saved", "saved.json"])
def test_a_full_disk_leaves_the_old_file(kind: str, name: str, tmp_path: Path) -> None:
    small, large = DOCUMENTS[kind]()
    small.save(path := tmp_path / name)
    with full_disk(), pytest.raises(OSError, match="too large"):
        large.save(path)
    assert type(small).load(path) == small
    assert os.listdir(tmp_path) == [name]
    large.save(path)
    assert type(small).load(path) == large
    assert os.listdir(tmp_path) == [name]


def test_a_new_file_that_fails_is_not_there(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(OSError, match="too large"):
        plans()[1].save(tmp_path / "new.plan")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["missing/new.plan", "file/new.plan"])
def test_an_error_names_the_file_that_was_to_be_saved(name: str, tmp_path: Path) -> None:
    """Also where the system names another, or none, as on a disk that is full."""
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="director") as raised:
        plans()[0].save(tmp_path / name)
    assert raised.value.filename == str(tmp_path / name)
    assert ".draft" not in str(raised.value)
    with full_disk(), pytest.raises(OSError, match="too large") as raised:
        plans()[1].save(tmp_path / "new.plan")
    assert raised.value.filename == str(tmp_path / "new.plan")
    assert "new.plan" in str(raised.value)


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    plan, other = plans()
    (tmp_path / "there").mkdir()
    plan.save(path := tmp_path / "there" / "a.plan")
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    (link := tmp_path / "link.plan").symlink_to(path)
    other.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sd.Plan.load(path) == other


def test_what_is_no_regular_file_is_written_to(tmp_path: Path) -> None:
    plan, _ = plans()
    os.mkfifo(pipe := tmp_path / "pipe")
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        plan.save(pipe)
        assert os.read(end, 1 << 16) == plan.to_bytes()
    finally:
        os.close(end)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_longest_name(tmp_path: Path) -> None:
    plan, _ = plans()
    plan.save(path := tmp_path / ("x" * 255))
    assert sd.Plan.load(path) == plan
