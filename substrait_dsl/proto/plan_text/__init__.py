"""Plans in the text format of substrait-explain: written from messages, and read into messages.

Each module has `write_x` above `read_x`. What a message has and the format has no place for is refused by its path.

The format: https://github.com/DataDog/substrait-explain, ``GRAMMAR.md``.
"""
