# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares word2vec on the English Wikipedia with gensim."""

import os

from .contest import Failed, Line, peer_rate


class Word2vec:
    WHAT = ("Skip-gram on 5.6 million words of the English Wikipedia, vectors of 100 elements, "
            "windows of five, five negatives, three epochs, one round, one thread, by CPU time. "
            "Words are counted before frequent ones are omitted. gensim draws windows and "
            "negatives during training; for ours, NumPy draws them before each epoch.")
    GOAL = ">= 2 times gensim's words/s per worker at equal WordSim353"
    REASON = ("Profile by perf and a trace on 24 November 2026, of a step of 256 words, 7,300 "
              "rows of 100 elements, 2.4 ms. Updates take 16 %, copies of rows into and out of "
              "the batch 14 %, their sums by key 13 %, and products of rows with their word and "
              "the gradients 11 %. Inner products, one more copy by pool(none), and searching "
              "keys take 7 % each, distinct keys 4 %. Each of these reads and writes 2.9 MB in "
              "our program. gensim computes inner products and adds gradients in place, one pair "
              "after the other. NumPy draws 5.6 million words in 14 s.")

    @staticmethod
    def measure(context):
        data = os.environ.get("PDL_TEST_DATA")
        if not data:
            raise Failed("the row word2vec reads data that are not shipped: set "
                         "PDL_TEST_DATA to their folder, or leave the row out with --only")
        flags = ["--epochs", 1, "--sentences", 30000] if context.quick else []
        ours, peer = (peer_rate(context, "word2vec_run.py", who, data, context.folder, *flags,
                                PDL_TRANSLATE=context.build / "bin" / "pdl-translate")
                      for who in ("ours", "gensim"))
        said = (f", WordSim353 {ours['WordSim353']:.3f}, gensim's {peer['WordSim353']:.3f}")
        alone, whole = Line("training" + said, "words/s", 2), Line(
            "training and drawing", "words/s", 2)
        rate = peer["words"] / peer["training"]
        alone.add(ours["words"] / ours["training"], gensim=rate)
        whole.add(ours["words"] / (ours["training"] + ours["drawing"]), gensim=rate)
        return [alone, whole]
