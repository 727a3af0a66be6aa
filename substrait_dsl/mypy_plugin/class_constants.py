"""Constants of the classes of a file, as their methods name them: ``self.KEYS``, ``cls.KEYS``, ``Report.KEYS``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import Expression, MemberExpr, Var
from mypy.types import CallableType, Instance, TypeType, get_proper_type

from substrait_dsl.mypy_plugin.file_variables import find_constant_of_class
from substrait_dsl.mypy_plugin.mypy_internals import find_tree, find_type

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface


def find_class_constant(node: MemberExpr, checker: CheckerPluginInterface) -> Expression | None:
    """Return the expression of a constant of a class; None if the program may mean another value.

    A class that cannot be instantiated may leave it to others to say the value.
    """
    owner = get_proper_type(find_type(checker, node.expr))
    if isinstance(owner, CallableType) and owner.is_type_obj():
        owner = get_proper_type(owner.ret_type)
    elif isinstance(owner, TypeType):
        owner = get_proper_type(owner.item)
    symbol = owner.type.get(node.name) if isinstance(owner, Instance) else None
    attribute = None if symbol is None else symbol.node
    if not isinstance(attribute, Var) or attribute.info.module_name != find_tree(checker).fullname:
        return None
    return None if attribute.info.is_abstract or attribute.info.is_enum else find_constant_of_class(attribute, checker)
