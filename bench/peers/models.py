# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares DeepFM, DCN v2, DIN and GRU4Rec, as in models/, with PyTorch."""

import sys

from .contest import SOURCE, Line, peer_rate, trainer_rate

sys.path.insert(0, str(SOURCE / "scripts"))
import made_up  # noqa: E402
import make_histories  # noqa: E402

ADULT = SOURCE / "data" / "adult" / "adult_train.csv.gz"
ADULT_ROWS = 32561
# By model: the forms of the PyTorch model (torch_models.py).
KINDS = {"deepfm": ("rows",), "dcn_v2": ("rows",), "din": ("flat", "padded"),
         "gru4rec": ("packed", "padded")}


def kinds_of(name):
    """Returns the ways in which the PyTorch model may train, by the name of the contender."""
    kinds = {}
    for how in KINDS[name]:
        # Packed or flat tensors have another size in each batch, and are not compiled.
        for which in ("lazy", "all") + (("all compiled",) if how in ("rows", "padded") else ()):
            kinds[f"PyTorch_{how}_{which}".replace(" ", "_").replace("rows_", "")] = (
                f"{how} {which}")
    return kinds


class Models:
    WHAT = ("DeepFM and DCN v2 on Adult (gzip), DIN and GRU4Rec on synthetic histories, as in "
            "models/, batch 512, one thread, by CPU time. PyTorch updates the rows of a batch "
            "(lazy) or all rows (which suits so few keys), eager or compiled. With lazy rows, its "
            "losses are checked against the goldens that also apply to ours.")
    GOAL = ">= 2 times PyTorch, eager and compiled"
    REASON = ("By a trace and perf on 24 November 2026, per step. DeepFM, 0.8 ms: products 0.33 "
              "(limit 0.23), reading 0.21 (decompressing, hashing and finding cells, a quarter of "
              "all CPU time), pooling bags of one id 0.07 and its gradient 0.03, distinct keys "
              "0.05. PyTorch, compiled, takes 0.93 without reading; twice its throughput would be "
              "0.46. DIN, 3.0 ms: products 1.7 (limit 1.1), of which the layer of 36 columns over "
              "3,436 rows takes 1.3. Its forward product is at 61 % of the limit, the gradient of "
              "its weight at 53 %, of its input at 85 % (36 columns are 75 % of three vectors of "
              "16). Rows and their gradients take 8 % of the step, reading 9 %, sigmoid 5 %.")

    @staticmethod
    def measure(context):
        rows = 10240 if context.quick else 40960
        histories = context.folder / "histories.tsv"
        made_up.write_lines(histories, make_histories.history_line, rows)
        lines = []
        for name in KINDS:
            data, count = (ADULT, ADULT_ROWS) if name in ("deepfm", "dcn_v2") else (
                histories, rows)
            source = SOURCE / "models" / name / f"{name}.mlir"
            trainer = context.translate(source.read_text(), name)
            line, kinds = Line(name, "samples/s", 2), kinds_of(name)
            for number in range(context.rounds):
                asked = line.still_in(kinds)
                rates = peer_rate(context, "torch_models.py", name, data, "--kinds",
                                  ",".join(kinds[kind] for kind in asked),
                                  *(["--check"] if number == 0 else []))
                ours = trainer_rate(trainer, data, count, passes=7,
                                    flags=["--batch-size", 512])
                line.add(ours, **{kind: rates[kinds[kind]] for kind in asked})
            lines.append(line)
        return lines
