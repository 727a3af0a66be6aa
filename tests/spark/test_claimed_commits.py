"""A commit that its writer undoes while another one finishes it: they are stopped before every call, in each order.

Both run in threads of which only one goes on at a time, so that every order is tried, and each comes out the same.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.changes.commits import FINISH, STAGING, PartitionCatalog, Staging, recover, staging
from substrait_dsl.spark.changes.file_systems import LocalFiles
from substrait_dsl.spark.changes.file_writes import save
from tests.spark.test_commits import FIRST, SESSION, Interrupted, Writer, seen, write

CHANGES = frozenset({"rename", "rename_folder", "delete", "delete_empty"})
"""What changes files: each of the two is stopped before each of these."""
ADDED = ("p=1/c", "p=3/e")
THIRD = ("p=1/f",)


@pytest.fixture(autouse=True)
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the disk: no machine loses its power here."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


class Turns:
    """A thread that goes on for as many calls as it is told to, and then waits."""

    def __init__(self, act: Callable[[Turns], object]) -> None:
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._left: float = 0
        self.is_done = False
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(act,), daemon=True)
        self._thread.start()

    def _run(self, act: Callable[[Turns], object]) -> None:
        self._go.acquire()
        try:
            act(self)
        except BaseException as error:
            self.error = error
        self.is_done = True
        self._stopped.release()

    def step(self) -> None:
        """Called by the thread before what it does."""
        if self._left == 0:
            self._stopped.release()
            self._go.acquire()
        self._left -= 1

    def go(self, calls: float = float("inf")) -> None:
        """Let the thread do some calls more; returns when it has, or has ended."""
        if not self.is_done:
            self._left = calls
            self._go.release()
            self._stopped.acquire()


class Stepped(LocalFiles):
    """Files of one of the two; some renamings may fail."""

    def __init__(self, turns: Turns, fails: Callable[[str, str], bool] = lambda source, target: False) -> None:
        self._turns = turns
        self._fails = fails

    def __getattribute__(self, name: str) -> Any:
        if name in CHANGES:
            self._turns.step()
        return super().__getattribute__(name)

    def rename(self, source: str, target: str) -> None:
        if self._fails(source, target):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source)
        super().rename(source, target)

    def rename_folder(self, source: str, target: str) -> None:
        if self._fails(source, target):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source)
        super().rename_folder(source, target)

    def exchange(self, one: str, other: str) -> bool:
        return False


def orders(start: Callable[[Path], tuple[Turns, Turns]], folder: Path) -> Iterator[tuple[Path, Turns]]:
    """All orders in which the writer stops twice and the other once; gives the writer, when both have ended."""
    numbers = count()

    def stopped(before: int, meanwhile: int, then: int) -> tuple[Path, Turns, Turns, tuple[bool, bool, bool]]:
        here = folder / str(next(numbers)) / "out"
        owner, other = start(here)
        owner.go(before)
        is_first = owner.is_done
        other.go(meanwhile)
        is_second = other.is_done
        owner.go(then)
        return here, owner, other, (is_first, is_second, owner.is_done)

    for before in count():
        is_first = False
        for meanwhile in count():
            is_second = False
            for then in count(1):
                here, owner, other, (is_first, is_second, is_third) = stopped(before, meanwhile, then)
                other.go()
                owner.go()
                assert other.error is None
                yield here, owner
                if is_third:
                    break
            if is_second:
                break
        if is_first:
            return


@pytest.mark.parametrize("failing", ["p=3/e", "partitions"])
def test_a_commit_that_fails_is_undone_or_finished(failing: str, tmp_path: Path) -> None:
    """In the first part of this time it is undone by both, later it is finished by both, or its error says so."""
    known: list[str] = []
    names = ADDED if failing == "p=3/e" else ADDED[1:]

    def start(folder: Path) -> tuple[Turns, Turns]:
        write("append", folder, *FIRST)
        staged = Staging.create(LocalFiles(), str(folder))
        Writer(*names).save(staged.rows)

        def register(partitions: Any, *, fails: bool) -> None:
            if fails:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "catalog")
            known.extend(partitions)

        is_late = failing == "partitions"
        calls: list[str] = []

        def commit(turns: Turns) -> None:
            def fails(source: str, target: str) -> bool:
                if source.endswith(failing) and "/rows/" in source:
                    calls.append(source)
                return len(calls) == 1 and source.endswith(failing) and "/rows/" in source

            catalog = PartitionCatalog(partial(register, fails=is_late), lambda partitions: {})
            Staging(Stepped(turns, fails), staged.target, staged.path).commit(["p=3"], catalog)

        def finish(turns: Turns) -> None:
            catalog = PartitionCatalog(partial(register, fails=False), lambda partitions: {})
            recover(Stepped(turns), str(folder), catalog)

        known.clear()
        return Turns(commit), Turns(finish)

    outcomes = set()
    for folder, owner in orders(start, tmp_path):
        added = seen(folder) - set(FIRST)
        assert added in (set(), set(names))
        match owner.error:
            case None:
                assert added == set(names)
            case PermissionError():
                assert added == set()
            case ExecutionError(message=message):
                assert "another writer has begun to finish the commit" in message
                assert added == set(names)
            case other:
                raise AssertionError(other)
        assert not added or "p=3" in known
        outcomes.add((type(owner.error), bool(added)))
        write("append", folder, *THIRD)
        assert seen(folder) == {*FIRST, *THIRD, *added}
        assert not (folder / STAGING).exists()
    assert {(PermissionError, False), (ExecutionError if failing == "partitions" else type(None), True)} <= outcomes


def test_a_replacement_that_fails_is_undone_or_finished(tmp_path: Path) -> None:
    """Of a folder, by two renamings: the old files are there or the new ones, and the error says which."""

    def start(folder: Path) -> tuple[Turns, Turns]:
        write("append", folder, *FIRST)

        def replace(turns: Turns) -> None:
            left = [1]

            def fails(source: str, target: str) -> bool:
                is_it = source.endswith("/rows") and bool(left) and not os.path.exists(target)
                if is_it:
                    left.clear()
                return is_it

            save(cast(Any, Writer(*ADDED)), "overwrite", Stepped(turns, fails), str(folder), "write", SESSION)

        def finish(turns: Turns) -> None:
            save(cast(Any, Writer(*THIRD)), "ignore", Stepped(turns), str(folder), "write", SESSION)

        return Turns(replace), Turns(finish)

    outcomes = set()
    for folder, owner in orders(start, tmp_path):
        found = seen(folder)
        if owner.error is None:
            assert found in (set(ADDED), set(THIRD))
        else:
            assert isinstance(owner.error, ExecutionError)
            assert "nothing was written" in owner.error.message
            assert found == set(FIRST)
        outcomes.add((owner.error is None, frozenset(found)))
    assert (False, frozenset(FIRST)) in outcomes
    assert (True, frozenset(ADDED)) in outcomes


def test_a_commit_that_can_be_neither_made_nor_undone(tmp_path: Path) -> None:
    """What it leaves the next writer finishes or undoes; the error promises nothing else."""
    write("append", folder := tmp_path / "out", *FIRST)

    class Broken(LocalFiles):
        def rename(self, source: str, target: str) -> None:
            if source.endswith("p=3/e") or target.endswith("undo.json"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source)
            super().rename(source, target)

    with pytest.raises(ExecutionError, match="could not be undone") as raised:
        write("append", folder, *ADDED, files=Broken())
    assert "a part of the rows may be there until the next write" in raised.value.message
    assert seen(folder) == {*FIRST, "p=1/c"}
    write("append", folder, *THIRD)
    assert seen(folder) == {*FIRST, *ADDED, *THIRD}


def test_a_writer_that_is_killed_when_it_has_claimed_a_commit(tmp_path: Path) -> None:
    """The next one finishes it."""
    for number in range(100):
        write("append", folder := tmp_path / str(number) / "out", *FIRST)
        staged = Staging.create(LocalFiles(), str(folder))
        Writer(*ADDED).save(staged.rows)
        LocalFiles().write(f"{staged.path}/commit.json", '{"files": ["p=1/c", "p=3/e"], "partitions": []}')
        files = Interrupted(number, lambda: True, exchanges=True)
        with suppress(PermissionError):
            recover(files, str(folder))
        write("append", folder, *THIRD)
        assert seen(folder) == {*FIRST, *ADDED, *THIRD}
        if not files.is_stopped:
            break
    assert number >= 4


def test_folders_that_late_tasks_make_again_are_removed(tmp_path: Path) -> None:
    """By the next write of any kind that stages there; those of writers at work, and of killed ones, stay."""
    for mode in ("append", "overwrite", "error"):
        folder = tmp_path / mode / "out"
        if mode != "error":
            write("append", folder, *FIRST)
        around = folder if mode == "append" else folder.parent
        with staging(LocalFiles(), str(around), "write") as at_work:
            Writer("p=1/x").save(at_work.rows)
            late = around / STAGING / "0" / "rows" / "_temporary" / "0"
            late.mkdir(parents=True)
            kept = around / STAGING / "1" / "old"
            kept.mkdir(parents=True)
            write(cast(Any, mode), folder, *THIRD)
            assert not (around / STAGING / "0").exists()
            assert kept.is_dir()
            assert at_work.list_staged_files() == ["p=1/x"]
            at_work.remove()
        assert os.listdir(around / STAGING) == ["1"]


def test_a_folder_between_two_renamings_is_nobodys_to_lose(tmp_path: Path) -> None:
    """Where others make a folder of that name meanwhile, theirs stays, and so do the old files."""
    write("append", folder := tmp_path / "out", *FIRST)

    class Between(LocalFiles):
        def exchange(self, one: str, other: str) -> bool:
            return False

        def rename_folder(self, source: str, target: str) -> None:
            if source.endswith("/rows") and STAGING in os.listdir(tmp_path) and not folder.exists():
                Writer(*THIRD).save(str(folder))
            super().rename_folder(source, target)

    with pytest.raises(ExecutionError, match="could not be put back") as raised:
        write("overwrite", folder, *ADDED, files=Between())
    assert seen(folder) == set(THIRD)
    (old,) = (tmp_path / STAGING).glob("*/old")
    assert str(old) in raised.value.message
    assert seen(old) == set(FIRST)
    write("append", folder, *ADDED)
    assert seen(old) == set(FIRST)
    assert FINISH not in os.listdir(old.parent)
