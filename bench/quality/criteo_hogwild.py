# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the AUC, on other rows, of models/ctr_dnn on 10,000 rows of Criteo with one worker, with
two that wait for each other in rounds, and with two that do not (--hogwild)."""

import pathlib
import statistics
import sys
import tempfile

import experiment
import pdl

SEEDS = (1, 2, 3, 4, 5)
EPOCHS = 3
VARIANTS = {"one worker": (), "rounds of two": ("--replicas", "1x2"),
            "hogwild": ("--replicas", "1x2", "--hogwild")}


def main():
    given = experiment.arguments(__doc__)
    data = given.data / "criteo" / "kaggle_head10k.tsv.gz"
    sys.path.insert(0, str(experiment.SOURCE / "models" / "ctr_dnn"))
    import ctr_dnn
    with tempfile.TemporaryDirectory() as folder:
        program = pdl.compile(ctr_dnn.model, pathlib.Path(folder))
        runs = {name: [experiment.train(program, seed, "--data", data, "--rows", "0:8000",
                                        "--evaluate-rows", "8000:", "--batch-size", 256,
                                        "--shuffle-window", 8000, "--epochs", EPOCHS, *flags,
                                        threads=2)
                       for seed in SEEDS] for name, flags in VARIANTS.items()}
    for epoch in range(EPOCHS):
        for name, of in runs.items():
            auc = [run[epoch]["AUC"] for run in of]
            print(f"epoch {epoch + 1}: AUC, {name:14} " + ", ".join(f"{v:.4f}" for v in auc) +
                  f", mean {statistics.mean(auc):.4f}", flush=True)


if __name__ == "__main__":
    main()
