# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains CTR-DNN in PyTorch, on tensors in memory. Prints samples per second as JSON.

SparseAdam updates the rows of a batch, fused Adam the layers. The batches are made before the
measurement. The time is CPU time with one thread, and wall-clock time with more.

Values of --precision:

- f32.
- onednn: oneDNN's f32 products instead of MKL's. oneDNN may also round them to bf16, which it does
  only on CPUs with AMX.
- autocast: bf16, with weights in f32.
- pure: the layers and their Adam in bf16, without weights in f32.

--compiled compiles the layers and the loss with torch.compile, which does not support sparse
gradients.
"""

import argparse
import json
import time

import torch

SLOTS, NUMBERS = 26, 13

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--batch", type=int, default=1000)
parser.add_argument("--keys", type=int, default=0)
parser.add_argument("--precision", default="f32",
                    choices=("f32", "onednn", "autocast", "pure"))
parser.add_argument("--compiled", action="store_true")
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)
if options.precision == "onednn":
    torch.set_float32_matmul_precision("medium")

# Without --keys, about as many keys as the skewed ids of the text have.
KEYS = options.keys or 300_000
# With many keys no batch is repeated, so that rows are not in a cache.
BATCHES = 150 if options.keys else 16
table = torch.nn.Embedding(KEYS, 10, sparse=True)
torch.nn.init.uniform_(table.weight, -0.01, 0.01)
layers = torch.nn.Sequential(
    torch.nn.Linear(10 * SLOTS + NUMBERS, 400), torch.nn.ReLU(),
    torch.nn.Linear(400, 400), torch.nn.ReLU(),
    torch.nn.Linear(400, 400), torch.nn.ReLU(), torch.nn.Linear(400, 1))
if options.precision == "pure":
    layers.bfloat16()
sparse = torch.optim.SparseAdam(list(table.parameters()), lr=1e-3)
dense = torch.optim.Adam(layers.parameters(), lr=1e-3, fused=True)
loss_of = torch.nn.BCEWithLogitsLoss()


def make_ids():
    """Returns ids that are skewed in each slot; with --keys, half of the slots are uniform."""
    ids = []
    share = KEYS // SLOTS
    for slot in range(SLOTS):
        if options.keys and slot % 2:
            each = KEYS // (SLOTS // 2)
            ids.append(slot // 2 * each + torch.randint(each, (options.batch,)))
        else:
            skewed = (10 ** (1 + slot / 5) * torch.rand(options.batch) ** 4).long()
            ids.append(slot * share + skewed % share)
    return torch.stack(ids, 1)


batches = [(make_ids(), torch.randint(100, (options.batch, NUMBERS)).float(),
            (torch.rand(options.batch, 1) < 0.25).float()) for _ in range(BATCHES)]


def loss_from_rows(rows, numbers, labels):
    with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "autocast"):
        x = torch.cat([rows.flatten(1), torch.log1p(numbers)], 1)
        z = layers(x.bfloat16() if options.precision == "pure" else x)
    return loss_of(z.float(), labels)


if options.compiled:
    loss_from_rows = torch.compile(loss_from_rows, dynamic=False)


def step(ids, numbers, labels):
    loss = loss_from_rows(table(ids), numbers, labels)
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()


clock = time.process_time if options.threads == 1 else time.perf_counter
for batch in batches[:3]:
    step(*batch)
for state in sparse.state.values():
    # The system allocates pages at the first write. This must happen before the measurement.
    for values in state.values():
        if torch.is_tensor(values) and values.numel() > 1:
            values.add_(0)
steps = 3
start = clock()
while clock() - start < 3 and (steps < BATCHES or not options.keys):
    step(*batches[steps % BATCHES])
    steps += 1
print(json.dumps({"rate": (steps - 3) * options.batch / (clock() - start)}))
