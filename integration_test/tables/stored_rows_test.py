# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables whose values are stored in 16 bits. The bits are the same in the interpreter, in a
process with its own state, with servers, with any number of threads and after a checkpoint. Small
updates are not lost."""

import array
import pathlib
import random
import re
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
import programs
from cluster import Cluster
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, fails, run
from stored_rows_model import MODEL

import tensorfile
from tensorfile import Tensor

BATCH, STEPS, IDS = 16, 8, 40

# Each batch has each key once, with the gradient 1 for each element of its row.
KEYS, WIDTH = 64, 8
SLOPE = f"""module @slope {{
  nn.record @r {{ nn.field @id : tensor<?x1xi64> }}
  nn.group @g rule(@sgd) rate({KEYS * 2 ** -12})
  nn.table @t : i64 -> tensor<{WIDTH}xf32> in @g init(#nn.constant<1.0>) stored(bf16)
  nn.program @train reads(@r) {{
  ^bb0(%id: tensor<?x1xi64>):
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x{WIDTH}xf32>
    %s = nn.reduce sum %e axes [1, 2] : tensor<?x1x{WIDTH}xf32>
    %l = nn.reshape %s : (tensor<?xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }}
}}
"""


def bfloat16(number):
    """Returns the nearest bfloat16 number, with ties to even: the upper half of a float's bits."""
    bits = struct.unpack("<I", struct.pack("<f", number))[0]
    upper = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return struct.unpack("<f", struct.pack("<I", upper << 16))[0]


def float16(number):
    return struct.unpack("<e", struct.pack("<e", number))[0]


class StoredRows(exactness.ExactnessTest):

    def setUp(self):
        super().setUp()
        self.source = self.root / "model.mlir"
        self.source.write_text(MODEL)
        self.data = self.write_data("data", BATCH * STEPS, IDS)

    def write_data(self, name, count, ids):
        draw = random.Random(ids)
        path = self.root / f"{name}.safetensors"
        tensorfile.write(path, {
            "id": Tensor("I64", [count, 3], array.array(
                "q", (draw.randrange(ids) - 5 for _ in range(3 * count)))),
            "label": Tensor("F32", [count, 1],
                            array.array("f", (draw.gauss(0, 1) for _ in range(count))))})
        return path

    def test_the_interpreter_rounds_as_programs_do(self):
        trainer = self.compile_strict(self.source)
        self.check_program(self.source, trainer, self.data, BATCH, STEPS)
        # Also test keys that were never trained.
        more = self.write_data("more", 50, 3 * IDS)
        dump = self.root / "compiled.safetensors"
        out = run(trainer, "predict", "--data", more, "--init-from", dump, "--seed", 7).stdout
        self.interpret(self.source, "fused", f"program=predict data={more} seed=7 "
                       f"init={dump} outputs={self.root / 'lines'}")
        self.assertEqual(out, (self.root / "lines").read_text())

    def test_values_are_numbers_of_sixteen_bits(self):
        """Values from a file are rounded to nearest. New and trained values are 16-bit numbers.
        Slots are f32."""
        trainer = self.compile_strict(self.source)
        plain = self.root / "plain.mlir"
        plain.write_text(re.sub(r" stored\(\w+\)", "", MODEL))
        other = programs.compile_model(plain, self.root / "plain", "--numerics=strict")
        run(other, "train", "--data", self.data, "--seed", 7, "--steps", STEPS, "--dump",
            self.root / "exact", "--batch-size", BATCH)
        run(trainer, "train", "--data", self.data, "--steps", 0, "--init-from",
            self.root / "exact", "--dump", self.root / "rounded")
        exact, rounded = (tensorfile.read(self.root / name) for name in ("exact", "rounded"))
        for table, nearest in (("a", bfloat16), ("b", bfloat16), ("c", float16)):
            values = rounded[f"{table}.values"]
            self.assertEqual(values.type, "F32")
            self.assertEqual(list(values.data),
                             [nearest(number) for number in exact[f"{table}.values"].data])
            self.assertNotEqual(values.data, exact[f"{table}.values"].data)
        dump, _ = self.train(trainer, "trained", self.data, "--batch-size", BATCH)
        held = tensorfile.read(dump)
        for slots in ("b.slot.m", "b.slot.average", "d.values"):
            self.assertTrue(any(bfloat16(number) != number
                                for number in held[slots].data), slots)

    def check_on_a_device(self, source, devices, replicas):
        """Checks that rows on devices have the bits of those on the host, and that a training can
        resume on the other side."""
        folder = source.with_suffix("")
        for target in ("cpu", "cuda"):
            run(PDL_TRANSLATE, source, "-o", folder / target, "--numerics=strict",
                f"--target={target}")
        more = self.write_data("more", 50, 3 * IDS)
        sides = {"cpu": ([], ["--replicas", replicas]),
                 "cuda": (["--device", "fake", "--table-placement", "device"],
                          ["--device", devices, "--table-placement", "device",
                           "--replicas", replicas])}

        def train(target, name, epochs):
            said = run(folder / target / "trainer", "train", "--data", self.data,
                       "--evaluate-data", more, "--seed", 7, "--batch-size", BATCH, "--checkpoint",
                       folder / name, "--checkpoint-steps", 3, "--resume", "--epochs", epochs,
                       *sides[target][1]).stdout
            return re.findall(r"^test MAE \S+", said, re.MULTILINE)

        host, device, both = (f"{name}.{replicas}.{devices}" for name in ("host", "device", "both"))
        self.assertEqual(train("cpu", host, 3), train("cuda", device, 3))
        run(PDL_CHECKPOINT, "diff", folder / host, folder / device)
        for epochs, target in ((1, "cuda"), (2, "cpu"), (3, "cuda")):
            train(target, both, epochs)
        run(PDL_CHECKPOINT, "diff", folder / host, folder / both)
        said = [run(folder / target / "trainer", "predict", "--data", more, "--checkpoint",
                    folder / device, *sides[target][0]).stdout for target in sides]
        self.assertEqual(*said)

    def test_tables_on_a_device(self):
        """With one replica and without a clip, gradients stay on the device."""
        alone = self.root / "alone.mlir"
        alone.write_text(MODEL.replace("clip(@joint) ", ""))
        for source, devices, replicas in ((self.source, "fake", "1x1"), (alone, "fake", "1x1"),
                                          (alone, "fake", "2x1"), (alone, "fake,fake", "2x1")):
            with self.subTest(source.name, replicas=replicas):
                self.check_on_a_device(source, devices, replicas)

    def test_servers_threads_and_stops_change_no_bit(self):
        more = self.write_data("more", 50, 3 * IDS)
        units = ("--min-block-elements=64", "--target-block-bytes=256")
        for mode in ("local", "sync", "async"):
            run(PDL_TRANSLATE, self.source, "-o", self.root / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else units))
        local = self.root / "local" / "trainer"

        def flags(name, epochs=2):
            return ["--data", self.data, "--evaluate-data", more, "--seed", 7,
                    "--batch-size", BATCH, "--epochs", epochs, "--checkpoint",
                    self.root / f"{name}.saved"]

        def tested(text):
            return re.findall(r"^test MAE \S+", text, re.MULTILINE)[-1]

        def same(one, two):
            run(PDL_CHECKPOINT, "diff", self.root / f"{one}.saved",
                self.root / f"{two}.saved")

        for mode, trainers in (("sync", 2), ("async", 1)):
            with self.subTest(mode=mode):
                alone = f"alone_{mode}"
                here = run(local, "train", *flags(alone), "--replicas", f"{trainers}x1",
                           "--threads", 1).stdout
                with Cluster(self.root / mode, trainers, 2,
                             [*flags(mode), "--replicas", "1x1"],
                             ["--seed", 7]) as cluster:
                    there = cluster.start().finish()[0]
                same(alone, mode)
                self.assertEqual(tested(here), tested(there))
        run(local, "train", *flags("threads"), "--replicas", "2x1", "--threads", 3)
        same("alone_sync", "threads")
        # Stop in the middle of an epoch, and resume in the other mode.
        stopped = ["--replicas", "2x1", "--resume"]
        run(local, "train", *flags("stopped"), *stopped, "--steps", 3)
        inspected = run(PDL_CHECKPOINT, "inspect", self.root / "stopped.saved").stdout
        self.assertIn("table @a: F32 [5] stored in BF16, slots", inspected)
        self.assertIn("table @c: F32 [2] stored in F16, slots", inspected)
        self.assertRegex(inspected, r"table @d: F32 \[3\], slots")
        with Cluster(self.root / "sync", 2, 2,
                     [*flags("stopped"), "--replicas", "1x1", "--resume"],
                     ["--seed", 7, "--checkpoint", self.root / "stopped.saved",
                      "--resume"]) as cluster:
            cluster.start().finish()
        same("alone_sync", "stopped")
        # A checkpoint and a dump report the same.
        run(PDL_CHECKPOINT, "dump", self.root / "stopped.saved", "--output",
            self.root / "dump")
        run(local, "train", *flags("stopped"), *stopped, "--dump", self.root / "again",
            "--dump-slots")
        self.assert_equal_files(self.root / "dump", self.root / "again")

    def test_workers_without_locks_learn(self):
        lazy = self.root / "lazy.mlir"
        lazy.write_text(MODEL.replace("untouched(dense)", "untouched(lazy)"))
        trainer = self.compile_strict(lazy)
        done = run(trainer, "train", "--data", self.data, "--evaluate-data", self.data,
                   "--batch-size", BATCH, "--epochs", 4, "--replicas", "1x3", "--threads", 2,
                   "--hogwild")
        errors = [float(error) for error in
                  re.findall(r" epoch \d+: .*test MAE (\d+\.\d+)", done.stderr)]
        self.assertEqual(len(errors), 4, done.stderr)
        self.assertLess(errors[-1], errors[0])

    def test_refusals_say_what_to_do(self):
        trainer = self.compile_strict(self.source)
        other = self.root / "other.mlir"
        other.write_text(MODEL.replace("stored(bf16)", "stored(f16)"))
        other = programs.compile_model(other, self.root / "other", "--numerics=strict")
        saved = ("--data", self.data, "--batch-size", BATCH, "--checkpoint",
                 self.root / "saved", "--resume")
        run(trainer, "train", *saved)
        self.assertRegex(
            fails(other, "train", *saved),
            r"for the rows of @a the checkpoint has f32 \[5\] stored in bf16, this program "
            r"f32 \[5\] stored in f16; .*pdl-checkpoint dump")
        self.assertRegex(
            fails(other, "predict", "--data", self.data, "--checkpoint",
                  self.root / "saved"), "use the program that wrote it")

        exact = self.root / "exact.safetensors"
        tensorfile.write(exact, {
            "c.keys": Tensor("I64", [2], array.array("q", [1, 2])),
            "c.values": Tensor("F32", [2, 2], array.array("f", [1, 2, 3, 70000]))})
        self.assertRegex(
            fails(trainer, "train", "--data", self.data, "--init-from", exact),
            r"'c.values' has a number at \[1, 1\] that is too large for the rows of @c, which "
            r"are stored in f16: its largest is 65504")
        # A value becomes too large during training.
        steep = self.root / "steep.mlir"
        steep.write_text(SLOPE.replace("bf16", "f16").replace(
            f"rate({KEYS * 2 ** -12})", f"rate({KEYS * 40000.0})"))
        steep = programs.compile_model(steep, self.root / "steep")
        ids = self.write_keys(3)
        self.assertRegex(
            fails(steep, "train", "--data", ids, "--batch-size", KEYS),
            r"key -?\d+ of @t a value or slot that is not finite in f16, whose largest is "
            r"65504, at the group's step 2")

    def write_keys(self, steps):
        path = self.root / "keys.safetensors"
        tensorfile.write(path, {"id": Tensor("I64", [KEYS * steps, 1], array.array(
            "q", (step_key for _ in range(steps) for step_key in range(KEYS))))})
        return path

    def test_small_updates_add_up(self):
        """Each update is 1/16 of the distance between two numbers, so rounding to nearest would
        lose it. The mean change equals the sum of updates, within statistical limits."""
        source = self.root / "slope.mlir"
        source.write_text(SLOPE)
        trainer = programs.compile_model(source, self.root / "slope", "--numerics=strict")
        steps = 64
        run(trainer, "train", "--data", self.write_keys(steps), "--batch-size", KEYS,
            "--seed", 3, "--dump", self.root / "dump")
        values = tensorfile.read(self.root / "dump")["t.values"].data
        self.assertEqual(len(values), KEYS * WIDTH)
        mean = sum(values) / len(values)
        expected, distance, chance = 1 - steps * 2 ** -12, 2 ** -8, 1 / 16
        deviation = distance * (steps * chance * (1 - chance) / len(values)) ** 0.5
        self.assertLess(abs(mean - expected), 4 * deviation)
        self.assertGreater(1 - mean, 20 * deviation)
        # Different elements and keys are rounded independently.
        self.assertGreater(len(set(values[:WIDTH])), 1)
        self.assertGreater(len(set(values[::WIDTH])), 2)


if __name__ == "__main__":
    unittest.main()
