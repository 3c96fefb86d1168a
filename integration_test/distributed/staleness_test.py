# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounded staleness. A sender gets no response while it is further ahead of the slowest sender
than --max-staleness permits. The servers' logs still give their state."""

import gzip
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Slowed
from programs import ADULT, PDL_TRANSLATE, run
from push_modes import PushModes
from small_model import small_model


def max_ahead(server):
    """Returns the largest staleness in a server's histogram."""
    line = re.findall(r"steps ahead of the slowest, of responses:(.*)",
                      server.output)
    if not line:
        raise AssertionError(server.output)
    return max(int(ahead) for ahead in re.findall(r"(\d+)(?: or more)?:", line[-1]))


class Staleness(PushModes):

    MODE = "async"

    def histogram_of(self, name, *server_flags, steps=60):
        job, logs = self.logged(name, 2, 2, steps, server_flags=server_flags)
        with job:
            job.start()
            Slowed(job.trainers[1])
            job.finish()
            most = [max_ahead(server) for server in job.servers]
        self.check_replay(name, logs)
        return most

    def test_the_bound_holds(self):
        self.translate()
        for bound in (0, 3):
            for most in self.histogram_of(f"bound{bound}", "--max-staleness",
                                          bound):
                self.assertLessEqual(most, bound)
        # Without the bound, a sender must be further ahead; otherwise the test shows nothing.
        self.assertGreater(max(self.histogram_of("free", steps=200)), 3)

    def test_a_failed_worker_delays_none(self):
        """The response to one worker is delayed until the other one continues."""
        source = self.root / "square.mlir"
        source.write_text(small_model("@adam", clip=False, decay=False, warm_up=False).replace(
            "nn.signed_log1p %n : tensor<?x5xf32>",
            "nn.mul %n, %n : tensor<?x5xf32>, tensor<?x5xf32>"))
        run(PDL_TRANSLATE, source, "-o", self.root / self.MODE, "--numerics=strict",
            "--mode=async")
        data = self.root / "infinite.csv"
        with gzip.open(ADULT, "rt") as whole:
            lines = whole.readlines()[:1600]
        # The bad row is in a step of the last worker, at a time when the others have probably
        # finished their steps.
        lines[1000] = ",".join(["3e38", *lines[1000].split(",")[1:]])
        data.write_text("".join(lines))
        with self.cluster("fails", 1, 1, 20, workers=4,
                          server_flags=["--max-staleness", 0]) as job:
            job.trainer_flags = [data if flag == ADULT else flag for flag in job.trainer_flags]
            for name, value in ("--rows", "0:1500"), ("--shuffle-window", 1):
                job.trainer_flags[job.trainer_flags.index(name) + 1] = value
            job.start()
            trainer, server = job.trainers[0], job.servers[0]
            self.assertEqual(trainer.wait(), 1, trainer.output)
            self.assertIn("not finite", trainer.output)
            self.assertNotIn("another worker", trainer.output)
            self.assertNotEqual(server.wait(), 0, server.output)

    def test_trainers_of_half_async(self):
        self.MODE = "half-async"
        self.translate()
        for most in self.histogram_of("half", "--max-staleness", 2):
            self.assertLessEqual(most, 2)

    def test_a_trainer_without_data_delays_none(self):
        """The first trainer has more rows than the other in each epoch."""
        self.translate()
        for name, more in (("uneven", ()),
                           ("saved", ("--checkpoint-steps", 7))):
            with self.cluster(name, 2, 1, 1, "--rows", "0:1500", workers=2,
                              server_flags=["--max-staleness", 0]) as job:
                job.trainer_flags = [
                    flag for at, flag in enumerate(job.trainer_flags)
                    if flag not in ("--steps", "--rows") and
                    job.trainer_flags[at - 1] not in ("--steps", "--rows")
                ] + ["--rows", "0:1500", "--epochs", 2, *more]
                job.start().finish()

    def test_other_modes_refuse_it(self):
        self.translate(modes=("sync",))
        self.MODE = "sync"
        with self.cluster("refused", 1, 1, 2,
                          server_flags=["--max-staleness", 1]) as job:
            server = job.start_server(0)
            self.assertEqual(server.wait(), 2)
            self.assertIn("--max-staleness is for modes in which servers apply "
                          "each push by itself", server.output)


if __name__ == "__main__":
    unittest.main()
