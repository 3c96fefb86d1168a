# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lays out rows as a table of text."""

import math

_ROLES = {"trainer": 1, "server": 2, "": 3}


def count_text(number):
    """Returns a rate or a count, such as 512 or 52.1k."""
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e4):
        if number >= size:
            scale = size if unit != "k" else 1e3
            return f"{number / scale:.1f}{unit}"
    return f"{number:.0f}"


def bytes_text(number):
    """Returns a size, such as 3.4G, with binary units."""
    for unit in "", "K", "M", "G", "T":
        if number < 1024 or unit == "T":
            return f"{number:.0f}" if not unit else f"{number:.1f}{unit}"
        number /= 1024
    raise AssertionError


def age_text(seconds):
    """Returns a duration, such as 45s, 12m or 3.1h."""
    if seconds < 120:
        return f"{seconds:.0f}s"
    return f"{seconds / 60:.0f}m" if seconds < 7200 else f"{seconds / 3600:.1f}h"


def number_text(number):
    """Returns a loss or a metric with four digits after the point, if it is of usual size."""
    if not math.isfinite(number):
        return str(number)
    return f"{number:.4f}" if 1e-3 <= abs(number) < 1e4 or number == 0 else f"{number:.3e}"


def whole_text(number):
    """Returns a whole number with all digits."""
    return f"{number:.0f}"


def metrics_text(metrics):
    """Returns metrics, such as auc=0.7831 mae=0.1200."""
    return " ".join(f"{name}={number_text(value)}" for name, value in sorted(metrics.items()))


# Columns: heading, attribute of a row, and conversion of its value.
COLUMNS = (
    ("process", "name", str),
    ("state", "state", str),
    ("step", "step", whole_text),
    ("epoch", "epoch", whole_text),
    ("samples/s", "samples", count_text),
    ("loss", "loss", number_text),
    ("stale", "staleness", "{:.1f}".format),
    ("queue", "queue", count_text),
    ("sent/s", "sent", bytes_text),
    ("recv/s", "received", bytes_text),
    ("keys", "keys", whole_text),
    ("memory", "memory", bytes_text),
    ("cpu", "cpu", "{:.2f}".format),
    ("saved", "checkpoint", age_text),
    ("metrics", "metrics", metrics_text),
)
HEADINGS = [heading for heading, _, _ in COLUMNS]
_LEFT = {"process", "state", "metrics"}


def sort_rows(rows, heading, is_reversed):
    """Returns the rows in the order of a column: texts ascending, numbers descending, and rows
    without the number last. The column "process" orders by role and rank."""
    [attribute] = [attribute for name, attribute, _ in COLUMNS if name == heading]

    def by_process(row):
        return _ROLES.get(row.role, 0), row.role, row.rank, row.name

    rows = sorted(rows, key=by_process)
    if heading == "process":
        return rows[::-1] if is_reversed else rows
    if heading in _LEFT:
        return sorted(rows, key=lambda row: str(getattr(row, attribute)), reverse=is_reversed)
    known = [row for row in rows if getattr(row, attribute) is not None]
    unknown = [row for row in rows if getattr(row, attribute) is None]
    return sorted(known, key=lambda row: getattr(row, attribute), reverse=not is_reversed) + unknown


def cells_of(row):
    """Returns the texts of a row. A number that the process does not have is "-"."""
    cells = []
    for _, attribute, text in COLUMNS:
        value = getattr(row, attribute)
        cells.append(text(value) if value is not None and value != {} else "-")
    return cells


def lines_of(rows, marked=None):
    """Returns the lines of a table: the headings, and a line for each row. `marked`: the heading
    that gets a star."""
    head = [heading + "*" * (heading == marked) for heading in HEADINGS]
    table = [head, *map(cells_of, rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADINGS))]
    lines = []
    for cells in table:
        padded = [cell.ljust(width) if heading in _LEFT else cell.rjust(width)
                  for cell, width, heading in zip(cells, widths, HEADINGS)]
        lines.append("  ".join(padded).rstrip())
    return lines


def reasons_of(rows):
    """Returns a line for each reason why a process is not ready or does not answer."""
    return [f"{row.name}: {reason}" for row in rows for reason in row.reasons[:3]]
