# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of PyPI that tests use as peers of PDL. They are installed into the build folder, in the
versions that test_packages.txt pins. The interpreter's own packages stay as they are."""

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
FOLDER = BUILD / "test_packages" / PYTHON
# The folder of the modules. Programs in bin/ have the path of the folder that pip wrote to.
MODULES = FOLDER / "lib" / PYTHON / "site-packages"


def install():
    """Creates a virtual environment with the packages, unless it is there. On failure, an
    environment with other versions stays. Tests that run concurrently wait for each other."""
    stamp = FOLDER / REQUIREMENTS.name
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with open(FOLDER.parent / f"{PYTHON}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_bytes() == REQUIREMENTS.read_bytes():
            return
        new = FOLDER.with_name(f"{PYTHON}.new")
        venv.create(new, clear=True, with_pip=True)
        subprocess.run([new / "bin" / "pip", "install", "--quiet", "--no-compile",
                        "--disable-pip-version-check", "-r", REQUIREMENTS],
                       check=True, timeout=600)
        shutil.copyfile(REQUIREMENTS, new / stamp.name)
        if FOLDER.exists():
            shutil.rmtree(FOLDER)
        new.rename(FOLDER)


def require(*modules):
    """Makes modules of the packages importable. If they cannot be installed, for example because
    PyPI cannot be reached, uses those of other versions, and skips the test if there are none."""
    failure = None
    try:
        install()
    except (OSError, subprocess.SubprocessError) as error:
        failure = error
    sys.path.insert(0, str(MODULES))
    importlib.invalidate_caches()
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if failure and missing:
        raise unittest.SkipTest(
            f"{', '.join(missing)} cannot be installed ({failure}); "
            "the test needs python3-venv and access to PyPI") from failure
