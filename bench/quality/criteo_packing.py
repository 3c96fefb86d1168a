#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the effect of `--pack-gradients` on AUC and on the bytes that a trainer sends. Trains
models/ctr_dnn on the first 10,000 rows of Criteo's Kaggle data, in mode sync with one trainer and
one server: on 8,000 rows, tested on the next 2,000 after each of three epochs.

Five seeds determine initial values and the shuffling. Each is trained with unpacked gradients, in
bf16 and in int8. No setting was selected on the results. Also prints the bytes of keys with
--pack-keys delta.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import experiment

SEEDS = (1, 2, 3, 4, 5)
EPOCHS = 3
VARIANTS = {"none": (), "bf16": ("--pack-gradients", "bf16"),
            "int8": ("--pack-gradients", "int8")}


def train(folder, data, seed, packing, keys="none"):
    """Returns the AUC of each test, and the bytes that the trainer has sent."""
    address = f"unix:{folder}/socket"
    server = subprocess.Popen(
        [folder / "pserver", "--rank", "0", "--servers", address, "--seed", str(seed),
         "--threads", "1", *packing], stderr=subprocess.PIPE, text=True)
    run = subprocess.run(
        [str(word) for word in
         (folder / "trainer", "train", "--servers", address, "--seed", seed, "--threads", 1,
          "--data", data, "--rows", "0:8000", "--evaluate-rows", "8000:", "--batch-size", 256,
          "--shuffle-window", 8000, "--epochs", EPOCHS, "--pack-keys", keys, *packing)],
        capture_output=True, text=True)
    errors = server.communicate(timeout=60)[1]
    if run.returncode or server.returncode:
        sys.exit(run.stderr[-2000:] + errors[-2000:])
    text = run.stdout + run.stderr
    tests = [float(value) for line in text.splitlines() if " epoch " in line
             for value in re.findall(r"test AUC ([\d.]+)", line)]
    return tests, sum(int(count) for count in re.findall(r"(\d+) bytes sent", text))


def main():
    given = experiment.arguments(__doc__)
    data = given.data / "criteo" / "kaggle_head10k.tsv.gz"
    with tempfile.TemporaryDirectory(prefix="pdl") as name:
        folder = pathlib.Path(name)
        subprocess.run([given.build / "bin" / "pdl-translate",
                        experiment.SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir",
                        "--mode=sync", "-o", folder], check=True)
        runs = {name: [train(folder, data, seed, packing) for seed in SEEDS]
                for name, packing in VARIANTS.items()}
        keys = train(folder, data, SEEDS[0], (), "delta")
    for epoch in range(EPOCHS):
        auc = {name: [tests[epoch] for tests, _ in of] for name, of in runs.items()}
        for name, values in auc.items():
            text = f"epoch {epoch + 1}: AUC, {name:5} " + ", ".join(f"{v:.4f}" for v in values)
            text += f", mean {statistics.mean(values):.4f}"
            if name != "none":
                apart = [a - b for a, b in zip(values, auc["none"])]
                error = statistics.stdev(apart) / len(apart) ** 0.5
                text += f"; less none {statistics.mean(apart):+.4f} (standard error {error:.4f})"
            print(text, flush=True)
    for name, of in runs.items():
        print(f"{name}: {of[0][1]} bytes sent")
    print(f"keys as deltas: {keys[1]} bytes sent; the same AUC: {keys[0] == runs['none'][0][0]}")


if __name__ == "__main__":
    main()
