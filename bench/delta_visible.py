#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how soon the values of a delta are in the responses of a library and of pdl-serve.

    python3 bench/delta_visible.py [--build FOLDER] [--keys N] [--changed N] [--deltas N]

models/ctr_dnn is trained on generated clicks until its table has about --keys rows (10^7 need 3 GB
of memory and 3 GB of the folder for temporary files). Then it is trained a little more, with deltas
of about --changed rows, half of which are new (--checkpoint-deltas). A library and pdl-serve load
the complete checkpoint. pdl-serve examines its folder every half second. Then one delta after the
other is renamed to the served place, while threads send requests without pause. The library is told
by a call of `reload`; pdl-serve finds the delta itself.

Prints the seconds until a response has the new values, and the numbers of responses and of failures
in this time (one failure ends the program with status 1). Prints the latency of requests in these
seconds and otherwise. As limits, prints the time to load the complete checkpoint, and the time to
read a file with the bytes of the delta. At the end, the responses must be those of a library that
loads everything again.
"""

import argparse
import array
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving  # noqa: E402

SLOTS = 26
BATCH = 1000


def lines_of(draw, count):
    """Yields clicks with ids that almost never occurred before."""
    for _ in range(count):
        cells = [str(draw.randrange(2)), *(str(draw.randrange(400)) for _ in range(13)),
                 *(f"{draw.getrandbits(32):08x}" for _ in range(SLOTS))]
        yield "\t".join(cells) + "\n"


def write_data(folder, options):
    """Returns the lines of the complete checkpoint, and the files with the lines of each delta."""
    draw = random.Random(1)
    whole = folder / "whole.tsv"
    count = -(-options.keys // SLOTS // BATCH) * BATCH
    kept = []
    with whole.open("w") as file:
        for line in lines_of(draw, count):
            file.write(line)
            if len(kept) < 100_000:
                kept.append(line)
    changed = -(-options.changed // SLOTS // 8) * 8
    with (folder / "changes.tsv").open("w") as file:
        for _ in range(options.deltas):
            file.writelines(draw.sample(kept, changed // 2))
            file.writelines(lines_of(draw, changed // 2))
    return whole, folder / "changes.tsv", changed // 8


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.stderr}")


def train(folder, options):
    """Trains, and returns the checkpoints in order, the complete one first."""
    whole, changes, batch = write_data(folder, options)
    saved = folder / "saved"
    for data, epochs, flags in ((whole, 1, ["--batch-size", BATCH]),
                                (changes, 2, ["--batch-size", batch, "--checkpoint-steps", "8"])):
        run(folder / "trainer", "train", "--data", data, "--checkpoint", saved, "--resume",
            "--epochs", epochs, "--checkpoint-keep", "0", "--checkpoint-deltas", "1000", *flags)
    return sorted(saved.glob("step-*"))


class Asking:
    """Threads that send requests without pause. `ask()` returns a response, which identifies the
    values."""

    def __init__(self, count, connect):
        self.ends, self.failures = False, []
        self.answers = []  # when it was asked, when answered, what
        self.threads = [threading.Thread(target=self.run, args=(connect,)) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, connect):
        with connect() as ask:
            while not self.ends:
                begin = time.monotonic()
                try:
                    answer = ask()
                except (OSError, http.client.HTTPException, serving.ServingError) as error:
                    self.failures.append(str(error))
                    return
                self.answers.append((begin, time.monotonic(), answer))

    def wait_for_other(self, known, at):
        """Returns the time of the first response, after the first `at`, that is not in `known`."""
        deadline = time.monotonic() + 60
        while not self.failures and time.monotonic() < deadline:
            new = self.answers[at:]
            for _, end, answer in new:
                if answer not in known:
                    known.add(answer)
                    return end
            at += len(new)
            # Polling without a pause would keep the other threads from Python's lock.
            time.sleep(0.005)
        raise SystemExit(f"no answer has the new values: {self.failures}")

    def finish(self):
        self.ends = True
        for thread in self.threads:
            thread.join()


def texts_of(line):
    cells = line.rstrip("\n").split("\t")
    return [float(cell) for cell in cells[1:14]], cells[14:]


def report(name, asking, windows, options):
    def late(times):
        times = sorted(times)
        return (f"p50 {1000 * times[len(times) // 2]:.2f} ms, p99 "
                f"{1000 * times[min(len(times) - 1, int(0.99 * len(times)))]:.2f} ms, most "
                f"{1000 * times[-1]:.1f} ms") if times else "none"

    def within(begin, end):
        return any(begin < to and end > since for since, to in windows)
    inside = [end - begin for begin, end, _ in asking.answers if within(begin, end)]
    outside = [end - begin for begin, end, _ in asking.answers if not within(begin, end)]
    seconds = [to - since for since, to in windows]
    print(f"{name:9} {options.deltas} deltas, seconds until they are in an answer: median "
          f"{statistics.median(seconds):.3f}, {min(seconds):.3f} to {max(seconds):.3f}; "
          f"{len(asking.answers):,} requests, {len(asking.failures)} failed; meanwhile "
          f"{late(inside)}; otherwise {late(outside)}", flush=True)
    if asking.failures:
        raise SystemExit(f"requests failed: {asking.failures[0]}")


def deliver(asking, deltas, folder, tell):
    """Renames one delta after the other to the folder, and waits until it is visible. Returns the
    periods of time."""
    time.sleep(1)
    known = {asking.answers[-1][2]}
    windows = []
    for delta in deltas:
        staged = folder / f".{delta.name}"
        shutil.copytree(delta, staged)
        since, at = time.monotonic(), len(asking.answers)
        staged.rename(folder / delta.name)
        tell()
        windows.append((since, asking.wait_for_other(known, at)))
        time.sleep(0.7)
    asking.finish()
    return windows


def put_whole(checkpoint, folder):
    folder.mkdir(parents=True)
    shutil.copytree(checkpoint, folder / checkpoint.name, copy_function=os.link)
    return folder


def measure_library(options, checkpoints, probe, folder):
    numbers, texts = probe
    inputs = {"numbers": array.array("f", numbers), "categories": [[text] for text in texts]}
    library = serving.Library(folder / "libctr_dnn.so")
    served = put_whole(checkpoints[0], folder / "for_library")
    begin = time.monotonic()
    model = library.open(served)
    print(f"library   {model.state()['rows']:,} rows, the whole checkpoint takes "
          f"{time.monotonic() - begin:.2f} s", flush=True)

    @contextlib.contextmanager
    def connect():
        yield lambda: model.run("predict", inputs)["output0"][0]
    asking = Asking(options.clients, connect)
    windows = deliver(asking, checkpoints[1:], served, lambda: model.reload(served))
    report("library", asking, windows, options)
    fresh = library.open(served).run("predict", inputs)["output0"][0]
    if fresh != model.run("predict", inputs)["output0"][0]:
        raise SystemExit("a library that loads all anew answers something else")
    return fresh


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("unix", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def measure_server(options, checkpoints, probe, folder, expected):
    numbers, texts = probe
    body = json.dumps({"inputs": [
        {"name": "numbers", "datatype": "FP32", "shape": [1, 13], "data": numbers},
        {"name": "categories", "datatype": "BYTES", "shape": [1, SLOTS], "data": texts}]})
    version = folder / "models" / "ctr" / "1"
    served = put_whole(checkpoints[0], version / "checkpoints")
    shutil.copy(folder / "libctr_dnn.so", version)
    for beside in folder.glob("*.so.*"):
        shutil.copy(beside, version)
    path = folder / "socket"
    with subprocess.Popen([options.build / "bin" / "pdl-serve", folder / "models", "--http",
                           f"unix:{path}"], stderr=subprocess.DEVNULL) as server:
        try:
            def is_ready():
                connection = Connection(path)
                try:
                    connection.request("GET", "/v2/health/ready")
                    return connection.getresponse().status == 200
                except OSError:
                    return False
                finally:
                    connection.close()

            while not is_ready():
                if server.poll() is not None:
                    raise SystemExit("pdl-serve does not come up")
                time.sleep(0.05)

            @contextlib.contextmanager
            def connect():
                connection = Connection(path)

                def ask():
                    connection.request("POST", "/v2/models/ctr/infer", body)
                    answer = connection.getresponse()
                    content = answer.read()
                    if answer.status != 200:
                        raise OSError(content.decode())
                    return json.loads(content)["outputs"][0]["data"][0]
                yield ask
                connection.close()
            asking = Asking(options.clients, connect)
            windows = deliver(asking, checkpoints[1:], served, lambda: None)
            report("pdl-serve", asking, windows, options)
            if array.array("f", [asking.answers[-1][2]])[0] != expected:
                raise SystemExit("the server's last answer is not the library's")
        finally:
            server.terminate()
    if server.returncode:
        raise SystemExit(f"pdl-serve ended with {server.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--keys", type=int, default=2_000_000)
    parser.add_argument("--changed", type=int, default=100_000)
    parser.add_argument("--deltas", type=int, default=8)
    parser.add_argument("--clients", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pdl-deltas-") as name:
        folder = pathlib.Path(name)
        for emit in [], ["--emit=library"]:
            run(options.build / "bin" / "pdl-translate", SOURCE / "models/ctr_dnn/ctr_dnn.mlir",
                "--numerics=strict", *emit, "-o", folder)
        checkpoints = train(folder, options)
        with (folder / "changes.tsv").open() as file:
            probe = texts_of(file.readline())
        files = [path for path in checkpoints[1].iterdir() if path.is_file()]
        begin = time.monotonic()
        size = sum(len(path.read_bytes()) for path in files)
        print(f"a delta has {size / 1e6:.1f} MB, which are read in {time.monotonic() - begin:.3f} s",
              flush=True)
        expected = measure_library(options, checkpoints, probe, folder)
        measure_server(options, checkpoints, probe, folder, expected)


if __name__ == "__main__":
    main()
