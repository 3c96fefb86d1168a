# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Effects of --pack-keys and --pack-gradients on a job. Packed keys change no bit. With packed
gradients, the results do not depend on the number of servers or on an interruption with a
checkpoint. Real processes."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, run
from small_model import small_model
from waiting import LONG

STEPS = 40


class Packing(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "small.mlir"
        source.write_text(small_model("@adam", clip=True, decay=False,
                                      warm_up=False))
        for mode in ("sync", "async"):
            run(PDL_TRANSLATE, source, "-o", cls.root / mode,
                "--numerics=strict", f"--mode={mode}",
                "--min-block-elements=1024", "--target-block-bytes=16384")

    def train(self, name, *packing, mode="sync", trainers=2, servers=1,
              steps=STEPS, server_flags=(), more=()):
        """Trains. Returns the losses and the number of bytes that trainer 0 has sent. Checkpoints
        are written to `name`.saved."""
        flags = ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64,
                 "--seed", 7, "--steps", steps, "--log-losses",
                 self.root / f"{name}.losses", "--checkpoint",
                 self.root / f"{name}.saved", "--checkpoint-steps", 20, *packing,
                 *more]
        servers_flags = ["--seed", 7, "--checkpoint",
                         self.root / f"{name}.saved", *server_flags]
        if "--pack-gradients" in packing:
            at = packing.index("--pack-gradients")
            servers_flags += packing[at:at + 2]
        if trainers > 1:
            flags[flags.index("--log-losses") + 1] = \
                self.root / (name + "-{rank}.losses")
        with Cluster(self.root / mode, trainers, servers, flags,
                     servers_flags) as cluster:
            # pdl-launch replaces ranks in names of files.
            start = cluster.start_trainer

            def start_trainer(rank):
                cluster.trainer_flags = [str(flag).replace("{rank}", str(rank))
                                         for flag in ["train", *flags]]
                return start(rank)
            cluster.start_trainer = start_trainer
            output = cluster.start().finish()[0]
        losses = self.root / (f"{name}.losses" if trainers == 1
                              else f"{name}-0.losses")
        sent = sum(int(count) for count in
                   re.findall(r"(\d+) bytes sent", output))
        return losses.read_text(), sent

    def compare(self, first, second):
        run(PDL_CHECKPOINT, "diff", self.root / f"{first}.saved",
            self.root / f"{second}.saved")

    def test_packed_keys_change_no_bit(self):
        plain, bytes_plain = self.train("plain", servers=2)
        packed, bytes_packed = self.train("delta", "--pack-keys", "delta",
                                          servers=2)
        self.assertEqual(packed, plain)
        self.compare("plain", "delta")
        # Keys of such a small batch differ too much for packing to reduce the number of bytes.
        self.assertNotEqual(bytes_packed, bytes_plain)

    def test_packed_gradients_are_the_same_for_any_number_of_servers(self):
        plain, bytes_plain = self.train("none")
        for packing, least in (("bf16", 0.65), ("int8", 0.45)):
            flags = ("--pack-gradients", packing)
            one, bytes_one = self.train(f"{packing}-1", *flags)
            three, _ = self.train(f"{packing}-3", *flags, "--pack-keys",
                                  "delta", servers=3)
            self.assertEqual(one, three)
            self.compare(f"{packing}-1", f"{packing}-3")
            # The results differ slightly.
            self.assertNotEqual(one, plain)
            for a, b in zip(one.split(), plain.split(), strict=True):
                self.assertAlmostEqual(float(a), float(b), delta=0.01)
            self.assertLess(bytes_one, least * bytes_plain)

    def test_who_goes_on_from_a_checkpoint_trains_as_who_did_not_stop(self):
        flags = ("--pack-gradients", "int8")
        whole, _ = self.train("whole", *flags)
        self.train("parts", *flags, steps=20)
        resume = ("--resume",)
        rest, _ = self.train("parts", *flags, more=resume,
                             server_flags=resume)
        self.assertEqual(whole.split()[20:], rest.split()[-20:])
        self.compare("whole", "parts")
        # With another packing, it is another training.
        refused = subprocess.run(
            [str(word) for word in
             (self.root / "sync" / "pserver", "--rank", 0, "--servers",
              f"unix:{self.root}/s", "--checkpoint", self.root / "parts.saved",
              "--resume")], capture_output=True, text=True, timeout=LONG)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("this program has no --pack-gradients, the checkpoint "
                      "int8", refused.stderr)

    def test_async_workers_pack_too(self):
        one, bytes_one = self.train("async-plain", mode="async", trainers=1)
        packed, bytes_packed = self.train(
            "async-bf16", "--pack-gradients", "bf16", "--pack-keys", "delta",
            mode="async", trainers=1, servers=2)
        self.assertNotEqual(one, packed)
        self.assertLess(bytes_packed, 0.65 * bytes_one)
        for a, b in zip(one.split(), packed.split(), strict=True):
            self.assertAlmostEqual(float(a), float(b), delta=0.01)

    def test_both_sides_must_agree(self):
        address = f"unix:{self.root}/refusing"
        server = subprocess.Popen(
            [str(word) for word in
             (self.root / "sync" / "pserver", "--rank", 0, "--servers", address,
              "--pack-gradients", "bf16")],
            stderr=subprocess.PIPE, text=True)
        try:
            trainer = subprocess.run(
                [str(word) for word in
                 (self.root / "sync" / "trainer", "train", "--data", ADULT,
                  "--servers", address)], capture_output=True, text=True,
                timeout=LONG)
            self.assertEqual(trainer.returncode, 1)
            self.assertIn("the trainer has --pack-gradients none, the server "
                          "bf16; give all", trainer.stderr)
            # The rejected trainer belongs to this job, so the server does not wait for another
            # one.
            self.assertEqual(server.wait(LONG), 1)
        finally:
            server.kill()
            server.communicate()
        waiting = subprocess.run(
            [str(word) for word in
             (self.root / "sync" / "trainer", "train", "--data", ADULT,
              "--servers", address, "--pack-gradients", "int8", "--on-failure",
              "wait")], capture_output=True, text=True, timeout=LONG)
        self.assertEqual(waiting.returncode, 2)
        self.assertIn("goes with --on-failure=abort", waiting.stderr)


if __name__ == "__main__":
    unittest.main()
