# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debian's Prometheus, as a peer of PDL: programs, a running server, and queries to it."""

import fcntl
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.parse

from metric_text import get
from programs import BUILD
from waiting import LONG, wait_until

FOLDER = BUILD / "test_packages" / "prometheus"
# Without a mirror, a test is skipped soon.
APT_OPTIONS = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10",
               "-o", "Acquire::Retries=0"]


def unpack():
    """Downloads Debian's package and unpacks it into the build folder. Needs no rights, and
    installs no service. Tests that run concurrently wait for each other."""
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    found = FOLDER / "usr/bin"
    with open(FOLDER.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (found / "promtool").exists():
            # A test that is killed must not leave a part of the package in FOLDER.
            with tempfile.TemporaryDirectory(dir=FOLDER.parent) as folder:
                subprocess.run(["apt-get", *APT_OPTIONS, "download", "prometheus"], cwd=folder,
                               check=True, capture_output=True, timeout=300)
                package, = pathlib.Path(folder).glob("prometheus_*.deb")
                whole = pathlib.Path(folder) / "whole"
                subprocess.run(["dpkg-deb", "-x", package, whole], check=True,
                               capture_output=True)
                shutil.rmtree(FOLDER, ignore_errors=True)
                whole.rename(FOLDER)
    return found


def require(name):
    """Returns the path of `prometheus` or `promtool`. Skips the test if it is neither installed nor
    can be downloaded."""
    found = shutil.which(name)
    if found:
        return pathlib.Path(found)
    try:
        return unpack() / name
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise unittest.SkipTest(
            f"{name} cannot be downloaded ({error}); install Debian's package prometheus") from error


class Prometheus:
    """A running Prometheus. `config`: its file. Data and log are written to the same folder."""

    def __init__(self, config):
        self.config = config
        self.log = config.parent / "prometheus.log"
        self.program = require("prometheus")
        self.start()

    def start(self):
        """Starts the server on a free port."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.program, f"--config.file={self.config}",
                 f"--storage.tsdb.path={self.config.parent}/data",
                 f"--web.listen-address={self.address}"], stdout=log, stderr=log)

    def __enter__(self):
        try:
            for _ in range(4):
                wait_until(lambda: self.is_ready() or self.has_ended(), said=self.log.read_text)
                if not self.has_ended():
                    return self
                # Another process may have taken the port before.
                self.start()
            wait_until(self.is_ready, said=self.log.read_text)
        except BaseException:
            self.stop()
            raise
        return self

    def has_ended(self):
        return self.process.poll() is not None

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.terminate()
        self.process.wait(LONG)

    def is_ready(self):
        try:
            return get(self.address, "/-/ready")[0] == 200
        except OSError:
            return False

    def api(self, path, **parameters):
        """Returns the data of a response of the HTTP API."""
        status, text = get(self.address, f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        found = json.loads(text)
        if status != 200 or found["status"] != "success":
            raise AssertionError(f"{path} {parameters}: {text}")
        return found["data"]

    def query(self, expression):
        """Returns the current values of an expression, as pairs of labels and value."""
        return [(each["metric"], float(each["value"][1]))
                for each in self.api("query", query=expression)["result"]]

    def values(self, expression):
        return sorted(value for _, value in self.query(expression))

    def wait_for(self, expression, holds):
        """Waits until `holds` is true for the values of an expression, and returns them."""
        def found():
            values = self.values(expression)
            return values if values and holds(values) else None
        return wait_until(found, said=lambda: f"{expression}: {self.values(expression)}\n"
                                              f"{self.log.read_text()}", pause=0.2)
