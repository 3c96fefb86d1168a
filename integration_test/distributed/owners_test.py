# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modes collective and hybrid, in which trainers own state, give the bits of mode local. Real
processes are compared with one process that has as many replicas: losses, metrics, and values and
slots after 200 steps. Also tests a job in which a trainer dies, is stopped, or cannot read its
data."""

import gzip
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from owners_comparison import DATA, OwnersComparison, mode_of
from programs import (ADULT, BUILD, PDL_CHECKPOINT, checkpoints_in, is_nightly, model,
                      nightly, run, test_data)
from small_model import LOSS, METRICS, OBSERVATIONS, small_model
from sync_comparison import RATES

PDL_LAUNCH = BUILD / "bin" / "pdl-launch"
# Numbers of trainers and servers. Without servers the mode is collective, otherwise hybrid.
OWNERS = [(1, 0), (2, 0), (3, 0), (4, 0), (1, 1), (2, 2), (3, 1), (4, 2)]
FEW_OWNERS = [(2, 0), (3, 2)]

# Test program of the small model.
EVALUATE = """
  nn.metric @log_loss : #nn.mean
  nn.program @evaluate frozen reads(@person) {
""" + LOSS + """    nn.observe @log_loss(%l) : tensor<?x1xf32>
  }
}
"""


class Owners(OwnersComparison):

    def check_small(self, rule, topologies, **options):
        chosen = {"clip": False, "decay": False, "warm_up": False} | options
        self.translate(self.write(small_model(rule, **chosen)))
        self.check(DATA, topologies)

    def test_adam_with_everything(self):
        self.check_small("@adam", OWNERS, clip=True, decay=True, warm_up=True)

    def test_sgd(self):
        self.check_small("@sgd", OWNERS if is_nightly() else FEW_OWNERS)

    def test_other_rules(self):
        """With and without a clip: all combinations with --nightly, otherwise in turn."""
        root = self.root
        for i, rule in enumerate(sorted(set(RATES) - {"@sgd", "@adam"})):
            for clip in (False, True) if is_nightly() else (i % 2 == 1,):
                with self.subTest(rule=rule, clip=clip):
                    self.root = root / f"{rule[1:]}{clip}"
                    self.root.mkdir()
                    self.check_small(rule, FEW_OWNERS, clip=clip)

    def test_rows_without_gradient(self):
        self.check_small("@sgd", FEW_OWNERS, clip=True, decay=True,
                         untouched="dense")

    def test_metrics(self):
        before, after = "  nn.program @train", "    nn.minimize"
        text = small_model("@sgd", False, False, False)
        text = text.replace(before, METRICS + before)
        text = text.replace(after, OBSERVATIONS + after)
        self.translate(self.write(text))
        self.check(DATA, FEW_OWNERS)

    def test_ctr_dnn(self):
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.translate(model("ctr_dnn"))
        self.check(["--data", data, "--batch-size", 32], FEW_OWNERS)

    @nightly
    def test_ctr_dnn_with_all_owners(self):
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.translate(model("ctr_dnn"))
        self.check(["--data", data, "--batch-size", 32], OWNERS)

    def test_packed(self):
        """Keys as deltas change no bit. Gradients in bf16 give other results, which do not depend
        on the owners."""
        self.translate(self.write(small_model("@adam", True, True, False)))
        self.train_local(DATA, 2)
        for servers in (0, 2):
            self.train_cluster(DATA, 2, servers, "--pack-keys", "delta")
            run(PDL_CHECKPOINT, "diff", self.root / "local2.saved",
                self.root / f"2x{servers}.saved")
        for servers in (0, 2):
            name = f"packed{servers}"
            with self.job(2, servers,
                          [*self.flags(DATA, name), "--replicas", "1x2",
                           "--pack-gradients", "bf16"],
                          ["--seed", 7, "--pack-gradients", "bf16"]) as cluster:
                cluster.start().finish()
        run(PDL_CHECKPOINT, "diff", self.root / "packed0.saved",
            self.root / "packed2.saved")
        done = subprocess.run([PDL_CHECKPOINT, "diff", self.root / "local2.saved",
                               self.root / "packed0.saved"], check=False,
                              capture_output=True)
        self.assertNotEqual(done.returncode, 0, "packing has changed nothing")

    def test_checkpoints_go_from_mode_to_mode(self):
        """50 steps collective, 20 hybrid, 15 in one process, 15 collective. Each training starts
        from the checkpoint of the previous one."""
        self.translate(self.write(small_model("@adam", True, True, True)))
        run(self.root / "local" / "trainer", "train",
            *self.flags(DATA, "whole", 100), "--replicas", "2x2")

        def go_on(servers, steps, *resume):
            server_flags = ["--seed", 7, "--checkpoint",
                            self.root / "parts.saved", *resume]
            with self.job(2, servers, [*self.flags(DATA, "parts", steps),
                                       "--replicas", "1x2", *resume],
                          server_flags) as cluster:
                cluster.start().finish()

        go_on(0, 50)
        go_on(1, 70, "--resume")
        run(self.root / "local" / "trainer", "train",
            *self.flags(DATA, "parts", 85), "--replicas", "2x2", "--resume")
        go_on(0, 100, "--resume")
        run(PDL_CHECKPOINT, "diff", self.root / "whole.saved",
            self.root / "parts.saved")

    def test_initial_values_of_a_file(self):
        """Owners in trainers use --init-from, and the seed in the file."""
        self.translate(self.write(small_model("@sgd", False, False, False)))
        begun, file = self.root / "begun", self.root / "begun.safetensors"
        run(self.root / "local" / "trainer", "train", *DATA, "--seed", 3,
            "--steps", 30, "--dump", file)

        def flags(name):
            return [*DATA, "--init-from", file, "--steps", 20, "--checkpoint",
                    self.root / f"{name}.saved"]

        run(self.root / "local" / "trainer", "train", *flags("local"),
            "--replicas", "2x1")
        for servers in (0, 1):
            with self.job(2, servers, flags(f"init{servers}"),
                          ["--init-from", file]) as cluster:
                cluster.start().finish()
            run(PDL_CHECKPOINT, "diff", self.root / "local.saved",
                self.root / f"init{servers}.saved")
        self.assertFalse(begun.exists())

    def test_evaluation(self):
        """A test during training, with rows from owners, and a test of the saved state."""
        text = small_model("@adam", True, False, False).rstrip()
        self.assertTrue(text.endswith("}"))
        self.translate(self.write(text[:-1] + EVALUATE))
        tested = ["--evaluate-data", ADULT, "--evaluate-rows", "6000:8000"]

        def figures(output):
            return [line for line in output.splitlines()
                    if line.startswith(("test ", "train "))]

        whole = run(self.root / "local" / "trainer", "train",
                    *self.flags(DATA, "whole", 60), *tested, "--replicas",
                    "2x2").stdout
        self.assertIn("test mean", whole)
        for servers in (0, 2):
            name = f"tested{servers}"
            with self.job(2, servers, [*self.flags(DATA, name, 60), *tested,
                                       "--replicas", "1x2"]) as cluster:
                for output in cluster.start().finish():
                    self.assertEqual(figures(output), figures(whole))
            evaluate = ["evaluate", "--data", ADULT, "--rows", "6000:8000",
                        "--checkpoint"]
            self.assertEqual(
                run(self.root / mode_of(servers) / "trainer", *evaluate,
                    self.root / f"{name}.saved").stdout.splitlines()[-1],
                run(self.root / "local" / "trainer", *evaluate,
                    self.root / "whole.saved").stdout.splitlines()[-1])

    def test_one_command(self):
        """pdl-launch starts jobs of both modes. A single trainer needs no address."""
        self.translate(self.write(small_model("@sgd", False, False, False)))
        run(self.root / "local" / "trainer", "train",
            *self.flags(DATA, "local", 40), "--replicas", "2x1")
        for mode, words in (("collective", ["--unix"]),
                            ("hybrid", ["--servers", 2])):
            run(PDL_LAUNCH, "--trainers", 2, *words, self.root / mode, "--",
                *self.flags(DATA, mode, 40), *(("--", "--seed", 7)
                                               if mode == "hybrid" else ()))
            run(PDL_CHECKPOINT, "diff", self.root / "local.saved",
                self.root / f"{mode}.saved")
        run(self.root / "collective" / "trainer", "train",
            *self.flags(DATA, "alone", 40), "--replicas", "1x2")
        run(self.root / "local" / "trainer", "train",
            *self.flags(DATA, "two", 40), "--replicas", "1x2")
        run(PDL_CHECKPOINT, "diff", self.root / "two.saved",
            self.root / "alone.saved")
        done = subprocess.run([PDL_LAUNCH, "--servers", "1",
                               self.root / "collective"], check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--servers is not for mode collective", done.stderr)


class Faults(OwnersComparison):

    def long_job(self, trainers, servers, name, *more):
        flags = [*self.flags(DATA, name, 1_000_000), "--checkpoint-steps", 50,
                 *more]
        return self.job(trainers, servers, flags,
                        ["--seed", 7, "--checkpoint",
                         self.root / f"{name}.saved"])

    def test_a_dead_trainer_ends_the_job(self):
        """If a trainer is killed, all others report it and end. The job can resume from its last
        checkpoint."""
        self.translate(self.write(small_model("@adam", True, False, False)))
        for servers in (0, 1):
            name = f"killed{servers}"
            with self.long_job(3, servers, name) as cluster:
                cluster.start()
                cluster.wait_for_steps(self.root / f"{name}.losses", 120)
                victim = cluster.trainers[1]
                victim.popen.kill()
                victim.popen.wait()
                for process in cluster.processes():
                    if process is victim:
                        continue
                    self.assertEqual(process.wait(), 3, process.output)
                    self.assertRegex(process.output,
                                     r"trainer 1\b.*(died|lost)|has died")
                    self.assertIn("with --resume where there is a checkpoint", process.output)
            flags = [*self.flags(DATA, name, 60), "--resume"]
            newest = checkpoints_in(self.root / f"{name}.saved")[-1]
            steps = int(newest.name.removeprefix("step-"))
            self.assertGreaterEqual(steps, 50)
            flags[flags.index("--steps") + 1] = steps + 10
            with self.job(3, servers, flags,
                          ["--seed", 7, "--checkpoint",
                           self.root / f"{name}.saved", "--resume"]) as cluster:
                output = cluster.start().finish()[0]
            self.assertIn(f"resumed after {steps} steps", output)

    def test_a_signal_ends_all_after_the_same_step(self):
        """SIGTERM of one trainer stops the job normally with a checkpoint. The job resumes from it
        and gives the bits of an uninterrupted one."""
        self.translate(self.write(small_model("@adam", True, False, False)))
        for servers in (0, 1):
            name = f"stopped{servers}"
            with self.long_job(2, servers, name) as cluster:
                cluster.start()
                cluster.wait_for_steps(self.root / f"{name}.losses", 30)
                cluster.interrupt_when(lambda: True)
            newest = checkpoints_in(self.root / f"{name}.saved")[-1]
            steps = int(newest.name.removeprefix("step-"))
            lines = (self.root / f"{name}.losses").read_text().split()
            self.assertEqual(len(lines), steps)
            run(self.root / "local" / "trainer", "train",
                *self.flags(DATA, f"whole{servers}", steps), "--replicas",
                "2x1")
            run(PDL_CHECKPOINT, "diff", self.root / f"whole{servers}.saved",
                self.root / f"{name}.saved")

    def test_a_bad_row_costs_nothing(self):
        self.translate(self.write(small_model("@sgd", False, False, False)))
        with gzip.open(ADULT, "rt") as file:
            rows = file.readlines()[:1400]
        (self.root / "part0.csv").write_text("".join(rows[:700]))
        (self.root / "part1.csv").write_text(
            "".join(rows[700:1240]) + "what\n" + "".join(rows[1240:]))
        with self.job(2, 0, [
                "--data", self.root / "part0.csv", self.root / "part1.csv",
                "--seed", 7, "--batch-size", 64, "--checkpoint",
                self.root / "bad.saved"]) as cluster:
            cluster.start()
            self.assertEqual(cluster.trainers[1].wait(), 1,
                             cluster.trainers[1].output)
            self.assertIn("part1.csv:541:", cluster.trainers[1].output)
            self.assertEqual(cluster.trainers[0].wait(),
                             128 + signal.SIGTERM, cluster.trainers[0].output)
        newest = checkpoints_in(self.root / "bad.saved")[-1]
        self.assertEqual(newest.name, "step-000000000008")

    def test_who_cannot_take_part_says_so(self):
        """If a trainer has no data or other flags, the others end with its message, and not at
        their time limit."""
        self.translate(self.write(small_model("@sgd", False, False, False)))
        for change, message in (
                (("--data", self.root / "none.csv"), "none.csv"),
                (("--seed", 8), "--seed")):
            with self.job(2, 0, self.flags(DATA, "refused", 50)) as cluster:
                cluster.start_trainer(0)
                place = cluster.trainer_flags.index(change[0]) + 1
                cluster.trainer_flags[place] = change[1]
                cluster.start_trainer(1)
                for trainer in cluster.trainers:
                    self.assertEqual(trainer.wait(), 1, trainer.output)
                    self.assertIn(message, trainer.output)


if __name__ == "__main__":
    unittest.main()
