# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Monitoring endpoints of trainers and servers: metrics, health and readiness. prometheus_test.py
scrapes them."""

import json
import pathlib
import re
import signal
import socket
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster, Process
from folders import SharedFolderTest
from metric_text import get, parse, value_of
from programs import ADULT, BUILD, PDL_TRANSLATE, fails, run
from small_model import LOSS, METRICS, OBSERVATIONS, small_model
from waiting import wait_until

ENDPOINT = re.compile(r"metrics at (\S+)\n")


def observed_model():
    """Returns the small model, whose training observes metrics."""
    text = small_model("@adam", clip=False, decay=False, warm_up=False)
    return text.replace("  nn.program @train", METRICS + "  nn.program @train").replace(
        LOSS, LOSS + OBSERVATIONS)


class Monitoring(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = cls.root / "small.mlir"
        cls.model.write_text(observed_model())
        cls.sync = cls.root / "sync"
        run(PDL_TRANSLATE, cls.model, "--mode=sync", "-o", cls.sync)

    def endpoint(self, process):
        """Returns the address that the log of a process names."""
        return wait_until(lambda: ENDPOINT.search(process.output), said=lambda: process.output)[1]

    def metrics(self, address):
        status, text = get(address, "/metrics")
        self.assertEqual(status, 200)
        return parse(text)

    def test_a_job(self):
        """A job that waits says for whom. A job that trains is ready, and its metrics advance."""
        monitored = ["--metrics-address", "127.0.0.1:0"]
        saved = self.root / "saved"
        cluster = Cluster(self.sync, 2, 1, [
            "--data", ADULT, "--batch-size", 64, "--epochs", 10**6, "--checkpoint", saved,
            "--checkpoint-steps", 50, *monitored], monitored)
        with cluster:
            server = self.endpoint(cluster.start_server(0))
            first = self.endpoint(cluster.start_trainer(0))
            for address in (server, first):
                self.assertEqual(get(address, "/healthz"), (200, "ok\n"))
                reason = wait_until(
                    lambda: re.search(r"not ready since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ "
                                      r"\(\d+ s\): .*waiting for trainer 1 to join",
                                      get(address, "/readyz")[1]), said=cluster.said)
                self.assertTrue(reason)
                self.assertEqual(get(address, "/readyz")[0], 503)
            self.assertEqual(get(first, "/other")[0], 404)
            second = self.endpoint(cluster.start_trainer(1))
            for address in (server, first, second):
                wait_until(lambda: get(address, "/readyz") == (200, "ready\n"), said=cluster.said)
            self.check_progress(cluster, server, first)
            cluster.trainers[0].popen.send_signal(signal.SIGTERM)
            for process in cluster.processes():
                self.assertIn(process.wait(), (0, 143), cluster.said())

    def check_progress(self, cluster, server, trainer):
        # The first values are those of few samples.
        def trains():
            found = self.metrics(trainer)
            loss, auc = (value_of(found, "pdl_trainer_loss", program="train"),
                         value_of(found, "pdl_trainer_metric", metric="auc"))
            return loss and auc and 0 < loss < 1 and 0.5 < auc <= 1
        wait_until(trains, said=lambda: f"{self.metrics(trainer)}\n{cluster.said()}")
        before, older = self.metrics(trainer), self.metrics(server)
        wait_until(lambda: value_of(self.metrics(server), "pdl_server_steps_total")
                   > value_of(older, "pdl_server_steps_total"), said=cluster.said)
        now = self.metrics(trainer)
        for key, value in before.items():
            if key.partition("{")[0].endswith(("_total", "_bucket", "_count")):
                self.assertGreaterEqual(now[key], value, key)
        self.assertEqual(value_of(now, "pdl_build_info", role="trainer", rank="0", mode="sync",
                                  model="small"), 1)
        self.assertGreater(value_of(now, "pdl_trainer_samples_total", program="train"), 0)
        self.assertGreaterEqual(value_of(now, "pdl_trainer_epoch"), 1)
        self.assertGreater(value_of(now, "process_resident_memory_bytes"), 1 << 20)
        wait_until(lambda: value_of(self.metrics(server), "pdl_table_rows", table="emb"),
                   said=cluster.said)
        saved = wait_until(lambda: value_of(
            self.metrics(server), "pdl_checkpoint_last_success_timestamp_seconds"),
            said=cluster.said)
        self.assertLess(abs(time.time() - saved), 600)

    def test_a_taken_address(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            said = fails(self.sync / "trainer", "train", "--servers", "127.0.0.1:1", "--data",
                         ADULT, "--metrics-address", address, status=None)
            self.assertIn(f"--metrics-address: {address}: Address already in use; give another "
                          "address", said)
            said = fails(self.sync / "pserver", "--rank", "0", "--servers", "127.0.0.1:1",
                         "--metrics-address", address, status=None)
            self.assertIn(f"--metrics-address: {address}: Address already in use", said)

    def test_targets_of_a_launched_job(self):
        targets = self.root / "targets.json"
        job = Process("launcher", [
            BUILD / "bin/pdl-launch", "--unix", "--trainers", 2, "--servers", 1,
            "--metrics-targets", targets, self.sync, "--", "--data", ADULT, "--batch-size", 64,
            "--epochs", 10**6], self.root)
        try:
            wait_until(targets.exists, said=lambda: job.output)
            found = json.loads(targets.read_text())
            self.assertEqual([each["labels"]["process"] for each in found],
                             ["pserver 0", "trainer 0", "trainer 1"])
            for each in found:
                def is_ready():
                    try:
                        return get(each["targets"][0], "/readyz")[0] == 200
                    except OSError:
                        return False
                wait_until(is_ready, said=lambda: job.output)
        finally:
            job.popen.send_signal(signal.SIGTERM)
            try:
                status = job.wait()
            finally:
                job.popen.kill()
        self.assertEqual(status, 143, job.output)
        self.assertFalse(targets.exists())


if __name__ == "__main__":
    unittest.main()
