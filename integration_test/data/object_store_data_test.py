# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data in an object store train the same weights as the same files on this host, bit for bit, also
if requests fail. Each request has the signature that botocore computes."""

import gzip
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from object_store import ACCESS, SECRET, Fault, ObjectStore
from programs import ADULT, compile_model, fails, model, run

ODD_NAMES = ["a b.csv", "c+d.csv", "e%20f.csv", "g&h=i?j.csv", "ümläut.csv", "k'l(m)!*.csv",
             "日本.csv", "~n;o:p@q,r$.csv", '"s"<t>.csv']
PARTS = 12


class ObjectStoreData(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = ObjectStore()
        cls.addClassCleanup(cls.store.close)
        cls.trainer = compile_model(model("logistic_regression"), cls.root / "out",
                                    "--numerics=strict")
        lines = gzip.decompress(ADULT.read_bytes()).splitlines(keepends=True)
        header, rows = lines[0], lines[1:]
        cls.rows = rows
        cls.local = cls.root / "parts"
        cls.local.mkdir()
        for i in range(PARTS):
            content = header + b"".join(rows[i * len(rows) // PARTS:(i + 1) * len(rows) // PARTS])
            # Every second part is compressed.
            name = f"part-{i:02}.csv" + (".gz" if i % 2 else "")
            (cls.local / name).write_bytes(gzip.compress(content) if i % 2 else content)
            cls.store.put(f"clicks/day/{name}", cls.local / name)
        cls.store.put("clicks/day/_SUCCESS", b"")
        cls.store.put("clicks/day/deeper/other.csv", b"not data\n")
        cls.expected = cls.train("local", cls.local)

    def tearDown(self):
        self.store.faults.clear()
        self.store.show_current_lists()
        self.assertEqual(self.store.refused, [])

    @classmethod
    def train(cls, name, *data, flags=(), **changes):
        """Returns the dump of a training."""
        dump = cls.root / f"{name}.safetensors"
        cls.report = run(cls.trainer, "train", "--data", *data, "--dump", dump, *flags,
                         env={**cls.store.environment, **changes})
        return dump.read_bytes()

    def refused(self, *data, flags=(), status=1, **changes):
        error = fails(self.trainer, "train", "--data", *data, *flags, status=status,
                      env={**self.store.environment, **changes})
        self.assertNotIn(SECRET, error)
        self.assertEqual(len(error.strip().splitlines()), 1, error)
        return error

    def test_folders_patterns_and_lists(self):
        day = self.store.address("clicks/day")
        for data in (day, day + "/", day + "/part-*", self.store.address("clicks/d?y")):
            with self.subTest(data=data):
                self.assertEqual(self.train("stored", data), self.expected)
        names = sorted(path.name for path in self.local.iterdir())
        self.store.put("clicks/list", "".join(f"{day}/{name}\n" for name in names).encode())
        self.assertEqual(self.train("listed", "@" + self.store.address("clicks/list")),
                         self.expected)

    def test_lists_that_lag(self):
        """A file that is not listed yet is not read. One that is listed but gone is an error, and
        no training without it."""
        day = self.store.address("clicks/day")
        self.store.show_old_lists()
        self.store.put("clicks/day/part-99.csv", self.local / "part-00.csv")
        self.assertEqual(self.train("stored", day), self.expected)
        self.store.delete("clicks/day/part-99.csv")
        self.store.delete("clicks/day/part-04.csv")
        self.assertIn("part-04.csv: was changed or removed", fails(
            self.trainer, "train", "--data", day, env=self.store.environment))
        self.store.put("clicks/day/part-04.csv", self.local / "part-04.csv")

    def test_odd_names(self):
        """Names with signs that addresses encode."""
        odd = self.root / "odd"
        odd.mkdir()
        header = (self.local / "part-00.csv").read_bytes().splitlines(keepends=True)[0]
        for i, name in enumerate(ODD_NAMES):
            (odd / name).write_bytes(header + b"".join(self.rows[50 * i:50 * i + 50]))
            self.store.put(f"odd//{name}", odd / name)
        self.assertEqual(self.train("odd", self.store.address("odd//")), self.train("odd0", odd))
        one = self.store.address("odd//" + ODD_NAMES[2])
        self.assertEqual(self.train("odd1", one), self.train("odd2", odd / ODD_NAMES[2]))

    def test_requests_that_fail(self):
        day = self.store.address("clicks/day")

        def reads(method, path):
            return method == "GET" and "part-" in path

        self.store.faults += [Fault("status", 3), Fault("lost", 2), Fault("cut", 4, reads),
                              Fault("slow", 1, reads)]
        self.assertEqual(self.train("failing", day), self.expected)
        self.assertEqual([fault.times for fault in self.store.faults], [0, 0, 0, 0])
        # All attempts fail.
        self.store.faults[:] = [Fault("status", 10**9, reads)]
        error = self.refused(day, status=3, AWS_MAX_ATTEMPTS="3")
        self.assertRegex(error, r"s3://bucket/clicks/day/part-00.csv: cannot be read: 503 SlowDown "
                         r".*3 attempts")

    def test_resume(self):
        """A training continues at a row within an object, and does not read earlier objects."""
        day = self.store.address("clicks/day")
        flags = ("--checkpoint", self.root / "saved", "--batch-size", "100")
        run(self.trainer, "train", "--data", day, *flags, "--steps", "250", "--checkpoint-steps",
            "250", env=self.store.environment)
        self.store.requests.clear()
        resumed = self.train("resumed", day, flags=(*flags, "--resume"))
        read = {path for method, path, _ in self.store.requests if method == "GET"}
        # The header of the first object is compared with the others'.
        self.assertFalse([path for path in read if re.search("part-0[1-8]", path)], read)
        self.assertEqual(resumed, self.train("whole", self.local, flags=flags[2:]))

    def test_cache_keeps_rows(self):
        day = self.store.address("clicks/day")
        flags = ("--cache", self.root / "cache", "--epochs", "2")
        first = self.train("cached", day, flags=flags)
        self.store.requests.clear()
        self.assertEqual(self.train("cached", day, flags=flags), first)
        self.assertFalse([path for method, path, _ in self.store.requests
                          if method == "GET" and "part-" in path and "list-type" not in path])

    def test_errors(self):
        missing = self.store.address("clicks/none.csv")
        self.assertIn("neither an object of that name nor a folder", self.refused(missing))
        self.assertIn("no file matches", self.refused(self.store.address("clicks/x*.csv")))
        self.assertIn("names no bucket", self.refused("s3:///x", status=2))
        self.assertIn("NoSuchBucket", self.refused("s3://other/x/"))
        day = self.store.address("clicks/day/part-00.csv")
        self.assertIn("set AWS_ACCESS_KEY_ID",
                      self.refused(day, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY=""))
        self.assertIn("only one is set", self.refused(day, status=2, AWS_SECRET_ACCESS_KEY=""))
        self.assertIn("AWS_PROFILE is none", self.refused(day, status=2, AWS_PROFILE="none"))
        self.assertIn("http://", self.refused(day, status=2, AWS_ENDPOINT_URL_S3="localhost:1"))
        self.assertIn("127.0.0.1:9", self.refused(
            day, status=3, AWS_ENDPOINT_URL_S3="http://127.0.0.1:9", AWS_MAX_ATTEMPTS="2"))
        self.assertIn("must be a path of this host",
                      self.refused(day, status=2, flags=("--dump", self.store.address("dump"))))
        # The store refuses other credentials.
        self.assertIn("403", self.refused(day, AWS_ACCESS_KEY_ID="AKIDOTHER"))
        self.assertIn("403", self.refused(day, AWS_SECRET_ACCESS_KEY="other"))
        self.store.refused.clear()

    def test_profiles(self):
        """Credentials, region and endpoint come from the files of AWS."""
        (self.root / "credentials").write_text(
            f"[default]\naws_access_key_id = x\naws_secret_access_key = y\n\n"
            f"[job]\naws_access_key_id={ACCESS}\naws_secret_access_key = {SECRET}\n"
            f"aws_session_token = some+token/=\n")
        (self.root / "config").write_text(
            f"[profile job]\nregion = us-east-1\nendpoint_url = {self.store.endpoint}\n"
            "s3 =\n  addressing_style = path\n")
        part = self.store.address("clicks/day/part-00.csv")
        changes = {name: "" for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                         "AWS_REGION", "AWS_ENDPOINT_URL_S3")}
        self.train("profile", part, AWS_PROFILE="job", AWS_CONFIG_FILE=str(self.root / "config"),
                   AWS_SHARED_CREDENTIALS_FILE=str(self.root / "credentials"), **changes)
        self.assertIn("x-amz-security-token", self.store.requests[-1][2])

    def test_library_of_requests(self):
        """It runs on the oldest supported systems. Without it there is one message."""
        library = self.trainer.parent / "libpdl-http.so.1"
        content = library.read_bytes()
        versions = {int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", content)}
        self.assertLessEqual(max(versions), 30)
        self.assertNotIn(b"libstdc++", content)
        day = self.store.address("clicks/day/part-00.csv")
        library.unlink()
        try:
            self.assertIn("object stores need libpdl-http.so.1 next to the program",
                          self.refused(day))
        finally:
            library.write_bytes(content)

    def test_object_that_changes(self):
        """A program reads one version of an object, or fails."""
        key = "changing/a.csv"
        self.store.put(key, self.local / "part-00.csv")

        def change(method, path):
            if method == "GET" and key in path:
                self.store.put(key, self.local / "part-02.csv")
            return False

        self.store.faults.append(Fault("status", 1, change))
        self.assertIn("was changed or removed", self.refused(self.store.address(key)))


if __name__ == "__main__":
    unittest.main()
