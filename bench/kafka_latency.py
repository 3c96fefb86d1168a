#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the time from a message of Kafka to a served model that has trained on it.

    kafka_latency.py [--rate 1000] [--seconds 60] [--every 5] [--partitions 4] [--interval 0.5]

Sends synthetic clicks to a topic at a constant rate. One trainer reads the topic without end and
saves a delta every few seconds. pdl-serve loads each of them. A message counts as served when
pdl-serve reports a model with at least as many steps as are needed for it. The brokers are those of
librdkafka's mock cluster, so the result says nothing about the speed of a real broker. Prints p50,
p99 and the maximum in seconds: of the time from a message until a checkpoint that has it is
complete, from there until pdl-serve has loaded that checkpoint, and of both. Also prints the load
of the machine.
"""

import argparse
import http.client
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "integration_test" / "support"))

import made_up_clicks
from kafka_brokers import Brokers
from programs import PDL_SERVE, PDL_TRANSLATE, model, run

BATCH = 50


def send_clicks(brokers, flags, sent):
    """Sends lines at a constant rate, and appends the time of each to `sent`."""
    draw = random.Random(1)
    begin = time.monotonic()
    for i in range(int(flags.rate * flags.seconds)):
        line = made_up_clicks.click_line(draw)
        due = begin + i / flags.rate
        while (now := time.monotonic()) < due:
            time.sleep(due - now)
        brokers.send("clicks", i % flags.partitions, line)
        sent.append(time.monotonic())


def served_steps(port):
    """Returns the number of steps of the served model; 0 if there is none yet."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
    except OSError:
        return 0
    found = re.search(r"^pdl_serve_model_steps\{.*\} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def watch_growth(ends, count, seen):
    """Appends the time and the steps to `seen` whenever `count()`, a number of steps, grows."""
    while not ends.wait(0.02):
        steps = count()
        if steps and (not seen or seen[-1][1] < steps):
            seen.append((time.monotonic(), steps))


def saved_steps(folder):
    """Returns the number of steps of the newest complete checkpoint, or 0."""
    return max((int(path.name.split("-")[1]) for path in folder.glob("step-*")
                if path.name.split("-")[1].isdigit()), default=0)


def moments_of(sent, seen):
    """Returns the first moment at which `seen` has the step of each message; None: never."""
    moments, at = [], 0
    for number in range(1, len(sent) + 1):
        while at < len(seen) and seen[at][1] * BATCH < number:
            at += 1
        moments.append(seen[at][0] if at < len(seen) else None)
    return moments


def show(name, seconds):
    seconds = sorted(seconds)
    print(f"{name:28} p50 {seconds[len(seconds) // 2]:6.2f} s, "
          f"p99 {seconds[int(len(seconds) * 0.99)]:6.2f} s, max {seconds[-1]:6.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rate", type=float, default=1000, metavar="MESSAGES/S")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=5, metavar="SECONDS",
                        help="time between two deltas")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--interval", type=float, default=0.5, metavar="SECONDS",
                        help="time after which pdl-serve looks for a new checkpoint")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pdlkafka") as name, Brokers(linger_ms=200) as brokers:
        folder = pathlib.Path(name)
        for output, more in ("out", ()), ("library", ("--emit=library",)):
            run(PDL_TRANSLATE, model("ctr_dnn"), "-o", folder / output, "--numerics=strict", *more)
        served = folder / "served" / "clicks" / "1"
        served.mkdir(parents=True)
        os.link(folder / "library" / "libctr_dnn.so", served / "libctr_dnn.so")
        (served / "checkpoints").symlink_to(folder / "saved")
        brokers.topic("clicks", flags.partitions)
        logs = open(folder / "logs", "w")
        trainer = subprocess.Popen(
            [folder / "out" / "trainer", "train", "--data",
             brokers.address("clicks", "format=tsv", "idle=500ms", "fetch.wait.max.ms=50"),
             "--batch-size", str(BATCH), "--checkpoint", folder / "saved",
             "--checkpoint-minutes", str(flags.every / 60), "--checkpoint-deltas", "50",
             "--checkpoint-keep", "3"],
            stdout=logs, stderr=logs)
        port = 8479
        server = subprocess.Popen([PDL_SERVE, folder / "served", "--http", f"127.0.0.1:{port}",
                                   "--interval", str(flags.interval)], stdout=logs, stderr=logs)
        sent, saved, seen, ends = [], [], [], threading.Event()
        watchers = [threading.Thread(target=watch_growth, args=(ends, count, moments))
                    for count, moments in ((lambda: saved_steps(folder / "saved"), saved),
                                           (lambda: served_steps(port), seen))]
        for watcher in watchers:
            watcher.start()
        try:
            send_clicks(brokers, flags, sent)
            time.sleep(3 * flags.every)
        finally:
            ends.set()
            for watcher in watchers:
                watcher.join()
            for process in trainer, server:
                process.terminate()
                process.wait(60)
        whole = [moments for moments in zip(sent, moments_of(sent, saved), moments_of(sent, seen))
                 if None not in moments]
        if not whole:
            sys.exit("no message was served:\n" + (folder / "logs").read_text())
        print(f"messages {len(sent)}, served {len(whole)}, models {len(seen)}, "
              f"rate {len(sent) / (sent[-1] - sent[0]):.0f}/s, "
              f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        show("message to checkpoint", [complete - begin for begin, complete, _ in whole])
        show("checkpoint to served model", [end - complete for _, complete, end in whole])
        show("message to served model", [end - begin for begin, _, end in whole])


if __name__ == "__main__":
    main()
