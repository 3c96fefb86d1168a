# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command, and fails where it takes more CPU time than it may.

usage: cpu_seconds.py MOST COMMAND ...
"""

import resource
import subprocess
import sys


def main(most, *command):
    subprocess.run(command, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(f"{seconds:.1f} s")
    if seconds > float(most):
        sys.exit(f"{command[0]} took more than {most} s of CPU time")


if __name__ == "__main__":
    main(*sys.argv[1:])
