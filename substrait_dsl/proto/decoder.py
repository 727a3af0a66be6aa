"""The state of decoding one plan."""

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
from substrait_dsl.proto.datafusion_groupings import ColumnCounts
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
"""A report about a call: the code, the text, and the subject."""

MAX_READ_AGAIN = 500_000
"""The maximal number of bytes that are decoded again in further places, where they mean something else."""
MAX_REPEATED = 1_000_000
"""The maximal number of nodes that are repeated in further places."""
_READING_TAKES = 100
"""The cost of decoding a message beyond its length, in bytes."""


@attrs.define
class _Part:
    """A part that is being decoded. A class, since a generator takes several times as long."""

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
        """The types of the dynamic parameters so far."""
        self.version: tuple[int, int, int] = (0, 0, 0)
        self.trees = Trees(())
        """The relation trees of the plan, for ``ReferenceRel``; `subtree` decodes one."""
        self.detached = Detached(())
        """The detached expressions of the current tree."""
        self.numbered: dict[int, pb.RelCommon] = {}
        """The ``RelCommon`` of relations with a ``rel_anchor``, by that."""
        self.keep_declared = False
        """Whether calls keep the declared types, also where the derived types differ."""
        self.projects_put_out_expressions = False
        """Whether projects without an emit put out their expressions only."""
        self.is_in_stored_schema = False
        """Whether the schema of a table or of files is being decoded."""
        self.has_variables = False
        """Whether an expression reads an execution context variable."""
        self.disagreed = False
        """Whether a declared type differs from the derived one."""
        self.ready: tuple[pb.Rel, Rel] | None = None
        """The input that was decoded last, with its message."""
        self.sizes = Sizes()
        self.calls: dict[Hashable, tuple[FunctionId, Type, tuple[CallReport, ...]]] = {}
        """The resolved calls with their reports, since a plan has many equal ones."""
        self.error_source: Any = None
        """The innermost message that an error came from; its path is computed only then."""
        self.reports = Reports()
        """The reports of deviations from the specification, each with its message."""
        self.producer: Producer = UNKNOWN
        """The deviations of the plan's producer."""
        self.checked: set[Type] = set()
        """The user-defined types that were looked up in their extensions."""
        self._undeclared: set[tuple[int, str]] = set()
        """The undeclared type variations that were reported, each with the type's name."""
        self._anchors = count(1)
        self._read_again = 0
        self._repeated = 0
        self._rows: dict[tuple[int, Root], Row] = {}

    def mark_location(self, message: Any) -> None:
        """Record the location of an error, unless a message further in is recorded."""
        if self.error_source is None:
            self.error_source = message

    def part(self, message: Any) -> _Part:
        """Return a context in which an error gets the location of the message, unless one further in is recorded."""
        return _Part(self, message)

    def relation(self, message: pb.Rel, outer: Scope | None) -> Rel:
        """Decode a relation; `outer` is the row around its subquery."""
        ready, self.ready = self.ready, None
        return ready[1] if ready is not None and ready[0] is message else self._decode_relation(self, message, outer)

    def expression(self, message: pb.Expression, scope: Scope) -> Expression:
        """Decode an expression over a row."""
        return self._decode_expression(self, message, scope)

    def report(self, code: FindingCode, text: str, message: Any, subject: str | None = None) -> None:
        """Report a deviation of a message from the specification, and its reading. Arguments as of `Reports.add`."""
        self.reports.add(code, text, message, subject)

    def read_again(self, message: Message) -> None:
        """Count a message that is decoded again, because it means something else in another place.

        Raises `UnsupportedError` if there is too much of that.
        """
        self._read_again += message.ByteSize() + _READING_TAKES
        if self._read_again > MAX_READ_AGAIN:
            raise UnsupportedError(
                "the plan refers to correlated relations, or to detached expressions, in very many places, and they "
                "mean something else in each: they would be read again and again"
            )

    def count_repeated(self, nodes: int) -> None:
        """Count the nodes of an expression that is repeated in further places.

        Raises `UnsupportedError` if there are too many: such expressions may stand inside each other.
        """
        self._repeated += nodes
        if self._repeated > MAX_REPEATED:
            raise UnsupportedError(
                "the expressions that the plan repeats, such as those that the cases of a switch are compared with, "
                f"have more than {MAX_REPEATED} nodes"
            )

    def row(self, types: tuple[Type, ...], root: Root) -> Row:
        """Return a row as a value: one object for all references to it, since it may be wide."""
        known = self._rows.get((id(types), root))
        if known is None:
            known = self._rows[id(types), root] = Row(Struct(types), root)
        return known

    def anchor_of(self, scope: Scope) -> int:
        """Return the anchor of a row that a subquery refers to."""
        row = scope.row or scope
        if row.anchor is None:
            row.anchor = next(self._anchors)
        return row.anchor

    def subtree(self, ordinal: int, outer: Scope | None) -> Rel:
        """Return the relation at a position of the plan, for a ``ReferenceRel`` in a subquery of a row."""
        return self.trees.read(self, ordinal, outer)

    @cached_property
    def column_counts(self) -> ColumnCounts:
        """The number of columns of each aggregate, where what stands above it says that."""
        assert self.document is not None
        return ColumnCounts(self.document)

    @cached_property
    def names_beyond_specification(self) -> frozenset[str]:
        """The names of the functions of all known extensions that are not the specification's."""
        extensions = self.catalog.extensions.items()
        return frozenset(name for urn, each in extensions if not urn.startswith(OWN_URNS) for name in each.functions)

    def may_be_specified(self, function: FunctionId) -> bool:
        """Whether a function is the specification's, or may be, as it declares no extension and no other one has it.

        Deviations of producers concern the specification's functions and their own, which declare no extension.
        """
        if function.urn:
            return is_specified(function)
        return function.name not in self.names_beyond_specification

    def function(self, reference: int) -> FunctionId:
        """Return the function of an anchor."""
        return _look_up(self.functions, reference, "function")

    def type(self, reference: int) -> tuple[str, str]:
        """Return the URN and the name of the user-defined type of an anchor."""
        return _look_up(self.types, reference, "type")

    def alias(self, reference: int) -> Type:
        """Return the type of the anchor of an alias."""
        return _look_up(self.aliases, reference, "type alias")

    def unsigned_type_name(self, reference: int, type_name: str, message: Any) -> str | None:
        """Return the name of the unsigned integer of an undeclared type variation of a stored column or a cast.

        Other expressions are read as signed integers: they may be computed.
        """
        name = self.meant_unsigned(reference, type_name) if self.is_in_stored_schema else None
        if name is not None:
            text = (
                f"the plan does not declare type variation {reference}, of {type_name}, by which {self.producer.title} "
            )
            self.report(FindingCode.TYPE_UNSIGNED, f"{text}means an unsigned integer: read as {name}", message)
        return name

    def meant_unsigned(self, reference: int, type_name: str) -> str | None:
        """Return the unsigned integer that the producer means by an undeclared type variation."""
        if reference in self.variations or (reference, type_name) not in self.producer.undeclared_variations:
            return None
        return ARROW_UNSIGNED.get((reference, type_name))

    def variation(self, reference: int, type_name: str, message: Any) -> TypeVariation | None:
        """Return the type variation of an anchor; 0 is the system's preferred one.

        An undeclared one is dropped and reported, once for each type: a plan has many.

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


def _look_up(declared: Mapping[int, D], reference: int, what: str) -> D:
    try:
        return declared[reference]
    except KeyError:
        raise PlanFormatError(f"the plan refers to {what} {reference}, which it does not declare") from None
