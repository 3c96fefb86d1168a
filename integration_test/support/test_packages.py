# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of PyPI that tests use as peers of PDL. They are installed into the build folder, in the
versions that a file pins: test_packages.txt, or a file of its own for large packages of nightly
tests. The interpreter's own packages stay as they are."""

import fcntl
import importlib
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import unittest
import venv

from programs import BUILD

REQUIREMENTS = pathlib.Path(__file__).with_suffix(".txt")
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
TENSORBOARD = REQUIREMENTS.with_name("tensorboard_packages.txt")


def install(requirements, folder):
    """Creates a virtual environment with the packages, unless it is there. On failure, an
    environment with other versions stays. Tests that run concurrently wait for each other."""
    stamp = folder / requirements.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{PYTHON}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_bytes() == requirements.read_bytes():
            return
        new = folder.with_name(f"{PYTHON}.new")
        venv.create(new, clear=True, with_pip=True)
        subprocess.run([new / "bin" / "pip", "install", "--quiet", "--no-compile",
                        "--disable-pip-version-check", "-r", requirements],
                       check=True, timeout=600)
        shutil.copyfile(requirements, new / stamp.name)
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)


def require(*modules, requirements=REQUIREMENTS):
    """Makes modules of the packages importable. If they cannot be installed, for example because
    PyPI cannot be reached, uses those of other versions, and skips the test if there are none."""
    failure = None
    folder = BUILD / requirements.stem / PYTHON
    try:
        install(requirements, folder)
    except (OSError, subprocess.SubprocessError) as error:
        failure = error
    # Programs in bin/ have the path of the folder that pip wrote to, so only modules are used.
    sys.path.insert(0, str(folder / "lib" / PYTHON / "site-packages"))
    importlib.invalidate_caches()
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if failure and missing:
        raise unittest.SkipTest(
            f"{', '.join(missing)} cannot be installed ({failure}); "
            "the test needs python3-venv and access to PyPI") from failure
