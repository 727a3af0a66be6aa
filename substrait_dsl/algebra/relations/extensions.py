"""Extension relations and tables, with a declared schema: only the owner of their message knows what they do.

Specification: ``ExtensionLeafRel``, ``ExtensionSingleRel``, ``ExtensionMultiRel``, ``ReadRel.ExtensionTable``. A plan
does not have the schema of a relation: producer and consumer agree on it by other means.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import NO_PROPERTIES, Properties, check_properties
from substrait_dsl.algebra.relations.read import Definition
from substrait_dsl.algebra.schema import NamedStruct


@attrs.frozen(eq=False, repr=False)
class ExtensionTable(FrozenValue, Definition):
    """A table that only those know who know the message."""

    detail: AnyMessage


@attrs.frozen(eq=False, repr=False)
class _Declared(Rel):
    """Base of the extension relations: a message, and the declared properties of the output."""

    has_own_extension: ClassVar[bool] = False

    detail: AnyMessage
    declared_schema: NamedStruct
    declared: Properties = NO_PROPERTIES

    def _validate(self) -> None:
        check_properties(self.declared, self.declared_schema)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.declared_schema

    def _derive_properties(self) -> Properties:
        return self.declared


class ExtensionLeaf(_Declared):
    """A relation of no input."""

    __slots__ = ()


@attrs.frozen(eq=False, repr=False)
class ExtensionSingle(_Declared):
    """A relation of one input."""

    input: Rel = attrs.field(kw_only=True)


@attrs.frozen(eq=False, repr=False)
class ExtensionMulti(_Declared):
    """A relation of any number of inputs."""

    relations: tuple[Rel, ...] = attrs.field(kw_only=True)
