"""File systems for writes: the one of this machine, and those that the session's Java reaches.

A commit renames files. Spark has no statement for that, so it is done by this process if it sees the same files as
Spark, else by the Java of a classic session.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import uuid
from typing import TYPE_CHECKING, Any, Protocol

from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.failures import message_of, spark_errors
from substrait_dsl.spark.sources.paths import path_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_HERE, _NO_REPLACE, _EXCHANGE = -100, 1, 2
"""AT_FDCWD, RENAME_NOREPLACE and RENAME_EXCHANGE of Linux."""
_NO_SUCH_CALL = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}
"""The errors of a system or a file system that does not support one of these."""


class FileSystem(Protocol):
    """The operations on files that a commit needs. Failures are an `OSError`."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder."""

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder."""

    def is_not_a_file(self, path: str) -> bool:
        """Whether a path is there and no file: a folder, a link, a pipe."""

    def has_link(self, folder: str, path: str) -> bool:
        """Whether a path below a folder leads through a link, or to one."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; none if it does not exist."""

    def files(self, folder: str) -> list[str]:
        """Return all files below a folder as sorted relative paths, without Hadoop's checksums."""

    def create_folder(self, path: str) -> None:
        """Create a folder and its parents; it may exist."""

    def rename(self, source: str, target: str) -> None:
        """Rename a file or a folder, a file with its checksum. Raises `FileNotFoundError` if there is no source."""

    def rename_folder(self, source: str, target: str) -> None:
        """Rename a folder to a name that is free. Raises `FileExistsError` if there is something of that name."""

    def can_exchange(self, folder: str) -> bool:
        """Whether `exchange` is supported; this is tried inside of a folder."""

    def exchange(self, one: str, other: str) -> bool:
        """Exchange two folders atomically; False: this is not supported, and nothing was done."""

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with its contents; it may be gone."""

    def delete_empty(self, folder: str) -> None:
        """Delete an empty folder. Raises `OSError` if it is not empty."""

    def read(self, path: str) -> str:
        """Return the text of a file. Raises `FileNotFoundError` if there is none."""

    def write(self, path: str, text: str, *, is_durable: bool = True) -> None:
        """Write a small file atomically.

        `is_durable`: whether it is synchronized to disk, so that it survives a loss of power; that takes as long as a
        request to the catalog.
        """


class LocalFiles:
    """The files of this machine."""

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def is_not_a_file(self, path: str) -> bool:
        try:  # asked once: others rename files meanwhile
            return not stat.S_ISREG(os.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def has_link(self, folder: str, path: str) -> bool:
        while len(path) > len(folder):
            if os.path.islink(path):
                return True
            path = os.path.dirname(path)
        return False

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def files(self, folder: str) -> list[str]:
        found = (
            os.path.relpath(os.path.join(parent, name), folder)
            for parent, _, names in os.walk(folder, onerror=_raise)
            for name in names
        )
        return sorted(path for path in found if not _is_checksum(path))

    def create_folder(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)
        if os.path.exists(checksum := _checksum(source)):
            os.replace(checksum, _checksum(target))

    def rename_folder(self, source: str, target: str) -> None:
        number = _rename_on_linux(source, target, _NO_REPLACE)
        if number == 0:
            return
        if number not in _NO_SUCH_CALL:
            raise OSError(number, os.strerror(number), target)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        try:
            os.rename(source, target)  # fails where others have put something into a folder of this name meanwhile
        except OSError as error:
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
            raise

    def can_exchange(self, folder: str) -> bool:
        pair = [f"{folder}/{name}" for name in ("one", "other")]
        for path in pair:
            os.makedirs(path, exist_ok=True)
        return self.exchange(pair[0], pair[1])

    def exchange(self, one: str, other: str) -> bool:
        shutil.copymode(other, one)
        return _rename_on_linux(one, other, _EXCHANGE) == 0

    def delete(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.remove(path)

    def delete_empty(self, folder: str) -> None:
        os.rmdir(folder)

    def read(self, path: str) -> str:
        with open(path, encoding="utf-8") as file:
            return file.read()

    def write(self, path: str, text: str, *, is_durable: bool = True) -> None:
        draft = f"{path}.draft"
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)


class JavaFiles:
    """The files of one of Hadoop's file systems, by the Java of a classic session.

    Args:
        spark: the session, which knows how the file system is reached.
        uri: a file or a folder in it.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        java: Any = spark
        self._java = java._jvm
        configuration = java._jsparkSession.sessionState().newHadoopConf()
        try:
            self._files = self._path(uri).getFileSystem(configuration)
            self.root: str = self._files.makeQualified(self._path(uri)).toString()
        except spark_errors() as error:
            raise OSError(message_of(error)) from error

    def _path(self, path: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(path)

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._files, method)(*arguments)
        except spark_errors() as error:
            words = message_of(error)
            if "FileNotFoundException" in words or "does not exist" in words:
                raise FileNotFoundError(words) from error
            raise OSError(words) from error

    def exists(self, path: str) -> bool:
        return bool(self._call("exists", self._path(path)))

    def is_folder(self, path: str) -> bool:
        return self.exists(path) and bool(self._call("getFileStatus", self._path(path)).isDirectory())

    def is_not_a_file(self, path: str) -> bool:
        try:
            return not self._call("getFileStatus", self._path(path)).isFile()
        except FileNotFoundError:
            return False

    def has_link(self, folder: str, path: str) -> bool:
        return False  # what Hadoop's file systems on a network store has none

    def _statuses(self, folder: str) -> list[Any]:
        return list(self._call("listStatus", self._path(folder))) if self.is_folder(folder) else []

    def names(self, folder: str) -> list[str]:
        return sorted(status.getPath().getName() for status in self._statuses(folder))

    def files(self, folder: str) -> list[str]:
        found: list[str] = []
        for status in self._statuses(folder):
            name = status.getPath().getName()
            if status.isDirectory():
                found += (f"{name}/{path}" for path in self.files(f"{folder}/{name}"))
            else:
                found.append(name)
        return sorted(path for path in found if not _is_checksum(path))

    def create_folder(self, path: str) -> None:
        if not self._call("mkdirs", self._path(path)):
            raise OSError(f"the folder cannot be made: {path}")

    def rename(self, source: str, target: str) -> None:
        if not self.exists(source):
            raise FileNotFoundError(f"there is no {source}")
        if self.is_folder(target):  # Hadoop would move the source into it
            raise FileExistsError(f"there is a folder already: {target}")
        if not self._call("rename", self._path(source), self._path(target)):
            if self.exists(source):
                raise OSError(f"{source} cannot be renamed to {target}")
            raise FileNotFoundError(f"there is no {source}")

    def rename_folder(self, source: str, target: str) -> None:
        if self.exists(target):
            raise FileExistsError(f"there is something already: {target}")
        # Hadoop moves the source into a folder that others have made meanwhile; nobody else has this name there, and
        # no reader reads what begins so.
        name = f"_{uuid.uuid4().hex}"
        own = f"{os.path.dirname(source)}/{name}"
        self.rename(source, own)
        try:
            self.rename(own, target)
        except OSError as error:
            self.rename(own, source)
            if self.exists(target):
                raise FileExistsError(f"there is something already: {target}") from error
            raise
        if self.exists(f"{target}/{name}"):
            self.rename(f"{target}/{name}", source)
            raise FileExistsError(f"there is something already: {target}")

    def can_exchange(self, folder: str) -> bool:
        return False

    def exchange(self, one: str, other: str) -> bool:
        return False

    def delete(self, path: str) -> None:
        self._call("delete", self._path(path), True)

    def delete_empty(self, folder: str) -> None:
        self._call("delete", self._path(folder), False)

    def read(self, path: str) -> str:
        stream = self._call("open", self._path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, path: str, text: str, *, is_durable: bool = True) -> None:
        draft = f"{path}.draft"
        stream = self._call("create", self._path(draft), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self.delete(path)
        self.rename(draft, path)


def _rename_on_linux(source: str, target: str, flags: int) -> int:
    """Rename with flags that only Linux has; return the error number, 0 for none."""
    library = ctypes.CDLL(None, use_errno=True)
    rename: Any = getattr(library, "renameat2", None)
    if rename is None:
        return errno.ENOSYS
    failed = rename(_HERE, os.fsencode(source), _HERE, os.fsencode(target), flags) != 0
    return ctypes.get_errno() if failed else 0


def _raise(error: OSError) -> None:
    raise error


def _checksum(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.crc")


def _is_checksum(path: str) -> bool:
    name = os.path.basename(path)
    return name.startswith(".") and name.endswith(".crc")


def as_uri(path: str) -> str:
    """Return a path as Spark takes it: with a scheme if it is local, whatever Spark's default file system is."""
    return f"file:{path}" if path.startswith("/") else path


def reach(uri: str, spark: SparkSession) -> tuple[FileSystem, str] | None:
    """Find the file system that a folder is in, and its path there; None: only Spark reaches it.

    Args:
        uri: the folder as Spark has it: a path, or a URI in which nothing is percent-encoded. It may not be there.
        spark: the session. A client of Spark Connect reaches what is on the same machine as the server.
    """
    if is_remote(spark):
        path = _path_here(uri)
        return (
            (LocalFiles(), os.path.realpath(path)) if path is not None and _is_shared_with_server(path, spark) else None
        )
    if uri.startswith("file:/") and ".." not in uri.split("/"):  # as the catalog has it: Java has nothing to add
        path = _path_here(uri)
        if path is not None:
            return LocalFiles(), os.path.realpath(path)
    files = JavaFiles(spark, uri)
    path = _path_here(files.root)
    return (files, files.root) if path is None else (LocalFiles(), os.path.realpath(path))


def _path_here(uri: str) -> str | None:
    """The path of a URI of files; None for one of another scheme, and for a path that is not absolute."""
    path = path_here(uri)
    return path if path is not None and path.startswith("/") else None


def _is_shared_with_server(path: str, spark: SparkSession) -> bool:
    """Whether the server of a client sees the same files, tried with a new folder."""
    around = path
    while not os.path.isdir(around):
        around = os.path.dirname(around)
    probe = os.path.join(around, f"_substrait_dsl_probe_{os.urandom(8).hex()}")
    try:
        os.mkdir(probe)
    except OSError:
        return False
    try:
        _ = spark.read.format("text").load(f"file:{probe}").schema
    except spark_errors():
        return False
    finally:
        os.rmdir(probe)
    return True
