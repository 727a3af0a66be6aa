"""What MkDocs does beside its plugins: it takes pages of the root, makes those of the reference, and mends links."""

from __future__ import annotations

import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site.broken_links import find_broken_links
from docs.site.links import ROOT_PAGES, link_pages
from docs.site.markdown import adapt_markdown
from docs.site.notebooks import write_notebook_page
from docs.site.reference import extension_path, write_pages
from substrait_dsl.catalog.standard import standard_extensions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str | None = PROJECT.get("urls", {}).get("Repository")
NOTEBOOKS = {f"notebooks/{path.stem}.md": path for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))}
SOURCES = {site: source for source, site in ROOT_PAGES.items()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of the extensions to the navigation, behind the page of all functions."""
    (functions,) = [
        each["Functions"]
        for section in config.nav or ()
        if isinstance(section, dict)
        for each in section.get("Reference", ())
        if isinstance(each, dict) and "Functions" in each
    ]
    functions += map(extension_path, standard_extensions())
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the root, of the reference and of notebooks."""
    for source, site in ROOT_PAGES.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "assets/site.css", abs_src_path=str(Path(__file__).with_name("site.css"))))
    notebooks = ((site, write_notebook_page(path.read_text(encoding="utf-8"))) for site, path in NOTEBOOKS.items())
    for site, text in (*write_pages(), *notebooks):
        files.append(File.generated(config, site, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Bring a page to the Markdown of the site, with links between its pages."""
    path = page.file.src_uri
    pages = frozenset(file.src_uri for file in files)
    blob = None if REPOSITORY is None else f"{REPOSITORY}/blob/main"
    return link_pages(adapt_markdown(markdown), SOURCES.get(path, f"docs/{path}"), pages, blob)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Refuse a site in which an address leads nowhere, also of those that plugins and the theme have written."""
    broken = [*find_broken_links(Path(config.site_dir))]
    if broken:
        raise PluginError("\n".join(broken))
