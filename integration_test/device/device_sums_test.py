# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trainers that own parameters and have all of them on devices, which sum the gradients. The tests
run real processes on fake devices, which add in the order of trainers. So jobs in fast numerics
have the bits of strict jobs on CPUs."""

import array
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import averaged_model
import not_finite_models
from cluster import Cluster
from device_jobs import TRAIN, DeviceJobs, MixedCluster
from programs import PDL_CHECKPOINT, nightly, run

import tensorfile

SHARED = "gradients of parameters are added between the devices of all trainers"
ALONE = "parameters and slots stay on the devices of this trainer"
APART = "gradients of parameters go through the host to their owners: "


class DeviceSums(DeviceJobs):

    def folders(self, name, mode, *flags):
        """Returns the folders of strict programs for CPUs and of fast programs for devices."""
        return (self.translate(name, "cpu", f"--mode={mode}", *flags),
                self.translate(name, "cuda", f"--mode={mode}", *flags, numerics="fast"))

    def job(self, folder, saved, data, *flags, trainers=2, servers=0, device="fake", steps=TRAIN,
            kind=Cluster, **options):
        trainer = ["--data", data, *steps, "--checkpoint", saved, *flags]
        server = ["--seed", 7, "--checkpoint", saved]
        if "--resume" in flags:
            server.append("--resume")
        if kind is not Cluster:
            options["device"] = device
        elif device:
            trainer += ["--device", device]
        return kind(folder, trainers=trainers, servers=servers, trainer_flags=trainer,
                    server_flags=server, peers=True, **options)

    def check_same_bits(self, name, mode, *flags, trainers=2, device="fake", translate=(), data=None,
                        steps=TRAIN, next_to_owners=False):
        """Checks that a job whose devices sum gradients has the bits of a strict job on CPUs, or
        of a job with the same programs whose owners sum. Returns the output of its trainers."""
        data = data or self.data(name)
        servers = 2 if mode == "hybrid" else 0
        plain, fast = self.folders(name, mode, *translate)
        place = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        saved = [place / "other", place / "device"]
        other = (fast, device, ["--device-sums", "off"]) if next_to_owners else (plain, None, [])
        tests = ["--evaluate-rows", "0:100"]
        said = []
        for path, (folder, on, more) in zip(saved, (other, (fast, device, []))):
            with self.job(folder, path, data, *tests, *flags, *more, trainers=trainers, servers=servers,
                          device=on, steps=steps) as job:
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
                        self.assertIn(SHARED if trainers > 1 else ALONE, output)
                        self.assertNotIn(APART, output)

    def test_one_trainer_has_no_order_to_keep(self):
        """With one trainer, the order of sums does not matter, so strict programs also sum on
        devices."""
        data = self.data("ctr_dnn")
        saved = [self.root / f"one.{kind}" for kind in ("cpu", "device")]
        for path, target in zip(saved, ("cpu", "cuda")):
            folder = self.translate("ctr_dnn", target, "--mode=collective")
            with self.job(folder, path, data, trainers=1,
                          device="fake" if target == "cuda" else None) as job:
                self.assertEqual(ALONE in job.start().finish()[0], target == "cuda")
        run(PDL_CHECKPOINT, "diff", *saved)

    def test_workers_and_devices_of_a_trainer(self):
        """Several replicas on a device, and several devices of a trainer. With the devices of two
        trainers, a group adds device by device. In the fixed summation order, the devices of one
        trainer are added first, so the sum differs."""
        flags = ["--replicas", "1x2"]
        self.check_same_bits("wide_deep", "collective", *flags)
        self.check_same_bits("wide_deep", "collective", *flags, trainers=1, device="fake,fake")
        losses = []
        for device in ("fake", "fake,fake"):
            folder = self.translate("wide_deep", "cuda", "--mode=collective", numerics="fast")
            with self.job(folder, self.root / f"devices.{device}", self.data("wide_deep"), *flags,
                          device=device) as job:
                said = job.start().finish()
            self.assertIn(SHARED, said[0])
            losses.append(float(re.search(r"^train loss ([0-9.]+)", said[0], re.M)[1]))
        self.assertAlmostEqual(*losses, places=4)

    def shared_problem(self, name):
        try:
            # Compare with the same programs, because fast numerics adds bags in chunks.
            said = self.check_same_bits(name, "collective", next_to_owners=True)
        except AssertionError as error:
            return str(error), None
        return None, [line for line in said[0].splitlines() if SHARED in line or APART in line]

    def test_some_models(self):
        for name in ("ctr_dnn", "sasrec"):
            problem, lines = self.shared_problem(name)
            self.assertIsNone(problem)
            self.assertNotIn(APART, "".join(lines))

    @nightly
    def test_each_model(self):
        """A model that is not summed on devices has parameters whose rules or gradients are left
        to the host."""
        apart = []
        for name, found in self.of_all_models(self.shared_problem):
            with self.subTest(name):
                problem, lines = found.result()
                self.assertIsNone(problem)
                self.assertEqual(len(lines), 1, lines)
                if APART in lines[0]:
                    apart.append(name)
                    self.assertIn("has parameters whose rules or gradients are left to the host",
                                  lines[0])
        self.assertEqual(apart, ["gan"])

    def test_who_keeps_to_owners(self):
        """If one trainer cannot use device sums, no trainer uses them, and the message names that
        trainer."""
        name = "logistic_regression"
        data = self.data(name)
        plain, fast = self.folders(name, "collective")
        strict = self.translate(name, "cuda", "--mode=collective")
        expected = self.root / "apart.expected"
        with self.job(plain, expected, data, device=None) as job:
            job.start().finish()
        for number, (folder, flags, why) in enumerate((
                (fast, ["--device-sums", "off"], None),
                (fast, ["--overlap", "on"], "trainer 0 was started with --overlap on"),
                (strict, [], None))):
            with self.subTest(flags=flags):
                saved = self.root / f"apart.{number}"
                with self.job(folder, saved, data, *flags) as job:
                    for output in job.start().finish():
                        self.assertNotIn(SHARED, output)
                        (self.assertIn(APART + why, output) if why else
                         self.assertNotIn(APART, output))
                # This sum contains no product that oneDNN would compute differently.
                run(PDL_CHECKPOINT, "diff", expected, saved)
        with self.job(self.translate(name, "cpu", "--mode=collective", numerics="fast"),
                      self.root / "apart.mixed", data, kind=MixedCluster,
                      device_programs=fast) as job:
            said = job.start().finish()
            self.assertNotIn(APART, said[0])
            self.assertIn(APART + "trainer 0 computes on the host", said[1])
        with self.job(fast, self.root / "apart.on", data, "--device-sums", "on", "--pack-gradients",
                      "bf16") as job:
            job.server_flags += ["--pack-gradients", "bf16"]
            job.start()
            for trainer in job.trainers:
                self.assertEqual(trainer.wait(), 1, trainer.output)
                self.assertIn("--device-sums on, but trainer 0 packs gradients", trainer.output)

    def test_what_the_flag_is_not_for(self):
        name = "logistic_regression"
        data = self.data(name)
        for mode, target, numerics, message in (
                ("sync", "cuda", "fast", "--device-sums is for modes in which trainers own parameters, "
                                         "but this program is of mode sync"),
                ("collective", "cpu", "fast", "--device-sums on is for a program that was translated with "
                                              "--target=cuda"),
                ("collective", "cuda", "strict", "--device-sums on is for numerics fast")):
            with self.subTest(mode, target=target, numerics=numerics):
                folder = self.translate(name, target, f"--mode={mode}", numerics=numerics)
                place = "--servers" if mode == "sync" else "--peers"
                said = subprocess.run([folder / "trainer", "train", "--data", data, "--device-sums", "on",
                                       "--rank", "0", "--trainers", "2", place, "unix:@a,unix:@b"],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(said.returncode, 2, said.stderr)
                self.assertIn(message, said.stderr)

    def test_what_is_saved_goes_on_anywhere(self):
        """A job on devices resumes from a checkpoint of a job on CPUs with another number of
        trainers, and vice versa, including slots and step counts."""
        name = "ctr_dnn"
        data = self.data(name)
        plain, fast = self.folders(name, "collective")
        whole, parts = self.root / "parts.whole", self.root / "parts"
        with self.job(plain, whole, data, trainers=2, device=None) as job:
            job.start().finish()
        steps = [*TRAIN, "--steps"]
        for folder, device, last in ((fast, "fake", 3), (plain, None, 5), (fast, "fake", 8),
                                     (plain, None, 10)):
            flags = [] if last == 3 else ["--resume"]
            with self.job(folder, parts, data, *flags, device=device, steps=[*steps, last]) as job:
                job.start().finish()
        run(PDL_CHECKPOINT, "diff", whole, parts)

    def test_frozen_programs_read_averages(self):
        """Averages are slots on devices, which owners do not send. Parameters are in small blocks,
        so each trainer owns some rows."""
        source = self.root / "averaged.mlir"
        source.write_text(averaged_model.MODEL)
        draw = random.Random(5)
        count, rows = 64, averaged_model.ROWS
        data = self.root / "averaged.safetensors"
        tensorfile.write(data, {
            "x": tensorfile.Tensor("F32", [count, rows], array.array(
                "f", (draw.gauss(0, 1) for _ in range(count * rows)))),
            "id": tensorfile.Tensor("I64", [count, 1],
                                    array.array("q", (draw.randrange(9) for _ in range(count)))),
            "label": tensorfile.Tensor("F32", [count, 1], array.array(
                "f", (draw.gauss(0, 1) for _ in range(count))))})
        said = self.check_same_bits(source, "collective", trainers=3, data=data,
                                    steps=["--batch-size", 4, "--epochs", 3, "--seed", 7],
                                    translate=["--min-block-elements=64", "--target-block-bytes=256"])
        self.assertIn(SHARED, said[0])

    def test_numbers_that_are_not_finite(self):
        """A value that is not finite ends all trainers, whether owners, the sum or a rule detects
        it. No such value is saved."""
        text, tiny = not_finite_models.text, self.root / "tiny.csv"
        large = self.root / "large.csv"
        tiny.write_text("".join(",".join(map(str, row)) + "\n"
                                for row in not_finite_models.rows(40)))
        # Each of the two batches with one sample has a finite gradient.
        large.write_text("0,1.0,3e38,0.0,1\n" * 8)
        for number, (source, data, batch, message) in enumerate((
                (text(rules=not_finite_models.GROWS, group="rule(@grows) rate(0.01)"), tiny, 4,
                 "group @wide cannot be updated at its step 3"),
                (text(rules=not_finite_models.SCALES, group="rule(@scales) rate(1.0)"), tiny, 4,
                 "the rule of group @wide gave @w a value or slot that is not finite"),
                (text(), large, 1, "the sum of all replicas' gradients of @w"))):
            with self.subTest(message):
                path = self.root / f"tiny{number}.mlir"
                path.write_text(source)
                folder = self.translate(path, "cuda", "--mode=collective", numerics="fast")
                saved = self.root / f"tiny.{number}"
                with self.job(folder, saved, data,
                              steps=["--batch-size", batch, "--epochs", 5, "--seed", 7]) as job:
                    job.start()
                    for trainer in job.trainers:
                        self.assertEqual(trainer.wait(), 1, trainer.output)
                        self.assertIn(SHARED, trainer.output)
                        self.assertIn(message, trainer.output)
                self.assertFalse(saved.exists() and [p for p in saved.iterdir() if p.is_dir()])

    def test_what_one_trainer_fails_at_ends_all(self):
        """A trainer fails before it adds anything. The devices of the other trainer are waiting
        for it, and must be released."""
        rows = [list(row) for row in not_finite_models.rows(40)]
        rows[21][2] = 3e38  # of the third batch of trainer 1
        data = self.root / "one.csv"
        data.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        source = self.root / "one.mlir"
        source.write_text(not_finite_models.text(start="2.0"))
        folder = self.translate(source, "cuda", "--mode=collective", numerics="fast")
        with self.job(folder, self.root / "one", data,
                      steps=["--batch-size", 4, "--epochs", 5, "--seed", 7]) as job:
            job.start()
            for trainer in job.trainers:
                self.assertEqual(trainer.wait(), 1, trainer.output)
                self.assertIn(SHARED, trainer.output)
                self.assertIn("the loss is not finite in batch 2 of", trainer.output)
            self.assertIn("trainer 1 failed", job.trainers[0].output)

    def long_job(self, folder, name, trainers=3, servers=0):
        self.losses = self.root / f"{name}.losses"
        return self.job(folder, self.root / name, self.data("ctr_dnn"), "--log-losses", self.losses,
                        "--checkpoint-steps", 5, trainers=trainers, servers=servers,
                        steps=["--rows", "0:320", "--batch-size", 8, "--epochs", 10000, "--seed", 7])

    def test_a_dead_trainer_ends_the_job(self):
        """If a trainer is killed or suspended, devices that wait for it are released, and all
        other trainers end with the usual message."""
        for mode, how in (("collective", signal.SIGKILL), ("hybrid", signal.SIGKILL),
                          ("collective", signal.SIGSTOP)):
            folder = self.translate("ctr_dnn", "cuda", f"--mode={mode}", numerics="fast")
            for victim in (0, 1):
                with self.subTest(mode, how=how, victim=victim), self.long_job(
                        folder, f"dead.{mode}.{how}.{victim}",
                        servers=2 if mode == "hybrid" else 0) as job:
                    # A trainer of a busy machine may be silent for some seconds.
                    job.trainer_flags += ["--silence-limit", 10]
                    job.start()
                    job.wait_for_steps(self.losses, 12)
                    job.trainers[victim].popen.send_signal(how)
                    for process in job.processes():
                        if process is job.trainers[victim]:
                            continue
                        self.assertEqual(process.wait(), 3, process.output)
                        self.assertIn(SHARED if process in job.trainers else "server", process.output)
                        self.assertRegex(process.output,
                                         rf"trainer {victim}\b.*(died|lost|silent|not heard)|has died")
                        self.assertIn("with --resume where there is a checkpoint", process.output)

    def test_a_signal_ends_all_after_the_same_step(self):
        folder = self.translate("ctr_dnn", "cuda", "--mode=collective", numerics="fast")
        with self.long_job(folder, "stopped", trainers=2) as job:
            job.start()
            job.wait_for_steps(self.losses, 8)
            job.interrupt_when(lambda: True)
        steps = len(self.losses.read_text().split())
        self.assertTrue((self.root / "stopped" / f"step-{steps:012d}").exists())


if __name__ == "__main__":
    unittest.main()
