"""Translate the specification's regular expressions, ICU's, to Java's, which Spark runs.

The two languages share most of their syntax, but not its meaning: a digit is any decimal digit to ICU and an ASCII
digit to Java, and their line terminators differ. So a pattern is parsed and rewritten with constructs that mean the
same, and what has no such form is refused.

Specification: ``functions_string.yaml``, https://unicode-org.github.io/icu/userguide/strings/regexp.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import attrs

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.session.engines import ENGINE

_NEWLINES = r"\n\x{b}\f\r\x{85}\x{2028}\x{2029}"
_CLASSES: Mapping[str, str] = {
    "d": r"\p{Nd}",
    "w": r"\p{IsAlphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}",
    "s": r"\p{IsWhite_Space}",
}
"""ICU's digits, word characters and white space, as members of a Java character class."""

_CONTROLS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
ANYTHING = r"[\x{0}-\x{10FFFF}]"
ANY_WITH_DOTALL = r". with dotall, which takes \r\n for one character"
"""How a refusal names a dot that matches line ends."""
_LINE_BREAK = rf"(?!(?<=\r)\n)(?>\r\n|[{_NEWLINES}])"
_END = rf"(?=(?:{_LINE_BREAK})?\z)"
_LINE_START = rf"(?:\A|(?<=[{_NEWLINES}])(?<!\r(?=\n))(?!\z))"
_LINE_END = rf"(?=\z|{_LINE_BREAK})"

_TOKEN = re.compile(
    r"(?P<open>\((?:\?(?::|=|!|<=|<!|>))?(?!\?))"
    r"|(?P<close>\))|(?P<or>\|)|(?P<dot>\.)|(?P<start>\^)|(?P<end>\$)"
    r"|(?P<times>(?:[*+?]|\{\d{1,4}(?:,\d{0,4})?\})[?+]?)"
    r"|\\(?P<word>[dDsSwW])|\\(?P<control>[tnrf])|\\(?P<anchor>[AzZ])|\\(?P<back>[1-9])(?!\d)|\\(?P<quoted>[^A-Za-z0-9])"
    r"|(?P<set>\[\^?(?:\\[^A-Za-z0-9]|\\[dswtnrf]|[^\]\[\\&{}$^])+\])"
    r"|(?P<plain>[^\\\[\](){}.|^$*+?])",
    re.DOTALL,
)
_MEMBER = re.compile(r"\\(?P<word>[dsw])|\\(?P<control>[tnrf])|\\(?P<quoted>.)|(?P<plain>.)", re.DOTALL)


@attrs.frozen
class Pattern:
    """A pattern in Java's syntax, and its properties."""

    text: str
    groups: int
    """The number of its capturing groups."""
    can_be_empty: bool
    """Whether it may match the empty string."""
    sees_before: bool
    """Whether a match depends on the text before it, or on the beginning of the string."""
    beyond_linear: str | None = None
    """The first part that engines lack which match in linear time: they neither look around nor go back."""


@attrs.define
class _Group:
    """The state of a group while it is parsed."""

    opening: str
    can_be_empty: bool = False
    """Whether one of the previous branches can be empty."""
    branch_can_be_empty: bool = True
    last_can_be_empty: bool | None = None
    """Whether the last atom can be empty; None: there is no atom to repeat."""
    is_unbounded: bool = False

    def add(self, can_be_empty: bool) -> None:
        self.finish_atom()
        self.last_can_be_empty = can_be_empty

    def finish_atom(self) -> None:
        if self.last_can_be_empty is not None:
            self.branch_can_be_empty &= self.last_can_be_empty
        self.last_can_be_empty = None

    def end_branch(self) -> None:
        self.finish_atom()
        self.can_be_empty |= self.branch_can_be_empty
        self.branch_can_be_empty = True


_LOOKBEHINDS = ("(?<=", "(?<!")
_LOOKAROUNDS = ("(?=", "(?!", *_LOOKBEHINDS)


@attrs.define
class _Translation:
    """The translation of a pattern, token by token."""

    pattern: str
    multiline: bool
    dotall: bool
    has_both_cases: bool
    behind: int
    parts: list[str] = attrs.field(factory=list)
    """The translated tokens."""
    groups: int = 0
    sees_before: bool = False
    beyond_linear: str | None = None
    position: int = 0
    stack: list[_Group] = attrs.field(factory=lambda: [_Group("")])
    """The groups around the position, the pattern itself first."""

    def run(self) -> None:
        """Translate all tokens. Raises `UnsupportedError` for one that cannot be."""
        while self.position < len(self.pattern):
            token = _TOKEN.match(self.pattern, self.position)
            if token is None or token.lastgroup is None:
                raise self.refusal()
            self.parts.append(_TRANSLATIONS[token.lastgroup](self, token[token.lastgroup]))
            self.position = token.end()
        if len(self.stack) != 1:
            raise self.refusal()
        self.stack[0].end_branch()

    def refusal(self, why: str = "") -> UnsupportedError:
        """Return the refusal of the token at the position."""
        return _unknown(self.pattern, self.position, why)

    def needs_more_than_linear(self, part: str) -> None:
        """Note a part that takes an engine that looks around, or goes back."""
        self.beyond_linear = self.beyond_linear or part

    def open(self, text: str) -> str:
        """Translate the beginning of a group."""
        if text not in ("(", "(?:"):
            self.needs_more_than_linear(text)
        self.stack.append(_Group(text))
        self.groups += text == "("
        self.sees_before |= text in _LOOKBEHINDS
        return text

    def close(self, text: str) -> str:
        """Translate the end of a group."""
        if len(self.stack) == 1:
            raise self.refusal()
        group = self.stack.pop()
        group.end_branch()
        if group.is_unbounded and group.opening in _LOOKBEHINDS:
            raise self.refusal("Java looks back only so far")
        self.stack[-1].is_unbounded |= group.is_unbounded
        self.stack[-1].add(group.can_be_empty or group.opening in _LOOKAROUNDS)
        return text

    def alternate(self, text: str) -> str:
        """Translate the bar between two branches."""
        self.stack[-1].end_branch()
        return text

    def repeat(self, text: str) -> str:
        """Translate a quantifier."""
        group = self.stack[-1]
        bounds = re.fullmatch(r"\{(\d+),(\d+)\}[?+]?", text)
        if bounds is not None and int(bounds[1]) > int(bounds[2]):
            raise self.refusal("a repetition of more times than the most")
        if group.last_can_be_empty is not False:
            raise self.refusal("a repetition of what may match nothing")
        if text.endswith("+") and len(text) > 1:
            self.needs_more_than_linear(text)
        group.last_can_be_empty = None
        group.add(text[0] in "*?" or text.startswith(("{0}", "{0,", "{00")))
        group.finish_atom()
        group.is_unbounded |= text[0] in "*+" or ",}" in text
        return text

    def anchor(self, text: str) -> str:
        """Translate an anchor, at the ends of lines or of the text."""
        self.sees_before |= text in "^A"
        self.stack[-1].add(True)
        if text in "$Z" or (text == "^" and self.multiline):
            part = text if text in "^$" else rf"\{text}"
            self.needs_more_than_linear(f"{part} with multiline" if self.multiline and text in "^$" else part)
        return _anchor(text, self.multiline)

    def refer_back(self, text: str) -> str:
        """Translate a back reference to a group, which must be closed."""
        if int(text) > self.groups or len(self.stack) > 1:
            raise self.refusal()
        self.stack[-1].add(True)
        self.needs_more_than_linear(rf"\{text}")
        return rf"(?:\{int(text) + self.behind})"

    def any_character(self, text: str) -> str:
        """Translate a dot."""
        self.stack[-1].add(False)
        if self.dotall:
            self.needs_more_than_linear(ANY_WITH_DOTALL)
        return rf"(?>\r\n|{ANYTHING})" if self.dotall else f"[^{_NEWLINES}]"

    def class_of_characters(self, text: str) -> str:
        r"""Translate a class such as ``\d``, or its complement."""
        self.stack[-1].add(False)
        return f"[{'^' if text.isupper() else ''}{_CLASSES[text.lower()]}]"

    def set_of_characters(self, text: str) -> str:
        """Translate a set in brackets."""
        self.stack[-1].add(False)
        return _set(text, self.pattern, self.position, self.has_both_cases)

    def control(self, text: str) -> str:
        """Translate the escape of a control character."""
        self.stack[-1].add(False)
        return _CONTROLS[text]

    def literal(self, text: str) -> str:
        """Translate a character that stands for itself."""
        self.stack[-1].add(False)
        other = _other_cases(text, text) if self.has_both_cases else ""
        return f"[{_literal(text)}{other}]" if other else _literal(text)


_TRANSLATIONS: Mapping[str, Callable[[_Translation, str], str]] = {
    "open": _Translation.open,
    "close": _Translation.close,
    "or": _Translation.alternate,
    "times": _Translation.repeat,
    "start": _Translation.anchor,
    "end": _Translation.anchor,
    "anchor": _Translation.anchor,
    "back": _Translation.refer_back,
    "dot": _Translation.any_character,
    "word": _Translation.class_of_characters,
    "set": _Translation.set_of_characters,
    "control": _Translation.control,
    "quoted": _Translation.literal,
    "plain": _Translation.literal,
}
"""How each group of `_TOKEN` is translated."""


def java_pattern(
    pattern: str,
    *,
    multiline: bool,
    dotall: bool,
    ignore_case: bool,
    behind: int = 0,
    has_case_flag: bool = True,
) -> Pattern:
    """Translate a pattern of ICU to Java.

    Args:
        pattern: the pattern.
        multiline: whether ``^`` and ``$`` match at line ends, too.
        dotall: whether ``.`` matches line ends, too.
        ignore_case: whether ASCII letters match their other case, too.
        behind: the number of groups before the pattern in the one that it becomes part of.
        has_case_flag: whether ``(?i)`` is of ASCII letters alone, as Java's is; else both cases of each are written.

    Raises:
        UnsupportedError: a part of the pattern means something else to Java, or is not known to mean the same.
    """
    translation = _Translation(pattern, multiline, dotall, ignore_case and not has_case_flag, behind)
    translation.run()
    text = "".join(translation.parts)
    can_be_empty = translation.stack[0].can_be_empty
    if can_be_empty:
        translation.needs_more_than_linear("a match of no text")  # right after another one, only Java has it
        # Java would match nothing also within a character of two UTF-16 units.
        text = rf"(?<=\A|{ANYTHING})(?:{text})"
    text = f"(?i){text}" if ignore_case and has_case_flag else text
    return Pattern(text, translation.groups, can_be_empty, translation.sees_before, translation.beyond_linear)


def java_replacement(replacement: str, groups: int, behind: int = 0) -> str:
    r"""Write a replacement as Java reads it: ``\1`` is what the first group captured.

    Raises:
        UnsupportedError: there is no such group, or another use of ``$`` or a backslash, which engines disagree about.
    """
    written = []
    for part in re.findall(r"\\?.", replacement, re.DOTALL):
        if len(part) == 1 and part not in "\\$":
            # After a group, a digit would be read as part of its number.
            written.append(f"\\{part}" if part.isdigit() else part)
        elif len(part) == 2 and part[1] in "123456789" and int(part[1]) <= groups:
            written.append(f"${int(part[1]) + behind}")
        else:
            raise UnsupportedError(f"{ENGINE} cannot take {replacement!r} as the replacement of a pattern exactly")
    return "".join(written)


def _anchor(text: str, multiline: bool) -> str:
    match text:
        case "^":
            return _LINE_START if multiline else r"\A"
        case "$" if multiline:
            return _LINE_END
        case "$" | "Z":
            return _END
        case _:
            return rf"\{text}"


def _other_cases(first: str, last: str) -> str:
    """The other case of the ASCII letters in a range of characters, as members of a set."""
    letters = ((max(first, low), min(last, high)) for low, high in ("az", "AZ"))
    return "".join(f"{start.swapcase()}-{end.swapcase()}" for start, end in letters if start <= end)


def _set(text: str, pattern: str, position: int, has_both_cases: bool) -> str:
    """Translate a character class; ``-`` between two characters makes a range."""
    negated = text.startswith("[^")
    body = text[2 if negated else 1 : -1]
    if "--" in body:
        raise _unknown(pattern, position, "a difference of sets")
    written = []
    others: list[str] = []
    members = list(_MEMBER.finditer(body))
    for number, member in enumerate(members):
        token = member.lastgroup or ""
        is_range = token == "plain" and member["plain"] == "-" and 0 < number < len(members) - 1
        if is_range and _character(members[number - 1]) > _character(members[number + 1]):
            raise _unknown(pattern, position, "a range that ends before it begins")
        if is_range and "word" in (members[number - 1].lastgroup, members[number + 1].lastgroup):
            raise _unknown(pattern, position, "a range of classes")
        match token:
            case "word":
                written.append(_CLASSES[member[token]])
            case "control":
                written.append(_CONTROLS[member[token]])
            case _:
                written.append("-" if is_range else _literal(member[token]))
        if has_both_cases and token != "word":
            ends = (members[number - 1], members[number + 1]) if is_range else (member, member)
            others.append(_other_cases(*map(_character, ends)))
    written += others
    return f"[{'^' if negated else ''}{''.join(written)}]"


def _character(member: re.Match[str]) -> str:
    """The character that a member of a set stands for."""
    if member["control"]:
        return {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}[member["control"]]
    return member["quoted"] or member["plain"] or ""


def _literal(character: str) -> str:
    """A character that means nothing but itself."""
    return character if character.isascii() and character.isalnum() else rf"\x{{{ord(character):x}}}"


def _unknown(pattern: str, position: int, why: str = "") -> UnsupportedError:
    because = f": {why}" if why else ""
    return UnsupportedError(
        f"{ENGINE} cannot run the pattern {pattern!r} as ICU does, from character {position + 1} on{because}",
        hint='case_sensitivity="CASE_INSENSITIVE_ASCII" is the option for (?i)'
        if pattern.startswith("(?i)")
        else "use literals, sets, ., ^, $, \\d, \\s, \\w, groups, alternatives and repetitions",
    )
