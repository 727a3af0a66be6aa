"""Atomic writes of files."""

from __future__ import annotations

import os
import stat
import uuid
from contextlib import suppress
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside the one of this name, and put it in its place: what fails leaves the old one as it was.

    The new file has the permissions of the old one; of a link, the file that it leads to is replaced. What is no
    regular file, such as a pipe, is written to.

    Args:
        path: the file.
        content: what is to be in it.

    Raises:
        OSError: it cannot be written; if it was there, it is what it was.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{uuid.uuid4().hex}.draft")  # short: names may be as long as a file system has them
    try:
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(draft, stat.S_IMODE(target.stat().st_mode))
        os.replace(draft, target)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):  # of the file that the user has named: a full disk names none
            error.filename, error.filename2 = str(path), None
        raise
