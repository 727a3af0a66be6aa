"""The fluent API: relations as chains of verbs, expressions by operators, schemas as classes."""

from substrait_dsl.errors import SubstraitDslError, look_up_hints


def _hint_for(error: SubstraitDslError) -> str | None:
    from substrait_dsl.hints import hint_for  # a program without a mistake need not load it

    return hint_for(error)


look_up_hints(_hint_for)
