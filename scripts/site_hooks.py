"""Hooks of MkDocs (mkdocs.yml): folders in the navigation and in links, and notes of code blocks.

In the repository, a link to a folder shows the folder's README. MkDocs knows only files.
"""

import pathlib
import posixpath
import re

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(?ms)^(```.*?^```$)")
# Notes for tests in the first line of a block. With such a note MkDocs would not see a block.
NOTE = re.compile(r"\A```(\w+) ([^\n]*)")


def without_note(block):
    """Returns a code block without its note for tests. A path becomes the title of the block."""
    def plain(found):
        language, note = found.groups()
        is_path = re.fullmatch(r"[\w./@-]*[./][\w./@-]*", note)
        return f'```{language} title="{note}"' if is_path else f"```{language}"

    return NOTE.sub(plain, block)


def pages_below(root, folder):
    """Returns the pages of a folder, its README first."""
    found = sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*.md"))
    return sorted(found, key=lambda path: (path.count("/"), not path.endswith("/README.md")))


def expanded(root, nav):
    """Returns a navigation in which each entry that ends with "/" is the list of its pages."""
    if isinstance(nav, list):
        return [expanded(root, entry) for entry in nav]
    if isinstance(nav, dict):
        return {title: expanded(root, entry) for title, entry in nav.items()}
    return pages_below(root, nav) if nav.endswith("/") else nav


def on_config(config):
    config.nav = expanded(pathlib.Path(config.docs_dir), config.nav)
    return config


def on_page_markdown(markdown, page, config, files):
    """Points links to folders at the first page of the folder, and removes notes of blocks."""
    root = pathlib.Path(config.docs_dir)
    here = posixpath.dirname(page.file.src_uri)

    def redirect(found):
        text, target, anchor = found.group(1), found.group(2), found.group(3) or ""
        if "://" in target:
            return found.group(0)
        path = posixpath.normpath(posixpath.join(here, target))
        if not (root / path).is_dir():
            return found.group(0)
        first = posixpath.relpath(pages_below(root, path)[0], here or ".")
        return f"[{text}]({first}{anchor})"

    parts = FENCE.split(markdown)
    return "".join(without_note(part) if part.startswith("```") else LINK.sub(redirect, part)
                   for part in parts)
