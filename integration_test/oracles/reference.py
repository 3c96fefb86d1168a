#===- reference.py - Reference models on real data ------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The reference models in PyTorch: their AUC, and goldens for compiled programs.

  reference.py auc MODEL DATA [--seeds 0 1 2] [--dtype f32] [--epochs N]
      Trains on the first 80 % of the rows, shuffled, and prints the AUC on the
      last 20 % for each seed and their mean.

  reference.py golden MODEL DATA FOLDER [--steps 100] [--losses-only]
      Writes initial values, the f64 losses of the first steps in file order,
      and the gradients of the first step.

  reference.py pairs MODEL DATA FOLDER [--seeds 0 1 2 3 4] [--epochs N]
      For each seed writes initial values of every row of DATA, trains from them
      on the first 80 % in file order, and notes the AUC on the last 20 %.

  reference.py distances gan DATA --made FILE
      Compares the columns of FILE, which a trainer's `predict` wrote for the last
      20 % of the rows, with those of these rows.

  reference.py follow MODEL DATA --init-from FILE --batches FILE
      Trains from the values in FILE on a trainer's dump of its batches, and
      prints the AUC on the last 20 % of DATA.
"""

import argparse
import json
import math
import os
import re

import numpy
import torch

import reference_data
import tensorfile
import reference_models
import reference_sequences
from reference_training import Trainer, area_under_curve, as_bags

MODELS = {**reference_models.MODELS, **reference_sequences.MODELS}
DTYPES = {"f32": torch.float32, "f64": torch.float64}
TRAIN_PERCENT = 80


def read_data(model, path):
    if model.data == "adult":
        fields = reference_data.read_adult(path, model.id_columns)
        for program, width in model.noise.items():
            fields["noise of " + program] = reference_data.noise(
                program, len(fields["label"]), width)
        return fields
    if model.data == "histories":
        return reference_data.read_histories(path)
    if model.data == "pairs":
        return reference_data.read_pairs(path, model.DRAWN, model.WORDS)
    if model.data == "texts":
        return reference_data.read_texts(path)
    return reference_data.read_criteo(path)


class Dataset:
    """Fields and their ids, which are computed once. Batches are taken from them."""

    def __init__(self, model, fields):
        self.size = len(fields["label"])
        self.tables = {}
        self.rows = dict(fields)
        for table, lookups in model.ids(fields).items():
            self.tables[table] = len(lookups)
            for i, ids in enumerate(lookups):
                self.rows[(table, i)] = ids

    def keys(self):
        """Returns {table: all keys in ascending order}."""
        return {table: numpy.unique(numpy.concatenate(
            [as_bags(self.rows[(table, i)])[0] for i in range(count)]))
            for table, count in self.tables.items()}

    def _split(self, rows):
        fields = {name: value for name, value in rows.items() if isinstance(name, str)}
        return fields, {table: [rows[(table, i)] for i in range(count)]
                        for table, count in self.tables.items()}

    def range(self, begin, end):
        return self._split(reference_data.slice_rows(self.rows, begin, end))

    def take(self, order):
        return self._split(reference_data.take_rows(self.rows, order))


def train_epoch(trainer, dataset, order, batch_size):
    """Trains on the rows in `order`. Returns the mean of the losses of all steps that have one."""
    total, count = 0.0, 0
    for begin in range(0, len(order), batch_size):
        part = order[begin:begin + batch_size]
        loss = trainer.step(*dataset.take(part))
        if not math.isnan(loss):
            total, count = total + loss * len(part), count + len(part)
    return total / count


def measure(trainer, dataset, begin):
    """Returns {name: AUC} for the rows from `begin` on, and the other figures of the model."""
    predictions = trainer.predict(*dataset.range(begin, dataset.size))
    areas = {}
    for name, (probabilities, labels, counts) in predictions.items():
        if counts is not None:
            probabilities, labels = probabilities[counts > 0], labels[counts > 0]
        areas[name] = area_under_curve(probabilities, labels)
    return {**areas, **trainer.figures(*dataset.range(begin, dataset.size))}


def print_auc(model, arguments):
    dataset = Dataset(model, read_data(model, arguments.data))
    cut = dataset.size * TRAIN_PERCENT // 100
    results = []
    for seed in arguments.seeds:
        trainer = Trainer(model, dataset.keys(), seed, DTYPES[arguments.dtype])
        random = numpy.random.default_rng(seed)
        for _ in range(arguments.epochs or model.epochs):
            loss = train_epoch(trainer, dataset, random.permutation(cut),
                               model.batch_size)
        results.append(measure(trainer, dataset, cut))
        print(f"seed {seed}: last epoch's loss {loss:.5f}, " + ", ".join(
            f"test {name} {area:.5f}" for name, area in results[-1].items()), flush=True)
    for name in results[0]:
        mean = numpy.mean([areas[name] for areas in results])
        print(f"mean test {name} {mean:.5f}")


def write_tensors(path, arrays):
    tensorfile.write(path, {name: tensorfile.from_numpy(numpy.ascontiguousarray(value))
                            for name, value in arrays.items()})


def write_start(path, trainer):
    """Writes initial values. They are exact in f32, so one file can be used for f64 too."""
    write_tensors(path, {name: value if value.dtype == numpy.int64
                         else value.astype(numpy.float32)
                         for name, value in trainer.initial_tensors().items()})


def gradient_model(text):
    """Returns the model with plain descent at rate 1024, without decay and clip. A step then
    changes each value by exactly 1024 gradients, which is much larger than rounding errors."""
    text = re.sub(r"^( *nn\.group @\w+) .*$",
                  r"\1 rule(@sgd) rate(1.024000e+03) untouched(lazy)", text,
                  flags=re.MULTILINE)
    return re.sub(r"^ *nn\.clip .*\n", "", text, flags=re.MULTILINE)


def write_golden(model, arguments):
    fields = read_data(model, arguments.data)
    train_rows = len(fields["label"]) * TRAIN_PERCENT // 100
    batch_size = min(model.batch_size, train_rows // arguments.steps)
    dataset = Dataset(model, reference_data.slice_rows(
        fields, 0, arguments.steps * batch_size))
    trainer = Trainer(model, dataset.keys())
    os.makedirs(arguments.folder, exist_ok=True)
    write_start(os.path.join(arguments.folder, "init.safetensors"), trainer)
    expected = {}
    gradients, touched = {}, {}
    if not arguments.losses_only:
        _, gradients, touched = trainer.gradients(*dataset.range(0, batch_size))
    for name, gradient in gradients.items():
        # The tensors are compared with 32-bit gradients, so the nearest float is sufficient.
        values = gradient.numpy().astype(numpy.float32)
        if name in touched:
            expected[f"gradient/{name}.keys"] = touched[name][1]
            expected[f"gradient/{name}.values"] = values
        else:
            expected[f"gradient/{name}"] = values
    losses = [trainer.step(*dataset.range(step * batch_size, (step + 1) * batch_size))
              for step in range(arguments.steps)]
    expected["loss"] = numpy.array(losses)
    write_tensors(os.path.join(arguments.folder, "expected.safetensors"), expected)
    facts = {"model": model.name, "data": model.data, "batch_size": batch_size,
             "steps": arguments.steps}
    if arguments.losses_only:
        facts["losses_only"] = True
    else:
        models = os.path.join(os.path.dirname(__file__), "..", "..", "models")
        with open(os.path.join(models, model.name, model.name + ".mlir")) as file:
            text = gradient_model(file.read())
        with open(os.path.join(arguments.folder, "gradient.mlir"), "w") as file:
            file.write(text)
    with open(os.path.join(arguments.folder, "case.json"), "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def write_pairs(model, arguments):
    dataset = Dataset(model, read_data(model, arguments.data))
    cut = dataset.size * TRAIN_PERCENT // 100
    epochs = arguments.epochs or model.epochs
    os.makedirs(arguments.folder, exist_ok=True)
    facts = {"model": model.name, "batch_size": model.batch_size, "epochs": epochs,
             "auc": {}}
    for seed in arguments.seeds:
        trainer = Trainer(model, dataset.keys(), seed, DTYPES[arguments.dtype])
        write_start(os.path.join(arguments.folder, f"start{seed}.safetensors"), trainer)
        for _ in range(epochs):
            train_epoch(trainer, dataset, numpy.arange(cut), model.batch_size)
        facts["auc"][str(seed)] = measure(trainer, dataset, cut)["AUC"]
        print(f"seed {seed}: test AUC {facts['auc'][str(seed)]:.5f}", flush=True)
    with open(os.path.join(arguments.folder, "case.json"), "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def print_distances(model, arguments):
    numbers = read_data(model, arguments.data)["numbers"]
    made = numpy.loadtxt(arguments.made, skiprows=1)
    for name, distance in reference_models.column_distances(
            made, numbers[len(numbers) * TRAIN_PERCENT // 100:]).items():
        print(f"{name} {distance:.4f}")


def dumped_batches(path):
    """Returns the fields of each batch in a trainer's dump, in order."""
    tensors = tensorfile.read(path)
    index = 0
    while any(name.startswith(f"batch{index}/") for name in tensors):
        prefix, fields = f"batch{index}/", {}
        for name, tensor in tensors.items():
            if not name.startswith(prefix):
                continue
            field, value = name[len(prefix):], tensorfile.to_numpy(tensor)
            if field.endswith(".values"):
                splits = tensorfile.to_numpy(tensors[name[:-len("values")] + "splits"])
                fields[field[:-len(".values")]] = (value, splits.astype(numpy.int64))
            elif not field.endswith(".splits"):
                fields[field] = value if value.dtype == numpy.int64 else value.astype(
                    numpy.float64)
        yield fields
        index += 1


def print_followed(model, arguments):
    dataset = Dataset(model, read_data(model, arguments.data))
    trainer = Trainer(model, dataset.keys(), 0, DTYPES[arguments.dtype])
    trainer.load({name: tensorfile.to_numpy(tensor) for name, tensor
                  in tensorfile.read(arguments.init_from).items()})
    for fields in dumped_batches(arguments.batches):
        trainer.step(fields, model.ids(fields))
    cut = dataset.size * TRAIN_PERCENT // 100
    print(f"test AUC {measure(trainer, dataset, cut)['AUC']:.5f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(name, function):
        added = commands.add_parser(name)
        added.set_defaults(function=function)
        added.add_argument("model", choices=sorted(MODELS))
        added.add_argument("data")
        return added

    auc = command("auc", print_auc)
    auc.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    golden = command("golden", write_golden)
    golden.add_argument("folder")
    golden.add_argument("--steps", type=int, default=100)
    golden.add_argument("--losses-only", action="store_true")
    pairs = command("pairs", write_pairs)
    pairs.add_argument("folder")
    pairs.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    distances = command("distances", print_distances)
    distances.add_argument("--made", required=True)
    follow = command("follow", print_followed)
    follow.add_argument("--init-from", required=True)
    follow.add_argument("--batches", required=True)
    for added in (auc, pairs):
        added.add_argument("--epochs", type=int)
    for added in (auc, pairs, follow):
        added.add_argument("--dtype", choices=DTYPES, default="f32")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.function(MODELS[arguments.model](), arguments)


if __name__ == "__main__":
    main()
