"""The command line: ``substrait-dsl demo``, ``substrait-dsl stub``, ``substrait-dsl typing``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from substrait_dsl import __version__
from substrait_dsl.errors import SubstraitDslError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 for an error of this library, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "demo":
            from substrait_dsl.demo import run

            run(options.engine, rows=not options.no_rows)
        elif options.command == "typing":
            return _keep_schemas(options.modules, is_written=options.write)
        else:
            from substrait_dsl.fluent.stub import stub_of

            print(stub_of(options.extension), end="")
        sys.stdout.flush()
    except SubstraitDslError as error:
        print(f"substrait-dsl: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads the output has enough of it: `| head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python still wants to write goes there
        return 0
    return 0


def _keep_schemas(modules: Sequence[str], *, is_written: bool) -> int:
    """Write the schema modules of modules, or say what is out of date in them; the exit status."""
    from substrait_dsl.schema_modules import COMMAND, schema_modules

    status = 0
    for found in schema_modules(modules):
        if is_written:
            print(f"{found.path}: {'written' if found.write() else 'up to date'}")
        elif found.difference:
            print(found.difference, end="")
            print(f"substrait-dsl: {found.path} is out of date; run {COMMAND} {found.name}", file=sys.stderr)
            status = 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="substrait-dsl", description="Typed, fluent Substrait plans.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="build, print, serialise and run a small pipeline")
    demo.add_argument(
        "--engine",
        choices=["sail", "spark"],
        help="what computes the rows: Sail, in the process and without Java (the default if installed), or Spark",
    )
    demo.add_argument("--no-rows", action="store_true", help="leave out the part that needs an engine")
    stub = commands.add_parser("stub", help="print typed stubs of the functions of an extension YAML file")
    stub.add_argument("extension", type=Path, help="the YAML file")
    typing = commands.add_parser("typing", help="keep schema classes of pipelines for type checkers and editors")
    what = typing.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the schema modules of modules of pipelines")
    what.add_argument("--check", action="store_true", help="fail, with a diff, if one of them is out of date")
    typing.add_argument("modules", nargs="+", metavar="MODULE", help="the name of a module, as Python imports it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
