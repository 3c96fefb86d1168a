# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for every rule of the standard library. A rule becomes a loop over a
dense block and a kernel over rows: fed the same values and the same gradients,
both give the same bits, over 20 steps. At rate 0 values stay as they are. Servers
apply rules and clips as one process does."""

import array
import json
import pathlib
import random
import re
import tempfile
import unittest

import programs
import tensorfile
from cluster import Cluster
from programs import PDL_TRANSLATE, compile_model, run
from tensorfile import Tensor

ROWS, WIDTH, STEPS = 24, 5, 20
ORACLES = programs.SOURCE / "integration_test" / "oracles"
PDL_CHECKPOINT = programs.BUILD / "bin" / "pdl-checkpoint"
DECAY = "decay(#nn.l2<0.01>, #nn.l1<0.001>)"


# Rules of averages, of delays, and of a state that begins again: none of them trains.
OTHERS = ("delay_compensation", "ema", "model_average", "cyclic_counter", "step_counter",
          "moving_average", "running_sum")
# Rules that are told what a program counts of each row (row_rules_test.py).
OF_COUNTS = ("click_adagrad",)
# Rules of whole parameters; a table beside one has that of rows.
OF_PARAMETERS = ("lamb", "lars")


def rules():
    """The rules of the library that train."""
    names = run(programs.PDL_OPT, "--print-std").stdout.strip().split(", ")
    return [name for name in names
            if name not in (*OTHERS, *OF_COUNTS) and
            f"nn.rule @{name} " in run(programs.PDL_OPT, f"--print-std={name}").stdout]


def model_text(twins, width=WIDTH, rows=ROWS):
    """`twins`: for each name rule and clauses of two groups, one of the parameter
    p_NAME and one of the table t_NAME. Sample i of a batch is one-hot in row i
    and holds key i, so that both see the same cotangents."""
    lines = ["module @twins {", "  nn.record @r {",
             f"    nn.field @row : tensor<?x{rows}xf32>",
             "    nn.field @key : tensor<?x1xi64>",
             f"    nn.field @pull : tensor<?x{width}xf32>", "  }"]
    wide = f"tensor<?x{width}xf32>"
    body, total = [], None
    for name, clauses in twins.items():
        init = "init(#nn.uniform<-1.0, 1.0>)"
        of_rows = re.sub(rf"@({'|'.join(OF_PARAMETERS)})\b", r"@rowwise_\1", clauses)
        lines += [
            f"  nn.group @dense_{name} {clauses}",
            f"  nn.group @sparse_{name} {of_rows} untouched(lazy)",
            f"  nn.param @p_{name} : tensor<{rows}x{width}xf32> in @dense_{name} {init}",
            f"  nn.table @t_{name} : i64 -> tensor<{width}xf32> in @sparse_{name} {init}"]
        n = f"%{name}"
        body += [
            f"    {n}_a = nn.linear %row, @p_{name} : (tensor<?x{rows}xf32>) -> {wide}",
            f"    {n}_e = nn.lookup @t_{name}[%key] pool(sum) : (tensor<?x1xi64>) -> "
            f"tensor<?x1x{width}xf32>",
            f"    {n}_b = nn.flatten {n}_e from 1 : tensor<?x1x{width}xf32>",
            f"    {n}_c = nn.squared_error {n}_a, %pull : {wide}",
            f"    {n}_d = nn.squared_error {n}_b, %pull : {wide}",
            f"    {n}_f = nn.add {n}_c, {n}_d : {wide}, {wide}"]
        if total is not None:
            body.append(f"    {n}_s = nn.add {total}, {n}_f : {wide}, {wide}")
        total = f"{n}_f" if total is None else f"{n}_s"
    groups = ", ".join(f"@dense_{name}, @sparse_{name}" for name in twins)
    lines += ["  nn.program @train reads(@r) {",
              f"  ^bb0(%row: tensor<?x{rows}xf32>, %key: tensor<?x1xi64>, %pull: {wide}):",
              *body,
              f"    %l = nn.reduce sum {total} axes [1] keep : {wide}",
              f"    nn.minimize %l over [{groups}] : tensor<?x1xf32>", "  }", "}", ""]
    return "\n".join(lines)


def write_data(path, draw, width=WIDTH, rows=ROWS, steps=STEPS):
    """Batches of as many samples as there are rows; returns the file."""
    hot, keys, pulls = (array.array(c) for c in "fqf")
    for sample in range(rows * steps):
        row = sample % rows
        hot.extend(1.0 if i == row else 0.0 for i in range(rows))
        keys.append(row)
        pulls.extend(draw.gauss(0, 1) for _ in range(width))
    tensorfile.write(path, {
        "row": Tensor("F32", [rows * steps, rows], hot),
        "key": Tensor("I64", [rows * steps, 1], keys),
        "pull": Tensor("F32", [rows * steps, width], pulls)})
    return path


class Rules(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write_data(self, draw):
        return write_data(self.root / "data.safetensors", draw)

    def train_twins(self, twins, draw):
        """Initial values, and the dump after STEPS steps."""
        source = self.root / "twins.mlir"
        source.write_text(model_text(twins))
        trainer = compile_model(source, self.root / "out", "--numerics=strict")
        values = array.array("f", (draw.gauss(0, 1) for _ in range(ROWS * WIDTH)))
        initial = {}
        for name in twins:
            initial[f"p_{name}"] = Tensor("F32", [ROWS, WIDTH], values)
            initial[f"t_{name}.keys"] = Tensor("I64", [ROWS],
                                               array.array("q", range(ROWS)))
            initial[f"t_{name}.values"] = Tensor("F32", [ROWS, WIDTH], values)
        tensorfile.write(self.root / "init.safetensors", initial)
        run(trainer, "train", "--data", self.write_data(draw), "--init-from",
            self.root / "init.safetensors", "--batch-size", ROWS, "--dump",
            self.root / "dump.safetensors", "--dump-slots")
        return values, tensorfile.read(self.root / "dump.safetensors")

    def test_ftrl_learns_at_any_batch(self):
        """The published settings, which are for one sample a step: gradients are sums."""
        text = programs.model("logistic_regression").read_text(encoding="utf-8")
        source = self.root / "ftrl.mlir"
        source.write_text(text.replace(
            "rule(@adagrad) rate(1.0e-1)",
            "rule(@ftrl {l1 = 1.0, l2 = 1.0}) rate(1.0e-1) untouched(lazy)"))
        trainer = compile_model(source, self.root / "out", "--numerics=strict")
        found = {}
        for batch in (1, 16, 256, 4096):
            said = run(trainer, "train", "--data", programs.ADULT, "--rows", "0%:80%",
                       "--evaluate-rows", "80%:", "--batch-size", batch)
            found[batch] = programs.metric(said.stdout + said.stderr, "test AUC")
        print(f"@ftrl on Adult, test AUC by batch: {found}")
        for value in found.values():
            self.assertGreater(value, 0.895)

    def test_dense_and_rows_have_equal_bits(self):
        slots = 0
        for rule in rules():
            if rule in OF_PARAMETERS:
                continue
            with self.subTest(rule=rule):
                twins = {"plain": f"rule(@{rule}) rate(0.05)",
                         "decayed": f"rule(@{rule}) rate(0.05) {DECAY}",
                         "still": f"rule(@{rule}) rate(0.0) {DECAY}"}
                values, dump = self.train_twins(twins, random.Random(rule))
                for name in twins:
                    left = dump[f"p_{name}"].data.tobytes()
                    self.assertEqual(left, dump[f"t_{name}.values"].data.tobytes())
                    # Rate 0 leaves values as they are.
                    self.assertEqual(left == values.tobytes(), name == "still")
                    for slot in [n for n in dump if n.startswith(f"p_{name}.slot.")]:
                        self.assertEqual(dump[slot].data.tobytes(),
                                         dump["t" + slot[1:]].data.tobytes(), slot)
                        slots += 1
        self.assertGreater(slots, 0)

    def check_modes(self, name, source, data, batch):
        """Checkpoints after the data's batches: sync with two trainers and three
        servers, and async with one worker and two servers, against one process."""
        root = self.root / name
        root.mkdir()
        units = ("--min-block-elements=64", "--target-block-bytes=256")
        for mode in ("local", "sync", "async"):
            run(PDL_TRANSLATE, source, "-o", root / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else units))

        def flags(name):
            return ["--data", data, "--seed", 7, "--batch-size", batch,
                    "--checkpoint", root / f"{name}.saved"]

        for mode, trainers, servers in (("sync", 2, 3), ("async", 1, 2)):
            with self.subTest(model=name, mode=mode):
                alone = f"local{trainers}"
                run(root / "local" / "trainer", "train", *flags(alone),
                    "--replicas", f"{trainers}x1")
                with Cluster(root / mode, trainers, servers,
                             [*flags(mode), "--replicas", "1x1"],
                             ["--seed", 7]) as cluster:
                    cluster.start().finish()
                run(PDL_CHECKPOINT, "diff", root / f"{alone}.saved",
                    root / f"{mode}.saved")

    def test_servers_give_the_bits_of_one_process(self):
        """All rules in one job."""
        source = self.root / "all.mlir"
        source.write_text(model_text(
            {rule: f"rule(@{rule}) rate(0.05)" for rule in rules()}))
        self.check_modes("all", source, self.write_data(random.Random(1)), ROWS)

    def test_servers_own_rows_of_a_parameter(self):
        """Four blocks of 64 rows, with what rules keep of each row; a rule of whole
        parameters has one block beside them."""
        rows = 200
        source = self.root / "blocks.mlir"
        source.write_text(model_text(
            {rule: f"rule(@{rule}) rate(0.05)"
             for rule in ("adam", "rowwise_adagrad", "rowwise_lamb", "lamb", "lars")}, rows=rows))
        data = write_data(self.root / "blocks.safetensors", random.Random(2), rows=rows,
                          steps=6)
        self.check_modes("blocks", source, data, rows // 2)

    def test_servers_clip_as_one_process(self):
        """The goldens of clips, which one limits on some steps and symbols only."""
        for name in ("clip", "clip_norm", "clip_value"):
            case = ORACLES / "goldens" / "ops" / name
            batch = json.loads((case / "case.json").read_text())["batch_size"]
            self.check_modes(name, case / "model.mlir", case / "data.safetensors", batch)


if __name__ == "__main__":
    unittest.main()
