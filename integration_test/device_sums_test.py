# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trainers that own parameters and have all of them on devices, which add the gradients: real processes
on fake devices, which add in the order of trainers. So jobs of numerics fast have the bits of strict ones on
CPUs."""

import re
import signal
import time
import unittest

from cluster import Cluster
from device_jobs import TRAIN, DeviceJobs, MixedCluster
from programs import run
from push_modes import PDL_CHECKPOINT

SHARED = "gradients of parameters are added between the devices of all trainers"
APART = "gradients of parameters go through the host to their owners: "


class DeviceSums(DeviceJobs):

    def folders(self, name, mode, *flags):
        """Of programs for CPUs, strict, and for devices, fast."""
        return (self.translate(name, "cpu", f"--mode={mode}", *flags),
                self.translate(name, "cuda", f"--mode={mode}", *flags, numerics="fast"))

    def job(self, folder, saved, data, *flags, trainers=2, servers=0, device="fake", steps=TRAIN,
            kind=Cluster, **options):
        trainer = ["--data", data, *steps, "--checkpoint", saved, *flags]
        server = ["--seed", 7, "--checkpoint", saved]
        if "--resume" in flags:
            server.append("--resume")
        if device and kind is Cluster:
            trainer += ["--device", device]
        return kind(folder, trainers=trainers, servers=servers, trainer_flags=trainer,
                    server_flags=server, peers=True, **options)

    def check_same_bits(self, name, mode, *flags, trainers=2, device="fake", translate=()):
        """That a job with devices that add has the bits of a strict one on CPUs; what its trainers say."""
        data = self.data(name)
        servers = 2 if mode == "hybrid" else 0
        plain, fast = self.folders(name, mode, *translate)
        saved = [self.root / f"{name}.{mode}.{trainers}.{device}.{kind}" for kind in ("cpu", "device")]
        tests = ["--evaluate-rows", "0:100"]
        said = []
        for path, folder, on in ((saved[0], plain, None), (saved[1], fast, device)):
            with self.job(folder, path, data, *tests, *flags, trainers=trainers, servers=servers,
                          device=on) as job:
                said.append(job.start().finish())
        run(PDL_CHECKPOINT, "diff", *saved)
        figures = [re.findall(r"^(?:train|test) .*", output[0], re.M) for output in said]
        self.assertTrue(figures[0])
        self.assertEqual(*figures)
        return said[1]

    def test_trainers_have_the_bits_of_cpus(self):
        for mode in ("collective", "hybrid"):
            for trainers in (1, 2, 3):
                with self.subTest(mode, trainers=trainers):
                    said = self.check_same_bits("ctr_dnn", mode, trainers=trainers)
                    for output in said:
                        self.assertEqual(SHARED in output, trainers > 1, output)
                        self.assertNotIn(APART, output)


if __name__ == "__main__":
    unittest.main()
