# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bench/modes.md by sections. Sections that were not measured stay."""

import os
import platform
import re
import statistics
import textwrap
import time

HEAD = """# Modes compared

This page compares the distributed modes by model quality, throughput, traffic and staleness. It is
for users who choose a mode ([docs/Modes.md](../docs/Modes.md)). [modes.py](modes.py) measures all
figures and writes this page. [modes/settings.py](modes/settings.py) contains the settings of each
mode.

| column | meaning |
|---|---|
| difference from local | of the test score, compared with local with as many replicas; mean of the seeds, standard error in parentheses |
| of local | throughput relative to local with as many replicas |
| bytes per sample | bytes that trainers send and receive, tests included |
| steps ahead | staleness: number of steps by which a trainer was ahead of the slowest one when it received a response |
| late | gradients that arrived after their round (mode quorum), sum over all seeds |
"""


def machine():
    """Returns the date, the machine and its load."""
    name = "unknown CPU"
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
        name = found[1] if found else name
    return (f"{time.strftime('%d %B %Y')}, {name}, {len(os.sched_getaffinity(0))} cores, "
            f"{platform.system()} {platform.release()}, load {os.getloadavg()[0]:.1f} at the "
            "start. All processes share these cores.")


def sections(text):
    """Returns {heading: text} by headings of the second level; "" is the text before them."""
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def fill(text):
    """Wraps the lines of paragraphs."""
    return "\n".join(
        line if line.startswith(("|", "#", "-")) else
        textwrap.fill(line, 100, break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines())


def write(path, new, order):
    """Replaces sections of the same heading, and appends the others."""
    found = sections(path.read_text()) if path.exists() else {}
    found.pop("", None)
    found.update(new)
    names = [name for name in order if name in found]
    names += [name for name in found if name not in names]
    path.write_text(HEAD + "".join(f"\n## {name}\n\n{fill(found[name].strip())}\n"
                                   for name in names))


def mean_and_error(values):
    """Returns the mean and its standard error (0 for one value)."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return statistics.mean(values), error


def differences(runs, base, name):
    """Returns the differences of the scores, paired by seed."""
    return [run.score(name) - other.score(name) for run, other in zip(runs, base)]


def ahead_text(runs):
    counts = sum((run.ahead for run in runs), start=type(runs[0].ahead)())
    total = sum(counts.values())
    if not total:
        return ""
    mean = sum(ahead * count for ahead, count in counts.items()) / total
    return f"{mean:.1f}, {max(counts)}"


def quality_rows(name, trainers, servers, runs, base, data):
    """Returns one line of a data set's table."""
    score = f"{statistics.mean(run.score(data.score) for run in runs):.4f}"
    # The best of several, because other load only reduces it.
    rate = max(run.rate for run in runs)
    cells = [name, f"{trainers} x {servers}" if servers else str(trainers), score]
    if base is None:
        cells += [""]
    else:
        mean, error = mean_and_error(differences(runs, base, data.score))
        cells += [f"{mean:+.4f}" + (f" ({error:.4f})" if len(runs) > 1 else "")]
    for other in data.also:
        cells += [f"{statistics.mean(run.score(other) for run in runs):.4f}"]
    cells += [f"{rate:,.0f}", "" if base is None else f"{rate / max(r.rate for r in base):.2f}",
              f"{statistics.mean(run.bytes for run in runs):,.0f}" if base else "",
              ahead_text(runs),
              f"{sum(run.late for run in runs)}" if any(run.late for run in runs) else ""]
    return "| " + " | ".join(cells) + " |"


def quality_head(data):
    names = ["mode", "trainers x servers", f"test {data.score}", "difference from local"]
    names += [f"test {other}" for other in data.also]
    names += ["samples/s", "of local", "bytes per sample", "steps ahead: mean, maximum",
              "late"]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)


def network_head():
    names = ["mode", "trainers x servers", "samples/s", "server's link, MB/s",
             "trainer's link, MB/s", "fullest link", "CPU us per sample: trainers, servers",
             "cores in use: all, router", "bottleneck",
             "with a core per process: bottleneck, samples/s"]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)


def network_row(name, trainers, servers, row):
    cells = [name, f"{trainers} x {servers}" if servers else str(trainers), f"{row.rate:,.0f}",
             f"{row.server_links / 1e6:.1f}" if servers else "", f"{row.trainer_links / 1e6:.1f}",
             f"{100 * row.link_share:.0f} %", f"{row.trainer_cpu:.1f}, {row.server_cpu:.1f}",
             f"{100 * row.machine:.0f} %, {row.router:.2f}", row.limit(),
             f"{row.bound}, {row.bound_rate:,.0f}"]
    return "| " + " | ".join(cells) + " |"


def host_head():
    names = ["mode", "trainers x servers", "samples/s", "of one",
             "CPU us per sample: trainers, servers", "busy cores"]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)


def host_row(name, trainers, servers, run, first):
    cells = [name, f"{trainers} x {servers}" if servers else str(trainers), f"{run.rate:,.0f}",
             f"{run.rate / first:.2f}", f"{run.trainer_cpu:.1f}, {run.server_cpu:.1f}",
             f"{1e-6 * run.rate * (run.trainer_cpu + run.server_cpu):.1f}"]
    return "| " + " | ".join(cells) + " |"
