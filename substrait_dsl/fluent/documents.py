"""Documents, plans and extended expressions: to and from bytes, JSON and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.findings import Finding, Weight
from substrait_dsl.algebra.pickling import Immutable
from substrait_dsl.algebra.plan import Version
from substrait_dsl.algebra.settings import ENCODINGS, OUTER_REFERENCES, Encoding, OuterReferences
from substrait_dsl.errors import (
    InvalidArgumentError,
    PlanFormatError,
    UnsupportedError,
    error_context,
    require_choice,
)
from substrait_dsl.fluent.choices import require_catalog, require_strictness
from substrait_dsl.signature_errors import Called
from substrait_dsl.texts import printable

if TYPE_CHECKING:
    from pathlib import Path

    from substrait.extended_expression_pb2 import ExtendedExpression as ExtendedExpressionMessage
    from substrait.plan_pb2 import Plan as PlanMessage

    from substrait_dsl.algebra.capabilities import Capabilities
    from substrait_dsl.algebra.extended import ExtendedExpression
    from substrait_dsl.algebra.plan import AlgebraPlan
    from substrait_dsl.algebra.requirements import Requirement
    from substrait_dsl.catalog import Catalog
    from substrait_dsl.engines.report import Report

MAX_BYTES = 64 * 2**20
"""How many bytes a plan has at most that is read, unless another limit is given: as many as protobuf's messages had."""

M = TypeVar("M", bound="PlanMessage | ExtendedExpressionMessage")
A = TypeVar("A", bound="AlgebraPlan | ExtendedExpression")


class Document(Immutable, Called, Generic[M, A]):
    """A message that is written and read by itself: a `Plan`, or an `ExtendedExpression`."""

    __slots__ = ("_algebra", "_canonical", "_findings")

    _message: ClassVar[str]
    """The full name of its message."""
    _what: ClassVar[str]
    """The name of the class in errors."""

    def _become(self, algebra: A, findings: tuple[Finding, ...]) -> None:
        self._algebra = algebra
        self._findings = findings
        self._canonical: A | None = None

    # --- reading

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        strict: bool | Weight = False,
        catalog: Catalog | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Self:
        """Read from a file, in the binary form, as JSON or as text: which of them it is, its content says.

        Args:
            path: the file.
            strict: refuse what gives rise to a finding, as of `from_bytes`.
            catalog: the functions to derive types by, as of `from_bytes`.
            max_bytes: the size above which it is refused, as of `from_bytes`.

        Raises as `from_bytes`, and `OSError` if the file cannot be read.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as folder:
            ...     orders.to_plan().save(f"{folder}/orders.json")
            ...     sd.Plan.load(f"{folder}/orders.json") == orders.to_plan()
            True
        """
        with error_context(verb="load"):
            file = _file(path)
            require_strictness(strict)
            require_limit(max_bytes)
        with file.open("rb") as opened:
            data = opened.read() if max_bytes is None else opened.read(max_bytes + 1)
        with error_context(verb="load"), error_context(place=str(path)):
            return cls._read_content(data, strict, catalog, max_bytes)

    @classmethod
    def _read_content(cls, data: bytes, strict: bool | Weight, catalog: Catalog | None, max_bytes: int | None) -> Self:
        """Read the content of a file: JSON or the text format if it begins as such, else the binary form."""
        require_size(len(data), max_bytes)
        # No binary form begins with a brace or "===": these would be fields 15 and 7, of a kind that no field is of.
        begins = data.lstrip(b"\xef\xbb\xbf \t\r\n")
        is_text = begins.startswith(b"===")
        if not (is_text or begins.startswith((b"{", b"//"))):
            return cls._read(data, strict, catalog, None)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            form = "text" if is_text else "JSON"
            raise PlanFormatError(f"the {form} of the {cls._what} is no UTF-8: {error}") from None
        return cls._read_text(text, strict, catalog, None) if is_text else cls._read(text, strict, catalog, None)

    @classmethod
    def _read_text(cls, text: str, strict: bool | Weight, catalog: Catalog | None, max_bytes: int | None) -> Self:
        raise PlanFormatError(f"the text format has plans only, no {cls._what}", hint="read it with Plan.load")

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        strict: bool | Weight = False,
        catalog: Catalog | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Self:
        """Read protobuf's binary form, of any version of the specification.

        Every schema is derived anew and every rule checked. What was not as the specification says, but could be
        read, is listed in `findings`.

        Args:
            data: the bytes.
            strict: refuse what gives rise to a finding: True for each, however small, a weight (``"assumed"``) for
                those from that weight on. Plans of other producers often have a harmless one: many do not say how
                often variables are evaluated (``execution_behavior``), which the specification asks for.
            catalog: the functions to derive types by; by default those of the specification. Functions that are not
                in it keep the types that are declared.
            max_bytes: the size above which it is refused, before anything is read; None: it may have any. A plan takes
                at most some 15 microseconds for each byte, and most take a tenth of that.

        Raises:
            UnsupportedError: it has more bytes than `max_bytes`.
            PlanFormatError: the bytes are something else, or break a rule; with the path of what does.
            UnsupportedError: there is something that the library has no place for; with its path.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> print(sd.Plan.from_bytes(orders.to_plan().to_bytes()).roots[0])
            read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="from_bytes"):
            if not isinstance(data, bytes | bytearray | memoryview):
                raise unexpected_value_error("bytes", data, {str: "read JSON with from_json, a file with load"})
            return cls._read(data, strict, catalog, max_bytes)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        strict: bool | Weight = False,
        catalog: Catalog | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Self:
        """Read protobuf's JSON form.

        Args:
            text: the JSON.
            strict: refuse what gives rise to a finding, as of `from_bytes`.
            catalog: the functions to derive types by, as of `from_bytes`.
            max_bytes: the size above which it is refused, in characters.

        Raises as `from_bytes`.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> print(sd.Plan.from_json(orders.to_plan().to_json()).roots[0])
            read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="from_json"):
            if not isinstance(text, str):
                raise unexpected_value_error(
                    f"the JSON of the {cls._what}",
                    text,
                    {bytes: "JSON is a str, data.decode(); the binary form is read with from_bytes"},
                )
            return cls._read(text, strict, catalog, max_bytes)

    @classmethod
    def from_proto(
        cls,
        message: M,
        *,
        strict: bool | Weight = False,
        catalog: Catalog | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Self:
        """Read a protobuf message.

        Args:
            message: the message.
            strict: refuse what gives rise to a finding, as of `from_bytes`.
            catalog: the functions to derive types by, as of `from_bytes`.
            max_bytes: the size above which it is refused, as of `from_bytes`.

        Raises as `from_bytes`.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> print(sd.Plan.from_proto(orders.to_plan().to_proto()).roots[0])
            read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="from_proto"):
            if getattr(getattr(message, "DESCRIPTOR", None), "full_name", None) != cls._message:
                hints: dict[type, str] = {bytes: "read bytes with from_bytes", str: "read JSON with from_json"}
                raise unexpected_value_error(f"a message {cls._message}", message, hints)
            return cls._read(message.SerializeToString(), strict, catalog, max_bytes)

    @classmethod
    def _read(
        cls,
        source: bytes | bytearray | memoryview | str,
        strict: bool | Weight,
        catalog: Catalog | None,
        max_bytes: int | None,
    ) -> Self:
        require_strictness(strict)
        require_catalog(catalog)
        require_limit(max_bytes)
        require_size(source.nbytes if isinstance(source, memoryview) else len(source), max_bytes)
        document = cls.__new__(cls)
        document._become(*cls._decode(source if isinstance(source, str) else bytes(source), strict, catalog))
        return document

    @classmethod
    def _decode(
        cls, source: bytes | str, strict: bool | Weight, catalog: Catalog | None
    ) -> tuple[A, tuple[Finding, ...]]:
        raise NotImplementedError

    # --- what it says

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the reader: where the message differed from the specification, the heavier first.

        One finding stands for all places of one kind: it has a code, a weight, the first paths, and their number.
        """
        return self._findings

    @property
    def version(self) -> Version | None:
        """The version of the specification that it was read in; None if it names none, or was built here."""
        return self._algebra.version

    @property
    def producer(self) -> str | None:
        """Who wrote what was read; None if it does not say so, or was built here."""
        return (self._algebra.version.producer or None) if self._algebra.version else None

    @property
    def _origin(self) -> str | None:
        """The version and the producer in words, on one line, as far as what was read says them."""
        said = [] if self.version is None else [f"version {self.version}"]
        return printable(", ".join([*said, *([f"by {self.producer}"] if self.producer else [])])) or None

    @property
    def expected_type_urls(self) -> tuple[str, ...]:
        """The types of the extension messages inside."""
        return self._algebra.expected_type_urls

    @property
    def advanced_extensions(self) -> AdvancedExtension | None:
        """Messages about the whole that only their owners can read."""
        return self._algebra.advanced_extensions

    # --- who can take it

    def requirements(self) -> tuple[Requirement, ...]:
        """List what a system needs to have to take it: version, relations, expressions, functions, types, messages.

        Everything that stands in the message which `to_proto` gives, each thing once, with the path where it stands
        first. What may be ignored (hints, optimizations) is not among it.

        Raises:
            UnsupportedError: as `to_proto`.

        Specification: the words are those of dialect files, ``dialect_schema.yaml``.

        Example:
            >>> [needed.name for needed in orders.limit(1).to_plan().requirements() if needed.kind == "relation"]
            ['FETCH', 'READ']
        """
        with error_context(verb="requirements"):
            return self._list_requirements()

    def check(self, engine: str | Path | Capabilities) -> Report:
        """Say what an engine, or a system, does with it, before anything is sent.

            print(extended.check(sd.read_capabilities("duckdb_dialect.yaml")))

        Only its words are looked at: a dialect is a list of words, and what has no others may still be something that
        the system does not compute.

        Args:
            engine: the name of an engine, the path of a dialect file, or `Capabilities`.

        Returns:
            The verdict, and what the system lacks or says nothing about.

        Raises:
            InvalidArgumentError: the argument is something else.
            InvalidChoiceError: there is no profile of such an engine, with the nearest one.
            CatalogError: the file cannot be read, or breaks the rules of dialect files.
            UnsupportedError: as `to_proto`; and for Spark and Sail, which run plans.

        Specification: ``Capabilities`` in ``capabilities.proto`` of versions before 0.82, and ``dialect_schema.yaml``.

        Example:
            >>> sd.ExtendedExpression(orders.schema, half=lambda o: o.price / 2.0).check("datafusion").verdict
            'runs'
        """
        from substrait_dsl.algebra.capabilities import Capabilities
        from substrait_dsl.fluent.checks import capability_report, profile_or_capabilities
        from substrait_dsl.fluent.session_checks import session_engine

        with error_context(verb="check"):
            if session_engine(engine) is not None:
                raise UnsupportedError(
                    f"{engine} runs plans: what it does with expressions alone is unknown",
                    hint="check a relation that has them: read_named(...).select(...)",
                )
            target = profile_or_capabilities(engine)
            return capability_report(
                self._list_requirements(), target if isinstance(target, Capabilities) else target.dialect
            )

    def _list_requirements(self) -> tuple[Requirement, ...]:
        from substrait_dsl.proto.requirements import requirements_of

        return requirements_of(self._encode("spec", None))

    # --- writing

    def to_proto(self, *, encoding: Encoding = "spec", outer_references: OuterReferences | None = None) -> M:
        """Make the protobuf message.

            plan.to_bytes(encoding="legacy")  # for Acero, DuckDB 1.1.3 and others that read earlier versions

        Args:
            encoding: ``spec`` writes the fields of the specification only. ``legacy`` writes beside them the removed
                fields that say the same, for readers of earlier versions; it is read back as an equal plan. What
                such a reader would take for something else, and no removed field can say, is refused.
            outer_references: how a correlated subquery says which outer row it means: by the number of its relation
                (``rel_reference``, since version 0.89 of the specification), or by counting the subqueries in between
                (``steps_out``), which is what DataFusion takes. By default ``rel_reference``, and ``steps_out`` in
                the legacy encoding, which has no other.

        Returns:
            The message, in the fields of the installed version; the legacy fields are unknown fields of it.

        Raises:
            UnsupportedError: no message can hold it, such as an expression nested too deeply; or `encoding` is
                ``legacy``, and there is something that has no legacy form, such as a limit that is an expression.
            InvalidChoiceError: `encoding` or `outer_references` is another word.
            InvalidArgumentError: the legacy encoding is to have outer references by ``rel_reference``.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> orders.to_plan().to_proto().relations[0].root.input.read.named_table.names
            ['orders']
        """
        with error_context(verb="to_proto"):
            require_encoding(encoding, outer_references)
            return self._encode(encoding, outer_references)

    def _encode(self, encoding: Encoding, outer_references: OuterReferences | None) -> M:
        raise NotImplementedError

    def to_bytes(self, *, encoding: Encoding = "spec", outer_references: OuterReferences | None = None) -> bytes:
        """Make protobuf's binary form; equal content gives equal bytes.

        Args:
            encoding: ``spec`` or ``legacy``, as of `to_proto`.
            outer_references: how a correlated subquery says which outer row it means, as of `to_proto`.

        Raises as `to_proto`.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> extended = sd.ExtendedExpression(orders.schema, half=lambda o: o.price / 2.0)
            >>> sd.ExtendedExpression.from_bytes(extended.to_bytes()) == extended
            True
        """
        from substrait_dsl.proto.plan import to_bytes

        return to_bytes(self.to_proto(encoding=encoding, outer_references=outer_references))

    def to_json(self, *, encoding: Encoding = "spec", outer_references: OuterReferences | None = None) -> str:
        """Make protobuf's JSON form.

        Args:
            encoding: ``spec`` or ``legacy``, as of `to_proto`.
            outer_references: how a correlated subquery says which outer row it means, as of `to_proto`.

        Raises as `to_proto`, and `UnsupportedError` for extension messages that JSON cannot say: of a type that is not
        known here, or with values that do not come back the same. Their bytes may be others, their content is not.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> sd.Plan.from_json(orders.to_plan().to_json()) == orders.to_plan()
            True
        """
        from substrait_dsl.proto.plan import to_json

        with error_context(verb="to_json"):
            message = self.to_proto(encoding=encoding, outer_references=outer_references)
            text = to_json(message)
            if encoding == "spec":
                return text
            from substrait_dsl.proto.legacy_fields import with_known_fields

            return to_json(with_known_fields(message))

    def digest(self) -> str:
        """Compute a name for what it says: the same on every machine, and for every version of the library.

        Returns:
            ``sha256:`` and 64 hexadecimal digits: the hash of the binary form without the ``version``, which says who
            wrote it. What is equal, and shares the same relations, has one digest; the numbers of rows that subqueries
            refer to, and the names of columns in between, do not count.

        Raises as `to_proto`.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> plan = orders.filter(lambda o: o.price > 5.0).to_plan()
            >>> sd.Plan.from_bytes(plan.to_bytes()).digest() == plan.digest()
            True
        """
        from hashlib import sha256

        from substrait_dsl.proto.plan import to_bytes

        with error_context(verb="digest"):
            message = self._encode("spec", None)
            message.ClearField("version")
            return f"sha256:{sha256(to_bytes(message)).hexdigest()}"

    def save(
        self, path: str | Path, *, encoding: Encoding = "spec", outer_references: OuterReferences | None = None
    ) -> None:
        """Write it to a file: as JSON if its name ends in ``.json``, in any case, else in the binary form.

        A file that is there is replaced when the new one is whole; what fails, as on a full disk, leaves it as it was.

        Args:
            path: the file.
            encoding: ``spec`` or ``legacy``, as of `to_proto`.
            outer_references: how a correlated subquery says which outer row it means, as of `to_proto`.

        Raises as `to_proto`, and `OSError` if the file cannot be written.

        Specification: https://substrait.io/serialization/binary_serialization/.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as folder:
            ...     orders.to_plan().save(f"{folder}/orders.plan")
            ...     sd.Plan.load(f"{folder}/orders.plan").roots[0].columns
            ('id', 'customer', 'price')
        """
        from substrait_dsl.fluent.saving import write_atomically

        with error_context(verb="save"):
            target = _file(path)
        if target.suffix.lower() == ".json":
            content = self.to_json(encoding=encoding, outer_references=outer_references).encode()
        else:
            content = self.to_bytes(encoding=encoding, outer_references=outer_references)
        write_atomically(target, content)

    # --- copying

    def __reduce__(self) -> tuple[Any, ...]:
        return _document, (type(self), self._algebra, self._findings)

    # --- comparing

    def _with_canonical_anchors(self) -> A:
        raise NotImplementedError

    def _comparison_key(self) -> A:
        if self._canonical is None:
            self._canonical = self._with_canonical_anchors()
        return self._canonical

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document) or self._message != other._message:
            return NotImplemented
        same: bool = self._comparison_key() == other._comparison_key()
        return same

    def __hash__(self) -> int:
        return hash(self._comparison_key())


def require_encoding(encoding: object, outer_references: object) -> None:
    """Raise unless both are words of `to_proto`, and the encoding has such outer references."""
    require_choice("encoding", encoding, ENCODINGS)
    if outer_references is not None:
        require_choice("outer_references", outer_references, OUTER_REFERENCES)
    if encoding == "legacy" and outer_references == "rel_reference":
        raise InvalidArgumentError(
            'the legacy encoding has outer_references="steps_out", got "rel_reference": readers that do not know it '
            "take the row of another relation",
            hint="leave outer_references out",
        )


def _document(of_class: type[Document[Any, Any]], algebra: Any, findings: tuple[Finding, ...]) -> Document[Any, Any]:
    document = of_class.__new__(of_class)
    document._become(algebra, findings)
    return document


def require_limit(max_bytes: object) -> None:
    """Raise `InvalidArgumentError` for what is no number of bytes."""
    if max_bytes is not None and (type(max_bytes) is not int or max_bytes < 0):
        raise InvalidArgumentError("max_bytes is a number of bytes, or None for any", got=max_bytes)


def require_size(size: int, max_bytes: int | None) -> None:
    """Raise `UnsupportedError` for what is larger than it may be."""
    if max_bytes is not None and size > max_bytes:
        raise UnsupportedError(
            f"there are more than {max_bytes:,} bytes, the most that are read",
            hint="max_bytes=... reads more; None reads any",
        )


def unexpected_value_error(what: str, value: object, hints: Mapping[type, str]) -> InvalidArgumentError:
    """Return the error for something that was given instead, with no more of it than an error can show."""
    text = repr(value)
    if len(text) > _MAX_SHOWN:
        text = f"{text[:_MAX_SHOWN]}... ({type(value).__name__})"
    return InvalidArgumentError(f"expected {what}, got {text}", hint=hints.get(type(value)))


_MAX_SHOWN = 80


def _file(path: object) -> Path:
    """Return the path of a file. Raises `InvalidArgumentError` for what cannot be one."""
    from pathlib import Path

    try:
        if isinstance(path, str | Path) and b"\0" not in os.fsencode(path):
            return Path(path)
    except UnicodeEncodeError:
        pass
    raise InvalidArgumentError("expected the path of a file, as a str or a Path", got=path)


def type_urls(urls: Any) -> tuple[str, ...]:
    """Return the types of extension messages that were given.

    Raises `InvalidArgumentError` for what is no list of texts.
    """
    if isinstance(urls, str) or not isinstance(urls, Sequence) or not all(isinstance(url, str) for url in urls):
        raise InvalidArgumentError("expected_type_urls are several texts", got=urls)
    return tuple(urls)
