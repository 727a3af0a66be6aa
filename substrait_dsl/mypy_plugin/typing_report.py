"""How much of a program the plugin knows: of how many relations, conditions and sort keys, and which it does not.

A relation is known if the name and the type of each of its columns are. A condition or a sort key is known if the call
that takes it has been made with it; else mypy's own types stand, which say that it is an expression, and not of which
columns. ``substrait-unevaluated`` says so in mypy, and ``substrait-dsl typing --report`` counts.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import attrs
from mypy.nodes import Context
from mypy.types import Instance, Type, get_proper_type

from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin.annotations import UNKNOWN
from substrait_dsl.mypy_plugin.codes import UNEVALUATED
from substrait_dsl.mypy_plugin.mypy_internals import is_code_enabled, without_filters
from substrait_dsl.mypy_plugin.names import RELATION
from substrait_dsl.mypy_plugin.reports import describe_unknown

if TYPE_CHECKING:
    from substrait_dsl.mypy_plugin.calls import Call

RELATIONS, CONDITIONS, SORT_KEYS = "relations", "conditions", "sort keys"
KINDS = (RELATIONS, CONDITIONS, SORT_KEYS)
"""What is counted."""


@attrs.frozen(order=True)
class Part:
    """A part of a program: a call that gives a relation, or an argument that is a condition or a sort key."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    kind: str


@attrs.define
class TypingReport:
    """What is known of a program, part by part: why it is not known, or None."""

    parts: dict[Part, str | None] = attrs.Factory(dict)

    def count_known(self, kind: str | None = None) -> int:
        """How many parts of a kind, or of all, are known."""
        return sum(reason is None for part, reason in self.parts.items() if kind in (None, part.kind))

    def all(self, kind: str | None = None) -> int:
        """How many parts of a kind, or of all, there are."""
        return sum(kind in (None, part.kind) for part in self.parts)

    @property
    def percentage(self) -> float:
        """How many parts of a hundred are known. It is 100 only if all are."""
        return 100.0 * self.count_known() / self.all()

    def lines(self) -> Iterator[str]:
        """The report: what is not known, with its reason, and the counts."""
        for part, reason in sorted(self.parts.items()):
            if reason is not None:
                yield f"{part.path}:{part.line}: {reason}"
        for kind in KINDS:
            yield f"{kind}: {self.count_known(kind)} of {self.all(kind)} known"
        yield f"all: {self.count_known()} of {self.all()} known, {_round_down(self.percentage)} %"


def _round_down(percentage: float) -> str:
    """A percentage with one digit, rounded down: 99.96 is not 100."""
    return f"{int(percentage * 10) / 10:.1f}"


_REPORT: list[TypingReport] = []
"""The report that is being made, if any."""


_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_reported(path: str) -> bool:
    """Whether a report is being made of the module of a file: of a program, and not of libraries."""
    if not _REPORT:
        return False
    is_library = f"{os.sep}site-packages{os.sep}" in path or os.path.abspath(path).startswith(_LIBRARY)
    return path.endswith(".py") and not is_library


def note_call(call: Call, type_: Type) -> Type:
    """Note what is known of a call and of its arguments; return its type."""
    is_wanted = is_code_enabled(call.context.api, UNEVALUATED)
    proper = get_proper_type(type_)
    if (
        (is_wanted or is_reported(call.context.api.path))
        and isinstance(proper, Instance)
        and proper.type.fullname.startswith("substrait_dsl.")
    ):
        if proper.type.fullname == RELATION:
            _note(
                call,
                RELATIONS,
                call.context.context,
                None if _is_known(call, proper) else "the columns of the result are",
            )
        if call.evaluation.is_verb():
            _note_arguments(call, is_wanted)
    return type_


def _is_known(call: Call, relation: Instance) -> bool:
    struct = call.annotations.to_schema(relation.args[0])
    return struct is not None and all(field.type != UNKNOWN for field in struct)


def _note_arguments(call: Call, is_wanted: bool) -> None:
    roles = argument_roles(call.verb)
    for parameter, nodes in zip(call.context.callee_arg_names, call.context.args, strict=True):
        kind = roles.get(parameter or "")
        for node in nodes if kind else ():
            _note(call, kind or "", node, None if call.is_conclusive else f"a {(kind or '').removesuffix('s')} is")
    if is_wanted and not call.is_conclusive:
        first = next(iter(call.evaluation.nodes), call.context.context)
        place: Context = call.unknown_node or call.evaluator.sampled_node or first
        said = f"{call.verb}: the arguments are not evaluated{_reason(call)}"
        with without_filters(call.context.api):
            call.context.api.fail(said, place, code=UNEVALUATED)


def _note(call: Call, kind: str, node: Context, what: str | None) -> None:
    if not is_reported(call.context.api.path):
        return
    path = os.path.relpath(call.context.api.path)
    part = Part(path, node.line, node.column, node.end_line or node.line, node.end_column or node.column, kind)
    verb = "known" if kind == RELATIONS else "evaluated"
    _REPORT[0].parts[part] = None if what is None else f"{call.verb}: {what} not {verb}{_reason(call)}"


def _reason(call: Call) -> str:
    node = call.unknown_node or call.evaluator.sampled_node
    if node is None:
        return ""
    is_relation = call.annotations.is_unknown_relation(call.evaluator.type_of_node(node))
    return f", because {describe_unknown(node, is_relation=is_relation)}"


@cache
def argument_roles(verb: str) -> Mapping[str, str]:
    """Which parameters of a verb are conditions or sort keys, as its signature says."""
    roles: dict[str, str] = {}
    method = getattr(Relation, verb, None)
    for name, parameter in inspect.signature(method).parameters.items() if callable(method) else ():
        words = set(re.findall(r"\w+", str(parameter.annotation)))
        if "Condition" in words:
            roles[name] = CONDITIONS
        elif "SortKey" in words or name == "order_by":
            roles[name] = SORT_KEYS
    return roles


def make_report(paths: Sequence[str]) -> TypingReport:
    """Let mypy check a program with the plugin, and count what is known.

    Args:
        paths: files and folders, or names of modules and packages, as mypy takes them.

    Returns:
        The report. Raises `InvalidArgumentError` if mypy cannot check the program, has not loaded the plugin, or finds
        no relations in it.
    """
    from mypy import api

    is_path = [os.path.exists(path) for path in paths]
    if any(is_path) and not all(is_path):
        missing = next(path for path, exists in zip(paths, is_path, strict=True) if not exists)
        raise InvalidArgumentError("there is no such file or folder", got=missing)
    arguments = list(paths) if all(is_path) else [part for path in paths for part in ("-p", path)]
    report = TypingReport()
    _REPORT.append(report)
    try:
        said, failure, status = api.run([*arguments, "--no-pretty", "--no-error-summary"])
    finally:
        _REPORT.remove(report)
    if status == 2:
        first = (failure.strip() or said.strip()).partition("\n")[0]
        raise InvalidArgumentError(f"mypy cannot check this: {first}", names=paths)
    if not report.parts:
        raise InvalidArgumentError(
            "there is no relation in what mypy has checked",
            names=paths,
            hint='mypy must load the plugin: plugins = ["substrait_dsl.mypy_plugin"] under [tool.mypy]; and it checks '
            "functions without annotations only with check_untyped_defs",
        )
    return report
