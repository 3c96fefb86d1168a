# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the monitoring endpoints of a job: /metrics and /readyz of each process."""

import concurrent.futures
import dataclasses
import http.client
import json
import pathlib
import re
import socket
import time

# A process with many tables and owners has some 100 KiB of metrics.
MAX_BYTES = 16 << 20

_SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class TargetsError(Exception):
    """A file of targets that cannot be used."""


class _UnixConnection(http.client.HTTPConnection):
    """An HTTP connection over a unix socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


@dataclasses.dataclass
class Reading:
    """The state of one process at one time."""
    address: str
    # Name in the file of targets, such as "trainer 0"; empty if there is none.
    process: str
    # Time of the clock that never goes back, in seconds.
    at: float
    # True if /metrics had a response.
    is_up: bool
    # Why it is not up, or the lines of /readyz if the process is not ready.
    reasons: list
    # Values by name: pairs of labels and value.
    metrics: dict

    def find(self, name, **labels):
        """Returns the values of all samples with these labels, as pairs of labels and value."""
        return [(have, value) for have, value in self.metrics.get(name, ())
                if all(have.get(label) == text for label, text in labels.items())]

    def sum(self, name, **labels):
        """Returns the sum of all samples with these labels; None if there are none."""
        found = self.find(name, **labels)
        return sum(value for _, value in found) if found else None


def parse_metrics(text):
    """Returns the samples of a text in Prometheus' format by name. Skips other lines."""
    metrics = {}
    for line in text.splitlines():
        found = None if line.startswith("#") else _SAMPLE.fullmatch(line)
        if not found:
            continue
        try:
            value = float(found[3])
        except ValueError:
            continue
        labels = {name: re.sub(r"\\(.)", lambda escaped: {"n": "\n"}.get(escaped[1], escaped[1]),
                               text)
                  for name, text in _LABEL.findall(found[2] or "")}
        metrics.setdefault(found[1], []).append((labels, value))
    return metrics


def _get(address, path, timeout):
    """Returns status and text of a page."""
    if address.startswith("unix:"):
        connection = _UnixConnection(address.removeprefix("unix:"), timeout)
    else:
        connection = http.client.HTTPConnection(address, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read(MAX_BYTES).decode("utf-8", "replace")
    finally:
        connection.close()


def read(address, process, timeout):
    """Reads one endpoint. Does not raise exceptions for a process that does not answer.
    `timeout`: time to wait for each piece of a response, in seconds."""
    try:
        status, text = _get(address, "/metrics", timeout)
        at = time.monotonic()
        if status != 200:
            return Reading(address, process, at, False, [f"/metrics has status {status}"], {})
        metrics = parse_metrics(text)
        status, text = _get(address, "/readyz", timeout)
        reasons = [] if status == 200 else text.splitlines() or [f"/readyz has status {status}"]
        return Reading(address, process, at, True, reasons, metrics)
    except (OSError, http.client.HTTPException, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return Reading(address, process, time.monotonic(), False, [said], {})


def check_address(address):
    """Returns the address. Raises ValueError if it is neither HOST:PORT nor unix:PATH."""
    host, _, port = address.rpartition(":")
    is_port = port.isdecimal() and 0 < int(port) < 65536
    if address.startswith("unix:"):
        if len(address) > len("unix:"):
            return address
    elif host and "/" not in host and is_port:
        return address
    raise ValueError(f"'{address}' is no address; give HOST:PORT or unix:PATH")


def targets_of(path):
    """Returns the addresses in a file of targets, with the names of the processes. A file that does
    not exist has none, because pdl-launch writes it after the start and removes it at the end."""
    try:
        groups = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        return {check_address(address): group.get("labels", {}).get("process", "")
                for group in groups for address in group["targets"]}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise TargetsError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TargetsError(f"{path}: is no file of targets, as pdl-launch --metrics-targets "
                           f"writes it: {error}") from error


class Endpoints:
    """The endpoints of a job. Remembers the addresses of files that have been removed, so that
    processes that have ended are still shown."""

    def __init__(self, addresses, files, timeout):
        self.files, self.timeout = files, timeout
        self.given = dict.fromkeys(addresses, "")
        # The last addresses in each file. A new job replaces those of the one before.
        self.listed = {}

    def read(self):
        """Reads all endpoints at the same time. Returns the readings in the order of addresses."""
        known = dict(self.given)
        for path in self.files:
            self.listed[path] = targets_of(path) or self.listed.get(path, {})
            known.update(self.listed[path])
        if not known:
            return []
        with concurrent.futures.ThreadPoolExecutor(min(32, len(known))) as pool:
            return list(pool.map(read, known, known.values(), [self.timeout] * len(known)))
