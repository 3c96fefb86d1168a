# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of the integration tests: paths of tools, models and data, and functions that run
tools. Uses only the standard library."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from folders import SharedFolderTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PDL_BUILD", SOURCE / "build"))
PDL_OPT = BUILD / "bin" / "pdl-opt"
PDL_TRANSLATE = BUILD / "bin" / "pdl-translate"
PDL_CHECKPOINT = BUILD / "bin" / "pdl-checkpoint"
PDL_SERVE = BUILD / "bin" / "pdl-serve"
ADULT = SOURCE / "data" / "adult" / "adult_train.csv.gz"

ORACLES = SOURCE / "integration_test" / "oracles"

sys.path.insert(0, str(ORACLES))


def model(name):
    return SOURCE / "models" / name / f"{name}.mlir"


def run(*arguments, **options):
    """Runs a command that must succeed. Returns the completed process."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True,
                          text=True, **options)
    if done.returncode != 0:
        raise AssertionError(
            f"{' '.join(map(str, arguments))}\nexited with {done.returncode}:\n"
            f"{done.stdout}\n{done.stderr}")
    return done


def fails(*arguments, status=1, **options):
    """Runs a command that must fail with the status `status`; None stands for each status other
    than 0. Returns its error output."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **options)
    if done.returncode == 0 or status not in (None, done.returncode):
        raise AssertionError(
            f"{' '.join(map(str, arguments))}\nexited with {done.returncode}:\n"
            f"{done.stdout}\n{done.stderr}")
    return done.stderr


def compile_model(source, folder, *flags):
    """Compiles `source` into `folder`. Returns the path of the trainer."""
    run(PDL_TRANSLATE, source, "-o", folder, *flags)
    return pathlib.Path(folder) / "trainer"


def known_modes():
    """Returns the modes of pdl-translate, as its error message about an unknown mode lists them.
    """
    refused = subprocess.run([PDL_TRANSLATE, model("fm"), "--mode=none-such", "-o",
                              "/dev/null"], capture_output=True, text=True).stderr
    listed = re.search(r"use (.*)", refused)
    if not listed:
        raise AssertionError(f"no list of modes in: {refused}")
    return re.split(r", | or ", listed[1].strip())


def metric(text, name):
    """Returns the last value of the metric `name` (such as "test AUC") in a report."""
    values = re.findall(rf"{re.escape(name)}\s+([0-9.]+)", text)
    if not values:
        raise AssertionError(f"no '{name}' in the report:\n{text}")
    return float(values[-1])


def test_data(*parts):
    """Returns the path of a file below PDL_TEST_DATA. Skips the test if that variable is not set.
    """
    folder = os.environ.get("PDL_TEST_DATA")
    if not folder:
        raise unittest.SkipTest(
            f"PDL_TEST_DATA is not set ({'/'.join(parts)} may not be shipped)")
    return pathlib.Path(folder, *parts)


def checkpoints_in(folder):
    """Returns the complete checkpoints in a folder, the oldest first. Unfinished ones of killed
    processes are not included."""
    return sorted(pathlib.Path(folder).glob("step-" + 12 * "[0-9]"))


def is_nightly():
    """Returns true if nightly tests run. They repeat other tests with more seeds, models or
    processes (scripts/test.sh --nightly)."""
    return bool(os.environ.get("PDL_TEST_NIGHTLY"))


def nightly(test):
    """Makes a test run only at night. A smaller version of the test runs at each landing."""
    return unittest.skipUnless(is_nightly(), "runs with scripts/test.sh --nightly")(test)


def has_avx512(*more):
    """Returns true if this CPU has all features of x86-64-v4, and the features `more`."""
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    return all(f" {flag}" in flags for flag in
               ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl",
                *more))


def has_avx512_bf16():
    return has_avx512("avx512_bf16")


def is_intel():
    return "GenuineIntel" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")


def rounds_bf16():
    """Returns true if products of --compute=bf16 in numerics fast round their factors on this CPU
    (docs/Numerics.md). On other CPUs libraries compute them with f32 kernels."""
    return has_avx512("amx_bf16") or (has_avx512_bf16() and not is_intel())


class StrictCtrDnn(SharedFolderTest):
    """Tests of one trainer: models/ctr_dnn in strict numerics, which is compiled once, and a file
    of clicks that `write_data(path)` writes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trainer = compile_model(model("ctr_dnn"), cls.root / "ctr_dnn",
                                    "--numerics=strict")
        cls.clicks = cls.root / "clicks.tsv"
        cls.write_data(cls.clicks)
