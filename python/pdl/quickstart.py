# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a first model: python3 -m pdlrec.quickstart [FOLDER]

Compiles Wide & Deep into FOLDER (default: pdl-quickstart), trains it on the first 80 % of the census
data "Adult", and prints the test AUC on the rest. Takes some seconds.
"""

import pathlib
import shlex
import subprocess
import sys

from pdl import installed
from pdl.compiler import find_translate


def _run(*command: str | pathlib.Path) -> None:
    words = [str(word) for word in command]
    print("$", shlex.join(words), flush=True)
    done = subprocess.run(words, check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)


def main() -> None:
    if len(sys.argv) > 2 or any(word.startswith("-") for word in sys.argv[1:]):
        asked = sys.argv[1:] in (["-h"], ["--help"])
        print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
        raise SystemExit(0 if asked else 2)
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else "pdl-quickstart")
    share = installed.share()
    _run(find_translate(), share / "models" / "wide_deep" / "wide_deep.mlir", "-o", folder)
    _run(folder.absolute() / "trainer", "train", "--data",
         share / "data" / "adult" / "adult_train.csv.gz", "--rows", "0%:80%",
         "--evaluate-rows", "80%:", "--batch-size", "256", "--epochs", "4",
         "--shuffle-window", "100000", "--dump", folder / "wide_deep.safetensors")


if __name__ == "__main__":
    main()
