#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes features of raw lines in several processes, for --data-pipe of a trainer:

    trainer train --data log-*.tsv --format jsonl --data-pipe 'words.py --processes 4'

A raw line is a label, a tab and a text. The result is a JSON object with the fields `label` and
`bag`, the words of the text. Replace `features` by your own function; it gets a line and returns the
values of the fields. Lines keep their order, so a training can resume.
"""

import argparse
import json
import multiprocessing
import sys


def features(line):
    label, _, text = line.partition("\t")
    return {"label": int(label), "bag": sorted(set(text.lower().split()))}


def convert(line):
    return json.dumps(features(line.rstrip("\n")), separators=(",", ":"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=4, metavar="N")
    arguments = parser.parse_args()
    with multiprocessing.Pool(arguments.processes) as pool:
        # An exception in `features` ends the program with a status that is not 0,
        # and the trainer stops with its message.
        for row in pool.imap(convert, sys.stdin, chunksize=256):
            print(row)


if __name__ == "__main__":
    main()
