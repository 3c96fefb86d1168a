#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how fast Parquet and Arrow files become batches, next to pyarrow, which only decodes the
same columns. One thread; values in a second of CPU time; the two alternate.

Usage: parquet_reading.py [--rows N] [--build FOLDER] [--rounds N]
Needs a build with Arrow (docs/Data.md) and pyarrow of the same version, for instance in PYTHONPATH.
"""

import argparse
import pathlib
import random
import subprocess
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def columns(name, width, make):
    return {f"{name}.{i}" if width > 1 else name: make(i) for i in range(width)}


def files(folder, rows):
    """Writes the files. Yields title, path, kind, name, width and number of values."""
    draw = random.Random(1)
    bytes_of = random.Random(2).randbytes
    noise = lambda kind, size: pa.Array.from_buffers(
        kind, rows, [None, pa.py_buffer(bytes_of(rows * size))])
    # Random bytes in the fraction; the exponent makes them numbers between 1 and 2.
    floats = lambda i: pa.array([1 + draw.random() for _ in range(rows)], pa.float32())
    ranks = [min(int(draw.paretovariate(0.4)), 50000) for _ in range(rows)]
    texts = pa.array([f"{rank * 2654435761 % 2**32:08x}" for rank in ranks])
    ints = pa.array(ranks, pa.int64())
    bag = pa.ListArray.from_arrays(pa.array(range(0, rows + 1, 5), pa.int32()), texts[:rows - rows % 5])
    plans = [
        ("random float32, zstd", "numbers", "n", 13, floats, {}),
        ("random int64 ids, zstd", "ids", "i", 26, lambda i: noise(pa.int64(), 8),
         {"use_dictionary": False}),
        ("int64 ids, dictionary, zstd", "ids", "i", 26, lambda i: ints, {}),
        ("int64 ids, dictionary, hashed", "hashed", "i", 26, lambda i: ints, {}),
        ("strings, dictionary, hashed", "hashed", "t", 26, lambda i: texts, {}),
        ("strings, plain, hashed", "hashed", "t", 26, lambda i: texts, {"use_dictionary": False}),
        ("lists of strings, dictionary", "bags", "b", 1, lambda i: bag, {}),
    ]
    for number, (title, kind, name, width, make, options) in enumerate(plans):
        table = pa.table(columns(name, width, make))
        path = folder / f"{number}.parquet"
        pq.write_table(table, path, compression="zstd", row_group_size=250_000, **options)
        yield title, path, kind, name, width, width * rows


def read_with_pyarrow(path):
    begin = time.process_time()
    for _ in pq.ParquetFile(path, pre_buffer=False).iter_batches(8192, use_threads=False):
        pass
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    print(f"{'M values/s':34} {'PDL':>8} {'pyarrow, decodes only':>22}")
    with tempfile.TemporaryDirectory() as folder:
        for title, path, kind, name, width, values in files(pathlib.Path(folder), flags.rows):
            ours, theirs = 0, 0
            for _ in range(flags.rounds):
                done = subprocess.run([flags.build / "bin" / "pdl-bench-columns", path, kind, name,
                                       str(width)], check=True, capture_output=True, text=True)
                ours = max(ours, float(done.stdout))
                theirs = max(theirs, values / read_with_pyarrow(path))
            print(f"{title:34} {ours / 1e6:8.1f} {theirs / 1e6:22.1f}", flush=True)


if __name__ == "__main__":
    main()
