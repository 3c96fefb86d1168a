# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles two models that differ in their number of ops, and fails where the
larger one costs more than that number explains.

usage: compile_cost.py SMALL LARGE OPS FOLDER
"""

import os
import resource
import subprocess
import sys

# Bytes of object code that one op of the model may add: two calls of kernels.
BYTES_OF_OP = 200
# CPU seconds for the large model, several times of what it takes.
SECONDS = 8


def compile_model(source, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Without an object cache: what compiling costs is measured here.
    subprocess.run(["pdl-translate", source, "-o", folder, "--emit=obj",
                    "--target-cpu=x86-64-v3"],
                   check=True, env={**os.environ, "PDL_OBJECT_CACHE": ""})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = (after.ru_utime + after.ru_stime - before.ru_utime -
               before.ru_stime)
    return seconds, os.path.getsize(os.path.join(folder, "model.o"))


def main(small, large, ops, folder):
    _, small_bytes = compile_model(small, folder + "/small")
    seconds, large_bytes = compile_model(large, folder + "/large")
    added = (large_bytes - small_bytes) / int(ops)
    print(f"{added:.0f} bytes an op, {seconds:.1f} s")
    if added > BYTES_OF_OP:
        sys.exit(f"an op adds more than {BYTES_OF_OP} bytes: are equal loops "
                 "one kernel?")
    if seconds > SECONDS:
        sys.exit(f"{large} took more than {SECONDS} s of CPU time")


if __name__ == "__main__":
    main(*sys.argv[1:])
