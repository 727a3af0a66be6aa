"""The command line: what a plan says, what an engine does with it, and what runs; ``substrait-dsl --help``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from substrait_dsl import __version__
from substrait_dsl.cli.plan_commands import PLAN_COMMANDS
from substrait_dsl.cli.project_commands import PROJECT_COMMANDS
from substrait_dsl.cli.run_commands import RUN_COMMANDS
from substrait_dsl.cli.streams import printing_safely
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.texts import printable

PROGRAM = "substrait-dsl"
INTERRUPTED = 130
"""The exit status of shells for what Ctrl-C has ended: 128, and 2 for SIGINT."""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  substrait-dsl explain query.plan
  substrait-dsl check query.plan --engine datafusion
  substrait-dsl sql "select count(*) as n from t" --table t=orders.parquet

A PLAN is a file in protobuf's binary form, as JSON or as text, of any producer and any version of
the specification; "-" is the standard input. Exit status: 0; 1 for an error, a finding or a
difference; 2 for wrong usage.""",
)
@click.version_option(__version__, prog_name=PROGRAM)
def commands() -> None:
    """Look at Substrait plans of anybody, check and convert them, and run them."""


for _command in (*PLAN_COMMANDS, *RUN_COMMANDS, *PROJECT_COMMANDS):
    commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: those after the name of the program; None: those of the process.

    Returns:
        The exit status: 0; 1 for an error of this library, a finding or a difference; 2 for wrong usage; 130 for
        Ctrl-C.
    """
    with printing_safely():
        return _run([*(sys.argv[1:] if arguments is None else arguments)])


def _run(arguments: list[str]) -> int:
    """Run a command; the exit status. What goes wrong is printed."""
    try:
        with commands.make_context(PROGRAM, arguments) as context:
            status = commands.invoke(context)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as done:  # --help and --version
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (SubstraitDslError, UnicodeError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads the output has enough of it: `| head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python still wants to write goes there
        return 0
    except OSError as error:
        words = f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")
        print(f"{PROGRAM}: {printable(words)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # Ctrl-C
        return INTERRUPTED
