# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bit-for-bit comparison of compiled programs with the reference interpreter."""

import programs  # Puts the oracles' folder on the path of modules.
import tensorfile
from folders import FolderTest
from programs import PDL_OPT, compile_model, run


def bits(tensor):
    """Returns the type, the shape and the elements of a tensor in a form that compares bits. All
    NaNs are equal."""
    data = tensor.data
    if data.typecode in "fd":
        data = [("nan" if x != x else x.hex()) for x in data]
    else:
        data = list(data)
    return tensor.type, tensor.shape, data


class ExactnessTest(FolderTest):
    """Test with a folder of its own, and functions that compare programs."""

    def assert_equal_files(self, first, second):
        a, b = tensorfile.read(first), tensorfile.read(second)
        self.assertEqual(sorted(a), sorted(b))
        for name in a:
            self.assertEqual(bits(a[name])[:2], bits(b[name])[:2], name)
            left, right = bits(a[name])[2], bits(b[name])[2]
            wrong = [i for i, (x, y) in enumerate(zip(left, right)) if x != y]
            self.assertFalse(
                wrong, f"{name}: {len(wrong)} of {len(left)} elements differ, "
                       f"the first at {wrong[:1]}: "
                       f"{[(left[i], right[i]) for i in wrong[:1]]}")

    def train(self, trainer, name, data, *flags):
        """Trains with seed 7. Returns the path of the dump and the text of the losses."""
        run(trainer, "train", "--data", data, "--seed", 7, "--dump",
            self.root / f"{name}.safetensors", "--dump-slots", "--log-losses",
            self.root / f"{name}.losses", *flags)
        return (self.root / f"{name}.safetensors",
                (self.root / f"{name}.losses").read_text())

    def interpret(self, source, phase, options, compute="f32"):
        run(PDL_OPT, source,
            f"--pdl-pipeline=to={phase} numerics=strict compute={compute}",
            f"--nn-interpret={options}", "-o", "/dev/null")

    def compile_strict(self, source):
        return compile_model(source, self.root / "program",
                             "--numerics=strict")

    def check_program(self, source, trainer, data, batch_size, steps,
                      init=None, predicts=True):
        """Compares the results of `trainer`, which was compiled from `source`, with those of the
        interpreter in the phases `gradient` and `fused`: a training of `steps` batches, and the
        predictions after it. If `init` is given, predictions use the values of that file."""
        start = [] if init is None else ["--init-from", init]
        compiled, losses = self.train(trainer, "compiled", data, *start,
                                      "--batch-size", batch_size, "--steps",
                                      steps)
        state = compiled if init is None else init
        outputs = None
        if predicts:
            outputs = run(trainer, "predict", "--data", data, "--init-from",
                          state, "--batch-size", batch_size, "--seed",
                          7).stdout
        shared = f"data={data} batch-size={batch_size} seed=7"
        start = "" if init is None else f"init={init}"
        for phase in ("gradient", "fused"):
            dump, lines = self.root / "dump", self.root / "lines"
            self.interpret(source, phase, f"program=train {shared} {start} "
                           f"steps={steps} dump={dump} dump-slots=true "
                           f"losses={lines}")
            self.assertEqual(losses, lines.read_text(), phase)
            self.assert_equal_files(compiled, dump)
            if predicts:
                self.interpret(source, phase, f"program=predict {shared} "
                               f"init={state} outputs={lines}")
                self.assertEqual(outputs, lines.read_text(), phase)
