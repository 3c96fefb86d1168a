# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model whose evaluation shows which rows its table has. An evaluation that sees the rows of a
later step, which the trainer has prepared, has another result."""

import array
import random
import re
import sys

from folders import SharedFolderTest
from programs import ORACLES, compile_model

sys.path.insert(0, str(ORACLES))

import tensorfile
from tensorfile import Tensor

BATCH, STEPS, EVERY, TEST_ROWS, KEYS = 8, 30, 10, 64, 400
# The steps are one epoch for four replicas, and a part of one for fewer.
ROWS = BATCH * STEPS * 4
TEST = ("--evaluate-rows", f"{ROWS}:{ROWS + TEST_ROWS}")

# A new row has positive values and an unknown key has zeros, so @seen is larger if more keys have rows.
MODEL = """
module @evaluated {
  nn.record @r {
    nn.field @x : tensor<?x3xf32>
    nn.field @id : tensor<?x2xi64>
    nn.field @label : tensor<?x1xf32>
  }
  nn.group @g rule(@adagrad) rate(0.05) untouched(lazy)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.constant<0.125>) unknown(zero)
  nn.param @w : tensor<3x1xf32> in @g init(#nn.xavier)
  nn.metric @error : #nn.rmse
  nn.metric @seen : #nn.mean
  nn.func private @score(%x: tensor<?x3xf32>, %id: tensor<?x2xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x4xf32>
    %f = nn.flatten %e from 1 : tensor<?x2x4xf32>
    %s = nn.reduce sum %f axes [1] keep : tensor<?x8xf32>
    %z = nn.linear %x, @w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %y = nn.add %z, %s : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %y, %s : tensor<?x1xf32>, tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x3xf32>, %id: tensor<?x2xi64>, %label: tensor<?x1xf32>):
    %y, %s = nn.call @score(%x, %id) : (tensor<?x3xf32>, tensor<?x2xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %l = nn.squared_error %y, %label : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r) {
  ^bb0(%x: tensor<?x3xf32>, %id: tensor<?x2xi64>, %label: tensor<?x1xf32>):
    %y, %s = nn.call @score(%x, %id) : (tensor<?x3xf32>, tensor<?x2xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    nn.observe @error(%y, %label) : tensor<?x1xf32>
    nn.observe @seen(%s) : tensor<?x1xf32>
  }
}
"""


def training(steps=STEPS):
    """Returns the flags of a training that ends after `steps` steps."""
    return ("--rows", f"0:{ROWS}", "--batch-size", BATCH, "--steps", steps, "--seed", 3)


def write_data(path):
    """Writes the rows of the training and of the evaluation."""
    draw = random.Random(7)
    count = ROWS + TEST_ROWS
    x = [draw.gauss(0, 1) for _ in range(count * 3)]
    ids = [draw.randrange(KEYS) for _ in range(count * 2)]
    labels = [x[3 * i] - x[3 * i + 1] + (ids[2 * i] % 3) + draw.gauss(0, 0.1)
              for i in range(count)]
    tensorfile.write(path, {
        "x": Tensor("F32", [count, 3], array.array("f", x)),
        "id": Tensor("I64", [count, 2], array.array("q", ids)),
        "label": Tensor("F32", [count, 1], array.array("f", labels))})


def evaluations(log):
    """Returns the figures of the evaluations within epochs, by the number of steps."""
    return {int(steps): tuple(re.sub(r"; best: .*", "", figures).split(", ")) for steps, figures in
            re.findall(r"evaluated after (\d+) steps: (.*)$", log, re.M)}


def test_lines(report):
    """Returns the figures of the test in a report."""
    return tuple(re.findall(r"^test .* \(@.*\)$", report, re.M))


class EvaluatedModelTest(SharedFolderTest):
    """Tests of one trainer with the model, and its data."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "model.mlir"
        source.write_text(MODEL)
        cls.trainer = compile_model(source, cls.root / "program", "--numerics=strict")
        cls.data = cls.root / "data.safetensors"
        write_data(cls.data)
