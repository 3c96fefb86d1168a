# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of programs on a device share, be it the fake one or a GPU: programs for both
sides, and what has to be the same on both."""

import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile

from cluster import Cluster
from model_data import model_data
from programs import PDL_TRANSLATE, SOURCE, model, run
from push_modes import PDL_CHECKPOINT

MODELS = sorted(path.name for path in (SOURCE / "models").iterdir() if path.is_dir())
ROWS, BATCH = 320, 32
TRAIN = ["--rows", f"0:{ROWS}", "--batch-size", BATCH, "--epochs", 2, "--seed", 7]


def count_gpus(library="libcuda.so.1"):
    """How many GPUs NVIDIA's driver knows, and why there is none (None where there are some)."""
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return 0, f"there is no {library}, the library of NVIDIA's driver"
    count = ctypes.c_int(0)
    for call, arguments in (("cuInit", (0,)), ("cuDeviceGetCount", (ctypes.byref(count),))):
        try:
            result = getattr(driver, call)(*arguments)
        except AttributeError:
            return 0, f"{library} has no {call}"
        if result:
            return 0, f"NVIDIA's driver finds no GPU ({call} says CUDA error {result})"
    if count.value < 1:
        return 0, "NVIDIA's driver finds no GPU"
    return count.value, None


class MixedCluster(Cluster):
    """Every second trainer computes on a device."""

    def __init__(self, programs, device_programs, device, **options):
        super().__init__(programs, **options)
        self.device_programs, self.device = device_programs, device

    def start_trainer(self, rank):
        if rank % 2 == 0:
            return super().start_trainer(rank)
        programs, flags = self.programs, self.trainer_flags
        self.programs = self.device_programs
        self.trainer_flags = [*flags, "--device", self.device]
        process = super().start_trainer(rank)
        self.programs, self.trainer_flags = programs, flags
        return process


class DeviceTests:
    """The tests that each device has to pass. A class of tests beside it says which one it is."""

    # As --device names it; and lists of such, which replicas share.
    DEVICE = None
    DEVICE_LISTS = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def translate(self, source, target, *flags, numerics="strict"):
        """The folder of the programs of a model of models/, or of a file."""
        path = model(source) if isinstance(source, str) else source
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{path.stem}.{target}.", dir=self.root))
        run(PDL_TRANSLATE, path,
            f"--numerics={numerics}", f"--target={target}", *flags, "-o", folder,
            "--object-cache", self.root / "cache")
        return folder

    def data(self, name, rows=ROWS):
        folder = self.root / "data" / f"{name}.{rows}"
        folder.mkdir(parents=True, exist_ok=True)
        return model_data(name, folder, rows)

    def train(self, folder, data, *flags):
        """Its checkpoint, and what it says of losses and metrics."""
        saved, losses = folder / "saved", folder / "losses"
        said = run(folder / "trainer", "train", "--data", data, *TRAIN, "--evaluate-rows",
                   "0:100", "--checkpoint", saved, "--log-losses", losses, *flags)
        metrics = [line for line in said.stdout.splitlines()
                   if line.startswith(("train ", "test "))]
        return saved, [losses.read_text(), *metrics]

    def of_all_models(self, function):
        """By name of each of models/, what the function makes of it."""
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            return {name: pool.submit(function, name) for name in MODELS}

    def other_than_on_a_cpu(self, name):
        """What of a model is other on the device; None if nothing is."""
        data = self.data(name)
        saved, losses = self.train(self.translate(name, "cpu"), data)
        other_saved, other_losses = self.train(self.translate(name, "cuda"), data,
                                               "--device", self.DEVICE)
        if losses != other_losses:
            return "other losses on a device"
        run(PDL_CHECKPOINT, "diff", saved, other_saved)
        return None

    def test_each_model_has_the_bits_of_a_cpu(self):
        for name, problem in self.of_all_models(self.other_than_on_a_cpu).items():
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

    def test_products_of_rounded_factors(self):
        data = self.data("ctr_dnn")
        flags = ["--compute=bf16"]
        saved, losses = self.train(self.translate("ctr_dnn", "cpu", *flags), data,
                                   "--emulate-bf16")
        other_saved, other_losses = self.train(self.translate("ctr_dnn", "cuda", *flags), data,
                                               "--device", self.DEVICE, "--emulate-bf16")
        self.assertEqual(losses, other_losses)
        run(PDL_CHECKPOINT, "diff", saved, other_saved)

    def test_trainers_on_both_share_a_job(self):
        data = self.data("ctr_dnn")
        for mode, servers in (("sync", 2), ("collective", 0)):
            with self.subTest(mode):
                plain = self.translate("ctr_dnn", "cpu", f"--mode={mode}")
                device = self.translate("ctr_dnn", "cuda", f"--mode={mode}")
                flags = ["--data", data, *TRAIN]
                saved = []
                for name, cluster in (("plain", Cluster), ("mixed", MixedCluster)):
                    saved.append(self.root / f"{mode}.{name}")
                    programs = (plain,) if cluster is Cluster else (plain, device, self.DEVICE)
                    with cluster(*programs, trainers=2, servers=servers,
                                 trainer_flags=[*flags, "--checkpoint", saved[-1]],
                                 server_flags=[*TRAIN[-2:], "--checkpoint", saved[-1]],
                                 peers=servers == 0) as job:
                        job.start().finish()
                run(PDL_CHECKPOINT, "diff", *saved)

    def test_workers_share_devices(self):
        data = self.data("wide_deep")
        flags = ["--replicas", "2x2", "--threads", 4]
        saved, losses = self.train(self.translate("wide_deep", "cpu"), data, *flags)
        folder = self.translate("wide_deep", "cuda")
        for devices in self.DEVICE_LISTS:
            with self.subTest(devices):
                shutil.rmtree(folder / "saved", ignore_errors=True)
                other_saved, other_losses = self.train(folder, data, *flags, "--device", devices)
                self.assertEqual(losses, other_losses)
                run(PDL_CHECKPOINT, "diff", saved, other_saved)
