# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What trainers and servers count is what `pdl-opt --ps-report` predicts: messages
and bytes of a step, to the byte. Real processes over gRPC."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import FolderTest
from programs import PDL_OPT, PDL_TRANSLATE, run
from small_model import small_model

TRAINERS, SERVERS, WORKERS, BATCH = 2, 2, 2, 64
CATEGORIES = 8
# Values of a category; every batch of every worker has all of them.
VALUES = 16
FEW, MANY = 4, 24
BLOCKS = "min-block-elements=1024", "target-block-bytes=16384"
# Modes in which a step is a round, and those whose trainers own state.
ROUNDS = "sync", "collective", "hybrid"
WITH_OWNERS = "collective", "hybrid"


def servers_of(mode):
    return 0 if mode == "collective" else SERVERS


def owners_of(mode):
    """What messages call them, in the order of their numbers."""
    owners = [f"server {rank}" for rank in range(servers_of(mode))]
    if mode in WITH_OWNERS:
        owners += [f"owner in trainer {rank}" for rank in range(TRAINERS)]
    return owners


def write_rows(path):
    """Rows i and i + 1 are alike, whoever reads which, so that the distinct keys
    of a batch are known."""
    with open(path, "w") as file:
        for i in range(TRAINERS * WORKERS * BATCH * (MANY + 1)):
            value = f"v{i // 2 % VALUES}"
            columns = [value] * 15
            for column in (0, 4, 10, 11, 12):
                columns[column] = str(i % 7)
            columns[14] = "<=50K" if i % 3 else ">50K"
            file.write(", ".join(columns) + "\n")


class Costs(FolderTest):

    def setUp(self):
        super().setUp()
        write_rows(self.root / "rows.csv")

    def predict(self, mode, share, more="", on_devices=False):
        """Messages, bytes sent and bytes received, of a trainer's step; in mode geo the
        messages are those of an exchange."""
        placed = run(PDL_OPT, self.root / "small.mlir",
                     f"--pdl-pipeline=to=placed mode={mode} " +
                     " ".join(BLOCKS)).stdout
        report = run(PDL_OPT, f"--ps-report=servers={servers_of(mode)} "
                     f"trainers={TRAINERS} workers={WORKERS} batch-size={BATCH} "
                     f"unique-share={share} {more}", "-o", "/dev/null",
                     input=placed).stdout
        found = re.search(r"in (\d+) messages(?: every \d+ steps)? "
                          r"\((\d+) and (\d+) bytes\)", report)
        self.assertTrue(found, report)
        numbers = [int(number) for number in found.groups()]
        devices = re.search(r"with --device-sums .*\n.*"
                            r"\((\d+) and (\d+) bytes\)", report)
        self.assertEqual(devices is not None, mode in WITH_OWNERS, report)
        if on_devices:
            numbers[1:] = [int(number) for number in devices.groups()]
        return numbers

    def count(self, mode, steps, *flags):
        """What the processes say: by trainer and owner, messages, bytes sent,
        bytes received."""
        owners = owners_of(mode)
        with Cluster(self.root / mode, TRAINERS, servers_of(mode),
                     ["--data", self.root / "rows.csv", "--batch-size", BATCH,
                      "--steps", steps, "--seed", 7, "--replicas",
                      f"1x{WORKERS}", *flags], ["--seed", 7],
                     peers=mode in WITH_OWNERS) as cluster:
            outputs = cluster.start().finish()
            logs = [server.output for server in cluster.servers]
            logs += outputs if mode in WITH_OWNERS else []
        counts = []
        for output in outputs:
            self.assertRegex(output, r"a step took [0-9.]+ ms: read .* prepare "
                             ".* compute .* serialize .* wait .*; CPU ")
            lines = re.findall(
                r"^((?:server|owner in trainer) \d+): (\d+) messages, (\d+) bytes "
                r"sent, (\d+) bytes received$", output, re.M)
            self.assertEqual([line[0] for line in lines], owners, output)
            counts.append([[int(n) for n in line[1:]] for line in lines])
        for server, (owner, log) in enumerate(zip(owners, logs)):
            # One step of mode async for each worker.
            pushes = 1 if mode in ROUNDS else TRAINERS * WORKERS
            if mode != "geo":
                self.assertIn(f"{owner}: {steps * pushes} steps; a step took ",
                              log)
            said = re.search(r"(\d+) messages, (\d+) bytes received, (\d+) "
                             "bytes sent", log)
            self.assertTrue(said, log)
            self.assertEqual([int(n) for n in said.groups()],
                             [sum(c[server][i] for c in counts)
                              for i in range(3)])
        return counts

    def translate(self, mode, clip, *more):
        (self.root / "small.mlir").write_text(
            small_model("@sgd", clip=clip, decay=False, warm_up=False))
        run(PDL_TRANSLATE, self.root / "small.mlir", "-o", self.root / mode,
            f"--mode={mode}", *("--" + flag for flag in BLOCKS), *more)

    def between(self, mode, *flags):
        """By trainer: messages, bytes sent and received of a step, on average, of those
        between the first few and many."""
        few, many = self.count(mode, FEW, *flags), self.count(mode, MANY, *flags)
        return [[sum(many[trainer][s][i] - few[trainer][s][i]
                     for s in range(len(owners_of(mode)))) / (MANY - FEW)
                 for i in range(3)] for trainer in range(TRAINERS)]

    def check(self, mode, clip, messages, more="", flags=(), on_devices=False):
        if on_devices:
            self.translate(mode, clip, "--target=cuda", "--numerics=fast")
            flags = [*flags, "--device", "fake", "--device-sums", "on"]
        else:
            self.translate(mode, clip)
        # Rounds: the workers of a trainer have one list of keys together.
        share = VALUES / BATCH / (WORKERS if mode in ROUNDS else 1)
        predicted = self.predict(mode, share, more, on_devices)
        self.assertEqual(predicted[0], messages)
        for step in self.between(mode, *flags):
            self.assertEqual(step, predicted)

    def test_sync(self):
        self.check("sync", clip=False, messages=SERVERS)

    def test_sync_with_clip(self):
        self.check("sync", clip=True, messages=2 * SERVERS)

    def test_collective(self):
        self.check("collective", clip=False, messages=TRAINERS)

    def test_collective_with_clip(self):
        self.check("collective", clip=True, messages=2 * TRAINERS)

    def test_hybrid_with_clip(self):
        self.check("hybrid", clip=True, messages=2 * (TRAINERS + SERVERS))

    def test_devices_that_add(self):
        for mode, clip, messages in (("collective", False, TRAINERS),
                                     ("collective", True, 2 * TRAINERS),
                                     ("hybrid", True, 2 * (TRAINERS + SERVERS))):
            with self.subTest(mode, clip=clip):
                self.check(mode, clip, messages, on_devices=True)

    def test_async(self):
        self.check("async", clip=False, messages=WORKERS * SERVERS)

    def test_async_with_clip(self):
        self.check("async", clip=True, messages=WORKERS * SERVERS)

    def test_async_during_steps(self):
        self.check("async", clip=True, messages=2 * WORKERS * SERVERS,
                   more="push-queue=1", flags=("--push-queue", 1))

    def test_geo(self):
        """What goes up is known; what comes back hangs on what others have sent
        meanwhile, and is at most what is predicted."""
        self.translate("geo", clip=True)
        every = 4
        share = VALUES / BATCH / WORKERS / every
        messages, sent, received = self.predict("geo", share,
                                                f"geo-steps={every}")
        self.assertEqual(messages, SERVERS)
        for step in self.between("geo", "--geo-steps", every):
            self.assertEqual(step[0] * every, messages)
            # Each section of rows may end with 4 bytes more.
            self.assertAlmostEqual(step[1], sent, delta=4 * SERVERS)
            # As above: the bound is without those 4 bytes.
            self.assertLessEqual(step[2], received + 4 * SERVERS)
            # Where one trainer is done before the other begins, as on a busy host, there is
            # nothing to be told, and answers have no rows.
            self.assertGreater(step[2], 0)


if __name__ == "__main__":
    unittest.main()
