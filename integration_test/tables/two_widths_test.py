# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables whose rows get some columns later (`widen`). The test counts again which keys have
weights and which have vectors. The bits are the same in the interpreter, in one process, with
servers, after checkpoints, and in a library for serving. Also tests the two tables that such a
table is compiled to."""

import array
import ctypes
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from programs import PDL_CHECKPOINT, PDL_OPT, PDL_TRANSLATE, SOURCE, checkpoints_in, run
from table_life import BATCH, EVERY, STEPS, KeyedTables, life_of

import tensorfile
from tensorfile import Tensor

sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving

# For each table: width, first column of the vector, score of an occurrence of a key, score that a
# vector requires; admission and shrinking of the weight.
RULES = {
    "plain": (4, 1, 0.3 + 0.2 * 0.5, 1.2, dict(admit=1, every=10 ** 9, unseen=1)),
    "aged": (5, 2, 0.5, 1.5, dict(admit=2, every=EVERY, unseen=2, decay=0.75)),
    "least": (3, 1, 0.25, 0.75, dict(admit=1, every=EVERY, unseen=16384, decay=0.5, weight=0.25,
                                     least=0.3)),
    "moved": (6, 2, 1.0, 3.0, dict(admit=1, every=EVERY, unseen=3))}

MODEL = f"""module @widths {{
  nn.record @r {{
    nn.field @id : tensor<?x3xi64>
    nn.field @more : !nn.ragged<?x1x*xi64>
    nn.field @label : tensor<?x1xf32>
  }}
  nn.rule @counting hyper(momentum = 0.5) slots(velocity = 0.0) row_slots(show = 0.0) counts(show) once {{
  ^bb0(%step: f64, %rate: f64, %momentum: f64):
    nn.yield %rate, %momentum : f64, f64
  }} sum {{
  ^bb0(%value: f32, %gradient: f32, %velocity: f32, %rate: f32, %momentum: f32):
    nn.yield
  }} row {{
  ^bb0(%width: f64, %show: f32, %shows: f32, %rate: f32, %momentum: f32):
    %sum = arith.addf %show, %shows : f32
    nn.yield %sum : f32
  }} each {{
  ^bb0(%value: f32, %gradient: f32, %velocity: f32, %rate: f32, %momentum: f32):
    %kept = arith.mulf %momentum, %velocity : f32
    %new = arith.addf %kept, %gradient : f32
    %change = arith.mulf %rate, %new : f32
    %moved = arith.subf %value, %change : f32
    nn.yield %moved, %new : f32, f32
  }}
  nn.clip @each : norm(0.25)
  nn.group @clicks rule(@click_adagrad) rate(0.0625) untouched(lazy)
  nn.group @moving rule(@counting) rate(0.125) clip(@each) average(@ema {{decay = 0.75}}) untouched(lazy)
  nn.table @plain : i64 -> tensor<4xf32> in @clicks init(#nn.zeros) score(show = 0.3, click = 0.2) widen(from = 1, score = 1.2, init = #nn.uniform<-1.0, 1.0>)
  nn.table @aged : i64 -> tensor<5xf32> in @clicks init(#nn.uniform<-1.0, 1.0>) unknown(zero) admit(count = 2) shrink(every = {EVERY}, unseen = 2, decay = 0.75) score(show = 0.5) widen(from = 2, score = 1.5)
  nn.table @least : i64 -> tensor<3xf32> in @clicks init(#nn.normal<0.0, 0.5>) shrink(every = {EVERY}, unseen = 16384, decay = 0.5, least = 0.3) score(show = 0.25) widen(from = 1, score = 0.75)
  nn.table @moved : i64 -> tensor<6xf32> in @moving init(#nn.uniform<-0.5, 0.5>) stored(bf16) shrink(every = {EVERY}, unseen = 3) score(show = 1.0) widen(from = 2, score = 3.0)

  nn.func private @row(%id: tensor<?x3xi64>) with(@t: i64 -> tensor<4xf32>) -> tensor<?x3x4xf32> {{
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x4xf32>
    nn.return %e : tensor<?x3x4xf32>
  }}
  nn.func private @z(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32> {{
    %a = nn.call @row(%id) with(@plain) : (tensor<?x3xi64>) -> tensor<?x3x4xf32>
    %b = nn.lookup @aged[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x5xf32>
    %c = nn.lookup @least[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x3xf32>
    %d = nn.lookup @moved[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x6xf32>
    %all = nn.concat %a, %b, %c, %d axis 2 : tensor<?x3x4xf32>, tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x3x6xf32>
    %t = nn.tanh %all : tensor<?x3x18xf32>
    %s = nn.reduce sum %t axes [1, 2] : tensor<?x3x18xf32>
    %z = nn.reshape %s : (tensor<?xf32>) -> tensor<?x1xf32>
    %g = nn.lookup @moved[%more] pool(mean) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x6xf32>
    %first = nn.slice %g axis 2 offset 0 size 2 : tensor<?x1x6xf32>
    %h = nn.lookup @moved[%more] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x6xf32>
    %i = nn.segment_sum %h of %more : (tensor<?x6xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x6xf32>
    %j = nn.slice %h axis 1 offset 3 size 1 : tensor<?x6xf32>
    // Their gradient would be a sum over a row, in two tables the sum of two.
    %k = nn.stop_gradient %j : tensor<?x1xf32>
    %n = nn.lookup @moved[%more] weights(%k) pool(sum) : (!nn.ragged<?x1x*xi64>, tensor<?x1xf32>) -> tensor<?x1x6xf32>
    %o = nn.reduce sum %n axes [2] : tensor<?x1x6xf32>
    %p = nn.reduce sum %first axes [2] : tensor<?x1x2xf32>
    %q = nn.add %o, %p : tensor<?x1xf32>, tensor<?x1xf32>
    %u = nn.reduce sum %q axes [1] : tensor<?x1xf32>
    %v = nn.reduce sum %i axes [1, 2] : tensor<?x1x6xf32>
    %w = nn.add %u, %v : tensor<?xf32>, tensor<?xf32>
    %x = nn.reshape %w : (tensor<?xf32>) -> tensor<?x1xf32>
    %y = nn.add %z, %x : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %y : tensor<?x1xf32>
  }}
  nn.program @train reads(@r) {{
  ^bb0(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id, %more) : (tensor<?x3xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %label : tensor<?x1xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %half = nn.constant dense<0.5> : tensor<f32>
    %halves = nn.broadcast %half like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @plain[%id] show(%ones) click(%halves) : tensor<?x3xi64>, tensor<?x1xf32>
    nn.count @aged[%id] show(%ones) click(%halves) : tensor<?x3xi64>, tensor<?x1xf32>
    nn.count @least[%id] show(%ones) click(%halves) : tensor<?x3xi64>, tensor<?x1xf32>
    nn.count @moved[%id] show(%ones) : tensor<?x3xi64>, tensor<?x1xf32>
    nn.count @moved[%more] show(%ones) : !nn.ragged<?x1x*xi64>, tensor<?x1xf32>
    nn.minimize %l over [@clicks, @moving] : tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@r except @label) {{
  ^bb0(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>):
    %z = nn.call @z(%id, %more) : (tensor<?x3xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }}
}}
"""


def written_as_two(text):
    """Returns the model with a table for each part, in the form in which a user would write it
    without `widen`."""
    for name, (width, first, _, score, _) in RULES.items():
        found = re.search(rf"( *nn\.table @{name} : i64 -> )tensor<{width}xf32>(.*)\n", text)
        clauses = re.sub(r" widen\(.*\)$", "", found[2])
        init = re.search(r"widen\(.*, init = (.*)\)$", found[2])
        vector = re.sub(r" admit\([^)]*\)", "", clauses).replace(
            " score(", f" admit(score = {score}) score(")
        if init:
            vector = re.sub(r"init\(#nn.zeros\)", f"init({init[1]})", vector)
        weight = clauses if "least" in clauses or "decay" in clauses else re.sub(
            r" score\([^)]*\)", "", clauses)
        text = text.replace(found[0], f"{found[1]}tensor<{first}xf32>{weight}\n"
                            f"{found[1].replace('@' + name, f'@{name}.vector')}"
                            f"tensor<{width - first}xf32>{vector}\n")
        text = re.sub(rf"( *nn\.count @{name})(\[.*\n)", r"\1\2\1.vector\2", text)

        def halves(match, name=name, width=width, first=first):
            indent, result, rest, shape = match.groups()
            axis = shape.count("x")
            shapes = [f"tensor<{shape}x{n}xf32>" for n in (first, width - first)]
            return "".join(f"{indent}{result}_{i} = nn.lookup @{name}{part}{rest}{one}\n" for i, (
                part, one) in enumerate(zip(("", ".vector"), shapes))) + (
                f"{indent}{result} = nn.concat {result}_0, {result}_1 axis {axis + 1} : "
                + ", ".join(shapes) + "\n")
        text = re.sub(rf"( *)(%\w+) = nn\.lookup @{name}(\[.*-> )tensor<(.*)x{width}xf32>\n",
                      halves, text)
    return text


class TwoWidths(KeyedTables):

    MODEL = MODEL

    def check_keys(self, name, samples=BATCH, steps=STEPS):
        """Checks that a checkpoint has the expected weights and vectors."""
        dump = self.root / "counted.safetensors"
        run(PDL_CHECKPOINT, "dump", checkpoints_in(self.root / f"{name}.saved")[-1], "--output",
            dump)
        held = tensorfile.read(dump)
        for table, (width, first, scored, score, rules) in RULES.items():
            both = table == "moved"
            weights, _ = life_of(self.keys_of_steps(steps, both, samples), **rules)
            vectors, _ = life_of(self.keys_of_steps(steps, both, samples),
                                 **{**rules, "admit": 16384}, score=(scored, score))
            self.assertEqual(list(held[f"{table}.keys"].data), sorted(weights), table)
            self.assertEqual(list(held[f"{table}.vector.keys"].data), sorted(vectors), table)
            self.assertEqual(held[f"{table}.values"].shape, [len(weights), first])
            self.assertEqual(held[f"{table}.vector.values"].shape, [len(vectors), width - first])
            # Here no vector exists without its weight, and some keys have only a weight.
            self.assertLess(set(vectors), set(weights), table)
            self.assertGreater(len(vectors), 3, table)
            for part, rows in (("", weights), (".vector", vectors)):
                self.assertEqual(list(held[f"{table}{part}.slot.show"].data),
                                 [rows[key][1] for key in sorted(rows)], table)

    def test_vectors_are_of_the_keys_that_counting_says(self):
        self.translate("local")
        for name, flags in (("plain", []), ("threads", ["--threads", 3])):
            self.train_here(name, "--steps", STEPS, *flags)
            self.check_keys(name)
        self.same("plain", "threads")
        # If a device computes, tables stay on the host.
        run(PDL_TRANSLATE, self.source, "-o", self.root / "device", "--numerics=strict",
            "--target=cuda")
        run(self.root / "device" / "trainer", "train", *self.flags("device", "--steps", STEPS),
            "--device", "fake")
        self.same("plain", "device")

    def test_the_interpreter_has_the_same_bits(self):
        trainer = self.compile_strict(self.source)
        self.check_program(self.source, trainer, self.data, BATCH, STEPS)
        # In phase model, it is still one table.
        state, lines = self.root / "compiled.safetensors", self.root / "lines"
        outputs = run(trainer, "predict", "--data", self.data, "--init-from", state,
                      "--batch-size", BATCH, "--seed", 7).stdout
        run(PDL_OPT, self.source, "--pdl-pipeline=to=model numerics=strict",
            f"--nn-interpret=program=predict data={self.data} batch-size={BATCH} seed=7 "
            f"init={state} outputs={lines}", "-o", "/dev/null")
        self.assertEqual(outputs, lines.read_text())

    def test_two_tables_have_the_same_bits(self):
        """The bits are the same, except for the clip, which has one norm for both parts."""
        text = MODEL.replace(" clip(@each)", "").replace("with(@plain)", "").replace(
            " with(@t: i64 -> tensor<4xf32>)", "").replace("@t[", "@plain[")
        saved = {}
        for name, source in (("one", text), ("two", written_as_two(text))):
            path = self.root / f"{name}.mlir"
            path.write_text(source)
            trainer = programs.compile_model(path, self.root / name, "--numerics=strict")
            saved[name], losses = self.train(trainer, name, self.data, "--batch-size", BATCH)
            saved[name] = saved[name], losses
        self.assertEqual(saved["one"][1], saved["two"][1])
        self.assert_equal_files(saved["one"][0], saved["two"][0])

    def test_servers_change_no_bit(self):
        self.translate("local", "sync", "hybrid", "collective")
        self.train_here("one", "--steps", STEPS // 2, "--replicas", "2x1")
        self.check_keys("one", samples=2 * BATCH, steps=STEPS // 2)
        self.check_launched(("sync", 1), ("sync", 2), ("hybrid", 2), ("collective", 0))
        # With one sender, its steps are all steps. Without the clip, because a sender computes
        # norms over all keys.
        self.source.write_text(MODEL.replace("clip(@each) ", ""))
        self.check_one_sender()

    def test_stops_change_no_bit(self):
        self.translate("local", "sync")
        self.train_here("whole", "--steps", STEPS)
        for steps in (13, 30, STEPS):
            self.train_here("parts", "--steps", steps, "--resume", "--checkpoint-steps", 4,
                            "--checkpoint-deltas", 5)
        self.same("whole", "parts")
        self.check_stops_with_servers((11, 2), (STEPS // 2, 1))

    def test_what_serves_and_what_shrinks(self):
        """A library reads both parts, names distinguish them, and so does a shrunk checkpoint."""
        self.translate("local")
        self.train_here("served", "--steps", STEPS)
        saved = checkpoints_in(self.root / "served.saved")[-1]
        said = run(PDL_CHECKPOINT, "inspect", saved).stdout
        for table in RULES:
            for part in "", ".vector":
                self.assertRegex(said, rf"(?m)^table @{table}{re.escape(part)}: ")
        shrunk = self.root / "less.saved" / saved.name
        shrunk.parent.mkdir()
        said = run(PDL_CHECKPOINT, "shrink", saved, "-o", shrunk, "--unseen", 1, "--score",
                   "show=1", "--least", 2).stdout
        dump = self.root / "less.safetensors"
        run(PDL_CHECKPOINT, "dump", shrunk, "--output", dump)
        held = tensorfile.read(dump)
        for table in RULES:
            left, before = map(int, re.search(
                rf"(?m)^table @{table}\.vector: (\d+) of (\d+) rows are left", said).groups())
            self.assertLess(left, before, table)
            self.assertLessEqual(set(held[f"{table}.vector.keys"].data),
                                 set(held[f"{table}.keys"].data), table)
        run(PDL_TRANSLATE, self.source, "--numerics=strict", "--emit=library", "-o",
            self.root / "library")
        bags = array.array("q", self.more), array.array("i", self.splits)
        for folder in "served.saved", "less.saved":
            expected = run(self.root / "local" / "trainer", "predict", "--data", self.data,
                           "--checkpoint", self.root / folder, "--batch-size", BATCH,
                           "--seed", 7).stdout.split()[1:]
            loaded = serving.Library(self.root / "library" / "libwidths.so").open(
                self.root / folder)
            found = loaded.run("predict", {
                "id": array.array("q", self.ids), "more": bags})
            self.assertEqual(list(found["output0"]), [
                ctypes.c_float(float(text)).value for text in expected])

    def test_what_cannot_be(self):
        done = subprocess.run([PDL_TRANSLATE, self.source, "-o", self.root / "geo",
                               "--mode=geo"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "is not for mode geo: ")
        # A table with the whole width, without `widen`.
        self.translate("local")
        wide = self.root / "wide.safetensors"
        tensorfile.write(wide, {
            "plain.keys": Tensor("I64", [1], array.array("q", [1])),
            "plain.values": Tensor("F32", [1, 4], array.array("f", [1, 2, 3, 4]))})
        done = subprocess.run([self.root / "local" / "trainer", "train", "--data", self.data,
                               "--init-from", wide], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("plain.values", done.stderr)
        # Use a rule that does not need counts.
        self.source.write_text(MODEL.replace("rule(@click_adagrad)", "rule(@adagrad)").replace(
            "nn.count @plain", "// nn.count @plain"))
        done = subprocess.run([PDL_TRANSLATE, self.source, "-o", self.root / "none"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("whose group has no rule that takes counts", done.stderr)


if __name__ == "__main__":
    unittest.main()
