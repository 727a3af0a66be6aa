"""Delimited text, and what its records are: for every reader of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import substrait_dsl as sd

TEXTS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("a,b\n,\n", {}, [("a", "b"), ("", "")]),
    ("h,i\na,b\n", {"header_lines_to_skip": 1}, [("a", "b")]),
    ("a|b\n|c\n", {"field_delimiter": "|", "null_value": ""}, [("a", "b"), (None, "c")]),
    ("NA,b\n,NA\n", {"null_value": "NA"}, [(None, "b"), ("", None)]),
    ("'a,b','it\\'s'\n", {"quote": "'", "escape": "\\"}, [("a,b", "it's")]),
    ('"say ""hi"", ""ho""",5" pipe\n"",""""\n', {}, [('say "hi", "ho"', '5" pipe'), ("", '"')]),
    ('"C:\\tmp\\",b\n', {}, [("C:\\tmp\\", "b")]),
    ('"C:\\tmp\\",""\n', {"escape": ""}, [("C:\\tmp\\", "")]),
    ("a\tb\\tc\n", {"field_delimiter": "\\t"}, [("a\tb", "c")]),  # a backslash and a t are no tabulator
    ("a\\b\n", {"field_delimiter": "\\", "escape": ""}, [("a", "b")]),
    ("a,b\n", {"max_line_size": 2**40}, [("a", "b")]),
    ("h,i\n\ufeffa,b\ufeff\n", {"header_lines_to_skip": 1}, [("\ufeffa", "b\ufeff")]),
    ("a||b|c\n||\n", {"field_delimiter": "||", "escape": ""}, [("a", "b|c"), ("", "")]),
    ("a,b\n\n \t\nc,d", {}, [("a", "b"), ("c", "d")]),
    ('"a"" ,b",c\n', {}, [('a" ,b', "c")]),
    ('" ,",b\n "a" ,b" \n', {}, [(" ,", "b"), (' "a" ', 'b" ')]),
    ('"a\\" ,b","c\\\\"\n', {"escape": "\\"}, [('a" ,b', "c\\")]),
    ("\0,b\n#a,\n", {}, [("\0", "b"), ("#a", "")]),
]
"""Texts, how they are written, and their records."""

BROKEN: list[tuple[str, str]] = [
    ("a,b,c\n", '"'),
    ("a\n", '"'),
    ('"a ""b""",c\n', "\\"),
    ('"a ""b""",c\n', ""),
    ('"a \\"b\\" c",d\n', '"'),
    ('"a" b,c\n', '"'),
    ('"a" ,b\n', '"'),
    ('a,"b"\t\n', '"'),
    ('"a""" ,b\n', '"'),
    ('"a\\" ,b",c\n', '"'),
    ('"a"" ,b",c\n', "\\"),
    ('a,"b\nc,d"\n', '"'),
    ('a,"b', '"'),
    ('a,"b\\', "\\"),
    ('a,"', ""),
]
"""Texts with a line that is no record, and what stands before a quote in a field."""


def text_file(path: Path, text: str, **options: Any) -> Any:
    path.write_text(text)
    null_value = options.get("null_value")
    kind = "string" if null_value is None else "string?"
    header: Any = {"header": "skip"} if options.get("header_lines_to_skip") == 1 else {}
    return sd.read_files(path, {"x": kind, "y": kind}, format=sd.DelimitedText(**options), **header)
