#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures a serving library of CTR-DNN with each type of weights, on one thread.

    python3 bench/weights.py [--build FOLDER] [--rounds N] [BATCH ...]

The types are f32, bf16 (--compute=bf16) and int8 (weights="int8"). The model is models/ctr_dnn,
trained on some synthetic rows. Inputs are ready keys, so that no texts are hashed. The libraries
take turns, so that other load affects all of them. Prints the median CPU time of a call in
microseconds, and its ratio to f32, for each size of a batch.
"""

import argparse
import array
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "python"))
sys.path.insert(0, str(SOURCE / "integration_test" / "support"))

from model_data import model_data
from pdl import serving

LIBRARIES = {"f32": ([], "compiled"), "bf16": (["--compute=bf16"], "compiled"),
             "int8": ([], "int8")}
SLOTS, NUMBERS = 26, 13


def open_models(given, folder):
    """Returns the model of each type of weights, with the same values."""
    source = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
    translate = given.build / "bin" / "pdl-translate"

    def run(*command):
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    run(translate, source, "-o", folder / "out")
    run(folder / "out" / "trainer", "train", "--data", model_data("ctr_dnn", folder, 4000),
        "--dump", folder / "values.safetensors")
    models = {}
    for name, (flags, weights) in LIBRARIES.items():
        run(translate, source, "--emit=library", *flags, "-o", folder / name)
        library = serving.Library(folder / name / "libctr_dnn.so")
        models[name] = library.open(folder / "values.safetensors", weights=weights)
    return models


def inputs_of(batch):
    """Returns the inputs of a batch, with random keys."""
    keys = array.array("Q", (random.getrandbits(63) for _ in range(batch * SLOTS)))
    return {"numbers": array.array("f", (random.random() for _ in range(batch * NUMBERS))),
            "categories": (keys, array.array("i", range(batch * SLOTS + 1)))}


def microseconds(model, inputs, calls):
    """Returns the CPU time of a call."""
    before = time.process_time()
    for _ in range(calls):
        model.run("predict", inputs)
    return (time.process_time() - before) / calls * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("batches", nargs="*", type=int, default=[1, 8, 64, 512], metavar="BATCH")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        models = open_models(given, pathlib.Path(name))
        for batch in given.batches:
            inputs, times = inputs_of(batch), {name: [] for name in models}
            for _ in range(given.rounds):
                for name, model in models.items():
                    times[name].append(microseconds(model, inputs, max(5, 2000 // batch)))
            ratios = {name: statistics.median(a / b for a, b in zip(all_, times["f32"]))
                      for name, all_ in times.items()}
            print(f"batch {batch}: " + ", ".join(
                f"{name} {statistics.median(all_):,.0f} us ({ratios[name]:.2f})"
                for name, all_ in times.items()), flush=True)


if __name__ == "__main__":
    main()
