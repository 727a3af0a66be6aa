"""Looks at the pages as they were built: every link leads to a page, an anchor or a file, and nothing is fetched."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import attrs

FETCHING = frozenset({"img", "script", "link", "iframe", "source", "video", "audio", "embed", "object"})
"""Elements whose address a browser fetches by itself."""


@attrs.define
class Address:
    """An address in a page, and whether a browser fetches it by itself."""

    text: str
    is_fetched: bool


class PageReader(HTMLParser):
    """Collects the anchors of a page and the addresses in it."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[Address] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take the anchors and addresses of an element."""
        values = dict(attributes)
        names = [values.get("id"), values.get("name") if tag == "a" else None]
        self.anchors.update(name for name in names if name)
        is_fetched = tag in FETCHING and values.get("rel") not in ("canonical", "next", "prev")
        for key in ("href", "src"):
            if address := values.get(key):
                self.addresses.append(Address(address, is_fetched))


def find_broken_links(site: Path) -> Iterator[str]:
    """Yield a line for each address in the pages of a folder that leads nowhere, or is fetched from elsewhere."""
    pages: dict[str, PageReader] = {}
    for file in sorted(site.rglob("*.html")):
        reader = pages[file.relative_to(site).as_posix()] = PageReader()
        reader.feed(file.read_text(encoding="utf-8"))
    for name, page in pages.items():
        for address in page.addresses:
            problem = problem_of(address, name, pages, site)
            if problem is not None:
                yield f"{name}: {address.text}: {problem}"


def problem_of(address: Address, name: str, pages: dict[str, PageReader], site: Path) -> str | None:
    """Return what is wrong with an address in a page, if anything is."""
    if re.match(r"[a-z][a-z+.-]*:|//", address.text):
        return "it is fetched from elsewhere" if address.is_fetched and not address.text.startswith("data:") else None
    target, _, anchor = (unquote(part) for part in address.text.partition("#"))
    folder = "" if target.startswith("/") else posixpath.dirname(name)  # the page of errors is served anywhere
    path = posixpath.normpath(posixpath.join(folder, target.lstrip("/"))) if target else name
    if path == ".":
        path = "index.html"
    if not (site / path).is_file():
        return "there is no such file"
    if anchor and path in pages and anchor not in pages[path].anchors:
        return "there is no such anchor"
    return None
