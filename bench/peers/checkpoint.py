# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures checkpoints of CTR-DNN: how fast they are written and read, how long training pauses for
one, and how much memory they need.

A checkpoint of many keys is written once. From it, trainers do a few more steps of one row each, so
that almost all time is for saves: once with a save after each step, once with one save. The
difference is the time of saves, because each save waits for the previous one. A trace of a training
of two passes, with a save in the second one, shows how long steps pause for it, and how many steps
are done while it is written. A trainer that resumes when nothing is left to train shows the time of
reading. These times are compared with files of as many bytes that Python writes and flushes, or
reads, which are the limits of the disk and of the system's cache."""

import json
import operator
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from .click import model, write_tensors
from .contest import Failed, Line

PIECE = 1 << 20
STEPS = 5


class Judged(Line):
    """A line whose goal is not a minimum ratio. Compares `figure`, which is "ours" or "ratio", with
    the goal as `compare` says."""

    def __init__(self, what, unit, figure, compare, goal):
        super().__init__(what, unit)
        self.figure, self.compare, self.bound = figure, compare, goal

    def cells(self):
        cells = super().cells()
        middle = statistics.median(self.ours if self.figure == "ours" else self.ratios())
        sign = ">=" if self.compare is operator.ge else "<="
        verdict = "met" if self.compare(middle, self.bound) else "missed"
        cells[-1] = f"{self.figure} {sign} {self.bound:,}: {verdict}"
        return cells


def spent(command):
    """Returns wall-clock seconds, CPU time, and the peak memory in MB of a command on one core."""
    core = str(min(os.sched_getaffinity(0)))
    with tempfile.TemporaryFile("w+") as said:
        start = time.monotonic()
        process = subprocess.Popen(["taskset", "-c", core, *map(str, command)],
                                   stdout=said, stderr=said)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        clock = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise Failed(f"{' '.join(map(str, command))}: {said.read()[-2000:]}")
    return clock, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def newest(folder):
    """Returns the files of the newest checkpoint."""
    return [path for path in max(folder.iterdir()).iterdir() if path.is_file()]


def write_file(path, size):
    piece = os.urandom(PIECE)
    start = time.monotonic()
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // PIECE):
            file.write(piece)
        os.fsync(file.fileno())
    return time.monotonic() - start


def read_files(paths):
    piece = bytearray(PIECE)
    start = time.monotonic()
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(piece):
                pass
    return time.monotonic() - start


def beside(path):
    """Returns, from a trace, how many milliseconds steps paused for a save, and how many steps per
    second were done in the same pass while parts were written, and while none were."""
    events = json.loads(path.read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events
             if event["ph"] == "M" and event["name"] == "thread_name"}

    def spans(name, thread):
        return sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                      if event["name"] == name and names[event["tid"]] == thread)
    saves, parts = spans("checkpoint", "main"), spans("save part", "save")
    # The save after the first pass, that in the second one, and the last one.
    (begin, stop), end = saves[1], saves[2][0]
    written = max(last for first, last in parts if begin <= first < end)
    steps = [first for first, _ in spans("forward/backward", "main") if first > stop]
    if written >= steps[-1]:
        raise Failed("no step was left behind the save")
    while_written = sum(first < written for first in steps)
    idle = len(steps) - while_written
    return ((stop - begin) / 1e3, while_written * 1e6 / (written - stop),
            idle * 1e6 / (steps[-1] - written))


class Checkpoints:
    WHAT = ("Checkpoints of CTR-DNN with 13 ids per row that occur only once, including Adam's "
            "slots, one thread, in MB/s. Reading verifies the checksums and inserts the keys. The "
            "files of the checkpoint are in the system's cache.")
    GOAL = (">= 1000 MB/s each by wall clock; training stops for < 1 s; memory within 10 % of a "
            "trainer that saves nothing")
    REASON = ("One thread creates the parts, while another one writes them to the disk, bypassing "
              "the system's cache. On one core, creating the parts takes most of the time.")

    @staticmethod
    def measure(context):
        rows = 20_000 if context.quick else 80_000
        data = write_tensors(context.folder / "saved.safetensors", rows, 1 << 36)
        few = write_tensors(context.folder / "few.safetensors", STEPS, 1 << 36)
        trainer = context.translate(model(), "saved")
        first = context.folder / "first"
        train = [trainer, "train", "--threads", 1]
        whole = [*train, "--data", data, "--batch-size", 1000]
        saved = [*whole, "--checkpoint", first]
        spent(saved)
        files = newest(first)
        size = sum(path.stat().st_size for path in files)
        megabytes = size / 1e6

        writing = Judged(f"write {megabytes:.0f} MB", "MB/s", "ours", operator.ge, 1000)
        write_cpu = Judged("write, by CPU time", "MB/s", "ours", operator.ge, 1000)
        stops = Judged("training stops for a save", "ms", "ours", operator.le, 1000)
        steps = Judged("steps while one is written, of one core", "steps/s", "ratio", operator.ge,
                       0.5)
        reading = Judged("read", "MB/s", "ours", operator.ge, 1000)
        read_cpu = Judged("read, by CPU time", "MB/s", "ours", operator.ge, 1000)
        write_peak = Judged("peak memory of a trainer that saves", "MB", "ratio", operator.le, 1.1)
        read_peak = Judged("peak memory of a trainer that resumes", "MB", "ratio", operator.le, 1.1)

        def go_on(*flags):
            """Resumes from a copy of the first checkpoint, and does a step for each of the few
            rows."""
            copy = context.folder / "copy"
            shutil.copytree(first, copy)
            try:
                return spent([*train, "--data", few, "--batch-size", 1, "--epochs", 2,
                              "--checkpoint", copy, "--resume", *flags])
            finally:
                shutil.rmtree(copy)

        trace = context.folder / "trace.json"
        # A third of the second pass is done then.
        passes = [*whole, "--checkpoint", context.folder / "passes", "--epochs", 2,
                  "--checkpoint-steps", rows // 1000 * 4 // 3, "--trace", trace]

        for _ in range(context.rounds):
            spent(passes)
            shutil.rmtree(context.folder / "passes")
            pause, busy, idle = beside(trace)
            steps.add(busy, idle=idle)
            often, once = go_on("--checkpoint-steps", 1), go_on()
            clock, cpu = ((often[i] - once[i]) / (STEPS - 1) for i in range(2))
            flat = write_file(context.folder / "flat", size)
            writing.add(megabytes / clock, a_plain_file=megabytes / flat)
            write_cpu.add(megabytes / cpu, a_plain_file_by_wall_clock=megabytes / flat)
            stops.add(pause, a_plain_file=1000 * flat)
            start = spent([*train, "--data", few, "--steps", 0])
            resumed = spent([*saved, "--resume"])
            plain = read_files(files)
            reading.add(megabytes / (resumed[0] - start[0]), plain_files=megabytes / plain)
            read_cpu.add(megabytes / (resumed[1] - start[1]),
                         plain_files_by_wall_clock=megabytes / plain)
            without = spent(whole)[2]
            shutil.rmtree(first)
            write_peak.add(spent([*saved, "--checkpoint-steps", rows // 2000])[2],
                           without_checkpoints=without)
            files = newest(first)
            read_peak.add(resumed[2], without_checkpoints=without)
        return [writing, write_cpu, stops, steps, reading, read_cpu, write_peak, read_peak]
