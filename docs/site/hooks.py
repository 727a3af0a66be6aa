"""What MkDocs does beside its plugins: it takes pages of the root, makes those of the reference, and mends links."""

from __future__ import annotations

import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site.links import ROOT_PAGES, link_pages

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str | None = PROJECT.get("urls", {}).get("Repository")
SOURCES = {site: source for source, site in ROOT_PAGES.items()}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not in `docs`."""
    for source, site in ROOT_PAGES.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links of the names of pages, and of links that lead out of the site."""
    path = page.file.src_uri
    pages = frozenset(file.src_uri for file in files.documentation_pages())
    blob = None if REPOSITORY is None else f"{REPOSITORY}/blob/main"
    return link_pages(markdown, SOURCES.get(path, f"docs/{path}"), pages, blob)
