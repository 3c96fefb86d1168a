# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures DLRM: 26 tables of dimension 16, bottom 13-64-16, inner products of all pairs, top
367-64-1, Adagrad, batch 2048."""

from .click import NUMBERS, SLOTS, tensorflow_rates, write_text
from .contest import Line, peer_rate, trainer_rate

SIZE = 16
PAIRS = (SLOTS + 1) * SLOTS // 2


def model():
    tables = "\n".join(f"  nn.table @table{i} : i64 -> tensor<{SIZE}xf32> in @sparse "
                       "init(#nn.uniform<-0.01, 0.01>)" for i in range(SLOTS))
    slices = "\n".join(
        f"    %c{i} = nn.slice %categories axis 1 offset {i} size 1 : "
        f"tensor<?x{SLOTS}xi64>\n"
        f"    %r{i} = nn.lookup @table{i}[%c{i}] pool(sum) : (tensor<?x1xi64>) -> "
        f"tensor<?x1x{SIZE}xf32>" for i in range(SLOTS))
    rows = ", ".join(f"%r{i}" for i in range(SLOTS))
    types = ", ".join([f"tensor<?x1x{SIZE}xf32>"] * (SLOTS + 1))
    return f"""
module @dlrm {{
  nn.record @click {{
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x{NUMBERS}xf32>
    nn.field @categories : tensor<?x{SLOTS}xi64> hash(#nn.hash<xxh64, salt = slot>)
  }}
  nn.group @dense rule(@adagrad) rate(1.0e-2)
  nn.group @sparse rule(@adagrad) rate(1.0e-2) untouched(lazy)
{tables}
  nn.param @b1 : tensor<{NUMBERS}x64xf32> in @dense init(#nn.xavier)
  nn.param @c1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @b2 : tensor<64x{SIZE}xf32> in @dense init(#nn.xavier)
  nn.param @c2 : tensor<{SIZE}xf32> in @dense init(#nn.zeros)
  nn.param @t1 : tensor<{PAIRS + SIZE}x64xf32> in @dense init(#nn.xavier)
  nn.param @d1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @t2 : tensor<64x1xf32> in @dense init(#nn.xavier)
  nn.param @d2 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.program @train reads(@click) {{
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x{NUMBERS}xf32>, %categories: tensor<?x{SLOTS}xi64>):
    %x = nn.signed_log1p %numbers : tensor<?x{NUMBERS}xf32>
    %h = nn.linear %x, @b1, @c1 act(relu) : (tensor<?x{NUMBERS}xf32>) -> tensor<?x64xf32>
    %v = nn.linear %h, @b2, @c2 act(relu) : (tensor<?x64xf32>) -> tensor<?x{SIZE}xf32>
    %first = nn.reshape %v : (tensor<?x{SIZE}xf32>) -> tensor<?x1x{SIZE}xf32>
{slices}
    %all = nn.concat %first, {rows} axis 1 : {types}
    %dots = nn.pairwise_dots %all : tensor<?x{SLOTS + 1}x{SIZE}xf32>
    %top = nn.concat %v, %dots axis 1 : tensor<?x{SIZE}xf32>, tensor<?x{PAIRS}xf32>
    %t = nn.linear %top, @t1, @d1 act(relu) : (tensor<?x{PAIRS + SIZE}xf32>) -> tensor<?x64xf32>
    %z = nn.linear %t, @t2, @d2 : (tensor<?x64xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }}
}}
"""


class Dlrm:
    WHAT = ("DLRM, 26 tables of dimension 16, bottom 13-64-16, top 367-64-1, Adagrad, batch "
            "2048, one thread, by CPU time.")
    GOAL = ">= 4 times the best peer"
    REASON = ("Profile by perf on 24 November 2026: products about 30 %, searches in 26 tables 11 "
              "%, inner products of all pairs and their gradients 14 %. These take 5 % each: "
              "distinct keys, copies of rows, updates, the gradient of selecting the pairs, and "
              "pooling of bags of one id with its gradient.")

    @staticmethod
    def measure(context):
        rows = 32768 if context.quick else 65536
        data = write_text(context.folder / "dlrm.tsv", rows)
        trainer = context.translate(model(), "dlrm")
        line = Line("batch 2048", "samples/s", 4)
        for _ in range(context.rounds):
            line.add(trainer_rate(trainer, data, rows, flags=["--batch-size", 2048]),
                     **{name: peer_rate(context, "torch_dlrm.py", *flags)["rate"]
                        for name, flags in (("PyTorch", ()),
                                            ("PyTorch_EmbeddingBag", ("--bags",)))},
                     **tensorflow_rates(context, "dlrm", 2048))
        return [line]
