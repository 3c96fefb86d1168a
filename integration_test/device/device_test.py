# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for a device, on the fake device. Each model of models/ trains to the same bits as on a
CPU, trainers on CPUs and on devices work in one job, and a failing device ends a training with an
error message."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from device_jobs import BATCH, ROWS, TRAIN, DeviceJobs, count_gpus
from programs import PDL_CHECKPOINT, PDL_OPT, model, run

# The gradient of this loss is the data.
SUMS = """module @sums {
  nn.record @r {
    nn.field @x : tensor<?x1xf32> columns([0])
  }
  nn.group @g rule(@sgd) rate(1.0)
  nn.param @b : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %b = nn.read @b : tensor<1xf32>
    %l = nn.mul %x, %b : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %b = nn.read @b : tensor<1xf32>
    %d = nn.sub %x, %x : tensor<?x1xf32>, tensor<?x1xf32>
    %o = nn.add %d, %b : tensor<?x1xf32>, tensor<1xf32>
    nn.return %o : tensor<?x1xf32>
  }
}
"""


# Values that the report requires to predict times, too.
MACHINE = ["local_message_seconds", "local_message_byte_seconds", "message_seconds",
           "message_byte_seconds", "process_bytes", "cores", "flops_per_second",
           "memory_bytes_per_second", "find_key_seconds", "new_key_seconds", "new_byte_seconds",
           "network_bytes_per_second", "round_trip_seconds"]


class Device(DeviceJobs):

    def test_each_model_has_the_bits_of_a_cpu(self):
        self.check_all_models()

    def test_tables_on_the_device(self):
        """Rows on a device, their rules, lookups in frozen programs, and their content in
        checkpoints."""
        several = ["--replicas", "2x2", "--threads", 4]
        for name in ("ctr_dnn", "din", "dlrm", "word2vec", "wide_deep"):
            for devices, flags in (("fake", []), ("fake", several), ("fake,fake,fake", several)):
                if "," in devices and name not in ("ctr_dnn", "word2vec"):
                    continue
                with self.subTest(name, devices=devices, flags=flags):
                    self.check_same(name, *flags, of_device=["--device", devices,
                                                             "--table-placement", "device"])

    def test_a_table_on_the_device_goes_on(self):
        """A training resumes on the device from a checkpoint of the host, which was saved during
        steps, and vice versa. Also tests the output about rows."""
        data = self.data("ctr_dnn", 2 * ROWS)
        cpu, device = self.translate("ctr_dnn", "cpu"), self.translate("ctr_dnn", "cuda")
        on_device = ["--device", "fake", "--table-placement", "device"]
        whole = self.root / "goes_on.whole"
        steps = ["--rows", f"0:{ROWS}", "--batch-size", BATCH, "--seed", 7]
        said = run(cpu / "trainer", "train", "--data", data, *steps, "--epochs", 3,
                   "--checkpoint", whole)
        keys = re.search(r"table @\w+ keys (\d+)", said.stdout).group(1)
        for first, second in (((cpu, []), (device, on_device)), ((device, on_device), (cpu, [])),
                              ((device, on_device), (device, on_device))):
            saved = pathlib.Path(tempfile.mkdtemp(dir=self.root)) / "checkpoint"
            for (folder, flags), more in ((first, ["--epochs", 1]),
                                          (second, ["--epochs", 3, "--resume"])):
                said = run(folder / "trainer", "train", "--data", data, *steps, *more,
                           "--checkpoint", saved, "--checkpoint-steps", 3, *flags)
                where = " on the device" if flags else ""
                self.assertRegex(said.stdout, rf"table @\w+ keys \d+, [0-9.]+ MiB{where}\n")
                self.assertEqual("device memory " in said.stdout, bool(flags))
            self.assertIn(f" keys {keys},", said.stdout)
            run(PDL_CHECKPOINT, "diff", whole, saved)
            results = []
            for folder, flags in ((cpu, []), (device, on_device)):
                out = saved.parent / "predictions"
                run(folder / "trainer", "predict", "--data", data, "--rows", f"{ROWS}:{2 * ROWS}",
                    "--checkpoint", saved, "--output", out, *flags)
                said = run(folder / "trainer", "evaluate", "--data", data, "--checkpoint", saved,
                           *flags)
                results.append((out.read_bytes(), [line for line in said.stdout.splitlines()
                                                   if "/s" not in line]))
            self.assertEqual(*results)

    def test_tables_that_cannot_be_on_the_device(self):
        data = self.data("ctr_dnn")
        folder = self.translate("ctr_dnn", "cuda")
        for flags, message in (
                (["--device", "fake", "--replicas", "1x2", "--hogwild"], "is not for --hogwild"),
        ):
            with self.subTest(flags):
                said = self.error_of(folder, "--data", data, "--table-placement", "device", *flags,
                                     status=2)
                self.assertIn(message, said)
                self.assertIn("--table-placement host", said)
        for target, flags, message in (
                ("cpu", [], "translated with --target=cuda"),
                ("cuda", ["--mode=collective"], "this program is of mode collective")):
            said = self.error_of(self.translate("ctr_dnn", target, *flags), "--data", data,
                                 "--table-placement", "device", *(["--rank", 0, "--trainers", 1,
                                 "--peers", f"unix:{self.root}/own", "--device", "fake"] if flags else []),
                                 status=2)
            self.assertIn(message, said)
        self.assertIn("target GPU           sm_80 and newer",
                      run(self.translate("ctr_dnn", "cuda") / "trainer", "--version").stdout)
        said = self.error_of(self.translate("ctr_dnn", "cpu"), "--data", data, "--device", "fake", status=2)
        self.assertEqual(said, "error: --device is for a program that computes on devices, but this program "
                               "computes on CPUs: leave it out, or translate the model with --target=cuda")

    def test_memory_is_as_predicted(self):
        """The report predicts memory from a run with smaller batches. Tables are not included in
        this prediction."""
        machine = self.root / "machine.json"
        machine.write_text(json.dumps(dict.fromkeys(MACHINE, 1e-6) | {"cores": 2}))
        for name, more in (("ctr_dnn", []), ("dlrm", ["--table-placement", "device"]), ("din", [])):
            data = self.data(name, 1024)
            folder = self.translate(name, "cuda", numerics="fast")
            costs = self.root / f"{name}.costs"
            flags = ["--data", data, "--device", "fake"]
            run(folder / "trainer", "train", *flags, "--batch-size", 32, "--steps", 8, "--costs", costs,
                *more)
            for batch in (128, 512):
                with self.subTest(name, batch=batch):
                    said = run(folder / "trainer", "train", *flags, "--batch-size", batch, "--steps", 2)
                    measured = float(re.search(r"device memory ([0-9.]+) MiB", said.stdout)[1])
                    report = run(PDL_OPT, model(name), "--pdl-pipeline=to=placed mode=collective",
                                 f"--ps-report=batch-size={batch} costs={costs} machine={machine}",
                                 "-o", os.devnull)
                    number, unit = re.search(r"its device +([0-9.]+) ([KM])iB", report.stdout).groups()
                    predicted = float(number) / (1 if unit == "M" else 1024)
                    # The printed number has one digit after the point.
                    self.assertAlmostEqual(predicted, measured, delta=0.1 * measured + 0.05)

    def test_a_device_without_room_for_a_table(self):
        data = self.data("ctr_dnn")
        folder = self.translate("ctr_dnn", "cuda")
        sentences = set()
        for allocations in (*range(0, 40, 3), 60, 90):
            said = self.error_of(folder, "--data", data, "--table-placement", "device",
                                 "--device", f"fake:allocations={allocations}", status=3)
            sentences.add(re.sub(r"\d+", "N", said))
        self.assertTrue(any("has no room for table @" in each for each in sentences), sentences)

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
        for fault, status, message in (
                ("allocations=3", 3, "the device has no [0-9]+ bytes left; use a smaller "
                                     "--batch-size"),
                # A launch on a GPU fails for the same reasons as launched work, for example
                # because a device is lost. So a retry may succeed.
                ("launches=9", 3, r"kernel\$_[a-z0-9_]+ cannot be launched: the fake device was told "
                                   "to fail; start again, with --resume where there is a checkpoint"),
                ("work=20", 3, "the device is lost: the fake one was told to fail; start again, "
                               "with --resume where there is a checkpoint")):
            with self.subTest(fault):
                said = self.error_of(folder, *flags, "--resume", "--device", f"fake:{fault}",
                                     status=status)
                self.assertRegex(said, f"^error: {place}{message}$")
                # The saved files are unchanged, and training can continue from them.
                self.assertEqual(kept, sorted(path.relative_to(saved)
                                              for path in saved.rglob("*")))
        # Commands that only read have no training that could continue.
        for command in ("predict", "evaluate"):
            done = subprocess.run([folder / "trainer", command, "--data", data, "--checkpoint", saved,
                                   "--device", "fake:work=20"], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, "the device is lost: the fake one was told to fail\n$")
        whole = self.root / "whole"
        run(folder / "trainer", "train", *flags[:-2], "--checkpoint", whole, "--device", "fake")
        run(folder / "trainer", "train", *flags, "--resume", "--device", "fake")
        run(PDL_CHECKPOINT, "diff", saved, whole)

    def test_what_is_no_device(self):
        data = self.data("logistic_regression")
        folder = self.translate("logistic_regression", "cuda")
        for name in ("gpu", "cuda:", "cuda:x", "fake:", "fake:work", "fake:work=x", "fake:products=x",
                     "fake:sleep=1"):
            with self.subTest(name):
                self.assertIn(f"there is no device '{name}'; use cuda, cuda:N for NVIDIA's GPU N, "
                              "or fake",
                              self.error_of(folder, "--data", data, "--device", name, status=2))

    def test_devices_that_are_too_many(self):
        data = self.data("logistic_regression")
        folder = self.translate("logistic_regression", "cuda")
        for names, message in (
                ("fake,fake", "--device names 2 devices, but this process has 1 replica, each of "
                              "which computes on one"),
                ("cuda:0,1,0", "--device cuda:0,1,0 names cuda:0 twice"),
                ("cuda,0", "--device cuda,0 names cuda:0 twice"),
                ("cuda:0,fake", "--device cuda:0,fake names GPUs and fake devices"),
                ("fake,cuda:1", "--device fake,cuda:1 names GPUs and fake devices"),
                ("fake,", "there is no device ''")):
            with self.subTest(names):
                self.assertIn(message, self.error_of(folder, "--data", data, "--device", names,
                                                      status=2))
        # If the host has no GPU, this is no error in the flags.
        if count_gpus()[0] == 0:
            self.error_of(folder, "--data", data, "--device", "cuda")
        for command in ("predict", "evaluate"):
            done = subprocess.run([folder / "trainer", command, "--data", data, "--init-from", data,
                                   "--device", "gpu"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("there is no device 'gpu'", done.stderr)

    def test_traces_distinguish_devices_and_rules(self):
        folder, data = self.translate("ctr_dnn", "cuda"), self.data("ctr_dnn")
        trace = folder / "trace.json"
        run(folder / "trainer", "train", "--data", data, "--batch-size", 32, "--steps", 2,
            "--replicas", "2x1", "--device", "fake,fake", "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        rows = {event["args"]["name"]: event["tid"] for event in events
                if event["name"] == "thread_name"}
        parameters = set(re.findall(r"nn\.param (@\w+)", model("ctr_dnn").read_text()))
        for number in range(2):
            of_rules = [event["name"] for event in events
                        if event["ph"] == "X" and event["tid"] == rows[f"fake {number}: rules"]]
            self.assertEqual({name.split(" of ")[1] for name in of_rules if " of " in name}, parameters)
            self.assertLess(len({name.split(" of ")[0] for name in of_rules if " of " in name}),
                            len(parameters))

    def test_products_of_rounded_factors(self):
        self.check_same("ctr_dnn", "--emulate-bf16", translate=["--compute=bf16"])

    def test_fast_products(self):
        """The fake device computes products in the strict order; a kernel computes those that it
        rejects. So all other parts must have the bits of strict numerics. Sums over a batch have
        them if the batch has at most 128 rows, including those of histories."""
        few = ["--rows", "0:80", "--batch-size", 4, "--epochs", 2, "--seed", 7]
        for name, flags, steps in (("ctr_dnn", [], TRAIN), ("dssm", [], TRAIN), ("din", [], few),
                                   ("ctr_dnn", ["--compute=bf16"], TRAIN)):
            data = self.data(name)
            emulate = ["--emulate-bf16"] if flags else []
            saved, losses = self.train(self.translate(name, "cpu", *flags), data, *emulate,
                                       steps=steps)
            folder = self.translate(name, "cuda", *flags, numerics="fast")
            for device in ("fake", "fake:products=5"):
                with self.subTest(name, flags=flags, device=device):
                    other_saved, other_losses = self.train(folder, data, *emulate, "--device", device,
                                                           steps=steps)
                    self.assertEqual(losses, other_losses)
                    run(PDL_CHECKPOINT, "diff", saved, other_saved)

    def test_factors_in_tf32(self):
        """The fake device rounds factors to nearest."""
        self.check_tf32(of_factor=2 ** -11)
        source, data = model("logistic_regression"), self.data("logistic_regression")
        for target, numerics, message in (
                ("cpu", "fast", "this program computes on CPUs: leave it out, or translate the model with "
                                "--target=cuda"),
                ("cuda", "strict", "the products of this program are strict: leave it out, or translate "
                                   "the model with --numerics=fast")):
            folder = self.translate(source, target, numerics=numerics)
            for command in (["train"], ["predict", "--init-from", source],
                            ["evaluate", "--init-from", source]):
                with self.subTest(target, command=command[0]):
                    done = subprocess.run([folder / "trainer", *command, "--data", data, "--tf32"],
                                          capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertRegex(done.stderr, f"^error: --tf32 is for .*, but {message}\n$")

    def test_fast_sums_over_a_batch(self):
        """The sum is computed in 128 chunks of 8 samples, whose sums are added. The samples are
        2^24 and 1023 ones. The first chunk becomes 2^24, and the others are exact. In ascending
        order, no 1 would change the sum."""
        model = self.root / "sums.mlir"
        model.write_text(SUMS)
        data = self.root / "sums.csv"
        data.write_text("".join(f"{x}\n" for x in [2**24] + [1] * 1023))
        # Gradient of the parameter, divided by the weight of all samples.
        for numerics, samples, value in (("fast", 1024, -(2**24 + 127 * 8) / 1024),
                                         ("strict", 1024, -2**24 / 1024),
                                         ("fast", 128, -2**24 / 128)):
            with self.subTest(numerics, samples=samples):
                trainer = self.translate(model, "cuda", numerics=numerics) / "trainer"
                saved = trainer.parent / f"of.{samples}"
                run(trainer, "train", "--data", data, "--batch-size", samples, "--steps", 1, "--device",
                    self.device, "--dump", saved)
                said = run(trainer, "predict", "--data", data, "--rows", "0:1", "--init-from", saved,
                           "--device", self.device).stdout
                # The tolerance is less than half of the distance between neighboring f32 numbers.
                self.assertAlmostEqual(float(said.split()[-1]), value, delta=5e-4)

    def test_trainers_on_both_share_a_job(self):
        for mode, servers in (("sync", 2), ("collective", 0), ("hybrid", 2)):
            with self.subTest(mode):
                self.check_shared_job(mode, servers)

    def test_workers_share_devices(self):
        for devices in ("fake", "fake,fake,fake"):
            with self.subTest(devices):
                self.check_same("wide_deep", "--replicas", "2x2", "--threads", 4,
                                of_device=["--device", devices])


if __name__ == "__main__":
    unittest.main()
