# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of the tests of modes in which servers do not wait for all trainers. They translate
a model for one process and for such a mode, run jobs with logs of applied requests, and replay
them."""

import re

from cluster import Cluster
from folders import FolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, run
from small_model import small_model


class PushModes(FolderTest):
    """Test of the mode `MODE`. Programs and results are in the folder `root`."""

    MODE = None

    def translate(self, rule="@adam", modes=None, **options):
        options = {"clip": True, "decay": True, "warm_up": True, **options}
        source = self.root / "small.mlir"
        source.write_text(small_model(rule, **options))
        for mode in modes or ("local", self.MODE):
            blocks = () if mode == "local" else (
                "--min-block-elements=1024", "--target-block-bytes=16384")
            run(PDL_TRANSLATE, source, "-o", self.root / mode,
                "--numerics=strict", f"--mode={mode}", *blocks)

    def flags(self, name, steps, *flags, workers=2):
        return ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64,
                "--seed", 7, "--shuffle-window", 1000, "--steps", steps,
                "--replicas", f"1x{workers}", "--log-losses",
                self.root / f"{name}.losses", "--checkpoint",
                self.root / f"{name}.saved", *flags]

    def cluster(self, name, trainers, servers, steps, *flags, workers=2,
                server_flags=()):
        return Cluster(self.root / self.MODE, trainers, servers,
                       self.flags(name, steps, *flags, workers=workers),
                       ["--seed", 7, *server_flags])

    def logged(self, name, trainers, servers, steps, *flags, server_flags=(),
               **options):
        """Creates a job whose servers log the applied requests. Returns the cluster, which is not
        started, and the paths of the logs."""
        folder = self.root / f"{name}.logs"
        folder.mkdir()
        return (self.cluster(name, trainers, servers, steps, *flags,
                             server_flags=["--log-applied", folder,
                                           *server_flags], **options),
                [folder / f"applied-{rank}.log" for rank in range(servers)])

    def check_replay(self, name, logs):
        """Checks that a replay of the logs gives the saved state of the job, bit for bit. Returns
        the output."""
        again = self.root / f"{name}.again"
        done = run(self.root / self.MODE / "pserver", "replay", *logs, "-o",
                   again)
        run(PDL_CHECKPOINT, "diff", self.root / f"{name}.saved", again)
        return done.stdout

    def updates(self, name):
        """Returns the number of updates of each group, according to the newest checkpoint of the
        job."""
        newest = max((self.root / f"{name}.saved").glob("step-*"))
        text = run(PDL_CHECKPOINT, "inspect", newest).stdout
        found = re.findall(r"^group @(\S+): (\d+) updates$", text, re.M)
        self.assertTrue(found, text)
        return {group: int(count) for group, count in found}

    def same_as_local(self, name, trainers, servers, steps, *flags, workers=2,
                      server_flags=()):
        """Checks that the losses, values and slots of the job equal those of one process."""
        if not (self.root / "local.saved").exists():
            run(self.root / "local" / "trainer", "train",
                *self.flags("local", steps)[:-6],  # What follows differs.
                "--replicas", f"{trainers}x{workers}", "--log-losses",
                self.root / "local.losses", "--checkpoint",
                self.root / "local.saved")
        with self.cluster(name, trainers, servers, steps, *flags,
                          workers=workers, server_flags=server_flags) as job:
            job.start().finish()
        run(PDL_CHECKPOINT, "diff", self.root / "local.saved",
            self.root / f"{name}.saved")
        if trainers == 1:
            self.assertEqual((self.root / f"{name}.losses").read_text(),
                             (self.root / "local.losses").read_text())
