# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures CTR-DNN: 26 ids of dimension 10 from one table, 13 numbers, 400 x 3, Adam.

The model is models/ctr_dnn without its clip and its decay, which peers do not have either. It keeps
its three metrics."""

import array
import json
import random
import re
import struct

from .contest import SOURCE, Line, measured, peer_rate, trainer_rate

SLOTS, NUMBERS = 26, 13
# Multiply-adds of a sample: forward, and twice as many backward. The gradient of the input is only
# needed for rows.
WEIGHTS = 273 * 400 + 400 * 400 * 2 + 400
FLOPS = 2 * (3 * WEIGHTS - NUMBERS * 400)


def model():
    text = (SOURCE / "models/ctr_dnn/ctr_dnn.mlir").read_text()
    plain = text.replace(" decay(#nn.l2<1.0e-6>) clip(@joint)", "")
    assert plain != text
    return plain


def write_text(path, rows):
    """Writes clicks as text. Ids are as skewed as in bench/handwritten."""
    rng = random.Random(7)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(rows):
            cells = [str(int(rng.random() < 0.25))]
            cells += [str(rng.randrange(100)) for _ in range(NUMBERS)]
            cells += [f"{int(10 ** (1 + slot / 5) * rng.random() ** 4):08x}"
                      for slot in range(SLOTS)]
            file.write("\t".join(cells) + "\n")
    return path


def write_tensors(path, rows, uniform):
    """Writes the same as tensors. Half of the ids are uniform below `uniform` / 13."""
    rng = random.Random(9)
    labels, numbers, ids = array.array("f"), array.array("f"), array.array("q")
    each = uniform // (SLOTS // 2)
    for _ in range(rows):
        labels.append(float(rng.random() < 0.25))
        numbers.extend(float(rng.randrange(100)) for _ in range(NUMBERS))
        for slot in range(SLOTS):
            ids.append((slot << 40) | (rng.randrange(each) if slot % 2 else
                                       int(10 ** (1 + slot / 5) * rng.random() ** 4)))
    splits = array.array("i", range(rows * SLOTS + 1))
    header, end = {}, 0
    tensors = (("label", "F32", [rows, 1], labels),
               ("numbers", "F32", [rows, NUMBERS], numbers),
               ("categories.values", "I64", [len(ids)], ids),
               ("categories.splits", "I32", [len(splits)], splits))
    for name, kind, shape, values in tensors:
        size = len(values) * values.itemsize
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, _, values in tensors:
            values.tofile(file)
    return path


def torch_rate(context, *flags, **how):
    return peer_rate(context, "torch_click.py", *flags, **how)["rate"]


def torch_rates(context, batch, threads=1, *more):
    return {f"PyTorch{name}": torch_rate(context, "--batch", batch, *more, threads=threads,
                                         forced=forced)
            for name, forced in (("", False), ("_with_MKL_for_Intel", True))}


def tensorflow_rates(context, model_name, batch):
    """Returns TensorFlow's throughput by its name; empty if it is not installed."""
    if not context.has_tensorflow:
        return {}
    return {"TensorFlow": peer_rate(context, "tensorflow_click.py", model_name, "--batch",
                                    batch)["rate"]}


class OneThread:
    WHAT = ("CTR-DNN in f32 on one thread, by CPU time. The limit is a loop of FMAs that computes "
            "only the model's products.")
    GOAL = ">= 80 % of the limit, >= 1.6 times the best peer"
    REASON = ("A trace (--trace) of batches of 1000 shows 29.7 ms per step: products 25.6 (at 85 "
              "% of the limit), apply 1.2, reading and parsing text 1.1, prepare 0.9, rows and "
              "their gradients 0.7. At batches of 4096 the best peer reaches 70 % of the limit. "
              "1.6 times the best peer would be 98 to 111 % of the limit.")

    @staticmethod
    def measure(context):
        rows = 16000 if context.quick else 32000
        data = write_text(context.folder / "click.tsv", rows)
        trainer = context.translate(model(), "click")
        limit = context.peak() * 1e9 / FLOPS
        lines = []
        for batch in (512, 1000, 4096):
            line = Line(f"batch {batch}", "samples/s", 1.6)
            line.limit = limit
            for _ in range(context.rounds):
                line.add(trainer_rate(trainer, data, rows, flags=["--batch-size", batch]),
                         **torch_rates(context, batch),
                         **tensorflow_rates(context, "click", batch))
            lines.append(line)
        return lines


class BFloat16:
    WHAT = ("CTR-DNN with --compute=bf16 on one thread, by CPU time. PyTorch runs with autocast "
            "(weights in f32, as ours) and in bf16 alone, eager and compiled. The limit is a loop "
            "of vdpbf16ps, or of AMX tiles, that computes only the model's products.")
    GOAL = ">= 1.7 times the best peer's bf16"
    REASON = ("A trace of batches of 1000 on 24 November 2026 shows 18.2 ms per step. Products "
              "take 13.9 (limit 11.0; by perf, tiles 12.3 and packing 1.6), prepare 1.3, apply "
              "1.2, reading and parsing text 0.9, rows and their gradients 0.7. 1.7 times PyTorch "
              "would be 71 to 87 % of the limit.")

    @staticmethod
    def measure(context):
        rows = 16000 if context.quick else 48000
        data = write_text(context.folder / "click_bf16.tsv", rows)
        trainer = context.translate(model(), "click_bf16", "--compute=bf16")
        limit = context.peak(bf16=True) * 1e9 / FLOPS
        flags = {"PyTorch_autocast": ["autocast"], "PyTorch_bf16_alone": ["pure"],
                 "PyTorch_autocast_compiled": ["autocast", "--compiled"],
                 "PyTorch_bf16_alone_compiled": ["pure", "--compiled"]}
        lines = []
        for batch in (512, 1000, 4096):
            line = Line(f"batch {batch}", "samples/s", 1.7)
            line.limit = limit
            for _ in range(context.rounds):
                ours = trainer_rate(trainer, data, rows, flags=["--batch-size", batch])
                line.add(ours, **{
                    name: torch_rate(context, "--batch", batch, "--precision", *flags[name])
                    for name in line.still_in(flags)})
            lines.append(line)
        return lines


class ManyKeys:
    WHAT = ("CTR-DNN with 12 million keys in use. In half of the slots, most ids occur once per "
            "pass. Tensors are read from a file, and the first pass inserts the keys.")
    GOAL = (">= 2.3 times PyTorch; the pass that inserts >= 90 % of later ones; <= 20 B per key "
            "in addition to values and slots")
    REASON = ("Profile by perf on 24 November 2026, of two passes over a file with 8.7 million "
              "keys. The first pass took 34 ms per step. Products take 78 %, searching and "
              "inserting keys 4 %, clearing of fresh pages by the system 3 %, and updates of rows "
              "3 %. Sums of gradients by key, distinct keys and initial values take 1 % each. 2.3 "
              "times PyTorch would be 112 % of the limit of FMAs (46 k samples/s); PyTorch had 15 "
              "k when the goal was set.")

    @staticmethod
    def measure(context):
        # These ids, drawn 13 times per row, have 11 million distinct values. The skewed slots have
        # the others.
        rows, ids, keys = ((100_000, 4_000_000, 1_200_000) if context.quick else
                           (1_000_000, 40_000_000, 12_000_000))
        data = write_tensors(context.folder / "many.safetensors", rows, ids)
        trainer = context.translate(model(), "click")
        later = Line("later passes", "samples/s", 2.3)
        first = Line("first pass, compared with our later passes", "samples/s", 0.9)
        overhead = Line("overhead per key, compared with its content", "B", 20, least=False)
        peak = Line("peak memory, compared with table and trainer without it", "MB", 1.1,
                    least=False, of_ratio=True)
        few = rows // 10

        def train(*flags):
            """Returns CPU time and peak memory in bytes."""
            return measured([trainer, "train", "--data", data, "--threads", 1,
                             "--batch-size", 1000, *flags])

        for _ in range(1 if context.quick else 2):
            said, once, used = train()
            again, part = train("--epochs", 2)[1], train("--rows", f"0:{few}")[1]
            rate = rows / (again - once)
            later.add(rate, **torch_rates(context, 1000, 1, "--keys", keys))
            first.add((rows - few) / (once - part), ours_later=rate)
            found = re.search(r"table @emb keys (\d+), ([0-9.]+) MiB", said)
            held, size = int(found[1]), float(found[2]) * 2**20
            # Each row has ten values, and two slots of Adam for each value.
            overhead.add(size / held - 120, what_it_holds=120)
            without = train("--rows", "0:1000")[2]
            peak.add(used / 1e6, parts=(size + without) / 1e6)
        return [later, first, overhead, peak]


class TwoThreads:
    WHAT = "Two threads, batch 1000, by wall clock: one replica (1x1), and two (1x2)."
    GOAL = ">= 1.8 times one thread each, >= 1.5 times the best peer"
    REASON = ("In 1x1, each slice of a product packs an operand (5 % of CPU time), and small "
              "loops run on one thread. Without other processes a step takes 15.2 ms instead of "
              "27.6 (1.82). For PyTorch, see ctr_dnn.")

    @staticmethod
    def measure(context):
        rows = 16000 if context.quick else 64000
        data = write_text(context.folder / "click2.tsv", rows)
        trainer = context.translate(model(), "click")
        lines = []
        for replicas in ("1x1", "1x2"):
            beside = Line(f"{replicas}, compared with our one thread", "samples/s", 1.8)
            peers = Line(f"{replicas}, compared with peers", "samples/s", 1.5)
            flags = ["--batch-size", 1000]
            for _ in range(context.rounds):
                one = trainer_rate(trainer, data, rows, 1, by_clock=True, flags=flags)
                two = trainer_rate(trainer, data, rows, 2, by_clock=True,
                                   flags=[*flags, "--replicas", replicas])
                beside.add(two, ours_on_one=one)
                peers.add(two, **torch_rates(context, 1000, 2))
            lines += [beside, peers]
        return lines


class Numerics:
    WHAT = "Numerics strict compared with fast, batch 1000, one thread, by CPU time."
    GOAL = ">= 90 %"
    REASON = ""

    @staticmethod
    def measure(context):
        rows = 16000 if context.quick else 32000
        data = write_text(context.folder / "click3.tsv", rows)
        trainers = {name: context.translate(model(), f"click_{name}", f"--numerics={name}")
                    for name in ("strict", "fast")}
        line = Line("strict", "samples/s", 0.9)
        for _ in range(context.rounds):
            rates = {name: trainer_rate(trainer, data, rows, flags=["--batch-size", 1000])
                     for name, trainer in trainers.items()}
            line.add(rates["strict"], ours_fast=rates["fast"])
        return [line]
