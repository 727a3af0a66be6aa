"""substrait-explain, the program whose text format the library writes and reads: it is built from its crate once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from tests.producers.environment import installed, locked, run

VERSION = "0.9.0"
"""The version of the crate."""

_PROTOC = ("grpcio-tools==1.85.1",)
"""The package with a compiler of protobuf's files, which the build needs."""

Form = Literal["text", "protobuf"]


def built(cache: Path) -> Path:
    """The program; built once, also where several processes ask for it.

    Args:
        cache: a folder that stays from one run to the next.

    Raises:
        AssertionError: there is no Rust, or the program cannot be built.
    """
    folder = cache / f"substrait-explain-{VERSION}"
    program = folder / "bin" / "substrait-explain"
    with locked(folder):
        if not program.exists():
            cargo = shutil.which("cargo") or str(Path.home() / ".cargo" / "bin" / "cargo")
            assert Path(cargo).exists(), "substrait-explain is built by cargo: install Rust"
            install = [cargo, "install", "substrait-explain", "--version", VERSION, "--locked", "--debug"]
            variables = {
                "CARGO_TARGET_DIR": str(folder / "target"),
                "PATH": os.pathsep.join((str(Path(cargo).parent), os.environ.get("PATH", ""))),
                "PROTOC": shutil.which("protoc") or str(_protoc(folder)),
                "CARGO_PROFILE_DEV_DEBUG": "0",
            }
            run([*install, "--root", str(folder)], **variables)
            shutil.rmtree(folder / "target")
    return program


def _protoc(folder: Path) -> Path:
    """A script that is protobuf's compiler."""
    packages = installed(folder / "protoc", _PROTOC)
    script = folder / "protoc.sh"
    own = packages / "grpc_tools" / "_proto"
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" -m grpc_tools.protoc "-I{own}" "$@"\n'
    )
    script.chmod(0o755)
    return script


def converted(program: Path, content: bytes, from_: Form, to: Form) -> bytes | str:
    """What the program makes of a plan in another form; what it says where it does not, as a text."""
    command = [str(program), "convert", "--from", from_, "--to", to]
    done = subprocess.run(
        command, input=content, capture_output=True, timeout=60, env={**os.environ, "RUST_BACKTRACE": "0"}
    )
    return done.stdout if done.returncode == 0 else done.stderr.decode()
