# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Creates an environment with the peers and without PDL."""

import subprocess
import sys

# In the order of installation: the packages for pip, and whether their dependencies are installed.
# PyTorch's wheel depends on the libraries of GPUs. Its CPU part does not need them, except for four
# that it looks for when it is loaded.
PACKAGES = (
    (True, "numpy", "xxhash", "filelock", "typing-extensions", "sympy", "networkx", "jinja2",
     "fsspec"),
    (False, "torch", "nvidia-cufile", "nvidia-cusparselt-cu13", "nvidia-nvshmem-cu13",
     "nvidia-nccl-cu13"),
    (True, "vowpalwabbit", "gensim"),
)
# Packages that a row can do without, if pip has none for this version of Python or this machine.
OPTIONAL = ("tensorflow-cpu",)
PROBE = "import numpy, xxhash, torch, vowpalwabbit, gensim"


def install(folder):
    """Installs the packages. Returns the environment's Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing the peers into {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    if subprocess.run([str(python), "-c", PROBE], capture_output=True).returncode:
        for dependencies, *packages in PACKAGES:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                            *([] if dependencies else ["--no-deps"]), *packages], check=True)
        for package in OPTIONAL:
            if subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                               package]).returncode:
                print(f"{package} cannot be installed: it is left out", flush=True)
    return python
