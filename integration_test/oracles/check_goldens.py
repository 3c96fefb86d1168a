#===- check_goldens.py - Programs against goldens -------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Compares what we compute with the goldens of README.md. It needs the Python
standard library only.

  check_goldens.py op CASE... --pdl-translate TOOL [--element-type f32]
      Compiles each case, predicts, trains, compares.

  check_goldens.py interpret CASE... --pdl-opt TOOL [--phase PHASE] [--element-type f32]
      The same in the interpreter, after compiling up to a phase.

  check_goldens.py model CASE... --pdl-translate TOOL --data FILE
      f64 losses of a reference model over many steps (1e-10, relative) and, if
      the case has them, its f32 gradients of the first step (1e-5 of the tensor's
      largest value).

  check_goldens.py paired FOLDER --pdl-translate TOOL --data FILE
      Test AUC of f32 trainings from the values that PyTorch started from, in
      the same order: within 0.003 of PyTorch's for each seed.

Prints one line a case; a failed one names the tensors that differ, and makes
the exit status 1.
"""

import argparse
import array
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import tensorfile

# Relative to the largest magnitude in the tensor.
TOLERANCES = {"f64": 1e-10, "f32": 1e-5}
# Of a model whose step moves a value by a power of two times its gradient.
GRADIENT_FACTOR = 1024.0
# Of AUC from equal values on equal batches, whatever the order of sums.
PAIRED_TOLERANCE = 0.003


class Failure(Exception):
    """Description of a failed case, for the user."""


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True,
                          text=True, check=False, **options)
    if done.returncode != 0:
        raise Failure(f"`{' '.join(str(part) for part in command)}` ended with status "
                      f"{done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def compile_model(tool, model, folder, element_type):
    """Compiles a model in strict numerics. Returns the path of the trainer."""
    run([tool, model, "-o", folder, "--numerics=strict",
         f"--element-type={element_type}"])
    return os.path.join(folder, "trainer")


def largest(values):
    return max((abs(value) for value in values), default=0.0)


def difference(name, expected, actual, tolerance):
    """Returns a list with one message if the sequences differ, otherwise an empty list."""
    if len(expected) != len(actual):
        return [f"{name}: {len(actual)} elements, expected {len(expected)}"]
    limit = tolerance * largest(value for value in expected if math.isfinite(value))
    worst, place = -1.0, 0
    for i, (wanted, given) in enumerate(zip(expected, actual)):
        if math.isnan(wanted) and math.isnan(given) or wanted == given:
            continue
        error = abs(wanted - given)
        if not error <= worst:  # NaN is the worst
            worst, place = error, i
            if math.isnan(error):
                break
    if worst < 0 or worst <= limit:
        return []
    return [f"{name}: element {place} is {actual[place]!r}, expected "
            f"{expected[place]!r}; they may differ by {limit:.3g}"]


def compare_losses(expected, path, tolerance):
    with open(path, encoding="utf-8") as file:
        actual = [float(line) for line in file]
    if len(actual) != len(expected):
        return [f"loss: {len(actual)} steps, expected {len(expected)}"]
    for step, (wanted, given) in enumerate(zip(expected, actual), 1):
        if math.isnan(wanted) and math.isnan(given):
            continue
        if not abs(given - wanted) <= tolerance * abs(wanted):
            return [f"loss of step {step} is {given!r}, expected {wanted!r}"]
    return []


def compare_state(expected, actual, tolerance):
    """Compares the state after training. `expected` has names such as `after/...`."""
    problems = []
    for name, tensor in expected.items():
        if not name.startswith("after/"):
            continue
        name = name[len("after/"):]
        if name not in actual:
            problems.append(f"{name} is not in the dump")
        elif name.endswith(".keys"):
            if list(tensor.data) != list(actual[name].data):
                problems.append(f"{name}: the keys differ")
        else:
            problems += difference(name, tensor.data, actual[name].data, tolerance)
    return problems


def compare_outputs(expected, names, path, tolerance):
    """Compares outputs. `path`: tab-separated text with a line of names, whose columns have the
    order of `names`."""
    with open(path, encoding="utf-8") as file:
        rows = [[float(cell) for cell in line.split("\t")]
                for line in file.read().splitlines()[1:]]
    problems, column = [], 0
    for name in names:
        tensor = expected[f"output/{name}"]
        width = len(tensor.data) // tensor.shape[0]
        actual = [value for row in rows for value in row[column:column + width]]
        problems += difference(f"output {name}", tensor.data, actual, tolerance)
        column += width
    if any(len(row) != column for row in rows):
        problems.append(f"a sample has {len(rows[0])} outputs, expected {column}")
    return problems


def compare_exact_metrics(expected, path):
    """Compares metrics. `path`: lines with the name of a metric and its value."""
    with open(path, encoding="utf-8") as file:
        reported = dict(line.split() for line in file)
    return [problem for name, tensor in expected.items() if name.startswith("metric/")
            for problem in difference(name, tensor.data, [float(reported.get(
                name[len("metric/"):], "nan"))], 1e-10)]


def compare_metrics(expected, report):
    """Compares metrics with those of a report. `report`: lines such as `test AUC 0.9123 (@auc)`,
    with four digits, or with six if the value has a unit of the model. A remark may follow the
    metric's name."""
    titles = {"auc": "AUC", "coarse_auc": "AUC", "grouped_auc": "grouped AUC",
              "log_loss": "log loss",
              "copc": "COPC", "mean": "mean", "mae": "MAE", "rmse": "RMSE",
              "accuracy": "accuracy", "bucket_error": "bucket error",
              "accuracy_at": "accuracy@2", "recall": "recall@3", "ndcg": "NDCG@4",
              "mrr": "MRR", "top_accuracy": "accuracy@1", "top_mrr": "MRR"}
    problems = [f"metric {name} is not compared" for name in expected
                if name.startswith("metric/") and name[len("metric/"):] not in titles]
    for name, title in titles.items():
        if f"metric/{name}" not in expected:
            continue
        wanted = expected[f"metric/{name}"].data[0]
        digits = 6 if title in ("mean", "MAE", "RMSE") else 4
        found = re.search(rf"^test {title} ([0-9]+\.[0-9]{{{digits}}}) \(@{name}(?:; .*)?\)$",
                          report, re.MULTILINE)
        if not found or abs(float(found[1]) - wanted) > 0.5001 * 10**-digits:
            problems.append(f"metric {name}: expected {wanted}, reported "
                            f"{found[1] if found else 'nothing'}")
    return problems


def read_case(case):
    with open(os.path.join(case, "case.json"), encoding="utf-8") as file:
        facts = json.load(file)
    return facts, tensorfile.read(os.path.join(case, "expected.safetensors"))


def model_path(name):
    models = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
    return os.path.join(models, name, name + ".mlir")


def check_op(case, folder, options):
    facts, expected = read_case(case)
    tolerance = TOLERANCES[options.element_type]
    trainer = compile_model(options.pdl_translate, os.path.join(case, "model.mlir"),
                            os.path.join(folder, "program"), options.element_type)
    common = ["--data", os.path.join(case, "data.safetensors"),
              "--init-from", os.path.join(case, "init.safetensors"),
              "--batch-size", facts["batch_size"]]
    problems = []
    if facts["outputs"]:
        output = os.path.join(folder, "output.tsv")
        run([trainer, "predict", *common, "--output", output])
        problems += compare_outputs(expected, facts["outputs"], output, tolerance)
    if "metric/auc" in expected:
        problems += compare_metrics(expected, run([trainer, "evaluate", *common]))
    dump, losses = (os.path.join(folder, name) for name in ("dump", "losses"))
    run([trainer, "train", *common, "--steps", facts["steps"], "--dump", dump,
         "--dump-slots", "--log-losses", losses])
    problems += compare_losses(expected["loss"].data, losses, tolerance)
    return problems + compare_state(expected, tensorfile.read(dump), tolerance)


def check_interpreted(case, folder, options):
    facts, expected = read_case(case)
    if options.phase == "model" and facts.get("takes_turns"):
        return []  # phase merged makes one program of several, and their counter
    tolerance = TOLERANCES[options.element_type]
    pipeline = f"to={options.phase} numerics=strict element-type={options.element_type}"

    def interpret(program, **more):
        settings = " ".join(f"{name.replace('_', '-')}={value}"
                            for name, value in more.items())
        run([options.pdl_opt, os.path.join(case, "model.mlir"),
             f"--pdl-pipeline={pipeline}",
             f"--nn-interpret=program={program} data={case}/data.safetensors "
             f"init={case}/init.safetensors batch-size={facts['batch_size']} {settings}",
             "-o", os.devnull])

    problems = []
    files = {name: os.path.join(folder, name)
             for name in ("outputs", "metrics", "losses", "dump")}
    if facts["outputs"]:
        interpret("predict", outputs=files["outputs"])
        problems += compare_outputs(expected, facts["outputs"], files["outputs"],
                                    tolerance)
    if "metric/auc" in expected:
        interpret("evaluate", metrics=files["metrics"])
        problems += compare_exact_metrics(expected, files["metrics"])
    trains = options.phase not in ("model", "merged")  # there, only losses
    interpret("train", steps=facts["steps"] if trains else 1, losses=files["losses"],
              dump=files["dump"], dump_slots="true")
    losses = expected["loss"].data if trains else expected["loss"].data[:1]
    problems += compare_losses(losses, files["losses"], tolerance)
    if trains:
        problems += compare_state(expected, tensorfile.read(files["dump"]), tolerance)
    return problems


def check_model(case, folder, options):
    facts, expected = read_case(case)
    initial = os.path.join(case, "init.safetensors")
    common = ["--data", options.data, "--init-from", initial,
              "--batch-size", facts["batch_size"]]
    losses, dump = (os.path.join(folder, name) for name in ("losses", "dump"))
    trainer = compile_model(options.pdl_translate, model_path(facts["model"]),
                            os.path.join(folder, "program"), "f64")
    run([trainer, "train", *common, "--steps", facts["steps"], "--log-losses", losses])
    problems = compare_losses(expected["loss"].data, losses, TOLERANCES["f64"])
    if facts.get("losses_only"):
        return problems

    trainer = compile_model(options.pdl_translate, os.path.join(case, "gradient.mlir"),
                            os.path.join(folder, "gradient"), "f32")
    run([trainer, "train", *common, "--steps", 1, "--dump", dump])
    before, after = tensorfile.read(initial), tensorfile.read(dump)
    return problems + compare_gradients(expected, before, after)


def compare_gradients(expected, before, after):
    """Compares the changes in one step with the tensors `gradient/...`. Rows that are not in the
    batch must not change."""
    problems = []
    for name, tensor in before.items():
        if name.endswith(".keys"):
            if list(tensor.data) != list(after[name].data):
                problems.append(f"{name}: the keys differ")
            continue
        moved = [(old - new) / GRADIENT_FACTOR
                 for old, new in zip(tensor.data, after[name].data)]
        wanted = expected[f"gradient/{name}"].data
        if name.endswith(".values"):
            keys = name[:-len("values")] + "keys"
            rows = dict(zip(expected[f"gradient/{keys}"].data,
                            expected[f"gradient/{name}"].rows()))
            zeros = array.array("f", [0.0] * tensor.shape[1])
            wanted = [value for key in before[keys].data
                      for value in rows.get(key, zeros)]
        problems += difference(f"gradient of {name}", wanted, moved, TOLERANCES["f32"])
    return problems


def check_paired(case, folder, options):
    with open(os.path.join(case, "case.json"), encoding="utf-8") as file:
        facts = json.load(file)
    trainer = compile_model(options.pdl_translate, model_path(facts["model"]),
                            os.path.join(folder, "program"), "f32")
    problems = []
    for seed, wanted in facts["auc"].items():
        report = run([trainer, "train", "--data", options.data, "--rows", "0%:80%",
                      "--evaluate-rows", "80%:", "--epochs", facts["epochs"],
                      "--batch-size", facts["batch_size"], "--init-from",
                      os.path.join(case, f"start{seed}.safetensors")])
        found = re.findall(r"^test AUC ([0-9.]+)$", report, re.MULTILINE)
        if not found:
            raise Failure(f"no line `test AUC` in what the trainer printed:\n{report}")
        line = f"seed {seed}: test AUC {found[-1]}, PyTorch {wanted:.4f}"
        print("     " + line)
        if not abs(float(found[-1]) - wanted) <= PAIRED_TOLERANCE:
            problems.append(line)
    return problems


def check(case, options):
    """Returns messages about the faults of a case. `options`: the result of parsing in `main`:
    `check` (the function), `pdl_opt`, `pdl_translate`, `element_type`, `phase`, `data`, each if its
    command needs it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return options.check(case, folder, options)
        except Failure as failure:
            return [str(failure)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(name, check):
        added = commands.add_parser(name)
        added.set_defaults(check=check)
        added.add_argument("cases", nargs="+")
        return added

    op = command("op", check_op)
    interpret = command("interpret", check_interpreted)
    interpret.add_argument("--pdl-opt", required=True)
    interpret.add_argument("--phase", default="gradient",
                           choices=("model", "merged", "gradient", "fused"))
    for added in (op, interpret):
        added.add_argument("--element-type", choices=TOLERANCES, default="f64")
    model = command("model", check_model)
    paired = command("paired", check_paired)
    for added in (op, model, paired):
        added.add_argument("--pdl-translate", required=True)
    for added in (model, paired):
        added.add_argument("--data", required=True)
    options = parser.parse_args()

    failed = 0
    for case in options.cases:
        problems = check(case, options)
        print(f"{'FAIL' if problems else 'ok  '} {case}", flush=True)
        for problem in problems:
            print("     " + problem.replace("\n", "\n     "))
        failed += bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
