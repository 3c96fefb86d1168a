# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs of all modes whose processes are killed, suspended, stopped and requested to save at random
times, and which resume with other numbers of processes. All processes end, those that fail report
the reason, each checkpoint is complete, and exact modes end with the bits of one process. Real
processes; every wait has a time limit."""

import pathlib
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from job_modes import MODES
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, is_nightly, run
from small_model import small_model

# `START`: number of seconds for which processes wait for others to start. `SILENCE`: number of
# seconds after which a silent process is lost.
START = 10
SILENCE = 4
PATIENCE = 120
# Number of seconds for which a job waits for a lost trainer before the test stops the job.
STOP_AFTER = 15
PAUSE = 5
RUNS = 4


class RandomFailures(SharedFolderTest):

    def programs(self, mode):
        folder = self.root / mode
        if not folder.exists():
            source = self.root / "small.mlir"
            source.write_text(small_model("@adam", clip=True, decay=True, warm_up=True))
            split = () if mode == "local" else ("--min-block-elements=1024",
                                                "--target-block-bytes=16384")
            run(PDL_TRANSLATE, source, "-o", folder, "--numerics=strict", f"--mode={mode}", *split)
        return folder

    def flags(self, saved, replicas):
        return ["--data", ADULT, "--rows", "0:6000", "--batch-size", 32, "--seed", 7, "--epochs", 3,
                "--shuffle-window", 500, "--checkpoint", saved, "--checkpoint-steps", 11,
                "--replicas", replicas]

    def undisturbed(self, trainers):
        """Returns the checkpoints of one process with as many replicas."""
        saved = self.root / f"undisturbed{trainers}"
        if not saved.exists():
            run(self.programs("local") / "trainer", "train", *self.flags(saved, f"{trainers}x2"))
        return saved

    def disturb(self, cluster, choice, restarts):
        """Sends signals at random moments. Returns the names of killed processes that were not
        started again, and the paused processes."""
        begin = time.monotonic()
        moments = sorted(choice.random() * choice.choice((0.3, 3))
                         for _ in range(choice.choice((1, 2, 3))))
        killed, paused = set(), []
        for moment in moments:
            time.sleep(max(0, begin + moment - time.monotonic()))
            process = choice.choice(cluster.processes())
            sent = choice.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM,
                                  signal.SIGUSR2))
            if process.popen.poll() is not None:
                continue
            process.popen.send_signal(sent)
            if sent == signal.SIGSTOP:
                paused.append(process)
            elif sent == signal.SIGKILL:
                process.popen.wait()
                killed.add(process.name)
                if restarts and process.name.startswith("trainer"):
                    place = cluster.trainers.index(process)
                    cluster.start_trainer(int(process.name.removeprefix("trainer")))
                    cluster.trainers[place] = cluster.trainers.pop()
                    killed.discard(process.name)
        return killed, paused

    def wait_for_ends(self, cluster, killed, paused):
        begin = time.monotonic()
        is_stopped = False
        while any(process.popen.poll() is None for process in cluster.processes()):
            now = time.monotonic()
            self.assertLess(now, begin + PATIENCE, cluster.said())
            while paused and now > begin + PAUSE:
                paused.pop().popen.send_signal(signal.SIGCONT)
            if killed and not is_stopped and now > begin + STOP_AFTER:
                is_stopped = True
                for process in cluster.processes():
                    process.popen.terminate()
            time.sleep(0.1)

    def check_ends(self, cluster):
        for process in cluster.processes():
            status = process.popen.poll()
            # A process that gets a signal before it has installed its handlers is ended by the
            # signal.
            self.assertIn(min(status, 0), (0, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGUSR2),
                          process.output)
            if 0 < status < 128:
                self.assertIn("error", process.output)

    def check(self, mode, policy, seed):
        settings = MODES[mode]
        choice = random.Random(f"{mode} {seed}")
        saved = self.root / f"{mode}.{policy}.{seed}"
        trainers = choice.choice((1, 2, 3))
        for attempt in range(RUNS):
            limits = ["--on-failure", policy]
            # A busy machine may be slow. The last run has no such limits, because no fault occurs
            # in it.
            if attempt < RUNS - 1:
                limits += ["--silence-limit", SILENCE, "--wait", START]
            servers = choice.choice((1, 2, 3)) if settings.servers else 0
            if not settings.exact:
                trainers = choice.choice((1, 2, 3))
            with Cluster(self.programs(mode), trainers, servers,
                         [*self.flags(saved, "1x2"), *limits, *settings.trainer_flags, "--resume"],
                         ["--seed", 7, *limits, *settings.server_flags, "--resume", "--checkpoint",
                          saved], peers=settings.peers) as cluster:
                cluster.start()
                if attempt == RUNS - 1:
                    cluster.finish()
                    break
                restarts = policy == "wait" and choice.random() < 0.5
                killed, paused = self.disturb(cluster, choice, restarts)
                self.wait_for_ends(cluster, killed, paused)
                self.check_ends(cluster)
                if all(process.popen.poll() == 0 for process in cluster.processes()):
                    break
            for checkpoint in checkpoints_in(saved) if saved.exists() else ():
                run(PDL_CHECKPOINT, "inspect", checkpoint)
        if settings.exact:
            run(PDL_CHECKPOINT, "diff", self.undisturbed(trainers), saved)

    def test_jobs_resume(self):
        jobs = ([(mode, policy, seed) for seed in range(2) for mode in MODES
                 for policy in ("abort", "wait")
                 if policy == "abort" or not MODES[mode].peers] if is_nightly() else
                [("sync", "abort", 2), ("async", "wait", 0)])
        for mode, policy, seed in jobs:
            with self.subTest(mode, policy=policy, seed=seed):
                self.check(mode, policy, seed)


if __name__ == "__main__":
    unittest.main()
