"""Write rows to a folder: they are staged, and become visible at once.

Files that are added are renamed one by one. A new folder, or a replacement, is written completely beside it, and gets
the name in one step where the file system supports that.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from substrait_dsl.errors import ExecutionError, quote
from substrait_dsl.spark.changes.commits import STAGING, Staging, no_journal, read_journal, recover, staging, words_of
from substrait_dsl.spark.changes.file_systems import FileSystem, as_uri
from substrait_dsl.spark.changes.statements import changing
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrameWriter, SparkSession

Mode = Literal["append", "overwrite", "ignore", "error"]

_REPLACE = "replace.json"
"""The file in a staging folder that names the folder that its rows replace."""
_FINISH = "finish_replace.json"
"""The same file, once another writer finishes the replacement: it is not rolled back any more."""
_UNDO = "undo_replace.json"
"""The same file, once its own writer has failed: the replacement is not finished any more."""
_OLD, _ROWS = "old", "rows"
"""The names of the replaced folder and of the new one in a staging folder."""
FILE_HINT = "give the path of a folder, or remove the file first"
EXISTS_HINT = 'create_mode="replace_if_exists", or op="insert" to add files'


def save(writer: DataFrameWriter, mode: Mode, files: FileSystem, folder: str, what: str, spark: SparkSession) -> None:
    """Write rows to a folder.

    Args:
        writer: how they are written.
        mode: what is done with what is there.
        files: the file system.
        folder: the folder.
        what: what is being done, for messages.
        spark: the session.

    Raises:
        ExecutionError: there is something already, or a file; or the rows cannot be written: then nothing was changed.
    """
    _finish_replacing(files, folder)
    is_there = files.exists(folder)
    _require_folder(files, folder, what)
    if is_there and mode == "error":
        raise ExecutionError(f"{what}: there is something already", hint=EXISTS_HINT)
    if is_there and mode == "ignore":
        return
    is_added = is_there and mode == "append"
    with changing(what), staging(files, folder if is_added else os.path.dirname(folder), what) as staged:
        if is_added:
            recover(files, folder)
        writer.mode("error").save(as_uri(staged.rows))
        with hold_interrupts():
            if is_added:
                staged.commit()
            else:
                staged.list_staged_files()  # refuses what was removed meanwhile
                _place(staged, folder, mode, what)
            note_outcome("made")
            spark.catalog.refreshByPath(as_uri(folder))


def _place(staged: Staging, folder: str, mode: Mode, what: str) -> None:
    """Give the new folder its name; if another writer has created the folder meanwhile, do what the mode says."""
    files = staged.files
    try:
        files.rename_folder(staged.rows, folder)
    except FileExistsError as error:
        if mode != "error":
            _require_folder(files, folder, what)
        match mode:
            case "overwrite":
                if not files.exchange(staged.rows, folder):
                    _replace(staged, folder)
            case "append":
                _add(staged, folder, what)
            case "error":
                message = f"{what}: another writer has made it meanwhile, so nothing was written"
                raise ExecutionError(message, hint=EXISTS_HINT) from error
            case "ignore":
                pass
    staged.remove()


def _add(staged: Staging, folder: str, what: str) -> None:
    """Add rows that were staged beside a folder, which did not exist, to the files in it."""
    files = staged.files
    with staging(files, folder, what) as inside:
        recover(files, folder)
        files.rename(staged.rows, inside.rows)
        inside.commit()


def _require_folder(files: FileSystem, folder: str, what: str) -> None:
    if files.exists(folder) and not files.is_folder(folder):
        raise ExecutionError(f"{what}: that is a file, and rows are written to the files of a folder", hint=FILE_HINT)


def _replace(staged: Staging, folder: str) -> None:
    """Replace a folder by two renames, which the next writer can finish."""
    files, old = staged.files, f"{staged.path}/{_OLD}"
    files.write(f"{staged.path}/{_REPLACE}", json.dumps({"folder": folder}))
    staged.is_left = True
    try:
        files.rename(folder, old)
        files.rename_folder(staged.rows, folder)
    except BaseException as error:
        is_undone = is_renamed = False
        with suppress(OSError):
            is_undone = staged.claim(_REPLACE, _UNDO)  # else another writer has begun to finish it
            is_renamed = _is_renamed(files, staged.path, folder, _UNDO if is_undone else _FINISH)
        if not is_renamed:
            raise ExecutionError(
                f"{words_of(error)}; the old folder is {quote([old])} now, and could not be put back",
                hint=f"read it, and what there is of {quote([folder])}; then rename the old one, or write it again",
            ) from error
        staged.is_left = False
        if is_undone or not isinstance(error, Exception):
            raise
    staged.is_left = False


def _is_renamed(files: FileSystem, path: str, folder: str, name: str) -> bool:
    """Rename a folder as the file in a staging folder says; return whether that is done, by any writer."""
    source = f"{path}/{_OLD if name == _UNDO else _ROWS}"
    if files.exists(f"{path}/{_OLD}") and not files.exists(folder):
        with suppress(FileNotFoundError, FileExistsError):
            files.rename_folder(source, folder)
    return not files.exists(source)


def _finish_replacing(files: FileSystem, folder: str) -> None:
    """Finish or roll back a replacement whose writer was killed or has failed between two renames."""
    around = f"{os.path.dirname(folder)}/{STAGING}"
    for name in files.names(around):
        path = f"{around}/{name}"
        if files.is_folder(path) and not files.has_link(os.path.dirname(folder), path):
            _finish_one(Staging(files, os.path.dirname(folder), path), folder)


def _finish_one(staged: Staging, folder: str) -> None:
    files, path = staged.files, staged.path
    while True:
        names = files.names(path)
        found = next((name for name in (_UNDO, _FINISH, _REPLACE) if name in names), None)
        if found is None:
            return
        try:
            if _replaced_folder(files, f"{path}/{found}") != folder:
                return
        except FileNotFoundError:  # another writer has just renamed it, or has finished
            continue
        if found == _REPLACE and not files.exists(f"{path}/{_OLD}"):
            return
        if any(files.has_link(path, f"{path}/{each}") for each in (_OLD, _ROWS)):
            raise no_journal(f"{path}/{found}")
        if found == _REPLACE and not staged.claim(_REPLACE, _FINISH):
            continue
        if _is_renamed(files, path, folder, found):
            with suppress(FileNotFoundError):
                files.delete(path)
        return


def _replaced_folder(files: FileSystem, path: str) -> object:
    """Return the folder that a writer is replacing. Raises as `read_journal` does."""
    try:
        return json.loads(read_journal(files, path))["folder"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise no_journal(path) from error
