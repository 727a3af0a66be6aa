"""The root cause of a Spark error: a message of the machine, the disk or the file system."""

from __future__ import annotations

import re

from substrait_dsl.errors import quote

_CAUSES = re.compile(r"^(?:Caused by: |: )?((?:[a-z]\w*\.)+[A-Z][\w$]*): ([^\n]*)", re.MULTILINE)
"""The first line of each part of a Java stack trace: the class, and the message."""

_OF_MACHINE = re.compile(r"java\.(?:io|net|nio)\.|org\.apache\.hadoop\.|com\.amazonaws\.|software\.amazon\.")
"""The classes of errors that come from outside of Spark."""

OF_JAVA = {
    "java.lang.OutOfMemoryError": "Java ran out of memory",
    "java.lang.StackOverflowError": "Java ran out of stack",
}
"""Errors of Java, and what they mean."""

_OF_PATH = {
    "java.nio.file.AccessDeniedException": "permission denied",
    "java.nio.file.NoSuchFileException": "no such file",
    "java.nio.file.FileAlreadyExistsException": "there is something already",
    "java.nio.file.DirectoryNotEmptyException": "the folder is not empty",
}
"""Classes whose message is only the path, and what they mean."""


def last_cause(error: BaseException) -> str | None:
    """Return the message of an error's root cause, such as ``No space left on device``.

    Args:
        error: an error of Spark's, or one of the system, of files and sockets.

    Returns:
        The words, without a class or a stack; None for an error that does not come from outside of Spark.
    """
    if isinstance(error, OSError):
        return system_words(error)
    stack = getattr(error, "getStackTrace", None)
    causes = _CAUSES.findall(f"{error}\n{(stack() if callable(stack) else None) or ''}")
    if not causes:
        return None
    class_name, words = causes[-1]
    if class_name in OF_JAVA:
        return OF_JAVA[class_name]
    if not _OF_MACHINE.match(class_name):
        return None
    if class_name in _OF_PATH:
        return f"{_OF_PATH[class_name]}: {words}"
    inner = _CAUSES.match(words)  # one error in another's words
    return (inner[2] if inner else words).strip() or None


def system_words(error: OSError) -> str:
    """Return the message of an `OSError`: ``no space left on device: "rows.parquet"``."""
    if error.strerror is None:
        return str(error) or type(error).__name__
    words = error.strerror[:1].lower() + error.strerror[1:]
    return words if error.filename is None else f"{words}: {quote([str(error.filename)])}"


def with_cause(words: str, cause: str | None) -> str:
    """Append the root cause to a message that does not contain it."""
    if cause is None or cause in words or ("does not exist" in cause and "does not exist" in words):
        return words
    return f"{words}: {cause}" if words else cause
