# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets of the modes' benchmark, with their models, in three sizes."""

import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts"))
import made_up  # noqa: E402
import make_known_clicks  # noqa: E402
import make_pairs  # noqa: E402

SIZES = ("quick", "usual", "full")


class DataSet:
    """Rows and a model. `batch` is the batch size of all trainers together. So local does the same
    number of steps for any number of trainers."""

    score = "AUC"
    # Other metrics that are shown.
    also = ()
    header = False
    dense_groups = 1
    # All trainers meet most keys of the tables.
    few_keys = False
    epochs = 2
    limit = 600

    def text(self, setting=None):
        """Returns the model, with the settings that docs/Modes.md recommends. Without rounds, each
        push is a step of the dense parameters, so their learning rate is divided by the number of
        senders. A row still gets the samples of mostly one push at a time, so the learning rate of
        tables stays. Also includes what the setting needs."""
        def clause(text, pattern, replacement, due=1):
            text, found = re.subn(pattern, replacement, text)
            if found != due:
                raise ValueError(f"{self.model} has other groups than were thought of")
            return text

        text = clause(self.model.read_text(), r"(nn\.group @dense .* rate\([^()]*\))",
                      r"\1 rate_over(pushers)", self.dense_groups)
        if setting and setting.sums_tables and not self.few_keys:
            text = clause(text, r"(nn\.group @sparse .* untouched\(lazy\))", r"\1 merge(sum)")
        return text

    def flags(self, trainers):
        return ["--data", self.file, *(["--header"] if self.header else []), "--rows",
                f"0:{self.rows}", "--evaluate-rows", f"{self.rows}:{self.end}",
                "--batch-size", max(1, self.batch // trainers), "--epochs", self.epochs,
                "--shuffle-window", self.window]

    def steps(self):
        """Returns the number of steps of all trainers together, which is that of local."""
        return self.epochs * self.rows // self.batch

    def optimum(self):
        """Describes the best possible result, or returns None."""
        return None


class Criteo(DataSet):
    title = "Criteo: models/ctr_dnn, the first 10,000 rows"
    model = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
    batch, window = 128, 8000

    def __init__(self, folder, size, data):
        self.file = data / "criteo" / "kaggle_head10k.tsv.gz"
        self.rows, self.end = (2048, 3000) if size == "quick" else (8000, 10000)
        self.seeds = {"quick": 1, "usual": 3, "full": 5}[size]


class Avazu(DataSet):
    title = "Avazu: CTR-DNN with smaller layers, the first 9,999 rows"
    model = SOURCE / "integration_test" / "models" / "avazu_dnn.mlir"
    batch, window, header = 128, 8000, True

    def __init__(self, folder, size, data):
        self.file = data / "avazu" / "avazu_head9999.csv.gz"
        self.rows, self.end = (2048, 3000) if size == "quick" else (8000, 9999)
        self.seeds = {"quick": 1, "usual": 3, "full": 5}[size]


class Known(DataSet):
    title = "Clicks with a known optimum: CTR-DNN with smaller layers"
    model = SOURCE / "bench" / "modes" / "known_clicks_dnn.mlir"
    batch, window, epochs, limit = 512, 100000, 1, 3600
    also = ("log loss",)

    def __init__(self, folder, size, data, rows=None):
        count = rows or {"quick": 40000, "usual": 1000000, "full": 10000000}[size]
        self.file = folder / f"known-{count}.tsv"
        said = self.file.with_name(self.file.name + ".json")
        if not (self.file.exists() and said.exists()):
            make_known_clicks.write(self.file, count, 0.1, 1, 12 if size == "quick" else 20)
        self.said = json.loads(said.read_text())
        self.rows, self.end = self.said["test_begins"], count
        self.seeds = 1

    def optimum(self):
        return (f"On the test rows, the true probabilities have AUC {self.said['auc']:.4f} and log "
                f"loss {self.said['log_loss']:.4f}. A model can be better only by chance. "
                f"Predicting the mean of all rows gives 0.5 and {self.said['mean_log_loss']:.4f}.")


class Words(DataSet):
    title = "word2vec: models/word2vec, synthetic pairs"
    model = SOURCE / "models" / "word2vec" / "word2vec.mlir"
    batch, window, epochs = 128, 100000, 2
    dense_groups, few_keys = 0, True

    def __init__(self, folder, size, data):
        count = 8000 if size == "quick" else 100000
        self.file = folder / f"pairs-{count}.tsv"
        made_up.write_lines(self.file, make_pairs.pair_line, count)
        self.rows, self.end = count * 4 // 5, count
        self.seeds = {"quick": 1, "usual": 3, "full": 5}[size]


ALL = {"criteo": Criteo, "avazu": Avazu, "known": Known, "word2vec": Words}
# These may not be shipped.
NOT_SHIPPED = ("criteo", "avazu")
