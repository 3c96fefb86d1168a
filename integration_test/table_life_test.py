# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables that admit keys and shrink: which keys have rows is counted again here; the same
bits in the interpreter, in one process, through servers, across checkpoints and deltas."""

import array
import collections
import filecmp
import math
import os
import random
import re
import subprocess
import unittest

import exactness
import programs
import tensorfile
from cluster import Cluster
from programs import PDL_OPT, PDL_TRANSLATE, checkpoints_in, run
from tensorfile import Tensor

PDL_CHECKPOINT = programs.BUILD / "bin" / "pdl-checkpoint"
BATCH, STEPS, KEYS = 16, 60, 400
ADMIT, EVERY, UNSEEN = 4, 5, 2

MODEL = f"""module @life {{
  nn.record @r {{
    nn.field @id : tensor<?x3xi64>
    nn.field @more : !nn.ragged<?x1x*xi64>
    nn.field @label : tensor<?x1xf32>
  }}
  nn.metric @error : #nn.mae
  nn.clip @joint : global_norm(0.5)
  nn.group @rows rule(@rowwise_adagrad) rate(0.25) untouched(lazy)
  nn.group @clicks rule(@click_adagrad) rate(0.0625) untouched(lazy)
  nn.group @clipped rule(@adam) rate(0.0625) clip(@joint) untouched(lazy)
  nn.group @all rule(@adam) rate(0.0625) decay(#nn.l2<0.0078125>) untouched(dense)
  nn.table @counted : i64 -> tensor<5xf32> in @rows init(#nn.normal<0.0, 0.5>) admit(count = {ADMIT}) shrink(every = {EVERY}, unseen = {UNSEEN})
  nn.table @clicked : i64 -> tensor<3xf32> in @clicks init(#nn.uniform<-1.0, 1.0>) unknown(zero) admit(count = 2) shrink(every = {EVERY}, unseen = 16384, decay = 0.5, least = 0.3) score(show = 0.25)
  nn.table @scored : i64 -> tensor<3xf32> in @clicks init(#nn.uniform<-1.0, 1.0>) admit(score = 1.2) shrink(every = {EVERY}, unseen = 3, decay = 0.75) score(show = 0.3, click = 0.2)
  nn.table @drawn : i64 -> tensor<2xf32> in @clipped init(#nn.uniform<-1.0, 1.0>) admit(probability = 0.375)
  nn.table @few : i64 -> tensor<2xf32> in @clipped init(#nn.uniform<-1.0, 1.0>) admit(count = 3)
  nn.table @shrinking : i64 -> tensor<9xf32> in @all init(#nn.uniform<-1.0, 1.0>) stored(bf16) shrink(every = {EVERY}, unseen = 1)
  nn.table @forever : i64 -> tensor<2xf32> in @rows init(#nn.uniform<-1.0, 1.0>)

  nn.func private @z(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32> {{
    %a = nn.lookup @counted[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x5xf32>
    %b = nn.lookup @clicked[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x3xf32>
    %i = nn.lookup @scored[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x3xf32>
    %c = nn.lookup @drawn[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x2xf32>
    %d = nn.lookup @few[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x2xf32>
    %e = nn.lookup @shrinking[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x9xf32>
    %f = nn.lookup @forever[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x2xf32>
    %all = nn.concat %a, %b, %i, %c, %d, %e, %f axis 2
      : tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x3x3xf32>, tensor<?x3x2xf32>, tensor<?x3x2xf32>, tensor<?x3x9xf32>, tensor<?x3x2xf32>
    %t = nn.tanh %all : tensor<?x3x26xf32>
    %s = nn.reduce sum %t axes [1, 2] : tensor<?x3x26xf32>
    %z = nn.reshape %s : (tensor<?xf32>) -> tensor<?x1xf32>
    %g = nn.lookup @counted[%more] pool(mean) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x5xf32>
    %h = nn.flatten %g from 1 : tensor<?x1x5xf32>
    %u = nn.reduce sum %h axes [1] keep : tensor<?x5xf32>
    %v = nn.add %z, %u : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %v : tensor<?x1xf32>
  }}
  nn.program @train reads(@r) {{
  ^bb0(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id, %more) : (tensor<?x3xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %label : tensor<?x1xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @clicked[%id] show(%ones) click(%label) : tensor<?x3xi64>, tensor<?x1xf32>
    %half = nn.constant dense<0.5> : tensor<f32>
    %halves = nn.broadcast %half like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @scored[%id] show(%ones) click(%halves) : tensor<?x3xi64>, tensor<?x1xf32>
    nn.minimize %l over [@rows, @clicks, @clipped, @all] : tensor<?x1xf32>
  }}
  nn.program @evaluate frozen reads(@r) {{
  ^bb0(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id, %more) : (tensor<?x3xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    nn.observe @error(%z, %label) : tensor<?x1xf32>, tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@r) {{
  ^bb0(%id: tensor<?x3xi64>, %more: !nn.ragged<?x1x*xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id, %more) : (tensor<?x3xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }}
}}
"""


def life_of(steps, admit, every, unseen, decay=1.0, weight=0.0, least=0.0, score=None):
    """What a table has behind steps, each a list of the keys that occur in it: of keys with
    rows the period of the last update and how often they were shown, of those that wait
    how often they occurred; with `score`, of an occurrence and of a row, its 16384ths."""
    rows, waiting = {}, {}
    for number, step in enumerate(steps, 1):
        period = (number - 1) // every
        for key, occurrences in collections.Counter(step).items():
            count = waiting.get(key, (0, 0))[0] + (
                math.ceil(score[0] * occurrences / score[1] * 16384) if score else occurrences)
            if key in rows or count >= admit:
                waiting.pop(key, None)
                rows[key] = period, rows.get(key, (0, 0.0))[1] + occurrences
            else:
                waiting[key] = count, period
        if number % every == 0:
            last = number // every - 1
            rows = {key: (at, shown * decay) for key, (at, shown) in rows.items()
                    if last - at < unseen and shown * decay * weight >= least}
            if score:
                waiting = {key: (math.floor(note[0] * decay), note[1])
                           for key, note in waiting.items()}
            waiting = {key: note for key, note in waiting.items()
                       if last - note[1] < unseen and note[0] > 0}
    return rows, {key: note[0] for key, note in waiting.items()}


class TableLife(exactness.ExactnessTest):

    def setUp(self):
        super().setUp()
        self.source = self.path / "model.mlir"
        self.source.write_text(MODEL)
        # Keys of a few steps, with some that come all the time.
        draw = random.Random(3)
        ids, more, splits = [], [], [0]
        for row in range(BATCH * STEPS):
            base = row // (7 * BATCH) * 60
            ids += [base + int(draw.paretovariate(0.7)) % KEYS if draw.random() < 0.8 else
                    draw.randrange(KEYS) for _ in range(3)]
            more += [base + draw.randrange(40) for _ in range(draw.randrange(4))]
            splits.append(len(more))
        self.ids, self.more, self.splits = ids, more, splits
        self.data = self.path / "data.safetensors"
        count = BATCH * STEPS
        tensorfile.write(self.data, {
            "id": Tensor("I64", [count, 3], array.array("q", ids)),
            "more.values": Tensor("I64", [len(more)], array.array("q", more)),
            "more.splits": Tensor("I64", [count + 1], array.array("q", splits)),
            "label": Tensor("F32", [count, 1], array.array(
                "f", (draw.gauss(0, 1) for _ in range(count))))})

    def keys_of_steps(self, steps, both, samples=BATCH):
        for step in range(steps):
            first, end = step * samples, (step + 1) * samples
            keys = self.ids[3 * first:3 * end]
            yield keys + (self.more[self.splits[first]:self.splits[end]] if both else [])

    def translate(self, *modes):
        for mode in modes:
            run(PDL_TRANSLATE, self.source, "-o", self.path / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else
                                    ("--min-block-elements=64", "--target-block-bytes=256")))

    def flags(self, name, *more):
        return ["--data", self.data, "--evaluate-data", self.data, "--seed", 7, "--batch-size",
                BATCH, "--checkpoint", self.path / f"{name}.saved", *more]

    def train_here(self, name, *more):
        return run(self.path / "local" / "trainer", "train", *self.flags(name, *more)).stdout

    def same(self, one, two):
        run(PDL_CHECKPOINT, "diff", self.path / f"{one}.saved", self.path / f"{two}.saved")

    def check_counts(self, name, samples=BATCH, steps=STEPS):
        """That a checkpoint has the keys that it must, and the notes of those that wait."""
        folder = checkpoints_in(self.path / f"{name}.saved")[-1]
        self.assertFalse('"after"' in (folder / "manifest.json").read_text())
        dump = self.path / "counted.safetensors"
        run(PDL_CHECKPOINT, "dump", folder, "--output", dump)
        held = tensorfile.read(dump)
        for number, (table, both, admit, every, *more) in enumerate((
                ("counted", True, ADMIT, EVERY, UNSEEN),
                ("clicked", False, 2, EVERY, 16384, 0.5, 0.25, 0.3),
                ("scored", False, 16384, EVERY, 3, 0.75, 0.0, 0.0, (0.3 + 0.2 * 0.5, 1.2)),
                ("drawn", False, 1, 10 ** 9, 1), ("few", False, 3, 10 ** 9, 1),
                ("shrinking", False, 1, EVERY, 1), ("forever", False, 1, 10 ** 9, 1))):
            rows, waiting = life_of(self.keys_of_steps(steps, both, samples), admit, every, *more)
            keys = list(held[f"{table}.keys"].data)
            if table == "drawn":
                self.assertLess(set(keys), set(rows))
                self.assertAlmostEqual(len(keys) / len(rows), 0.375, delta=0.1)
                self.drawn = keys
                continue
            self.assertEqual(keys, sorted(rows), table)
            if every < 10 ** 9:
                self.assertEqual(list(held[f"{table}.slot.period"].data),
                                 [rows[key][0] for key in keys])
                self.assertLess(len(keys), len(set(self.ids)), table)
            if table in ("clicked", "scored"):
                self.assertEqual(list(held[f"{table}.slot.show"].data),
                                 [rows[key][1] for key in keys])
            if table == "scored":
                self.assertEqual(list(held["scored.slot.click"].data),
                                 [rows[key][1] / 2 for key in keys])
            found = {}
            for part in folder.glob(f"table-{number}-*.safetensors"):
                tensors = tensorfile.read(part)
                if "waiting.keys" in tensors:
                    found.update(zip(tensors["waiting.keys"].data,
                                     (note & 0x3fff for note in tensors["waiting.notes"].data)))
            self.assertEqual(found, waiting, table)
            self.assertEqual(bool(waiting), admit > 1, table)

    def test_rows_are_those_that_counting_says(self):
        self.translate("local")
        for name, flags in (("plain", []), ("threads", ["--threads", 3])):
            self.train_here(name, "--steps", STEPS, *flags)
            self.check_counts(name)
        self.same("plain", "threads")
        # Another seed draws other keys.
        drawn = self.drawn
        run(self.path / "local" / "trainer", "train", "--data", self.data, "--seed", 8,
            "--batch-size", BATCH, "--checkpoint", self.path / "other.saved")
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
            source = self.path / f"{name}.mlir"
            source.write_text(text)
            trainer = programs.compile_model(source, self.path / name, "--numerics=strict")
            saved[name], _ = self.train(trainer, name, self.data, "--batch-size", BATCH)
        a, b = (tensorfile.read(path) for path in saved.values())
        for name, tensor in b.items():
            if not name.endswith("slot.period"):
                self.assertEqual(exactness.bits(tensor), exactness.bits(a[name]), name)

    def test_servers_change_no_bit(self):
        self.translate("local", "sync", "collective", "hybrid")
        self.train_here("one", "--steps", STEPS // 2, "--replicas", "2x1")
        self.check_counts("one", samples=2 * BATCH, steps=STEPS // 2)
        for mode, servers in (("sync", 1), ("sync", 3), ("hybrid", 2), ("collective", 0)):
            with self.subTest(mode=mode, servers=servers):
                name = f"{mode}{servers}"
                run(programs.BUILD / "bin" / "pdl-launch", "--trainers", 2,
                    *(("--servers", servers) if servers else ()), self.path / mode, "--", "train",
                    *self.flags(name, "--steps", STEPS // 2, "--replicas", "1x1"),
                    *(("--", "--seed", 7) if servers else ()))
                self.same("one", name)
        # One sender: its steps are all there is. Norms that senders form are of all keys.
        self.source.write_text(MODEL.replace("clip(@joint) ", ""))
        self.translate("local", "half-async", "async")
        self.train_here("alone", "--steps", STEPS)
        for mode in ("async", "half-async"):
            with self.subTest(mode=mode):
                with Cluster(self.path / mode, 1, 2, self.flags(mode, "--steps", STEPS),
                             ["--seed", 7]) as cluster:
                    cluster.start().finish()
                self.same("alone", mode)

    def test_stops_change_no_bit(self):
        self.translate("local", "sync")
        self.train_here("whole", "--steps", STEPS)
        for steps in (13, 14, 30, STEPS):
            self.train_here("parts", "--steps", steps, "--resume")
        self.same("whole", "parts")
        # With servers, and other ones behind the stop.
        self.train_here("whole2", "--steps", STEPS // 2, "--replicas", "2x1")
        for steps, servers in ((11, 3), (STEPS // 2, 2)):
            with Cluster(self.path / "sync", 2, servers,
                         self.flags("parts2", "--steps", steps, "--replicas", "1x1", "--resume"),
                         ["--seed", 7, "--checkpoint", self.path / "parts2.saved",
                          "--resume"]) as cluster:
                cluster.start().finish()
        self.same("whole2", "parts2")

    def test_deltas_are_the_whole(self):
        self.translate("local")
        often = ["--checkpoint-steps", 3, "--checkpoint-keep", 0]
        self.train_here("base", "--steps", STEPS, *often)
        self.train_here("deltas", "--steps", STEPS, *often, "--checkpoint-deltas", 5)
        found = [checkpoints_in(self.path / f"{name}.saved") for name in ("base", "deltas")]
        self.assertEqual(len(found[0]), STEPS // 3)
        for one, other in zip(*found):
            merged = self.path / "merged" / one.name
            merged.parent.mkdir(exist_ok=True)
            run(PDL_CHECKPOINT, "merge", other, merged)
            files = sorted(os.listdir(one))
            self.assertEqual(files, sorted(os.listdir(merged)))
            _, differ, failed = filecmp.cmpfiles(one, merged, files, shallow=False)
            self.assertEqual(([], []), (differ, failed), one.name)
            run(PDL_CHECKPOINT, "diff", one, other)
        said = run(PDL_CHECKPOINT, "inspect", found[0][-1]).stdout
        self.assertRegex(said, r"table @counted: .* keys wait for rows")
        # A resume from a delta goes on from there.
        for steps in (13, 29, STEPS):
            self.train_here("resumed", "--steps", steps, "--resume", *often,
                            "--checkpoint-deltas", 5)
        run(PDL_CHECKPOINT, "diff", found[0][-1], checkpoints_in(self.path / "resumed.saved")[-1])

    def test_the_command_takes_what_the_clause_takes(self):
        """At the end of a period, of a training in which no row has gone yet."""
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
            source = self.path / f"{name}.mlir"
            source.write_text(text)
            trainers[name] = programs.compile_model(source, self.path / name, "--numerics=strict")
            run(trainers[name], "train", *self.flags(name, "--steps", steps, "--checkpoint-steps",
                                                     4, "--checkpoint-deltas", 9))
        newest = {name: checkpoints_in(self.path / f"{name}.saved")[-1] for name in trainers}
        self.assertIn('"after"', (newest["never"] / "manifest.json").read_text())
        shrunk = self.path / "less.saved" / newest["never"].name
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
        # It goes on as what the clause left, up to the next end of a period.
        for name, trainer, saved in (("less", trainers["never"], "less"),
                                     ("clause", trainers["clause"], "clause")):
            run(trainer, "train", *self.flags(saved, "--steps", steps + EVERY - 1, "--resume"))
        self.same("less", "clause")
        # What serves opens it.
        run(PDL_CHECKPOINT, "export", shrunk, "-o", self.path / "exported")
        run(PDL_CHECKPOINT, "diff", self.path / "exported", shrunk)
        for flags, status, sentence in (
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
            done = subprocess.run([PDL_CHECKPOINT, "shrink", shrunk, "-o", self.path / "new",
                                   *map(str, flags)], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(sentence, done.stderr)
            self.assertFalse((self.path / "new").exists())
        done = subprocess.run([PDL_CHECKPOINT, "shrink", shrunk, "-o", shrunk, "--unseen", "1"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is something of that name already", done.stderr)

    def test_rows_of_a_dump_count_as_updated_then(self):
        """A dump does not say how long periods were: no row goes early."""
        self.translate("local")
        plain = self.path / "plain.mlir"
        plain.write_text(re.sub(r" (admit|shrink|score)\([^)]*\)", "", MODEL))
        trainer = programs.compile_model(plain, self.path / "plain", "--numerics=strict")
        run(trainer, "train", "--data", self.data, "--seed", 7, "--batch-size", BATCH, "--dump",
            self.path / "before", "--dump-slots")
        # 60 steps: these end a period.
        run(self.path / "local" / "trainer", "train", "--data", self.data, "--seed", 7,
            "--batch-size", BATCH, "--steps", 1, "--init-from", self.path / "before", "--dump",
            self.path / "after", "--dump-slots")
        before, after = (tensorfile.read(self.path / name) for name in ("before", "after"))
        for table in ("counted", "shrinking"):
            self.assertLessEqual(set(before[f"{table}.keys"].data),
                                 set(after[f"{table}.keys"].data))
            self.assertEqual(set(after[f"{table}.slot.period"].data), {STEPS // EVERY})

    def test_rows_are_evicted(self):
        self.translate("local", "sync")
        plain = self.train_here("plain")

        def keys(name):
            dump = self.path / "dump.safetensors"
            run(PDL_CHECKPOINT, "dump", checkpoints_in(self.path / f"{name}.saved")[-1],
                "--output", dump)
            return {table: set(tensors.data) for table, tensors in
                    tensorfile.read(dump).items() if table.endswith(".keys")}

        rows = keys("plain")["forever.keys"]
        bound = ["--max-table-memory", "48KiB"]
        for order in ("least-recent", "least-frequent"):
            said = self.train_here(order, *bound, "--table-eviction", order)
            self.assertGreater(int(re.search(r"^rows evicted (\d+)$", said, re.MULTILINE)[1]), 0)
            # Other bounds, another result.
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
        # Threads and a large bound change nothing.
        self.train_here("threads", *bound, "--threads", 3)
        self.same("least-recent", "threads")
        self.train_here("large", "--max-table-memory", "1GiB")
        self.same("plain", "large")
        # Deltas know who went.
        often = ["--checkpoint-steps", 3, "--checkpoint-keep", 0]
        self.train_here("deltas", *bound, *often, "--checkpoint-deltas", 50)
        self.same("least-recent", "deltas")
        # A server has the rows.
        with Cluster(self.path / "sync", 1, 1, self.flags("server"),
                     ["--seed", 7, *bound]) as cluster:
            cluster.start().finish()
        self.same("least-recent", "server")

    def test_what_cannot_be(self):
        self.translate("local", "sync", "hybrid")
        run(PDL_TRANSLATE, self.source, "-o", self.path / "device", "--target=cuda")
        for program, flags, sentence in (
                ("local", ["--hogwild", "--replicas", "1x2"],
                 "--hogwild cannot admit keys of table @counted or shrink it"),
                ("device", ["--device", "fake", "--table-placement", "device"],
                 "table @counted cannot be on a device: it admits keys or shrinks")):
            done = subprocess.run([self.path / program / "trainer", "train", "--data", self.data,
                                   *flags], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(sentence, done.stderr)
        for program, flags, status, sentence in (
                ("sync", ["--max-table-memory", "1GiB", "--servers", "localhost:1"], 1,
                 "--max-table-memory is for who holds tables, which in mode sync servers do"),
                ("hybrid", ["--max-table-memory", "1GiB", "--servers", "localhost:1", "--peers",
                            "localhost:2"], 1,
                 "--max-table-memory is for who holds tables, which in mode hybrid servers do"),
                ("local", ["--max-table-memory", "1 apple"], 2, "'1 apple' is no size"),
                ("local", ["--max-table-memory", "0"], 2, "'0' is no size"),
                ("local", ["--max-table-memory", "1GiB", "--hogwild", "--replicas", "1x2"], 1,
                 "--max-table-memory is not for --hogwild"),
                ("local", ["--table-eviction", "first"], 2, "--table-eviction"),
                ("local", ["--table-eviction", "least-frequent"], 2,
                 "--table-eviction requires --max-table-memory")):
            done = subprocess.run([self.path / program / "trainer", "train", "--data", self.data,
                                   *flags], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(sentence, done.stderr)
        self.translate("async")
        done = subprocess.run([self.path / "async" / "pserver", "--servers", "localhost:7101",
                               "--rank", "0", "--trainers", "1", "--max-table-memory", "1GiB",
                               "--log-applied", self.path / "applied.log"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--log-applied is not for servers with --max-table-memory", done.stderr)
        done = subprocess.run([PDL_TRANSLATE, self.source, "-o", self.path / "geo",
                               "--mode=geo"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not for mode geo: each trainer has rows of its own", done.stderr)

    def test_on_a_device_that_computes(self):
        """Tables stay on the host."""
        self.translate("local")
        run(PDL_TRANSLATE, self.source, "-o", self.path / "device", "--numerics=strict",
            "--target=cuda")
        self.train_here("host", "--steps", 20)
        run(self.path / "device" / "trainer", "train", *self.flags("device", "--steps", 20),
            "--device", "fake")
        self.same("host", "device")


if __name__ == "__main__":
    unittest.main()
