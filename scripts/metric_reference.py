#!/usr/bin/env python3
"""Prints docs/Reference/Metrics.md: the metrics of all programs, from their registries.

Usage: metric_reference.py BUILD MODEL

BUILD is the build folder, MODEL the model whose programs are asked. Fails if a declaration breaks
the naming rules of docs/Architecture.md.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

INTRODUCTION = """<!-- Written by scripts/update_docs.sh; do not edit. -->
# Metrics

This page lists the metrics of every program, as `--list-metrics` of the program prints them.
`pdl-serve` reports its metrics at `GET /metrics` ([Serving](../Serving.md#metrics-prometheus)),
trainers and servers at `--metrics-address` ([Monitoring](../Monitoring.md)). They also make their
reports from their metrics, and add all values to the file of `--trace`
([Profiling](../Profiling.md)). Counters end with `_total`. All metrics count from the start of the
process.

| label | values |
|---|---|
| `owner` | the process that holds a part of the state: `server 1`, or `trainer 1` in modes without servers |
| `program` | a program of the model, such as `train` |
| `phase` | a part of a step; [Profiling](../Profiling.md#where-the-time-goes) explains them |
| `outcome` | how a request, a load or a checkpoint has ended |
"""

TYPES = ("counter", "gauge", "histogram")


def metrics_of(program):
    done = subprocess.run([program, "--list-metrics"], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def faults(name, kind, unit, labels, meaning):
    """Yields the naming rules that a declaration breaks."""
    if not re.fullmatch(r"(pdl|process)_[a-z][a-z0-9_]*", name):
        yield "the name needs the form pdl_lower_case, or a common name of Prometheus' clients"
    if name.endswith("_total") != (kind == "counter"):
        yield "counters, and only counters, end with _total"
    if unit in ("seconds", "bytes") and unit not in name.split("_"):
        yield f"the name lacks its unit {unit}"
    if kind not in TYPES:
        yield f"the type {kind} is unknown"
    if any(not re.fullmatch(r"[a-z][a-z_]*", label) or label == "le"
           for label in filter(None, labels.split(","))):
        yield "a label has no valid name"
    if labels.split(",") != sorted(labels.split(",")):
        yield "the labels are not in alphabetical order"
    if not meaning or meaning.endswith("."):
        yield "the help text is missing, or ends with a period"


def cell(text):
    return text.replace("|", "\\|")


def main():
    build, model = map(pathlib.Path, sys.argv[1:])
    found, broken = {}, []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([build / "bin/pdl-translate", model, "--mode=sync", "-o", folder],
                       check=True, capture_output=True)
        for program in (pathlib.Path(folder, "trainer"), pathlib.Path(folder, "pserver"),
                        build / "bin/pdl-serve"):
            for name, *rest in metrics_of(program):
                known, programs = found.setdefault(name, (rest, []))
                if known != rest:
                    broken.append(f"{name}: is declared twice")
                programs.append(program.name)
    for name, (rest, _) in found.items():
        broken += [f"{name}: {fault}" for fault in faults(name, *rest)]
    if broken:
        sys.exit("\n".join(broken))
    print(INTRODUCTION)
    print("| Name | Type | Unit | Labels | Meaning | Programs |\n|---|---|---|---|---|---|")
    for name, ((kind, unit, labels, meaning), programs) in sorted(found.items()):
        names = ", ".join(f"`{label}`" for label in labels.split(",") if label)
        print(f"| `{name}` | {kind} | {unit} | {names} | {cell(meaning)} | {', '.join(programs)} |")


if __name__ == "__main__":
    main()
