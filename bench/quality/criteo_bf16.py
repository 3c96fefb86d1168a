#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the effect of `--compute=bf16`, bf16x3 and bf16x6 on AUC: models/ctr_dnn on the first
10,000 rows of Criteo's Kaggle data, trained on 8,000, tested on the next 2,000 after each of three
epochs.

Five seeds determine initial values and the shuffling. Each is trained in f32, bf16, bf16x3 and
bf16x6 and, to show the effect of another rounding alone, in f32 with numerics strict. No setting
was selected on the results. On a CPU without AVX512-BF16 the products are emulated, in the order of
numerics strict.
"""

import pathlib
import statistics
import sys
import tempfile

import experiment
import pdl

SEEDS = (1, 2, 3, 4, 5)
EPOCHS = 3


def main():
    given = experiment.arguments(__doc__)
    data = given.data / "criteo" / "kaggle_head10k.tsv.gz"
    with open("/proc/cpuinfo") as file:
        emulate = () if " avx512_bf16" in file.read() else ("--emulate-bf16",)
    sys.path.insert(0, str(experiment.SOURCE / "models" / "ctr_dnn"))
    import ctr_dnn
    variants = {"f32": {}, "bf16": {"compute": "bf16"}, "bf16x3": {"compute": "bf16x3"},
                "bf16x6": {"compute": "bf16x6"}, "f32 strict": {"numerics": "strict"}}
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in variants.items():
            program = pdl.compile(ctr_dnn.model, pathlib.Path(folder, name), **settings)
            more = emulate if name == "bf16" else ()
            runs[name] = [experiment.train(program, seed, "--data", data, "--rows", "0:8000",
                                           "--evaluate-rows", "8000:", "--batch-size", 256,
                                           "--shuffle-window", 8000, "--epochs", EPOCHS, *more)
                          for seed in SEEDS]
    for epoch in range(EPOCHS):
        auc = {name: [run[epoch]["AUC"] for run in of] for name, of in runs.items()}
        for name, values in auc.items():
            text = f"epoch {epoch + 1}: AUC, {name:10} " + ", ".join(f"{v:.4f}" for v in values)
            text += f", mean {statistics.mean(values):.4f}"
            if name != "f32":
                apart = [a - b for a, b in zip(values, auc["f32"])]
                error = statistics.stdev(apart) / len(apart) ** 0.5
                text += f"; less f32 {statistics.mean(apart):+.4f} (standard error {error:.4f})"
            print(text, flush=True)


if __name__ == "__main__":
    main()
