# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of the tests of mode sync: one model is translated for one process and for a
cluster, and both results are compared bit for bit."""

import concurrent.futures
import os

from cluster import Cluster
from folders import FolderTest
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, run

STEPS = 200
# Numbers of trainers and servers. Each trainer has two workers.
TOPOLOGIES = [(1, 1), (2, 1), (2, 2), (2, 3)]
RATES = {"@sgd": "0.05", "@momentum": "0.01", "@adagrad": "0.05",
         "@adam": "0.002", "@ftrl": "0.05"}


def options_text(clip="", decay="", warm_up=False):
    """Returns the options of a group after its rule and rate. `clip`: the name of a clip. `decay`:
    the strength of a regularizer. `warm_up`: true if the rate has a schedule."""
    options = []
    if warm_up:
        options.append("schedule(@warm_up {steps = 50.0})")
    if decay:
        options.append(f"decay(#nn.l2<{decay}>)")
    if clip:
        options.append(f"clip(@{clip})")
    return " ".join(options)


class SyncComparison(FolderTest):
    """Compares a job with one process. Programs and results are in the folder `root`, which a test
    may change."""

    def translate(self, source, *flags, blocks=("--min-block-elements=1024",
                                                "--target-block-bytes=16384")):
        for mode, units in (("local", ()), ("sync", blocks)):
            run(PDL_TRANSLATE, source, "-o", self.root / mode,
                "--numerics=strict", f"--mode={mode}", *flags, *units)

    def flags(self, data, name, steps=STEPS):
        return [*data, "--seed", 7, "--shuffle-window", 1000, "--steps", steps,
                "--log-losses", self.root / f"{name}.losses",
                "--checkpoint", self.root / f"{name}.saved"]

    def metrics(self, output):
        lines = [line for line in output.splitlines()
                 if line.startswith("train ")]
        self.assertTrue(lines, output)
        return lines

    def train_local(self, data, trainers):
        """Trains in one process with the replicas of `trainers` trainers. Returns the metrics."""
        name = f"local{trainers}"
        done = run(self.root / "local" / "trainer", "train",
                   *self.flags(data, name), "--replicas", f"{trainers}x2")
        losses = (self.root / f"{name}.losses").read_text()
        self.assertEqual(len(losses.split()), STEPS)
        return self.metrics(done.stdout)

    def train_cluster(self, data, trainers, servers):
        """Trains in a cluster. Returns the metrics that each trainer reports."""
        with Cluster(self.root / "sync", trainers, servers,
                     [*self.flags(data, f"{trainers}x{servers}"),
                      "--replicas", "1x2"], ["--seed", 7]) as cluster:
            outputs = cluster.start().finish()
        return [self.metrics(output) for output in outputs]

    def check(self, data, topologies):
        """Compares losses, metrics, and the values and slots after all steps. Jobs run
        concurrently: one job for every two cores."""
        counts = sorted({trainers for trainers, _ in topologies})
        with concurrent.futures.ThreadPoolExecutor(
                max(1, (os.cpu_count() or 1) // 2)) as pool:
            local = {count: pool.submit(self.train_local, data, count)
                     for count in counts}
            clusters = {topology: pool.submit(self.train_cluster, data,
                                              *topology)
                        for topology in topologies}
        for (trainers, servers), cluster in clusters.items():
            one, name = f"local{trainers}", f"{trainers}x{servers}"
            metrics = local[trainers].result()
            for own in cluster.result():
                self.assertEqual(own, metrics, name)
            # All trainers write to the same file, so this compares the losses of each of them.
            self.assertEqual((self.root / f"{name}.losses").read_text(),
                             (self.root / f"{one}.losses").read_text(), name)
            run(PDL_CHECKPOINT, "diff", self.root / f"{one}.saved",
                self.root / f"{name}.saved")
        # Other numbers of replicas give other results, so the comparison is meaningful.
        texts = {(self.root / f"local{count}.losses").read_text()
                 for count in counts}
        self.assertEqual(len(texts), len(counts))
