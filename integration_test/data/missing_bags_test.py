# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bag without values, or whose only value is missing, is a missing bag: in text, safetensors,
the interpreter, libraries and pdl-serve."""

import array
import json
import math
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from model_server import Server, single, tensor
from programs import BUILD, PDL_SERVE, PDL_TRANSLATE, SOURCE, compile_model, run

import tensorfile

sys.path.insert(0, str(SOURCE / "python"))
import pdl
from pdl import serving

PDL_OPT = BUILD / "bin" / "pdl-opt"
TRAIN = "1\ta|b|gap|none\t1\tb\n0\tb|c\t2\tb\n" * 8
# Texts of ids and numbers, and the bags that they stand for. None is a missing element.
ROWS = [("", "", [], []), ("?", "?", [None], [None]), ("", "?", [None], []),
        ("a", "1", ["a"], [1.0]), ("a|b", "1|2.5", ["a", "b"], [1.0, 2.5])]
# Bags in which some of several elements are missing.
GAPS = [("a||b", "1||2", ["a", None, "b"], [1.0, None, 2.0]),
        ("?|?", "?|?", [None, None], [None, None]), ("|c", "|1", [None, "c"], [None, 1.0])]
BAG = 'missing("none")', "missing(7.0)"
ELEMENT = 'missing_element("gap")', "missing_element(-1.0)"
CLAUSES = {"both": (" ".join((BAG[0], ELEMENT[0])), " ".join((BAG[1], ELEMENT[1]))),
           "bag": BAG, "element": ELEMENT, "neither": ("", "")}


def source(ids, numbers):
    """Returns a model whose predictions show the keys and numbers of each row."""
    return f"""module @bags {{
  nn.record @line {{
    nn.field @label : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64, salt = 3>) {ids} separator("|")
    nn.field @w : !nn.ragged<?x1x*xf32> {numbers} separator("|")
    nn.field @d : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64, salt = 3>) separator("|")
  }}
  nn.group @g rule(@sgd) rate(0.5)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.uniform<-1.0, 1.0>)
  nn.program @train reads(@line) {{
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %w: !nn.ragged<?x1x*xf32>, %d: !nn.ragged<?x1x*xi64>):
    %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@line except [@label, @d]) {{
  ^bb0(%c: !nn.ragged<?x1x*xi64>, %w: !nn.ragged<?x1x*xf32>):
    %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %v = nn.cast %w : (!nn.ragged<?x1x*xf32>) -> tensor<?x1xf32>
    %s = nn.segment_sum %v of %w : (tensor<?x1xf32>, !nn.ragged<?x1x*xf32>) -> tensor<?x1x1xf32>
    %n = nn.flatten %s from 1 : tensor<?x1x1xf32>
    nn.return %z as "ids", %n as "numbers" : tensor<?x1xf32>, tensor<?x1xf32>
  }}
  nn.program @joined frozen reads(@line except [@label, @w]) {{
  ^bb0(%c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %t = nn.same_bags %d like %c : !nn.ragged<?x1x*xi64>
    %e = nn.lookup @emb[%t] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %f = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %a = nn.add %e, %f : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %z = nn.flatten %a from 1 : tensor<?x1x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }}
}}
"""


def splits_of(bags):
    splits = array.array("i", [0])
    for bag in bags:
        splits.append(splits[-1] + len(bag))
    return splits


def floats_of(bags):
    return array.array("f", [math.nan if each is None else each for bag in bags for each in bag])


class MissingBags(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trainers, cls.libraries, cls.saved, cls.models = {}, {}, {}, cls.root / "models"
        data = cls.root / "train.tsv"
        data.write_text(TRAIN)
        for name, clauses in CLAUSES.items():
            (cls.root / f"{name}.mlir").write_text(source(*clauses))
            cls.trainers[name] = compile_model(cls.root / f"{name}.mlir", cls.root / name,
                                               "--numerics=strict")
            cls.saved[name] = cls.root / f"{name}-saved"
            run(cls.trainers[name], "train", "--data", data, "--checkpoint", cls.saved[name],
                "--dump", cls.root / f"{name}.safetensors")
            run(PDL_TRANSLATE, cls.root / f"{name}.mlir", "--numerics=strict", "--emit=library",
                "-o", cls.root / name / "library")
            cls.libraries[name] = cls.root / name / "library" / "libbags.so"
            served = cls.models / name / "1"
            served.mkdir(parents=True)
            shutil.copy(cls.libraries[name], served)
            (served / "checkpoints").symlink_to(cls.saved[name])

    def rows(self, name):
        # Without a clause for missing values, a missing number among others is an error.
        return ROWS + (GAPS if name != "neither" else [])

    def predicted(self, name, data):
        path = self.root / "predictions.tsv"
        run(self.trainers[name], "predict", "--data", data, "--output", path, "--checkpoint",
            self.saved[name])
        return [tuple(map(single, line.split("\t")))
                for line in path.read_text().splitlines()[1:]]

    def expected(self, name):
        """Returns the predictions of the trainer for text."""
        data = self.root / f"{name}.tsv"
        data.write_text("".join(f"0\t{ids}\t{numbers}\t\n"
                                for ids, numbers, _, _ in self.rows(name)))
        return self.predicted(name, data)

    def test_text(self):
        """An empty bag, one missing value and a bag with one missing value are equal. Other bags
        are distinguished."""
        for name in CLAUSES:
            with self.subTest(name):
                found = self.expected(name)
                self.assertEqual(found[0], found[1])
                self.assertEqual(found[0], found[2])
                self.assertEqual(found[0][1], 7 if "missing(" in CLAUSES[name][1] else 0)
                self.assertEqual(found[0][0] == 0, name in ("element", "neither"))
                if name == "both":
                    self.assertEqual([row[1] for row in found[5:]], [2, -2, 0])

    def test_libraries(self):
        for name in CLAUSES:
            with self.subTest(name), serving.Library(self.libraries[name]).open(
                    self.saved[name]) as model:
                rows = self.rows(name)
                numbers = [row[3] for row in rows]
                answer = model.run("predict", {
                    "c": [row[2] for row in rows], "w": (floats_of(numbers), splits_of(numbers))})
                self.assertEqual(list(zip(answer["ids"], answer["numbers"])), self.expected(name))

    @unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
    def test_requests(self):
        with Server(self.models) as server:
            for name in CLAUSES:
                with self.subTest(name):
                    rows, expected = self.rows(name), self.expected(name)
                    inputs = []
                    for input_name, datatype, place in ("c", "BYTES", 2), ("w", "FP32", 3):
                        bags = [row[place] for row in rows]
                        values, splits = sum(bags, []), list(splits_of(bags))
                        inputs += [tensor(f"{input_name}.values", datatype, [len(values)], values),
                                   tensor(f"{input_name}.splits", "INT32", [len(splits)], splits)]
                    answer = server.infer(inputs, name)
                    self.assertEqual(
                        list(zip(map(single, answer["ids"]), map(single, answer["numbers"]))),
                        expected)
                    # Inputs with one element each, and one input that is omitted.
                    plain = [tensor("c", "BYTES", [2, 1], [[None], ["a"]]),
                             tensor("w", "FP32", [2, 1], [[None], [1.0]])]
                    answer = server.infer(plain, name)
                    self.assertEqual(
                        list(zip(map(single, answer["ids"]), map(single, answer["numbers"]))),
                        [expected[1], expected[3]])
                    for given in plain:
                        with_one = server.infer([{**given, "shape": [1, 1], "data": [None]}], name)
                        self.assertEqual((single(with_one["ids"][0]),
                                          single(with_one["numbers"][0])), expected[0])

    def test_tensors(self):
        """Tensors contain keys, so only whole bags can be missing."""
        for name in CLAUSES:
            rows = [row for row in self.rows(name) if row[2] == [] or None not in row[2]]
            chosen = [place for place, row in enumerate(self.rows(name)) if row in rows]
            numbers, ids = [row[3] for row in rows], [row[2] for row in rows]
            keys = [pdl.key(text, 3) for bag in ids for text in bag]
            path, zeros = self.root / f"{name}-data.safetensors", array.array("i", [0] * (
                len(rows) + 1))
            tensors = {
                "label": tensorfile.Tensor("F32", [len(rows), 1],
                                           array.array("f", [0.0] * len(rows))),
                "w.values": tensorfile.Tensor("F32", [sum(map(len, numbers))],
                                              floats_of(numbers)),
                "w.splits": tensorfile.Tensor("I32", [len(rows) + 1], splits_of(numbers)),
                "c.splits": tensorfile.Tensor("I32", [len(rows) + 1], splits_of(ids)),
                "d.values": tensorfile.Tensor("U64", [0], array.array("Q")),
                "d.splits": tensorfile.Tensor("I32", [len(rows) + 1], zeros)}
            expected = [self.expected(name)[place] for place in chosen]
            with self.subTest(name, by="trainer"):
                tensors["c.values"] = tensorfile.Tensor("U64", [len(keys)],
                                                        array.array("Q", keys))
                tensorfile.write(path, tensors)
                self.assertEqual(self.predicted(name, path), expected)
            signed = array.array("q", [key - (key >> 63 << 64) for key in keys])
            tensors["c.values"] = tensorfile.Tensor("I64", [len(keys)], signed)
            tensors["d.values"] = tensorfile.Tensor("I64", [0], array.array("q"))
            tensorfile.write(path, tensors)
            for phase in "model", "fused":
                with self.subTest(name, phase=phase):
                    out = run(PDL_OPT, self.root / f"{name}.mlir",
                              f"--pdl-pipeline=to={phase} numerics=strict",
                              f"--nn-interpret=program=predict data={path} init="
                              f"{self.root / name}.safetensors outputs=-", "-o", "/dev/null").stdout
                    self.assertEqual([tuple(map(single, line.split("\t")))
                                      for line in out.splitlines()[1:]], expected)

    @unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
    def test_joined_bags_of_requests(self):
        """Bags that a program joins must miss the same positions, as in rows of files."""
        good = [(["a", "b"], ["b", "c"]), (["a", None], ["b", None]), ([], [None])]
        bad = [((["a", None], [None, "b"]), "in sample 1 they miss elements at different"),
               ((["a", "b"], ["c"]), "in sample 1 they have 1 and 2 elements")]

        def inputs(rows):
            made = []
            for place, name in enumerate("cd"):
                bags = [row[place] for row in rows]
                values, splits = sum(bags, []), list(splits_of(bags))
                made += [tensor(f"{name}.values", "BYTES", [len(values)], values),
                         tensor(f"{name}.splits", "INT32", [len(splits)], splits)]
            return made

        model = serving.Library(self.libraries["neither"]).open(self.saved["neither"])
        with Server(self.models) as server, model:
            self.assertEqual(len(server.infer(inputs(good), "neither@joined")["z"]), 3)
            for rows, message in bad:
                with self.subTest(message):
                    status, found = server.refused(
                        "POST", "/v2/models/neither%40joined/infer",
                        json.dumps({"inputs": inputs([good[0], rows])}))
                    self.assertEqual(status, 400)
                    self.assertIn("input 'd': belongs together with input 'c' (nn.same_bags), but "
                                  + message, found)
                    with self.assertRaisesRegex(serving.ServingError, message):
                        model.run("joined", {"c": [good[0][0], rows[0]],
                                             "d": [good[0][1], rows[1]]})


if __name__ == "__main__":
    unittest.main()
