# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training on topics of Kafka equals training on files with the same rows, bit for bit. Tests
starts, ends, a kill with a resume, and messages about errors."""

import gzip
import itertools
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from kafka_brokers import FETCH, NOT_LEADER, PROGRAM, Brokers
from programs import ADULT, PDL_CHECKPOINT, checkpoints_in, compile_model, fails, run
from small_model import small_model
from waiting import LONG, wait_until

ROWS = 960
BATCH = 32
# Timestamps of send_in_turn.
BEGIN, STEP = 1_760_000_000_000, 10


@unittest.skipUnless(PROGRAM.exists(), "kafka_broker was not built: librdkafka-dev is missing")
class Kafka(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "small.mlir"
        source.write_text(small_model("@adagrad", False, False, False))
        cls.trainer = compile_model(source, cls.root / "out", "--numerics=strict")
        with gzip.open(ADULT, "rt") as file:
            cls.rows = [line.rstrip("\n") for line in itertools.islice(file, ROWS)]
        cls.brokers = cls.enterClassContext(Brokers(2))

    def setUp(self):
        self.folder = self.root / self.id().rsplit(".", maxsplit=1)[-1]
        self.folder.mkdir()
        self.topic = self.folder.name

    def fill(self, partitions, rows=None):
        self.brokers.topic(self.topic, partitions)
        self.brokers.send_in_turn(self.topic, partitions, self.rows if rows is None else rows)

    def address(self, *parameters):
        return self.brokers.address(self.topic, "format=csv", *parameters)

    def of_file(self, rows, *flags):
        """Returns the dump of a training on a file with these rows."""
        data = self.folder / "rows.csv"
        data.write_text("\n".join(rows) + "\n")
        return self.dump("file", data, *flags)

    def dump(self, name, data, *flags):
        path = self.folder / f"{name}.safetensors"
        data = data if isinstance(data, tuple) else (data,)
        run(self.trainer, "train", "--data", *data, "--batch-size", BATCH, "--dump", path, *flags)
        return path.read_bytes()

    def refused(self, data, *flags, status=1):
        return fails(self.trainer, "train", "--data", data, "--batch-size", BATCH, "--dump",
                     self.folder / "none.safetensors", *flags, status=status)

    def test_partitions_with_an_end_are_files(self):
        """Epochs, shuffle windows and ranges of rows work, also with several lines in a
        message."""
        self.brokers.topic(self.topic, 2)
        parts = self.rows[:500], self.rows[500:]
        for p, part in enumerate(parts):
            for begin in range(0, len(part), 7):
                self.brokers.send(self.topic, p, "\n".join(part[begin:begin + 7]) + "\n")
            self.brokers.send(self.topic, p, None)
        self.brokers.tell("flush")
        for p, part in enumerate(parts):
            (self.folder / f"{p}.csv").write_text("\n".join(part) + "\n")
        flags = "--epochs", 2, "--shuffle-window", 100, "--rows", "0%:90%"
        expected = self.dump("files", (self.folder / "0.csv", self.folder / "1.csv"), *flags)
        self.assertEqual(self.dump("topic", self.address("end=end"), *flags), expected)

    @unittest.skipUnless(shutil.which("kcat"), "kcat is missing: install kafkacat")
    def test_messages_of_another_client(self):
        """Messages that kcat has sent, compressed and in batches, are read; and kcat reads the
        topic at the same time, because trainers join no group."""
        self.brokers.topic(self.topic, 1)
        expected = self.of_file(self.rows)
        kcat = ["kcat", "-b", self.brokers.addresses, "-t", self.topic, "-p", "0"]
        run(*kcat, "-P", "-z", "gzip", "-l", self.folder / "rows.csv")
        self.assertEqual(self.dump("topic", self.address("end=end")), expected)
        read = run(*kcat, "-C", "-o", "beginning", "-e", "-q").stdout
        self.assertEqual(read.splitlines(), self.rows)

    def test_starts_and_ends(self):
        self.fill(1)
        for parameters, begin, end in (
                (("start=offset:100", "end=offset:900"), 100, 900),
                ((f"start=timestamp:{BEGIN + 64 * STEP}", f"end=timestamp:{BEGIN + 500 * STEP}"),
                 64, 500),
                (("start=timestamp:2025-10-09T08:53:21Z", "end=end"), 100, ROWS)):
            with self.subTest(parameters):
                self.assertEqual(self.dump("topic", self.address(*parameters)),
                                 self.of_file(self.rows[begin:end]))

    def test_a_topic_without_end_is_read_in_order_of_time(self):
        """A kill and a resume do not change a bit, even if a partition is empty for a time."""
        self.brokers.topic(self.topic, 3)
        half = ROWS // 2
        saved = self.folder / "saved"
        arguments = [self.trainer, "train", "--data", self.address("idle=200ms"), "--batch-size",
                     BATCH, "--epochs", 1, "--steps", ROWS // BATCH, "--checkpoint", saved,
                     "--resume", "--checkpoint-steps", 4,
                     "--dump", self.folder / "topic.safetensors"]
        self.brokers.send_in_turn(self.topic, 3, self.rows[:half])
        log = self.folder / "log"
        with open(log, "w") as file:
            process = subprocess.Popen([str(a) for a in arguments], stdout=file, stderr=file)
        wait_until(lambda: len(checkpoints_in(saved)) >= 2, said=log.read_text)
        process.kill()
        process.wait()
        inspected = run(PDL_CHECKPOINT, "inspect", saved).stdout
        self.assertRegex(inspected, r"partition 2 of --data continues at offset [1-9]")
        steps = [int(path.name.split("-")[1]) for path in checkpoints_in(saved)]
        self.assertTrue(all(step < ROWS // BATCH for step in steps), steps)
        self.brokers.send_in_turn(self.topic, 3, self.rows[half:], half)
        run(*arguments)
        self.assertEqual((self.folder / "topic.safetensors").read_bytes(),
                         self.of_file(self.rows))

    def test_errors_of_brokers_are_retried(self):
        self.fill(1)
        self.brokers.tell(f"fail {FETCH} 5 {NOT_LEADER}")
        self.assertEqual(self.dump("topic", self.address("end=end")), self.of_file(self.rows))
        leader = f"leader {self.topic} 0"
        self.brokers.tell(f"{leader} 1")
        self.brokers.tell("down 1")
        log = self.folder / "log"
        with open(log, "w") as file:
            process = subprocess.Popen(
                [str(a) for a in (self.trainer, "train", "--data",
                                  self.address("partitions=0", f"end=offset:{ROWS}"),
                                  "--batch-size", BATCH, "--dump", self.folder / "d.safetensors")],
                stdout=file, stderr=file)
        wait_until(lambda: "a broker does not answer" in log.read_text(), said=log.read_text)
        self.brokers.tell("up 1")
        self.assertEqual(process.wait(LONG), 0, log.read_text())
        self.assertEqual((self.folder / "d.safetensors").read_bytes(), self.of_file(self.rows))

    def test_no_broker(self):
        text = self.refused("kafka://127.0.0.1:1/clicks?format=csv&deadline=2s", status=3)
        self.assertRegex(text, "the broker has not answered for 2 s")

    def test_refusals(self):
        self.fill(1, self.rows[:10])
        for data, pattern in (
                (self.brokers.address(self.topic, "end=end"), "add format=csv"),
                (self.address("partitions=0,5"), r"\[5\]: the topic has no such partition"),
                (self.address("sasl.password=x"), "config=FILE"),
                (self.address("group.id=x"), "is set by PDL"),
                (self.address("begin=3"), "begin: it is unknown"),
                (self.address("no.such.property=3"), "No such configuration property"),
                (self.address("start=offset:-1"), "start: "),
                (self.address("end=offset:50", "start=offset:20"),
                 r"continues at offset 20, but the broker has offsets 0 to 10")):
            with self.subTest(data):
                self.assertRegex(self.refused(data, status=None), pattern)
        for flags, pattern in ((("--header",), "--columns"), (("--cache", "c"), "--cache"),
                               (("--format", "csv"), "--format"),
                               (("--shuffle-window", 9), "needs data with an end")):
            with self.subTest(flags):
                self.assertRegex(self.refused(self.address(), *flags, status=None), pattern)
        properties = self.folder / "properties"
        properties.write_text("# secrets\nsasl.password=hidden\nsasl.pass=hidden\n")
        text = self.refused(self.address(f"config={properties}"), status=None)
        self.assertIn("properties:3: librdkafka refuses the property sasl.pass", text)
        self.assertNotIn("hidden", text)

    def test_bad_rows_have_an_offset(self):
        self.fill(1, self.rows[:40] + ["1,2"] + self.rows[40:63])
        text = self.refused(self.address("end=end"))
        self.assertRegex(text, rf"{self.topic}\[0\]@40:3: the row has 2 cells")
        self.assertEqual(self.dump("topic", self.address("end=end"), "--max-bad-rows", 1),
                         self.of_file(self.rows[:63]))

    def test_interrupted_while_waiting(self):
        """A trainer that waits for messages stops on SIGTERM, and resumes."""
        self.fill(2, self.rows[:3 * BATCH])
        saved = self.folder / "saved"
        arguments = [str(a) for a in (
            self.trainer, "train", "--data", self.address("idle=100ms"), "--batch-size", BATCH,
            "--checkpoint", saved, "--resume", "--checkpoint-steps", 2)]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        wait_until(lambda: checkpoints_in(saved))
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, output)
        self.assertRegex(run(PDL_CHECKPOINT, "inspect", saved).stdout, r"samples +(64|96)\n")


if __name__ == "__main__":
    unittest.main()
