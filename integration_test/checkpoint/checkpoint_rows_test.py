# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-checkpoint row, neighbors, stats and projector show what the files of a checkpoint contain.

The oracle reads dumps and the safetensors files of the checkpoint."""

import json
import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import pdl
from folders import SharedFolderTest
from object_store import ObjectStore
from programs import PDL_CHECKPOINT, checkpoints_in, compile_model, fails, run

import tensorfile

SALT = 3
IDS, SAMPLES, EVERY = 60, 1200, 5

MODEL = f"""module @rows {{
  nn.record @line {{
    nn.field @label : tensor<?x1xf32>
    nn.field @word : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = {SALT}>)
    nn.field @number : tensor<?x1xi64>
    nn.field @slots : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = slot>)
  }}
  nn.group @rows rule(@rowwise_adagrad) rate(0.25) untouched(lazy)
  nn.group @clicks rule(@click_adagrad) rate(0.0625) untouched(lazy)
  nn.table @emb : i64 -> tensor<4xf32> in @clicks init(#nn.uniform<-1.0, 1.0>) admit(count = 5) shrink(every = {EVERY}, unseen = 1000, decay = 0.5, least = 0.0) score(show = 0.25, click = 1.5)
  nn.table @plain : i64 -> tensor<3xf32> in @rows init(#nn.uniform<-1.0, 1.0>)
  nn.table @by_slot : i64 -> tensor<2xf32> in @rows init(#nn.uniform<-1.0, 1.0>)
  nn.program @train reads(@line) {{
  ^bb0(%label: tensor<?x1xf32>, %word: tensor<?x1xi64>, %number: tensor<?x1xi64>, %slots: tensor<?x1xi64>):
    %a = nn.lookup @emb[%word] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x4xf32>
    %b = nn.lookup @plain[%number] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x3xf32>
    %c = nn.lookup @by_slot[%slots] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %all = nn.concat %a, %b, %c axis 2 : tensor<?x1x4xf32>, tensor<?x1x3xf32>, tensor<?x1x2xf32>
    %t = nn.tanh %all : tensor<?x1x9xf32>
    %z = nn.reduce sum %t axes [2] : tensor<?x1x9xf32>
    %l = nn.squared_error %z, %label : tensor<?x1xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @emb[%word] show(%ones) click(%label) : tensor<?x1xi64>, tensor<?x1xf32>
    nn.minimize %l over [@rows, @clicks] : tensor<?x1xf32>
  }}
}}
"""


def key_of(text):
    """Returns the key of a text as a signed number."""
    key = pdl.key(text, SALT)
    return key - 2 ** 64 if key >= 2 ** 63 else key


def norm(values):
    return math.sqrt(math.fsum(value * value for value in values))


class CheckpointRows(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        data = cls.root / "data.tsv"
        data.write_text("".join(
            f"{draw.randrange(2)}\tword{int(draw.paretovariate(0.7)) % IDS}\t"
            f"{draw.randrange(-2000, 2000)}\t{draw.randrange(9)}\n" for _ in range(SAMPLES)))
        source = cls.root / "rows.mlir"
        source.write_text(MODEL)
        trainer = compile_model(source, cls.root / "rows", "--numerics=strict")
        cls.saved = cls.root / "saved"
        run(trainer, "train", "--data", data, "--batch-size", 50, "--checkpoint", cls.saved,
            "--checkpoint-steps", 7, "--checkpoint-deltas", 9)
        cls.newest = checkpoints_in(cls.saved)[-1]
        assert '"after"' in (cls.newest / "manifest.json").read_text(), "no delta"
        dump = cls.root / "dump.safetensors"
        run(PDL_CHECKPOINT, "dump", cls.saved, "-o", dump)
        cls.held = tensorfile.read(dump)
        cls.rows = {table: cls.rows_of(table) for table in ("emb", "plain", "by_slot")}
        cls.steps = SAMPLES // 50

    @classmethod
    def rows_of(cls, table):
        """Returns the rows of a table by key: lists of elements by tensor."""
        keys, rows = cls.held[f"{table}.keys"].data, {}
        for name, tensor in cls.held.items():
            part = name.removeprefix(f"{table}.")
            if part == name or part in ("keys", "waiting.keys", "waiting.notes"):
                continue
            width = len(tensor.data) // len(keys)
            for number, key in enumerate(keys):
                rows.setdefault(key, {})[part] = list(
                    tensor.data[number * width:(number + 1) * width])
        return rows

    def ask(self, command, *arguments):
        return json.loads(run(PDL_CHECKPOINT, command, "--json", self.saved, *arguments).stdout)

    def age_of(self, row):
        return self.steps // EVERY - int(row["slot.period"][0])

    def score_of(self, row):
        return 0.25 * row["slot.show"][0] + 1.5 * row["slot.click"][0]

    def waiting(self):
        """Returns the counts of the waiting keys of @emb, according to the files."""
        found = {}
        for folder in checkpoints_in(self.saved):
            for part in folder.glob("table-0-*.safetensors"):
                tensors = tensorfile.read(part)
                if "waiting.keys" in tensors:
                    found.update(zip(tensors["waiting.keys"].data,
                                     (note & 0x3fff for note in tensors["waiting.notes"].data)))
        return {key: count for key, count in found.items() if key not in self.rows["emb"]}

    def test_row_of_a_text(self):
        shown = 0
        for number in range(IDS):
            key = key_of(f"word{number}")
            row = self.rows["emb"].get(key)
            if row is None or shown == 5:
                continue
            shown += 1
            found = self.ask("row", f" word{number} ", "--table", "@emb")
            self.assertEqual((found["key"], found["waiting"]), (key, False))
            self.assertEqual(found["key_from"], f"hashed with salt {SALT}, as the field does")
            self.assertEqual(found["values"], row["values"])
            self.assertEqual(found["slots"], {name.removeprefix("slot."): elements
                                              for name, elements in row.items()
                                              if name.startswith("slot.")})
            self.assertEqual(found["age"], self.age_of(row))
            self.assertAlmostEqual(found["score"], self.score_of(row), places=9)
            self.assertAlmostEqual(found["norm"], norm(row["values"]), places=9)
            keys = tensorfile.read(pathlib.Path(found["file"]))["keys"].data
            self.assertIn(key, keys)
            self.assertEqual(self.ask("row", "--ready", "--table", "emb", "--", str(key))["values"],
                             row["values"])
        self.assertEqual(shown, 5)

    def test_row_of_a_number(self):
        for key in list(self.rows["plain"])[:3]:
            for text in (str(key), str(key % 2 ** 64)):
                # "--" precedes an id that begins with a minus sign.
                found = self.ask("row", "--table", "plain", "--", text)
                self.assertEqual((found["key"], found["key_from"]), (key, "an integer id"))
                self.assertEqual(found["values"], self.rows["plain"][key]["values"])
                self.assertNotIn("age", found)
                self.assertNotIn("score", found)

    def test_row_as_text(self):
        key = max(self.rows["plain"])
        row = self.rows["plain"][key]
        said = run(PDL_CHECKPOINT, "row", self.saved, key, "--table", "plain").stdout
        self.assertIn("table            @plain\n", said)
        self.assertIn(f"key              {key}, an integer id\n", said)
        [values] = [line for line in said.splitlines() if line.startswith("values ")]
        self.assertEqual(len(values.split()), 4)
        for text, value in zip(values.split()[1:], row["values"]):
            self.assertAlmostEqual(float(text), value, places=6)

    def test_a_waiting_key(self):
        waiting = self.waiting()
        self.assertTrue(waiting)
        for number in range(IDS):
            key = key_of(f"word{number}")
            if key in waiting:
                found = self.ask("row", f"word{number}", "--table", "emb")
                self.assertTrue(found["waiting"])
                self.assertEqual((found["count"], found["counts"]), (waiting[key], "occurrences"))
                said = fails(PDL_CHECKPOINT, "neighbors", self.saved, f"word{number}", "--table",
                             "emb")
                self.assertIn("still waits for a row", said)
                return
        self.fail("no id waits")

    def test_wrong_keys_and_flags(self):
        for status, arguments, message in (
                (1, ["nobody", "--table", "emb"], "has no row of key"),
                (2, ["1"], "has several tables; choose one with --table: emb, plain, by_slot"),
                (2, ["1", "--table", "embb"], "has no table @embb; did you mean 'emb'?"),
                (2, ["word", "--table", "plain"], "'word' is no integer"),
                (2, ["1", "--table", "plain", "--salt", "7"], "no field hashes texts"),
                (2, ["1", "--table", "by_slot"], "--salt POSITION"),
                (2, ["x", "--ready", "--table", "emb"], "'x' is no integer")):
            with self.subTest(arguments):
                self.assertIn(message, fails(PDL_CHECKPOINT, "row", self.saved, *arguments,
                                             status=status))
        self.assertEqual(self.ask("row", "3", "--table", "by_slot", "--salt", "0")["key_from"],
                         "hashed with salt 0")

    def test_neighbors(self):
        key = min(key for key in self.rows["plain"] if key > 0)
        own = self.rows["plain"][key]["values"]
        for by in "cosine", "dot":
            expected = []
            for other, row in self.rows["plain"].items():
                dot = math.fsum(a * b for a, b in zip(own, row["values"]))
                expected.append((other, dot / norm(own) / norm(row["values"]), dot))
            expected = sorted((each for each in expected if each[0] != key),
                              key=lambda each: -each[1 if by == "cosine" else 2])[:6]
            found = self.ask("neighbors", key, "--table", "plain", "--top", 6, "--by", by)
            self.assertEqual([each["key"] for each in found["neighbors"]],
                             [each[0] for each in expected])
            for each, (_, cosine, dot) in zip(found["neighbors"], expected):
                self.assertAlmostEqual(each["cosine"], cosine, places=9)
                self.assertAlmostEqual(each["dot"], dot, places=9)
        said = run(PDL_CHECKPOINT, "neighbors", self.saved, key, "--table", "plain", "--top",
                   2).stdout
        self.assertEqual(len(said.splitlines()), 6)

    def test_stats(self):
        found = {table["table"]: table for table in self.ask("stats")["tables"]}
        self.assertEqual(set(found), set(self.rows))
        waiting = self.waiting()
        self.assertEqual(found["emb"]["waiting"], len(waiting))
        for table, rows in self.rows.items():
            self.assertEqual(found[table]["rows"], len(rows))
            expected = {"norm": [norm(row["values"]) for row in rows.values()]}
            if table == "emb":
                expected |= {
                    "slot show": [row["slot.show"][0] for row in rows.values()],
                    "age": [self.age_of(row) for row in rows.values()],
                    "score": [self.score_of(row) for row in rows.values()],
                    "waiting count": list(waiting.values())}
            for name, numbers in expected.items():
                with self.subTest(table=table, name=name):
                    self.check_distribution(found[table]["distributions"][name], sorted(numbers))
        said = run(PDL_CHECKPOINT, "stats", self.saved, "--table", "plain").stdout
        self.assertIn(f"table @plain: {len(self.rows['plain'])} rows, 0 keys wait for rows\n",
                      said)
        self.assertRegex(said, r"p50 \d.*\n( +\S+ to +\S+ +\d+ ?#*\n)+")

    def check_distribution(self, found, numbers):
        self.assertEqual((found["count"], found["not_finite"]), (len(numbers), 0))
        self.assertAlmostEqual(found["min"], numbers[0], places=9)
        self.assertAlmostEqual(found["max"], numbers[-1], places=9)
        self.assertAlmostEqual(found["mean"], math.fsum(numbers) / len(numbers), places=9)
        for percent, value in found["percentiles"].items():
            exact = numbers[math.ceil(float(percent) / 100 * len(numbers)) - 1]
            self.assertAlmostEqual(value, exact, delta=0.0005 * abs(exact))
        buckets = found["histogram"]
        self.assertEqual(sum(bucket["count"] for bucket in buckets), len(numbers))
        for bucket, following in zip(buckets, buckets[1:]):
            self.assertEqual(bucket["to"], following["from"])

    def read_projector(self, folder):
        """Returns the rows of a projector's folder: vectors, and metadata by heading."""
        vectors = [list(map(float, line.split("\t")))
                   for line in (folder / "tensors.tsv").read_text().splitlines()]
        head, *lines = (folder / "metadata.tsv").read_text().splitlines()
        metadata = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
        self.assertEqual(len(vectors), len(metadata))
        self.assertEqual((folder / "projector_config.pbtxt").read_text().split(),
                         ["embeddings", "{", "tensor_name:", f'"{folder.name}"', "tensor_path:",
                          '"tensors.tsv"', "metadata_path:", '"metadata.tsv"', "}"])
        return vectors, metadata

    def test_projector(self):
        output = self.root / "projector" / "plain"
        run(PDL_CHECKPOINT, "projector", self.saved, "--table", "plain", "-o", output)
        vectors, metadata = self.read_projector(output)
        self.assertEqual({int(row["key"]) for row in metadata}, set(self.rows["plain"]))
        for vector, row in zip(vectors, metadata):
            values = self.rows["plain"][int(row["key"])]["values"]
            self.assertEqual(len(vector), len(values))
            for one, two in zip(vector, values):
                self.assertAlmostEqual(one, two, places=6)
        self.assertIn("name a folder that is not there yet", fails(
            PDL_CHECKPOINT, "projector", self.saved, "--table", "plain", "-o", output, status=None))

    def test_projector_of_chosen_rows(self):
        output = self.root / "largest" / "emb"
        run(PDL_CHECKPOINT, "projector", self.saved, "--table", "emb", "--by", "show", "--rows", 4,
            "-o", output)
        _, metadata = self.read_projector(output)
        shows = sorted((row["slot.show"][0] for row in self.rows["emb"].values()), reverse=True)
        self.assertEqual([float(row["show"]) for row in metadata], shows[:4])
        ids = self.root / "ids.txt"
        words = [word for word in (f"word{number}" for number in range(IDS))
                 if key_of(word) in self.rows["emb"]][:3]
        ids.write_text("\n".join([words[2], words[0], "nobody", words[1]]) + "\n")
        output = self.root / "named" / "emb"
        said = run(PDL_CHECKPOINT, "projector", self.saved, "--table", "emb", "--ids", ids, "-o",
                   output).stdout
        self.assertIn("; 1 ids have no row", said)
        _, metadata = self.read_projector(output)
        self.assertEqual([row["id"] for row in metadata], [words[2], words[0], words[1]])
        for row in metadata:
            held = self.rows["emb"][int(row["key"])]
            self.assertEqual(int(row["age"]), self.age_of(held))
        said = fails(PDL_CHECKPOINT, "projector", self.saved, "--table", "emb", "--by", "size",
                     "-o", self.root / "none", status=2)
        self.assertIn("table @emb has no 'size'; use one of norm, score, ", said)

    def test_in_an_object_store(self):
        """Commands show the same of a copy in an object store, and write the same files there."""
        store = ObjectStore()
        self.addCleanup(store.close)
        for path in filter(pathlib.Path.is_file, self.saved.rglob("*")):
            store.put(f"saved/{path.relative_to(self.saved)}", path)
        copy = store.address("saved")

        def ask_both(command, *arguments):
            """Returns the output for the folder and for its copy."""
            return [run(PDL_CHECKPOINT, command, saved, *arguments, env=store.environment).stdout
                    for saved in (self.saved, copy + "/")]

        for arguments in (("row", max(self.rows["plain"]), "--table", "plain"),
                          ("row", "--table", "plain", "--", min(self.rows["plain"])),
                          ("stats",), ("stats", "--table", "emb")):
            with self.subTest(arguments):
                local, stored = ask_both(arguments[0], "--json", *arguments[1:])
                self.assertIn(copy, stored)
                self.assertEqual(json.loads(stored.replace(copy, str(self.saved))),
                                 json.loads(local))
        folders = [self.root / "of_store" / "emb", self.root / "of_folder" / "emb",
                   store.address("projector/emb")]
        for saved, output in zip((copy, self.saved, copy), folders):
            run(PDL_CHECKPOINT, "projector", saved, "--table", "emb", "--by", "score", "-o", output,
                env=store.environment)
        self.read_projector(folders[0])
        for path in sorted(folders[1].iterdir()):
            self.assertEqual((folders[0] / path.name).read_bytes(), path.read_bytes())
            self.assertEqual(store.get(f"projector/emb/{path.name}"), path.read_bytes())
        self.assertIn("has no row of key", fails(PDL_CHECKPOINT, "row", copy, "nobody", "--table",
                                                 "emb", env=store.environment))
        store.wait_until_idle()
        self.assertEqual(store.refused, [])


if __name__ == "__main__":
    unittest.main()
