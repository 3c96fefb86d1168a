# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data for the models of models/: those of Adult, or synthetic data for models whose data cannot
be shipped or are always synthetic."""

import sys

import made_up_clicks
from programs import ADULT, SOURCE, model

sys.path.insert(0, str(SOURCE / "scripts"))
import made_up
import make_histories
import make_pairs
import make_texts


def model_data(name, folder, rows):
    """Returns the file that models/NAME reads. If the data are synthetic, writes `rows` rows."""
    text = model(name).read_text()
    if "nn.record @criteo" in text:
        made_up_clicks.write_clicks(folder / "clicks.tsv", rows)
        return folder / "clicks.tsv"
    if "scripts/make_histories.py" in text:
        made_up.write_lines(folder / "histories.tsv", make_histories.history_line,
                            rows)
        return folder / "histories.tsv"
    if "scripts/make_pairs.py" in text:
        made_up.write_lines(folder / "pairs.tsv", make_pairs.pair_line, rows)
        return folder / "pairs.tsv"
    if "scripts/make_texts.py" in text:
        made_up.write_lines(folder / "texts.tsv", make_texts.text_line, rows)
        return folder / "texts.tsv"
    return ADULT
