# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that are sent while earlier layers still compute (--overlap) change no bit. Losses,
metrics, values and slots equal those of mode local. Parts are so small that each gradient is a
part. Real processes."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from owners_comparison import OwnersComparison
from programs import (ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, is_nightly, model, run,
                      test_data)
from small_model import small_model
from sync_comparison import SyncComparison

# With few rows, some workers and trainers have no batch at the end of each epoch.
UNEVEN = ["--data", ADULT, "--rows", "0:1100", "--batch-size", 64]
TOPOLOGIES = [(1, 1), (2, 3), (3, 2), (4, 1)] if is_nightly() else [(2, 3), (4, 1)]
OWNERS = [(1, 0), (3, 0), (2, 2), (4, 1)] if is_nightly() else [(3, 0), (2, 2)]
ON = ["--overlap", "on", "--part-bytes", 500]
LEFT = re.compile(r"^(\d+) parts with (\d+) bytes left before (\d+) steps were "
                  r"computed; of [0-9.]+ ms of exchange a step \d+ % was hidden$",
                  re.MULTILINE)


class Parts(unittest.TestCase):
    """Checks the report of a trainer about its parts."""

    def check_parts(self, output):
        found = LEFT.search(output)
        self.assertTrue(found, output)
        parts, count, steps = map(int, found.groups())
        self.assertGreater(steps, 0)
        self.assertGreaterEqual(parts, steps)
        self.assertGreaterEqual(count, 500 * parts)
        self.assertIn("overlap on", output)


class SyncOverlap(SyncComparison, Parts):

    def train_cluster(self, data, trainers, servers):
        name = f"{trainers}x{servers}"
        with Cluster(self.root / "sync", trainers, servers,
                     [*self.flags(data, name), "--replicas", "1x2", *ON],
                     ["--seed", 7]) as cluster:
            outputs = cluster.start().finish()
        for output in outputs:
            self.check_parts(output)
        return [self.metrics(output) for output in outputs]

    def check_small(self, *options):
        source = self.root / "small.mlir"
        source.write_text(small_model(*options))
        self.translate(source)
        self.check(UNEVEN, TOPOLOGIES)

    def test_sgd(self):
        self.check_small("@sgd", False, False, False)

    def test_adam_with_a_clip(self):
        self.check_small("@adam", True, True, True)

    def test_ctr_dnn(self):
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.translate(model("ctr_dnn"))
        self.check(["--data", data, "--batch-size", 32], [(2, 2)])


class OwnersOverlap(OwnersComparison, Parts):

    def train_cluster(self, data, trainers, servers, *more):
        name = f"{trainers}x{servers}"
        with self.job(trainers, servers, [*self.flags(data, name), "--replicas",
                                          "1x2", *ON, *more]) as cluster:
            outputs = cluster.start().finish()
        for output in outputs:
            self.check_parts(output)
        return [self.metrics(output) for output in outputs]

    def test_adam_with_a_clip(self):
        self.translate(self.write(small_model("@adam", True, True, True)))
        self.check(UNEVEN, OWNERS)


class OtherModes(SyncComparison, Parts):

    def translate_small(self, *modes):
        source = self.root / "small.mlir"
        source.write_text(small_model("@adam", True, False, False))
        for mode in modes:
            run(PDL_TRANSLATE, source, "-o", self.root / mode,
                "--numerics=strict", f"--mode={mode}",
                *(("--min-block-elements=1024", "--target-block-bytes=16384")
                  if mode != "local" else ()))

    def test_half_async(self):
        """One trainer gives the bits of mode local."""
        self.translate_small("local", "half-async")
        self.train_local(UNEVEN, 1)
        with Cluster(self.root / "half-async", 1, 2,
                     [*self.flags(UNEVEN, "half"), "--replicas", "1x2", *ON],
                     ["--seed", 7]) as cluster:
            self.check_parts(cluster.start().finish()[0])
        run(PDL_CHECKPOINT, "diff", self.root / "local1.saved",
            self.root / "half.saved")

    def test_auto(self):
        """With a very small model, nothing is tried. With small parts, the trainer tries to
        overlap, reports the result, and has the same bits."""
        self.translate_small("sync")
        for name, flags in (("whole", []), ("tried", ["--part-bytes", 500]),
                            ("off", ["--overlap", "off"]),
                            ("useless", ["--overlap", "on"])):
            with Cluster(self.root / "sync", 2, 2,
                         [*self.flags(UNEVEN, name), "--replicas", "1x2", *flags],
                         ["--seed", 7]) as cluster:
                output = cluster.start().finish()[0]
            if name == "whole":
                self.assertIn("overlap auto: off: no dense gradients fill a part",
                              output)
            elif name == "off":
                self.assertIn("overlap off\n", output)
            elif name == "useless":
                self.assertIn("overlap on: off: no dense gradients fill a part",
                              output)
            else:
                self.assertRegex(
                    output, r"overlap auto: (on|off): \d+ bytes in \d+ parts "
                    r"travel for .*; a step takes .* with it, .* without")
                self.assertTrue(LEFT.search(output), output)
            run(PDL_CHECKPOINT, "diff", self.root / "whole.saved",
                self.root / f"{name}.saved")

    def test_trace(self):
        """The trace shows the parts of a step between its computation and its exchange."""
        self.translate_small("sync")
        trace = self.root / "trace.json"
        with Cluster(self.root / "sync", 1, 1,
                     [*self.flags(UNEVEN, "traced"), *ON, "--trace", trace],
                     ["--seed", 7]) as cluster:
            cluster.start().finish()
        names = {event["name"]
                 for event in json.loads(trace.read_text())["traceEvents"]}
        self.assertLessEqual({"sum early", "send part", "part arrived", "push", "pull"}, names)

    def test_refusals(self):
        self.translate_small("local", "async", "quorum", "geo", "sync")
        flags = ["train", "--data", ADULT, "--servers", "unix:@none"]
        for mode in ("async", "quorum", "geo"):
            for flag in (["--overlap", "auto"], ["--part-bytes", 100]):
                self.check_refused(mode, [*flags, *flag],
                                   f"{flag[0]} is for modes in which the sum of a "
                                   "trainer's workers goes to owners as it is, but "
                                   f"this program is of mode {mode}; leave it out")
        self.check_refused("local", ["train", "--data", ADULT, "--overlap", "on"],
                           "--overlap is for trainers with servers")
        self.check_refused("sync", [*flags, "--overlap", "on", "--pack-gradients",
                                    "bf16"],
                           "--overlap on is not for --pack-gradients")
        for other in (["--overlap", "off"], ["--pack-gradients", "bf16"]):
            self.check_refused("sync", [*flags, "--part-bytes", 100, *other],
                               "--part-bytes is for gradients that leave early, "
                               f"and with {' '.join(other)} none does; leave one "
                               "of the two out")

    def check_refused(self, mode, flags, message):
        done = subprocess.run([self.root / mode / "trainer", *map(str, flags)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(message, " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
