# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints by the event time of messages (--checkpoint-event-time): in one process and with two
trainers, they are saved after exactly the steps in which the highest timestamp crosses a multiple
of the interval. A resumed training and a restarted trainer save after the same steps."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from kafka_brokers import PROGRAM
from programs import PDL_CHECKPOINT, checkpoints_in, fails, run
from topic_rows import TopicRowsTest
from waiting import wait_until

PARTITIONS, BATCH, STEPS = 3, 8, 40
# Timestamps of send_in_turn, and an interval of several steps.
BEGIN, PERIOD, INTERVAL = 1_760_000_000_000, 10, 700
# With two trainers, trainer 1 reads one partition.
ROWS = PARTITIONS * BATCH * STEPS


def crossings(time_after, steps=STEPS):
    """Returns the steps after which a training saves. `time_after`: the event time after a
    number of steps."""
    saved, found = 0, []
    for step in range(1, steps + 1):
        if time_after(step) // INTERVAL > saved // INTERVAL:
            saved = time_after(step)
            found.append(step)
    return found


def time_of_one(steps):
    return BEGIN + (BATCH * steps - 1) * PERIOD


def time_of_two(steps):
    """Partition 1 has every third row, so trainer 1 is ahead of trainer 0."""
    return BEGIN + (PARTITIONS * (BATCH * steps - 1) + 1) * PERIOD


@unittest.skipUnless(PROGRAM.exists(), "kafka_broker was not built: librdkafka-dev is missing")
class EventTime(TopicRowsTest):
    programs = {"local": (), "sync": ("--mode=sync",)}
    row_count = ROWS

    def setUp(self):
        super().setUp()
        self.brokers.topic(self.topic, PARTITIONS)

    def send(self, begin=0, end=ROWS):
        self.brokers.send_in_turn(self.topic, PARTITIONS, self.rows[begin:end], begin, BEGIN,
                                  PERIOD)

    def flags(self, saved, steps=STEPS, interval=f"{INTERVAL}ms"):
        return ["--data", self.address(), "--batch-size", BATCH, "--seed", 7, "--epochs", 1,
                "--steps", steps, "--checkpoint", saved, "--resume", "--checkpoint-keep", 0,
                "--checkpoint-event-time", interval]

    def job(self, saved, steps=STEPS, more=()):
        return Cluster(self.root / "sync", 2, 2, [*self.flags(saved, steps), *more],
                       ["--seed", 7, "--checkpoint", saved, "--resume", *more])

    @staticmethod
    def steps_of(saved):
        return [int(path.name.split("-")[1]) for path in checkpoints_in(saved)]

    def test_one_process(self):
        self.send()
        due = crossings(time_of_one)
        self.assertGreater(len(due), 3)
        self.assertNotIn(25, due)
        whole, parts = self.folder / "whole", self.folder / "parts"
        trainer = self.root / "local" / "trainer"
        run(trainer, "train", *self.flags(whole))
        self.assertEqual(self.steps_of(whole), sorted({*due, STEPS}))
        for steps in 25, STEPS:
            run(trainer, "train", *self.flags(parts, steps))
        self.assertEqual(self.steps_of(parts), sorted({*due, 25, STEPS}))
        run(PDL_CHECKPOINT, "diff", whole, parts)
        # The last row of each partition is the newest one of its messages.
        said = run(PDL_CHECKPOINT, "inspect", whole).stdout
        self.assertRegex(said, r"partition 1 of --data continues at offset \d+, "
                               r"event time 2025-10-09T08:53:2\dZ\n")

    def test_two_trainers(self):
        self.send()
        due = crossings(time_of_two)
        self.assertGreater(len(due), 5)
        whole, parts = self.folder / "whole", self.folder / "parts"
        with self.job(whole) as cluster:
            cluster.start().finish()
        self.assertEqual(self.steps_of(whole), sorted({*due, STEPS}))
        for steps in 25, STEPS:
            with self.job(parts, steps) as cluster:
                cluster.start().finish()
        self.assertEqual(self.steps_of(parts), sorted({*due, 25, STEPS}))
        run(PDL_CHECKPOINT, "diff", whole, parts)

    def test_a_restarted_trainer(self):
        """The first messages do not suffice for all steps, so the trainers wait when one of them is
        killed."""
        self.send(0, ROWS // 2)
        due, saved = crossings(time_of_two), self.folder / "saved"
        with self.job(saved, more=["--on-failure", "wait"]) as cluster:
            cluster.start()
            wait_until(lambda: saved.exists() and
                       len(self.steps_of(saved)) >= len(crossings(time_of_two, STEPS // 2 - 2)),
                       said=cluster.said)
            cluster.kill_and_restart_trainer(1, "no such text")
            self.send(ROWS // 2)
            cluster.finish()
            self.assertIn("came back to the job", cluster.said())
        self.assertEqual(self.steps_of(saved), sorted({*due, STEPS}))

    def test_refusals(self):
        data = self.folder / "rows.csv"
        data.write_text("\n".join(self.rows[:20]) + "\n")
        for name, pattern in ((data, "rows.csv is none"),
                              (self.address("end=end"), r"\[0\] has an end")):
            with self.subTest(name):
                text = fails(self.root / "local" / "trainer", "train", "--data", name,
                             "--batch-size", BATCH, "--checkpoint", self.folder / "saved",
                             "--checkpoint-event-time", "10min", status=None)
                self.assertRegex(text, "--checkpoint-event-time is for topics of Kafka without end")
                self.assertRegex(text, pattern)
        for interval, pattern in ("10", "'10' is no duration"), ("0s", "shorter than 1ms"):
            with self.subTest(interval):
                text = fails(self.root / "local" / "trainer", "train",
                             *self.flags(self.folder / "saved", interval=interval), status=None)
                self.assertRegex(text, pattern)


if __name__ == "__main__":
    unittest.main()
