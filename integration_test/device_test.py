# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for a device, on the fake one: each model of models/ trains to the bits of a CPU, trainers
on CPUs and on devices share jobs, and a device that fails ends a training with a sentence."""

import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

from cluster import Cluster
from model_data import model_data
from programs import PDL_TRANSLATE, SOURCE, model, run
from push_modes import PDL_CHECKPOINT

MODELS = sorted(path.name for path in (SOURCE / "models").iterdir() if path.is_dir())
ROWS, BATCH = 320, 32
TRAIN = ["--rows", f"0:{ROWS}", "--batch-size", BATCH, "--epochs", 2, "--seed", 7]


class MixedCluster(Cluster):
    """Every second trainer computes on a device."""

    def __init__(self, programs, device_programs, **options):
        super().__init__(programs, **options)
        self.device_programs = device_programs

    def start_trainer(self, rank):
        if rank % 2 == 0:
            return super().start_trainer(rank)
        programs, flags = self.programs, self.trainer_flags
        self.programs, self.trainer_flags = self.device_programs, [*flags, "--device", "fake"]
        process = super().start_trainer(rank)
        self.programs, self.trainer_flags = programs, flags
        return process


class Device(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def translate(self, name, target, *flags):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.{target}.", dir=self.root))
        run(PDL_TRANSLATE, model(name), "--numerics=strict", f"--target={target}", *flags,
            "-o", folder, "--object-cache", self.root / "cache")
        return folder

    def data(self, name):
        folder = self.root / "data" / name
        folder.mkdir(parents=True, exist_ok=True)
        return model_data(name, folder, ROWS)

    def train(self, folder, data, *flags):
        """Its checkpoint, and what it says of losses and metrics."""
        saved, losses = folder / "saved", folder / "losses"
        said = run(folder / "trainer", "train", "--data", data, *TRAIN, "--evaluate-rows",
                   "0:100", "--checkpoint", saved, "--log-losses", losses, *flags)
        metrics = [line for line in said.stdout.splitlines() if line.startswith(("train ", "test "))]
        return saved, [losses.read_text(), *metrics]

    def problem(self, name):
        """What is wrong with a model; None if nothing is."""
        data = self.data(name)
        saved, losses = self.train(self.translate(name, "cpu"), data)
        other_saved, other_losses = self.train(self.translate(name, "cuda"), data,
                                               "--device", "fake")
        if losses != other_losses:
            return "other losses on a device"
        run(PDL_CHECKPOINT, "diff", saved, other_saved)
        return None

    def test_each_model_has_the_bits_of_a_cpu(self):
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            problems = {name: pool.submit(self.problem, name)
                        for name in MODELS}
        for name, problem in problems.items():
            with self.subTest(name):
                self.assertIsNone(problem.result())

    def error_of(self, folder, *flags):
        """How a training that must fail ends: its sentence."""
        result = subprocess.run(list(map(str, [folder / "trainer", "train", *flags])),
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(lines), 1, result.stderr)
        return lines[0]

    def test_a_device_that_fails(self):
        name = "ctr_dnn"
        data = self.data(name)
        folder = self.translate(name, "cuda", "--mode=local")
        saved = folder / "before"
        flags = ["--data", data, *TRAIN, "--checkpoint", saved]
        run(folder / "trainer", "train", *flags[:-2], "--checkpoint", saved, "--device", "fake",
            "--steps", 5)
        kept = sorted(path.relative_to(saved) for path in saved.rglob("*"))
        place = rf"batch [0-9]+ of {data} \(group 0, worker 0\): "
        for fault, sentence in (
                ("allocations=3", "the device has no [0-9]+ bytes left; use a smaller "
                                  "--batch-size"),
                ("launches=9", "kernel_[a-z0-9_]+ cannot be launched: the fake device was told "
                                "to fail"),
                ("work=20", "the device is lost: the fake one was told to fail; start again, "
                             "with --resume where there is a checkpoint")):
            with self.subTest(fault):
                said = self.error_of(folder, *flags, "--resume", "--device", f"fake:{fault}")
                self.assertRegex(said, f"^error: {place}{sentence}$")
                # What was saved is as it was, and the training goes on from it.
                self.assertEqual(kept, sorted(path.relative_to(saved)
                                              for path in saved.rglob("*")))
        whole = self.root / "whole"
        run(folder / "trainer", "train", *flags[:-2], "--checkpoint", whole, "--device", "fake")
        run(folder / "trainer", "train", *flags, "--resume", "--device", "fake")
        run(PDL_CHECKPOINT, "diff", saved, whole)

    def test_what_is_no_device(self):
        data = self.data("logistic_regression")
        folder = self.translate("logistic_regression", "cuda")
        for name in ("gpu", "cuda:", "cuda:x", "fake:", "fake:work", "fake:work=x", "fake:sleep=1"):
            with self.subTest(name):
                self.assertIn(f"there is no device '{name}'; use cuda, cuda:N for NVIDIA's GPU N, "
                              "or fake", self.error_of(folder, "--data", data, "--device", name))

    def test_devices_that_are_too_many(self):
        data = self.data("logistic_regression")
        folder = self.translate("logistic_regression", "cuda")
        for names, sentence in (
                ("fake,fake", "--device names 2 devices, but this process has 1 replica, each of "
                              "which computes on one"),
                ("cuda:0,1,0", "--device cuda:0,1,0 names cuda:0 twice"),
                ("cuda,0", "--device cuda,0 names cuda:0 twice"),
                ("fake,", "there is no device ''")):
            with self.subTest(names):
                self.assertIn(sentence, self.error_of(folder, "--data", data, "--device", names))

    def test_products_of_rounded_factors(self):
        data = self.data("ctr_dnn")
        flags = ["--compute=bf16"]
        saved, losses = self.train(self.translate("ctr_dnn", "cpu", *flags), data,
                                   "--emulate-bf16")
        other_saved, other_losses = self.train(self.translate("ctr_dnn", "cuda", *flags), data,
                                               "--device", "fake", "--emulate-bf16")
        self.assertEqual(losses, other_losses)
        run(PDL_CHECKPOINT, "diff", saved, other_saved)

    def test_trainers_on_both_share_a_job(self):
        data = self.data("ctr_dnn")
        for mode, servers in (("sync", 2), ("collective", 0), ("hybrid", 2)):
            with self.subTest(mode):
                plain = self.translate("ctr_dnn", "cpu", f"--mode={mode}")
                device = self.translate("ctr_dnn", "cuda", f"--mode={mode}")
                flags = ["--data", data, *TRAIN]
                saved = []
                for name, cluster in (("plain", Cluster), ("mixed", MixedCluster)):
                    saved.append(self.root / f"{mode}.{name}")
                    programs = (plain,) if cluster is Cluster else (plain, device)
                    with cluster(*programs, trainers=2, servers=servers,
                                 trainer_flags=[*flags, "--checkpoint", saved[-1]],
                                 server_flags=[*TRAIN[-2:], "--checkpoint", saved[-1]],
                                 peers=mode != "sync") as job:
                        job.start().finish()
                run(PDL_CHECKPOINT, "diff", *saved)

    def test_workers_share_devices(self):
        data = self.data("wide_deep")
        flags = ["--replicas", "2x2", "--threads", 4]
        saved, losses = self.train(self.translate("wide_deep", "cpu"), data, *flags)
        folder = self.translate("wide_deep", "cuda")
        for devices in ("fake", "fake,fake,fake"):
            with self.subTest(devices):
                subprocess.run(["rm", "-rf", folder / "saved"], check=True)
                other_saved, other_losses = self.train(folder, data, *flags, "--device", devices)
                self.assertEqual(losses, other_losses)
                run(PDL_CHECKPOINT, "diff", saved, other_saved)


if __name__ == "__main__":
    unittest.main()
