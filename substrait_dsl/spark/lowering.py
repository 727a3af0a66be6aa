# NOTE TO THE AUTHOR OF THIS MODULE (remove when read): everything of it above the functions below was overwritten at
# 10:26 by the function templates, which were given the same file name by mistake and are now in templates.py.
# It could not be recovered from disk: please write it again from your copy. Sorry.

def _is_brief(rel: Rel) -> bool:
    """Whether a relation can stand in SQL text as a whole: not too large, and all its rows come from named tables."""
    size = 0
    stack = [rel]
    while stack:
        current = stack.pop()
        size += 1
        if size > _MOST_TEXT or (isinstance(current, Read) and not _is_brief_read(current)):
            return False
        stack.extend(node for node in walk_parts(current))
    return True


def walk_parts(rel: Rel) -> Iterator[Rel]:
    """The relations directly inside a relation: its inputs, and those in its subqueries."""
    for child in rel.children():
        if isinstance(child, Rel):
            yield child
        else:
            for node in walk(child, into_relations=False):
                if is_subquery(node):
                    yield relation_of(node)


def _is_brief_read(read: Read) -> bool:
    match read.definition:
        case NamedTable(names):
            return reads.can_be_text(names, read.base_schema)
        case VirtualTable(rows):
            return len(rows) <= _MOST_TEXT_ROWS
        case LocalFiles():
            return False
        case never:
            assert_never(never)
