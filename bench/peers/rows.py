# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of the comparison, by name."""


from . import checkpoint, click, dlrm, ffm, logistic, models, word2vec
from .contest import Context, Failed  # noqa: F401


ALL = {
    "ctr_dnn": click.OneThread,
    "bf16": click.BFloat16,
    "many_keys": click.ManyKeys,
    "two_threads": click.TwoThreads,
    "numerics": click.Numerics,
    "dlrm": dlrm.Dlrm,
    "models": models.Models,
    "logistic": logistic.Logistic,
    "ffm": ffm.FieldAware,
    "word2vec": word2vec.Word2vec,
    "checkpoints": checkpoint.Checkpoints,
}
