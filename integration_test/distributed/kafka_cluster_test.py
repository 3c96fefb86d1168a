# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two trainers read three partitions of a topic of Kafka without end. The weights are those of a
training on files with the same rows, bit for bit, also after kill -9 of any process. With another
number of trainers, each message counts once."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from kafka_brokers import PROGRAM
from programs import PDL_CHECKPOINT, checkpoints_in, run
from topic_rows import TopicRowsTest
from waiting import wait_until

PARTITIONS, BATCH, STEPS = 3, 8, 60
# Each trainer takes a batch in a step: trainer 0 of two partitions, trainer 1 of one.
ROWS = 3 * BATCH * STEPS


@unittest.skipUnless(PROGRAM.exists(), "kafka_broker was not built: librdkafka-dev is missing")
class KafkaCluster(TopicRowsTest):
    row_count = ROWS

    def setUp(self):
        super().setUp()
        self.saved = self.folder / "saved"

    def job(self, data, trainers=2, steps=STEPS, saving=()):
        return Cluster(self.root / "sync", trainers, 2,
                       ["--data", *data, "--batch-size", BATCH, "--seed", 7, "--epochs", 1,
                        "--steps", steps, *saving, "--checkpoint-steps", 10],
                       ["--seed", 7, *saving])

    def saving(self):
        return ["--checkpoint", self.saved, "--resume"]

    def saved_steps(self):
        return max((int(path.name.split("-")[1]) for path in checkpoints_in(self.saved)),
                   default=0) if self.saved.exists() else 0

    def test_kills(self):
        left = [row for i, row in enumerate(self.rows) if i % PARTITIONS != 1]
        right = [row for i, row in enumerate(self.rows) if i % PARTITIONS == 1]
        for name, rows in ("left.csv", left), ("right.csv", right):
            (self.folder / name).write_text("\n".join(rows) + "\n")
        expected = self.folder / "files"
        with self.job([self.folder / "left.csv", self.folder / "right.csv"],
                      saving=["--checkpoint", expected]) as cluster:
            cluster.start().finish()
        self.brokers.topic(self.topic, PARTITIONS)
        sent = 0
        for round_, victim in enumerate(("trainer0", "trainer1", "server1"), 1):
            part = self.rows[sent:ROWS * round_ // 4]
            self.brokers.send_in_turn(self.topic, PARTITIONS, part, sent)
            sent += len(part)
            before = self.saved_steps()
            with self.job([self.address()], saving=self.saving()) as cluster:
                cluster.start()
                wait_until(lambda b=before: self.saved_steps() > b, said=cluster.said)
                next(p for p in cluster.processes() if p.name == victim).popen.kill()
        self.brokers.send_in_turn(self.topic, PARTITIONS, self.rows[sent:], sent)
        with self.job([self.address()], saving=self.saving()) as cluster:
            cluster.start().finish()
        run(PDL_CHECKPOINT, "diff", expected, self.saved)

    def test_another_number_of_trainers(self):
        self.brokers.topic(self.topic, PARTITIONS)
        self.brokers.send_in_turn(self.topic, PARTITIONS, self.rows)
        done = before = 0
        for trainers, steps in ((2, 20), (1, 30), (3, 50)):
            with self.job([self.address()], trainers, steps, self.saving()) as cluster:
                cluster.start().finish()
            done, before = done + trainers * BATCH * (steps - before), steps
            inspected = run(PDL_CHECKPOINT, "inspect", self.saved).stdout
            self.assertRegex(inspected, rf"samples +{done}\n")
            offsets = re.findall(r"partition (\d) of --data continues at offset (\d+)", inspected)
            self.assertEqual(sorted(int(p) for p, _ in offsets), [0, 1, 2], inspected)
            self.assertEqual(sum(int(offset) for _, offset in offsets), done, inspected)
            # Ids are distinct, so a row that counted twice would leave too few keys.
            self.assertRegex(inspected, rf"\b{done} keys")


if __name__ == "__main__":
    unittest.main()
