# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same rows in every format train the same weights, bit for bit, and every command reads them;
public sample files train in their original form."""

import gzip
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from bag_rows import STREAMED
from bag_rows import write_rows as write
from cluster import Cluster
from folders import SharedFolderTest
from programs import PDL_CHECKPOINT, SOURCE, compile_model, fails, metric, run, test_data

import tensorfile

MODEL = """module @same {
  nn.record @line {
    nn.field @label : tensor<?x1xf32>
    nn.field @bag : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64, salt = 5>) separator("|")
  }
  nn.group @g rule(@adagrad) rate(0.1) untouched(lazy)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.program @train reads(@line) {
  ^bb0(%y: tensor<?x1xf32>, %bag: !nn.ragged<?x1x*xi64>):
    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@line) {
  ^bb0(%y: tensor<?x1xf32>, %bag: !nn.ragged<?x1x*xi64>):
    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@line except @label) {
  ^bb0(%bag: !nn.ragged<?x1x*xi64>):
    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }
}
"""


def make_rows(count):
    draw = random.Random(7)
    for _ in range(count):
        bag = [draw.randrange(40) for _ in range(draw.randrange(1, 5))]
        yield int(sum(bag) / len(bag) + draw.gauss(0, 8) > 20), bag


ROWS = list(make_rows(400))
# Of .csv and .tsv files, --format cannot tell the delimiter.
FORMATS = ["csv", *(form for form in STREAMED if form not in ("csv", "tsv"))]


class Formats(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "same.mlir").write_text(MODEL)
        cls.trainer = compile_model(cls.root / "same.mlir", cls.root / "same", "--numerics=strict")
        cls.data = {}
        for form in FORMATS:
            cls.data[form] = cls.root / f"rows.{form}"
            write(cls.data[form], form, ROWS)

    def trained(self, name, *flags):
        dump = self.root / f"{name}.safetensors"
        run(self.trainer, "train", "--epochs", 2, "--batch-size", 16, "--shuffle-window", 50,
            "--dump", dump, *flags)
        return dump.read_bytes()

    def test_weights_are_bit_identical(self):
        expected = self.trained("csv", "--data", self.data["csv"])
        for form in FORMATS[1:]:
            with self.subTest(form=form):
                self.assertEqual(self.trained(form, "--data", self.data[form]), expected)
                packed = self.root / f"packed.{form}.gz"
                packed.write_bytes(gzip.compress(self.data[form].read_bytes()))
                self.assertEqual(self.trained(form, "--data", packed, "--replicas", "1x1",
                                              "--threads", 2), expected)
                nameless = self.root / f"part-{form}"
                nameless.write_bytes(packed.read_bytes())
                self.assertEqual(
                    self.trained(form, "--data", nameless, "--format", form, "--data-pipe",
                                 "gzip -dc", "--cache", self.root / "cache"), expected)

    def test_clusters_train_the_same(self):
        programs = self.root / "sync"
        compile_model(self.root / "same.mlir", programs, "--numerics=strict", "--mode=sync")
        def dumped(saved):
            dump = self.root / "cluster.safetensors"
            run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
            return dump.read_bytes()

        flags = "--epochs", 2, "--batch-size", 16, "--shuffle-window", 50
        saved = self.root / "local-saved"
        run(self.trainer, "train", "--data", self.data["csv"], "--replicas", "2x1", *flags,
            "--checkpoint", saved)
        expected = dumped(saved)
        for form in "jsonl", "multislot", "tfrecord":
            saved = self.root / f"{form}-saved"
            with Cluster(programs, 2, 2, ["--data", self.data[form], *flags, "--checkpoint", saved],
                         ["--checkpoint", saved]) as cluster:
                cluster.start().finish()
            self.assertEqual(dumped(saved), expected, form)

    def test_every_command(self):
        dump = self.root / "model.safetensors"
        run(self.trainer, "train", "--data", self.data["csv"], "--dump", dump)
        results = {}
        for form in FORMATS:
            common = "--data", self.data[form], "--init-from", dump
            auc = metric(run(self.trainer, "evaluate", *common).stdout, "AUC")
            inputs = self.root / f"inputs-{form}.safetensors"
            # The label is not read, but MultiSlot has to know its slot.
            predicted = run(self.trainer, "predict", *common, "--dump-inputs", inputs).stdout
            results[form] = auc, predicted, inputs.read_bytes()
        self.assertGreater(results["csv"][0], 0.7)
        for form in FORMATS[1:]:
            self.assertEqual(results[form], results["csv"], form)

    def test_resumes_in_the_middle(self):
        for form in "jsonl", "multislot", "tfrecord":
            with self.subTest(form=form):
                whole = self.trained(f"{form}-whole", "--data", self.data[form])
                saved = self.root / f"{form}-checkpoints"
                flags = "--data", self.data[form], "--checkpoint", saved
                run(self.trainer, "train", "--epochs", 2, "--batch-size", 16,
                    "--shuffle-window", 50, "--steps", 31, *flags)
                self.assertEqual(self.trained(f"{form}-resumed", *flags, "--resume"), whole)

    def test_standard_input(self):
        dump = self.root / "input.safetensors"
        run(self.trainer, "train", "--data", self.data["csv"], "--dump", dump)
        expected = run(self.trainer, "predict", "--data", self.data["csv"], "--init-from",
                       dump).stdout
        for form in FORMATS[1:]:
            with open(self.data[form], "rb") as file:
                done = run(self.trainer, "predict", "--data", "-", "--format", form,
                           "--init-from", dump, stdin=file)
            self.assertEqual(done.stdout, expected, form)

    def test_folders_patterns_and_lists(self):
        folder = self.root / "days"
        folder.mkdir()
        for i, name in enumerate(("b.jsonl", "a.csv", "c.signs")):
            form = name.split(".")[1]
            write(folder / name, form, ROWS[100 * i:100 * i + 100])
        (folder / "_SUCCESS").write_text("")
        (self.root / "list.txt").write_text(f"{folder}/a.csv\n# none\n{folder}/[bc]*\n")
        expected = self.trained("files", "--data", *(folder / name for name in
                                                     ("a.csv", "b.jsonl", "c.signs")))
        for name in folder, f"{folder}/*.*", f"@{self.root}/list.txt":
            self.assertEqual(self.trained("lists", "--data", name), expected, name)
        said = fails(self.trainer, "train", "--data", f"{folder}/*.tsv")
        self.assertIn("*.tsv: no file matches this pattern of --data", said)

    def test_reader_in_several_processes(self):
        raw = self.root / "raw.tsv"
        draw = random.Random(3)
        rows = [(draw.randrange(2), sorted({f"w{draw.randrange(60)}" for _ in range(5)}))
                for _ in range(700)]
        raw.write_text("".join(f"{label}\t{' '.join(reversed(words)).upper()}\n"
                               for label, words in rows))
        reader = SOURCE / "examples" / "readers" / "words.py"
        plain = self.root / "words.csv"
        write(plain, "csv", rows)
        expected = self.trained("words", "--data", plain)
        self.assertEqual(self.trained("read", "--data", raw, "--format", "jsonl", "--data-pipe",
                                      f"{sys.executable} {reader} --processes 3"), expected)
        raw.write_text("1\ta\nno label\tb\n")
        said = fails(self.trainer, "train", "--data", raw, "--format", "jsonl", "--data-pipe",
                     f"{sys.executable} {reader}")
        self.assertIn("raw.tsv: --data-pipe", said)
        self.assertIn("exited with status 1: ", said)
        self.assertIn("invalid literal for int", said)

    def test_a_failed_command_stops_the_program(self):
        said = fails(self.trainer, "train", "--data", self.data["csv"], "--data-pipe",
                     "head -n 3; echo the disk is gone >&2; exit 5")
        self.assertIn("rows.csv: --data-pipe", said)
        self.assertIn("exited with status 5: the disk is gone", said)

    def test_a_misspelled_field_is_noticed(self):
        other = self.root / "other.jsonl"
        other.write_text('{"label": 1, "bags": [1]}\n')
        done = run(self.trainer, "train", "--data", other)
        self.assertIn("no row has a value of field `bag`", done.stderr)

    def test_sample_of_paddlerec(self):
        """80 rows of CTR-DNN in their original form; the sums are those that Python finds."""
        path = test_data("paddlerec_samples", "dnn_slots.txt.gz")
        names = ", ".join(f'"{slot}"' for slot in range(1, 27))
        (self.root / "paddle.mlir").write_text(f"""module @paddle {{
  nn.record @line {{
    nn.field @click : tensor<?x1xf32>
    nn.field @dense_feature : tensor<?x13xf32>
    nn.field @ids : tensor<?x26xi64> columns([{names}])
  }}
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<13x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@line except @ids) {{
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x13xf32>):
    %z = nn.linear %x, @w : (tensor<?x13xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@line) {{
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x13xf32>, %ids: tensor<?x26xi64>):
    %s = nn.reduce sum %x axes [1] keep : tensor<?x13xf32>
    %z = nn.add %y, %s : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }}
}}
""")
        trainer = compile_model(self.root / "paddle.mlir", self.root / "paddle")
        inputs = self.root / "paddle.safetensors"
        data = "--data", path, "--format", "slots"
        dump = self.root / "paddle-dump.safetensors"
        run(trainer, "train", *data, "--dump", dump)
        done = run(trainer, "predict", *data, "--init-from", dump, "--dump-inputs", inputs)
        with gzip.open(path, "rt") as file:
            pairs = [[pair.split(":") for pair in line.split()] for line in file]
        sums = [sum(float(value) for name, value in row if name in ("click", "dense_feature"))
                for row in pairs]
        for found, expected in zip(done.stdout.split()[1:], sums, strict=True):
            self.assertAlmostEqual(float(found), expected, delta=1e-5 * (1 + expected))
        ids = tensorfile.read(inputs)["ids"]
        self.assertEqual(list(ids.data), [int(value) for row in pairs for name, value in row
                                            if name.isdigit()])

    def test_public_samples(self):
        """The AUC of libffm's sample, with its fields as slots."""
        files = [test_data("criteo", f"ffm_small_{part}.txt.gz") for part in ("train", "test")]
        text = MODEL.replace("!nn.ragged<?x1x*xi64>", "!nn.ragged<?x18x*xi64>").replace(
            "tensor<?x1x1xf32>", "tensor<?x18x1xf32>")
        text = text.replace("%z = nn.flatten %e from 1 : tensor<?x18x1xf32>",
                            "%f = nn.flatten %e from 1 : tensor<?x18x1xf32>\n"
                            "%z = nn.reduce sum %f axes [1] keep : tensor<?x18xf32>")
        (self.root / "ffm.mlir").write_text(text)
        trainer = compile_model(self.root / "ffm.mlir", self.root / "ffm", "--numerics=strict")
        dump = self.root / "ffm.safetensors"
        run(trainer, "train", "--data", files[0], "--format", "libffm", "--epochs", 5,
            "--batch-size", 20, "--dump", dump)
        done = run(trainer, "evaluate", "--data", files[0], "--format", "libffm", "--init-from", dump)
        self.assertGreater(metric(done.stdout, "AUC"), 0.9)
        with gzip.open(files[1], "rt") as file:
            rows = len(file.readlines())
        done = run(trainer, "predict", "--data", files[1], "--format", "libffm", "--init-from", dump)
        self.assertEqual(len(done.stdout.splitlines()), rows + 1)


if __name__ == "__main__":
    unittest.main()
