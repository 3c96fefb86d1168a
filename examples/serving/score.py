#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scores lines of the standard input with models/ctr_dnn, as score.c does, in one batch.
Prints a prediction a line.

    pdl-translate models/ctr_dnn/ctr_dnn.mlir --emit=library -o out
    PYTHONPATH=python python3 score.py out/libctr_dnn.so checkpoints < clicks.tsv

With NumPy the numbers are an array that the library reads where it is; without it an
array.array does as well.
"""

import array
import sys

from pdl import serving

try:
    import numpy
except ImportError:
    numpy = None


def numbers_of(lines):
    values = [float(cell or 0) for line in lines for cell in line[1:14]]
    return array.array("f", values) if numpy is None else numpy.array(values, numpy.float32)


def main():
    library, checkpoint = sys.argv[1:]
    lines = [line.rstrip("\r\n").split("\t") for line in sys.stdin]
    with serving.Library(library).open(checkpoint) as model:
        scores = model.run("predict", {
            "numbers": numbers_of(lines),
            # A bag of one text each; the library hashes it.
            "categories": [[text] for line in lines for text in line[14:40]]})
    for score in scores["output0"]:
        print(f"{score:.9g}")


if __name__ == "__main__":
    main()
