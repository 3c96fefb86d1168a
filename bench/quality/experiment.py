# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common code of the experiments of this folder: places of data and programs, training with three
seeds, input and output of tensors, and reports. Needs only the standard library, except for `table`
and `write_tensors`, which need NumPy."""

import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
sys.path.insert(0, str(SOURCE / "python"))


def arguments(description):
    """Parses the common command line. `data` is the folder of data sets."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("PDL_TEST_DATA"),
                        help="folder of data sets (default: PDL_TEST_DATA)")
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build",
                        help="build folder with bin/pdl-translate (default: build)")
    given = parser.parse_args()
    if given.data is None:
        parser.error("where the data is, say --data or PDL_TEST_DATA")
    os.environ["PDL_TRANSLATE"] = str(given.build / "bin" / "pdl-translate")
    return given


def train(folder, seed, *flags, threads=1):
    """Returns the metrics of all tests of one run, by epoch: a list of {name: value}."""
    command = [folder / "trainer", "train", "--seed", seed, "--threads", threads, *flags]
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr[-2000:]}")
    epochs = []
    for line in (run.stdout + run.stderr).splitlines():
        if " epoch " in line and "train loss" in line:
            epochs.append({name: float(value) for name, value in
                           re.findall(r"test ([\w@ ]+) ([-\d.e]+)", line)})
    return epochs


def table(path, symbol):
    """Returns the keys of a table in a dump, and its rows, as NumPy arrays."""
    import numpy
    data = path.read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])

    def tensor(name, kind):
        begin, end = header[name]["data_offsets"]
        return numpy.frombuffer(data[8 + size + begin:8 + size + end], kind).reshape(
            header[name]["shape"])

    return tensor(f"{symbol}.keys", numpy.int64), tensor(f"{symbol}.values", numpy.float32)


def write_tensors(path, arrays):
    """Writes {name: NumPy array} as a safetensors file that --data can read."""
    kinds = {"float32": "F32", "int32": "I32", "int64": "I64"}
    header, size = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": kinds[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [size, size + array.nbytes]}
        size += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.tobytes())


def best(epochs, name, *, least):
    """Returns the number of the epoch, from 1, with the best value of a metric."""
    values = [epoch[name] for epoch in epochs]
    return values.index(min(values) if least else max(values)) + 1


def report(what, runs):
    """Prints a line for each metric: the values of all seeds and their mean."""
    for name in runs[0]:
        values = [run[name] for run in runs]
        print(f"{what}: {name} {', '.join(f'{value:.4f}' for value in values)}, "
              f"mean {sum(values) / len(values):.4f}", flush=True)
