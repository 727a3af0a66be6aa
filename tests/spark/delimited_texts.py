"""Delimited text, and what its records are: for every reader of the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import substrait_dsl as sd
from substrait_dsl.errors import SchemaError, UnsupportedError
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("a,b\n,\n", {}, [("a", "b"), ("", "")]),
    ("h,i\na,b\n", {"header_lines_to_skip": 1}, [("a", "b")]),
    ("a|b\n|c\n", {"field_delimiter": "|", "null_value": ""}, [("a", "b"), (None, "c")]),
    ("NA,b\n,NA\n", {"null_value": "NA"}, [(None, "b"), ("", None)]),
    ("'a,b','it\\'s'\n", {"quote": "'", "escape": "\\"}, [("a,b", "it's")]),
    ('"say ""hi"", ""ho""",5" pipe\n"",""""\n', {}, [('say "hi", "ho"', '5" pipe'), ("", '"')]),
    ('"C:\\tmp\\",b\n', {}, [("C:\\tmp\\", "b")]),
    ('"C:\\tmp\\",""\n', {"escape": ""}, [("C:\\tmp\\", "")]),
    ("a\tb\\tc\n", {"field_delimiter": "\\t"}, [("a\tb", "c")]),  # a backslash and a t are no tab
    ("a\\b\n", {"field_delimiter": "\\", "escape": ""}, [("a", "b")]),
    ("a,b\n", {"max_line_size": 2**40}, [("a", "b")]),
    ("h,i\n\ufeffa,b\ufeff\n", {"header_lines_to_skip": 1}, [("\ufeffa", "b\ufeff")]),
    ("a||b|c\n||\n", {"field_delimiter": "||", "escape": ""}, [("a", "b|c"), ("", "")]),
    ("a,b\n\n \t\nc,d", {}, [("a", "b"), ("c", "d")]),
    ("h\ti\n\t\na\tb\n\n \n \t\n", {"field_delimiter": "\t", "header_lines_to_skip": 1, "null_value": ""}, [
        (None, None), ("a", "b"), (" ", None)
    ]),
    ('"a"" ,b",c\n', {}, [('a" ,b', "c")]),
    ('" ,",b\n "a" ,b" \n', {}, [(" ,", "b"), (' "a" ', 'b" ')]),
    ('"a\\" ,b","c\\\\"\n', {"escape": "\\"}, [('a" ,b', "c\\")]),
    ("\0,b\n#a,\n", {}, [("\0", "b"), ("#a", "")]),
    ("\U0001f600\u20ac,abc\n", {"max_line_size": 3}, [("\U0001f600\u20ac", "abc")]),
    ("\0a\0||b\n", {"field_delimiter": "||", "quote": "", "escape": ""}, [("\0a\0", "b")]),
    ('"a",\'\0b\n', {"quote": "", "escape": ""}, [('"a"', "'\0b")]),
    ('"a",""\n"",\n', {"null_value": ""}, [("a", None), (None, None)]),
    ('"a";";"\n"";"b;""c"\n', {"field_delimiter": ";"}, [("a", ";"), ("", 'b;"c')]),
    ("\u20aca\u20ac,\u20ac\u20ac\n\u20acb,\u20ac,c\n", {"quote": "\u20ac"}, [("a", ""), ("b,", "c")]),
    ("'a','c'\nd\\e,'f'\n", {"quote": "'", "escape": "\\"}, [("a", "c"), ("d\\e", "f")]),
]  # fmt: skip
"""Texts, how they are written, and their records."""

TOO_LONG = ["a,abcd\n", "\U0001f600\U0001f600,\n", "a,\U0001f600\U0001f600\n", '"ab\U0001f600",c\n']
"""Texts with a field that has four units of UTF-16; a character beyond U+FFFF has two."""

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
    ('"a"",c\n', "\\"),
    ('"a,b"",c\n', ""),
    ('"""",c\n', ""),
    ('c,"a""""\n', "~"),
    ('"a""\\",c\n', "\\"),
    ('a,"b\nc,d"\n', '"'),
    ('a,"b', '"'),
    ('a,"b\\', "\\"),
    ('a,"', ""),
]
"""Texts with a line that is no record, and what stands before a quote in a field."""


QUOTED_BREAKS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ('"a\nb",c\nd,e\n', {}, [("a\nb", "c"), ("d", "e")]),
    ('h,i\r\n"a\nb","c\r\nd"\r\ne,"\r"\r\n', {"header_lines_to_skip": 1}, [("a\nb", "c\r\nd"), ("e", "\r")]),
    ('"h\nx",i\na,b', {"header_lines_to_skip": 1}, [("a", "b")]),
    ('"\n","\n\n"\n\n \n,\n', {}, [("\n", "\n\n"), ("", "")]),
    ('"say ""\nhi"" ,",5" pipe\n"",""""\n', {}, [('say "\nhi" ,', '5" pipe'), ("", '"')]),
    ("'it\\'s\n';NA\nNA;'NA'", {"quote": "'", "escape": "\\", "field_delimiter": ";", "null_value": "NA"}, [
        ("it's\n", None), (None, None)
    ]),
    ('"a\n"||b|c\n||\n', {"field_delimiter": "||", "escape": ""}, [("a\n", "b|c"), ("", "")]),
    ("h i\n \n\n\t \"a\nb\"\n", {"field_delimiter": " ", "header_lines_to_skip": 1}, [("", ""), ("\t", "a\nb")]),
    ('\ufeff"\n",b\n', {}, [("\n", "b")]) ,
    ('"\r\n",a\nb,c\n', {}, [("\r\n", "a"), ("b", "c")]),
    ("a,b\n", {}, [("a", "b")]),
    ("", {}, []),
]  # fmt: skip
"""Texts with line breaks in quotes, how they are written, and their records."""

BROKEN_BREAKS: list[tuple[str, str]] = [
    ('a,"b\nc', '"'),
    ('a,"b\nc,d\n', '"'),
    ('"a\nb" ,c\n', '"'),
    ('"a\nb"x,c\n', '"'),
    ('"a\nb",c,d\n', '"'),
    ('"a\nb"\n', '"'),
    ('"a\n""b",c\n', "\\"),
    ('"",b\n""\n', '"'),
]
"""Texts with a record that is none, even if quotes may hold line breaks, and what stands before a quote in a field."""

ENCODED: list[tuple[str, str]] = [
    ("latin-1", "latin-1"),
    ("cp1252", "windows-1252"),
    ("iso-8859-15", "ISO-8859-15"),
    ("utf-16", "utf-16"),
    ("utf-16-le", "utf-16le"),
    ("utf-16-be", "UTF_16BE"),
    ("utf-8-sig", "utf-8-sig"),
]
"""Encodings as Python writes them, and names for them."""


def encoded_file(path: Path, encoding: str) -> list[tuple[str, str]]:
    """Write a file with a header, and return its records: of an encoding of bytes, those of the upper half."""
    of_bytes = bytes(range(160, 256))
    characters = (
        "\xe4\u20ac\u0141\u4e2d\U0001f600\u2028\x85" if encoding.startswith("utf") else of_bytes.decode(encoding)
    )
    rows = [(each, "x") for each in characters]
    path.write_bytes("".join(f"{x},{y}\r\n" for x, y in [("x", "y"), *rows]).encode(encoding))
    return rows


def text_file(path: Path, text: str, **options: Any) -> Any:
    path.write_text(text)
    line_breaks = options.pop("line_breaks", "end_records")
    null_value = options.get("null_value")
    kind = "string" if null_value is None else "string?"
    header: Any = {"header": "skip"} if options.get("header_lines_to_skip") == 1 else {}
    return sd.read_files(
        path, {"x": kind, "y": kind}, format=sd.DelimitedText(**options), line_breaks=line_breaks, **header
    )


ABOVE = {"t1.csv": "# of May\n# by ann\nid,s\n1,x\n2,# of May\n", "t2.csv": "# of June\n# by bob\nid,s\n3,y\n"}
"""Files with two lines above the names."""


def lines_above_are_skipped(folder: Path, spark: SparkSession) -> None:
    """Read files with several header lines, of which the last is compared with the columns."""
    for name, text in ABOVE.items():
        (folder / name).write_text(text)
    schema = {"id": "i64", "s": "string"}
    read = sd.read_csv(folder / "t*.csv", schema, header=3, kind="glob")
    assert sorted(tuple(row) for row in read.collect(spark)) == [(1, "x"), (2, "# of May"), (3, "y")]
    assert sd.read_csv(folder / "t1.csv", schema, header=9).collect(spark) == []
    with refused(SchemaError, 'column 1 is "# by ann" in the header'):
        sd.read_csv(folder / "t1.csv", schema, header=2).collect(spark)
    with refused(SchemaError, "in another order"):
        sd.read_csv(folder / "t1.csv", {"s": "string", "id": "string"}, header=3).collect(spark)
    (folder / "blank.csv").write_text("# of May\n\nid,s\n1,x\n")
    with refused(UnsupportedError, "of the 2 header lines of", "one is blank"):
        sd.read_csv(folder / "blank.csv", schema, header=2).collect(spark)
