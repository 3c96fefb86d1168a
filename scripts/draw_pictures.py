#!/usr/bin/env python3
"""Draws the pictures of docs/pictures: NAME.svg from NAME.d2, for each.

Usage: draw_pictures.py [--check]

--check draws nothing, and fails if a picture differs from what its source gives. Needs the
virtual environment of build_site.py, which has D2.
"""

import pathlib
import subprocess
import sys
import tempfile

import build_site

PICTURES = build_site.ROOT / "docs" / "pictures"


def draw(source, picture):
    subprocess.run([build_site.VENV / "bin" / "d2", "--layout=dagre", "--theme=0", "--pad=20",
                    source, picture], check=True, capture_output=True)
    picture.chmod(0o644)


def main():
    build_site.install()
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for source in sorted(PICTURES.glob("*.d2")):
        picture = source.with_suffix(".svg")
        if not check:
            draw(source, picture)
            continue
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / picture.name
            draw(source, copy)
            if not picture.exists() or copy.read_bytes() != picture.read_bytes():
                stale.append(picture.name)
    if stale:
        sys.exit(f"{', '.join(stale)}: not what the source gives; run scripts/draw_pictures.py")


if __name__ == "__main__":
    main()
