"""Rows written to a folder: staged, and made visible when all are there.

Files that are added are renamed one by one. A new folder, or one in the place of another, is written whole beside it,
and takes the name in one step where the file system has one for that.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.cancellation import require_going_on
from substrait_dsl.spark.commits import STAGING, Staging, no_journal, read_journal, recover, staging
from substrait_dsl.spark.file_systems import FileSystem, as_uri
from substrait_dsl.spark.statements import changing

if TYPE_CHECKING:
    from pyspark.sql import DataFrameWriter, SparkSession

Mode = Literal["append", "overwrite", "ignore", "error"]

_REPLACE = "replace.json"
"""The file in a staging folder that says which folder its rows are to be in the place of."""
_OLD = "old"
"""What the folder that is replaced is called in a staging folder."""
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
        require_going_on()
        if is_added:
            staged.commit()
        else:
            staged.staged()  # refuses what was removed meanwhile
            _place(staged, folder, mode, what)
    spark.catalog.refreshByPath(as_uri(folder))


def _place(staged: Staging, folder: str, mode: Mode, what: str) -> None:
    """Give the folder with the rows its name, or do with one that others have made meanwhile what the mode says."""
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
                told = f"{what}: another writer has made it meanwhile, so nothing was written"
                raise ExecutionError(told, hint=EXISTS_HINT) from error
            case "ignore":
                pass
    staged.remove()


def _add(staged: Staging, folder: str, what: str) -> None:
    """Add rows that were staged beside a folder, which was not there, to the files in it."""
    files = staged.files
    with staging(files, folder, what) as inside:
        recover(files, folder)
        files.rename(staged.rows, inside.rows)
        inside.commit()


def _require_folder(files: FileSystem, folder: str, what: str) -> None:
    if files.exists(folder) and not files.is_folder(folder):
        raise ExecutionError(f"{what}: that is a file, and rows are written to the files of a folder", hint=FILE_HINT)


def _replace(staged: Staging, folder: str) -> None:
    """Put the folder with the rows in the place of another by two renamings, which the next writer can finish."""
    files, old = staged.files, f"{staged.path}/{_OLD}"
    files.write(f"{staged.path}/{_REPLACE}", json.dumps({"folder": folder}))
    files.rename(folder, old)
    try:
        files.rename(staged.rows, folder)
    except BaseException:
        if not files.exists(folder):
            files.rename(old, folder)
            raise
        if files.exists(staged.rows):  # else another writer has finished this
            raise


def _finish_replacing(files: FileSystem, folder: str) -> None:
    """Finish what a writer began that was killed between two renamings."""
    around = f"{os.path.dirname(folder)}/{STAGING}"
    for name in files.names(around):
        path = f"{around}/{name}"
        if not files.is_folder(path) or files.has_link(os.path.dirname(folder), path):
            continue
        with suppress(FileNotFoundError):
            if _replaced_folder(files, f"{path}/{_REPLACE}") != folder or not files.exists(f"{path}/{_OLD}"):
                continue
            if files.has_link(path, f"{path}/rows"):
                raise no_journal(f"{path}/{_REPLACE}")
            if not files.exists(folder):
                files.rename(f"{path}/rows", folder)
            if not files.exists(f"{path}/rows"):
                files.delete(path)


def _replaced_folder(files: FileSystem, path: str) -> object:
    """The folder that a writer is replacing. Raises as `read_journal` does."""
    try:
        return json.loads(read_journal(files, path))["folder"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise no_journal(path) from error
