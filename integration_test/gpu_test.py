# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for a device on a GPU, where there is one: strict they have the bits of a CPU, fast they
come close, and what goes wrong is a sentence. PDL_TEST_DEVICE names another device than GPU 0; with
"fake" the tests can be tested without one."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from device_jobs import BATCH, MODELS, ROWS, DeviceJobs
from programs import run

DEVICE = os.environ.get("PDL_TEST_DEVICE", "cuda:0")


def gpus():
    """How many GPUs NVIDIA's driver has, or why none can be used."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"there is no NVIDIA driver ({error})"
    count = ctypes.c_int(0)
    for call in (lambda: driver.cuInit(0), lambda: driver.cuDeviceGetCount(ctypes.byref(count))):
        if error := call():
            return f"NVIDIA's driver finds no GPU (CUDA error {error})"
    return count.value or "there is no GPU"


def setUpModule():
    found = gpus() if DEVICE.startswith("cuda") else 1
    if not isinstance(found, int):
        raise unittest.SkipTest(found)


def losses_of(lines):
    return [float(line) for line in lines[0].split()]


def auc_of(lines):
    return float(next(re.search(r"AUC ([0-9.]+)", line).group(1) for line in lines
                      if line.startswith("test ") and "AUC" in line))


class Gpu(DeviceJobs):

    device = DEVICE

    def test_each_model_has_the_bits_of_a_cpu(self):
        for name in MODELS:
            with self.subTest(name):
                self.check_same(name)

    def test_products_of_rounded_factors(self):
        self.check_same("ctr_dnn", "--emulate-bf16", translate=["--compute=bf16"])

    def test_trainers_on_both_share_a_job(self):
        for mode, servers in (("sync", 2), ("collective", 0), ("hybrid", 2)):
            with self.subTest(mode):
                self.check_shared_job(mode, servers)

    def test_workers_share_gpus(self):
        count = gpus() if DEVICE.startswith("cuda") else 2
        names = [DEVICE]
        if isinstance(count, int) and count > 1:
            names.append("cuda:0,1" if DEVICE.startswith("cuda") else f"{DEVICE},{DEVICE}")
        for name in names:
            with self.subTest(name):
                self.check_same("wide_deep", "--replicas", "2x2", "--threads", 4,
                                of_device=["--device", name])

    def test_fast_numerics_come_close(self):
        """The loss of each step of the first epoch, relative to that of a CPU in strict."""
        for name in ("ctr_dnn", "dlrm", "sasrec"):
            with self.subTest(name):
                data = self.data(name)
                _, exact = self.train(self.translate(name, "cpu"), data)
                _, fast = self.train(self.translate(name, "cuda", numerics="fast"), data,
                                     "--device", self.device)
                steps = ROWS // BATCH
                for step, (a, b) in enumerate(zip(losses_of(exact)[:steps],
                                                  losses_of(fast)[:steps])):
                    self.assertLessEqual(abs(a - b), 1e-5 * max(1, abs(a)), f"step {step}")

    def test_fast_numerics_learn_as_much(self):
        """Test AUC of seeds in pairs: the mean difference is none that seeds do not make."""
        data = self.data("ctr_dnn", 2000)
        programs = self.translate("ctr_dnn", "cpu"), self.translate("ctr_dnn", "cuda",
                                                                    numerics="fast")
        differences = []
        for seed in range(5):
            steps = ["--rows", "0:2000", "--batch-size", 100, "--epochs", 1, "--seed", seed]
            cpu, device = (auc_of(self.train(folder, data, *more, steps=steps)[1])
                           for folder, more in zip(programs, ([], ["--device", self.device])))
            differences.append(device - cpu)
        mean = sum(differences) / len(differences)
        spread = (sum((each - mean) ** 2 for each in differences) / (len(differences) - 1)) ** 0.5
        # 2.776: the two-sided 5 % point of Student's t of four degrees of freedom.
        self.assertLessEqual(abs(mean), 2.776 * spread / len(differences) ** 0.5 + 1e-4,
                             differences)

    def test_memory_is_used_as_it_may(self):
        """NVIDIA's compute-sanitizer, of CUDA's toolkit, on one model."""
        tool = shutil.which("compute-sanitizer") or shutil.which(
            "compute-sanitizer", path="/usr/local/cuda/bin")
        if not tool or not DEVICE.startswith("cuda"):
            self.skipTest("compute-sanitizer is not installed, or there is no GPU")
        folder, data = self.translate("ctr_dnn", "cuda"), self.data("ctr_dnn")
        for check in ("memcheck", "racecheck", "initcheck"):
            with self.subTest(check):
                done = subprocess.run(
                    [tool, "--tool", check, "--error-exitcode", "9", folder / "trainer", "train",
                     "--data", data, "--batch-size", "32", "--steps", "2", "--device",
                     self.device], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-1000:])

    def test_a_trace_has_the_work_of_the_device(self):
        folder, data = self.translate("ctr_dnn", "cuda"), self.data("ctr_dnn")
        trace = pathlib.Path(folder) / "trace.json"
        run(folder / "trainer", "train", "--data", data, "--batch-size", 32, "--steps", 3,
            "--trace", trace, "--device", self.device)
        text = trace.read_text()
        for name in (": compute", ": batches", ": rules", "pdldevice_product_f32"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
