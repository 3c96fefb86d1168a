# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of models, and predictions of compiled trainers and libraries."""

import pathlib
import re
import shutil
import subprocess
import warnings

from check_serving import tensors
from check_serving.columns import Column
from check_serving.failure import PERMANENT, RETRY, Failure
from pdl import serving

# The check reports unknown ids in its own message.
warnings.filterwarnings("ignore", category=serving.UnknownIdsWarning)


def run(*command):
    """Runs a command that must succeed. Returns its output."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except OSError as error:
        raise Failure(f"{command[0]} cannot be started: {error.strerror}; name a program that "
                      "can") from error
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip() or "nothing"
        raise Failure(f"{command[0]} ended with status {done.returncode} and said: {said}",
                      RETRY if done.returncode == RETRY else PERMANENT)
    return done.stdout


def find_tool(options, name):
    folder = options.tools or options.beside
    if (folder / name).is_file():
        return folder / name
    found = None if options.tools else shutil.which(name)
    if not found:
        where = folder if options.tools else f"{folder} and PATH"
        raise Failure(f"there is no {name} in {where}; say with --tools where it is")
    return pathlib.Path(found)


def compile_model(options, folder):
    """Returns trainers and libraries of the model, fused and not fused."""
    translate = find_tool(options, "pdl-translate")
    trainers, libraries = [], []
    for name, flags in ("fused", []), ("unfused", ["--no-fuse"]):
        made = folder / name
        for emit in [], ["--emit=library"]:
            run(translate, options.model, "--numerics=strict", *flags, *emit, "-o", made)
        [library] = made.glob("*.so")
        trainers.append(Trainer(name, made / "trainer"))
        libraries.append(Library(name, library))
    return trainers, libraries


def refuse_fast(path):
    raise Failure(f"{path} is of numerics fast, whose last digits may differ with the batch; "
                  "translate the model with --numerics=strict to compare bits")


class Trainer:
    """Compiled trainer with a name for messages."""

    def __init__(self, name, path):
        self.name, self.path = name, pathlib.Path(path)
        described = run(self.path.absolute(), "--version")
        found = dict(line.split(maxsplit=1) for line in described.splitlines()
                     if line.startswith(("model ", "numerics ")))
        self.model = found.get("model", "").strip()
        if not self.model:
            raise Failure(f"{path} is no trainer; name one that pdl-translate made")
        if found.get("numerics", "").strip() == "fast":
            refuse_fast(path)

    def command(self, options, command, program, batch):
        # Here, names of models and files never start with a dash.
        flags = ["--data", *options.data, "--rows", options.rows, "--batch-size", batch,
                 "--program", program]
        values = "--init-from" if pathlib.Path(options.checkpoint).is_file() else "--checkpoint"
        flags += [values, options.checkpoint]
        if options.header:
            flags.append("--header")
        if options.accept_old_layout:
            flags.append("--accept-old-layout")
        for name in "columns", "data_pipe", "delimiter", "format", "max_bad_rows":
            if getattr(options, name) is not None:
                flags += ["--" + name.replace("_", "-"), getattr(options, name)]
        return [self.path.absolute(), command, *flags]

    def predict(self, options, batch, folder, inputs=None):
        """Returns columns by output, with one number for each row, including bad ones. `inputs`:
        file to which the content of rows is written."""
        written = folder / "predictions.safetensors"
        run(*self.command(options, "predict", options.program, batch), "--output", written,
            *(["--dump-inputs", inputs] if inputs else []))
        return {name: Column(shape[1], data)
                for name, (shape, data) in tensors.read(written).items()}

    def evaluate(self, options, batch, folder):
        """Returns rows, columns of observed values by name, and lines with the metrics."""
        written = folder / "observed.safetensors"
        printed = run(*self.command(options, "evaluate", options.evaluate_program, batch),
                      "--output", written)
        found = tensors.read(written)
        rows = found.pop("row")[1]
        columns = {name: Column(shape[1], data) for name, (shape, data) in found.items()
                   if data.typecode != "q"}
        # The first line has the duration, which varies.
        return rows, columns, re.sub(r"^evaluated .*\n", "", printed)


class Library:
    """Compiled library with a name for messages, and the values loaded by `open`."""

    def __init__(self, name, path):
        self.name, self.path = name, pathlib.Path(path).absolute()
        try:
            self.library = serving.Library(self.path)
        except (serving.ServingError, OSError, AttributeError) as error:
            raise Failure(f"{path} is no library that can be used here: {error}") from None
        if self.library.numerics == "fast":
            refuse_fast(path)
        self.model = None

    def open(self, path, accept_old_layout=False):
        try:
            self.model = self.library.open(path, accept_old_layout=accept_old_layout)
        except serving.ServingError as error:
            raise Failure(f"library ({self.name}) cannot take the values of {path}: "
                          f"{error}") from None

    def close(self):
        if self.model:
            self.model.close()

    def steps(self):
        return self.model.state()["steps"]

    def answer(self, program, inputs, batch, with_keys=False):
        """Returns columns by output, with one number for each sample."""
        results, widths = {}, {}
        try:
            for begin, end in inputs.batches(batch):
                answers = self.model.run(program, inputs.for_library(begin, end, with_keys))
                for name, numbers in answers.items():
                    results.setdefault(name, numbers[:0]).extend(numbers)
                    widths[name] = len(numbers) // (end - begin)
        except serving.ServingError as error:
            raise Failure(f"library ({self.name}) does not respond what @{program} of the trainer "
                          f"reads: {error}") from None
        return {name: Column(widths[name], numbers) for name, numbers in results.items()}
