# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains DLRM in PyTorch, on tensors in memory. Prints samples per second as JSON.

Uses Adagrad, whose sparse form updates only the rows of a batch, and 26 tables as Embedding or as
EmbeddingBag.
"""

import argparse
import json
import time

import torch

SLOTS, NUMBERS, SIZE, BATCH, BATCHES = 26, 13, 16, 2048, 16

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--bags", action="store_true")
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)

sizes = [int(10 ** (1 + slot / 5)) + 1 for slot in range(SLOTS)]
if options.bags:
    tables = [torch.nn.EmbeddingBag(size, SIZE, mode="sum", sparse=True) for size in sizes]
else:
    tables = [torch.nn.Embedding(size, SIZE, sparse=True) for size in sizes]
bottom = torch.nn.Sequential(torch.nn.Linear(NUMBERS, 64), torch.nn.ReLU(),
                             torch.nn.Linear(64, SIZE), torch.nn.ReLU())
top = torch.nn.Sequential(torch.nn.Linear(SIZE + 351, 64), torch.nn.ReLU(),
                          torch.nn.Linear(64, 1))
rows = torch.optim.Adagrad([p for table in tables for p in table.parameters()], lr=1e-2)
dense = torch.optim.Adagrad([*bottom.parameters(), *top.parameters()], lr=1e-2, fused=True)
loss_of = torch.nn.BCEWithLogitsLoss()
low = torch.tril_indices(SLOTS + 1, SLOTS + 1, -1)
offsets = torch.arange(BATCH)
batches = [([(10 ** (1 + s / 5) * torch.rand(BATCH) ** 4).long() for s in range(SLOTS)],
            torch.randint(100, (BATCH, NUMBERS)).float(),
            (torch.rand(BATCH, 1) < 0.25).float()) for _ in range(BATCHES)]


def step(ids, numbers, labels):
    first = bottom(torch.log1p(numbers))
    if options.bags:
        found = [table(column, offsets) for table, column in zip(tables, ids)]
    else:
        found = [table(column) for table, column in zip(tables, ids)]
    vectors = torch.stack([first, *found], 1)
    dots = torch.bmm(vectors, vectors.transpose(1, 2))[:, low[0], low[1]]
    loss = loss_of(top(torch.cat([first, dots], 1)), labels)
    rows.zero_grad()
    dense.zero_grad()
    loss.backward()
    rows.step()
    dense.step()


for batch in batches[:3]:
    step(*batch)
clock = time.process_time if options.threads == 1 else time.perf_counter
steps = 0
start = clock()
while clock() - start < 3:
    step(*batches[steps % BATCHES])
    steps += 1
print(json.dumps({"rate": steps * BATCH / (clock() - start)}))
