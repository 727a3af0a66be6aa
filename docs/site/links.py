"""Links of pages: those that a repository shows, as links between the pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

ROOT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Pages outside of `docs`, by their path from the root, and what the site calls them."""

FENCE = re.compile(r"(?ms)^(?P<fence>```+|~~~+)[^\n]*\n.*?^(?P=fence)[ ]*$|<!--.*?-->")
"""What is no text: a block of code, a comment."""

LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]+)\]\((?P<target>[^()\s]+)\)")

MENTION = re.compile(r'(?<![\[`])`(?P<path>[\w./-]+\.md)`(?![\]`])(?:,\s+"(?P<section>[^"\n]+(?:\n[^"\n]+)?)")?')
"""A page in backquotes, and perhaps the title of a section behind it: ``docs/spark.md``, "Tables"."""


def site_path(path: str) -> str | None:
    """Return what the site calls a page or a picture, by its path from the root; None for what it lacks."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    folder, _, rest = path.partition("/")
    return rest if folder == "docs" else None


def slug(title: str) -> str:
    """Return the anchor of a section, as GitHub and the site make it of its title."""
    words = re.sub(r"[^\w\- ]", "", title.lower().replace("\n", " ").strip())
    return words.replace(" ", "-")


def link_pages(text: str, path: str, pages: Mapping[str, object] | frozenset[str], repository: str | None) -> str:
    """Make links between pages of the site of the links, and of the names of pages, in a page of the repository.

    Args:
        text: the page.
        path: its path from the repository's root.
        pages: the paths of the site's pages and pictures.
        repository: the address of the folder of files that the site lacks; without one they are named, not linked.

    Returns:
        The text, in which every link leads to a page of the site or to an address.
    """
    folder = posixpath.dirname(path)
    here = posixpath.dirname(site_path(path) or "")

    def page_of(target: str, *folders: str) -> str | None:
        for each in folders:
            found = site_path(posixpath.normpath(posixpath.join(each, target)))
            if found is not None and found in pages:
                return posixpath.relpath(found, here or ".")
        return None

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found["target"].partition("#")
        if not target or ":" in target:
            return found[0]
        page = page_of(target, folder)
        if page is not None:
            return f"{found['image']}[{found['text']}]({page}{'#' if anchor else ''}{anchor})"
        if repository is None:
            return found["text"]
        return f"[{found['text']}]({repository}/{posixpath.normpath(posixpath.join(folder, target))})"

    def mention(found: re.Match[str]) -> str:
        page = page_of(found["path"], folder, "", "docs")
        if page is None or posixpath.normpath(posixpath.join(here, page)) == site_path(path):
            return found[0]
        if found["section"] is None:
            return f"[`{found['path']}`]({page})"
        return f"[{found[0]}]({page}#{slug(found['section'])})"

    return replace_in_text(MENTION, mention, replace_in_text(LINK, link, text))


def replace_in_text(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Return the page with a pattern replaced outside of blocks of code and comments."""
    parts, end = [], 0
    for block in FENCE.finditer(text):
        parts += [pattern.sub(replace, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, pattern.sub(replace, text[end:])])
