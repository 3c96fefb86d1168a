# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages and bytes per step that trainers and servers count equal those that `pdl-opt
--ps-report` predicts, to the byte. Real processes over gRPC."""

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
# Number of values of a category. Each batch of each worker has all of them.
VALUES = 16
FEW, MANY = 4, 24
BLOCKS = "min-block-elements=1024", "target-block-bytes=16384"
# Modes in which a step is a round, and modes whose trainers own state.
ROUNDS = "sync", "collective", "hybrid"
WITH_OWNERS = "collective", "hybrid"


def servers_of(mode):
    return 0 if mode == "collective" else SERVERS


def owners_of(mode):
    """Returns the names of owners in messages, in the order of their numbers."""
    owners = [f"server {rank}" for rank in range(servers_of(mode))]
    if mode in WITH_OWNERS:
        owners += [f"owner in trainer {rank}" for rank in range(TRAINERS)]
    return owners


def write_rows(path):
    """Writes rows of which i and i + 1 are equal. So the number of distinct keys of a batch is
    known, whatever the distribution of rows is."""
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
        """Returns the predicted numbers of messages, bytes sent and bytes received of a trainer's
        step. In mode geo, the messages are those of an exchange."""
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
        """Returns the numbers that the processes report: messages, bytes sent and bytes received,
        by trainer and owner."""
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
            # Each worker does one step of mode async.
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
        """Returns, for each trainer, the average numbers of messages, bytes sent and bytes
        received of the steps after the first few."""
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
        # In rounds, the workers of a trainer have one common list of keys.
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
        """The number of sent bytes is known. The number of received bytes depends on the changes
        that others have sent meanwhile, and is at most the predicted one."""
        self.translate("geo", clip=True)
        every = 4
        share = VALUES / BATCH / WORKERS / every
        messages, sent, received = self.predict("geo", share,
                                                f"geo-steps={every}")
        self.assertEqual(messages, SERVERS)
        for step in self.between("geo", "--geo-steps", every):
            self.assertEqual(step[0] * every, messages)
            # Each section of rows may end with 4 additional bytes.
            self.assertAlmostEqual(step[1], sent, delta=4 * SERVERS)
            # The bound does not include those 4 bytes.
            self.assertLessEqual(step[2], received + 4 * SERVERS)
            # On a busy host, one trainer may end before the other starts. Then no changes are
            # received, and responses have no rows.
            self.assertGreater(step[2], 0)


if __name__ == "__main__":
    unittest.main()
