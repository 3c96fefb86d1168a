# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode geo. One trainer gives the bits of mode local, also on the servers, with each rule of the
standard library. Several trainers end with the same weights, which equal those of a computation of
the rule in Python, and the quality is near that of mode local. If a process dies, the others end
with an error message. Real processes."""

import array
import json
import math
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from cluster import Cluster
from counted_model import COUNTED
from folders import FolderTest
from line_model import line_model
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, metric, model, run, test_data
from small_model import small_model
from twins import ROWS, model_text, rules, write_data
from waiting import wait_until

import tensorfile
from tensorfile import Tensor

GOLDENS = programs.SOURCE / "integration_test" / "oracles" / "goldens" / "ops"
STEPS = 200
# Maximum difference between the mean test AUC of two trainers and that of mode local.
AUC_BOUND = 0.01

# The gradient of a sample is w - y, so a step with one sample moves w towards y.
LINE = line_model(0.1, 0.75)


class Geo(FolderTest):

    def translate(self, source, root=None, *flags):
        root = root or self.root
        for mode, units in (("local", ()), ("geo", ("--min-block-elements=64",
                                                    "--target-block-bytes=256"))):
            run(PDL_TRANSLATE, source, "-o", root / mode, "--numerics=strict",
                f"--mode={mode}", *flags, *units)

    def values(self, checkpoint, file):
        """Returns the values in a checkpoint, by tensor."""
        run(PDL_CHECKPOINT, "dump", checkpoint, "-o", file)
        return {name: (tensor.shape, tensor.data.tobytes())
                for name, tensor in tensorfile.read(file).items() if ".slot." not in name}

    def check_bits(self, name, source, data, batch, *more, servers=(1, 2), steps=STEPS):
        """Compares a job of one trainer with one process: losses, values and slots, and the values
        of the servers, which a replay of their logs gives."""
        root = self.root / name
        root.mkdir()
        self.translate(source, root)

        def flags(result):
            return ["--data", data, "--batch-size", batch, "--seed", 7, "--steps", steps,
                    "--log-losses", root / f"{result}.losses", "--checkpoint",
                    root / f"{result}.saved", *more]

        run(root / "local" / "trainer", "train", *flags("local"))
        losses = (root / "local.losses").read_text()
        self.assertEqual(len(losses.split()), steps)
        expected = self.values(root / "local.saved", root / "local.values")
        for count in servers:
            result = f"servers{count}"
            logs = root / f"{result}.logs"
            logs.mkdir()
            with Cluster(root / "geo", 1, count, [*flags(result), "--geo-steps", 7],
                         ["--seed", 7, "--log-applied", logs]) as cluster:
                cluster.start().finish()
            self.assertEqual((root / f"{result}.losses").read_text(), losses)
            run(PDL_CHECKPOINT, "diff", root / "local.saved", root / f"{result}.saved")
            held = root / f"{result}.held"
            run(root / "geo" / "pserver", "replay", *sorted(logs.iterdir()), "-o", held)
            self.assertEqual(self.values(held, root / f"{result}.values"), expected)

    def test_one_trainer_with_every_rule(self):
        """All rules are in one job, each with a parameter and a table."""
        source = self.root / "all.mlir"
        source.write_text(model_text(
            {rule: f"rule(@{rule}) rate(0.01)" for rule in rules()}))
        data = write_data(self.root / "all.safetensors", random.Random(1), steps=STEPS)
        self.check_bits("all", source, data, ROWS)

    def test_one_trainer_with_clip_schedule_and_decay(self):
        source = self.root / "small.mlir"
        source.write_text(small_model("@adam", clip=True, decay=True, warm_up=True))
        self.check_bits("small", source, ADULT, 64, "--rows", "0:6000",
                        "--shuffle-window", 1000, "--replicas", "1x2")

    def test_one_trainer_with_states(self):
        """Batch norm, data norm, a counter, a second loss. A counter that restarts is rejected,
        because its copies cannot be averaged."""
        case = GOLDENS / "states"
        facts = json.loads((case / "case.json").read_text())
        text = (case / "model.mlir").read_text()
        around = "rule(@cyclic_counter {length = 4.0})"
        self.assertIn(around, text)
        done = subprocess.run([PDL_TRANSLATE, case / "model.mlir", "-o", self.root / "refused",
                               "--mode=geo"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'nn.group' op is not for mode geo: its rule counts turns", done.stderr)
        source = self.root / "states.mlir"
        source.write_text(text.replace(around, "rule(@step_counter)"))
        self.check_bits("states", source, case / "data.safetensors",
                        facts["batch_size"], servers=(2,), steps=facts["steps"])

    def test_one_trainer_with_counts_of_rows(self):
        source = self.root / "counted.mlir"
        source.write_text(COUNTED)
        draw = random.Random(3)
        samples = 40 * 16
        lengths = [draw.randrange(4) for _ in range(2 * samples)]
        ids = array.array("q", (draw.randrange(50) for _ in range(sum(lengths))))
        splits = array.array("i", [0])
        for length in lengths:
            splits.append(splits[-1] + length)
        tensorfile.write(self.root / "counted.safetensors", {
            "y": Tensor("F32", [samples, 1],
                        array.array("f", (float(draw.random() < 0.3) for _ in range(samples)))),
            "weight": Tensor("F32", [samples, 1], array.array("f", [1.0] * samples)),
            "bags.values": Tensor("I64", [len(ids)], ids),
            "bags.splits": Tensor("I32", [len(splits)], splits),
            "other": Tensor("I64", [samples, 1],
                            array.array("q", (draw.randrange(50) for _ in range(samples)))),
            "plain": Tensor("I64", [samples, 1],
                            array.array("q", (draw.randrange(50) for _ in range(samples))))})
        self.check_bits("counted", source, self.root / "counted.safetensors", 16,
                        servers=(2,), steps=40)

    def small_program(self, rule="@adam"):
        source = self.root / "small.mlir"
        source.write_text(small_model(rule, clip=False, decay=False, warm_up=False))
        self.translate(source)

    def data(self, *more):
        return ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64,
                "--shuffle-window", 1000, "--seed", 7, *more]

    def test_a_training_in_parts_is_the_whole(self):
        """With one trainer, the bits are the same: values, slots and step counts."""
        self.small_program()
        local = self.root / "local.saved"
        run(self.root / "local" / "trainer", "train",
            *self.data("--steps", 100, "--checkpoint", local))
        parts = self.root / "parts.saved"
        for steps, more in ((50, []), (100, ["--resume"])):
            with Cluster(self.root / "geo", 1, 2,
                         self.data("--steps", steps, "--checkpoint", parts, *more),
                         ["--seed", 7, "--checkpoint", parts, *more]) as cluster:
                cluster.start().finish()
        run(PDL_CHECKPOINT, "diff", local, parts)

    def test_all_end_with_the_weights_of_servers(self):
        """Dumps, metrics and tests of both trainers are equal, and the checkpoint has their
        values. A run of three trainers resumes from it."""
        self.translate(model("wide_deep"))
        saved = self.root / "saved"

        def job(trainers, *more, server_flags=()):
            with Cluster(self.root / "geo", trainers, 2,
                         self.data("--evaluate-rows", "80%:", "--geo-steps", 5,
                                   "--checkpoint", saved, *more),
                         ["--seed", 7, *server_flags]) as cluster:
                for rank in range(2):
                    cluster.start_server(rank)
                for rank in range(trainers):
                    cluster.trainer_flags[1:1] = ["--dump", self.root / f"dump{rank}"]
                    cluster.start_trainer(rank)
                    del cluster.trainer_flags[1:3]
                return cluster.finish()

        outputs = job(2, "--epochs", 2, "--checkpoint-steps", 20)
        lines = [re.findall(r"^(?:test|train) .*$", output, re.M) for output in outputs]
        self.assertTrue(any(line.startswith("test AUC") for line in lines[0]), outputs[0])
        self.assertEqual(lines[0], lines[1])
        dumps = [(self.root / f"dump{rank}").read_bytes() for rank in range(2)]
        self.assertEqual(dumps[0], dumps[1])
        held = {name: tensor.data.tobytes()
                for name, tensor in tensorfile.read(self.root / "dump0").items()}
        self.assertEqual({name: value for name, (_, value) in self.values(
            saved, self.root / "saved.values").items()}, held)
        job(3, "--epochs", 3, "--resume",
            server_flags=["--checkpoint", saved, "--resume"])
        dumps = [(self.root / f"dump{rank}").read_bytes() for rank in range(3)]
        self.assertEqual(dumps[0], dumps[1])
        self.assertEqual(dumps[0], dumps[2])

    def test_sums_of_deltas_are_those_of_a_replay(self):
        """Two trainers meet only at the end of each epoch. Each moves its copy by one sample per
        step. Half of each change is added, or all of it with merge(sum). The order of the two
        additions varies, so a value may differ by an ulp after each epoch."""
        for clause, divisor in (("", 2), (" merge(sum)", 1)):
            with self.subTest(clause):
                self.check_line(clause, divisor)

    def check_line(self, clause, divisor):
        source = self.root / "line.mlir"
        source.write_text(LINE.replace("rate(0.1)", f"rate(0.1){clause}"))
        self.translate(source)
        draw = random.Random(5)
        epochs, steps = 3, 10
        samples = [draw.uniform(-2, 2) for _ in range(2 * steps)]
        data = self.root / "line.csv"
        data.write_text("".join(f"{y!r}\n" for y in samples))
        with Cluster(self.root / "geo", 2, 2,
                     ["--data", data, "--batch-size", 1, "--epochs", epochs,
                      "--geo-steps", 1000, "--dump", self.root / "dump"]) as cluster:
            cluster.start().finish()
        found = tensorfile.read(self.root / "dump")["w"].data[0]
        value = 0.75
        for _ in range(epochs):
            copies = [value, value]
            for step in range(steps):
                for rank in range(2):
                    copies[rank] -= 0.1 * (copies[rank] - samples[2 * step + rank])
            value += sum((copy - value) / divisor for copy in copies)
        self.assertAlmostEqual(found, value, delta=2 * epochs * math.ulp(2.0))
        self.assertNotAlmostEqual(found, 0.75, places=3)

    def refused(self, cluster, message, process):
        cluster.start()
        self.assertNotEqual(process(cluster).wait(), 0)
        self.assertIn(message, process(cluster).output)

    def test_flags_that_do_not_fit(self):
        self.small_program()
        with Cluster(self.root / "geo", 2, 1, self.data("--epochs", 1),
                     ["--seed", 7]) as cluster:
            self.assertIn("not all started with the same --geo-steps",
                          cluster.refuse_another(["--geo-steps", 3]))
        for flags, message in (
                (["--pack-gradients", "int8"], "in mode geo trainers keep them"),
                (["--init-from", ADULT], "give it to the servers")):
            done = subprocess.run(
                [str(a) for a in (self.root / "geo" / "trainer", "train", "--servers",
                                  "unix:/nowhere", *self.data(*flags))],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_killed_process_ends_the_job_with_a_message(self):
        self.small_program()
        for victim, named in (("trainers", "trainer 1"), ("servers", "server")):
            with self.subTest(victim=victim):
                saved = self.root / f"{victim}.saved"
                with Cluster(self.root / "geo", 2, 2,
                             self.data("--epochs", 100000, "--geo-steps", 3,
                                       "--checkpoint", saved, "--checkpoint-steps", 20),
                             ["--seed", 7]) as cluster:
                    cluster.start()
                    wait_until(lambda saved=saved: list(saved.glob("step-*")), said=cluster.said)
                    processes = getattr(cluster, victim)
                    processes[1].popen.send_signal(signal.SIGKILL)
                    for process in cluster.processes():
                        if process is processes[1]:
                            continue
                        self.assertEqual(process.wait(), 3, process.output)
                        self.assertRegex(process.output, named)
                # The last checkpoint is complete, and a training can resume from it.
                run(PDL_CHECKPOINT, "inspect", saved)

    def test_who_is_killed_under_wait_fails_the_job_too(self):
        """The copy of a trainer is lost with it, so no process waits for it."""
        self.small_program()
        with Cluster(self.root / "geo", 2, 1,
                     self.data("--epochs", 100000, "--geo-steps", 3, "--on-failure", "wait",
                               "--log-losses", self.root / "losses"),
                     ["--seed", 7, "--on-failure", "wait"]) as cluster:
            cluster.start()
            losses = self.root / "losses"
            wait_until(lambda: losses.exists() and losses.stat().st_size >= 1000, said=cluster.said)
            cluster.trainers[1].popen.send_signal(signal.SIGKILL)
            self.assertEqual(cluster.trainers[0].wait(), 3, cluster.trainers[0].output)
            self.assertIn("trainer 1", cluster.trainers[0].output)

    def test_epochs_of_different_lengths(self):
        """A trainer that is out of data takes part in checkpoints of the others."""
        self.small_program()
        saved = self.root / "saved"
        # There are 101 batches: 51 of one trainer and 50 of the other.
        with Cluster(self.root / "geo", 2, 2,
                     ["--data", ADULT, "--rows", "0:6464", "--batch-size", 64, "--epochs", 2,
                      "--geo-steps", 7, "--checkpoint", saved, "--checkpoint-steps", 51,
                      "--checkpoint-keep", 0]) as cluster:
            cluster.start().finish()
        self.assertEqual(sorted(path.name for path in saved.glob("step-*")),
                         ["step-000000000051", "step-000000000102"])

    def test_interrupted_trainer_ends_all_with_one_checkpoint(self):
        self.small_program()
        saved = self.root / "saved"
        with Cluster(self.root / "geo", 2, 2,
                     self.data("--epochs", 100000, "--geo-steps", 3, "--checkpoint", saved,
                               "--checkpoint-steps", 50),
                     ["--seed", 7]) as cluster:
            for rank in range(2):
                cluster.start_server(rank)
            for rank in range(2):
                cluster.trainer_flags[1:1] = ["--dump", self.root / f"dump{rank}"]
                cluster.start_trainer(rank)
                del cluster.trainer_flags[1:3]
            cluster.interrupt_when(lambda: list(saved.glob("step-*")))
        dumps = [(self.root / f"dump{rank}").read_bytes() for rank in range(2)]
        self.assertEqual(dumps[0], dumps[1])
        held = {name: tensor.data.tobytes()
                for name, tensor in tensorfile.read(self.root / "dump0").items()}
        self.assertEqual({name: value for name, (_, value) in self.values(
            saved, self.root / "saved.values").items()}, held)

    def test_values_that_servers_are_given(self):
        """Trainers start with the values that servers were given. One trainer gives the same
        results as one process with the same file."""
        self.small_program("@sgd")
        run(self.root / "local" / "trainer", "train",
            *self.data("--steps", 10, "--dump", self.root / "init"))
        run(self.root / "local" / "trainer", "train",
            *self.data("--steps", 30, "--init-from", self.root / "init",
                       "--checkpoint", self.root / "local.saved"))
        for trainers in (1, 2):
            saved = self.root / f"{trainers}.saved"
            with Cluster(self.root / "geo", trainers, 2,
                         self.data("--steps", 30, "--checkpoint", saved),
                         ["--seed", 7, "--init-from", self.root / "init"]) as cluster:
                cluster.start().finish()
        run(PDL_CHECKPOINT, "diff", self.root / "local.saved", self.root / "1.saved")

    def check_quality(self, source, data, batch_size, epochs, geo_steps, seeds):
        """Compares two trainers and two servers with one process that has as many replicas."""
        self.translate(source)
        local, spread = [], []
        for seed in seeds:
            flags = [*data, "--batch-size", batch_size, "--epochs", epochs,
                     "--shuffle-window", 100000, "--seed", seed]
            done = run(self.root / "local" / "trainer", "train", *flags,
                       "--replicas", "2x1")
            local.append(metric(done.stdout, "test AUC"))
            with Cluster(self.root / "geo", 2, 2, [*flags, "--geo-steps", geo_steps],
                         ["--seed", seed]) as cluster:
                outputs = cluster.start().finish()
            spread.append(metric(outputs[0], "test AUC"))
            self.assertEqual(metric(outputs[1], "test AUC"), spread[-1])
        difference = statistics.mean(spread) - statistics.mean(local)
        print(f"{source.stem}, an exchange each {geo_steps} steps: test AUC local {local}, "
              f"geo {spread}, difference of means {difference:+.4f}")
        self.assertLessEqual(abs(difference), AUC_BOUND)

    def test_quality_of_wide_deep(self):
        self.check_quality(model("wide_deep"),
                           ["--data", ADULT, "--rows", "0:25600",
                            "--evaluate-rows", "80%:"], 128, 4, 10, (1, 2))

    def test_quality_of_ctr_dnn(self):
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.check_quality(model("ctr_dnn"),
                           ["--data", data, "--rows", "0:8000",
                            "--evaluate-rows", "8000:10000"], 64, 2, 10, (1, 2, 3))


if __name__ == "__main__":
    unittest.main()
