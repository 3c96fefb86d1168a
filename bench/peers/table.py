# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of bench/PEERS.md: a section for each row, which a run replaces."""

import datetime
import os
import re

HEAD = """# Peers

What our programs do beside those of others, by `python3 bench/peers.py`, whose text says how
it is measured. Ours / peer is the median of ratios of the same round, with the least and the
largest. A goal that is missed stays here with the reason.
"""


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    load = os.getloadavg()[0]
    return (f"{datetime.date.today():%d %B %Y}, {found[1] if found else 'unknown CPU'}, "
            f"{os.cpu_count()} virtual cores, load {load:.1f} when it began")


def section(name, row, lines):
    out = [f"## {name}", "", f"{row.WHAT}", "", f"Goal: {row.GOAL}.", "",
           f"{machine()}.", "", "| | ours | best peer | ours / peer | goal |",
           "|---|---|---|---|---|"]
    out += [line.markdown() for line in lines]
    if row.REASON:
        out += ["", row.REASON]
    return "\n".join(out) + "\n"


def keep(path, name, rows, lines):
    """Puts the row into the file, in the order of the rows."""
    kept = {}
    if path.exists():
        for part in path.read_text().split("\n## ")[1:]:
            kept[part.split("\n", maxsplit=1)[0]] = "## " + part.rstrip("\n") + "\n"
    kept[name] = section(name, rows[name], lines)
    path.write_text("\n".join([HEAD] + [kept[n] for n in rows if n in kept]))
