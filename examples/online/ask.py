#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks pdl-serve for predictions of lines of the standard input, which are laid out as
models/ctr_dnn wants them. Prints a prediction a line.

    ask.py HOST:PORT MODEL < clicks.tsv
    ask.py HOST:PORT MODEL --moves 3 < clicks.tsv

With --moves N it asks again and again, prints the first prediction whenever it is another one,
and ends when it has changed N times. Requests that fail are asked again.
"""

import argparse
import http.client
import json
import sys
import time

LINES = 256


def request_of(lines):
    return json.dumps({"inputs": [
        {"name": "numbers", "datatype": "FP32", "shape": [len(lines), 13],
         "data": [float(cell or 0) for line in lines for cell in line[1:14]]},
        {"name": "categories", "datatype": "BYTES", "shape": [len(lines), 26],
         "data": [cell for line in lines for cell in line[14:40]]}]})


def ask(connection, model, lines):
    connection.request("POST", f"/v2/models/{model}/infer", request_of(lines))
    answer = connection.getresponse()
    # Numbers stay texts: the shortest ones that are read as the same number.
    content = json.loads(answer.read(), parse_float=str, parse_int=str)
    if answer.status != 200:
        raise OSError(content["error"])
    [output] = content["outputs"]
    return output["data"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server", metavar="HOST:PORT")
    parser.add_argument("model")
    parser.add_argument("--moves", type=int, metavar="N")
    parser.add_argument("--within", type=float, default=60, metavar="SECONDS",
                        help="fail where the predictions have not moved so often until then")
    flags = parser.parse_args()
    lines = [line.rstrip("\r\n").split("\t") for line in sys.stdin]
    connection = http.client.HTTPConnection(flags.server, timeout=60)
    if flags.moves is None:
        for begin in range(0, len(lines), LINES):
            print("\n".join(ask(connection, flags.model, lines[begin:begin + LINES])))
        return
    end = time.monotonic() + flags.within
    seen, failure = [], ""
    while len(seen) <= flags.moves:
        if time.monotonic() > end:
            sys.exit(f"ask.py: {len(seen)} predictions differed within {flags.within} s{failure}")
        try:
            first = ask(connection, flags.model, lines[:1])[0]
            if seen[-1:] != [first]:
                seen.append(first)
                print(first, flush=True)
        except (OSError, http.client.HTTPException) as error:
            # It may have no checkpoint yet, or be starting again.
            failure = f"; the last failure: {error}"
            connection.close()
        time.sleep(0.05)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"ask.py: {error}")
