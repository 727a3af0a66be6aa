"""The requirements of a plan on its consumer, each once.

They are read from the message, which the consumer gets, and not from the algebra: there an emit is no relation, a deep
plan refers to its own subtrees, and unused declarations do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from substrait import algebra_pb2 as pb
from substrait import type_pb2
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import ExecutionBehavior, Plan

from substrait_dsl.algebra.requirements import TYPE_WORDS, USER_DEFINED, FunctionKind, Requirement
from substrait_dsl.proto.paths import parts

FIELD_WORDS: Mapping[str, str] = {"window": "CONSISTENT_PARTITION_WINDOW", "switch_expression": "SWITCH"}
"""The words of relations and expressions whose fields have other names."""

FORM_FIELDS: Mapping[str, str] = {
    # the name of a message: its field, or oneof, that selects the form
    "ReadRel": "read_type",
    "JoinRel": "type",
    "LateralJoinRel": "type",
    "HashJoinRel": "type",
    "MergeJoinRel": "type",
    "NestedLoopJoinRel": "type",
    "SetRel": "op",
    "WriteRel": "write_type",
    "DdlRel": "write_type",
    "ExchangeRel": "exchange_kind",
    "Cast": "failure_behavior",
    "Subquery": "subquery_type",
    "Nested": "nested_type",
    "ExecutionContextVariable": "execution_context_variable_type",
}
"""The fields of relations and expressions that select their form."""

LITERAL_WORDS: Mapping[str, str] = {
    "boolean": "BOOL",
    "interval_year_to_month": "INTERVAL_YEAR",
    "interval_day_to_second": "INTERVAL_DAY",
    "var_char": "VARCHAR",
    "empty_list": "LIST",
    "empty_map": "MAP",
}
"""The words of types whose literals have fields of other names."""

FUNCTION_FIELDS: Mapping[str, tuple[str, FunctionKind]] = {
    "ScalarFunction": ("function_reference", "scalar function"),
    "AggregateFunction": ("function_reference", "aggregate function"),
    "WindowFunction": ("function_reference", "window function"),
    "WindowRelFunction": ("function_reference", "window function"),
    "SortField": ("comparison_function_reference", "scalar function"),
    "ComparisonType": ("custom_function_reference", "scalar function"),
}
"""The fields of messages that refer to a function, with the function type."""

IGNORED_FIELDS = frozenset({"hint", "optimization"})
"""The fields that every consumer may ignore."""


def requirements_of(message: Plan | ExtendedExpression) -> tuple[Requirement, ...]:
    """Return the requirements of a plan or an extended expression, in the order of their first use."""
    survey = _Survey(message)
    found: dict[Requirement, Requirement] = {}
    for requirement in survey.requirements():
        first = found.setdefault(requirement, requirement)
        if first.arguments is not None and requirement.arguments is not None:
            fewest = min(first.arguments[0], requirement.arguments[0])
            most = max(first.arguments[1], requirement.arguments[1])
            found[requirement] = attrs.evolve(first, arguments=(fewest, most))
    return tuple(found.values())


class _Survey:
    """A walk over a message."""

    def __init__(self, message: Plan | ExtendedExpression) -> None:
        self.message = message
        self.urns = {urn.extension_urn_anchor: urn.urn for urn in message.extension_urns}
        self.functions: dict[int, tuple[str, str]] = {}
        self.types: dict[int, tuple[str, str]] = {}
        self.variations: dict[int, tuple[str, str]] = {}
        for extension in message.extensions:
            field = extension.WhichOneof("mapping_type")
            if field == "extension_function":
                function = extension.extension_function
                self.functions[function.function_anchor] = self._describe_declaration(function)
            elif field == "extension_type":
                self.types[extension.extension_type.type_anchor] = self._describe_declaration(extension.extension_type)
            elif field == "extension_type_variation":
                variation = extension.extension_type_variation
                self.variations[variation.type_variation_anchor] = self._describe_declaration(variation)

    def _describe_declaration(self, declaration: Any) -> tuple[str, str]:
        return self.urns.get(declaration.extension_urn_reference, ""), declaration.name

    def requirements(self) -> Iterator[Requirement]:
        version = self.message.version
        yield Requirement(
            "version", f"{version.major_number}.{version.minor_number}.{version.patch_number}", path="version"
        )
        # parsers take no more than 100 levels, so that the walk may recur
        yield from self._walk(self.message, "")

    def _walk(self, message: Message, path: str) -> Iterator[Requirement]:
        for requirement in self._own_requirements(message):
            yield attrs.evolve(requirement, path=path)
        for step, part in parts(message):
            if step.partition("[")[0] not in IGNORED_FIELDS:
                yield from self._walk(part, f"{path}.{step}" if path else step)

    def _own_requirements(self, message: Any) -> Iterator[Requirement]:
        """Yield the requirements of a message, without those of the messages inside it."""
        match message:
            case pb.Rel():
                yield from self._word("relation", message, "rel_type")
            case pb.Expression():
                yield from self._word("expression", message, "rex_type")
            case pb.ExpandRel.ExpandField():
                field = message.WhichOneof("field_type")
                if field is not None:
                    yield Requirement("relation", "EXPAND", form=field.upper())
            case pb.Expression.Literal():
                yield from self._literal(message)
            case type_pb2.Type():
                yield from self._type(message)
            case AnyMessage():
                yield Requirement("message", message.type_url)
        referring = FUNCTION_FIELDS.get(message.DESCRIPTOR.name)
        if referring is not None:
            yield from self._function(message, *referring)

    def _word(self, node_type: Any, message: Any, alternatives: str) -> Iterator[Requirement]:
        """Return the word and the form of a relation or an expression."""
        field = message.WhichOneof(alternatives)
        if field is None or field == "expand":  # whose fields have the forms
            return
        body = getattr(message, field)
        form = ""
        if field.startswith("extension_"):
            form = body.detail.type_url
        elif isinstance(body, Message):
            form = _form(body)
        yield Requirement(node_type, FIELD_WORDS.get(field, field.upper()), form=form)
        if field == "execution_context_variable" and isinstance(self.message, Plan):
            mode = self.message.execution_behavior.variable_eval_mode
            name = ExecutionBehavior.VariableEvaluationMode.Name(mode)
            yield Requirement("evaluation mode", name.removeprefix("VARIABLE_EVALUATION_MODE_"))

    def _function(self, message: Any, field: str, function_type: FunctionKind) -> Iterator[Requirement]:
        if message.DESCRIPTOR.fields_by_name[field].has_presence and not message.HasField(field):
            return
        urn, key = self.functions.get(getattr(message, field), ("", ""))
        options: tuple[tuple[str, tuple[str, ...]], ...] = ()
        arguments = None
        if field == "function_reference":
            options = tuple(sorted((option.name, tuple(option.preference)) for option in message.options))
            arguments = (len(message.arguments), len(message.arguments))
        yield Requirement(function_type, key, urn, options=options, arguments=arguments)

    def _type(self, message: type_pb2.Type) -> Iterator[Requirement]:
        field = message.WhichOneof("kind")
        if field is None or field == "alias":  # which stands for a type that is elsewhere in the plan
            return
        body = getattr(message, field)
        if field == "user_defined":
            urn, name = self.types.get(body.type_reference, ("", ""))
            yield Requirement("type", name, urn, form=USER_DEFINED)
        else:
            yield _standard_type(field.upper(), body)
        yield from self._variation(body)

    def _literal(self, message: pb.Expression.Literal) -> Iterator[Requirement]:
        field = message.WhichOneof("literal_type")
        if field is None or field == "null":  # which has its type inside
            return
        value = getattr(message, field)
        if field == "user_defined":
            urn, name = self.types.get(value.type_reference, ("", ""))
            yield Requirement("type", name, urn, form=USER_DEFINED)
        elif field in ("fixed_char", "fixed_binary"):
            yield Requirement("type", field.upper(), numbers=(("length", len(value)),))
        elif field == "interval_compound":
            yield Requirement("type", field.upper(), numbers=(("precision", value.interval_day_to_second.precision),))
        else:
            yield _standard_type(LITERAL_WORDS.get(field, field.upper()), value)
        yield from self._variation(message)

    def _variation(self, message: Any) -> Iterator[Requirement]:
        fields = message.DESCRIPTOR.fields_by_name
        if "type_variation_reference" in fields and message.type_variation_reference:
            urn, name = self.variations.get(message.type_variation_reference, ("", ""))
            yield Requirement("type variation", name, urn)


def _standard_type(word: str, body: Any) -> Requirement:
    numbers = tuple((name, getattr(body, name)) for name in TYPE_WORDS[word])
    return Requirement("type", word, numbers=numbers)


def _form(body: Message) -> str:
    """Return the form of a relation or an expression, as a word; empty if it has none, or does not declare it."""
    field = FORM_FIELDS.get(body.DESCRIPTOR.name)
    if field is None:
        return ""
    if field in body.DESCRIPTOR.oneofs_by_name:
        chosen: str | None = body.WhichOneof(field)
        return (chosen or "").upper()
    values: Any = body.DESCRIPTOR.fields_by_name[field].enum_type
    names: dict[int, str] = {number: value.name for number, value in values.values_by_number.items()}
    return names.get(getattr(body, field), "").removeprefix(names[0].removesuffix("UNSPECIFIED"))
