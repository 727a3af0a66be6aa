"""Sessions that were stopped, or whose Java or child has ended: each in a process of its own, as one has one Spark."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("java")

START = """
import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.session.local import local_session

spark = local_session()
values = sd.read_virtual([(1,)], {"a": "i64"})
"""
STOPPED = """
spark.stop()
for verb in (values.collect, values.show, values.execute, values.explain):
    try:
        verb(spark)
    except ExecutionError as error:
        print(error)
print(values.collect(local_session()))
"""
DEAD = """
import logging

# py4j frees Java's objects from a thread of its own, which may not know yet that Java has ended, and logs that.
logging.getLogger().addHandler(logging.NullHandler())
java = spark.sparkContext._gateway.proc
java.kill()
java.wait()
for verb in (values.collect, sd.read_named("t", {"a": "i64"}).execute):
    try:
        verb(spark)
    except ExecutionError as error:
        print(error)
try:
    local_session()
except ExecutionError as error:
    print(error)
"""

FORKED = """
import os

sd.create_table("kept", {"a": "i64"}).execute(spark)
values.write("kept").execute(spark)
kept = sd.read_named("kept", {"a": "i64"})
if os.fork() == 0:
    raise SystemExit
os.wait()
print(kept.collect(spark), os.path.isdir(folder := spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")))
import atexit

atexit.register(lambda: print(folder))
"""


def printed(program: str) -> list[str]:
    """The lines that a program prints with a session of its own: a classic one, whatever the others are.

    Java and Spark print nothing beside them.
    """
    classic = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    command = [sys.executable, "-c", START + program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=classic)
    assert run.stderr.splitlines() == []
    return run.stdout.splitlines()


def test_a_session_that_was_stopped() -> None:
    told, hint = "the session is stopped", "  hint: start another: SparkSession.builder.getOrCreate()"
    verbs = ("collect", "show", "execute", "explain")
    assert printed(STOPPED) == [*(line for verb in verbs for line in (f"{verb}: {told}", hint)), "[Row(a=1)]"]


def test_a_session_whose_java_has_ended() -> None:
    """As it does where it runs out of memory."""
    lines = printed(DEAD)
    verbs = ("collect: ", "execute: ", "")  # the last one is local_session
    assert [line.split(" has ended")[0] for line in lines[::2]] == [f"{verb}Spark's Java" for verb in verbs]
    assert lines[1::2] == ["  hint: this process cannot start another, a new one can"] * 3


def test_a_child_takes_nothing_with_it() -> None:
    """It inherits what is to be done at the end of a process, and what its parent keeps is not its own to remove."""
    rows, folder = printed(FORKED)
    assert rows == "[Row(a=1)] True"
    assert not os.path.exists(folder)
