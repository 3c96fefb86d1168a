# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of the tests of devices: programs of a model for CPUs and for a device, and
comparisons of the results of trainings with both."""

import array
import concurrent.futures
import ctypes
import math
import os
import pathlib
import random
import tempfile

from cluster import Cluster
from folders import SharedFolderTest
from model_data import model_data
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, SOURCE, fails, model, run

import tensorfile

MODELS = sorted(path.name for path in (SOURCE / "models").iterdir() if path.is_dir())
ROWS, BATCH = 320, 32
TRAIN = ["--rows", f"0:{ROWS}", "--batch-size", BATCH, "--epochs", 2, "--seed", 7]

# The prediction of this model is one product.
LINES = """module @lines {
  nn.record @row {
    nn.field @x : tensor<?x64xf32>
  }
  nn.group @all rule(@sgd) rate(1.0e-2)
  nn.param @w : tensor<64x16xf32> in @all init(#nn.xavier)
  nn.param @b : tensor<16xf32> in @all init(#nn.zeros)
  nn.param @v : tensor<16x1xf32> in @all init(#nn.xavier)
  nn.param @c : tensor<1xf32> in @all init(#nn.zeros)
  nn.program @train reads(@row) {
  ^bb0(%x: tensor<?x64xf32>):
    %h = nn.linear %x, @w, @b : (tensor<?x64xf32>) -> tensor<?x16xf32>
    %z = nn.linear %h, @v, @c : (tensor<?x16xf32>) -> tensor<?x1xf32>
    %l = nn.mul %z, %z : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l over [@all] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@row) {
  ^bb0(%x: tensor<?x64xf32>):
    %h = nn.linear %x, @w, @b : (tensor<?x64xf32>) -> tensor<?x16xf32>
    nn.return %h : tensor<?x16xf32>
  }
}
"""


def count_gpus(library="libcuda.so.1"):
    """Returns the number of GPUs that NVIDIA's driver finds, and the reason if there is none
    (otherwise None)."""
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
    """Job in which every second trainer computes on a device."""

    def __init__(self, programs, device_programs, device, **options):
        super().__init__(programs, **options)
        self.device_programs, self.device = device_programs, device

    def start_trainer(self, rank):
        if rank % 2 == 0:
            return super().start_trainer(rank)
        programs, flags = self.programs, self.trainer_flags
        self.programs, self.trainer_flags = self.device_programs, [*flags, "--device", self.device]
        process = super().start_trainer(rank)
        self.programs, self.trainer_flags = programs, flags
        return process


class DeviceJobs(SharedFolderTest):
    """Trains on `device`, which is a value of --device."""

    device = "fake"

    def translate(self, source, target, *flags, numerics="strict"):
        """Translates a model of models/, given by its name, or a file. Returns the folder of the
        programs."""
        path = model(source) if isinstance(source, str) else source
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{path.stem}.{target}.", dir=self.root))
        run(PDL_TRANSLATE, path, f"--numerics={numerics}", f"--target={target}", *flags,
            "-o", folder)
        return folder

    def data(self, name, rows=ROWS):
        folder = self.root / "data" / f"{name}.{rows}"
        folder.mkdir(parents=True, exist_ok=True)
        return model_data(name, folder, rows)

    def train(self, folder, data, *flags, steps=TRAIN):
        """Returns the path of the checkpoint, and a list of the losses and metrics of the
        training."""
        saved = pathlib.Path(tempfile.mkdtemp(prefix="saved.", dir=folder)) / "checkpoint"
        losses = saved.parent / "losses"
        said = run(folder / "trainer", "train", "--data", data, *steps, "--evaluate-rows",
                   "0:100", "--checkpoint", saved, "--log-losses", losses, *flags)
        metrics = [line for line in said.stdout.splitlines() if line.startswith(("train ", "test "))]
        return saved, [losses.read_text(), *metrics]

    def check_same(self, name, *flags, of_device=(), translate=()):
        """Checks that training a model on the device and on a CPU gives bit-identical results."""
        data = self.data(name)
        saved, losses = self.train(self.translate(name, "cpu", *translate), data, *flags)
        other_saved, other_losses = self.train(self.translate(name, "cuda", *translate), data,
                                               *flags, *(of_device or ("--device", self.device)))
        self.assertEqual(losses, other_losses)
        run(PDL_CHECKPOINT, "diff", saved, other_saved)

    def of_all_models(self, function):
        """Calls the function with each model of models/, concurrently. Returns pairs of a name and
        a future, in the order of MODELS."""
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            return [(name, pool.submit(function, name)) for name in MODELS]

    def problem(self, name):
        """Returns a description of the differences from a CPU; None if there are none."""
        try:
            self.check_same(name)
        except AssertionError as error:
            return str(error)
        return None

    def check_all_models(self):
        for name, problem in self.of_all_models(self.problem):
            with self.subTest(name):
                self.assertIsNone(problem.result())

    def check_shared_job(self, mode, servers):
        """Checks that a job with one trainer on a CPU and one on the device has the same bits as a
        job with both on CPUs."""
        data = self.data("ctr_dnn")
        plain = self.translate("ctr_dnn", "cpu", f"--mode={mode}")
        device = self.translate("ctr_dnn", "cuda", f"--mode={mode}")
        saved = []
        for name in ("plain", "mixed"):
            saved.append(self.root / f"{mode}.{name}")
            options = dict(trainers=2, servers=servers,
                           trainer_flags=["--data", data, *TRAIN, "--checkpoint", saved[-1]],
                           server_flags=[*TRAIN[-2:], "--checkpoint", saved[-1]],
                           peers=mode != "sync")
            with (Cluster(plain, **options) if name == "plain" else
                  MixedCluster(plain, device, self.device, **options)) as job:
                job.start().finish()
        run(PDL_CHECKPOINT, "diff", *saved)

    def check_tf32(self, of_factor):
        """Checks the effect of --tf32 on products. With f32 and numerics fast, the results must
        change, but by no more than factors with a relative error of `of_factor` explain. The
        results of other products must not change."""
        source, data = self.root / "lines.mlir", self.root / "lines.safetensors"
        source.write_text(LINES)
        draw, samples = random.Random(3), 48
        x = [array.array("f", (draw.gauss(0, 1) for _ in range(64))) for _ in range(samples)]
        tensorfile.write(data, {"x": tensorfile.Tensor(
            "F32", [samples, 64], array.array("f", (each for row in x for each in row)))})
        device = ["--device", self.device]

        def numbers(folder, *flags):
            said = run(folder / "trainer", "predict", "--data", data, "--init-from", folder / "values",
                       *device, *flags).stdout
            return [list(map(float, line.split("\t"))) for line in said.splitlines()[-samples:]]

        for flags, more in (([], []), (["--compute=bf16"], ["--emulate-bf16"]),
                            (["--element-type=f64"], [])):
            with self.subTest(flags):
                folder = self.translate(source, "cuda", *flags, numerics="fast")
                run(folder / "trainer", "train", "--data", data, "--steps", 0, "--dump",
                    folder / "values", *device, *more)
                plain, rounded = numbers(folder, *more), numbers(folder, *more, "--tf32")
                if flags:
                    self.assertEqual(plain, rounded)
                    continue
                weights = tensorfile.read(folder / "values")["w"].rows()
                beyond_f32 = 0
                for i, row in enumerate(x):
                    for j in range(16):
                        terms = [row[k] * weights[k][j] for k in range(64)]
                        size, exact = sum(map(abs, terms)), math.fsum(terms)
                        # The bound for 64 sums and products, each rounded to 24 bits.
                        of_sums = 65 * 2 ** -24 * size
                        self.assertLessEqual(abs(plain[i][j] - exact), of_sums)
                        off = abs(rounded[i][j] - exact)
                        self.assertLessEqual(off, (2 * of_factor + of_factor ** 2) * size + 2 * of_sums)
                        beyond_f32 += off > of_sums
                self.assertGreater(beyond_f32, samples * 16 / 2)
                trained = []
                for flag in ([], ["--tf32"], ["--tf32"]):
                    losses = folder / "losses"
                    run(folder / "trainer", "train", "--data", data, "--batch-size", 16, "--epochs", 2,
                        "--log-losses", losses, *device, *flag)
                    trained.append(losses.read_text())
                self.assertNotEqual(trained[0], trained[1])
                self.assertEqual(trained[1], trained[2])

    def error_of(self, folder, *flags, status=1):
        """Runs a training that must fail. Returns its error message."""
        said = fails(folder / "trainer", "train", *flags, status=status)
        lines = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(lines), 1, said)
        return lines[0]
