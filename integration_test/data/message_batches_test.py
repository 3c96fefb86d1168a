# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages of Kafka that are Arrow IPC streams give the same weights, bit for bit, as messages of
text with the same rows. pyarrow writes the messages."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from bag_rows import ARROW, BAG_MODEL, bag_rows, import_pyarrow, lines_of, message_of, table_of
from folders import SharedFolderTest
from kafka_brokers import PROGRAM, Brokers
from programs import BUILD, PDL_CHECKPOINT, compile_model, fails, metric, run

PDL_DATA = BUILD / "bin" / "pdl-data"
ROWS = bag_rows(240)
BATCH, SIZE = 8, 7
# Timestamps of messages.
BEGIN, STEP = 1_760_000_000_000, 10


@unittest.skipUnless(ARROW, "PDL was built without Arrow")
@unittest.skipUnless(PROGRAM.exists(), "kafka_broker was not built: librdkafka-dev is missing")
class MessageBatches(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "bags.mlir"
        source.write_text(BAG_MODEL)
        cls.trainer = compile_model(source, cls.root / "out", "--numerics=strict")
        cls.brokers = cls.enterClassContext(Brokers())

    def setUp(self):
        self.folder = self.root / self.id().rsplit(".", maxsplit=1)[-1]
        self.folder.mkdir()

    def fill(self, name, partitions, messages):
        """Sends messages to partitions in turn, with ascending timestamps."""
        self.brokers.topic(name, partitions)
        for i, message in enumerate(messages):
            self.brokers.send(name, i % partitions, message, BEGIN + i * STEP)
        self.brokers.tell("flush")

    def fill_both(self, partitions):
        """Makes topics whose messages have `SIZE` rows each. Returns the formats."""
        parts = [ROWS[i:i + SIZE] for i in range(0, len(ROWS), SIZE)]
        self.fill(f"{self.folder.name}-csv", partitions,
                  ["\n".join(lines_of("csv", part)) for part in parts])
        self.fill(f"{self.folder.name}-arrow", partitions,
                  [message_of(table_of(part)) for part in parts])
        return "csv", "arrow"

    def address(self, form, *parameters):
        return self.brokers.address(f"{self.folder.name}-{form}", f"format={form}", *parameters)

    def dump(self, data, *flags):
        path = self.folder / "model.safetensors"
        run(self.trainer, "train", "--data", data, "--batch-size", BATCH, "--dump", path, *flags)
        return path.read_bytes()

    def of_rows(self, rows, *flags):
        """Returns the dump of a training on a file with these rows."""
        data = self.folder / "rows.csv"
        data.write_text("".join(line + "\n" for line in lines_of("csv", rows)))
        return self.dump(data, *flags)

    def refused(self, *flags, status=1):
        return fails(self.trainer, "train", "--data", self.address("arrow", "end=end"),
                     "--batch-size", BATCH, "--dump", self.folder / "none.safetensors", *flags,
                     status=status)

    def test_weights_equal_those_of_text(self):
        forms = self.fill_both(2)
        for flags in ((), ("--epochs", 2, "--shuffle-window", 50, "--rows", "10%:90%"),
                      ("--replicas", "2x1"), ("--replicas", "3x1")):
            with self.subTest(flags=flags):
                text, batches = (self.dump(self.address(form, "end=end"), *flags)
                                 for form in forms)
                self.assertEqual(batches, text)

    def test_other_commands(self):
        forms = self.fill_both(2)
        self.dump(self.address("csv", "end=end"))
        flags = "--init-from", self.folder / "model.safetensors"
        results = [(metric(run(self.trainer, "evaluate", "--data", data, *flags).stdout, "AUC"),
                    run(self.trainer, "predict", "--data", data, *flags).stdout)
                   for data in (self.address(form, "end=end") for form in forms)]
        self.assertEqual(*results)

    def test_resumes_within_a_message(self):
        """The position in a message is exact, with an end and without one."""
        self.fill_both(3)
        end = "--epochs", 1, "--steps", len(ROWS) // BATCH
        expected = self.dump(self.address("csv", "idle=100ms"), *end)
        for steps in 1, 5, 11:
            with self.subTest(steps=steps):
                saved = self.folder / f"saved-{steps}"
                flags = "--checkpoint", saved
                data = self.address("arrow", "idle=100ms")
                self.dump(data, *flags, "--epochs", 1, "--steps", steps)
                inspected = run(PDL_CHECKPOINT, "inspect", saved).stdout
                row = steps * BATCH % SIZE + 1
                self.assertRegex(inspected, rf"continues at offset \d+, row {row} of the message")
                self.assertEqual(self.dump(data, *flags, *end, "--resume"), expected)
        expected = self.dump(self.address("csv", "end=end"))
        saved = self.folder / "saved-ended"
        flags = "--checkpoint", saved
        data = self.address("arrow", "end=end")
        self.dump(data, *flags, "--steps", 3)
        self.assertEqual(self.dump(data, *flags, "--resume"), expected)

    def test_bad_messages_are_bad_rows(self):
        good = [message_of(table_of(ROWS[i:i + SIZE])) for i in range(0, 56, SIZE)]
        pyarrow = import_pyarrow()
        plain = table_of(ROWS[:SIZE])
        # Each column has 8,000 bytes before compression.
        packed = message_of(table_of(1000 * [(0, [1])]), 1000, "zstd")
        size = (8000).to_bytes(8, "little")
        self.assertIn(size, packed)
        for name, bad, pattern in (
                ("text", "1,2", "is damaged, incomplete, or no Arrow IPC stream"),
                ("cut", good[0][:-100], "is damaged"),
                ("size", packed.replace(size, (1 << 44).to_bytes(8, "little")),
                 "is damaged.* declares a buffer of 17592186044416 bytes"),
                ("lacks", message_of(plain.drop_columns(["label"])), "has no column `label`"),
                ("types", message_of(plain.set_column(0, "label", pyarrow.array([{"a": 1}] * SIZE))),
                 "column `label` is a struct")):
            with self.subTest(name):
                self.folder = self.root / f"bad-{name}"
                self.folder.mkdir()
                self.fill(f"{self.folder.name}-arrow", 1, [*good[:3], bad, *good[3:]])
                said = self.refused()
                self.assertIn(f"{self.folder.name}-arrow[0]@3: ", said)
                self.assertRegex(said, pattern)
                self.assertEqual(self.dump(self.address("arrow", "end=end"), "--max-bad-rows", 1),
                                 self.of_rows_with_a_bad_one())

    def of_rows_with_a_bad_one(self):
        """Returns the dump of a training on the rows of the good messages, of text."""
        lines = lines_of("csv", ROWS[:56])
        data = self.folder / "rows.csv"
        data.write_text("".join(line + "\n" for line in [*lines[:21], "x,y,z", *lines[21:]]))
        return self.dump(data, "--max-bad-rows", 1)

    def test_bad_rows_have_a_number(self):
        pyarrow = import_pyarrow()
        labels = [float(label) for label, _ in ROWS[:SIZE]]
        labels[4] = float("inf")
        bad = table_of(ROWS[:SIZE]).set_column(0, "label", pyarrow.array(labels))
        self.fill(f"{self.folder.name}-arrow", 1, [message_of(table_of(ROWS[:9])), message_of(bad)])
        self.assertRegex(self.refused(), r"-arrow\[0\]@1\.5: field `label`: an infinite value")
        flags = "--init-from", self.folder / "model.safetensors"
        self.of_rows(ROWS)
        done = run(self.trainer, "predict", "--data", self.address("arrow", "end=end"), *flags,
                   "--copy-column", "label").stdout.splitlines()
        self.assertEqual(len(done), 9 + SIZE + 1)

    def test_messages_without_rows(self):
        """A message may have a schema only, or batches without rows."""
        table = table_of(ROWS[:40])
        empty = table.slice(0, 0)
        batch = import_pyarrow().RecordBatch.from_pylist([], schema=table.schema)
        messages = [message_of(empty), None, message_of(table.slice(0, 15)), message_of(empty),
                    message_of(import_pyarrow().Table.from_batches([batch])),
                    message_of(table.slice(15))]
        self.fill(f"{self.folder.name}-arrow", 1, messages)
        self.assertEqual(self.dump(self.address("arrow", "end=end")), self.of_rows(ROWS[:40]))

    def test_tools_look_at_messages(self):
        """pdl-data finds the columns by name, also if messages have other schemas, and reports bad
        messages."""
        pyarrow = import_pyarrow()
        more = pyarrow.table({"day": [5, 6], "label": [1, 0]})
        self.fill(f"{self.folder.name}-arrow", 1,
                  [message_of(table_of(ROWS[:SIZE])), message_of(more.slice(0, 0)),
                   message_of(more), "not a batch", message_of(table_of(ROWS[SIZE:]))])
        data = self.address("arrow", "end=end")
        said = run(PDL_DATA, "describe", data)
        self.assertIn("243 rows, 1 bad, 3 columns", said.stdout)
        self.assertRegex(said.stdout, r"\nday\n +missing 240 of 242 rows")
        self.assertIn(f"{self.folder.name}-arrow[0]@3: is damaged", said.stderr)
        self.assertIn("correct its producer", said.stderr)
        self.assertTrue(run(PDL_DATA, "count", data).stdout.startswith("243\t"))
        label, bag = ROWS[0]
        self.assertIn(f"  label = {label}\n  bag = {bag}\n",
                      run(PDL_DATA, "head", data, "--rows", 1).stdout)

    def test_refusals(self):
        self.fill(f"{self.folder.name}-arrow", 1, [message_of(table_of(ROWS[:9]))])
        self.assertIn("its columns have names: --header", self.refused("--header", status=2))
        said = fails(self.trainer, "train", "--data",
                     self.brokers.address(f"{self.folder.name}-arrow", "format=parquet"), status=None)
        self.assertIn("messages hold lines of text or Arrow record batches", said)


if __name__ == "__main__":
    unittest.main()
