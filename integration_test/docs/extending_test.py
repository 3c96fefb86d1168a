# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Extending.md: its optimizer gives the same results as the same arithmetic in Python, its
changes can be applied to the sources, and its metric compiles and counts correctly."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import FolderTest
from programs import SOURCE, compile_model, run

PAGE = SOURCE / "docs" / "Extending.md"


def blocks(kind):
    """Returns the pair (rest of the first line, text) of each block of a kind."""
    return re.findall(rf"^```{kind}( [^\n]*)?\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)


def apply(change, text):
    """Applies a change without line numbers to a text. Returns None if it cannot be applied."""
    lines = change.splitlines()
    before = "\n".join(line[1:] for line in lines if line[:1] != "+") + "\n"
    after = "\n".join(line[1:] for line in lines if line[:1] != "-") + "\n"
    return text.replace(before, after) if text.count(before) == 1 else None


class Extending(FolderTest):

    def test_optimizer(self):
        """Compares the optimizer with the same rule in Python's doubles."""
        (_, model), = blocks("mlir")
        (self.root / "model.mlir").write_text(model)
        trainer = compile_model(self.root / "model.mlir", self.root / "out")
        samples = [(1.0, 0.5, -1.0), (-2.0, 1.5, 0.25), (0.5, -0.75, 1.0)]
        data = self.root / "data.csv"
        data.write_text("".join(",".join(map(str, sample)) + "\n" for sample in samples))
        losses = self.root / "losses"
        run(trainer, "train", "--data", data, "--batch-size", 3, "--steps", 30, "--log-losses",
            losses)
        w, mean, expected = [0.0, 0.0], [0.0, 0.0], []
        for step in range(1, 31):
            errors = [w[0] * x0 + w[1] * x1 - label for label, x0, x1 in samples]
            expected.append(sum(error * error for error in errors) / 3)
            pace = 0.01 / (1 + step / 50)
            for i in range(2):
                gradient = sum(2 * error * sample[1 + i]
                               for error, sample in zip(errors, samples)) / 3
                mean[i] = gradient + 0.9 * (mean[i] - gradient)
                w[i] -= pace if mean[i] > 0 else -pace
        for found, right in zip(map(float, losses.read_text().split()), expected, strict=True):
            self.assertAlmostEqual(found, right, delta=1e-5 * right)

    def test_changes_fit(self):
        changes = blocks("diff")
        self.assertGreaterEqual(len(changes), 4)
        for path, change in changes:
            text = (SOURCE / path.strip()).read_text()
            self.assertIsNotNone(apply(change, text),
                                 f"{path}: the lines before the change are not there, or "
                                 f"several times:\n{change}")

    def test_metric(self):
        """The metric is tested in a program of its own, and added to the list of metrics."""
        compiler = next(filter(None, map(shutil.which, ("clang++-22", "clang++", "g++"))), None)
        if compiler is None:
            self.skipTest("there is no C++ compiler")
        include = self.root / "include"
        shutil.copytree(SOURCE / "include" / "pdlabi", include / "pdlabi")
        (_, header), = blocks("cpp")
        (include / "pdlabi/metrics/MeanRelativeError.h").write_text(header)
        for path, change in blocks("diff"):
            if "pdlabi" in path:
                file = self.root / path.strip()
                file.write_text(apply(change, file.read_text()))
        metric = include / "pdlabi" / "abi" / "metric.h"
        kinds = re.search(r"(typedef enum pdl_metric_kind \{.*?)\n\}", metric.read_text(), re.S)
        metric.write_text(metric.read_text().replace(
            kinds[1], kinds[1] + ",\n  PDL_METRIC_RELATIVE_ERROR = 99"))
        (self.root / "main.cpp").write_text("""
#include "pdlabi/metrics.h"
#include <cstdio>
using namespace pdlabi;
int main() {
  double sums[2] = {0, 0};
  MeanRelativeError::observe(0, 1.5, 1.0, 1.0, sums);
  MeanRelativeError::observe(0, 1.0, 4.0, 3.0, sums);
  MeanRelativeError::observe(0, 1.0, 0.0, 1.0, sums);
  bool known = isMetric(PDL_METRIC_RELATIVE_ERROR, 0);
  std::printf("%d %.4f", known, MeanRelativeError::value(0, sums));
}
""")
        subprocess.run([compiler, "-std=c++20", "-DXXH_INLINE_ALL", f"-I{include}", "-o",
                        self.root / "main", self.root / "main.cpp"], check=True)
        found = subprocess.run([self.root / "main"], check=True, capture_output=True, text=True)
        self.assertEqual(found.stdout, "1 0.6875")


if __name__ == "__main__":
    unittest.main()
