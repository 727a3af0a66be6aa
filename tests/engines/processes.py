"""An engine in a process of its own, which is started again when it dies."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

WORKER = Path(__file__).parent / "worker.py"

ROOT = Path(__file__).parents[2]
"""The folder of the library, from which Acero gets functions."""


class Refused(Exception):
    """The engine refused a plan, or failed while it ran it."""


class Crashed(Exception):
    """The process of the engine died of a plan."""


class Engine:
    """An engine in a process.

    Args:
        name: ``acero`` or ``duckdb``.
        packages: a folder that stands first on the path of Python.
    """

    def __init__(self, name: str, packages: Path | None = None) -> None:
        self.name, self.packages = name, packages
        self.given: list[tuple[str, Any]] = []
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            process, self.process = self.process, None
            assert process.stdin is not None
            assert process.stdout is not None
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def add_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Let plans read tables."""
        self._add("tables", {name: _bytes(table) for name, table in tables.items()})

    def add_files(self, files: Mapping[str, Path]) -> None:
        """Let plans read the rows of Parquet files as tables."""
        self._add("files", {name: str(path) for name, path in files.items()})

    def _add(self, kind: str, value: Any) -> None:
        self.given.append((kind, value))
        if self.process is not None:
            self._ask(kind, value)

    def run(self, plan: bytes) -> pa.Table:
        """The rows of a plan.

        Raises:
            Refused: the engine gives an error.
            Crashed: the engine dies.
        """
        if self.process is None:
            first = ROOT if self.packages is None else self.packages
            environment = {**os.environ, "PYTHONPATH": str(first)}
            self.process = subprocess.Popen(
                [sys.executable, str(WORKER), self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
            for kind, value in self.given:
                self._ask(kind, value)
        return pa.ipc.open_stream(self._ask("plan", plan)).read_all()

    def _ask(self, kind: str, value: Any) -> Any:
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump((kind, value), self.process.stdin)
            self.process.stdin.flush()
            is_done, answer = pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = self.process.wait()
            self.stop()
            raise Crashed(f"{self.name} ended with {code}") from None
        if not is_done:
            raise Refused(answer)
        return answer


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
