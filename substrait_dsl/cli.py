"""The command line: ``substrait-dsl demo``, ``schema``, ``stub`` and ``typing``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from substrait_dsl import __version__
from substrait_dsl.errors import SubstraitDslError, UnsupportedError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 for an error of this library, 2 for wrong usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "typing" and options.fail_under is not None and not options.report:
        parser.error("--fail-under is for --report")
    try:
        if options.command == "demo":
            from substrait_dsl.demo import run

            run(options.engine, rows=not options.no_rows)
        elif options.command == "typing":
            if options.report:
                return _report_typing(options.modules, options.fail_under)
            return _keep_schemas(options.modules, is_written=options.write)
        elif options.command == "schema":
            from substrait_dsl.fluent.schema_of import schema_of

            print(schema_of(options.file, format=options.format))
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


def _report_typing(paths: Sequence[str], least: float | None) -> int:
    """Say how much of a program mypy knows with the plugin; the exit status."""
    try:
        from substrait_dsl.mypy_plugin.typing_report import make_report
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mypy"):
            raise
        raise UnsupportedError(
            "the report is made by mypy, which is not installed", hint='install the extra "mypy"'
        ) from None
    report = make_report(paths)
    print("\n".join(report.lines()))
    if least is not None and report.percentage < least:
        print(f"substrait-dsl: less than {least:g} % is known", file=sys.stderr)
        return 1
    return 0


def _percentage(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 100, got {text}")
    return number


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
    schema = commands.add_parser("schema", help="print the columns of a file as a schema class, to paste")
    schema.add_argument("file", help="the path or URI of a Parquet, ORC or Arrow file, delimited text or JSON lines")
    schema.add_argument(
        "--format",
        choices=["parquet", "orc", "arrow", "csv", "json"],
        help="the format of the file, which by default it says itself, or its name",
    )
    stub = commands.add_parser("stub", help="print typed stubs of the functions of an extension YAML file")
    stub.add_argument("extension", type=Path, help="the YAML file")
    typing = commands.add_parser("typing", help="keep schema classes of pipelines for type checkers and editors")
    what = typing.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the schema modules of modules of pipelines")
    what.add_argument("--check", action="store_true", help="fail, with a diff, if one of them is out of date")
    what.add_argument(
        "--report", action="store_true", help="say how many relations and conditions the mypy plugin knows"
    )
    typing.add_argument(
        "--fail-under", type=_percentage, metavar="PERCENT", help="with --report: fail if less than that is known"
    )
    typing.add_argument(
        "modules", nargs="+", metavar="MODULE", help="the name of a module; with --report also a file or a folder"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
