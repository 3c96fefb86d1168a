#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures programs on one GPU, models/ctr_dnn (without its clip and its decay) and models/dlrm,
and compares them with PyTorch on the same GPU. Needs PyTorch for GPUs and NumPy.

    python3 bench/gpu.py [build folder] [--device cuda:N] [--batches N[,N]] [--json FILE]

Both sides have the same samples, the same initial values, and Adam. Before the measurement, the
losses of some steps are compared: a peer that does other work ends the run. PDL reads its samples
from a file of tensors, deduplicates ids, and has its rows in tables of the host. Its throughput is
by wall clock, the difference of runs with more and fewer passes. PyTorch has samples and tables in
the memory of the GPU, and uses all variants of bench/peers/torch_gpu.py: eager, compiled, or as a
CUDA graph. The two that were best in the first round continue, and the best one counts. Numerics
strict and fast are compared with f32 products (TF32 is off), compute bf16 with autocast.

Also prints which part of stage compute, by the trainer's report, cuBLASLt would need for the
products of the model alone (torch.mm, with the largest batch). By a trace, which makes a run
slower, prints the share of the time in which nothing runs on the GPU.

--device fake --dry-run tests everything on the host, with few small batches (--batches, --rows,
--most-ids). Its figures have no meaning.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH), str(BENCH / "quality"),
                str(BENCH.parent / "integration_test" / "support")]
from device_jobs import count_gpus  # noqa: E402
from jobs import Said  # noqa: E402
from peers import contest  # noqa: E402
from peers.gpu_work import NAMES, Work  # noqa: E402

# By printed name: flags of pdl-translate, and the type of PyTorch's products.
NUMERICS = {"strict": (("--numerics=strict",), "f32"), "fast": (("--numerics=fast",), "f32"),
            "bf16": (("--numerics=fast", "--compute=bf16"), "bf16")}
# Relative tolerances for the losses of equal steps. Autocast rounds more than the factors.
TOLERANCES = {"f32": 1e-4, "bf16": 2e-2}
STEPS = 10
COLUMNS = ("model", "numerics", "batch", "ours, samples/s", "best peer, samples/s", "ours / peer",
           "compute, ms a step", "cuBLASLt's products, ms", "share", "GPU idle")


class OtherWork(Exception):
    """A peer does other work than PDL."""


def idle_share(trace):
    """Returns the share of the time in which no stream of a device works, from a file of `--trace`.
    Omits the first third, in which some work happens only once. Returns None if the trace has no
    spans of a device."""
    events = trace["traceEvents"]
    # Threads of the host have other names than "GPU 0, NVIDIA H100: compute".
    streams = {event["tid"] for event in events
               if event["name"] == "thread_name" and ": " in event["args"]["name"]}
    spans = sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                   if event["ph"] == "X" and event["tid"] in streams)
    if not spans:
        return None
    last = max(end for _, end in spans)
    first = spans[0][0] + (last - spans[0][0]) / 3
    busy, until = 0, first
    for begin, end in spans:
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    return 1 - busy / (last - first) if last > first else None


def compare_losses(who, found, wanted, tolerance):
    if len(found) != len(wanted) or not wanted[-1] < wanted[0]:
        raise OtherWork(f"{who}: {len(found)} losses {found} beside {len(wanted)} {wanted}")
    for number, (one, other) in enumerate(zip(found, wanted)):
        if not abs(one - other) <= tolerance * abs(other):
            raise OtherWork(f"{who} does other work: the loss of step {number + 1} is {one}, "
                            f"ours {other}")


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.context = contest.Context(options.build, sys.executable, folder, False)
        self.threads = len(os.sched_getaffinity(0))
        facts = self.torch("kinds")
        self.kinds, self.machine = facts["kinds"], {
            "device": facts["device"], "PyTorch": facts["torch"],
            "date": f"{datetime.date.today():%d %B %Y}"}
        # Failures, with their reasons.
        self.failed = {}

    def torch(self, *arguments):
        device = self.options.device if self.options.device.startswith("cuda") else "cpu"
        return contest.peer_rate(self.context, "torch_gpu.py", *arguments, "--device", device,
                                 "--most-ids", self.options.most_ids,
                                 "--seconds", self.options.seconds, threads=self.threads)

    def try_kind(self, name, precision, kind, what, *flags):
        """Returns the output of one kind, or None if it does not run."""
        try:
            return self.torch(what, name, self.data, self.start, "--kind", kind,
                              "--precision", precision, *flags)
        except contest.Failed as error:
            reason = str(error).strip().splitlines()[-1][:200]
            self.failed.setdefault(f"{name}, {precision}, {kind}", reason)
            return None

    def train(self, name, numerics, *flags):
        """Returns the wall-clock seconds of a training, and its output."""
        command = [self.folder / f"{name}.{numerics}" / "trainer", "train", "--data", self.data,
                   "--device", self.options.device, "--threads", self.threads, *flags,
                   *(["--emulate-bf16"] if numerics == "bf16" else [])]
        start = time.monotonic()
        done = contest.run(command, self.threads)
        return time.monotonic() - start, done.stdout + done.stderr

    def our_rate(self, name, numerics, batch):
        """Returns samples per second, and the milliseconds of the parts of a step."""
        flags = ["--batch-size", batch, "--epochs"]
        once, _ = self.train(name, numerics, *flags, 1)
        often, said = self.train(name, numerics, *flags, self.options.passes)
        rate = self.options.rows * (self.options.passes - 1) / max(often - once, 1e-9)
        return rate, Said(said).parts

    def our_idle_share(self, name, numerics, batch):
        path = self.folder / "trace.json"
        self.train(name, numerics, "--batch-size", batch, "--epochs", self.options.passes,
                   "--steps", 3 * STEPS, "--trace", path)
        found = idle_share(json.loads(path.read_text()))
        if found is None:
            print(f"{name}, {numerics}, batch {batch}: no device spans in the trace", flush=True)
        return found

    def check(self, name, batch):
        """Checks that all do the same work, by the losses of steps on one batch from the same
        values. Omits kinds that do not run here."""
        ours = {}
        for numerics in NUMERICS:
            path = self.folder / "losses"
            self.train(name, numerics, "--init-from", self.start, "--rows", f"0:{batch}",
                       "--batch-size", batch, "--epochs", STEPS, "--log-losses", path)
            ours[numerics] = [float(line) for line in path.read_text().split()]
        compare_losses(f"{name}, fast", ours["fast"], ours["strict"], TOLERANCES["f32"])
        compare_losses(f"{name}, bf16", ours["bf16"], ours["strict"], TOLERANCES["bf16"])
        kinds = {}
        for precision, numerics in (("f32", "strict"), ("bf16", "bf16")):
            found = {kind: self.try_kind(name, precision, kind, "losses", "--batch", batch,
                                         "--steps", STEPS) for kind in self.kinds}
            kinds[precision] = [kind for kind, said in found.items() if said]
            if not kinds[precision]:
                raise OtherWork(f"{name}, {precision}: no kind of PyTorch runs: {self.failed}")
            for kind in kinds[precision]:
                compare_losses(f"{name}, PyTorch, {precision}, {kind}", found[kind]["losses"],
                               ours[numerics], TOLERANCES[precision])
        return kinds

    def measure_batch(self, name, batch, kinds):
        """Returns a line for each type of numerics."""
        lines = {numerics: contest.Line(numerics, "samples/s") for numerics in NUMERICS}
        parts = {numerics: [] for numerics in NUMERICS}
        for _ in range(self.options.rounds):
            rates = {}
            for precision, line in (("f32", lines["strict"]), ("bf16", lines["bf16"])):
                found = {kind: self.try_kind(name, precision, kind, "rate", "--batch", batch)
                         for kind in line.still_in(kinds[precision])}
                rates[precision] = {kind: said["rate"] for kind, said in found.items() if said}
            for numerics, (_, precision) in NUMERICS.items():
                rate, said = self.our_rate(name, numerics, batch)
                lines[numerics].add(rate, **rates[precision])
                parts[numerics].append(said)
        return [self.row(name, numerics, batch, lines[numerics], parts[numerics])
                for numerics in NUMERICS]

    def row(self, name, numerics, batch, line, parts):
        median = statistics.median
        row = {"model": name, "numerics": numerics, "batch": batch, "ours": median(line.ours),
               "peers": {kind: median(rates) for kind, rates in line.peers.items()},
               "best peer": None, "ratio": None, "parts": {}, "products": None, "share": None,
               "idle": self.our_idle_share(name, numerics, batch)}
        for part in parts[0]:
            row["parts"][part] = median(said.get(part, 0) for said in parts)
        if line.peers:
            ratios = line.ratios()
            row |= {"best peer": line.best(), "ratio": median(ratios),
                    "least and largest ratio": [min(ratios), max(ratios)]}
        if batch == max(self.options.batches):
            said = self.torch("products", name, "--batch", batch, "--precision",
                              NUMERICS[numerics][1])
            row["products"] = said["milliseconds"]
            if row["parts"].get("compute"):
                row["share"] = row["products"] / row["parts"]["compute"]
        return row

    def measure(self, name):
        work = Work(name, self.options.most_ids)
        self.data = self.folder / f"{name}.safetensors"
        self.start = self.folder / f"{name}.start.safetensors"
        work.write_samples(self.data, self.options.rows)
        work.write_start(self.start)
        source = self.folder / f"{name}.mlir"
        source.write_text(work.text)
        for numerics, (flags, _) in NUMERICS.items():
            contest.run([self.options.build / "bin" / "pdl-translate", source, "--target=cuda",
                         *flags, "-o", self.folder / f"{name}.{numerics}"], self.threads)
        kinds = self.check(name, min(self.options.batches))
        print(f"{name}: equal losses of ours and of PyTorch, f32: {', '.join(kinds['f32'])}; bf16: "
              f"{', '.join(kinds['bf16'])}", flush=True)
        return [row for batch in self.options.batches
                for row in self.measure_batch(name, batch, kinds)]


def table(rows):
    """Returns rows as Markdown. Figures that could not be measured are empty."""
    def text(value, form):
        return "" if value is None else format(value, form)

    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in rows:
        best = row["best peer"]
        peer = f"{row['peers'][best]:,.0f} ({best.replace('_', ' ')})" if best else ""
        cells = [row["model"], row["numerics"], str(row["batch"]), text(row["ours"], ",.0f"), peer,
                 text(row["ratio"], ".2f"), text(row["parts"].get("compute"), ".3f"),
                 text(row["products"], ".3f"), text(row["share"], ".0%"), text(row["idle"], ".0%")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=BENCH.parent / "build")
    parser.add_argument("--device", default="cuda:0", help="cuda:N, or fake with --dry-run")
    parser.add_argument("--models", default=",".join(NAMES), metavar="NAME[,NAME]")
    parser.add_argument("--batches", default="4096,16384,65536", metavar="N[,N]")
    parser.add_argument("--rows", type=int, help="of the samples (default: 16 largest batches)")
    parser.add_argument("--most-ids", type=int, default=1_000_000, help="of the largest slot")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=9, help="of ours over the samples")
    parser.add_argument("--seconds", type=float, default=3, help="of each of PyTorch's runs")
    parser.add_argument("--json", type=pathlib.Path, help="writes all figures here as well")
    parser.add_argument("--dry-run", action="store_true", help="tries everything on the host")
    options = parser.parse_args()
    options.batches = [int(batch) for batch in options.batches.split(",")]
    options.models = options.models.split(",")
    for name in options.models:
        if name not in NAMES:
            parser.error(f"{name} is none of {', '.join(NAMES)}")
    if options.dry_run != (options.device == "fake"):
        parser.error("--dry-run is for --device fake, and --device fake for --dry-run")
    options.rows = options.rows or 16 * max(options.batches)
    if options.rows < max(options.batches) or options.passes < 2:
        parser.error("--rows has to hold one batch, and --passes is 2 at least")
    return options


def missing(options):
    """Returns why nothing can be measured, or None."""
    if not options.dry_run:
        reason = count_gpus()[1]
        if reason:
            return f"there is no GPU to measure on: {reason}"
    probe = "import numpy, torch" + ("" if options.dry_run else
                                     "; assert torch.cuda.is_available()")
    if subprocess.run([sys.executable, "-c", probe], capture_output=True).returncode:
        return ("it compares with PyTorch, and this Python has " +
                ("none; pip install torch numpy" if options.dry_run else
                 "none for this GPU; pip install torch numpy"))
    return None


def main():
    options = parse()
    reason = missing(options)
    if reason:
        sys.exit(f"gpu.py: {reason}")
    with tempfile.TemporaryDirectory(prefix="pdl-gpu-") as folder:
        try:
            bench = Bench(options, pathlib.Path(folder))
            rows = [row for name in options.models for row in bench.measure(name)]
        except (OtherWork, contest.Failed) as error:
            sys.exit(f"gpu.py: {error}")
    print("\n" + table(rows) + "\n")
    figures = json.dumps({"is dry run": options.dry_run, **bench.machine, "rows": rows,
                          "did not run": bench.failed}, indent=1)
    print(figures)
    if options.json:
        options.json.write_text(figures + "\n")
    if options.dry_run:
        print("a dry run: these are no figures of anything")


if __name__ == "__main__":
    main()
