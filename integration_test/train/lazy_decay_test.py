# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The effect of regularizers on rows that occur in some batches, as docs/Optimizers.md describes
it. By `decay`, a row is reduced in each step that updates it; by a penalty in the loss, for each
sample that contains it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import pdl
from programs import compile_model

import tensorfile

RATE, STRENGTH, SAMPLES = 0.25, 0.125, 16
RARE, HALF, ALL = 1, 2, 3


def compiled(folder, batch, untouched, in_loss):
    """Returns a trainer whose loss has no other gradient than that of the penalty."""
    model = pdl.Model("rows")
    record = model.record("r")
    record.floats("y", 1)
    record.ids("i", 3)
    decay = () if in_loss else pdl.decay.l2(STRENGTH)
    group = model.group("g", rule="sgd", rate=RATE * batch, untouched=untouched, decay=decay)
    items = model.table("t", 1, init=pdl.init.constant(1.0), group=group)

    @model.program
    def train(y, i):
        rows = pdl.lookup(items, i, "sum")
        loss = y * pdl.reshape(pdl.reduce("sum", rows, axes=[1, 2]), (None, 1))
        if in_loss:
            penalty = 0.5 * STRENGTH * pdl.reduce("sum", rows * rows, axes=[1, 2])
            loss = loss + pdl.reshape(penalty, (None, 1))
        pdl.minimize(loss, [group])
    source = folder / "model.mlir"
    source.write_text(str(model))
    return compile_model(source, folder / "out", "--numerics=strict")


class LazyDecay(unittest.TestCase):

    def trained(self, batch, untouched="lazy", in_loss=False):
        """Returns the rows after an epoch. All rows start with the value 1."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            trainer = compiled(folder, batch, untouched, in_loss)
            data, dump = folder / "data.csv", folder / "dump.safetensors"
            # In samples in which a row does not occur, other rows occur instead.
            data.write_text("".join(
                f"0,{RARE if n == 0 else 100 + n},{200 + n if n % 2 else HALF},{ALL}\n"
                for n in range(SAMPLES)))
            subprocess.run([trainer, "train", "--data", data, "--batch-size", str(batch),
                            "--shuffle-window", "0", "--replicas", "1x1", "--dump", dump],
                           check=True, capture_output=True)
            file = tensorfile.read(dump)
            rows = dict(zip(file["t.keys"].data, file["t.values"].data))
            return [rows[key] for key in (RARE, HALF, ALL)]

    def near(self, found, expected):
        for one, other in zip(found, expected, strict=True):
            self.assertAlmostEqual(one, other, places=6)

    def test_decay_counts_steps(self):
        for batch in (1, 4, 16):
            pull = 1 - RATE * batch * STRENGTH
            steps = SAMPLES // batch
            touched = [1, SAMPLES // 2 if batch == 1 else steps, steps]
            self.near(self.trained(batch), [pull ** count for count in touched])
            # All rows are reduced in every step.
            self.near(self.trained(batch, "dense"), [pull ** steps] * 3)

    def test_penalties_count_samples(self):
        for batch in (1, 4, 16):
            found = self.trained(batch, in_loss=True)
            steps = SAMPLES // batch
            self.near(found, [1 - RATE * STRENGTH,
                              (1 - RATE * STRENGTH * max(batch // 2, 1)) **
                              (SAMPLES // 2 if batch == 1 else steps),
                              (1 - RATE * STRENGTH * batch) ** steps])


if __name__ == "__main__":
    unittest.main()
