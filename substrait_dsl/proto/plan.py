"""Plans as messages of ``plan.proto``, as bytes and as JSON.

Specification: https://substrait.io/serialization/binary_serialization/.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from substrait.algebra_pb2 import RelRoot
from substrait.plan_pb2 import DynamicParameterBinding, ExecutionBehavior, Plan

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.evaluation import evaluated_trees, steps_of
from substrait_dsl.algebra.expressions import ROOT, FieldReference
from substrait_dsl.algebra.findings import Finding, FindingCode, Weight
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import (
    AlgebraPlan,
    EvaluationMode,
    ParameterBinding,
    Root,
    Subtree,
    Tree,
    check_closed,
)
from substrait_dsl.algebra.settings import OUTER_REFERENCES_OF, Encoding, OuterReferences
from substrait_dsl.catalog import Catalog
from substrait_dsl.errors import LiteralError, PlanFormatError, UnsupportedError, quote
from substrait_dsl.proto.declarations import Declarations, decode_declarations
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import EVALUATION_MODE, name_for
from substrait_dsl.proto.expressions import encode_expression, encode_expression_body
from substrait_dsl.proto.extensions import decode_advanced_extension, encode_advanced_extension
from substrait_dsl.proto.literals import decode_literal, encode_literal
from substrait_dsl.proto.names import names_by_position
from substrait_dsl.proto.projects import puts_out_expressions
from substrait_dsl.proto.relations import encode_relation, encode_relation_body
from substrait_dsl.proto.shallow_plans import Layout, inline_layout, is_shallow
from substrait_dsl.proto.types import DeepTypeError, decode_type_aliases, encode_type_aliases
from substrait_dsl.proto.versions import DocumentMessage, decode_version, encode_version

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.shared_subtrees import Trees


def encode_plan(
    plan: AlgebraPlan,
    *,
    encoding: Encoding = "spec",
    outer_references: OuterReferences | None = None,
    omitted_fields: Collection[str] = (),
) -> Plan:
    """Encode a plan as the specification asks of a careful producer.

    Every message stays within the 100 levels that parsers accept: deeper trees are cut into subtrees, which
    ``ReferenceRel`` refers to, and detached expressions. Equal plans that share the same relations give equal messages.

    Args:
        plan: the trees, in the order of their evaluation.
        encoding: ``legacy`` writes the legacy fields beside today's: `add_legacy_fields`.
        outer_references: how a subquery names an outer row: by a ``rel_anchor`` (``rel_reference``), or, for
            consumers older than 0.89, by counting subqueries (``steps_out``); by default as the encoding has it.
        omitted_fields: the legacy fields not to write.

    Returns:
        A ``substrait.Plan``: version and producer, extension declarations, execution behavior, and the trees in their
        order: before each of them the shared relations that it is the first to use.

    Raises:
        SchemaError: a root refers to an outer row that is not there.
        LiteralError: a value has no place in the message of its type (a lone surrogate in a text).
        UnsupportedError: a type, literal, expression or correlated subquery is too deep or too large to be written,
            or something has no legacy form.
    """
    for rel in plan.relations:
        check_closed(rel)
    message = _encode(plan, outer_references or OUTER_REFERENCES_OF[encoding])
    if encoding == "legacy":
        from substrait_dsl.proto.legacy_fields import add_legacy_fields  # few plans are written so

        add_legacy_fields(message, omitted_fields)
    return message


def _encode(plan: AlgebraPlan, outer_references: OuterReferences) -> Plan:
    if is_shallow(plan.nodes):
        try:
            return _encode_plan(plan, inline_layout(plan.nodes), outer_references)
        except DeepTypeError:
            pass  # the plan is low, but a type in it is not
    from substrait_dsl.proto.plan_layout import lay_out  # few plans need them
    from substrait_dsl.proto.subquery_depth import require_readable

    layout = lay_out(plan.nodes)
    require_readable(plan.nodes, layout)
    _require_order(plan, layout)
    return _encode_plan(plan, layout, outer_references)


def _encode_plan(plan: AlgebraPlan, layout: Layout, outer_references: OuterReferences) -> Plan:
    message = Plan()
    encode_version(message.version)
    encoder = Encoder(message, layout, outer_references, encode_relation, encode_expression)
    try:
        encode_type_aliases(encoder.declarations, plan.type_aliases, message)
        for tree, before in zip(plan.trees, layout.subtrees, strict=False):  # behind the trees are parameters
            for rel in before:
                encode_subtree(encoder, rel, message)
            match tree:
                case Root():
                    encoder.start_tree(encoded := message.relations.add())
                    encode_root(encoder, tree, encoded.root)
                    encoder.write_detached(encode_expression_body)
                case Subtree(input=rel) if id(rel) not in layout.separate:
                    encode_subtree(encoder, rel, message)
        for binding in plan.parameter_bindings:
            encode_parameter_binding(encoder.declarations, binding, message.parameter_bindings.add())
    except UnicodeEncodeError as error:
        raise LiteralError(f"a plan holds Unicode text only, this is none: {error.object!r}") from error
    message.expected_type_urls.extend(plan.expected_type_urls)
    message.execution_behavior.variable_eval_mode = EVALUATION_MODE[plan.evaluation_mode]
    encode_advanced_extension(plan.advanced_extensions, message.advanced_extensions)
    return message


def decode_plan(
    message: Plan, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[AlgebraPlan, tuple[Finding, ...]]:
    """Decode a plan: derive every schema anew, check every rule.

    Args:
        message: the plan, in the fields of the installed version.
        catalog: the functions to derive types by; those of the specification by default.
        strict: refuse findings of this weight and heavier ones, instead of listing them.

    Returns:
        The plan, and what in it was not as the specification says, with how it was read.

    Raises:
        PlanFormatError: the plan breaks a rule; with the path of the message that does.
        UnsupportedError: the plan has something that the algebra has no place for; with its path.
    """
    from substrait_dsl.proto.document_decoder import decode_document  # not needed for writing

    return decode_document(message, _decode_plan, catalog, strict)


def _decode_plan(decoder: Decoder, message: Plan) -> AlgebraPlan:
    from substrait_dsl.proto.detached import check_detached  # not needed for writing
    from substrait_dsl.proto.shared_subtrees import Trees

    version = decode_version(decoder, message)
    decode_declarations(decoder, message)
    decode_type_aliases(decoder, message.type_aliases)
    if not message.relations:
        raise PlanFormatError("the plan has no relations")
    if decoder.producer.projects_put_out_expressions:
        decoder.projects_put_out_expressions = puts_out_expressions(decoder, message)
    trees = decoder.trees = Trees(message.relations)
    decoded = _decode_trees(decoder, trees, message)
    for detached in trees.detached:
        check_detached(decoder, detached)
    if not any(isinstance(tree, Root) for tree in decoded):
        decoder.report(FindingCode.ROOT_MISSING, "no relation of the plan is a root: the plan returns nothing", message)
    extended = message.HasField("advanced_extensions")
    return AlgebraPlan(
        decoded,
        tuple(message.expected_type_urls),
        tuple(decode_parameter_binding(decoder, binding) for binding in message.parameter_bindings),
        decode_evaluation_mode(decoder, message),
        decode_advanced_extension(message.advanced_extensions) if extended else None,
        tuple({decoder.aliases[alias.type_alias_anchor].as_required(): None for alias in message.type_aliases}),
        version,
    )


def _decode_trees(decoder: Decoder, trees: Trees, message: Plan) -> tuple[Tree, ...]:
    """Read the trees that are independent, in order; trees that others refer to may be used only there."""
    rels = trees.read_all(decoder)
    decoded: list[Tree] = []
    for number, tree in enumerate(message.relations):
        if tree.HasField("root"):
            decoded.append(decode_root(decoder, trees.read(decoder, number, None), tree.root))
        elif number in rels and (number not in trees.referred or rels[number].shared):
            decoded.append(Subtree(rels[number]))
    if any(tree.input.flags.has_changes for tree in decoded):
        trees.require_order(decoder)
    return tuple(decoded)


def _require_order(plan: AlgebraPlan, layout: Layout) -> None:
    """Raise `UnsupportedError` if a subtree would be evaluated before a change that comes first."""
    if not any(rel.flags.has_changes for rel in plan.relations):
        return
    written: list[Rel] = []
    for rel, before in zip(plan.relations, layout.subtrees, strict=False):
        written += [each for each in before if not each.free_anchors]
        written.append(rel)
    meant = [tree.input for tree in evaluated_trees(plan.trees)]
    if steps_of(written, layout.separate) != steps_of(meant, frozenset()):
        raise UnsupportedError(
            "a part of the plan is so deep that it has to be a separate tree, where it would be evaluated before a "
            "change of a table that comes first",
            hint="use shared(...) for what is to be evaluated first",
        )


def encode_subtree(encoder: Encoder, rel: Rel, message: Plan) -> None:
    """Write a subtree."""
    encoder.ordinals[id(rel)] = len(message.relations)
    encoder.start_tree(tree := message.relations.add())
    encode_relation_body(encoder, rel, tree.rel)
    encoder.write_detached(encode_expression_body)


def encode_root(encoder: Encoder, root: Root, message: RelRoot) -> None:
    """Write a root: a relation with the names of its columns."""
    encode_relation(encoder, root.input, message.input)
    message.names.extend(root.names)


def decode_root(decoder: Decoder, rel: Rel, message: RelRoot) -> Root:
    """Read the names of the columns of a root."""
    needed = len(rel.schema.depth_first_names())
    if len(message.names) > needed and _is_change(rel):
        decoder.report(
            FindingCode.ROOT_NAMES,
            f"a root has {len(message.names)} names, but its relation, a change, puts out {needed} fields: left out",
            message,
        )
        return Root(rel, rel.schema.depth_first_names())
    # Where columns have nested names, it is not clear which name is missing.
    is_flat = needed == len(rel.schema)
    if is_flat and len(message.names) == needed - 1 and is_grouping_set_index(rel, len(rel.schema) - 1):
        index = rel.schema.names[-1]
        decoder.report(
            FindingCode.ROOT_NAMES,
            f"a root has no name for the number of the grouping set, the last column: called {index}",
            message,
        )
        return Root(rel, (*message.names, index))
    if needed and not message.names:
        decoder.report(FindingCode.ROOT_NAMES, "a root has no names: its columns are called 0, 1, ...", message)
        return Root(rel, names_by_position(rel.schema))
    if len(message.names) != needed:
        decoder.mark_location(message)
        nested = "; the fields of structs inside count, depth first" if needed != len(rel.schema) else ""
        raise PlanFormatError(
            f"a root has {len(message.names)} names, but its relation has {needed} fields",
            hint=f"its fields are {quote(rel.schema.depth_first_names())}{nested}",
        )
    return Root(rel, tuple(message.names))


def _is_change(rel: Rel) -> bool:
    """Whether a relation changes a table: some producers name the columns of that table, whatever the output is."""
    return isinstance(rel.input if isinstance(rel, rl.Emit) else rel, rl.Change)


def encode_parameter_binding(
    declarations: Declarations, binding: ParameterBinding, message: DynamicParameterBinding
) -> None:
    """Write the value of a parameter."""
    message.parameter_anchor = binding.anchor
    encode_literal(declarations, binding.value, message.value)


def decode_parameter_binding(decoder: Decoder, message: DynamicParameterBinding) -> ParameterBinding:
    """Read the value of a parameter, after the expressions."""
    if message.parameter_anchor not in decoder.parameters:
        decoder.report(
            FindingCode.BINDING_UNUSED,
            f"parameter {message.parameter_anchor} is bound, but no expression uses it; kept",
            message,
        )
    return ParameterBinding(message.parameter_anchor, decode_literal(decoder, message.value))


def decode_evaluation_mode(decoder: Decoder, message: Plan) -> EvaluationMode:
    """Read how often variables are evaluated: by default once per plan (spec decision 48)."""
    behavior = message.execution_behavior
    if behavior.variable_eval_mode == ExecutionBehavior.VARIABLE_EVALUATION_MODE_UNSPECIFIED:
        decoder.report(
            FindingCode.EVALUATION_MODE_OF_VARIABLES if decoder.has_variables else FindingCode.EVALUATION_MODE,
            "the plan does not say how often variables are evaluated: read as once per plan",
            behavior,
        )
        return "per_plan"
    try:
        modes = ExecutionBehavior.VariableEvaluationMode
        return name_for(EVALUATION_MODE, behavior.variable_eval_mode, modes, "variable_eval_mode")
    except PlanFormatError:
        decoder.mark_location(behavior)
        raise


def to_bytes(message: DocumentMessage) -> bytes:
    """Return the bytes of a plan or an extended expression; equal ones have equal bytes."""
    return message.SerializeToString(deterministic=True)


def from_bytes(
    data: bytes, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[AlgebraPlan, tuple[Finding, ...]]:
    """Decode the bytes of a plan of any version. Arguments, results and errors as of `decode_plan`."""
    from substrait_dsl.proto.document_decoder import read_document
    from substrait_dsl.proto.legacy import modern_plan  # not needed for writing

    return read_document(Plan, data, modern_plan, _decode_plan, catalog, strict)


def to_json(message: DocumentMessage) -> str:
    """Return the JSON of a plan or an extended expression, with the names of protobuf (``lowerCamelCase``)."""
    from substrait_dsl.proto.any_json import encode_json

    return encode_json(message)


def from_json(
    text: str, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[AlgebraPlan, tuple[Finding, ...]]:
    """Decode the JSON of a plan of any version. Arguments, results and errors as of `decode_plan`."""
    from substrait_dsl.proto.document_decoder import read_document
    from substrait_dsl.proto.legacy import modern_plan_from_json

    return read_document(Plan, text, modern_plan_from_json, _decode_plan, catalog, strict)


# --- the grouping set index


def is_grouping_set_index(rel: Rel, position: int) -> bool:
    """Whether a column of a relation is the grouping set index of an aggregate below it.

    Args:
        rel: the relation.
        position: the position of the column.
    """
    while True:
        match rel:
            case rl.Aggregate():
                return len(rel.grouping_sets) > 1 and position == len(rel.schema) - 1
            case rl.Emit():
                position, rel = rel.mapping[position], rel.input
            case rl.Filter() | rl.Sort() | rl.Fetch() | rl.TopN() | rl.Exchange():
                rel = rel.input
            case rl.Project():
                width = len(rel.input.schema)
                if position >= width:
                    expression = rel.expressions[position - width]
                    if not isinstance(expression, FieldReference) or expression.root != ROOT:
                        return False
                    position = expression.position
                rel = rel.input
            case rl.Set():
                return all(is_grouping_set_index(each, position) for each in rel.relations)
            case _:
                return False
