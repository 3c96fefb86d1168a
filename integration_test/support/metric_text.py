# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strict parser of Prometheus' text format, and requests to monitoring endpoints."""

import math
import re
import urllib.error
import urllib.request

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}


def get(address, path):
    """Returns status and text of a page."""
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def parse(text):
    """Returns the values by name with labels. Fails if the text breaks the format.

    Each family has one HELP and one TYPE line before its samples, and its samples are together. No
    sample occurs twice. Counters end with _total. Buckets are cumulative."""
    if not text.endswith("\n"):
        raise AssertionError("the last line has no end")
    values, types, family = {}, {}, None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("# HELP "):
            family, _, meaning = line[7:].partition(" ")
            if family in types or not meaning:
                raise AssertionError(f"HELP is repeated or empty: {line}")
            continue
        if line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            if name != family or lines[number - 1][:7] != "# HELP ":
                raise AssertionError(f"no HELP precedes: {line}")
            if (kind == "counter") != name.endswith("_total"):
                raise AssertionError(f"only counters end with _total: {line}")
            types[name] = kind
            continue
        found = SAMPLE.fullmatch(line)
        if not found:
            raise AssertionError(f"the line is no sample: {line!r}")
        name = found[1]
        names = [family + suffix for suffix in SUFFIXES.get(types[family], ("",))]
        if name not in names:
            raise AssertionError(f"a sample of another family follows {family}: {line}")
        key = line[:line.rindex(" ")]
        if key in values:
            raise AssertionError(f"the sample occurs twice: {key}")
        values[key] = float(found[3].replace("Inf", "inf"))
    check_buckets(values)
    return values


def check_buckets(values):
    last = {}
    for key, value in values.items():
        found = re.fullmatch(r'(.*)_bucket\{(.*)le="([^"]*)"\}', key)
        if not found:
            continue
        series, bound = found[1] + "{" + found[2], float(found[3].replace("Inf", "inf"))
        before = last.get(series, (-math.inf, 0))
        if bound <= before[0] or value < before[1]:
            raise AssertionError(f"buckets are not ascending: {key}")
        last[series] = bound, value
    if any(bound != math.inf for bound, _ in last.values()):
        raise AssertionError("a histogram has no bucket of all values")


def value_of(values, name, **labels):
    """Returns the sum of all samples with these labels; None if there are none."""
    found = [value for key, value in values.items()
             if key.partition("{")[0] == name
             and all(f'{label}="{text}"' in key for label, text in labels.items())]
    return sum(found) if found else None
