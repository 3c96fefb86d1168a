# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs trainers and servers of one job, and reads their reports of steps."""

import os
import re
import subprocess
import tempfile
import time

LIMIT = 120


class JobFailed(SystemExit):
    """A process of a job has failed, or the job took too long. The text says which."""


class Said:
    """The figures of one process. `rate`: samples/s (trainers). `traffic`: rows of (messages,
    bytes, bytes). `peak`: the largest memory in bytes. `text`: all output. Milliseconds of a step
    by the name of the part."""

    def __init__(self, text, peak=0):
        self.text, self.peak = text, peak
        rate = re.search(r"\((\d+) samples/s\)", text)
        self.rate = float(rate[1]) if rate else 0.0
        line = re.search(r"a step (took .*)", text)
        self.parts = {name.strip(): float(number) for name, number in re.findall(
            r"([A-Za-z][A-Za-z ]*) ([0-9.]+) ms", line[1] if line else "")}
        # Omits the lines of an epoch that has not ended: "(4 steps".
        steps = re.search(r"(?:trained |: )(\d+) steps", text)
        self.steps = int(steps[1]) if steps else 0
        self.traffic = [tuple(int(n) for n in row) for row in re.findall(
            r"(\d+) messages, (\d+) bytes \w+, (\d+) bytes \w+", text)]


def wait_for(condition, processes, what):
    end = time.monotonic() + 10
    while not condition():
        if time.monotonic() > end or any(p.poll() for p in processes):
            raise JobFailed(f"{what} does not start")
        time.sleep(0.002)


def peak_memory(process):
    """Returns the largest number of bytes of memory that a running process had until now; 0 if it
    has ended. (After the end, the system's figure also counts the program that has started the
    process.)"""
    try:
        with open(f"/proc/{process.pid}/status") as status:
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def wait_and_measure(processes, end, limit):
    """Waits for processes until `end`. Returns the largest memory of each in bytes."""
    peaks = [0] * len(processes)
    while any(process.poll() is None for process in processes):
        for number, process in enumerate(processes):
            peaks[number] = max(peaks[number], peak_memory(process))
        if time.monotonic() > end:
            running = next(p for p in processes if p.poll() is None)
            raise JobFailed(f"{' '.join(running.args)} still runs after {limit} s")
        time.sleep(0.02)
    return peaks


def run_job(servers, trainers, sockets=(), limit=LIMIT):
    """Starts the commands of the servers and, when all `sockets` (paths) exist, those of the
    trainers. Returns the figures of each server and each trainer. The job has `limit` seconds."""
    for socket in sockets:
        socket.unlink(missing_ok=True)
    logs, processes = [], []

    def start(command):
        logs.append(tempfile.TemporaryFile("w+"))
        processes.append(subprocess.Popen([str(word) for word in command],
                                          stdout=logs[-1], stderr=logs[-1]))

    try:
        for command in servers:
            start(command)
        wait_for(lambda: all(s.exists() for s in sockets), processes,
                 "a server")
        for command in trainers:
            start(command)
        end = time.monotonic() + limit
        peaks = wait_and_measure(processes, end, limit)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    texts = []
    for log in logs:
        log.seek(0)
        texts.append(log.read())
        log.close()
    for process, text in zip(processes, texts):
        if process.returncode != 0:
            raise JobFailed(f"{' '.join(process.args)} failed:\n{text}")
    said = [Said(text, peak) for text, peak in zip(texts, peaks)]
    return said[:len(servers)], said[len(servers):]


def load():
    return f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores"
