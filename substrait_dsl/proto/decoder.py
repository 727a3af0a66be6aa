"""What decoding one plan has to remember from one message to the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from substrait_dsl.algebra.expressions import FunctionId, Root, Row
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.types import Struct, Type, TypeVariation
from substrait_dsl.catalog.standard import OWN_URNS, is_specified
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.complexity_limits import Sizes
from substrait_dsl.proto.producers import ARROW_LAYOUTS, ARROW_UNSIGNED, UNKNOWN, Producer
from substrait_dsl.proto.reports import Reports
from substrait_dsl.proto.shared_subtrees import Detached, Trees

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from substrait import algebra_pb2 as pb

    from substrait_dsl.catalog import Catalog
    from substrait_dsl.proto.scopes import Scope

D = TypeVar("D")

CallReport = tuple[FindingCode, str, str | None]
"""What is reported of a call: the code, the text, and the subject."""

MAX_READ_AGAIN = 500_000
"""How many bytes are read again in further places, where they mean something else: so plans can grow without bounds."""
MAX_REPEATED = 1_000_000
"""How many nodes stand in further places than a plan says them in."""
_READING_TAKES = 100
"""How many bytes more it takes to read something, however short it is."""


@attrs.define
class _Part:
    """A part that is being read. A class, since a generator takes several times as long."""

    decoder: Decoder
    message: Any

    def __enter__(self) -> None: ...

    def __exit__(self, error_class: type[BaseException] | None, *_: object) -> None:
        if error_class is not None and issubclass(error_class, SubstraitDslError):
            self.decoder.mark_location(self.message)


class Decoder:
    """The state of decoding one plan.

    Args:
        catalog: the functions and types that are known; what the plan declares beyond them survives as it came.
        decode_relation: reads a relation. Subqueries hold relations and relations hold expressions: this is the tie.
        decode_expression: reads an expression; what the modules of single kinds of expressions have in common.
        whole: the message that is decoded, for paths in it.
    """

    def __init__(
        self,
        catalog: Catalog,
        decode_relation: Callable[[Decoder, pb.Rel, Scope | None], Rel],
        decode_expression: Callable[[Decoder, pb.Expression, Scope], Expression],
        document: Message | None = None,
    ) -> None:
        self.catalog = catalog
        self._decode_relation = decode_relation
        self._decode_expression = decode_expression
        self.document = document
        self.functions: dict[int, FunctionId] = {}
        self.types: dict[int, tuple[str, str]] = {}
        """The URN and the name of each user-defined type."""
        self.variations: dict[int, TypeVariation] = {}
        self.aliases: dict[int, Type] = {}
        self.parameters: dict[int, Type] = {}
        """The types of the dynamic parameters that have been read."""
        self.version: tuple[int, int, int] = (0, 0, 0)
        self.trees = Trees(())
        """The relation trees of the plan, which ``ReferenceRel`` refers to; `subtree` reads one."""
        self.detached = Detached(())
        """The detached expressions of the tree that is being read."""
        self.numbered: dict[int, pb.RelCommon] = {}
        """What the relations have in common that have a number (``rel_anchor``), by that."""
        self.keep_declared = False
        """Whether calls keep the types that the plan declares, also where they should have others by definition."""
        self.projects_put_out_expressions = False
        """Whether projects that do not say what they put out put out their expressions only."""
        self.is_in_stored_schema = False
        """Whether the schema of a table or of files is being read."""
        self.has_variables = False
        """Whether an expression reads a variable of the execution."""
        self.disagreed = False
        """Whether a declared type was found that differs from the derived one."""
        self.ready: tuple[pb.Rel, Rel] | None = None
        """A relation that was just read, as the input of what is read next, with its message."""
        self.sizes = Sizes()
        self.calls: dict[Hashable, tuple[FunctionId, Type, tuple[CallReport, ...]]] = {}
        """What calls turned out to be, and what there is to report of each: a plan has many alike."""
        self.error_source: Any = None
        """The innermost message that an error came from; its path in the plan is looked for only then."""
        self.reports = Reports()
        """What is not as the specification says, each with the message that says it."""
        self.producer: Producer = UNKNOWN
        """What is known of who wrote the plan."""
        self.checked: set[Type] = set()
        """The user-defined types that were looked up in their extensions."""
        self._undeclared: set[tuple[int, str]] = set()
        """The type variations that were told not to be declared, each with the kind of type that it is of."""
        self._anchors = count(1)
        self._read_again = 0
        self._repeated = 0
        self._rows: dict[tuple[int, Root], Row] = {}

    def mark_location(self, message: Any) -> None:
        """Remember where an error came from, unless a message further in has already said so."""
        if self.error_source is None:
            self.error_source = message

    def part(self, message: Any) -> _Part:
        """Read a part of a relation: an error inside comes from that message, unless one further in has said so."""
        return _Part(self, message)

    def relation(self, message: pb.Rel, outer: Scope | None) -> Rel:
        """Read a relation; `outer` is the row around the subquery that it is part of."""
        ready, self.ready = self.ready, None
        return ready[1] if ready is not None and ready[0] is message else self._decode_relation(self, message, outer)

    def expression(self, message: pb.Expression, scope: Scope) -> Expression:
        """Read an expression over a row."""
        return self._decode_expression(self, message, scope)

    def report(self, code: FindingCode, text: str, message: Any, subject: str | None = None) -> None:
        """Report that a message is not as the specification says, and how it is read. Arguments as of `Reports.add`."""
        self.reports.add(code, text, message, subject)

    def read_again(self, message: Message) -> None:
        """Count something that is read in a further place, because it means something else there.

        Raises `UnsupportedError` if there is too much of that.
        """
        self._read_again += message.ByteSize() + _READING_TAKES
        if self._read_again > MAX_READ_AGAIN:
            raise UnsupportedError(
                "the plan refers to correlated relations, or to detached expressions, in very many places, and they "
                "mean something else in each: they would be read again and again"
            )

    def repeat(self, nodes: int) -> None:
        """Count the nodes of an expression that stands in further places than the plan says it in.

        Raises `UnsupportedError` if there are too many: such expressions may stand inside each other.
        """
        self._repeated += nodes
        if self._repeated > MAX_REPEATED:
            raise UnsupportedError(
                f"the cases of the plan compare values of more than {MAX_REPEATED} nodes, counted for each comparison"
            )

    def row(self, types: tuple[Type, ...], root: Root) -> Row:
        """A row as a value: one object for all references to it, since it may be wide."""
        known = self._rows.get((id(types), root))
        if known is None:
            known = self._rows[id(types), root] = Row(Struct(types), root)
        return known

    def anchor_of(self, scope: Scope) -> int:
        """The number in the algebra of a row that something in a subquery refers to."""
        row = scope.row or scope
        if row.anchor is None:
            row.anchor = next(self._anchors)
        return row.anchor

    def subtree(self, ordinal: int, outer: Scope | None) -> Rel:
        """The relation at that position of the plan, as ``ReferenceRel`` means it inside a subquery of that row."""
        return self.trees.read(self, ordinal, outer)

    @cached_property
    def names_beyond_specification(self) -> frozenset[str]:
        """The names of the functions of all extensions that are known and are not the specification's."""
        extensions = self.catalog.extensions.items()
        return frozenset(name for urn, each in extensions if not urn.startswith(OWN_URNS) for name in each.functions)

    def may_be_specified(self, function: FunctionId) -> bool:
        """Whether a function is the specification's by its extension, or may be, as it says none and no other has it.

        What is known of a producer is known of the specification's functions and of its own, which say no extension.
        """
        if function.urn:
            return is_specified(function)
        return function.name not in self.names_beyond_specification

    def function(self, reference: int) -> FunctionId:
        """The function that a plan calls by a number."""
        return _declared(self.functions, reference, "function")

    def type(self, reference: int) -> tuple[str, str]:
        """The URN and the name of the user-defined type that a plan calls by a number."""
        return _declared(self.types, reference, "type")

    def alias(self, reference: int) -> Type:
        """The type that a plan calls by the number of an alias."""
        return _declared(self.aliases, reference, "type alias")

    def unsigned(self, reference: int, type_name: str, message: Any) -> str | None:
        """The name of the unsigned integer that a type variation of a stored column means, if its plan declares none.

        So does that of a cast. What else stands in expressions is read as an integer with a sign: it may be computed.
        """
        name = self.meant_unsigned(reference, type_name) if self.is_in_stored_schema else None
        if name is not None:
            text = (
                f"the plan does not declare type variation {reference}, of {type_name}, by which {self.producer.title} "
            )
            self.report(FindingCode.TYPE_UNSIGNED, f"{text}means an unsigned integer: read as {name}", message)
        return name

    def meant_unsigned(self, reference: int, type_name: str) -> str | None:
        """The unsigned integer that the producer means by a type variation which its plan does not declare."""
        if reference in self.variations or (reference, type_name) not in self.producer.undeclared_variations:
            return None
        return ARROW_UNSIGNED.get((reference, type_name))

    def variation(self, reference: int, type_name: str, message: Any) -> TypeVariation | None:
        """The variation that a plan calls by a number; 0 is the system's preferred one.

        One that is not declared is left out and told, once for each kind of type: a plan has many alike.

        Args:
            reference: the number.
            type_name: the name of the type that it is a variation of.
            message: the message that says so.
        """
        known = self.variations.get(reference)
        if reference != 0 and known is None and (reference, type_name) not in self._undeclared:
            self._undeclared.add((reference, type_name))
            meant = self.producer.undeclared_variations.get((reference, type_name))
            is_layout = meant is not None and (reference, type_name) in ARROW_LAYOUTS
            self.report(
                FindingCode.TYPE_LAYOUT if is_layout else FindingCode.TYPE_VARIATION,
                f"the plan does not declare type variation {reference}, of {type_name}"
                f"{f', by which DataFusion means {meant}' if meant else ''}: taken for {type_name} itself, here and "
                "wherever else it stands",
                message,
            )
        return known


def _declared(declared: Mapping[int, D], reference: int, what: str) -> D:
    try:
        return declared[reference]
    except KeyError:
        raise PlanFormatError(f"the plan refers to {what} {reference}, which it does not declare") from None
