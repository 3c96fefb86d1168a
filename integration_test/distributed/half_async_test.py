# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode half-async. The workers of a trainer join, so one trainer gives the bits of mode local.
With more trainers, the servers' logs give the state. A killed trainer rejoins."""

import pathlib
import random
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from push_modes import PushModes
from sync_comparison import RATES


class HalfAsync(PushModes):

    MODE = "half-async"

    def test_one_trainer_is_local(self):
        self.translate()
        for servers in (1, 3):
            self.same_as_local(f"servers{servers}", 1, servers, 100)

    def test_rules(self):
        for rule in RATES:
            with self.subTest(rule):
                self.translate(rule, clip=False, decay=False, warm_up=False)
                self.same_as_local(rule[1:], 1, 2, 60)
                # The next training gets new folders.
                self.tearDown()
                self.setUp()

    def test_replay(self):
        self.translate()
        job, logs = self.logged("two", 2, 2, 40)
        with job:
            job.start().finish()
        said = self.check_replay("two", logs)
        for rank in range(2):
            # Each trainer sends one push per step, and keys before each of 2 epochs.
            self.assertRegex(said, rf"server {rank}, 84 requests")

    def test_a_killed_trainer_recovers(self):
        """Each push counts once, whichever process is killed. One trainer still gives the bits of
        mode local."""
        self.translate()
        draw = random.Random(5)
        for trainers in (1, 2):
            name = f"killed{trainers}"
            job, logs = self.logged(
                name, trainers, 2, 120, "--on-failure", "wait",
                "--checkpoint-steps", 25, server_flags=["--on-failure", "wait"])
            with job:
                job.start()
                for _ in range(6):
                    time.sleep(draw.uniform(0.05, 0.5))
                    job.kill_and_restart_trainer(draw.randrange(trainers),
                                                 "train ")
                job.finish(leave_may_be_lost=True)
            self.check_replay(name, logs)
            self.assertEqual(set(self.updates(name).values()),
                             {120 * trainers})
        self.same_as_local("again", 1, 2, 120, "--checkpoint-steps", 25)


if __name__ == "__main__":
    unittest.main()
