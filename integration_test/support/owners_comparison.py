# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of the modes collective and hybrid, in which trainers own state, with mode local."""

from cluster import Cluster
from programs import ADULT, PDL_TRANSLATE, run
from sync_comparison import SyncComparison

DATA = ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64]
BLOCKS = ("--min-block-elements=1024", "--target-block-bytes=16384")


def mode_of(servers):
    return "hybrid" if servers else "collective"


class OwnersComparison(SyncComparison):
    """Compares jobs in which trainers own state. A topology is a number of trainers and a number
    of servers."""

    def translate(self, source, *flags, blocks=BLOCKS):
        for mode in ("local", "collective", "hybrid"):
            run(PDL_TRANSLATE, source, "-o", self.root / mode,
                "--numerics=strict", f"--mode={mode}", *flags,
                *(blocks if mode != "local" else ()))

    def write(self, text):
        source = self.root / "small.mlir"
        source.write_text(text)
        return source

    def job(self, trainers, servers, flags, server_flags=("--seed", 7)):
        return Cluster(self.root / mode_of(servers), trainers, servers, flags,
                       server_flags, peers=True)

    def train_cluster(self, data, trainers, servers, *more):
        name = f"{trainers}x{servers}"
        with self.job(trainers, servers,
                      [*self.flags(data, name), "--replicas", "1x2", *more]
                      ) as cluster:
            outputs = cluster.start().finish()
        return [self.metrics(output) for output in outputs]
