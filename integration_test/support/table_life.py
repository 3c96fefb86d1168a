# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables that admit keys and shrink: a model, its data, and an independent computation of the keys
that tables must have."""

import array
import collections
import math
import random

import exactness
import tensorfile
from cluster import Cluster
from programs import BUILD, PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, run
from tensorfile import Tensor

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
    """Returns the state of a table after `steps`. Each step is a list of its keys. For each key
    with a row, the result has the period of its last update and the number of times that it was
    shown. For each waiting key, it has the number of occurrences. With `score`, the score of an
    occurrence and the score that a row requires, it has scores in units of 1/16384 of the latter
    instead."""
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


class KeyedTables(exactness.ExactnessTest):
    """Trains `MODEL` on STEPS batches of keys. Some keys occur in every step."""

    MODEL = None

    def setUp(self):
        super().setUp()
        self.source = self.root / "model.mlir"
        self.source.write_text(self.MODEL)
        # Most keys occur in a few consecutive steps, and some in all steps.
        draw = random.Random(3)
        ids, more, splits = [], [], [0]
        for row in range(BATCH * STEPS):
            base = row // (7 * BATCH) * 60
            ids += [base + int(draw.paretovariate(0.7)) % KEYS if draw.random() < 0.8 else
                    draw.randrange(KEYS) for _ in range(3)]
            more += [base + draw.randrange(40) for _ in range(draw.randrange(4))]
            splits.append(len(more))
        self.ids, self.more, self.splits = ids, more, splits
        self.data = self.root / "data.safetensors"
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
            run(PDL_TRANSLATE, self.source, "-o", self.root / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else
                                    ("--min-block-elements=64", "--target-block-bytes=256")))

    def flags(self, name, *more):
        return ["--data", self.data, "--seed", 7, "--batch-size", BATCH, "--checkpoint",
                self.root / f"{name}.saved", *more]

    def train_here(self, name, *more):
        return run(self.root / "local" / "trainer", "train", *self.flags(name, *more)).stdout

    def same(self, one, two):
        run(PDL_CHECKPOINT, "diff", self.root / f"{one}.saved", self.root / f"{two}.saved")

    def check_launched(self, *topologies):
        """Compares jobs of two trainers with the checkpoint `one` of one process. Each topology is
        a mode and a number of servers."""
        for mode, servers in topologies:
            with self.subTest(mode=mode, servers=servers):
                name = f"{mode}{servers}"
                run(BUILD / "bin" / "pdl-launch", "--trainers", 2,
                    *(("--servers", servers) if servers else ()), self.root / mode, "--", "train",
                    *self.flags(name, "--steps", STEPS // 2, "--replicas", "1x1"),
                    *(("--", "--seed", 7) if servers else ()))
                self.same("one", name)

    def check_one_sender(self):
        """Compares jobs of one trainer, in modes without rounds, with one process."""
        self.translate("local", "half-async", "async")
        self.train_here("alone", "--steps", STEPS)
        for mode in ("async", "half-async"):
            with self.subTest(mode=mode):
                with Cluster(self.root / mode, 1, 2, self.flags(mode, "--steps", STEPS),
                             ["--seed", 7]) as cluster:
                    cluster.start().finish()
                self.same("alone", mode)

    def check_stops_with_servers(self, *stops):
        """Compares a job of mode sync with one process. The job stops after some steps, and
        resumes with another number of servers."""
        self.train_here("whole2", "--steps", STEPS // 2, "--replicas", "2x1")
        for steps, servers in stops:
            with Cluster(self.root / "sync", 2, servers,
                         self.flags("parts2", "--steps", steps, "--replicas", "1x1", "--resume"),
                         ["--seed", 7, "--checkpoint", self.root / "parts2.saved",
                          "--resume"]) as cluster:
                cluster.start().finish()
        self.same("whole2", "parts2")


class TableLifeTest(KeyedTables):
    """Trains tables that admit keys and shrink."""

    MODEL = MODEL

    def flags(self, name, *more):
        return [*super().flags(name), "--evaluate-data", self.data, *more]

    def check_counts(self, name, samples=BATCH, steps=STEPS):
        """Checks that a checkpoint has the expected keys, and the counts of the waiting keys."""
        folder = checkpoints_in(self.root / f"{name}.saved")[-1]
        self.assertFalse('"after"' in (folder / "manifest.json").read_text())
        dump = self.root / "counted.safetensors"
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
