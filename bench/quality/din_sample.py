#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models/din with PyTorch on the 100 rows that PaddleRec ships with its own model.

The first 80 rows are for training, one batch per epoch in the order of the file; the last 20 are
the test. Both programs start from the same values, which `integration_test/oracles/reference.py`
draws with three seeds, and compute in 32 bits. The AUC is exact and not computed from buckets. 20
rows with ten clicks say nothing about the quality of DIN, but show any difference between the
programs. Needs PyTorch and NumPy.
"""

import gzip
import pathlib
import subprocess
import sys
import tempfile

import experiment

EPOCHS = 100
CUT = 80
sys.path.insert(0, str(experiment.SOURCE / "integration_test" / "oracles"))


def write_rows(source, path):
    """Writes the columns of scripts/make_histories.py. Those that DIN does not read are 0."""
    with gzip.open(source, "rt") as lines, open(path, "w") as out:
        for line in lines:
            items, categories, item, category, label = line.strip().split(";")
            out.write("\t".join([label, item, category, items, categories, *"0000"]) + "\n")


def log_loss(probabilities, labels):
    import numpy
    return float(-numpy.log(numpy.where(labels > 0.5, probabilities, 1 - probabilities)).mean())


def peer(dataset, start, seed):
    """Returns PyTorch's predictions for all rows; writes the values from which it has started."""
    import numpy
    import reference
    import torch
    torch.set_num_threads(1)
    model = reference.MODELS["din"]()
    trainer = reference.Trainer(model, dataset.keys(), seed, torch.float32)
    reference.write_start(start, trainer)
    for _ in range(EPOCHS):
        reference.train_epoch(trainer, dataset, numpy.arange(CUT), model.batch_size)
    probabilities, _, _ = trainer.predict(*dataset.range(0, dataset.size))["AUC"]
    return probabilities[:, 0]


def ours(program, folder, rows, start):
    """Returns the same of our program."""
    import numpy
    end, scores = folder / "end.safetensors", folder / "scores.tsv"
    experiment.train(program, 0, "--data", rows, "--rows", f"0:{CUT}", "--batch-size", CUT,
                     "--epochs", EPOCHS, "--init-from", start, "--dump", end)
    subprocess.run([program / "trainer", "predict", "--data", rows, "--init-from", end,
                    "--output", scores], check=True, capture_output=True)
    return numpy.loadtxt(scores, skiprows=1)


def main():
    given = experiment.arguments(__doc__)
    import reference
    runs = {"PyTorch": [], "PDL": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows, start = folder / "rows.tsv", folder / "start.safetensors"
        write_rows(given.data / "paddlerec_samples" / "din_sample.txt.gz", rows)
        dataset = reference.Dataset(reference.MODELS["din"](), reference.read_data(
            reference.MODELS["din"](), rows))
        labels = dataset.rows["label"][:, 0]
        subprocess.run([given.build / "bin" / "pdl-translate",
                        experiment.SOURCE / "models" / "din" / "din.mlir",
                        "-o", folder / "program"], check=True)
        for seed in experiment.SEEDS:
            for who, clicks in (("PyTorch", peer(dataset, start, seed)),
                                ("PDL", ours(folder / "program", folder, rows, start))):
                runs[who].append({
                    "AUC": reference.area_under_curve(clicks[CUT:], labels[CUT:]),
                    "log loss": log_loss(clicks[CUT:], labels[CUT:]),
                    "log loss of training": log_loss(clicks[:CUT], labels[:CUT])})
    for who, found in runs.items():
        experiment.report(who, found)


if __name__ == "__main__":
    main()
