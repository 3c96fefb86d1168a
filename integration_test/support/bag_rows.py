# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of a label and one bag, which each format can express, and a model of them. The first value
of a bag occurs in one row only, so that the keys of the table show which rows were trained."""

import json
import os
import random
import sys

from programs import ORACLES

sys.path.insert(0, str(ORACLES))

import tensorfile
import tfrecord

ARROW = os.environ.get("PDL_TEST_ARROW")

LOOKUP = """    %e = nn.lookup @emb[%bag] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>"""

BAG_MODEL = f"""module @bags {{
  nn.record @line {{
    nn.field @label : tensor<?x1xf32>
    nn.field @bag : !nn.ragged<?x1x*xi64> separator("|")
  }}
  nn.group @g rule(@adagrad) rate(0.1)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.program @train reads(@line) {{
  ^bb0(%y: tensor<?x1xf32>, %bag: !nn.ragged<?x1x*xi64>):
{LOOKUP}
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }}
  nn.program @evaluate frozen reads(@line) {{
  ^bb0(%y: tensor<?x1xf32>, %bag: !nn.ragged<?x1x*xi64>):
{LOOKUP}
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@line except @label) {{
  ^bb0(%bag: !nn.ragged<?x1x*xi64>):
{LOOKUP}
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p as "p" : tensor<?x1xf32>
  }}
}}
"""


def bag_rows(count, seed=7):
    """Returns `count` rows: a label of 0 or 1, and the list of the bag's ids."""
    draw = random.Random(seed)
    rows = []
    for i in range(count):
        words = [draw.randrange(40) for _ in range(draw.randrange(1, 4))]
        rows.append((int(sum(words) / len(words) + draw.gauss(0, 8) > 20), [1000 + i, *words]))
    return rows


LINES = {
    "csv": lambda label, bag: f"{label},{'|'.join(map(str, bag))}",
    "tsv": lambda label, bag: f"{label}\t{'|'.join(map(str, bag))}",
    "jsonl": lambda label, bag: json.dumps({"bag": bag, "day": {"hour": 3}, "label": label}),
    "multislot": lambda label, bag: f"1 {label} {len(bag)} {' '.join(map(str, bag))}",
    "slots": lambda label, bag: " ".join([f"label:{label}"] + [f"bag:{key}" for key in bag]),
    "signs": lambda label, bag: " ".join([f"{label}:label"] + [f"{key}:bag" for key in bag]),
    "libsvm": lambda label, bag: " ".join([str(label)] + [f"{key}:1" for key in bag]),
    "libffm": lambda label, bag: " ".join([str(label)] + [f"0:{key}:1" for key in bag]),
}
# Formats whose files may be compressed, or come from a pipe.
STREAMED = [*LINES, "tfrecord"]
COLUMNS = ["parquet", "arrow"] if ARROW else []
FORMATS = [*STREAMED, *COLUMNS, "safetensors"]


# Formats of messages of Kafka.
MESSAGES = [*LINES, *(["arrow"] if ARROW else [])]


def messages_of(form, rows):
    """Returns messages that have the rows: one for each row of a text format, or batches."""
    if form in LINES:
        return lines_of(form, rows)
    return [message_of(table_of(rows[i:i + 5])) for i in range(0, len(rows), 5)]


def lines_of(form, rows):
    """Returns the lines of a text format."""
    return [LINES[form](*row) for row in rows]


def import_pyarrow():
    """Returns the module pyarrow, with pyarrow.parquet."""
    if ARROW not in sys.path:
        sys.path.append(ARROW)
    import pyarrow
    import pyarrow.parquet
    return pyarrow


def table_of(rows):
    return import_pyarrow().table({"label": [label for label, _ in rows],
                                   "bag": [bag for _, bag in rows]})


def message_of(table, max_chunksize=3, compression=None):
    """Returns a message of Kafka: an Arrow IPC stream."""
    pyarrow = import_pyarrow()
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=max_chunksize)
    return sink.getvalue().to_pybytes()


def write_columns(path, form, rows):
    """Writes a Parquet or Arrow file with two row groups or batches."""
    pyarrow = import_pyarrow()
    table = table_of(rows)
    half = len(rows) // 2 + 1
    if form == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=half)
        return
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=half)


def write_tensors(path, rows):
    array = tensorfile.array.array
    splits = [0]
    for _, bag in rows:
        splits.append(splits[-1] + len(bag))
    tensorfile.write(path, {
        "label": tensorfile.Tensor("F32", [len(rows), 1], array("f", [row[0] for row in rows])),
        "bag.values": tensorfile.Tensor("I64", [splits[-1]],
                                        array("q", [key for _, bag in rows for key in bag])),
        "bag.splits": tensorfile.Tensor("I64", [len(splits)], array("q", splits))})


def write_rows(path, form, rows):
    """Writes the rows to a file in one of FORMATS."""
    if form == "tfrecord":
        tfrecord.write(path, ({"label": [float(label)], "bag": bag} for label, bag in rows))
    elif form == "safetensors":
        write_tensors(path, rows)
    elif form in ("parquet", "arrow"):
        write_columns(path, form, rows)
    else:
        path.write_text("".join(line + "\n" for line in lines_of(form, rows)))
