# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parquet and Arrow files give the same inputs and weights, bit for bit, as JSON lines with the same
rows. pyarrow writes the files."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from object_store import Fault, ObjectStore
from programs import BUILD, PDL_CHECKPOINT, compile_model, fails, metric, run

PDL_DATA = BUILD / "bin" / "pdl-data"
ARROW = os.environ.get("PDL_TEST_ARROW")
if ARROW:
    sys.path.append(ARROW)
    import pyarrow as pa
    import pyarrow.parquet as pq

MODEL = """module @columns {
  nn.record @line {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x3xf32> missing(-1.0)
    nn.field @d : tensor<?x2xf64> missing(0.5)
    nn.field @id : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = 5>) missing("none")
    nn.field @raw : tensor<?x2xi64>
    nn.field @bag : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64, salt = 5>) separator("|")
    nn.field @slots : !nn.ragged<?x3x*xi64> hash(#nn.hash<xxh64, salt = slot>) missing("gap")
    nn.field @nums : !nn.ragged<?x1x*xf32> missing(2.0)
  }
  nn.group @g rule(@adagrad) rate(0.1) untouched(lazy)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.param @w : tensor<3x1xf32> in @g init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.program @train reads(@line) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %id: tensor<?x1xi64>,
       %raw: tensor<?x2xi64>, %bag: !nn.ragged<?x1x*xi64>, %slots: !nn.ragged<?x3x*xi64>,
       %nums: !nn.ragged<?x1x*xf32>):
    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %n = nn.linear %x, @w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %z = nn.add %f, %n : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@line) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %id: tensor<?x1xi64>,
       %raw: tensor<?x2xi64>, %bag: !nn.ragged<?x1x*xi64>, %slots: !nn.ragged<?x3x*xi64>,
       %nums: !nn.ragged<?x1x*xf32>):
    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %n = nn.linear %x, @w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %z = nn.add %f, %n : tensor<?x1xf32>, tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@line except @label) {
  ^bb0(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %id: tensor<?x1xi64>,
       %raw: tensor<?x2xi64>, %bag: !nn.ragged<?x1x*xi64>, %slots: !nn.ragged<?x3x*xi64>,
       %nums: !nn.ragged<?x1x*xf32>):
    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %n = nn.linear %x, @w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %z = nn.add %f, %n : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }
}
"""


class Rows:
    """Random rows, whose columns have random types that can represent them."""

    def __init__(self, seed, count):
        self.draw = random.Random(seed)
        self.count = count
        self.names, self.arrays, self.members = [], [], []

    def maybe(self, value, share):
        return None if self.draw.random() < share else value

    def column(self, name, values, kind):
        self.names.append(name)
        self.arrays.append(pa.array(values, kind))
        self.members.append(values)

    def texts(self, vocabulary):
        """Returns a type of ids, and a function that draws one."""
        draw = self.draw
        kinds = [pa.string(), pa.large_string(), pa.binary(), pa.int64(), pa.int32(), pa.uint16(),
                 pa.uint64(), pa.dictionary(pa.int32(), pa.string())]
        kind = draw.choice(kinds)
        if kind == pa.uint64():
            return kind, lambda: draw.choice([draw.randrange(vocabulary), 2**64 - 3])
        if pa.types.is_integer(kind):
            sign = 1 if kind == pa.uint16() else -1
            return kind, lambda: sign * draw.randrange(vocabulary)
        return kind, lambda: draw.choice([f"w{draw.randrange(vocabulary)}", " é b", "7.0", "?"])

    def list_of(self, kind, size=None):
        kinds = [pa.list_, pa.large_list]
        if size:
            kinds.append(lambda value: pa.list_(value, size))
        if kind == pa.dictionary(pa.int32(), pa.string()):
            kind = pa.string()
        return self.draw.choice(kinds)(kind)

    def numbers(self, name, width, wide):
        draw = self.draw
        number = lambda: self.maybe(draw.randrange(-40, 40) / 4, self.share)
        if draw.random() < 0.5:
            kind = pa.float64() if wide else draw.choice([pa.float32(), pa.float16(), pa.float64()])
            self.column(name, [self.maybe([number() for _ in range(width)], self.share / 4)
                               for _ in range(self.count)], self.list_of(kind, width))
            return
        for slot in range(width):
            kind = draw.choice([pa.float32(), pa.float64(), pa.int8(), pa.int64(), pa.bool_(),
                                pa.string(), pa.null(), pa.uint32()])
            values = {pa.bool_(): lambda: draw.random() < 0.5, pa.string(): lambda: str(draw.random()),
                      pa.null(): lambda: None, pa.uint32(): lambda: draw.randrange(99)}.get(
                          kind, lambda: draw.randrange(-40, 40))
            self.column(f"{name}.{slot}", [self.maybe(values(), self.share)
                                           for _ in range(self.count)], kind)

    def build(self):
        draw, count = self.draw, self.count
        self.share = draw.choice([0, 0.2])
        kind = draw.choice([pa.int8(), pa.float32(), pa.float64(), pa.bool_(), pa.string()])
        label = {pa.bool_(): bool, pa.string(): str}.get(kind, int)
        self.column("label", [label(draw.randrange(2)) for _ in range(count)], kind)
        self.column("other", [{"deep": i} for i in range(count)], pa.struct([("deep", pa.int64())]))
        self.numbers("x", 3, False)
        self.numbers("d", 2, True)
        kind, id = self.texts(30)
        self.column("id", [self.maybe(id(), self.share) for _ in range(count)], kind)
        if draw.random() < 0.5:
            self.column("raw", [[draw.randrange(9), -draw.randrange(2**60)] for _ in range(count)],
                        self.list_of(pa.int64(), 2))
        else:
            self.column("raw.0", [draw.randrange(2**64) for _ in range(count)], pa.uint64())
            self.column("raw.1", [str(draw.randrange(9)) for _ in range(count)], pa.string())
        kind, id = self.texts(60)
        if draw.random() < 0.7:
            self.column("bag", [self.maybe([self.maybe(id(), self.share / 4)
                                            for _ in range(draw.randrange(4))], self.share)
                                for _ in range(count)], self.list_of(kind))
        else:
            self.column("bag", [self.maybe(draw.choice(["a|b|", "c", "", "d|?"]), self.share)
                                for _ in range(count)], pa.string())
        if draw.random() < 0.5:
            kind, id = self.texts(20)
            self.column("slots", [self.maybe([[id() for _ in range(draw.randrange(3))]
                                              for _ in range(3)], self.share)
                                  for _ in range(count)], self.list_of(self.list_of(kind)))
        else:
            for slot in range(3):
                kind, id = self.texts(20)
                if draw.random() < 0.5:
                    self.column(f"slots.{slot}", [self.maybe(id(), self.share)
                                                  for _ in range(count)], kind)
                else:
                    self.column(f"slots.{slot}", [[id() for _ in range(draw.randrange(3))]
                                                  for _ in range(count)], self.list_of(kind))
        self.column("nums", [self.maybe([self.maybe(draw.randrange(40) / 4, self.share / 4)
                                         for _ in range(draw.randrange(4))], self.share)
                             for _ in range(count)], self.list_of(pa.float32()))
        return self

    def table(self):
        return pa.table(self.arrays, self.names)

    def lines(self):
        return "".join(json.dumps(dict(zip(self.names, row))) + "\n" for row in zip(*self.members))


def encodings(schema, draw):
    """Returns random encodings of columns that are no lists."""
    chosen = {}
    for field in schema:
        if pa.types.is_floating(field.type) and field.type != pa.float16():
            chosen[field.name] = draw.choice(["PLAIN", "BYTE_STREAM_SPLIT"])
        elif pa.types.is_integer(field.type):
            chosen[field.name] = draw.choice(["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"])
        elif field.type in (pa.string(), pa.binary(), pa.large_string()):
            chosen[field.name] = draw.choice(["PLAIN", "DELTA_LENGTH_BYTE_ARRAY",
                                              "DELTA_BYTE_ARRAY"])
    return chosen


def write_parquet(path, table, draw, **options):
    dictionary = draw.random() < 0.5
    pq.write_table(table, path, **{
        "compression": draw.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
        "row_group_size": draw.choice([37, 100, 10000]), "use_dictionary": dictionary,
        "data_page_size": draw.choice([100, 1 << 20]), "dictionary_pagesize_limit": draw.choice([60, 1 << 20]),
        "data_page_version": draw.choice(["1.0", "2.0"]), "write_page_checksum": draw.random() < 0.5,
        "column_encoding": None if dictionary else encodings(table.schema, draw),
        "store_schema": draw.random() < 0.8, **options})


def write_ipc(path, table, draw):
    options = pa.ipc.IpcWriteOptions(compression=draw.choice([None, "lz4", "zstd"]),
                                     unify_dictionaries=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema,
                                                             options=options) as writer:
        writer.write_table(table, max_chunksize=draw.choice([37, 100, 10000]))


def write(path, table, draw):
    (write_ipc if path.suffix == ".arrow" else write_parquet)(path, table, draw)


def write_stream(path, table, draw):
    del draw
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=130)


class WithoutArrow(SharedFolderTest):

    def test_the_message_names_the_remedy(self):
        (self.root / "model.mlir").write_text(MODEL)
        trainer = compile_model(self.root / "model.mlir", self.root / "whole")
        alone = self.root / "alone" / "trainer"
        alone.parent.mkdir()
        shutil.copy(trainer, alone)
        data = self.root / "rows.parquet"
        data.write_bytes(b"PAR1")
        said = fails(alone, "train", "--data", data)
        self.assertIn("rows.parquet: Parquet and Arrow files need libpdl-arrow.so.1", said)
        self.assertIn("scripts/install_dependencies.sh --with-arrow", said)


@unittest.skipUnless(ARROW, "PDL was built without Arrow")
class Parquet(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "model.mlir").write_text(MODEL)
        cls.trainer = compile_model(cls.root / "model.mlir", cls.root / "local", "--numerics=strict")
        rows = Rows(1, 500).build()
        cls.table = rows.table()
        cls.lines = cls.root / "rows.jsonl"
        cls.lines.write_text(rows.lines())
        draw = random.Random(2)
        cls.parquet, cls.arrow = cls.root / "rows.parquet", cls.root / "rows.arrow"
        write_parquet(cls.parquet, cls.table, draw, row_group_size=100)
        write_ipc(cls.arrow, cls.table, draw)
        cls.flags = "--epochs", 2, "--batch-size", 16, "--shuffle-window", 50
        cls.dump = cls.root / "model.safetensors"
        run(cls.trainer, "train", "--data", cls.lines, *cls.flags, "--dump", cls.dump)

    def trained(self, *flags):
        dump = self.root / "trained.safetensors"
        run(self.trainer, "train", *self.flags, "--dump", dump, *flags)
        return dump.read_bytes()

    def inputs(self, data):
        """Returns what the model gets from the rows, and its predictions."""
        dump = self.root / "inputs.safetensors"
        done = run(self.trainer, "predict", "--data", data, "--init-from", self.dump,
                   "--dump-inputs", dump)
        return dump.read_bytes(), done.stdout

    def test_weights_are_bit_identical(self):
        expected = self.dump.read_bytes()
        for data in self.parquet, self.arrow:
            self.assertEqual(self.trained("--data", data), expected)
            self.assertEqual(self.trained("--data", data, "--cache", self.root / "cache"), expected)
            nameless = self.root / "part-0"
            shutil.copy(data, nameless)
            self.assertEqual(self.trained("--data", nameless, "--format",
                                          data.suffix[1:]), expected)
        divided = self.trained("--data", self.lines, "--replicas", "3x1")
        for data in self.parquet, self.arrow:
            self.assertEqual(self.trained("--data", data, "--replicas", "3x1"), divided)

    def test_streams(self):
        """A file with an Arrow IPC stream, which has no index at its end, with dictionaries that
        grow."""
        expected = self.dump.read_bytes()
        data = self.root / "stream.arrow"
        write_stream(data, self.table, None)
        self.assertEqual(self.trained("--data", data), expected)
        self.assertEqual(self.inputs(data), self.inputs(self.lines))
        saved = self.root / "saved-stream"
        run(self.trainer, "train", *self.flags, "--data", data, "--checkpoint", saved, "--steps", 31)
        self.assertEqual(self.trained("--data", data, "--checkpoint", saved, "--resume"), expected)
        part = run(self.trainer, "predict", "--data", data, "--rows", "200:450", "--init-from",
                   self.dump).stdout
        self.assertEqual(part, run(self.trainer, "predict", "--data", self.lines, "--rows",
                                   "200:450", "--init-from", self.dump).stdout)
        cut = self.root / "cut.arrow"
        cut.write_bytes(data.read_bytes()[:-300])
        self.assertIn("cut.arrow: is damaged, incomplete", fails(self.trainer, "train", "--data", cut))

    def test_random_types(self):
        for seed in range(24):
            draw = random.Random(seed)
            rows = Rows(seed, draw.choice([1, 90, 300])).build()
            lines = self.root / "random.jsonl"
            lines.write_text(rows.lines())
            expected = self.inputs(lines)
            for name in "random.parquet", "random.arrow":
                data = self.root / name
                write(data, rows.table(), draw)
                self.assertEqual(self.inputs(data), expected, f"{name}, seed {seed}")

    def test_clusters_train_the_same(self):
        programs = self.root / "sync"
        compile_model(self.root / "model.mlir", programs, "--numerics=strict", "--mode=sync")

        def dumped(saved):
            dump = self.root / "cluster.safetensors"
            run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
            return dump.read_bytes()

        saved = self.root / "local-saved"
        run(self.trainer, "train", *self.flags, "--data", self.lines, "--replicas", "2x1",
            "--checkpoint", saved)
        expected = dumped(saved)
        saved = self.root / "cluster-saved"
        with Cluster(programs, 2, 2, ["--data", self.parquet, *self.flags, "--checkpoint", saved],
                     ["--checkpoint", saved]) as cluster:
            cluster.start().finish()
        self.assertEqual(dumped(saved), expected)

    def test_every_command(self):
        common = "--init-from", self.dump
        auc = [metric(run(self.trainer, "evaluate", "--data", data, *common).stdout, "AUC")
               for data in (self.lines, self.parquet, self.arrow)]
        self.assertEqual(len(set(auc)), 1)
        for flags in (["--id", "id"], ["--copy-column", "id", "--copy-column", "label"],
                      ["--rows", "20%:70%", "--copy-column", "other2"]):
            if "other2" in flags:
                said = fails(self.trainer, "predict", "--data", self.parquet, *common, *flags)
                self.assertIn("has no column `other2`, which predictions copy", said)
                flags = flags[:2]
            expected = run(self.trainer, "predict", "--data", self.lines, *common, *flags).stdout
            for data in self.parquet, self.arrow:
                done = run(self.trainer, "predict", "--data", data, *common, *flags)
                self.assertEqual(done.stdout, expected, flags)

    def test_resumes_in_the_middle(self):
        expected = self.dump.read_bytes()
        for data in self.parquet, self.arrow:
            for steps in 3, 31, 50:
                saved = self.root / f"saved-{steps}{data.suffix}"
                flags = "--data", data, "--checkpoint", saved
                run(self.trainer, "train", *self.flags, *flags, "--steps", steps)
                self.assertEqual(self.trained(*flags, "--resume"), expected)

    def test_a_resume_notices_other_content(self):
        data = self.root / "changed.parquet"
        saved = self.root / "saved-changed"
        flags = "--data", data, "--checkpoint", saved
        plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        pq.write_table(self.replaced("label", pa.array(500 * [0.0])), data, **plain)
        run(self.trainer, "train", *self.flags, *flags, "--steps", 20)
        size = data.stat().st_size
        pq.write_table(self.replaced("label", pa.array(499 * [0.0] + [1.0])), data, **plain)
        self.assertEqual(data.stat().st_size, size)
        # The window in which the training resumes is the same.
        run(self.trainer, "train", *self.flags, *flags, "--resume", "--steps", 20)
        pq.write_table(self.replaced("label", pa.array(310 * [0.0] + [1.0] + 189 * [0.0])), data, **plain)
        said = fails(self.trainer, "train", *self.flags, *flags, "--resume")
        self.assertIn("another content", said)

    def test_folders_of_partitions(self):
        folder = self.root / "days"
        for name, part in ("day=2", self.table.slice(0, 250)), ("day=7%7C8", self.table.slice(250)):
            for inner in "id=u%3A1", "id=__HIVE_DEFAULT_PARTITION__":
                place = folder / name / inner
                place.mkdir(parents=True)
                pq.write_table(part.drop_columns(["id"]), place / "a.parquet", row_group_size=99)
        done = run(self.trainer, "predict", "--data", f"{folder}/day=*/id=*", "--init-from", self.dump,
                   "--copy-column", "id", "--copy-column", "day")
        cells = [line.split("\t")[:2] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(cells, 250 * [["", "2"]] + 250 * [["u:1", "2"]] + 250 * [["", "7|8"]]
                         + 250 * [["u:1", "7|8"]])

    def refused(self, table):
        data = self.root / "refused.parquet"
        pq.write_table(table, data, row_group_size=100)
        return fails(self.trainer, "train", "--data", data)

    def replaced(self, name, values):
        column = self.table.schema.get_field_index(name)
        return self.table.set_column(column, name, values)

    def test_unsuitable_columns_are_refused(self):
        count = len(self.table)
        ints = pa.array(list(range(count)))
        for name, values, reason in (
                ("label", ints.cast(pa.timestamp("us")), "column `label` is a timestamp"),
                ("label", ints.cast(pa.decimal128(30, 2)), "column `label` is a decimal"),
                ("id", ints.cast(pa.float64()), "`id` is a float, which does not suit field `id`"),
                ("id", pa.array([{"a": 1}] * count), "column `id` is a struct"),
                ("bag", pa.array([[[1]]] * count), "`bag` is a list of lists of integers, which"),
                ("slots" if "slots" in self.table.column_names else "slots.0",
                 pa.array([[[[1]]]] * count), "has lists of lists of lists")):
            self.assertIn(reason, self.refused(self.replaced(name, values)), name)
        said = self.refused(self.table.drop_columns(["label"]))
        self.assertIn("has no column `label`, which field `label` reads; its columns are", said)
        said = self.refused(self.table.append_column("id", ints))
        self.assertIn("has two columns `id`", said)

    def test_columns_may_be_missing(self):
        lines = self.root / "fewer.jsonl"
        names = "x", "x.0", "x.1", "x.2", "id", "bag", "nums"
        rows = [json.loads(line) for line in self.lines.read_text().splitlines()]
        lines.write_text("".join(json.dumps({name: value for name, value in row.items()
                                             if name not in names}) + "\n" for row in rows))
        data = self.root / "fewer.parquet"
        pq.write_table(self.table.drop_columns([name for name in names
                                                if name in self.table.column_names]), data)
        self.assertEqual(self.inputs(data), self.inputs(lines))
        done = run(self.trainer, "train", "--data", data)
        self.assertIn("has no column `bag`, which field `bag` reads", done.stderr)

    def test_bad_rows_are_counted(self):
        labels = [float("inf") if i in (3, 150, 151, 499) else float(i % 2)
                  for i in range(len(self.table))]
        table = self.replaced("label", pa.array(labels))
        said = self.refused(table)
        self.assertIn("refused.parquet:4: field `label`: an infinite value is not", said)
        lines = self.root / "bad.jsonl"
        rows = [json.loads(line) for line in self.lines.read_text().splitlines()]
        lines.write_text("".join(json.dumps({**row, "label": "inf" if label > 1 else label}) + "\n"
                                 for row, label in zip(rows, labels)))
        expected = self.trained("--data", lines, "--max-bad-rows", 4)
        data = self.root / "refused.parquet"
        self.assertEqual(self.trained("--data", data, "--max-bad-rows", 4), expected)
        said = fails(self.trainer, "train", "--data", data, "--max-bad-rows", 3)
        self.assertIn("refused.parquet:500: ", said)

    def test_damaged_files_are_errors(self):
        draw = random.Random(4)
        outcomes = set()
        for data in self.parquet, self.arrow:
            whole = data.read_bytes()
            damaged = self.root / f"damaged{data.suffix}"
            for i in range(60):
                content = bytearray(whole)
                if i % 4 == 0:
                    del content[draw.randrange(len(content)):]
                for _ in range(draw.choice([1, 1, 5])):
                    # Half of the damage is in the metadata at the end.
                    first = draw.choice([0, max(0, len(content) - 2000)])
                    if len(content) > first:
                        content[draw.randrange(first, len(content))] = draw.randrange(256)
                damaged.write_bytes(content)
                done = subprocess.run([self.trainer, "train", "--data", damaged, "--max-bad-rows",
                                       "1000000"], capture_output=True, text=True, errors="replace")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                outcomes.add(done.returncode)
                if done.returncode:
                    self.assertRegex(done.stderr, r"error: .*damaged\.(parquet|arrow):")
        self.assertEqual({0, 1}, outcomes)


@unittest.skipUnless(ARROW, "PDL was built without Arrow")
class StoredColumns(SharedFolderTest):
    """Files in an object store. Only the ranges that are needed are requested."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = ObjectStore()
        cls.addClassCleanup(cls.store.close)
        (cls.root / "model.mlir").write_text(MODEL)
        cls.trainer = compile_model(cls.root / "model.mlir", cls.root / "local", "--numerics=strict")
        cls.table = Rows(1, 500).build().table()
        # A column that the model does not read has most bytes.
        draw = random.Random(3)
        cls.wide = cls.table.add_column(
            1, "unread", pa.array([draw.randbytes(2000).hex() for _ in range(500)]))
        cls.local = cls.root / "days"
        cls.local.mkdir()
        for name, function in (("a.parquet", write_parquet), ("b.arrow", write_ipc),
                               ("c.arrow", write_stream)):
            function(cls.local / name, cls.wide, random.Random(5))
            cls.store.put(f"days/{name}", cls.local / name)
        write_parquet(cls.local / "groups.parquet", cls.wide, random.Random(5), row_group_size=50)
        cls.store.put("more/groups.parquet", cls.local / "groups.parquet")
        cls.flags = "--batch-size", 16, "--shuffle-window", 50

    def tearDown(self):
        self.store.faults.clear()
        self.assertEqual(self.store.refused, [])

    def train(self, *data, flags=()):
        dump = self.root / "model.safetensors"
        self.store.requests.clear()
        run(self.trainer, "train", *self.flags, "--data", *data, "--dump", dump, *flags,
            env=self.store.environment)
        return dump.read_bytes()

    def ranges(self, key):
        """Returns the first and the last byte of each range that was requested of an object."""
        return [tuple(map(int, headers["range"].removeprefix("bytes=").split("-")))
                for method, path, headers in self.store.requests
                if method == "GET" and path.startswith(self.store.address(key)[4:])]

    def test_weights_are_bit_identical(self):
        names = "a.parquet", "b.arrow", "c.arrow"
        flags = "--epochs", 2
        expected = self.train(*(self.local / name for name in names), flags=flags)
        self.assertEqual(self.train(self.store.address("days"), flags=flags), expected)

    def test_columns_that_are_not_read_are_not_requested(self):
        for name in "a.parquet", "b.arrow":
            with self.subTest(name):
                size = (self.local / name).stat().st_size
                self.train(self.store.address(f"days/{name}"))
                count = sum(last - first + 1 for first, last in self.ranges(f"days/{name}"))
                self.assertLess(0, count)
                self.assertLess(count, size / 4)

    def test_a_resume_requests_the_rest(self):
        """Row groups that were read before are not requested again."""
        key = "more/groups.parquet"
        data, saved = self.store.address(key), self.root / "saved"
        expected = self.train(self.local / "groups.parquet")
        flags = "--checkpoint", saved
        self.train(data, flags=(*flags, "--steps", 25))
        self.assertEqual(self.train(data, flags=(*flags, "--resume")), expected)
        # 400 of 500 rows were trained, in windows and row groups of 50 rows.
        group = pq.ParquetFile(self.local / "groups.parquet").metadata.row_group(7)
        self.assertLessEqual(group.column(0).data_page_offset,
                             min(begin for begin, _ in self.ranges(key)))

    def test_other_commands(self):
        local, stored = self.local / "a.parquet", self.store.address("days/a.parquet")
        self.train(local)
        flags = "--init-from", self.root / "model.safetensors"
        environment = self.store.environment

        def results(data):
            return [run(self.trainer, command, "--data", data, *flags, *more,
                        env=environment).stdout
                    for command, *more in (("predict", "--id", "id"), ("predict", "--rows", "20%:60%"))]

        self.assertEqual(results(stored), results(local))
        for command in "count", "head", "describe":
            self.assertEqual(
                run(PDL_DATA, command, stored, "--quiet", env=environment).stdout.replace(
                    str(stored), "FILE"),
                run(PDL_DATA, command, local, "--quiet").stdout.replace(str(local), "FILE"))

    def test_requests_that_fail(self):
        data = self.store.address("days/a.parquet")
        expected = self.train(self.local / "a.parquet")

        def reads(method, path):
            return method == "GET" and "a.parquet" in path

        self.store.faults += [Fault("status", 2, reads), Fault("lost", 1, reads),
                              Fault("cut", 2, reads)]
        self.assertEqual(self.train(data), expected)
        self.assertEqual([fault.times for fault in self.store.faults], [0, 0, 0])
        self.store.faults[:] = [Fault("status", 10**9, reads)]
        said = fails(self.trainer, "train", "--data", data, status=3,
                     env={**self.store.environment, "AWS_MAX_ATTEMPTS": "2"})
        self.assertRegex(said, r"s3://bucket/days/a.parquet: cannot be read: 503 SlowDown")
        self.assertEqual(len(said.strip().splitlines()), 1, said)

    def test_damaged_objects_are_errors(self):
        content = bytearray((self.local / "a.parquet").read_bytes())
        for name, damaged in (("short", content[:len(content) // 2]), ("empty", b""),
                              ("end", content[:-408] + bytes(400) + content[-8:])):
            with self.subTest(name):
                self.store.put(f"damaged/{name}.parquet", bytes(damaged))
                said = fails(self.trainer, "train", "--data",
                             self.store.address(f"damaged/{name}.parquet"),
                             env=self.store.environment)
                self.assertIn(f"damaged/{name}.parquet: is damaged, incomplete", said)


if __name__ == "__main__":
    unittest.main()
