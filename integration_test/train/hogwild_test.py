# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workers that share the state of one process without waiting for each other (--hogwild). The
tests run compiled trainers as processes."""

import pathlib
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from made_up_clicks import write_clicks
from programs import StrictCtrDnn, compile_model, fails, metric, model, run

import tensorfile


class Hogwild(StrictCtrDnn):

    @staticmethod
    def write_data(path):
        write_clicks(path, 12000)

    def train(self, name, *flags):
        """Trains. Returns the report and the dump."""
        dump = self.root / f"{name}.safetensors"
        report = run(self.trainer, "train", "--data", self.clicks,
                     "--batch-size", 100, "--seed", 4, "--dump", dump, *flags)
        return report.stdout, dump

    def test_one_worker_is_the_usual_training(self):
        _, alone = self.train("alone", "--dump-slots")
        _, hogwild = self.train("hogwild", "--dump-slots", "--hogwild")
        self.assertTrue(alone.read_bytes() == hogwild.read_bytes())

    def test_workers_learn_and_lose_no_key(self):
        for workers, threads in ((2, 2), (5, 3)):
            replicas = ("--epochs", 2, "--replicas", f"1x{workers}",
                        "--threads", threads)
            rounds, alone = self.train(f"rounds{workers}", *replicas)
            shared, dump = self.train(f"workers{workers}", *replicas,
                                      "--hogwild")
            # There are more updates with the same data, and some of them do not see each other.
            self.assertGreater(metric(shared, "train AUC"),
                               metric(rounds, "train AUC") - 0.02)
            want, got = tensorfile.read(alone), tensorfile.read(dump)
            tables = [name for name in want if name.endswith(".keys")]
            self.assertTrue(tables)
            for name in tables:
                self.assertEqual(sorted(got[name].data),
                                 sorted(want[name].data), name)

    def test_goes_on_from_its_checkpoint(self):
        saved = self.root / "saved"
        flags = ("--hogwild", "--replicas", "1x2", "--threads", 2,
                 "--checkpoint", saved)
        self.train("first", *flags, "--steps", 20)
        report, _ = self.train("second", *flags, "--resume", "--epochs", 1)
        # In rounds of two batches, 40 of the 60 steps are left.
        self.assertRegex(report, r"(?s)60 steps|steps +60|40 steps")

    def test_refusals_say_what_to_do(self):
        self.assertRegex(
            fails(self.trainer, "train", "--data", self.clicks, "--hogwild",
                  "--replicas", "2x1", status=2), "give --replicas 1xN for N workers")
        text = Path(model("ctr_dnn")).read_text().replace(
            "untouched(lazy)", "untouched(dense)")
        source = self.root / "dense.mlir"
        source.write_text(text)
        dense = compile_model(source, self.root / "dense")
        self.assertRegex(
            fails(dense, "train", "--data", self.clicks, "--hogwild", status=2),
            r"cannot update all rows of table @\w+ in each step, as group "
            r"@sparse says; .*untouched\(lazy\)")
        servers = compile_model(model("ctr_dnn"), self.root / "sync",
                                "--mode=sync")
        self.assertRegex(fails(servers, "train", "--data", self.clicks,
                               "--hogwild", status=2), "--hogwild")


if __name__ == "__main__":
    unittest.main()
