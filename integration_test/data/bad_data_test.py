# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad data of each format, source and stream: the program ends with the status of the class, one
message that names the place, and without output."""

import gzip
import pathlib
import re
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import kafka_brokers
import tfrecord
from bag_rows import BAG_MODEL, COLUMNS, bag_rows, write_rows
from folders import SharedFolderTest
from programs import compile_model, run
from waiting import LONG

import tensorfile

ROWS = bag_rows(6)
PERMANENT, USAGE, RETRY = 1, 2, 3
BIG = "9" * 30

# By format: content of a file, and the pattern of the message after the name of the file.
TEXTS = {
    "csv": [
        ("x,1\n", r":1:1: .*`x`"), ("1,1\n,2\n", r":2:1: .*missing"), ("1\n", r":1"),
        ("1,1,1\n", r":1.*3 cells"), ("inf,1\n", r":1:1: "), ("1,1\n\n1,2\n", r":2"),
        ("nan,1\n", r":1:1: "), (f"1,{BIG}\n", r":1:2: "), ("1,a\n", r":1:2: .*`a`"),
        ("1,1|a\n", r":1:2: .*`a`"), ("1,0x10\n", r":1:2: "), ('1,"2\n', r":1"),
        ('1,"2"3\n', r":1:2: "), ("1e999,1\n", r":1:1: "), ("1,1.5\n", r":1:2: "),
        ("1;1\n", r":1"), ("1\t1\n", r":1"), ("1,1\n1,\0\n", r":2:2: "),
        ("\ufeffx,1\n", r":1:1: "), ("1,- 1\n", r":1:2: "), 
        ("1,1\r\n2x,1\r\n", r":2:1: "), ("--1,1\n", r":1:1: "), ("1 1,1\n", r":1:1: "),
    ],
    "tsv": [
        ("x\t1\n", r":1:1: "), ("1\n", r":1"), ("1\t1\t1\n", r":1.*3 cells"),
        ("1\t\"1\"\n", r":1:2: "), ("1,1\n", r":1"), ("\t1\n", r":1:1: .*missing"),
        ("1\t1|x\n", r":1:2: "),
    ],
    "jsonl": [
        ("{\n", r":1"), ("[]\n", r":1"), ("1\n", r":1"), ("null\n", r":1"),
        ('{"label":1,"bag":[1}\n', r":1"), ('{"label":NaN,"bag":[1]}\n', r":1"),
        ('{"label":"x","bag":[1]}\n', r":1.*label"), ('{"bag":[1]}\n', r":1.*label"),
        ('{"label":1,"label":1,"bag":[]}\n', r":1.*label"), ('{"label":[1,2],"bag":[1]}\n', r":1.*label"),
        ('{"label":1,"bag":[[1]]}\n', r":1:19: "), ('{"label":1,"bag":[1.5]}\n', r":1.*bag"),
        ('{"label":1,"bag":{"a":1}}\n', r":1:18: "), (f'{{"label":1,"bag":[{BIG}]}}\n', r":1.*bag"),
        ('{"label":1e999,"bag":[1]}\n', r":1.*label"), ('{"label":1,"bag":["\\ud800"]}\n', r":1"),
        ('{"label":1,"bag":[1]}x\n', r":1"), ('{"label":1,"bag":[1]}\n\n{"label":1,"bag":[1]}\n', r":2"),
        ("[" * 2000 + "\n", r":1"), ('{"label":01,"bag":[1]}\n', r":1"),
        ('{"label":1,"bag":[1],}\n', r":1"), ("{'label':1}\n", r":1"),
        ('{"label":1,"bag":["a\tb"]}\n', r":1"),
    ],
    "multislot": [
        ("1\n", r":1"), ("1 1\n", r":1"), ("1 1 2 5\n", r":1"), ("1 1 1 5 9\n", r":1"),
        ("x 1 1 5\n", r":1.*`x`"), ("-1 1 1 5\n", r":1"), ("0 1 5\n", r":1"),
        (f"1 1 {BIG} 5\n", r":1"), ("1 x 1 5\n", r":1.*`x`"), ("2 1 1 1 5\n", r":1"),
        ("1 1 1 5.5\n", r":1.*5\.5"), ("1 1 1 5\n1 1\n", r":2"), ("1.0 1 1 5\n", r":1"),
        ("1 1 1 5\n\n1 1 1 5\n", r":2"), ("1 inf 1 5\n", r":1"),
    ],
    "slots": [
        ("label\n", r":1"), ("label:1 bag\n", r":1"), ("label: bag:1\n", r":1"),
        ("label:x bag:1\n", r":1.*`x`"), ("bag:1\n", r":1.*label"),
        ("label:1 label:0 bag:1\n", r":1.*label"), ("label:1 bag:x\n", r":1.*`x`"),
        ("1 2 3 4 label:1 bag:1\n", r":1"), (":1 label:1\n", r":1"), ("label:1 bag:1.5\n", r":1"),
    ],
    "signs": [
        ("label\n", r":1"), ("1:label x:bag\n", r":1.*`x`"), ("x:label 1:bag\n", r":1.*`x`"),
        ("1:bag\n", r":1.*label"), ("1:label 1:\n", r":1"), ("1:label 0:label\n", r":1.*label"),
    ],
    "libsvm": [
        ("1:1\n", r":1"), ("x 1:1\n", r":1.*`x`"), ("1 x:1\n", r":1.*`x`"), ("1 1\n", r":1"),
        ("1 1:\n", r":1"), ("1 :1\n", r":1"), (f"1 {BIG}:1\n", r":1"), ("1 -:1\n", r":1"),
        ("1 1.5:1\n", r":1"), ("inf 1:1\n", r":1"), ("1 1:1 2\n", r":1"),
    ],
    "libffm": [
        ("x 0:1:1\n", r":1.*`x`"), ("1 0:1\n", r":1"), ("1 x:1:1\n", r":1"), ("1 0:x:1\n", r":1.*`x`"),
        ("1 0:1:1:1\n", r":1"), ("1 0::1\n", r":1"), ("1 -1:1:1\n", r":1"), ("1 0:1.5:1\n", r":1"),
        ("0:1:1\n", r":1"),
    ],
}


def record(data, size=None, crc=None):
    size = struct.pack("<Q", len(data) if size is None else size)
    crc = tfrecord.masked_crc(data) if crc is None else crc
    return size + struct.pack("<I", tfrecord.masked_crc(size)) + data + struct.pack("<I", crc)


GOOD = tfrecord.example({"label": [1.0], "bag": [1, 2]})
TENSORS = {"label": tensorfile.Tensor("F32", [2, 1], tensorfile.array.array("f", [1, 0])),
           "bag.values": tensorfile.Tensor("I64", [2], tensorfile.array.array("q", [1, 2])),
           "bag.splits": tensorfile.Tensor("I64", [3], tensorfile.array.array("q", [0, 1, 2]))}


class BadData(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "bags.mlir").write_text(BAG_MODEL)
        cls.trainer = compile_model(cls.root / "bags.mlir", cls.root / "local")
        cls.count = 0
        write_rows(cls.root / "good.csv", "csv", ROWS)
        cls.dump = cls.root / "model.safetensors"
        run(cls.trainer, "train", "--data", cls.root / "good.csv", "--dump", cls.dump)

    def rejects(self, data, pattern, *flags, status=PERMANENT, name=None, **options):
        """Evaluates on the data, which must fail: with the status, one message that names the
        data and then matches the pattern, and without output."""
        BadData.count += 1
        output = self.root / "output.tsv"
        name = re.escape(str(data) if name is None else name)
        output.unlink(missing_ok=True)
        with self.subTest(data=str(data), pattern=pattern):
            done = subprocess.run([self.trainer, "evaluate", "--data", data, *flags, "--init-from",
                                   self.dump, "--output", output],
                                  capture_output=True, text=True, errors="replace", timeout=LONG,
                                  check=False, **options)
            said = f"{done.returncode}: {done.stderr}"
            self.assertEqual(done.returncode, status, said)
            errors = [line for line in done.stderr.splitlines() if "error: " in line]
            self.assertEqual(len(errors), 1, said)
            self.assertRegex(errors[0], f"error: {name}(?:{pattern})")
            self.assertNotRegex(errors[0], "[\\x00-\\x08\\x0b-\\x1f]")
            self.assertFalse(output.exists(), said)

    def file(self, name, content):
        path = self.root / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def test_texts(self):
        for form, cases in TEXTS.items():
            for i, (content, pattern) in enumerate(cases):
                self.rejects(self.file(f"text-{i}.{form}", content), pattern)

    def test_tfrecord(self):
        for i, (content, pattern) in enumerate((
                (record(GOOD)[:-1], ": "), (record(GOOD)[:5], ": "), (record(GOOD, crc=1), ":1|: "),
                (record(GOOD, size=2**62), ": "), (record(GOOD, size=3), ":1|: "),
                (record(GOOD) + b"x", ": |:2"), (record(b"\xff" * 9), ":1"),
                (record(GOOD) + record(tfrecord.example({"bag": [1]})), ":2.*label"),
                (record(tfrecord.example({"label": [1.0, 2.0], "bag": [1]})), ":1.*label"),
                (record(tfrecord.example({"label": ["x"], "bag": [1]})), ":1.*label"),
                (record(tfrecord.example({"label": [1.0], "bag": [1.5]})), ":1.*bag"),
                (record(tfrecord.example({"label": [1.0], "bag": ["a"]})), ":1.*bag"))):
            self.rejects(self.file(f"bad-{i}.tfrecord", content), pattern)

    def test_safetensors(self):
        def changed(**tensors):
            path = self.root / "changed.safetensors"
            tensorfile.write(path, {name: tensor for name, tensor in
                                    {**TENSORS, **tensors}.items() if tensor})
            return path.read_bytes()

        def tensor(kind, code, shape, values):
            return tensorfile.Tensor(kind, shape, tensorfile.array.array(code, values))

        whole = changed()
        nan = float("nan")
        for i, (content, pattern) in enumerate((
                (b"", ": "), (whole[:4], ": "), (whole[:-1], ": "), (b"\xff" * 64, ": "),
                (whole.replace(b'"F32"', b'"F33"'), ": "), (gzip.compress(whole), ": "),
                (changed(label=None), ": .*label"), (changed(**{"bag.splits": None}), ": .*bag"),
                (changed(label=tensor("F32", "f", [3, 1], [1, 0, 1])), ": .*"),
                (changed(label=tensor("F32", "f", [2, 1], [1, nan])), ": .*label.*row 1|:.*"),
                (changed(**{"bag.splits": tensor("I64", "q", [3], [0, 2, 1])}), ": .*bag"),
                (changed(**{"bag.splits": tensor("I64", "q", [3], [0, 1, 9])}), ": .*bag"),
                (changed(**{"bag.values": tensor("F32", "f", [2], [1, 2])}), ": .*bag"))):
            self.rejects(self.file(f"bad-{i}.safetensors", content), pattern)

    @unittest.skipUnless(COLUMNS, "PDL was built without Arrow")
    def test_columns(self):
        for form in COLUMNS:
            path = self.root / f"good.{form}"
            write_rows(path, form, ROWS)
            whole = path.read_bytes()
            for i, content in enumerate((b"", b"PAR1", whole[:-1], whole[:len(whole) // 2],
                                         whole[:-8] + b"\xff\xff\xff\x7f" + whole[-4:],
                                         gzip.compress(whole), b"label,bag\n1,2\n",
                                         whole[9:], bytes(100))):
                self.rejects(self.file(f"bad-{i}.{form}", content), ": .*write the file again")

    def test_packed(self):
        text = "".join(f"1,{i}\n" for i in range(1000)).encode()
        whole = gzip.compress(text)
        for i, content in enumerate((whole[:len(whole) // 2], whole[:-1], text, b"", whole + b"x",
                                     whole[:-6] + b"\0\0" + whole[-4:], b"\x28\xb5\x2f\xfd")):
            self.rejects(self.file(f"bad-{i}.csv.gz", content), ": ")
        for i, content in enumerate((text, b"", b"\x28\xb5\x2f\xfd", whole)):
            self.rejects(self.file(f"bad-{i}.csv.zst", content), ": ")
        self.rejects(self.file("row.csv.gz", gzip.compress(b"1,1\n1\n")), ":2")
        self.rejects(self.file("packed.csv", whole), ": |:1")

    def test_places(self):
        folder = self.root / "empty"
        folder.mkdir()
        good = self.file("good.csv", "1,1\n")
        self.rejects(self.root / "none.csv", ": .*[Nn]o such file")
        self.rejects(folder, ": ")
        self.rejects(self.root / "x-*.csv", ": no file matches")
        self.rejects(self.file("a.dat", "1,1\n"), ": .*--delimiter")
        self.rejects(good, ": .*--data-pipe.*status 3", "--data-pipe", "exit 3")
        self.rejects(good, ": .*--data-pipe", "--data-pipe", "no-such-command-at-all")
        self.rejects(good, ":1", "--data-pipe", "echo 1")
        self.rejects(f"@{self.root}/none.txt", "", name="")
        self.rejects(f"@{self.file('list.txt', 'none-of-these.csv')}", "none-of-these.csv", name="")
        self.rejects("-", ":1", "--delimiter", ",", name="standard input", input="x,1\n")
        self.rejects("s3:///x", "", name="", status=USAGE)
        self.rejects("ftp://host/x.csv", ": no store has addresses of the scheme ftp",
                     status=USAGE, name="--data: ftp://host/x.csv")
        for form in *TEXTS, "tfrecord":
            path = self.file(f"empty.{form}", "")
            self.rejects(path, "", name=f"no samples in {path}; check the file")
        for address in ("kafka://", "kafka://host", "kafka://host:9092/", "kafka://h:1/t?end=x",
                        "kafka://h:1/t?format=parquet", "kafka://h:1/t?format=nothing",
                        "kafka://h:1/t?start=offset:x&format=csv"):
            self.rejects(address, "", name="", status=USAGE)
        self.rejects("kafka://127.0.0.1:1/t?format=csv&deadline=1s&end=end", "", name="",
                     status=RETRY)

    @unittest.skipUnless(kafka_brokers.PROGRAM.exists(), "kafka_broker was not built")
    def test_messages(self):
        with kafka_brokers.Brokers() as brokers:
            for i, (form, message, pattern) in enumerate((
                    ("csv", "x,1", r"@0:1: .*`x`"), ("csv", "1,1\n1", r"@0\.2"),
                    ("jsonl", "{", r"@0"), ("libsvm", "x 1:1", r"@0.*`x`"),
                    ("multislot", "1 1", r"@0"), ("slots", "bag:1", r"@0.*label"))):
                topic = f"bad{i}"
                brokers.topic(topic, 1)
                brokers.send(topic, 0, message)
                brokers.tell("flush")
                self.rejects(brokers.address(topic, f"format={form}", "end=end"), r"\[0\]" + pattern,
                             name=brokers.address(topic))

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        print(f"{cls.count} bad inputs", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
