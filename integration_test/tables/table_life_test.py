# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables that admit keys and shrink. The test counts again which keys have rows. The bits are the
same in the interpreter, in one process, with servers, and after checkpoints and deltas."""

import collections
import filecmp
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
import programs
from cluster import Cluster
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, run
from table_life import BATCH, EVERY, MODEL, STEPS, TableLifeTest

import tensorfile


class TableLife(TableLifeTest):

    def test_rows_are_those_that_counting_says(self):
        self.translate("local")
        for name, flags in (("plain", []), ("threads", ["--threads", 3])):
            self.train_here(name, "--steps", STEPS, *flags)
            self.check_counts(name)
        self.same("plain", "threads")
        # With another seed, other keys are drawn.
        drawn = self.drawn
        run(self.root / "local" / "trainer", "train", "--data", self.data, "--seed", 8,
            "--batch-size", BATCH, "--checkpoint", self.root / "other.saved")
        self.check_counts("other")
        self.assertNotEqual(self.drawn, drawn)

    def test_the_interpreter_has_the_same_bits(self):
        trainer = self.compile_strict(self.source)
        self.check_program(self.source, trainer, self.data, BATCH, STEPS)

    def test_a_count_of_one_changes_nothing(self):
        plain = re.sub(r" (admit|shrink|score)\([^)]*\)", "", MODEL)
        one = re.sub(r" (score)\([^)]*\)", "", re.sub(r" shrink\([^)]*\)",
                                                     " shrink(every = 1, unseen = 16384)",
                                                     re.sub(r" admit\([^)]*\)",
                                                            " admit(count = 1)", MODEL)))
        saved = {}
        for name, text in (("plain", plain), ("one", one)):
            source = self.root / f"{name}.mlir"
            source.write_text(text)
            trainer = programs.compile_model(source, self.root / name, "--numerics=strict")
            saved[name], _ = self.train(trainer, name, self.data, "--batch-size", BATCH)
        a, b = (tensorfile.read(path) for path in saved.values())
        for name, tensor in b.items():
            if not name.endswith("slot.period"):
                self.assertEqual(exactness.bits(tensor), exactness.bits(a[name]), name)

    def test_servers_change_no_bit(self):
        self.translate("local", "sync", "collective", "hybrid")
        self.train_here("one", "--steps", STEPS // 2, "--replicas", "2x1")
        self.check_counts("one", samples=2 * BATCH, steps=STEPS // 2)
        self.check_launched(("sync", 1), ("sync", 3), ("hybrid", 2), ("collective", 0))
        # With one sender, its steps are all steps. Without the clip, because a sender computes
        # norms over all keys.
        self.source.write_text(MODEL.replace("clip(@joint) ", ""))
        self.check_one_sender()

    def test_stops_change_no_bit(self):
        self.translate("local", "sync")
        self.train_here("whole", "--steps", STEPS)
        for steps in (13, 14, 30, STEPS):
            self.train_here("parts", "--steps", steps, "--resume")
        self.same("whole", "parts")
        self.check_stops_with_servers((11, 3), (STEPS // 2, 2))

    def test_deltas_are_the_whole(self):
        self.translate("local")
        often = ["--checkpoint-steps", 3, "--checkpoint-keep", 0]
        self.train_here("base", "--steps", STEPS, *often)
        self.train_here("deltas", "--steps", STEPS, *often, "--checkpoint-deltas", 5)
        found = [checkpoints_in(self.root / f"{name}.saved") for name in ("base", "deltas")]
        self.assertEqual(len(found[0]), STEPS // 3)
        for one, other in zip(*found):
            merged = self.root / "merged" / one.name
            merged.parent.mkdir(exist_ok=True)
            run(PDL_CHECKPOINT, "merge", other, merged)
            files = sorted(os.listdir(one))
            self.assertEqual(files, sorted(os.listdir(merged)))
            _, differ, failed = filecmp.cmpfiles(one, merged, files, shallow=False)
            self.assertEqual(([], []), (differ, failed), one.name)
            run(PDL_CHECKPOINT, "diff", one, other)
        said = run(PDL_CHECKPOINT, "inspect", found[0][-1]).stdout
        self.assertRegex(said, r"table @counted: .* keys wait for rows")
        # A resumed training continues from a delta.
        for steps in (13, 29, STEPS):
            self.train_here("resumed", "--steps", steps, "--resume", *often,
                            "--checkpoint-deltas", 5)
        run(PDL_CHECKPOINT, "diff", found[0][-1], checkpoints_in(self.root / "resumed.saved")[-1])

    def test_the_command_takes_what_the_clause_takes(self):
        """The command is run at the end of a period, for a training in which no row has been
        removed yet."""
        steps = 3 * EVERY
        clause = re.sub(r"shrink\(every = \d+, unseen = 16384, decay = 0.5, least = 0.3\)",
                        f"shrink(every = {steps}, unseen = 2, decay = 0.5, least = 0.3)",
                        MODEL.replace("unseen = 3, decay = 0.75) score(show = 0.3, click = 0.2)",
                                      "unseen = 16384, decay = 0.5, least = 0.3) score(show = 0.25)")
                        ).replace("unseen = 1)", "unseen = 2)")
        never = clause.replace("unseen = 2", "unseen = 16384").replace(
            "decay = 0.5, least = 0.3", "decay = 1.0, least = -1.0")
        trainers = {}
        for name, text in (("clause", clause), ("never", never)):
            source = self.root / f"{name}.mlir"
            source.write_text(text)
            trainers[name] = programs.compile_model(source, self.root / name, "--numerics=strict")
            run(trainers[name], "train", *self.flags(name, "--steps", steps, "--checkpoint-steps",
                                                     4, "--checkpoint-deltas", 9))
        newest = {name: checkpoints_in(self.root / f"{name}.saved")[-1] for name in trainers}
        self.assertIn('"after"', (newest["never"] / "manifest.json").read_text())
        shrunk = self.root / "less.saved" / newest["never"].name
        shrunk.parent.mkdir()
        said = run(PDL_CHECKPOINT, "shrink", newest["never"], "-o", shrunk, "--unseen", 2,
                   "--score", "show=0.25", "--decay", 0.5, "--least", 0.3).stdout
        run(PDL_CHECKPOINT, "diff", shrunk, newest["clause"])
        for table in ("counted", "clicked", "scored", "shrinking"):
            left, before = map(int, re.search(
                rf"^table @{table}: (\d+) of (\d+) rows are left", said, re.MULTILINE).groups())
            self.assertLess(left, before, table)
            self.assertGreater(left, 0, table)
        for table in ("counted", "scored"):
            left, before = map(int, re.search(
                rf"@{table}: .*, (\d+) of (\d+) keys that wait$", said, re.MULTILINE).groups())
            (self.assertLess if table == "counted" else self.assertEqual)(left, before)
        self.assertRegex(said, r"(?m)^table @forever: (\d+) of \1 rows are left$")
        # The training continues as after the clause, up to the end of the next period.
        for name, trainer, saved in (("less", trainers["never"], "less"),
                                     ("clause", trainers["clause"], "clause")):
            run(trainer, "train", *self.flags(saved, "--steps", steps + EVERY - 1, "--resume"))
        self.same("less", "clause")
        # Other tools can open the result.
        run(PDL_CHECKPOINT, "export", shrunk, "-o", self.root / "exported")
        run(PDL_CHECKPOINT, "diff", self.root / "exported", shrunk)
        for flags, status, message in (
                ([], 2, "give --unseen, or --score with --least"),
                (["--least", 1], 2, "--least: is of scores; say with --score"),
                (["--decay", 0.5, "--unseen", 1], 2, "--decay: is of scores; say with --score"),
                (["--score", "show=1"], 2, "--score: changes nothing by itself; give --least"),
                (["--score", "show", "--least", 1], 2, "--score: 'show' is no weight"),
                (["--score", "show=x", "--least", 1], 2, "--score: 'show=x' is no weight"),
                (["--score", "show=inf", "--least", 1], 2, "--score: 'show=inf' is no weight"),
                (["--score", "show=1,,click=1", "--least", 1], 2, "--score: '' is no weight"),
                (["--score", "show=1,show=2", "--least", 1], 2, "--score: show is there twice"),
                (["--score", "show=1", "--decay", 0], 2, "--decay: '0' is no number above 0"),
                (["--score", "show=1", "--decay", 1.5], 2, "--decay: '1.5' is no number above 0"),
                (["--score", "show=1", "--least", "nan"], 2, "--least: 'nan' is no finite number"),
                (["--unseen", 0], 2, "--unseen"), (["--unseen", 20000], 2, "--unseen"),
                (["--score", "sale=1", "--least", 1], 1, "no table has row slots sale")):
            done = subprocess.run([PDL_CHECKPOINT, "shrink", shrunk, "-o", self.root / "new",
                                   *map(str, flags)], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.root / "new").exists())
        done = subprocess.run([PDL_CHECKPOINT, "shrink", shrunk, "-o", shrunk, "--unseen", "1"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is something of that name already", done.stderr)

    def test_rows_of_a_dump_count_as_updated_then(self):
        """A dump does not contain the lengths of periods, so no row is removed too early."""
        self.translate("local")
        plain = self.root / "plain.mlir"
        plain.write_text(re.sub(r" (admit|shrink|score)\([^)]*\)", "", MODEL))
        trainer = programs.compile_model(plain, self.root / "plain", "--numerics=strict")
        run(trainer, "train", "--data", self.data, "--seed", 7, "--batch-size", BATCH, "--dump",
            self.root / "before", "--dump-slots")
        # After 60 steps, this step ends a period.
        run(self.root / "local" / "trainer", "train", "--data", self.data, "--seed", 7,
            "--batch-size", BATCH, "--steps", 1, "--init-from", self.root / "before", "--dump",
            self.root / "after", "--dump-slots")
        before, after = (tensorfile.read(self.root / name) for name in ("before", "after"))
        for table in ("counted", "shrinking"):
            self.assertLessEqual(set(before[f"{table}.keys"].data),
                                 set(after[f"{table}.keys"].data))
            self.assertEqual(set(after[f"{table}.slot.period"].data), {STEPS // EVERY})

    def test_rows_are_evicted(self):
        self.translate("local", "sync")
        plain = self.train_here("plain")

        def keys(name):
            dump = self.root / "dump.safetensors"
            run(PDL_CHECKPOINT, "dump", checkpoints_in(self.root / f"{name}.saved")[-1],
                "--output", dump)
            return {table: set(tensors.data) for table, tensors in
                    tensorfile.read(dump).items() if table.endswith(".keys")}

        rows = keys("plain")["forever.keys"]
        bound = ["--max-table-memory", "48KiB"]
        for order in ("least-recent", "least-frequent"):
            said = self.train_here(order, *bound, "--table-eviction", order)
            self.assertGreater(int(re.search(r"^rows evicted (\d+)$", said, re.MULTILINE)[1]), 0)
            # With other limits, the result differs.
            self.assertNotEqual(re.findall(r"^test MAE.*", said, re.MULTILINE),
                                re.findall(r"^test MAE.*", plain, re.MULTILINE))
            kept = keys(order)["forever.keys"]
            self.assertLess(kept, rows)
            self.assertGreater(len(kept), len(rows) // 20)
            if order == "least-frequent":
                often = collections.Counter(
                    key for step in self.keys_of_steps(STEPS, False) for key in set(step))
                mean = [sum(often[key] for key in some) / len(some) for some in (kept, rows)]
                self.assertGreater(mean[0], mean[1])
        # Threads and a large limit do not change the result.
        self.train_here("threads", *bound, "--threads", 3)
        self.same("least-recent", "threads")
        self.train_here("large", "--max-table-memory", "1GiB")
        self.same("plain", "large")
        # Deltas record the evicted rows.
        often = ["--checkpoint-steps", 3, "--checkpoint-keep", 0]
        self.train_here("deltas", *bound, *often, "--checkpoint-deltas", 50)
        self.same("least-recent", "deltas")
        # The rows are on a server.
        with Cluster(self.root / "sync", 1, 1, self.flags("server"),
                     ["--seed", 7, *bound]) as cluster:
            cluster.start().finish()
        self.same("least-recent", "server")

    def test_what_cannot_be(self):
        self.translate("local", "sync", "hybrid")
        run(PDL_TRANSLATE, self.source, "-o", self.root / "device", "--target=cuda")
        for program, flags, status, message in (
                ("local", ["--hogwild", "--replicas", "1x2"], 2,
                 "--hogwild cannot admit keys of table @counted or shrink it"),
                ("device", ["--device", "fake", "--table-placement", "device"], 1,
                 "table @counted cannot be on a device: it admits keys or shrinks")):
            done = subprocess.run([self.root / program / "trainer", "train", "--data", self.data,
                                   *flags], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
        for program, flags, status, message in (
                ("sync", ["--max-table-memory", "1GiB", "--servers", "localhost:1"], 2,
                 "--max-table-memory is for who holds tables, which in mode sync servers do"),
                ("hybrid", ["--max-table-memory", "1GiB", "--servers", "localhost:1", "--peers",
                            "localhost:2"], 2,
                 "--max-table-memory is for who holds tables, which in mode hybrid servers do"),
                ("local", ["--max-table-memory", "1 apple"], 2, "'1 apple' is no size"),
                ("local", ["--max-table-memory", "0"], 2, "'0' is no size"),
                ("local", ["--max-table-memory", "1GiB", "--hogwild", "--replicas", "1x2"], 2,
                 "--max-table-memory is not for --hogwild"),
                ("local", ["--table-eviction", "first"], 2, "--table-eviction"),
                ("local", ["--table-eviction", "least-frequent"], 2,
                 "--table-eviction requires --max-table-memory")):
            done = subprocess.run([self.root / program / "trainer", "train", "--data", self.data,
                                   *flags], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
        self.translate("async")
        done = subprocess.run([self.root / "async" / "pserver", "--servers", "localhost:7101",
                               "--rank", "0", "--trainers", "1", "--max-table-memory", "1GiB",
                               "--log-applied", self.root / "applied.log"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--log-applied is not for servers with --max-table-memory", done.stderr)
        done = subprocess.run([PDL_TRANSLATE, self.source, "-o", self.root / "geo",
                               "--mode=geo"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not for mode geo: each trainer has rows of its own", done.stderr)

    def test_on_a_device_that_computes(self):
        """Tables stay on the host."""
        self.translate("local")
        run(PDL_TRANSLATE, self.source, "-o", self.root / "device", "--numerics=strict",
            "--target=cuda")
        self.train_here("host", "--steps", 20)
        run(self.root / "device" / "trainer", "train", *self.flags("device", "--steps", 20),
            "--device", "fake")
        self.same("host", "device")


if __name__ == "__main__":
    unittest.main()
