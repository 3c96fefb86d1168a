# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bench/PEERS.md: a summary, and a section for each row, which a run replaces."""

import datetime
import os
import re
import textwrap

HEAD = """# Comparison with other frameworks

This page compares the throughput and memory of PDL with PyTorch, TensorFlow, Vowpal Wabbit and
gensim. It is for readers who choose a framework, and for contributors who tune PDL. `python3
bench/peers.py` measures all figures and writes this page; the docstring of that script describes
the method. The summary lists each setting with our result, the best peer, and the goal. The
sections have the machine, the workload and, for missed goals, a profile.

"Ours / peer" is the median of the ratios of the same round. "Limit" is the share of the limit that
ours reaches, where the row has one. A missed goal stays on this page together with its reason.
"""


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    load = os.getloadavg()[0]
    return (f"{datetime.date.today():%d %B %Y}, {found[1] if found else 'unknown CPU'}, "
            f"{os.cpu_count()} virtual cores, load {load:.1f} at the start")


def fill(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def section(name, row, lines):
    out = [f"## {name}", "", fill(row.WHAT), "", fill(f"Goal: {row.GOAL}."), "",
           f"{machine()}.", "", "| | ours | best peer | ours / peer | goal |",
           "|---|---|---|---|---|"]
    out += [line.markdown() for line in lines]
    if row.REASON:
        out += ["", fill(row.REASON)]
    return "\n".join(out) + "\n"


def summary(sections):
    """Returns one table with the lines of all sections, given as (name, text)."""
    out = ["## Summary", "", "| row | setting | ours | best peer | ours / peer | limit | goal |",
           "|---|---|---|---|---|---|---|"]
    for name, text in sections:
        for what, ours, peer, ratio, goal in re.findall(
                r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.*?) ?\|$", text, flags=re.M):
            limit = re.search(r", (\d+ %) of the limit", ours)
            # The section has the quality that both reach, so the summary omits it.
            what = re.sub(r", log loss .*", "", re.sub(r", WordSim353 .*", "", what))
            out.append(f"| [{name}](#{name}) | {what} | {ours.split(', ')[0]} | {peer} | "
                       f"{ratio.split(' (')[0]} | {limit[1] if limit else ''} | {goal} |")
    return "\n".join(out) + "\n"


def keep(path, name, rows, lines):
    """Replaces the section of a row in the file, and the summary. Keeps the order of rows."""
    kept = {}
    if path.exists():
        for part in path.read_text().split("\n## ")[1:]:
            kept[part.split("\n", maxsplit=1)[0]] = "## " + part.rstrip("\n") + "\n"
    kept[name] = section(name, rows[name], lines)
    write(path, [(n, kept[n]) for n in rows if n in kept])


def write(path, sections):
    path.write_text("\n".join([HEAD, summary(sections)] + [text for _, text in sections]))
