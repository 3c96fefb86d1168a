# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that exceed the memory limit are stored in a folder. The bits are the same as without a
limit: in one process, with servers, after checkpoints, deltas and stops. Invalid combinations are
rejected."""

import filecmp
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from cluster import Cluster
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, run
from table_life import MODEL, STEPS, TableLifeTest
from waiting import wait_until


class TableSpill(TableLifeTest):

    def setUp(self):
        super().setUp()
        self.source.write_text(MODEL.replace("untouched(dense)", "untouched(lazy)"))
        self.folder = self.root / "rows"
        # The limit is smaller than all rows, which need about 150 KiB.
        self.spill = self.spill_at("24KiB")

    def spill_at(self, size):
        return ["--max-table-memory", size, "--table-spill", self.folder]

    def spilled(self, said):
        return int(re.search(r"^rows spilled (\d+)$", said, re.MULTILINE)[1])

    def results(self, said):
        return re.findall(r"^test MAE.*", said, re.MULTILINE)

    def test_no_bit_changes_in_one_process(self):
        self.translate("local")
        plain = self.train_here("plain")
        for name, more in (
                ("spilled", self.spill), ("threads", [*self.spill, "--threads", 3]),
                ("frequent", [*self.spill, "--table-eviction", "least-frequent"]),
                # All rows leave memory after each step.
                ("tiny", self.spill_at("1"))):
            with self.subTest(name):
                said = self.train_here(name, *more)
                self.assertGreater(self.spilled(said), 100)
                self.assertEqual(self.results(said), self.results(plain))
                self.same("plain", name)
        self.assertEqual(os.listdir(self.folder), [])
        # Replicas, two epochs, and a file with all rows.
        many = ["--replicas", "2x1", "--epochs", 2, "--steps", STEPS // 2]
        run(self.root / "local" / "trainer", "train", *self.flags(
            "many", *many, "--max-table-memory", "1GiB"), "--dump", self.root / "many",
            "--dump-slots")
        run(self.root / "local" / "trainer", "train", *self.flags("many2", *many, *self.spill),
            "--dump", self.root / "many2", "--dump-slots")
        self.assertTrue(filecmp.cmp(self.root / "many", self.root / "many2", shallow=False))

    def test_no_bit_changes_with_servers(self):
        self.translate("local", "sync", "hybrid")
        self.train_here("one", "--steps", STEPS // 2, "--replicas", "2x1")
        for mode, servers in (("sync", 1), ("sync", 3), ("hybrid", 2)):
            with self.subTest(mode=mode, servers=servers):
                name = f"{mode}{servers}"
                run(programs.BUILD / "bin" / "pdl-launch", "--trainers", 2, "--servers", servers,
                    self.root / mode, "--", "train",
                    *self.flags(name, "--steps", STEPS // 2, "--replicas", "1x1"),
                    "--", "--seed", 7, *self.spill)
                self.same("one", name)
        self.assertEqual(os.listdir(self.folder), [])
        self.source.write_text(self.source.read_text().replace("clip(@joint) ", ""))
        self.translate("local", "half-async", "async")
        self.train_here("alone", "--steps", STEPS)
        for mode in ("async", "half-async"):
            with self.subTest(mode=mode):
                with Cluster(self.root / mode, 1, 2, self.flags(mode, "--steps", STEPS),
                             ["--seed", 7, *self.spill]) as cluster:
                    cluster.start().finish()
                self.same("alone", mode)

    def test_stops_and_deltas(self):
        self.translate("local", "sync")
        often = ["--checkpoint-steps", 3, "--checkpoint-keep", 0]
        # Updates create rows in this test. Without a limit, the preparation of a step creates some
        # of them.
        self.train_here("whole", *often, "--max-table-memory", "1GiB")
        self.train_here("deltas", *often, "--checkpoint-deltas", 5, *self.spill)
        found = [checkpoints_in(self.root / f"{name}.saved") for name in ("whole", "deltas")]
        self.assertEqual(len(found[0]), STEPS // 3)
        for one, other in zip(*found):
            run(PDL_CHECKPOINT, "diff", one, other)
        # Resume with more rows than fit into memory, with a limit and without.
        for number, steps in enumerate((13, 29, 41, STEPS)):
            self.train_here("resumed", "--steps", steps, "--resume", *often,
                            "--checkpoint-deltas", 5, *(self.spill if number != 2 else []))
        run(PDL_CHECKPOINT, "diff", found[0][-1], checkpoints_in(self.root / "resumed.saved")[-1])
        self.train_here("whole2", "--steps", STEPS // 2, "--replicas", "2x1")
        for steps, servers in ((11, 3), (STEPS // 2, 2)):
            with Cluster(self.root / "sync", 2, servers,
                         self.flags("parts2", "--steps", steps, "--replicas", "1x1", "--resume"),
                         ["--seed", 7, "--checkpoint", self.root / "parts2.saved",
                          "--resume", *self.spill]) as cluster:
                cluster.start().finish()
        self.same("whole2", "parts2")

    def test_a_killed_process_leaves_nothing_for_long(self):
        self.translate("local")
        killed = subprocess.Popen([str(self.root / "local" / "trainer"), "train",
                                   *map(str, self.flags("killed", "--epochs", 100000,
                                                        *self.spill))],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.folder.exists() and os.listdir(self.folder))
        left = os.listdir(self.folder)
        # A process keeps the rows of other processes that run.
        self.train_here("beside", "--steps", 5, *self.spill)
        self.assertEqual(os.listdir(self.folder), left)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        self.train_here("next", "--steps", 5, *self.spill)
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_cannot_be(self):
        self.translate("local", "sync")
        done = subprocess.run([str(self.root / "local" / "trainer"), "train",
                               *map(str, self.flags("four", "--steps", 2)),
                               "--max-table-memory", "4"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--max-table-memory is 4 bytes, in which few or no rows have room",
                      done.stderr)
        file = self.root / "file"
        file.write_text("")
        dense = self.root / "dense.mlir"
        dense.write_text(MODEL)
        run(PDL_TRANSLATE, dense, "-o", self.root / "dense")
        train = ["train", "--data", self.data]
        for program, flags, status, message in (
                ("local/trainer", [*train, "--table-spill", self.folder], 2,
                 "--table-spill keeps the rows for which --max-table-memory has no room; "
                 "give both"),
                ("local/trainer", [*train, "--max-table-memory", "1GiB", "--table-spill",
                                   file / "rows"], 1,
                 f"rows cannot be kept in {file}/rows (--table-spill): Not a directory; name "
                 "a folder that can be written"),
                ("dense/trainer", [*train, *self.spill], 2,
                 "--table-spill is not for table @shrinking, whose group @all updates all rows "
                 "in each step"),
                ("sync/trainer", [*train, *self.spill, "--servers", "localhost:1"], 2,
                 "--max-table-memory is for who holds tables, which in mode sync servers do"),
                ("sync/pserver", ["--table-spill", self.folder, "--servers", "localhost:1",
                                  "--rank", 0, "--trainers", 1], 2,
                 "--table-spill keeps the rows for which")):
            with self.subTest(message):
                done = subprocess.run([str(self.root / program), *map(str, flags)],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
