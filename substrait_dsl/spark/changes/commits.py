"""Commit written files: they are staged in a folder of their own, and then renamed.

No reader looks into the staging folder, whose name begins with ``_``, and no other execution writes there. Once all
rows are in it, a journal lists where each file goes, and the files are renamed. A writer that finds a journal renames
what is left: renaming is idempotent. A staging folder without a journal belongs to a writer that is running or was
killed; it is left alone.

A commit ends in one of two ways, decided by who renames the journal first. If its own writer fails, it renames the
journal to announce a rollback; another writer renames it to announce that it finishes the commit. From then on every
writer follows the name of the journal.
"""

from __future__ import annotations

import json
import os
import re
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import attrs

from substrait_dsl.errors import ExecutionError, quote
from substrait_dsl.spark.changes.file_systems import FileSystem
from substrait_dsl.spark.session.causes import system_words

STAGING = "_substrait_dsl"
"""The parent of the staging folders, inside of the target folder."""
_ROWS = "rows"
_OWNER = "owner.json"
"""The file in a staging folder that its writer has put there first: if it is gone, rows may be gone, too."""
COMMIT = "commit.json"
"""The journal, as its writer has written it."""
FINISH = "finish.json"
"""The journal, once another writer finishes the commit: it is not rolled back any more."""
UNDO = "undo.json"
"""The journal, once its writer has failed: the commit is not finished any more."""
_SUCCESS = "_SUCCESS"

_PARTITION = re.compile(r"[^=/]+=[^/]*(/[^=/]+=[^/]*)*")


@attrs.frozen
class PartitionCatalog:
    """The catalog of a table's partitions, by their folders relative to the table's."""

    register: Callable[[Sequence[str]], None]
    """Adds partitions."""
    locate: Callable[[Sequence[str]], Mapping[str, str]]
    """Returns the locations of partitions that are outside of the table's folder."""


@attrs.frozen
class Journal:
    """The journal of a commit. It does not name the target folder, which the writer that reads it knows."""

    files: tuple[str, ...]
    """The files with rows, by their paths relative to the staged rows, and to the target."""
    partitions: tuple[str, ...] = ()
    """The partitions that are to be added to the catalog, by their folders."""

    @property
    def folders(self) -> list[str]:
        """The folders of the files."""
        return list(dict.fromkeys(map(os.path.dirname, self.files)))

    def text(self) -> str:
        """The journal as JSON."""
        return json.dumps({"files": self.files, "partitions": self.partitions})

    @classmethod
    def of_text(cls, text: str, path: str) -> Journal:
        """Parse a journal, which may come from anyone.

        Raises:
            ExecutionError: it is none, or it names a file or a partition that is not inside of the folder.
        """
        try:
            read = json.loads(text)
            files, partitions = (tuple(read[name]) for name in ("files", "partitions"))
        except (ValueError, LookupError, TypeError, RecursionError):
            files, partitions = (None,), ()
        if all(map(_is_inside, files)) and all(_is_inside(name) and _PARTITION.fullmatch(name) for name in partitions):
            return cls(files, partitions)
        raise no_journal(path)


def no_journal(path: str) -> ExecutionError:
    """The error for a file with the name of a journal that is none."""
    return ExecutionError(
        f"{quote([path])} is no journal of a commit to this folder",
        hint="look at who has put it there, and remove its folder",
    )


def read_journal(files: FileSystem, path: str) -> str:
    """Read the text of a journal.

    Raises:
        FileNotFoundError: there is none.
        ExecutionError: it is no text, or no file.
    """
    if files.is_not_a_file(path):
        raise no_journal(path)
    try:
        return files.read(path)
    except ValueError as error:
        raise no_journal(path) from error


def _is_inside(path: object) -> bool:
    """Whether a path is relative, leads to a file inside of the target folder, and not into the staging folders."""
    if not isinstance(path, str) or not path or not path.isprintable() or "\\" in path:
        return False
    parts = path.split("/")
    return not {"", ".", ".."} & {*parts} and parts[0] != STAGING


@attrs.define
class Staging:
    """A staging folder."""

    files: FileSystem
    target: str
    """The target folder."""
    path: str
    is_over: bool = False
    """Whether its own writer has removed it."""
    is_left: bool = False
    """Whether its journal is neither finished nor rolled back: it must stay then, for the next writer."""

    @classmethod
    def create(cls, files: FileSystem, target: str) -> Staging:
        """Create a staging folder with a unique name."""
        path = f"{target}/{STAGING}/{uuid.uuid4().hex}"
        if files.has_link(target, f"{target}/{STAGING}"):
            raise ExecutionError(
                f"{quote([f'{target}/{STAGING}'])} is a link, and rows are staged in the folder that they go to",
                hint="look at who has put it there, and remove it",
            )
        _remove_abandoned(files, target)
        try:
            files.create_folder(path)
        except FileNotFoundError:  # another writer has just removed the folder around
            files.create_folder(path)
        staging = cls(files, target, path)
        try:
            owner = {"host": socket.gethostname(), "process": os.getpid()}
            files.write(f"{path}/{_OWNER}", json.dumps(owner), is_durable=False)
        except FileNotFoundError as error:
            staging.remove()
            raise staging.staging_gone_error("") from error
        except BaseException:
            staging.remove()
            raise
        return staging

    @property
    def rows(self) -> str:
        """The folder for the rows, which does not exist yet."""
        return f"{self.path}/{_ROWS}"

    def list_staged_files(self) -> list[str]:
        """Return the files with rows, relative to `rows`. Raises `ExecutionError` if some were removed."""
        if self.is_gone:
            raise self.staging_gone_error("")
        names = self.files.files(self.rows)
        return [name for name in names if not os.path.basename(name).startswith(("_", "."))]

    @property
    def is_gone(self) -> bool:
        """Whether it was removed by others, or the folder around it was moved."""
        return not self.is_over and not self.files.exists(f"{self.path}/{_OWNER}")

    def staging_gone_error(self, what: str) -> ExecutionError:
        """The error for a writer whose staging folder is gone."""
        return ExecutionError(
            f"{what}the folder {quote([self.target])} was replaced or removed meanwhile, so nothing was written",
            hint="run it again",
        )

    def commit(self, partitions: Sequence[str] = (), catalog: PartitionCatalog | None = None) -> None:
        """Make the rows visible; after an error no row is, unless the message says otherwise.

        Args:
            partitions: the partitions that the catalog does not have.
            catalog: the table's catalog of partitions, if it has one.
        """
        files = self.list_staged_files()
        if self.files.exists(f"{self.rows}/{_SUCCESS}"):
            files.append(_SUCCESS)
        journal = Journal(tuple(files), tuple(partitions))
        moves = self._moves(journal, catalog)
        is_written, self.is_left = False, True
        try:
            self.files.write(f"{self.path}/{COMMIT}", journal.text())
            is_written = True
            for source, target in moves:
                if not self._move(source, target) and not self.files.exists(target):
                    raise ExecutionError(f"the file {quote([source])} was removed while it was written")
            if catalog is not None and partitions:
                catalog.register(partitions)
        except BaseException as error:
            if self._is_undone(moves, error, is_written=is_written):
                raise
            self._finish_as_another(moves, journal, catalog, error)
            if not isinstance(error, Exception):
                raise
        self.is_over, self.is_left = True, False
        self.remove()

    def _is_undone(self, moves: Sequence[tuple[str, str]], error: BaseException, *, is_written: bool) -> bool:
        """Roll back a commit that has failed; False: another writer finishes it, or has done so."""
        try:
            if not self.claim(COMMIT, UNDO):
                is_finished = is_written and all(self.files.exists(target) for _, target in moves)
                if is_finished or self.files.exists(f"{self.path}/{FINISH}"):
                    return False
            self._undo(moves)
        except OSError as second:
            raise ExecutionError(
                f"{words_of(error)}, and the commit could not be undone, {system_words(second)}; a part of the rows "
                f"may be there until the next write to {quote([self.target])} finishes or undoes it",
                hint=READ_AGAIN,
            ) from error
        return True

    def _finish_as_another(
        self,
        moves: Sequence[tuple[str, str]],
        journal: Journal,
        catalog: PartitionCatalog | None,
        error: BaseException,
    ) -> None:
        """Finish a commit that has failed here, because another writer has begun to."""
        try:
            self._finish(moves, journal, catalog)
        except Exception as second:
            raise ExecutionError(
                f"{words_of(error)}; another writer has begun to finish the commit, so the rows are there, or will be "
                f"after the next write to {quote([self.target])}",
                hint=READ_AGAIN,
            ) from second
        self.is_left = False

    def _finish(self, moves: Sequence[tuple[str, str]], journal: Journal, catalog: PartitionCatalog | None) -> None:
        """Rename the remaining files, and add the partitions to the catalog."""
        for source, target in moves:
            self._move(source, target)
        if catalog is not None and journal.partitions:
            catalog.register(journal.partitions)

    def claim(self, name: str, claimed: str) -> bool:
        """Rename the journal; False: it has another name by now."""
        try:
            self.files.rename(f"{self.path}/{name}", f"{self.path}/{claimed}")
        except FileNotFoundError:
            return False
        return True

    def _moves(self, journal: Journal, catalog: PartitionCatalog | None) -> list[tuple[str, str]]:
        """Return the source and the target of each file."""
        elsewhere = {} if catalog is None else catalog.locate(journal.folders)
        moves: list[tuple[str, str]] = []
        for name in journal.files:
            folder, last = os.path.split(name)
            target = f"{elsewhere[folder]}/{last}" if folder in elsewhere else f"{self.target}/{name}"
            moves.append((f"{self.rows}/{name}", target))
        return moves

    def _move(self, source: str, target: str) -> bool:
        """Rename a file; False: it does not exist, since another writer has renamed it."""
        if not self.files.exists(source):  # nor is a folder made for it where others have replaced a table
            return False
        self.files.create_folder(os.path.dirname(target))
        try:
            self.files.rename(source, target)
        except FileNotFoundError:
            return False
        return True

    def _undo(self, moves: Sequence[tuple[str, str]]) -> None:
        """Rename the files back, and remove the folder."""
        for source, target in moves:
            if not source.endswith(f"/{_SUCCESS}"):
                self._move(target, source)
        self.is_left = False
        self.remove()

    def remove(self) -> None:
        """Remove the folder, as far as possible; what stays is never read."""
        self.is_over = self.is_over or self.files.exists(f"{self.path}/{_OWNER}")
        with suppress(OSError):
            self.files.delete(self.path)
        with suppress(OSError):  # others may stage there
            self.files.delete_empty(os.path.dirname(self.path))

    def recover(self, catalog: PartitionCatalog | None) -> None:
        """Finish or roll back the commit of a writer that was killed, or is about to; without a journal do nothing.

        Raises:
            ExecutionError: there is a journal that no commit to this folder has written.
        """
        while (found := self._journal()) is not None:
            path = f"{self.path}/{found}"
            try:
                text = read_journal(self.files, path)
            except FileNotFoundError:  # another writer has just renamed it, or has finished
                continue
            journal = Journal.of_text(text, path)
            moves = self._moves(journal, catalog)
            if any(self._leads_away(each) for pair in moves for each in pair):
                raise no_journal(path)
            if found == UNDO:
                self._undo(moves)
                return
            if found == COMMIT and not self.claim(COMMIT, FINISH):
                continue
            self._finish(moves, journal, catalog)
            if catalog is not None or not journal.partitions:  # else a writer to the table is still to
                self.remove()
            return

    def _journal(self) -> str | None:
        """Return the present name of the journal."""
        names = self.files.names(self.path)
        return next((name for name in (UNDO, FINISH, COMMIT) if name in names), None)

    def _leads_away(self, path: str) -> bool:
        """Whether a path is no file, or leads through a link out of the target folder.

        The locations of partitions in the catalog are trusted.
        """
        if self.files.is_not_a_file(path):
            return True
        return path.startswith(f"{self.target}/") and self.files.has_link(self.target, path)


READ_AGAIN = "read what is there before you run it again"


def words_of(error: BaseException) -> str:
    """Return the message of the error with which a commit has ended."""
    match error:
        case OSError():
            return system_words(error)
        case ExecutionError():
            return error.message
        case _:
            return str(error) or type(error).__name__


def _remove_abandoned(files: FileSystem, target: str) -> None:
    """Remove staging folders that late tasks have created again after their writer had removed them.

    A writer puts its owner file there before there are rows. So rows without the owner file and without a journal
    belong to a writer that has removed the folder, and does not use it any more.
    """
    for name in files.names(f"{target}/{STAGING}"):
        path = f"{target}/{STAGING}/{name}"
        if files.names(path) == [_ROWS] and not files.has_link(target, path):
            with suppress(OSError):
                files.delete(path)


def recover(files: FileSystem, target: str, catalog: PartitionCatalog | None = None) -> None:
    """Finish the commits that other writers to a folder have left unfinished.

    Args:
        files: the file system.
        target: the folder that rows are written to.
        catalog: that of a table with partitions, if the folder is its.

    Raises:
        ExecutionError: a staging folder has a journal that no commit to this folder has written.
    """
    for name in files.names(f"{target}/{STAGING}"):
        path = f"{target}/{STAGING}/{name}"
        if files.is_folder(path) and not files.has_link(target, path):
            Staging(files, target, path).recover(catalog)


@contextmanager
def staging(files: FileSystem, target: str, what: str) -> Iterator[Staging]:
    """A staging folder for one write, removed on failure; errors of the file system are explained."""
    try:
        folder = Staging.create(files, target)
        try:
            yield folder
        except BaseException as error:
            is_gone = isinstance(error, Exception) and not folder.is_left and folder.is_gone
            if not folder.is_left:
                folder.remove()
            if is_gone:  # whatever Spark or the system says of files that are not there
                raise folder.staging_gone_error(f"{what}: ") from error
            raise
    except OSError as error:
        raise ExecutionError(f"{what}: {system_words(error)}; nothing was written") from error
