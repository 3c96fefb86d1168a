# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-data: proposals train as they stand, counts and checks agree with what a trainer reads."""

import gzip
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import tfrecord
from bag_rows import ARROW, BAG_MODEL, COLUMNS, FORMATS, bag_rows, import_pyarrow, write_rows
from programs import ADULT, BUILD, PDL_TRANSLATE, SOURCE, compile_model, fails, metric, model, run
from waiting import LONG, wait_until

PDL_DATA = BUILD / "bin" / "pdl-data"
USAGE = 2


def clicks(count, seed=1):
    """Rows whose label depends on a number, an id, and a bag of words."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        price = round(draw.expovariate(0.2), 2)
        site = f"s{draw.randrange(30)}"
        words = sorted({f"w{draw.randrange(40)}" for _ in range(draw.randrange(1, 5))})
        score = 0.3 * price - 1.5 + (2 if site < "s2" else -1) + ("w7" in words)
        rows.append({"label": int(draw.random() < 1 / (1 + 2.718281828 ** -score)),
                     "price": price, "site": site, "words": words})
    return rows


class Infer(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def trained(self, data, *flags, named="proposed", train=()):
        """Infers a model from a file, compiles it from three lines of Python, and trains it with
        the command of the proposal. Returns the proposal and the report."""
        folder = self.root / named
        folder.mkdir()
        run(PDL_DATA, "infer", data, "-o", folder / "proposed.py", *flags)
        text = (folder / "proposed.py").read_text()
        (folder / "three_lines.py").write_text(
            "import pdl\nfrom proposed import model\npdl.compile(model, 'out')\n")
        environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"),
                       "PDL_TRANSLATE": str(PDL_TRANSLATE)}
        run(sys.executable, "three_lines.py", cwd=folder, env=environment)
        command = " ".join(line.removeprefix("# Train:").removeprefix("#").strip()
                           for line in text.split("# Train:")[1].split("import pdl")[0]
                           .strip().splitlines())
        report = run("sh", "-c", command + " --batch-size 64 --epochs 3 " + " ".join(train),
                     cwd=folder).stdout
        return text, report

    def test_text_without_a_header(self):
        text, report = self.trained(ADULT, named="adult")
        self.assertIn('record.floats("label", 1, values={"<=50K": 0.0, ">50K": 1.0}, '
                      'columns=[14])', text)
        self.assertIn("columns=[0, 2, 4, 10, 11, 12]", text)
        self.assertGreater(metric(report, "test AUC"), 0.9)

    def test_csv_with_a_header_bags_and_missing_values(self):
        path = self.root / "clicks.csv"
        rows = clicks(2000)
        with open(path, "w") as file:
            file.write("label,price,site,words,request,version\n")
            for index, row in enumerate(rows):
                price = "NULL" if index % 17 == 0 else row["price"]
                file.write(f"{row['label']},{price},{row['site']},{'|'.join(row['words'])},"
                           f"r{index},7\n")
        text, report = self.trained(path, named="csv")
        self.assertIn('missing_texts=["NULL"]', text)
        self.assertIn('record.floats("numbers", 1, missing=0.0, columns=["price"])', text)
        self.assertIn('record.ids("categories", 1, hash=pdl.xxh64(salt="slot"), '
                      'columns=["site"])', text)
        self.assertIn('separator="|", columns=["words"]', text)
        self.assertIn("Left out: `request`", text)
        self.assertIn("Left out: `version` has the same value in each row: 7", text)
        self.assertIn("--header", text)
        self.assertGreater(metric(report, "test AUC"), 0.7)
        # The record in the dialect is the one that Python writes.
        dialect = run(PDL_DATA, "infer", path, "--dialect").stdout
        shown = run(sys.executable, self.root / "csv" / "proposed.py",
                    env={**os.environ, "PYTHONPATH": str(SOURCE / "python")}).stdout
        fields = [line.strip() for line in shown.splitlines() if "nn.field" in line]
        self.assertEqual([line.strip() for line in dialect.splitlines() if "nn.field" in line],
                         fields)

    def test_json_lines(self):
        path = self.root / "clicks.jsonl"
        path.write_text("".join(
            json.dumps({**row, "note": None if index % 3 else {"a": 1}}) + "\n"
            for index, row in enumerate(clicks(1500))))
        text, report = self.trained(path, "--model", "logistic", named="json")
        self.assertIn('record.bags("words", 1', text)
        self.assertNotIn("separator", text)
        self.assertGreater(metric(report, "test AUC"), 0.7)

    def test_tfrecord(self):
        path = self.root / "clicks.tfrecord"
        tfrecord.write(path, [{
            "click": [row["label"]], "price": [row["price"]], "site": [row["site"]],
            "words": row["words"]} for row in clicks(1000)])
        text, report = self.trained(path, named="tfrecord")
        self.assertIn('record.floats("label", 1, columns=["click"])', text)
        self.assertGreater(metric(report, "test AUC"), 0.65)

    def test_libsvm(self):
        path = self.root / "clicks.libsvm"
        path.write_text("".join(
            f"{'+1' if row['label'] else '-1'} 1:{row['price']} "
            f"{100 + int(row['site'][1:])}:1\n" for row in clicks(1000)))
        text, report = self.trained(path, named="libsvm")
        self.assertIn('record.float_bags("amounts", 1, columns=["value"])', text)
        self.assertGreater(metric(report, "test AUC"), 0.7)

    def test_multislot(self):
        path = self.root / "clicks.multislot"
        path.write_text("".join(
            f"1 {row['label']} 2 {row['price']} 0.5 {len(row['words'])} "
            f"{' '.join(word[1:] for word in row['words'])} 1 {row['site'][1:]}\n"
            for row in clicks(1000)))
        text, report = self.trained(path, named="multislot")
        self.assertIn('record.floats("slot_1", 2)', text)
        self.assertGreater(metric(report, "test AUC"), 0.6)

    @unittest.skipUnless(os.environ.get("PDL_TEST_ARROW"), "PDL_TEST_ARROW names no pyarrow")
    def test_parquet_and_arrow(self):
        sys.path.append(os.environ["PDL_TEST_ARROW"])
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
        rows = clicks(1000)
        table = pyarrow.table({
            "click": [row["label"] for row in rows],
            "price": [None if index % 9 == 0 else row["price"] for index, row in enumerate(rows)],
            "site": [row["site"] for row in rows], "words": [row["words"] for row in rows],
            "nested": [[["a"]]] * len(rows)})
        pyarrow.parquet.write_table(table, self.root / "clicks.parquet", row_group_size=300)
        pyarrow.feather.write_feather(table, self.root / "clicks.arrow")
        for name in ("clicks.parquet", "clicks.arrow"):
            with self.subTest(name):
                path = self.root / name
                text = run(PDL_DATA, "infer", path).stdout
                for field in ('floats("label", 1, columns=["click"])',
                              'floats("numbers", 1, missing=0.0, columns=["price"])',
                              'ids("categories", 1, hash=pdl.xxh64(salt="slot"), '
                              'columns=["site"])',
                              'bags("words", 1, hash=pdl.xxh64(salt="slot"), columns=["words"])'):
                    self.assertIn(field, text)
                self.assertNotIn("nested", text)
                said = run(PDL_DATA, "describe", path).stdout
                self.assertIn("1000 rows, 0 bad, 4 columns", said)
                self.assertIn("missing 112 of 1000 rows", said)
                self.assertIn("stored by column",
                              fails(PDL_DATA, "sample", path, "--rate", 0.1, status=USAGE))
                _, report = self.trained(path, named=path.suffix[1:])
                self.assertGreater(metric(report, "test AUC"), 0.6)

    def test_slots(self):
        """Slots with numbers for names have ids, as in PaddleRec's samples."""
        path = self.root / "clicks.slots"
        path.write_text("".join(
            f"click:{row['label']} price:{row['price']} 101:{row['site'][1:]} "
            f"{' '.join('102:' + word[1:] for word in row['words'])}\n" for row in clicks(1000)))
        text, report = self.trained(path, named="slots")
        self.assertIn('record.floats("numbers", 1, columns=["price"])', text)
        self.assertIn('record.ids("categories", 1, hash=pdl.xxh64(salt="slot"), '
                      'columns=["101"])', text)
        self.assertIn('columns=["102"])', text)
        self.assertGreater(metric(report, "test AUC"), 0.7)

    def test_formats_of_unknown_names(self):
        """The content tells the format of a file whose name does not. A flag overrides it."""
        rows = bag_rows(50)
        for form in FORMATS:
            for name in f"{form}.txt", f"part-{form}":
                path = self.root / name
                write_rows(path, form, rows)
                if form == "tsv" and name.endswith(".txt"):
                    continue  # The name says the same.
                with self.subTest(name):
                    flag = {"csv": "--delimiter 'comma'", "tsv": "--delimiter 'tab'"}.get(
                        form, f"--format {form}")
                    done = run(PDL_DATA, "infer", path)
                    self.assertRegex(done.stderr, rf"(?m)^note: .*{name}: the content looks like "
                                                  rf".* {flag}; give .*")
                    self.assertIn("--delimiter" if "delimiter" in flag else flag, done.stdout)
                    self.assertTrue(run(PDL_DATA, "count", path).stdout.startswith("50\t"))
        told = run(PDL_DATA, "head", self.root / "csv.txt", "--delimiter", ",").stderr
        self.assertNotIn("looks like", told)
        # Times and addresses have colons, but are no pairs.
        (self.root / "log.txt").write_text("2015-01-01 00:00:00,28,http://a/b\n"
                                           "2015-01-01 00:00:07,31,http://a/c\n")
        told = run(PDL_DATA, "head", self.root / "log.txt").stderr
        self.assertNotRegex(told, "looks like (slots|signs)")
        told = run(PDL_DATA, "head", self.root / "libsvm.txt", "--format", "signs").stderr
        self.assertNotIn("looks like", told)

    def test_refusals(self):
        path = self.root / "numbers.csv"
        path.write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(50)))
        said = fails(PDL_DATA, "infer", path)
        self.assertIn("--label", said)
        self.assertIn("--model none", said)
        self.assertIn("record.floats", run(PDL_DATA, "infer", path, "--model", "none").stdout)
        self.assertIn("there is no such column",
                      fails(PDL_DATA, "infer", path, "--label", "c"))
        empty = self.root / "empty.csv"
        empty.write_text("")
        self.assertIn("no good rows", fails(PDL_DATA, "infer", empty))
        self.assertIn("no such file", fails(PDL_DATA, "infer", self.root / "none.csv",
                                            status=None).lower())
        self.assertIn("give head, count", fails(PDL_DATA, "show", path, status=USAGE))


class HeadCountCheck(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def test_head_and_count(self):
        path = self.root / "a.csv"
        path.write_text('x,words\n1,"a, b"\n2,\n')
        shown = run(PDL_DATA, "head", path, "--rows", 1).stdout
        self.assertEqual(shown, f"row 0 ({path}:2)\n  x = 1\n  words = a, b\n")
        other = self.root / "b.csv.gz"
        other.write_bytes(gzip.compress(b"x,words\n3,c\n"))
        self.assertEqual(run(PDL_DATA, "count", path, other).stdout,
                         f"2\t{path}\n1\t{other}\n3\ttotal\n")
        self.assertEqual(run(PDL_DATA, "count", path, "--no-header").stdout, f"3\t{path}\n")

    def test_check(self):
        trainer = compile_model(model("logistic_regression"), self.root / "out")
        self.assertEqual(run(PDL_DATA, "check", trainer, ADULT).stdout, "32561 rows, 0 bad\n")
        path = self.root / "bad.csv"
        lines = gzip.decompress(ADULT.read_bytes()).decode().splitlines()[:100]
        lines[10] = lines[10].replace(lines[10].split(",")[0], "old", 1)
        lines[20] += ",more"
        path.write_text("\n".join(lines) + "\n")
        done = subprocess.run([PDL_DATA, "check", trainer.parent, path], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, rf"(?m)^{path}:11:1: ")
        self.assertRegex(done.stdout, rf"(?m)^{path}:21:\d+: ")
        self.assertTrue(done.stdout.endswith("100 rows, 2 bad\n"), done.stdout)
        # The trainer finds the same first bad row.
        said = fails(trainer, "train", "--data", path)
        self.assertIn(done.stdout.splitlines()[0], said)
        # A file without labels suits program @predict with --columns only.
        self.assertIn("--program none", fails(PDL_DATA, "check", trainer, path, "--program",
                                              "none", status=USAGE))
        # A check with a cache leaves the cache that a training reads.
        cache = self.root / "cache"
        run(PDL_DATA, "check", trainer, ADULT, "--program", "train", "--cache", cache)
        before = sorted(file.name for file in cache.iterdir())
        run(trainer, "train", "--data", ADULT, "--cache", cache)
        self.assertEqual(sorted(file.name for file in cache.iterdir()), before)
        self.assertIn("--print-record", fails(PDL_DATA, "check", "/bin/false", path,
                                              status=USAGE))


FORMS = """
import sys
import pdl

model = pdl.Model("forms")
sample = model.record("sample")
sample.floats("label", 1)
group = model.group("all", rule="adagrad", rate=0.1)
if sys.argv[1] == "general":
    sample.floats("numbers", 2, missing=0.0)
    sample.ids("categories", 2, hash=pdl.xxh64(salt="slot"), missing="?")
    sample.bags("words", 1, hash=pdl.xxh64(salt="slot"), separator="|")
elif sys.argv[1] == "libsvm":
    sample.bags("indices", 1, separator="|")
    sample.float_bags("amounts", 1, separator="|")
    table = model.table("weights", 1, group=group, init=pdl.init.zeros())
else:
    sample.bags("indices", 3, separator="|")


def loss(label, z):
    pdl.minimize(pdl.sigmoid_cross_entropy(z, label), [group])


if sys.argv[1] == "general":
    @model.program
    def train(label, numbers, categories, words):
        z = pdl.layers.dense(numbers, 1, "numbers", group=group)
        for name, ids in (("categories", categories), ("words", words)):
            rows = pdl.layers.embedding(ids, 1, name, group=group, init=pdl.init.zeros())
            z = pdl.reduce("sum", rows, axes=[1]) + z
        loss(label, z)
elif sys.argv[1] == "libsvm":
    @model.program
    def train(label, indices, amounts):
        by = pdl.cast(pdl.same_bags(amounts, indices))
        rows = pdl.lookup(table, indices, "sum", by)
        loss(label, pdl.reduce("sum", rows, axes=[1]))
else:
    @model.program
    def train(label, indices):
        rows = pdl.layers.embedding(indices, 1, "rows", group=group, init=pdl.init.zeros())
        loss(label, pdl.reduce("sum", rows, axes=[1]))

print(model, end="")
"""


class Convert(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        (cls.root / "forms.py").write_text(FORMS)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def trainer(self, kind):
        source = self.root / f"{kind}.mlir"
        source.write_text(run(sys.executable, self.root / "forms.py", kind,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "python")}).stdout)
        return compile_model(source, self.root / kind, "--numerics=strict")

    def trained(self, trainer, *data):
        """Returns the bytes of the values after a training."""
        dump = self.root / "values.safetensors"
        run(trainer, "train", "--data", *data, "--batch-size", 16, "--seed", 1, "--dump", dump)
        return dump.read_bytes()

    def rows(self):
        draw = random.Random(5)
        for _ in range(300):
            yield [draw.randrange(2), draw.choice(["", "0.1", "-2", "1e-3", "16777217"]),
                   draw.randrange(9), draw.choice(["", "a", "007", "7", "x:y", "\u00e9"]),
                   draw.choice(["b", "?", "true"]),
                   "|".join(draw.choice(["u", "v", "12", "-0"])
                            for _ in range(draw.randrange(4)))]

    def test_each_format_trains_to_the_same_bits(self):
        trainer = self.trainer("general")
        base = self.root / "base.csv"
        base.write_text("label,numbers.0,numbers.1,categories.0,categories.1,words\n" +
                        "".join(",".join(map(str, row)) + "\n" for row in self.rows()))
        expected = self.trained(trainer, base, "--header")
        for name, *flags in (("a.csv", "--output-header"), ("a.tsv",), ("a.jsonl",),
                             ("a.tfrecord",), ("a.slots",), ("a.signs",), ("a.multislot",),
                             ("a.safetensors",), *((f"a.{form}",) for form in COLUMNS)):
            with self.subTest(name):
                path = self.root / name
                said = run(PDL_DATA, "convert", base, "--header", "--record", trainer, "-o", path,
                           *flags).stderr
                self.assertIn("wrote 300 rows", said)
                header = ["--header"] if flags else []
                # Without a record, the same rows are found.
                self.assertIn("300 rows, 0 bad", run(PDL_DATA, "describe", path).stdout)
                self.assertEqual(self.trained(trainer, path, *header), expected)
                if name == "a.safetensors":
                    continue
                # Back again, from each format of texts.
                again = self.root / "again.jsonl"
                run(PDL_DATA, "convert", path, "--record", trainer, "-o", again, *header)
                self.assertEqual(self.trained(trainer, again), expected)
        # Without a record, text by text.
        run(PDL_DATA, "convert", base, "-o", self.root / "raw.jsonl")
        self.assertEqual(self.trained(trainer, self.root / "raw.jsonl"), expected)
        run(PDL_DATA, "convert", self.root / "raw.jsonl", "--output-header", "-o",
            self.root / "raw.csv")
        self.assertEqual(self.trained(trainer, self.root / "raw.csv", "--header"), expected)
        for form in COLUMNS:
            for source in base, self.root / "raw.jsonl":
                run(PDL_DATA, "convert", source, "-o", self.root / f"raw.{form}")
                self.assertEqual(self.trained(trainer, self.root / f"raw.{form}"), expected)
        # The cache is the one that a training reads.
        cache = self.root / "cache"
        run(PDL_DATA, "convert", base, "--header", "--record", trainer, "--program", "train",
            "--cache", cache)
        before = sorted(file.name for file in cache.iterdir())
        self.assertEqual(len(before), 1)
        self.assertEqual(self.trained(trainer, base, "--header", "--cache", cache), expected)
        self.assertEqual(sorted(file.name for file in cache.iterdir()), before)

    def read_columns(self, path):
        """Returns the rows of a Parquet or Arrow file, as pyarrow reads them."""
        pyarrow = import_pyarrow()
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
        else:
            table = pyarrow.ipc.open_file(path).read_all()
        table.validate(full=True)
        return table

    @unittest.skipUnless(ARROW, "PDL was built without Arrow")
    def test_another_library_reads_columns(self):
        """pyarrow finds the types, values, lists and missing values."""
        trainer = self.trainer("general")
        base = self.root / "columns.csv"
        rows = list(self.rows())
        base.write_text("label,numbers.0,numbers.1,categories.0,categories.1,words\n" +
                        "".join(",".join(map(str, row)) + "\n" for row in rows))
        lists = self.root / "columns.jsonl"
        members = [{"a": "\u00e9\u6f22", "b": [1, None, 2.5], "c": True}, {"a": None, "b": []},
                   {"b": ["x"], "c": False}, {"a": 7, "b": None}]
        lists.write_text("".join(json.dumps(row) + "\n" for row in members))
        for form in COLUMNS:
            with self.subTest(form):
                path = self.root / f"columns.{form}"
                run(PDL_DATA, "convert", base, "--header", "--record", trainer, "-o", path)
                table = self.read_columns(path)
                self.assertEqual([str(field.type) for field in table.schema],
                                 ["float", "list<element: float>", "string", "string",
                                  "list<element: string>"])
                columns = table.to_pydict()
                self.assertEqual(columns["label"], [row[0] for row in rows])
                self.assertEqual([pair[1] for pair in columns["numbers"]], [row[2] for row in rows])
                self.assertEqual(columns["categories.0"], [row[3] or None for row in rows])
                self.assertEqual(columns["words"], [row[5].split("|") if row[5] else []
                                                    for row in rows])
                run(PDL_DATA, "convert", lists, "-o", path)
                self.assertEqual(self.read_columns(path).to_pydict(), {
                    "a": ["\u00e9\u6f22", None, None, "7"],
                    "b": [["1", None, "2.5"], [], ["x"], None], "c": [True, None, False, None]})
                # Many row groups.
                long = self.root / "long.csv"
                long.write_text("a\n" + "".join(f"{i}\n" for i in range(150_000)))
                run(PDL_DATA, "convert", long, "-o", path)
                self.assertEqual(self.read_columns(path)["a"].to_pylist(),
                                 [str(i) for i in range(150_000)])
                self.assertIn("150000", run(PDL_DATA, "count", path).stdout)
                bytes_ = self.root / "bytes.csv"
                bytes_.write_bytes(b"a,b\nx,\xff\n")
                said = fails(PDL_DATA, "convert", bytes_, "--header", "-o", self.root / "b.parquet")
                self.assertIn("bytes.csv:2: field `b`: a text is not UTF-8", said)
                self.assertFalse((self.root / "b.parquet").exists())

    @unittest.skipIf(ARROW, "PDL was built with Arrow")
    def test_columns_need_arrow(self):
        run(PDL_DATA, "generate", "--rows", 3, "-o", self.root / "g.csv")
        said = fails(PDL_DATA, "convert", self.root / "g.csv", "-o", self.root / "g.parquet")
        self.assertIn("scripts/install_dependencies.sh --with-arrow", said)

    def test_sparse_formats(self):
        for kind, header, cells in (
                ("libsvm", "label,indices,amounts",
                 lambda draw, count: ["|".join(str(draw.randrange(50)) for _ in range(count)),
                                      "|".join(f"{draw.random():.3f}" for _ in range(count))]),
                ("libffm", "label,indices.0,indices.1,indices.2",
                 lambda draw, count: ["|".join(str(draw.randrange(50)) for _ in range(count))
                                      for _ in range(3)])):
            with self.subTest(kind):
                draw = random.Random(2)
                trainer = self.trainer(kind)
                base = self.root / f"{kind}.csv"
                base.write_text(header + "\n" + "".join(
                    ",".join([str(draw.randrange(2)), *cells(draw, draw.randrange(4))]) + "\n"
                    for _ in range(200)))
                path = self.root / f"a.{kind}"
                run(PDL_DATA, "convert", base, "--header", "--record", trainer, "-o", path)
                self.assertIn("200 rows, 0 bad", run(PDL_DATA, "describe", path).stdout)
                self.assertEqual(self.trained(trainer, path),
                                 self.trained(trainer, base, "--header"))

    @unittest.skipUnless(ARROW, "PDL was built without Arrow")
    def test_integers_of_columns(self):
        """Files of columns get the integers that the trainer reads from text."""
        source = self.root / "ids.mlir"
        source.write_text(BAG_MODEL)
        trainer = compile_model(source, self.root / "ids")
        path = self.root / "ids.csv"
        path.write_text("1,+5|-7|18446744073709551615\n")
        run(PDL_DATA, "convert", path, "--record", trainer, "-o", self.root / "ids.arrow")
        [bag] = self.read_columns(self.root / "ids.arrow").column("bag").to_pylist()
        self.assertEqual(bag, [5, -7, -1])

    def test_refusals_name_field_and_reason(self):
        trainer = self.trainer("general")
        path = self.root / "blank.csv"
        path.write_text("1,2,3,a b,c,\"u|v\"\n")
        for name, *words in (("b.multislot", "row 0", "field `categories`", "blank"),
                             ("b.slots", "field `categories`", "blank"),
                             ("b.libsvm", "field `categories`", "libsvm"),
                             ("b.libffm", "field `numbers`", "libffm")):
            said = fails(PDL_DATA, "convert", path, "--record", trainer, "-o", self.root / name)
            for word in words:
                self.assertIn(word, said)
            self.assertFalse((self.root / name).exists())
        run(PDL_DATA, "convert", path, "--record", trainer, "-o", self.root / "k.safetensors")
        self.assertIn("has keys in place of the texts",
                      fails(PDL_DATA, "convert", self.root / "k.safetensors", "--record", trainer,
                            "-o", self.root / "k.jsonl"))
        lists = self.root / "lists.jsonl"
        lists.write_text('{"a": [1, 2]}\n')
        self.assertIn("field `a`: has lists",
                      fails(PDL_DATA, "convert", lists, "-o", self.root / "lists.csv"))
        self.assertIn("--record", fails(PDL_DATA, "convert", lists, "-o",
                                        self.root / "lists.multislot", status=USAGE))


class SampleGenerateDescribe(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def test_samples_do_not_depend_on_the_files(self):
        whole = self.root / "whole.tsv"
        lines = [f"{i}\tx{i}\n" for i in range(2000)]
        whole.write_text("".join(lines))
        parts = []
        for part in range(4):
            parts.append(self.root / f"part-{part}.tsv")
            parts[-1].write_text("".join(lines[500 * part:500 * part + 500]))
        for flags in (["--rate", 0.1], ["--count", 57]):
            sample = run(PDL_DATA, "sample", whole, *flags, "--seed", 3).stdout
            self.assertEqual(run(PDL_DATA, "sample", *parts, *flags, "--seed", 3).stdout, sample)
            self.assertNotEqual(run(PDL_DATA, "sample", whole, *flags, "--seed", 4).stdout, sample)
            rows = sample.splitlines(keepends=True)
            self.assertEqual(sorted(rows, key=lines.index), rows)
            self.assertEqual(len(set(rows)), len(rows))
            self.assertTrue(150 < len(rows) < 250 if "--rate" in flags else len(rows) == 57)
        examples = self.root / "a.tfrecord"
        tfrecord.write(examples, [{"x": [i]} for i in range(50)])
        run(PDL_DATA, "sample", examples, "--rate", 1, "-o", self.root / "b.tfrecord")
        self.assertEqual((self.root / "b.tfrecord").read_bytes(), examples.read_bytes())
        fails(PDL_DATA, "sample", whole, status=USAGE)

    def test_a_trained_model_reaches_the_printed_optimum(self):
        flags = ["--vocabulary", 60, "--seed", 5]
        run(PDL_DATA, "generate", *flags, "--rows", 120000, "-o", self.root / "train.csv")
        said = run(PDL_DATA, "generate", *flags, "--rows", 20000, "--first-row", 120000, "-o",
                   self.root / "test.csv").stdout
        best_loss = float(re.search(r"best log loss +(\S+)", said)[1])
        best_auc = float(re.search(r"best AUC +(\S+)", said)[1])
        run(PDL_DATA, "infer", self.root / "train.csv", "--model", "logistic", "-o",
            self.root / "clicks.py")
        source = self.root / "clicks.mlir"
        source.write_text(run(sys.executable, self.root / "clicks.py",
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "python")}).stdout)
        trainer = compile_model(source, self.root / "out")
        report = run(trainer, "train", "--data", self.root / "train.csv", "--header",
                     "--batch-size", 128, "--epochs", 4, "--shuffle-window", 100000,
                     "--evaluate-data", self.root / "test.csv").stdout
        loss = metric(report, "test log loss")
        self.assertLess(loss, 1.02 * best_loss)
        self.assertGreater(loss, 0.995 * best_loss)
        self.assertAlmostEqual(metric(report, "test AUC"), best_auc, delta=0.01)
        # One call writes what two write together, on each machine.
        two = [run(PDL_DATA, "generate", *flags, "--rows", 5, *first).stdout
               for first in ([], ["--first-row", 5])]
        self.assertEqual("".join(two), run(PDL_DATA, "generate", *flags, "--rows", 10).stdout)
        # The hidden model turns: half a turn later its ids mean the contrary.
        drift = run(PDL_DATA, "generate", *flags, "--rows", 20000, "--first-row", 120000,
                    "--drift", 22, "-o", self.root / "late.csv").stdout
        self.assertGreater(float(re.search(r"best AUC +(\S+)", drift)[1]), 0.6)
        report = run(trainer, "train", "--data", self.root / "train.csv", "--header",
                     "--batch-size", 128, "--evaluate-data", self.root / "late.csv").stdout
        self.assertLess(metric(report, "test AUC"), 0.55)

    def test_a_signal_leaves_no_file(self):
        path = self.root / "endless.tsv"
        process = subprocess.Popen([PDL_DATA, "generate", "--rows", "1000000000000", "-o", path],
                                   stderr=subprocess.PIPE, text=True)
        wait_until(lambda: any(self.root.iterdir()))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=LONG)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        self.assertIn("stopped by a signal", said)
        self.assertEqual(list(self.root.iterdir()), [])

    def test_describe(self):
        path = self.root / "a.csv"
        path.write_text("n,s\n" + "".join(
            f"{i if i % 10 else 'NA'},{'<b>' if i % 4 else 'c'}\n" for i in range(1000)))
        page = self.root / "a.html"
        said = run(PDL_DATA, "describe", path, "--html", page).stdout
        self.assertIn("1000 rows, 0 bad, 2 columns", said)
        self.assertIn("missing 100 of 1000 rows (10.00 %): `NA` 100 times", said)
        self.assertIn("distinct 900, whole numbers", said)
        self.assertIn("numbers from 1 to 999, mean 500, median", said)
        self.assertIn("most frequent: `<b>` 75.00 %, `c` 25.00 %", said)
        self.assertIn("&lt;b&gt;", page.read_text())
        self.assertNotIn("<b>", page.read_text())


if __name__ == "__main__":
    unittest.main()
