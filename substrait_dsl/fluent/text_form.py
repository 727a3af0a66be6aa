"""Plans in the text format of substrait-explain, which other tools read and write, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from substrait_dsl.algebra.findings import Weight
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import error_context
from substrait_dsl.fluent.choices import require_catalog, require_strictness
from substrait_dsl.fluent.documents import MAX_BYTES, Document, require_limit, require_size, unexpected_value_error
from substrait_dsl.fluent.shown_text import ShownText

if TYPE_CHECKING:
    from substrait.plan_pb2 import Plan as PlanMessage

    from substrait_dsl.catalog import Catalog

    PlanDocument = Document[PlanMessage, AlgebraPlan]
else:
    PlanDocument = Document


class TextForm(PlanDocument):
    """What is written as text, and read from it: a `Plan`."""

    __slots__ = ()

    def to_text(self) -> str:
        """Write it in the text format of substrait-explain: a line for each relation, its inputs below it.

        `from_text` reads it back. What the format has no word for is a call of a function of this library (IN lists,
        subqueries, outer columns, distinct and filtered measures), or refused. The text that ``print(plan)`` shows is
        for people, and has a place for everything.

        Returns:
            The text: the version, what the plan declares of extensions, and the trees. At a prompt it shows its
            lines, with escapes for what a terminal does not show.

        Raises:
            UnsupportedError: the format has no place for something, such as a read of files, a window, an exchange,
                a write, a hint or a physical join; with its path in the message that
                ``to_proto(outer_references="steps_out")`` gives.

        Specification: https://github.com/DataDog/substrait-explain/blob/main/GRAMMAR.md.

        Example:
            >>> print(orders.limit(1).to_plan().to_text().partition("=== Plan")[2])
            <BLANKLINE>
            Root[id, customer, price]
              Fetch[limit=1 => $0, $1, $2]
                Read[orders => id:i64, customer:i64, price:fp64?]
            <BLANKLINE>
        """
        with error_context(verb="to_text"):
            from substrait_dsl.proto.plan_text.plan import to_text

            return ShownText(to_text(self._algebra))

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        strict: bool | Weight = False,
        catalog: Catalog | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Self:
        r"""Read the text format of substrait-explain.

        Args:
            text: the text, of `to_text` or of anybody else.
            strict: refuse what gives rise to a finding, as of `from_bytes`.
            catalog: the functions to derive types by, as of `from_bytes`.
            max_bytes: the size above which it is refused, in characters.

        Returns:
            The plan. What the format does not say is as usual: measures are complete aggregates, and variables have
            one value for the plan.

        Raises as `from_bytes`; a `PlanFormatError` has the line and the column, and what was expected there.

        Specification: https://github.com/DataDog/substrait-explain/blob/main/GRAMMAR.md.

        Example:
            >>> plan = orders.filter(lambda o: o.price > 5.0).to_plan()
            >>> sd.Plan.from_text(plan.to_text()) == plan
            True
            >>> print(sd.Plan.from_text("=== Plan\nRoot[a]\n  Read[t => a:i64]\n").roots[0])
            read t -> a: i64
        """
        with error_context(verb="from_text"):
            if not isinstance(text, str):
                raise unexpected_value_error(
                    "the text of the plan",
                    text,
                    {bytes: "a text is a str, data.decode(); the binary form is read with from_bytes"},
                )
            return cls._read_text(text, strict, catalog, max_bytes)

    @classmethod
    def _read_text(cls, text: str, strict: bool | Weight, catalog: Catalog | None, max_bytes: int | None) -> Self:
        from substrait_dsl.proto.plan_text.plan import from_text

        require_strictness(strict)
        require_catalog(catalog)
        require_limit(max_bytes)
        require_size(len(text), max_bytes)
        plan = cls.__new__(cls)
        plan._become(*from_text(text, catalog, strict=strict))
        return plan
