"""Commits of files: whatever moment a writer is killed at, or fails at, all of its files are there in the end or none.

The writers put files there themselves, in place of Spark, so that every moment can be tried.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.changes.commits import COMMIT, STAGING, UNDO, recover, staging
from substrait_dsl.spark.changes.file_systems import FileSystem, LocalFiles
from substrait_dsl.spark.changes.file_writes import Mode, save
from tests.support import refused

SESSION: Any = SimpleNamespace(catalog=SimpleNamespace(refreshByPath=lambda path: None))
"""A session that has nothing to look at anew."""

CHANGES = ("create_folder", "rename", "rename_folder", "delete", "delete_empty", "write", "exchange")
"""What changes files, so that a writer may be killed before each of these calls."""


class Interrupted(LocalFiles):
    """Files of which one change does not come to pass."""

    def __init__(self, number: int, stop: Callable[[], bool], *, exchanges: bool) -> None:
        self._left = number
        self.is_stopped = False
        self._stop = stop
        self._exchanges = exchanges

    def __getattribute__(self, name: str) -> Any:
        if name in CHANGES:
            if self._left == 0:
                self._left -= 1
                self.is_stopped = True
                if self._stop():
                    raise PermissionError(13, "Permission denied", "somewhere")
            self._left -= 1
        return super().__getattribute__(name)

    def exchange(self, one: str, other: str) -> bool:
        return self._exchanges and super().exchange(one, other)


class Writer:
    """Writes some files as Spark does."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def mode(self, mode: str) -> Writer:
        return self

    def save(self, path: str) -> None:
        for name in self._names:
            file = Path(path.removeprefix("file:"), name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
            file.with_name(f".{file.name}.crc").write_text(name)


def write(mode: Mode, folder: Path, *names: str, files: FileSystem | None = None) -> None:
    save(cast(Any, Writer(*names)), mode, files or LocalFiles(), str(folder), "write", SESSION)


def seen(folder: Path) -> set[str]:
    """The files that readers see; each has its own name for text, and its checksum beside it."""
    if not folder.exists():
        return set()
    found = {path for path in LocalFiles().files(str(folder)) if not path.startswith(STAGING)}
    for name in found:
        assert (folder / name).read_text() == name
    return found


def was_killed(mode: Mode, folder: Path, number: int, *, exchanges: bool = True) -> bool:
    """Write in another process that is killed before one of its changes; gives whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            write(mode, folder, *SECOND, files=Interrupted(number, lambda: os._exit(9), exchanges=exchanges))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


MODES: list[Mode] = ["append", "overwrite", "ignore", "error"]
FIRST = ("p=1/a", "p=2/b")
SECOND = ("p=1/c", "p=2/d", "p=3/e")
THIRD = ("p=1/f",)


def moments(folder: Path) -> Iterator[tuple[int, Path]]:
    """Numbers of changes, each with a folder for itself."""
    for number in range(100):
        yield number, folder / str(number) / "out"
    raise AssertionError("a write makes fewer changes")


def test_files_that_are_added_are_all_there_or_none(tmp_path: Path) -> None:
    """Whenever their writer is killed, once another one has written."""
    halves, outcomes = 0, set()
    for number, folder in moments(tmp_path):
        write("append", folder, *FIRST)
        is_last = not was_killed("append", folder, number, exchanges=True)
        halves += set(FIRST) < seen(folder) < {*FIRST, *SECOND}
        write("append", folder, *THIRD)
        added = seen(folder) - {*FIRST, *THIRD}
        assert added in (set(), set(SECOND))
        outcomes.add(bool(added))
        if is_last:
            break
    assert halves, "a reader sees a part between the renamings, as docs/writes.md says"
    assert outcomes == {False, True}
    assert number > len(SECOND)


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_that_is_replaced_has_the_old_files_or_the_new_ones(exchanges: bool, tmp_path: Path) -> None:
    outcomes = set()
    for number, folder in moments(tmp_path):
        write("append", folder, *FIRST)
        is_last = not was_killed("overwrite", folder, number, exchanges=exchanges)
        assert seen(folder) in (set(FIRST), set(SECOND)) or (not exchanges and not folder.exists())
        write("append", folder, *THIRD)
        left = frozenset(seen(folder) - set(THIRD))
        assert left in (set(FIRST), set(SECOND))
        outcomes.add(left)
        if is_last:
            break
    assert len(outcomes) == 2


def test_a_new_folder_is_there_with_all_files_or_not_at_all(tmp_path: Path) -> None:
    outcomes = set()
    for number, folder in moments(tmp_path):
        is_last = not was_killed("error", folder, number, exchanges=True)
        outcomes.add(folder.exists())
        if folder.exists():
            assert seen(folder) == set(SECOND)
        else:
            write("error", folder, *THIRD)
            assert seen(folder) == set(THIRD)
        if is_last:
            break
    assert outcomes == {False, True}


@pytest.mark.parametrize("mode", ["append", "overwrite", "error"])
def test_a_write_that_fails_leaves_what_was_there(mode: Mode, tmp_path: Path) -> None:
    """Whichever change of files fails; the error says what the system said. To clean up may fail in silence."""
    failures = 0
    for number, folder in moments(tmp_path):
        folder.parent.mkdir()
        before = set() if mode == "error" else set(FIRST)
        if before:
            write("append", folder, *FIRST)
        files = Interrupted(number, lambda: True, exchanges=False)
        if message := refusal(mode, folder, files):
            assert "permission denied" in message
            assert "nothing was written" in message
            assert seen(folder) == before
            failures += 1
        else:
            assert seen(folder) == {*(FIRST if mode == "append" else ()), *SECOND}
        if not files.is_stopped:
            break
        write("append", folder, *THIRD)
        assert seen(folder) >= set(THIRD)
    assert failures >= 3


def refusal(mode: Mode, folder: Path, files: FileSystem) -> str:
    """The message of the error that a write ends with; empty if it does not."""
    try:
        write(mode, folder, *SECOND, files=files)
    except ExecutionError as error:
        return str(error)
    return ""


def test_writers_at_once_get_all_of_their_files_in(tmp_path: Path) -> None:
    write("append", folder := tmp_path / "out", *FIRST)
    children = []
    for number in range(8):
        if (child := os.fork()) == 0:
            try:
                for turn in range(5):
                    write("append", folder, *(f"p={part}/{number}-{turn}" for part in range(5)))
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert {os.waitpid(child, 0)[1] for child in children} == {0}
    added = {f"p={part}/{number}-{turn}" for part in range(5) for number in range(8) for turn in range(5)}
    assert seen(folder) == {*FIRST, *added}
    assert sorted(os.listdir(folder)) == [f"p={part}" for part in range(5)]


def test_a_writer_at_work_is_left_alone(tmp_path: Path) -> None:
    """Its files are nobody else's before it commits."""
    write("append", folder := tmp_path / "out", *FIRST)
    with staging(LocalFiles(), str(folder), "write") as staged:
        Writer(*SECOND).save(staged.rows)
        write("append", folder, *THIRD)
        assert seen(folder) == {*FIRST, *THIRD}
        staged.commit()
    assert seen(folder) == {*FIRST, *SECOND, *THIRD}
    assert not (folder / STAGING).exists()


def test_a_commit_that_another_writer_finishes(tmp_path: Path) -> None:
    """Each file is renamed once, by whoever comes first."""
    write("append", folder := tmp_path / "out", *FIRST)
    names = [f"p=1/{number}" for number in range(300)]
    with staging(LocalFiles(), str(folder), "write") as staged:
        Writer(*names).save(staged.rows)
        begun = threading.Event()

        class Slow(LocalFiles):
            def rename(self, source: str, target: str) -> None:
                super().rename(source, target)
                begun.set()

        def finish() -> None:
            begun.wait()
            recover(LocalFiles(), str(folder))

        other = threading.Thread(target=finish)
        other.start()
        type(staged)(Slow(), staged.target, staged.path).commit()
        other.join()
    assert seen(folder) == {*FIRST, *names}


def test_rows_whose_folder_was_removed_meanwhile(tmp_path: Path) -> None:
    """As by Spark's INSERT OVERWRITE: tasks that still run make it anew, with a part of the rows."""
    write("append", folder := tmp_path / "out", *FIRST)

    class Removed(Writer):
        def save(self, path: str) -> None:
            super().save(path)
            LocalFiles().delete(str(folder))
            Writer(*THIRD).save(path)

    with pytest.raises(ExecutionError, match="removed meanwhile, so nothing was written"):
        save(cast(Any, Removed(*SECOND)), "append", LocalFiles(), str(folder), "write", SESSION)
    assert seen(folder) == set()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("x")
    for mode in MODES:
        with pytest.raises(ExecutionError, match="that is a file") as raised:
            write(mode, file, *FIRST)
        assert raised.value.hint is not None
        assert "remove the file first" in raised.value.hint
    assert file.read_text() == "x"
    file.unlink()
    write("error", file, *FIRST)
    assert seen(file) == set(FIRST)


class Late(Writer):
    """Writes its files, and then others make something of the name that they are to have."""

    def __init__(self, make: Callable[[], object], *names: str) -> None:
        super().__init__(*names)
        self._make = make

    def save(self, path: str) -> None:
        super().save(path)
        self._make()


@pytest.fixture(params=["linux", "others"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux, and a system without its ways to rename."""
    if request.param == "others":
        monkeypatch.setattr(
            "substrait_dsl.spark.changes.file_systems._rename_on_linux", lambda *arguments: errno.ENOSYS
        )


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("mode", MODES)
def test_a_folder_that_others_make_meanwhile(mode: Mode, tmp_path: Path) -> None:
    """Whoever makes it, by a write or otherwise: a write does with what is there then what its mode says."""
    folder = tmp_path / "out"
    for number, make in enumerate((lambda: write("error", folder, *FIRST), lambda: Writer(*FIRST).save(str(folder)))):
        files, late = LocalFiles(), cast(Any, Late(make, *SECOND))
        if mode == "error":
            with pytest.raises(ExecutionError, match="made it meanwhile, so nothing was written"):
                save(late, mode, files, str(folder), "write", SESSION)
        else:
            save(late, mode, files, str(folder), "write", SESSION)
        right = {"append": {*FIRST, *SECOND}, "overwrite": {*SECOND}, "ignore": {*FIRST}, "error": {*FIRST}}
        assert seen(folder) == right[mode], number
        assert os.listdir(tmp_path) == ["out"]
        assert STAGING not in os.listdir(folder)
        shutil.rmtree(folder)


@pytest.mark.parametrize("mode", MODES)
def test_a_file_that_others_make_meanwhile(mode: Mode, tmp_path: Path) -> None:
    """It stays, and nothing is written; a folder without files is one, too."""
    file, folder = tmp_path / "file", tmp_path / "folder"
    words = "nothing was written" if mode == "error" else "that is a file"
    with pytest.raises(ExecutionError, match=words):
        save(cast(Any, Late(lambda: file.write_text("x"), *FIRST)), mode, LocalFiles(), str(file), "write", SESSION)
    assert file.read_text() == "x"
    if mode == "error":
        with pytest.raises(ExecutionError, match="made it meanwhile"):
            save(cast(Any, Late(folder.mkdir, *FIRST)), mode, LocalFiles(), str(folder), "write", SESSION)
        assert os.listdir(folder) == []


@pytest.mark.usefixtures("system")
def test_writers_that_make_a_folder_at_once_all_add_their_files(tmp_path: Path) -> None:
    folder, barrier = tmp_path / "out", threading.Barrier(6)
    writers = [Late(barrier.wait, *(f"p={part}/{number}" for part in range(5))) for number in range(6)]
    arguments = [(cast(Any, each), "append", LocalFiles(), str(folder), "write", SESSION) for each in writers]
    threads = [threading.Thread(target=save, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen(folder) == {f"p={part}/{number}" for part in range(5) for number in range(6)}
    assert not (folder / STAGING).exists()


STRANGE: list[object] = [
    {"files": ["../../secret"], "partitions": []},
    {"files": ["/etc/secret"], "partitions": []},
    {"files": ["p=1/./secret"], "partitions": []},
    {"files": ["p=1//secret"], "partitions": []},
    {"files": ["file:///etc/secret"], "partitions": []},
    {"files": ["..\\secret"], "partitions": []},
    {"files": [""], "partitions": []},
    {"files": [1], "partitions": []},
    {"files": [["p=1/a", "/etc/secret"]], "partitions": []},
    {"files": ["p=1/a\\0"], "partitions": []},
    {"files": ["\\ud800"], "partitions": []},
    {"files": [f"{STAGING}/x"], "partitions": []},
    {"files": [], "partitions": ["p"]},
    {"files": [], "partitions": ["p=1/../q=2"]},
    {"files": [], "partitions": [None]},
    {"moves": []},
    [],
    "files",
    7,
]


@pytest.mark.parametrize("journal", STRANGE, ids=map(str, range(len(STRANGE))))
@pytest.mark.parametrize("name", [COMMIT, UNDO])
def test_a_journal_leads_nowhere_else(name: str, journal: object, tmp_path: Path) -> None:
    """Somebody else may have put it there: it moves no file into the folder, or out of it, that is not staged."""
    write("append", folder := tmp_path / "out", *FIRST)
    (tmp_path / "secret").write_text("s")
    staged = folder / STAGING / "of-a-stranger"
    (staged / "rows").mkdir(parents=True)
    (staged / name).write_text(json.dumps(journal))
    with refused(ExecutionError, f"/{STAGING}/of-a-stranger/{name}", "is no journal of a commit to this folder"):
        write("append", folder, *SECOND)
    assert seen(folder) == {*FIRST}
    assert (tmp_path / "secret").read_text() == "s"
    assert [path for path in (folder / STAGING).iterdir() if path != staged] == []
    (staged / name).write_text("{")
    with refused(ExecutionError, "is no journal"):
        write("append", folder, *SECOND)
    shutil.rmtree(staged)  # as the hint says
    write("append", folder, *SECOND)
    assert seen(folder) == {*FIRST, *SECOND}


def left_by_a_stranger(folder: Path, name: str, text: bytes) -> Path:
    """A staging folder with a journal, and with a folder for rows."""
    staged = folder / STAGING / "of-a-stranger"
    (staged / "rows").mkdir(parents=True)
    (staged / name).write_bytes(text)
    return staged


def test_a_journal_goes_through_no_link(tmp_path: Path) -> None:
    """Neither out of the staging folder nor into a folder elsewhere."""
    (victim := tmp_path / "victim").mkdir()
    (victim / "secret").write_text("s")
    journal = json.dumps({"files": ["l/secret"], "partitions": []}).encode()
    for number, (name, is_link_there) in enumerate(((COMMIT, False), (COMMIT, True), (UNDO, True))):
        write("append", folder := tmp_path / f"out{number}", *FIRST)
        staged = left_by_a_stranger(folder, name, journal)
        link = (folder if is_link_there else staged / "rows") / "l"
        link.symlink_to(victim)
        if is_link_there and name == COMMIT:
            (staged / "rows" / "l").mkdir()
            (staged / "rows" / "l" / "secret").write_text("another")
        with refused(ExecutionError, "is no journal of a commit to this folder"):
            write("append", folder, *SECOND)
        assert (victim / "secret").read_text() == "s"
        link.unlink()
        shutil.rmtree(staged)
        write("append", folder, *SECOND)
        assert seen(folder) == {*FIRST, *SECOND}


def test_what_else_strangers_leave_stops_no_writer_with_an_error_of_others(tmp_path: Path) -> None:
    write("append", folder := tmp_path / "out", *FIRST)
    (folder / STAGING).mkdir()
    (folder / STAGING / "readme").write_text("x")
    (folder / STAGING / "link").symlink_to(tmp_path)
    write("append", folder, *SECOND)
    assert seen(folder) == {*FIRST, *SECOND}
    for name in (COMMIT, UNDO):
        staged = left_by_a_stranger(folder, name, b"\xff")
        with refused(ExecutionError, f"{name}", "is no journal"):
            write("append", folder, *THIRD)
        (staged / name).unlink()
        os.mkfifo(staged / name)
        with refused(ExecutionError, f"{name}", "is no journal"):
            write("append", folder, *THIRD)
        shutil.rmtree(staged)
    for text in (b"{", b"[]", b"1", b"{}", b"[" * 100_000, b"\xff"):
        staged = left_by_a_stranger(tmp_path, "replace.json", text)
        with refused(ExecutionError, "replace.json", "is no journal"):
            write("overwrite", folder, *THIRD)
        shutil.rmtree(staged)
    staged = left_by_a_stranger(tmp_path, "replace.json", json.dumps({"folder": str(tmp_path / "new")}).encode())
    (staged / "old").mkdir()
    (staged / "rows").rmdir()
    (staged / "rows").symlink_to(folder)
    with refused(ExecutionError, "replace.json", "is no journal"):
        write("error", tmp_path / "new", *FIRST)
    shutil.rmtree(folder / STAGING)
    (folder / STAGING).symlink_to(tmp_path)
    with refused(ExecutionError, f"{STAGING}", "is a link"):
        write("append", folder, *THIRD)
    assert seen(folder) == {*FIRST, *SECOND}
