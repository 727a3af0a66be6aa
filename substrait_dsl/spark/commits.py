"""Rows that are written become visible: files are staged in a folder of their own, and then renamed.

Nobody reads the staging folder, whose name begins with ``_``, and nobody but the execution that made it writes there.
Once all rows are in it, a journal says which file goes where, and the files are renamed. Whoever finds a journal
renames what is left: to rename a file twice does nothing. A staging folder without a journal is of a writer that is at
work or was killed; it is left alone.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import attrs

from substrait_dsl.errors import ExecutionError, quoted
from substrait_dsl.spark.file_systems import FileSystem

STAGING = "_substrait_dsl"
"""The folder, in the one that rows go to, that the staging folders are in."""
_ROWS = "rows"
_OWNER = "owner.json"
"""The file in a staging folder that says who made it: if it is gone, so may be rows."""
COMMIT = "commit.json"
UNDO = "undo.json"
_SUCCESS = "_SUCCESS"

Register = Callable[[Sequence[str]], None]
"""Has the catalog know partitions, by the paths of their folders from that of the table."""


@attrs.frozen
class Journal:
    """What a commit does."""

    moves: tuple[tuple[str, str], ...]
    """From where in the folder with the rows, to where from the folder that they go to."""
    partitions: tuple[str, ...] = ()
    """The partitions that the catalog is to know, by their folders."""

    def text(self) -> str:
        return json.dumps({"moves": self.moves, "partitions": self.partitions})

    @classmethod
    def of_text(cls, text: str) -> Journal:
        read: dict[str, Any] = json.loads(text)
        return cls(tuple((one, two) for one, two in read["moves"]), tuple(read["partitions"]))


@attrs.frozen
class Staging:
    """A staging folder."""

    files: FileSystem
    target: str
    """The folder that the rows go to."""
    path: str

    @classmethod
    def create(cls, files: FileSystem, target: str) -> Staging:
        """Create a staging folder of its own name."""
        path = f"{target}/{STAGING}/{uuid.uuid4().hex}"
        try:
            files.create_folder(path)
        except FileNotFoundError:  # another writer has just removed the folder around
            files.create_folder(path)
        staging = cls(files, target, path)
        try:
            files.write(f"{path}/{_OWNER}", json.dumps({"host": socket.gethostname(), "process": os.getpid()}))
        except BaseException:
            staging.remove()
            raise
        return staging

    @property
    def rows(self) -> str:
        """The folder that the rows are written to, which is not there yet."""
        return f"{self.path}/{_ROWS}"

    def staged(self) -> list[str]:
        """The files with rows, by their paths from `rows`. Raises `ExecutionError` if somebody removed some."""
        if not self.files.exists(f"{self.path}/{_OWNER}"):
            raise ExecutionError(
                f"the folder {quoted([self.target])} was replaced or removed meanwhile, so nothing was written",
                hint="run it again",
            )
        names = self.files.files(self.rows)
        return [name for name in names if not os.path.basename(name).startswith(("_", "."))]

    def commit(
        self, folders: Mapping[str, str] | None = None, partitions: Sequence[str] = (), register: Register | None = None
    ) -> None:
        """Make the rows visible; on an error none of them is, unless the message says otherwise.

        Args:
            folders: where the files of folders go that do not go to folders of the same path.
            partitions: those that the catalog does not know.
            register: has it know them.
        """
        journal = Journal(tuple(self._moves(folders or {})), tuple(partitions))
        try:
            self.files.write(f"{self.path}/{COMMIT}", journal.text())
            for source, target in self._paths(journal):
                if not self._move(source, target) and not self.files.exists(target):
                    raise ExecutionError(f"the file {quoted([source])} was removed while it was written")
            if register is not None and partitions:
                register(partitions)
        except BaseException:
            self._undo(journal)
            raise
        self.remove()

    def _moves(self, folders: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for name in self.staged():
            folder, last = os.path.split(name)
            yield name, os.path.join(folders.get(folder, folder), last)
        if self.files.exists(f"{self.rows}/{_SUCCESS}"):
            yield _SUCCESS, _SUCCESS

    def _paths(self, journal: Journal) -> Iterator[tuple[str, str]]:
        for source, target in journal.moves:
            yield f"{self.rows}/{source}", target if _is_whole(target) else f"{self.target}/{target}"

    def _move(self, source: str, target: str) -> bool:
        """Rename a file; False: it is not there, as another writer has done so."""
        self.files.create_folder(os.path.dirname(target))
        try:
            self.files.rename(source, target)
        except FileNotFoundError:
            return False
        return True

    def _undo(self, journal: Journal) -> None:
        """Take back what was renamed."""
        with suppress(FileNotFoundError):
            self.files.rename(f"{self.path}/{COMMIT}", f"{self.path}/{UNDO}")
        for source, target in self._paths(journal):
            if not source.endswith(f"/{_SUCCESS}"):
                self._move(target, source)
        self.remove()

    def remove(self) -> None:
        """Remove the folder, as far as that is possible; nobody reads what stays."""
        with suppress(OSError):
            self.files.delete(self.path)
        with suppress(OSError):  # others may stage there
            self.files.delete_empty(os.path.dirname(self.path))

    def recover(self, register: Register | None) -> None:
        """Finish or undo the commit of a writer that was killed, or is just about to; without a journal do nothing."""
        names = self.files.names(self.path)
        try:
            if UNDO in names:
                self._undo(Journal.of_text(self.files.read(f"{self.path}/{UNDO}")))
                return
            if COMMIT not in names:
                return
            journal = Journal.of_text(self.files.read(f"{self.path}/{COMMIT}"))
        except FileNotFoundError:  # its writer has just finished
            return
        for source, target in self._paths(journal):
            self._move(source, target)
        if journal.partitions:
            if register is None:  # a writer to the table does it
                return
            register(journal.partitions)
        self.remove()


def _is_whole(path: str) -> bool:
    return path.startswith(("/", "file:")) or "://" in path


def recover(files: FileSystem, target: str, register: Register | None = None) -> None:
    """Finish the commits that writers to a folder have begun and not finished.

    Args:
        files: the file system.
        target: the folder that rows are written to.
        register: has the catalog know partitions, if the folder is that of a table.
    """
    for name in files.names(f"{target}/{STAGING}"):
        Staging(files, target, f"{target}/{STAGING}/{name}").recover(register)


@contextmanager
def staging(files: FileSystem, target: str, what: str) -> Iterator[Staging]:
    """A staging folder for one write, which is removed if anything fails; errors of files say what was done."""
    try:
        made = Staging.create(files, target)
        try:
            yield made
        except BaseException:
            made.remove()
            raise
    except OSError as error:
        raise ExecutionError(f"{what}: {words_of(error)}; nothing was written") from error


def words_of(error: OSError) -> str:
    """What an error of a file system says, in words."""
    if error.strerror is None:
        return str(error)
    words = error.strerror[:1].lower() + error.strerror[1:]
    return words if error.filename is None else f"{words}: {quoted([str(error.filename)])}"
