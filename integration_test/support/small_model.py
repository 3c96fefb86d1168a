# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small model for tests of modes: a table, a parameter of several blocks, a vector, and a
parameter that is read but never trained. Its data are those of Adult."""

import re

from sync_comparison import RATES, options_text

# First lines of the programs' bodies, up to the loss %l.
LOSS = """  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>, %label: tensor<?x1xf32>):
    %e = nn.lookup @emb[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x16xf32>
    %f = nn.flatten %e from 1 : tensor<?x8x16xf32>
    %s = nn.read @scale : tensor<5xf32>
    %n = nn.mul %numbers, %s : tensor<?x5xf32>, tensor<5xf32>
    %t = nn.signed_log1p %n : tensor<?x5xf32>
    %x = nn.concat %f, %t axis 1 : tensor<?x128xf32>, tensor<?x5xf32>
    %h = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x133xf32>) -> tensor<?x70xf32>
    %z = nn.linear %h, @w2 : (tensor<?x70xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
"""

# Small model: a table, a parameter of several blocks, a vector, and a parameter that is read but
# never trained.
SMALL = """
module @small {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?")
      columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }
  CLIP
  nn.group @dense rule(RULE) rate(RATE) OPTIONS
  nn.group @sparse rule(RULE) rate(RATE) OPTIONS untouched(lazy)
  nn.table @emb : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.1, 0.1>)
  nn.param @w1 : tensor<133x70xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<70xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<70x1xf32> in @dense init(#nn.xavier)
  nn.param @scale : tensor<5xf32> init(#nn.constant<0.001>)
  nn.program @train reads(@person) {
""" + LOSS + """    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
}
"""


# Metrics that the small model observes during training: each kind of sum, and for lists both kinds
# of labels.
METRICS = """  nn.metric @auc : #nn.auc<buckets = 1024>
  nn.metric @rmse : #nn.rmse
  nn.metric @accuracy : #nn.accuracy<threshold = 0.5>
  nn.metric @bucket_error : #nn.bucket_error<buckets = 16>
  nn.metric @ndcg : #nn.ndcg_at<k = 3>
  nn.metric @mrr : #nn.mrr
"""
OBSERVATIONS = """    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @rmse(%p, %label) weight %p : tensor<?x1xf32>
    nn.observe @accuracy(%p, %label) : tensor<?x1xf32>
    nn.observe @bucket_error(%p, %label) : tensor<?x1xf32>
    %five = nn.slice %h axis 1 offset 0 size 5 : tensor<?x70xf32>
    nn.observe @ndcg(%five, %t) weight %p : tensor<?x5xf32>
    nn.observe @mrr(%h, %label) : tensor<?x70xf32>, tensor<?x1xf32>
"""


def small_model(rule, clip, decay, warm_up, untouched="lazy"):
    return (SMALL.replace("CLIP", "nn.clip @joint : global_norm(0.5)"
                          if clip else "")
            .replace("RULE", rule).replace("RATE", RATES[rule])
            .replace("OPTIONS", options_text("joint" if clip else "",
                                             "1.0e-4" if decay else "",
                                             warm_up))
            .replace("untouched(lazy)", f"untouched({untouched})"))


def observed_model(warm_up=False):
    """Returns the small model, whose training observes metrics, with programs @evaluate and
    @predict."""
    text = small_model("@adam", clip=False, decay=False, warm_up=warm_up)
    text = text.replace("  nn.program @train", METRICS + "  nn.program @train")
    text = text.replace(LOSS, LOSS + OBSERVATIONS)
    train = text[text.index("  nn.program @train"):text.rindex("}")]
    evaluate = re.sub(r"    nn.minimize .*\n", "", train.replace("@train", "@evaluate frozen"))
    predict = LOSS[:LOSS.index("    %l = ")] + "    nn.return %z : tensor<?x1xf32>\n"
    return text[:text.rindex("}")] + evaluate + (
        "  nn.program @predict frozen reads(@person) {\n" + predict + "  }\n}\n")
