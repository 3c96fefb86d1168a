# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on a GPU. In strict numerics they must have the bits of a CPU; in fast numerics they
must agree within the tolerances below. Also tests insufficient memory, and errors that NVIDIA's
compute-sanitizer finds.

All tests are skipped if there is no GPU. PDL_TEST_DEVICE selects another device than cuda:0. With
PDL_TEST_DEVICE=fake the same code runs on the fake device, with fewer rows. PDL_TEST_SANITIZER is
the path of compute-sanitizer, if it is not found automatically."""

import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from device_jobs import DeviceJobs, count_gpus
from programs import ADULT, metric, run

from check_goldens import PAIRED_TOLERANCE

DEVICE = os.environ.get("PDL_TEST_DEVICE", "cuda:0")
IS_FAKE = DEVICE.startswith("fake")
GPUS, MISSING = (0, None) if IS_FAKE else count_gpus()

# Relative tolerance of losses in fast numerics. A CPU that sums in another order causes
# differences of a thousandth of it. CTR-DNN with factors that are rounded to bf16 differs by a
# hundred times as much.
FAST_TOLERANCE = 1e-5
EPOCH = ["--rows", f"0:{1280 if IS_FAKE else 6400}", "--batch-size", 64, "--epochs", 1, "--seed", 7]

SEEDS = (1, 2, 3, 4, 5)
# Quantile of Student's distribution with four degrees of freedom, for a two-sided probability of
# 95 %.
STUDENT = 2.776
QUALITY = ["--data", ADULT, "--batch-size", 256, "--shuffle-window", 100000,
           "--evaluate-rows", "80%:", *(["--rows", "0:6400", "--epochs", 1] if IS_FAKE else
                                        ["--rows", "0%:80%", "--epochs", 4])]

# One layer is so wide that no GPU has enough memory for a batch, although the samples need few
# bytes on the host.
WIDE = """
module @wide {
  nn.record @row {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @all rule(@sgd) rate(1.0e-3)
  nn.param @w1 : tensor<1x65536xf32> in @all init(#nn.xavier)
  nn.param @b1 : tensor<65536xf32> in @all init(#nn.zeros)
  nn.param @w2 : tensor<65536x1xf32> in @all init(#nn.xavier)
  nn.param @b2 : tensor<1xf32> in @all init(#nn.zeros)
  nn.program @train reads(@row) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %h = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x1xf32>) -> tensor<?x65536xf32>
    %z = nn.linear %h, @w2, @b2 : (tensor<?x65536xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@all] : tensor<?x1xf32>
  }
}
"""
# With this batch size, the values of the layer alone need 512 GiB.
HUGE_BATCH = 1 << 21


def find_sanitizer():
    named = os.environ.get("PDL_TEST_SANITIZER")
    # compute-sanitizer rejects a program that uses no GPU.
    if named or IS_FAKE:
        return named
    return shutil.which("compute-sanitizer", path=os.pathsep.join(
        [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))


def apart(losses, others):
    """Returns the distance between two lists of losses, relative to their size: the larger one of
    the differences between their means, and between the means of their last quarters, which depend
    on all updates before. Steps without a loss must be the same in both lists."""
    if list(map(math.isnan, losses)) != list(map(math.isnan, others)):
        return math.inf
    pairs = [pair for pair in zip(losses, others) if not math.isnan(pair[0])]
    found = []
    for part in (pairs, pairs[-len(pairs) // 4:]):
        size = statistics.mean(abs(other) for _, other in part)
        found.append(abs(statistics.mean(one - other for one, other in part)) / size)
    return max(found)


def interval(differences):
    """Returns the confidence interval (95 %) of the mean of the distribution of `differences`."""
    error = statistics.stdev(differences) / len(differences) ** 0.5
    middle = statistics.mean(differences)
    return middle - STUDENT * error, middle + STUDENT * error


@unittest.skipIf(MISSING, f"there is no GPU to test on: {MISSING}")
class Gpu(DeviceJobs):
    device = DEVICE

    def test_each_model_has_the_bits_of_a_cpu(self):
        self.check_all_models()

    def test_products_of_rounded_factors(self):
        self.check_same("ctr_dnn", "--emulate-bf16", translate=["--compute=bf16"])

    def test_factors_in_tf32(self):
        """Factors have ten bits after the leading one. How a GPU rounds to them is not defined."""
        self.check_tf32(of_factor=2 ** -10)

    def test_trainers_on_both_share_a_job(self):
        for mode, servers in (("sync", 2), ("collective", 0), ("hybrid", 2)):
            with self.subTest(mode):
                self.check_shared_job(mode, servers)

    def test_workers_share_devices(self):
        for devices in [DEVICE, *(["fake,fake"] if IS_FAKE else ["cuda:0,1"] if GPUS > 1 else [])]:
            with self.subTest(devices):
                self.check_same("wide_deep", "--replicas", "2x2", "--threads", 4,
                                of_device=["--device", devices])

    def test_a_trace_has_the_work_of_the_device(self):
        folder, data = self.translate("ctr_dnn", "cuda"), self.data("ctr_dnn")
        trace = folder / "trace.json"
        run(folder / "trainer", "train", "--data", data, "--batch-size", 32, "--steps", 3,
            "--trace", trace, "--device", self.device)
        text = trace.read_text()
        for name in (": compute", ": batches", ": rules", "pdldevice_product_f32"):
            self.assertIn(name, text)

    def losses_of(self, folder, data, *flags):
        path = folder / "epoch.losses"
        run(folder / "trainer", "train", "--data", data, *EPOCH, "--log-losses", path, *flags)
        return [float(line) for line in path.read_text().split()]

    def fast_next_to_a_cpu(self, name):
        """Returns the distances of the losses of an epoch on the device, in fast numerics, from
        those on a CPU in fast and in strict numerics."""
        data = self.data(name, 6400)
        ours = self.losses_of(self.translate(name, "cuda", numerics="fast"), data,
                              "--device", self.device)
        return {numerics: apart(ours, self.losses_of(
            self.translate(name, "cpu", numerics=numerics), data))
                for numerics in ("fast", "strict")}

    def test_fast_numerics_are_near_those_of_a_cpu(self):
        for name, found in self.of_all_models(self.fast_next_to_a_cpu):
            for numerics, distance in found.result().items():
                with self.subTest(name, of_the_cpu=numerics):
                    self.assertLessEqual(distance, FAST_TOLERANCE)

    def test_the_tolerance_shows_rounded_factors(self):
        data = self.data("ctr_dnn", 6400)
        plain = self.losses_of(self.translate("ctr_dnn", "cpu"), data)
        rounded = self.losses_of(self.translate("ctr_dnn", "cpu", "--compute=bf16"), data,
                                 "--emulate-bf16")
        self.assertGreater(apart(rounded, plain), 10 * FAST_TOLERANCE)

    def auc(self, folder, seed, *flags):
        said = run(folder / "trainer", "train", *QUALITY, "--seed", seed, *flags)
        return metric(said.stdout + said.stderr, "test AUC")

    def test_auc_is_that_of_a_cpu(self):
        """With paired seeds, and with a confidence of 95 %, the mean difference is within the
        effect of sums in another order."""
        for compute, flags, emulation in (("f32", (), ()),
                                          ("bf16", ("--compute=bf16",), ("--emulate-bf16",))):
            with self.subTest(compute):
                cpu = self.translate("wide_deep", "cpu", *flags, numerics="fast")
                device = self.translate("wide_deep", "cuda", *flags, numerics="fast")
                pairs = [(self.auc(device, seed, *emulation, "--device", self.device),
                          self.auc(cpu, seed, *emulation)) for seed in SEEDS]
                low, high = interval([one - other for one, other in pairs])
                print(f"{compute}: test AUC, device and CPU: {pairs}; mean difference "
                      f"{low:+.5f} to {high:+.5f}")
                self.assertGreater(low, -PAIRED_TOLERANCE)
                self.assertLess(high, PAIRED_TOLERANCE)

    def test_memory_that_is_not_there(self):
        source, data = self.root / "wide.mlir", self.root / "wide.csv"
        source.write_text(WIDE)
        with open(data, "w", encoding="ascii") as file:
            for i in range(HUGE_BATCH // 64):
                file.write(f"{i % 2},{i % 7}\n" * 64)
        folder = self.translate(source, "cuda")
        flags = ["--data", data, "--delimiter", ",", "--device", self.device]
        said = self.error_of(folder, *flags, "--batch-size", HUGE_BATCH)
        self.assertRegex(said, rf"^error: batch [0-9]+ of {data} \(group 0, worker 0\): .*[0-9]+ "
                               r"bytes.*; use a smaller --batch-size$")
        run(folder / "trainer", "train", *flags, "--batch-size", 16, "--steps", 2)

    def check_with(self, tool, clean):
        sanitizer = find_sanitizer()
        if not sanitizer:
            self.skipTest("compute-sanitizer is not there" if not IS_FAKE else
                          "compute-sanitizer looks at a GPU alone")
        data = self.data("dlrm")
        folder = self.translate("dlrm", "cuda")
        done = subprocess.run(list(map(str, [
            sanitizer, "--tool", tool, "--error-exitcode", 99, folder / "trainer", "train",
            "--data", data, "--batch-size", 32, "--steps", 3, "--evaluate-rows", "0:64",
            "--device", self.device])), capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertRegex(said, clean)

    def test_memcheck(self):
        self.check_with("memcheck", r"ERROR SUMMARY: 0 errors")

    def test_racecheck(self):
        self.check_with("racecheck", r"RACECHECK SUMMARY: 0 hazards")

    def test_initcheck(self):
        self.check_with("initcheck", r"ERROR SUMMARY: 0 errors")


if __name__ == "__main__":
    unittest.main()
