# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries whose large products are computed in bf16 or with int8 weights: their AUC on real
clicks is that of f32, up to a small bound, and predictions do not depend on the batch."""

import ctypes
import gzip
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from model_server import Server, array_inputs_of, inputs_of, single
from programs import PDL_SERVE, PDL_TRANSLATE, SOURCE, model, rounds_bf16, run, test_data

sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving

TEST_ROWS = 2000
# Largest change of the AUC of a test, and of a prediction.
BOUNDS = {"f32": (1e-5, 1e-5), "bf16": (5e-4, 0.01), "int8": (1e-3, 0.03)}


def auc_of(scores, labels):
    """Returns the area under the ROC curve. Equal scores count half."""
    pairs = sorted(zip(scores, labels))
    positives, below, area, i = sum(labels), 0, 0.0, 0
    while i < len(pairs):
        j = i
        while j < len(pairs) and pairs[j][0] == pairs[i][0]:
            j += 1
        hits = sum(label for _, label in pairs[i:j])
        misses = j - i - hits
        area += hits * (below + misses / 2)
        below += misses
        i = j
    return area / (positives * below)


class Weights(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        run(PDL_TRANSLATE, model("ctr_dnn"), "--numerics=strict", "-o", cls.root / "out")
        for name, flags in (("f32", []), ("bf16", ["--compute=bf16"]),
                            ("strict", ["--numerics=strict"])):
            run(PDL_TRANSLATE, model("ctr_dnn"), "--emit=library", *flags, "-o", cls.root / name)
        cls.values = cls.root / "values.safetensors"
        trainer = cls.root / "out" / "trainer"
        run(trainer, "train", "--data", data, "--rows", "0:8000", "--batch-size", 200, "--dump",
            cls.values)
        output = cls.root / "predictions.tsv"
        run(trainer, "predict", "--data", data, "--rows", f"8000:{8000 + TEST_ROWS}",
            "--init-from", cls.values, "--output", output)
        cls.expected = [float(line) for line in output.read_text().split("\n")[1:] if line]
        with gzip.open(data, "rt") as lines:
            cls.lines = [line.rstrip("\n").split("\t") for line in lines][8000:8000 + TEST_ROWS]
        cls.labels = [int(cells[0]) for cells in cls.lines]

    def library(self, name):
        return serving.Library(self.root / name / "libctr_dnn.so")

    def predictions(self, loaded, batch):
        found = []
        for begin in range(0, TEST_ROWS, batch):
            inputs = array_inputs_of(self.lines[begin:begin + batch])
            found += loaded.run("predict", inputs)["output0"]
        return found

    def test_accuracy(self):
        self.assertEqual(len(self.expected), TEST_ROWS)
        exact = auc_of(self.expected, self.labels)
        self.assertGreater(exact, 0.65)
        for name, library, weights in (("f32", "f32", "compiled"), ("bf16", "bf16", "compiled"),
                                       ("int8", "f32", "int8"), ("int8", "bf16", "int8")):
            with self.subTest(name, library=library):
                loaded = self.library(library).open(self.values, weights=weights)
                self.assertEqual(loaded.weights(), weights)
                before = loaded.state()["bytes"]
                found = self.predictions(loaded, 500)
                of_auc, of_score = BOUNDS[name]
                self.assertLess(abs(auc_of(found, self.labels) - exact), of_auc)
                self.assertLess(max(abs(a - b) for a, b in zip(found, self.expected)), of_score)
                if name != "f32":
                    # A message with all predictions would be unreadable.
                    is_equal = found == self.predictions(
                        self.library("f32").open(self.values), 500)
                    self.assertEqual(is_equal, name == "bf16" and not rounds_bf16())
                # The order of bf16 products on CPUs without AMX depends on the batch.
                if name == "int8":
                    self.assertEqual(found, self.predictions(loaded, 37))
                    self.assertLess(loaded.state()["bytes"] - before, 1.3 * 273 * 400 + 2.3 * 400 * 400)
                packed = loaded.state()["bytes"]
                self.assertGreater(packed, before)
                loaded.reload(self.values)
                self.assertEqual((loaded.weights(), loaded.state()["bytes"]), (weights, packed))
                self.assertEqual(self.predictions(loaded, 500), found)

    @unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
    def test_server(self):
        """`pdl-serve --weights int8` predicts like a library with int8 weights, and refuses
        libraries of numerics strict."""
        expected = self.library("f32").open(self.values, weights="int8").run(
            "predict", array_inputs_of(self.lines[:20]))["output0"]
        for name in "f32", "strict":
            folder = self.root / "models" / name / "1"
            folder.mkdir(parents=True)
            shutil.copytree(self.root / name, folder, dirs_exist_ok=True)
            shutil.copy(self.values, folder / "values.safetensors")
        with Server(self.root / "models", "--weights", "int8") as server:
            found = server.infer(inputs_of(self.lines[:20]), name="f32")["output0"]
            self.assertEqual([single(score) for score in found], list(expected))
            server.wait_for("model strict, version 1: weights in int8 would change the results")

    def test_callers_with_an_older_header(self):
        """The first version of pdl_serving_values ends before `weights`, which is not read."""
        library = self.library("f32")
        older = serving._Values.weights.offset  # pylint: disable=protected-access
        values = serving._Values(older, str(self.values).encode(), 0, 77)
        model = serving.Model(library, library.functions.open_values(ctypes.byref(values)))
        self.assertEqual(model.weights(), "compiled")
        values.struct_size = ctypes.sizeof(values)
        with self.assertRaisesRegex(serving.ServingError, "there are no weights of type 77"):
            serving.Model(library, library.functions.open_values(ctypes.byref(values)))

    def test_what_is_refused(self):
        with self.assertRaisesRegex(serving.ServingError, "weights are 'compiled' or 'int8', not 'int4'"):
            self.library("f32").open(self.values, weights="int4")
        with self.assertRaisesRegex(serving.ServingError, "would change the results of numerics strict"):
            self.library("strict").open(self.values, weights="int8")


if __name__ == "__main__":
    unittest.main()
