# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries for serving: their predictions equal those of the trainer (bit for bit in strict
numerics) in C, C++ and Python. Also tests their content and their errors."""

import array
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from model_data import model_data
from model_server import array_inputs_of, single
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, SOURCE, checkpoints_in, model, run

sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving

EXAMPLES = SOURCE / "examples" / "serving"
ROWS = 1500
# xxh64 of "known" with seed 0, as a signed number (see xxhsum -H1).
HASH_OF_KNOWN = 97140750998380198


def cells_of(path):
    return [line.rstrip("\n").split("\t") for line in path.read_text().splitlines()]


class Library(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = model_data("ctr_dnn", cls.root, ROWS)
        cls.out = cls.root / "out"
        cls.made = cls.root / "library"
        for emit, folder in ((), cls.out), (["--emit=library"], cls.made):
            run(PDL_TRANSLATE, model("ctr_dnn"), "--numerics=strict", *emit, "-o", folder)
        cls.checkpoint = cls.root / "checkpoints"
        run(cls.out / "trainer", "train", "--data", cls.data, "--batch-size", "64", "--epochs",
             "2", "--checkpoint", cls.checkpoint)
        cls.expected = cls.predictions("--checkpoint", cls.checkpoint)
        cls.lines = cells_of(cls.data)

    @classmethod
    def predictions(cls, *flags):
        """Returns the predictions of the trainer."""
        path = cls.root / "predictions.tsv"
        run(cls.out / "trainer", "predict", "--data", cls.data, "--output", path, *flags)
        return [single(line) for line in path.read_text().splitlines()[1:]]

    def library(self):
        return serving.Library(self.made / "libctr_dnn.so")

    def score(self, loaded, batch, lines=None):
        lines = self.lines if lines is None else lines
        found = []
        for begin in range(0, len(lines), batch):
            found += loaded.run("predict", array_inputs_of(lines[begin:begin + batch]))["output0"]
        return found

    def test_batches_of_any_size(self):
        loaded = self.library().open(self.checkpoint)
        for batch in 1, 7, 512:
            with self.subTest(batch):
                self.assertEqual(self.score(loaded, batch), self.expected)

    def test_examples(self):
        """Examples in C, C++ and Python run as their first lines describe."""
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ctr_dnn"], check=True,
                               capture_output=True, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": str(self.made)}).stdout.split()
        programs = [[sys.executable, EXAMPLES / "score.py", self.made / "libctr_dnn.so"]]
        for compiler, source, more in (
                ("cc", "score.c", ["-std=c11"]),
                ("c++", "score.cpp", ["-std=c++17", "-pthread"])):
            program = self.root / source.replace(".", "_")
            run(compiler, *more, "-Wall", "-Wextra", "-Werror", EXAMPLES / source, *flags, "-o",
                 program)
            programs.append([program])
        for program in programs:
            with self.subTest(program):
                with self.data.open() as lines:
                    done = subprocess.run([*program, self.checkpoint], stdin=lines, check=True,
                                          capture_output=True, text=True,
                                          env={**os.environ,
                                               "PYTHONPATH": str(SOURCE / "python")})
                self.assertEqual([single(line) for line in done.stdout.splitlines()],
                                 self.expected)

    def test_many_threads_and_reloads(self):
        """Each call uses the values of one checkpoint, whatever is loaded meanwhile."""
        before = self.root / "before"
        run(self.out / "trainer", "train", "--data", self.data, "--batch-size", "64", "--epochs",
            "1", "--checkpoint", before)
        expected = {tuple(self.expected[:64]),
                    tuple(self.predictions("--checkpoint", before)[:64])}
        self.assertEqual(len(expected), 2)
        loaded = self.library().open(self.checkpoint)
        inputs, seen, failures = array_inputs_of(self.lines[:64]), set(), []
        ends = threading.Event()

        def ask():
            try:
                while not ends.is_set():
                    seen.add(tuple(loaded.run("predict", inputs)["output0"]))
            except serving.ServingError as error:
                failures.append(str(error))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(6):
            loaded.reload(before if i % 2 == 0 else self.checkpoint)
        ends.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertLessEqual(seen, expected)
        self.assertEqual(loaded.state()["version"], 7)
        self.assertEqual(self.score(loaded, 64, self.lines[:64]), self.expected[:64])

    def test_dumps(self):
        dump = self.root / "model.safetensors"
        run(PDL_CHECKPOINT, "dump", self.checkpoint, "-o", dump)
        loaded = self.library().open(dump)
        self.assertEqual(self.score(loaded, 100), self.expected)
        self.assertEqual(loaded.state()["steps"], -1)

    def test_mapped_exports(self):
        """The rows are those of the file, which are read only when they are needed."""
        exported = self.root / "exported"
        run(PDL_CHECKPOINT, "export", self.checkpoint, "-o", exported)
        loaded = self.library().open(exported)
        self.assertEqual(self.score(loaded, 100), self.expected)
        self.assertEqual(loaded.state()["steps"], 48)
        # While a file is served, another file may replace it under its name.
        again = self.root / "again"
        run(PDL_CHECKPOINT, "export", self.checkpoint, "-o", again)
        self.assertEqual((again / "table-0.rows").read_bytes(),
                         (exported / "table-0.rows").read_bytes())
        done = subprocess.run([PDL_CHECKPOINT, "export", self.checkpoint, "-o", again],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is there already; name another folder", done.stderr)
        self.assertEqual(list(self.root.glob("again.tmp*")), [])
        table = again / "table-0.rows"
        content = table.read_bytes()
        for what, damaged in (("too short", content[:64]),
                              ("no table that was exported", b"X" + content[1:]),
                              ("another checksum", content[:9] + b"!" + content[10:]),
                              ("bytes, not", content[:-1])):
            with self.subTest(what):
                table.write_bytes(damaged)
                with self.assertRaises(serving.ServingError) as caught:
                    self.library().open(again)
                self.assertIn(what, str(caught.exception))
        # Data after the header are checked only if this is requested.
        table.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        self.library().open(again)
        done = subprocess.run([PDL_CHECKPOINT, "inspect", again], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("table-0.rows: is damaged", done.stderr)
        self.assertIn("all 3 files have the right checksum",
                      run(PDL_CHECKPOINT, "inspect", exported).stdout)
        # Files of different exports cannot be combined.
        other = self.root / "of_one_step"
        run(self.out / "trainer", "train", "--data", self.data, "--batch-size", "64", "--steps",
            "1", "--checkpoint", self.root / "one_step")
        run(PDL_CHECKPOINT, "export", self.root / "one_step", "-o", other)
        for name in ("table-0.rows", "dense.safetensors"):
            mixed = self.root / f"mixed_{name}"
            shutil.copytree(exported, mixed)
            shutil.copy(other / name, mixed / name)
            with self.assertRaises(serving.ServingError) as caught:
                self.library().open(mixed)
            self.assertIn(f"{name}: is not", str(caught.exception))
        done = subprocess.run([PDL_CHECKPOINT, "export", self.checkpoint, "--slot", "nothing", "-o",
                               self.root / "none"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no symbol has a slot 'nothing'", done.stderr)
        table.unlink()
        with self.assertRaises(serving.ServingError) as caught:
            self.library().open(again)
        self.assertIn("table-0.rows: cannot be opened", str(caught.exception))

    def test_deltas(self):
        """A delta changes the loaded model, and gives the same predictions as its checkpoint."""
        folder = self.root / "deltas"
        run(self.out / "trainer", "train", "--data", self.data, "--batch-size", "64", "--epochs",
            "1", "--checkpoint", folder, "--checkpoint-steps", "3", "--checkpoint-deltas", "9",
            "--checkpoint-keep", "0")
        steps = checkpoints_in(folder)
        self.assertEqual(len(steps), 8)
        loaded = self.library().open(steps[0])
        for step in steps[1:]:
            loaded.reload(step)
            with self.subTest(step.name):
                expected = self.predictions("--checkpoint", step)
                self.assertEqual(self.score(loaded, 512), expected)
                # Read the delta together with its predecessors.
                whole = self.library().open(step)
                self.assertEqual(self.score(whole, 512), expected)
                self.assertEqual(loaded.state()["rows"], whole.state()["rows"])
                self.assertEqual(loaded.state()["steps"], whole.state()["steps"])
        # Apply several deltas at once, and go back to an earlier checkpoint.
        loaded.reload(steps[0])
        loaded.reload(folder)
        self.assertEqual(self.score(loaded, 512), expected)
        # Checkpoints that are already loaded are not read again.
        alone = self.root / "alone"
        shutil.copytree(folder, alone)
        loaded.reload(alone / steps[0].name)
        shutil.rmtree(alone / steps[0].name)
        loaded.reload(alone / steps[2].name)
        self.assertEqual(self.score(loaded, 512),
                         self.predictions("--checkpoint", steps[2]))
        # They are not read from a folder either. The last checkpoint, at the end of the epoch, is
        # complete.
        shutil.rmtree(alone / steps[-1].name)
        loaded.reload(alone)
        self.assertEqual(self.score(loaded, 512), self.predictions("--checkpoint", steps[-2]))
        with self.assertRaises(serving.ServingError) as caught:
            self.library().open(alone / steps[2].name)
        self.assertIn(steps[0].name, str(caught.exception))
        exported = self.root / "exported_delta"
        run(PDL_CHECKPOINT, "export", steps[-1], "-o", exported)
        self.assertEqual(self.score(self.library().open(exported), 512), expected)

    def test_averages(self):
        """Frozen programs read averages, so these are loaded instead of values."""
        text = model("ctr_dnn").read_text().replace(
            "rate(1.0e-3) decay(", "rate(1.0e-3) average(@ema {decay = 0.9}) decay(").replace(
            "rate(1.0e-3) untouched", "rate(1.0e-3) average(@ema {decay = 0.9}) untouched")
        (self.root / "average.mlir").write_text(text)
        out, made = self.root / "average", self.root / "average_library"
        run(PDL_TRANSLATE, self.root / "average.mlir", "--numerics=strict", "-o", out)
        run(PDL_TRANSLATE, self.root / "average.mlir", "--numerics=strict", "--emit=library", "-o",
            made)
        saved = self.root / "averages"
        run(out / "trainer", "train", "--data", self.data, "--batch-size", "64", "--checkpoint",
            saved)
        path = self.root / "average.tsv"
        run(out / "trainer", "predict", "--data", self.data, "--output", path, "--checkpoint",
            saved)
        expected = [single(line) for line in path.read_text().splitlines()[1:]]
        library = serving.Library(made / "libctr_dnn.so")
        self.assertEqual(self.score(library.open(saved), 100), expected)
        for flags, name in ((["--slot", "average"], "with"), ([], "without")):
            run(PDL_CHECKPOINT, "export", saved, "-o", self.root / name, *flags)
        self.assertEqual(self.score(library.open(self.root / "with"), 100), expected)
        with self.assertRaises(serving.ServingError) as caught:
            library.open(self.root / "without")
        self.assertIn("export the checkpoint with --slot average", str(caught.exception))

    def test_keys_in_place_of_texts(self):
        """Keys are used without hashing. An unknown key reads the initial value, and a known one
        reads the row of the text with that hash."""
        loaded = self.library().open(self.checkpoint)
        with_text = {**array_inputs_of(self.lines[:1]), "categories": [["known"]] + 25 * [[]]}
        keys = array.array("Q", [HASH_OF_KNOWN])
        with_key = {**with_text, "categories": (keys, array.array("i", [0] + 26 * [1]))}
        self.assertEqual(loaded.run("predict", with_key), loaded.run("predict", with_text))
        # Integers that are not declared as keys are rejected.
        integers = (array.array("q", keys), with_key["categories"][1])
        with self.assertRaisesRegex(serving.ServingError, "the model hashes texts; give texts"):
            loaded.run("predict", {**with_text, "categories": integers})

    def test_what_is_in_it(self):
        """The library has only the parts that @predict needs: no label, no slots, no kernels of
        updates."""
        made = self.library()
        self.assertEqual(list(made.programs), ["predict"])
        program = made.programs["predict"]
        self.assertEqual([tensor.name for tensor in program.inputs], ["numbers", "categories"])
        path = self.made / "libctr_dnn.so"
        exported = subprocess.run(["nm", "-D", "--defined-only", path], check=True,
                                  capture_output=True, text=True).stdout.split()[2::3]
        self.assertEqual(sorted(exported), ["ctr_dnn_serving", "pdl_serving_query"])
        names = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
        self.assertIn("predict_compute", names)
        for name in ("train_compute", "evaluate_compute", "kernel.update", "HashTable",
                     "DeviceTable", "Updater", "pdldevice_"):
            self.assertFalse(name in names, f"{name} is in the library")
        self.assertLess(path.stat().st_size, 0.6 * (self.out / "trainer").stat().st_size)
        state = made.open(self.checkpoint).state()
        # A row has 40 bytes, and 53 including its key in the index. The slots of Adam would need
        # 80.
        parameters = 4 * (273 * 400 + 400 + 2 * (400 * 400 + 400) + 400 + 1)
        self.assertLess(state["bytes"] - parameters, 54 * state["rows"])

    def test_factors_of_products(self):
        """Factors are rearranged by the first call, and then whenever other values are loaded.
        Factors of products with one column are not."""
        loaded = self.library().open(self.checkpoint)
        before = loaded.state()["bytes"]
        for batch in 1, 20, 100, 1:
            self.score(loaded, batch, self.lines[:100])
        laid_out = loaded.state()["bytes"] - before
        products = 4 * (273 * 400 + 2 * 400 * 400)
        self.assertGreaterEqual(laid_out, products)
        self.assertLess(laid_out, 1.1 * products)
        loaded.reload(self.checkpoint)
        self.assertEqual(loaded.state()["bytes"], before + laid_out)
        self.assertEqual(self.score(loaded, 100), self.expected)

    def test_what_is_refused(self):
        loaded = self.library().open(self.checkpoint)
        good = array_inputs_of(self.lines[:2])
        keys = array.array("Q", [1])
        splits = array.array("i", [0] + 52 * [1])
        cases = [
            ("no program @rank, only @predict", "rank", good),
            ("has no input 'label'", "predict", {**good, "label": keys}),
            ("a batch of 0 samples", "predict", {"categories": []}),
            ("takes 'f'; convert it", "predict", {**good, "numbers": array.array("d", 26 * [0])}),
            ("takes numbers, and a list is for texts; give an array of 'f'", "predict",
             {**good, "numbers": 26 * [0.0]}),
            ("is a NoneType and no buffer", "predict", {**good, "numbers": None}),
            ("takes bags, a list of texts each, but one is 'a b'", "predict",
             {**good, "categories": 52 * ["a b"]}),
            ("takes bags, a list of texts each, but one is 7", "predict",
             {**good, "categories": 52 * [7]}),
            ("takes texts, str or bytes, but one is a int", "predict",
             {**good, "categories": 52 * [[7]]}),
            ("which is no multiple of 13", "predict", {**good, "numbers": array.array("f", [0])}),
            ("others 2", "predict", {**good, "categories": 26 * [[]]}),
            ("splits end at 2", "predict", {**good, "categories": (keys, array.array("i", [0] + 52 * [2]))}),
            ("the first of its splits is 1, not 0", "predict",
             {**good, "categories": (keys, array.array("i", 53 * [1]))}),
            ("splits[2] is 0, less than the one before, 1", "predict",
             {**good, "categories": (keys, array.array("i", [0, 1, 0] + 50 * [1]))}),
        ]
        for message, program, inputs in cases:
            with self.subTest(message):
                with self.assertRaises(serving.ServingError) as caught:
                    loaded.run(program, inputs)
                self.assertIn(message, str(caught.exception))
        found = loaded.run("predict", {**good, "categories": (keys, splits)})
        self.assertEqual(len(found["output0"]), 2)
        # Arrays of ctypes have a format that contains the byte order.
        of_ctypes = (ctypes.c_int32 * len(splits))(*splits)
        self.assertEqual(loaded.run("predict", {**good, "categories": (keys, of_ctypes)}), found)

    def test_what_cannot_be_loaded(self):
        """Each error has one message. The previous values of a model stay loaded."""
        loaded = self.library().open(self.checkpoint)
        damaged = self.root / "damaged"
        shutil.copytree(checkpoints_in(self.checkpoint)[-1], damaged)
        table = next(damaged.glob("table-*"))
        content = bytearray(table.read_bytes())
        content[-1] ^= 1
        table.write_bytes(content)
        other = self.root / "other"
        text = model("ctr_dnn").read_text().replace("tensor<10xf32>", "tensor<8xf32>").replace(
            "26x10xf32", "26x8xf32").replace("273", "221").replace("260", "208")
        (self.root / "other.mlir").write_text(text)
        run(PDL_TRANSLATE, self.root / "other.mlir", "--numerics=strict", "-o", other)
        run(other / "trainer", "train", "--data", self.data, "--batch-size", "512",
             "--checkpoint", other / "checkpoints")
        (self.root / "text.safetensors").write_text("no tensors")
        cases = [(self.root / "nothing", "there is no such folder"),
                 (damaged, "damaged"),
                 (other / "checkpoints", "rows of @emb"),
                 (self.root / "text.safetensors", "text.safetensors")]
        for path, message in cases:
            with self.subTest(path.name):
                for attempt in self.library().open, loaded.reload:
                    with self.assertRaises(serving.ServingError) as caught:
                        attempt(path)
                    self.assertIn(message, str(caught.exception))
                    self.assertNotIn("\n", str(caught.exception))
        self.assertEqual(loaded.state()["version"], 1)
        self.assertEqual(self.score(loaded, 512), self.expected)

    def test_flags(self):
        for flags, message in (
                (["--mode=sync"], "leave --mode out"),
                (["--emit=exe", "--servers"], "add --emit=library"),
                (["--target=cuda"], "leave --target=cuda out")):
            emit = [] if "--emit=exe" in flags else ["--emit=library"]
            done = subprocess.run([PDL_TRANSLATE, model("ctr_dnn"), *emit, *flags, "-o",
                                   self.root / "refused"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.root / "refused").exists())


if __name__ == "__main__":
    unittest.main()
