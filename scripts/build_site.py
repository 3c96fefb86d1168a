#!/usr/bin/env python3
"""Builds the documentation site into build/site, and fails if a link is broken.

Usage: build_site.py [--serve]

Installs MkDocs and its theme from PyPI into build/site_venv when they are missing there.
The site consists of the pages that mkdocs.yml names and of all files that they link to.
--serve shows the site on http://127.0.0.1:8000/ instead.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SOURCE = BUILD / "site_source"
VENV = BUILD / "site_venv"
REQUIREMENTS = ROOT / "scripts" / "site_requirements.txt"
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def first_pages():
    """Yields the pages that the navigation names."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    for line in nav.splitlines():
        entry = line.rpartition(" ")[2]
        if entry.endswith(".md"):
            yield ROOT / entry
        elif entry.endswith("/"):
            yield from sorted((ROOT / entry).rglob("*.md"))


def linked(page):
    """Yields the files of the repository that a page links to."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path = (page.parent / target).resolve()
        if path.is_dir():
            path = path / "README.md"
        if path.is_file() and path.is_relative_to(ROOT):
            yield path


def copy_sources():
    """Copies the pages of the site, and the files that they link to, into SOURCE."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    waiting, done = list(first_pages()), set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        copy = SOURCE / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        if path.suffix == ".md":
            waiting.extend(linked(path))


def install():
    """Creates the virtual environment, unless it has the requirements already. If that is
    impossible, ends the process with status 77, for which CMake skips a test."""
    stamp = VENV / "requirements.txt"
    if stamp.exists() and stamp.read_bytes() == REQUIREMENTS.read_bytes():
        return
    BUILD.mkdir(exist_ok=True)
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        venv.create(VENV, with_pip=True)
        subprocess.run([VENV / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check",
                        "-r", REQUIREMENTS], check=True)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"{sys.argv[0]}: MkDocs cannot be installed ({error}); "
              "it needs python3-venv and access to PyPI", file=sys.stderr)
        sys.exit(77)
    shutil.copyfile(REQUIREMENTS, stamp)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help="serve the site instead")
    options = parser.parse_args()
    install()
    copy_sources()
    # The theme would advertise its successor.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = ["serve"] if options.serve else ["build", "--strict"]
    sys.exit(subprocess.run([VENV / "bin" / "mkdocs", *command], cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
