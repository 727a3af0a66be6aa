"""Elements of HTML, and the one place where a text becomes part of a page.

Names, constants and messages of a plan are a stranger's: whatever is no `Markup` is a text, and is escaped.
"""

from __future__ import annotations

from html import escape

from substrait_dsl.texts import printable


class Markup(str):
    """A piece of HTML: made by `text`, `element`, `start_tag`, `end_tag` and `joined` alone."""

    __slots__ = ()


def text(content: str) -> Markup:
    """Return a text as HTML shows it; a character that is not seen, or turns the direction, becomes an escape."""
    return content if isinstance(content, Markup) else Markup(escape(printable(content)))


def start_tag(name: str, **attributes: str) -> Markup:
    """Return the start tag of an element.

    Args:
        name: the name of the element, a constant of the program.
        attributes: its attributes, by names that are constants of the program, too; a ``_`` at the end is left out.
    """
    written = "".join(f' {key.removesuffix("_")}="{text(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>")


def end_tag(name: str) -> Markup:
    """Return the end tag of an element."""
    return Markup(f"</{name}>")


def joined(*contents: str) -> Markup:
    """Return pieces one after the other; those that are texts are escaped."""
    return Markup("".join(map(text, contents)))


def element(name: str, *contents: str, **attributes: str) -> Markup:
    """Return an element with its contents, those that are texts escaped, and its attributes, as of `start_tag`."""
    start = start_tag(name, **attributes) if attributes else f"<{name}>"
    return Markup(f"{start}{''.join(map(text, contents))}</{name}>")


STYLE = Markup("""<style>
.substrait-dsl { --sd-dim: var(--jp-content-font-color2, color-mix(in srgb, currentColor 70%, transparent));
  --sd-line: var(--jp-border-color2, color-mix(in srgb, currentColor 25%, transparent));
  --sd-verb: var(--jp-brand-color1, color-mix(in srgb, currentColor 50%, #2f81f7));
  --sd-warn: var(--jp-warn-color0, color-mix(in srgb, currentColor 50%, #bf8700)); color: inherit;
  font-family: var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace);
  font-size: var(--jp-code-font-size, 13px); line-height: 1.5; overflow-x: auto; overflow-wrap: anywhere; }
.substrait-dsl summary { cursor: pointer; }
.substrait-dsl b { color: var(--sd-verb); }
.substrait-dsl i { color: var(--sd-dim); font-style: normal; }
.substrait-dsl .sd-text { white-space: pre-wrap; }
.substrait-dsl .sd-inside { border-left: 1px solid var(--sd-line); }
.substrait-dsl .sd-columns { color: var(--sd-dim); }
.substrait-dsl .sd-assumed { color: var(--sd-warn); }
.substrait-dsl.substrait-dsl table { border-collapse: collapse; margin: 0.2em 0 0.4em 0; font-size: inherit;
  color: inherit; }
.substrait-dsl.substrait-dsl.substrait-dsl :is(th, td) { max-width: 60ch; padding: 0.1em 1em 0.1em 0.3em;
  border-bottom: 1px solid var(--sd-line); text-align: left; vertical-align: top; white-space: pre-wrap;
  overflow-wrap: break-word; }
.substrait-dsl.substrait-dsl.substrait-dsl .sd-number { text-align: right; }
.substrait-dsl th { color: var(--sd-dim); font-weight: normal; }
.substrait-dsl .sd-columns :is(th, i) { color: inherit; }
.substrait-dsl ul { margin: 0 0 0.4em 0; padding-left: 1.5em; }
</style>""")
"""The look of everything: the colours of JupyterLab where it has some, else mixed from the colour of the text, so that
they can be read on any ground. The class stands there several times: JupyterLab has rules for tables, too."""


def fragment(*contents: str) -> str:
    """Return what a cell of a notebook shows: contents under the style that is theirs alone."""
    return element("div", STYLE, *contents, class_="substrait-dsl")


def page(title: str, body: str) -> str:
    """Return a page by itself, which may load and run nothing.

    Args:
        title: what the window is called.
        body: a `fragment`.
    """
    style = Markup("<style>:root { color-scheme: light dark; } body { margin: 1.5em; }</style>")
    return document(title, "default-src 'none'; style-src 'unsafe-inline'", style, Markup(body))


def document(title: str, policy: str, style: Markup, body: Markup) -> str:
    """Return a document.

    Args:
        title: what the window is called.
        policy: what it may load and run: a Content-Security-Policy.
        style: the element with its style.
        body: what is in it.
    """
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width">'),
        style,
        element("title", title),
    )
    inside = element("html", element("head", head), Markup("\n"), element("body", body), lang="en")
    return f"<!doctype html>\n{inside}"
