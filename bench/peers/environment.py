# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An environment with the peers and nothing of ours."""

import subprocess
import sys

# PyTorch's wheel names the libraries of GPUs as what it needs; its CPU part runs without
# most of them, but looks for these when it is loaded.
PACKAGES = ["numpy", "torch", "vowpalwabbit"]


def install(folder):
    """Returns the environment's Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} into {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    probe = "import numpy, torch, vowpalwabbit"
    if subprocess.run([str(python), "-c", probe], capture_output=True).returncode:
        for package in PACKAGES:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                            package], check=True)
    return python
