# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In strict f32, a compiled program computes the same bits as the reference interpreter, on each
CPU and in each batch."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
import programs
from model_data import model_data
from programs import ADULT, compile_model, model, run

STEPS = 20


class Exactness(exactness.ExactnessTest):

    def check_model(self, name, data):
        source = model(name)
        trainer = compile_model(source, self.root / "strict", "--numerics=strict")
        batches = self.root / "batches.safetensors"
        flags = ["--rows", "0:2000", "--batch-size", 97, "--steps", STEPS]
        compiled, losses = self.train(trainer, "compiled", data, *flags,
                                      "--dump-batches", batches)
        self.assertEqual(len(losses.split()), STEPS)
        for phase in ("gradient", "fused"):
            with self.subTest(phase=phase):
                dump = self.root / f"{phase}.safetensors"
                lines = self.root / f"{phase}.losses"
                self.interpret(source, phase,
                               f"program=train data={batches} seed=7 "
                               f"steps={STEPS} dump={dump} dump-slots=true "
                               f"losses={lines}")
                self.assertEqual(losses, lines.read_text())
                self.assert_equal_files(compiled, dump)
        with self.subTest(limit="x86-64-v3"):
            if not programs.has_avx512():
                self.skipTest("this CPU has no AVX-512")
            with unittest.mock.patch.dict(os.environ, PDL_CPU_LIMIT="x86-64-v3"):
                other, other_losses = self.train(trainer, "v3", data, *flags)
            self.assertEqual(losses, other_losses)
            self.assert_equal_files(compiled, other)
        with self.subTest(batch="1 against 512"):
            outputs = []
            for size in (1, 512):
                outputs.append(run(trainer, "predict", "--data", data, "--rows",
                                   "2000:2600", "--init-from", compiled,
                                   "--batch-size", size).stdout)
            self.assertEqual(outputs[0].count("\n"), outputs[1].count("\n"))
            self.assertEqual(outputs[0], outputs[1])
        with self.subTest(numerics="fast"):
            fast = compile_model(source, self.root / "fast", "--numerics=fast")
            strict_lines = run(trainer, "predict", "--data", data, "--rows",
                               "2000:2600", "--init-from", compiled).stdout
            fast_lines = run(fast, "predict", "--data", data, "--rows",
                             "2000:2600", "--init-from", compiled).stdout
            a = [float(x) for x in strict_lines.split("\n")[-600:] if x]
            b = [float(x) for x in fast_lines.split("\n")[-600:] if x]
            self.assertEqual(len(a), len(b))
            self.assertGreater(len(a), 500)
            self.assertLess(max(abs(x - y) for x, y in zip(a, b)), 1e-5)

    def check_case(self, case):
        """Checks a case of the oracles for ops, rules and schedules, in f32."""
        facts = json.loads((case / "case.json").read_text())
        source = case / "model.mlir"
        self.check_program(source, self.compile_strict(source),
                           case / "data.safetensors", facts["batch_size"],
                           facts["steps"], case / "init.safetensors",
                           predicts=bool(facts["outputs"]))

    def test_ops_rules_and_schedules(self):
        cases = sorted((programs.SOURCE / "integration_test" / "oracles" /
                        "goldens" / "ops").iterdir())
        self.assertGreater(len(cases), 10)
        for case in cases:
            with self.subTest(case=case.name):
                self.check_case(case)

    def check_goes_on(self, name):
        case = (programs.SOURCE / "integration_test" / "oracles" / "goldens" /
                "ops" / name)
        source, data = case / "model.mlir", case / "data.safetensors"
        batch = json.loads((case / "case.json").read_text())["batch_size"]
        trainer = self.compile_strict(source)
        flags = ["--batch-size", batch]
        whole, _ = self.train(trainer, "whole", data, *flags, "--steps", 4)
        half, _ = self.train(trainer, "half", data, *flags, "--steps", 2)
        again, _ = self.train(trainer, "again", data, *flags, "--steps", 2,
                              "--rows", f"{2 * batch}:", "--init-from", half)
        self.assert_equal_files(whole, again)
        self.check_program(source, trainer, data, batch, 2, half,
                           predicts=False)

    def test_goes_on_from_a_dump(self):
        """Adam's bias correction uses the number of previous updates. With a clip by norm, each
        symbol has a number of its own."""
        for name in ("rules", "clip_norm"):
            with self.subTest(case=name):
                self.check_goes_on(name)

    def test_logistic_regression(self):
        self.check_model("logistic_regression", ADULT)

    def test_gru4rec(self):
        self.check_model("gru4rec", model_data("gru4rec", self.root, 4000))

    def test_nfm(self):
        self.check_model("nfm", ADULT)

    def test_wide_deep(self):
        self.check_model("wide_deep", ADULT)

    def test_bf16(self):
        """Rounded factors, from phase `fused` on, give the same bits in the interpreter, with
        emulation, with both numerics, with instructions of the CPU, and with any number of threads.
        A training does not resume from a checkpoint with another type of products."""
        data = programs.test_data("criteo", "kaggle_head10k.tsv.gz")
        source = model("ctr_dnn")
        trainer = compile_model(source, self.root / "bf16", "--numerics=strict",
                                "--compute=bf16")
        fast = compile_model(source, self.root / "fast", "--compute=bf16")
        plain = self.compile_strict(source)
        batches, saved = self.root / "batches.safetensors", self.root / "saved"
        flags = ["--rows", "0:2000", "--batch-size", 97, "--steps", 8]
        compiled, losses = self.train(trainer, "compiled", data, *flags,
                                      "--emulate-bf16", "--threads", 1,
                                      "--checkpoint", saved,
                                      "--dump-batches", batches)
        self.interpret(source, "fused", f"program=train data={batches} seed=7 "
                       f"steps=8 dump={self.root / 'dump'} dump-slots=true "
                       f"losses={self.root / 'lines'}", compute="bf16")
        self.assertEqual(losses, (self.root / "lines").read_text())
        self.assert_equal_files(compiled, self.root / "dump")
        others = [(trainer, "emulated", ["--emulate-bf16", "--threads", 2]),
                  (fast, "fast", ["--emulate-bf16"])]
        if programs.has_avx512_bf16():
            others.append((trainer, "native", []))
            said = run(trainer, "predict", "--data", data, "--rows", "0:10",
                       "--init-from", compiled).stderr
            self.assertEqual("slower than f32 on Intel CPUs" in said, programs.is_intel())
        else:
            done = subprocess.run([trainer, "train", "--data", data],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("this CPU has no AVX512-BF16", done.stderr)
        for program, name, more in others:
            with self.subTest(run=name):
                other, other_losses = self.train(program, name, data, *flags,
                                                 *more)
                self.assertEqual(losses, other_losses)
                self.assert_equal_files(compiled, other)
        _, unrounded = self.train(plain, "f32", data, *flags)
        self.assertNotEqual(losses, unrounded)
        # Weights are f32 and can be read, but training cannot continue from them.
        run(plain, "predict", "--data", data, "--rows", "0:100", "--init-from",
            compiled)
        done = subprocess.run([plain, "train", "--data", data, "--rows",
                               "0:2000", "--batch-size", "97", "--checkpoint",
                               saved, "--resume"], capture_output=True,
                              text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("large products", done.stderr)
        done = subprocess.run([plain, "train", "--data", data,
                               "--emulate-bf16"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--emulate-bf16 is for programs that were translated with "
                      "--compute=bf16", done.stderr)

    def predictions(self, trainer, data, values, size):
        """The predictions of some rows in batches of `size`, and what the trainer logs."""
        done = run(trainer, "predict", "--data", data, "--rows", "2000:2600", "--init-from",
                   values, "--batch-size", size)
        return [float(line) for line in done.stdout.split("\n")[-600:] if line], done.stderr

    def test_bf16_fast(self):
        """The order of numerics fast belongs to the type of CPU: equal bits for any number of
        threads, and where kernels do not depend on the rows, in any batch. It is compared with
        strict by tolerance, because an activation may be rounded to another bf16."""
        if not programs.has_avx512_bf16():
            self.skipTest("this CPU has no AVX512-BF16")
        data = programs.test_data("criteo", "kaggle_head10k.tsv.gz")
        source = model("ctr_dnn")
        fast = compile_model(source, self.root / "fast", "--compute=bf16")
        strict = compile_model(source, self.root / "strict", "--compute=bf16",
                               "--numerics=strict")
        flags = ["--rows", "0:2000", "--batch-size", 97, "--steps", 8]
        one, losses = self.train(fast, "one", data, *flags, "--threads", 1)
        two, others = self.train(fast, "two", data, *flags, "--threads", 2)
        self.assertEqual(losses, others)
        self.assert_equal_files(one, two)
        _, strict_losses = self.train(strict, "strict", data, *flags)
        for a, b in zip(losses.split(), strict_losses.split(), strict=True):
            self.assertLess(abs(float(a) - float(b)), 1e-3 * abs(float(b)))
        single, said = self.predictions(fast, data, one, 1)
        self.assertGreater(len(single), 500)
        if "products in bf16 use AMX" in said or "products in bf16 use vdpbf16ps" in said:
            self.assertEqual(single, self.predictions(fast, data, one, 512)[0])
        in_strict, _ = self.predictions(strict, data, one, 512)
        self.assertLess(max(abs(a - b) for a, b in zip(single, in_strict, strict=True)), 2e-3)

    def test_products_of_parts(self):
        """bf16x3 and bf16x6: the interpreter from phase `fused` on, emulation with both
        numerics, and AMX give the same bits; they are as good as f32."""
        data = programs.test_data("criteo", "kaggle_head10k.tsv.gz")
        source = model("ctr_dnn")
        plain = self.compile_strict(source)
        flags = ["--rows", "0:2000", "--batch-size", 97, "--steps", 8]
        in_f32, f32_losses = self.train(plain, "f32", data, *flags)
        for compute in ("bf16x3", "bf16x6"):
            with self.subTest(compute=compute):
                strict = compile_model(source, self.root / f"{compute}_strict",
                                       "--numerics=strict", f"--compute={compute}")
                fast = compile_model(source, self.root / f"{compute}_fast",
                                     f"--compute={compute}")
                batches = self.root / f"{compute}_batches.safetensors"
                compiled, losses = self.train(strict, compute, data, *flags, "--emulate-bf16",
                                              "--threads", 1, "--dump-batches", batches)
                self.interpret(source, "fused", f"program=train data={batches} seed=7 "
                               f"steps=8 dump={self.root / 'dump'} dump-slots=true "
                               f"losses={self.root / 'lines'}", compute=compute)
                self.assertEqual(losses, (self.root / "lines").read_text())
                self.assert_equal_files(compiled, self.root / "dump")
                others = [(fast, "emulated", ["--emulate-bf16", "--threads", 2])]
                done = subprocess.run([strict, "predict", "--data", data, "--rows", "0:10",
                                       "--init-from", compiled], capture_output=True, text=True)
                if done.returncode == 0:
                    self.assertIn(f"products in {compute} use AMX", done.stderr)
                    others.append((strict, "native", ["--threads", 2]))
                else:
                    self.assertIn("this process cannot use AMX", done.stderr)
                for program, name, more in others:
                    other, other_losses = self.train(program, name, data, *flags, *more)
                    self.assertEqual(losses, other_losses)
                    self.assert_equal_files(compiled, other)
                self.assertNotEqual(losses, f32_losses)
                # Both numerics predict like f32.
                in_strict, _ = self.predictions(plain, data, in_f32, 512)
                bound = {"bf16x3": 1e-4, "bf16x6": 1e-5}[compute]
                predicted, _ = self.predictions(fast, data, in_f32, 512)
                self.assertLess(max(abs(a - b) for a, b in
                                    zip(predicted, in_strict, strict=True)), bound)
                self.assertLess(abs(self.auc(fast, data, compiled) -
                                    self.auc(plain, data, in_f32)), 5e-4)

    def test_f32_in_parts(self):
        """Numerics fast computes f32 as bf16x6 where AMX is faster. Predictions stay within 1e-5 of
        strict, and training is as good; `--no-bf16x6` turns it off."""
        data = programs.test_data("criteo", "kaggle_head10k.tsv.gz")
        source = model("ctr_dnn")
        plain = self.compile_strict(source)
        fast = compile_model(source, self.root / "split", "--numerics=fast")
        flags = ["--rows", "0:2000", "--batch-size", 200, "--steps", 8]
        one, losses = self.train(fast, "one", data, *flags, "--threads", 1)
        two, others = self.train(fast, "two", data, *flags, "--threads", 2)
        self.assertEqual(losses, others)
        self.assert_equal_files(one, two)
        in_f32, f32_losses = self.train(fast, "off", data, *flags, "--no-bf16x6")
        predicted, said = self.predictions(fast, data, one, 512)
        self.assertEqual("products in f32 use bf16x6 with AMX" in said, losses != f32_losses)
        exact, said = self.predictions(plain, data, one, 512)
        self.assertNotIn("bf16x6", said)
        self.assertLess(max(abs(a - b) for a, b in zip(predicted, exact, strict=True)), 1e-5)
        self.assertLess(abs(self.auc(fast, data, one) - self.auc(plain, data, in_f32)), 5e-4)
        done = subprocess.run([plain, "train", "--data", data, "--no-bf16x6"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--no-bf16x6 is for f32 products of numerics fast", done.stderr)

    def auc(self, trainer, data, values):
        """The AUC of a test on rows that training did not read."""
        said = run(trainer, "evaluate", "--data", data, "--rows", "2000:8000", "--init-from",
                   values).stdout
        return float(re.search(r"AUC ([0-9.]+)", said)[1])

    def test_ctr_dnn(self):
        self.check_model("ctr_dnn", programs.test_data(
            "criteo", "kaggle_head10k.tsv.gz"))


if __name__ == "__main__":
    unittest.main()
