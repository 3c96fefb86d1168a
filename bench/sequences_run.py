#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models of sequences, models/gru4rec (nn.gru) and models/sasrec (attention over padded
positions), with PyTorch and with the limit of the core. Needs PyTorch.

    python3 bench/sequences_run.py [build folder] [--rows N] [--batch N] [--rounds N]

Both train on one thread, on the same rows, with Adam, which is lazy for the rows of items. PDL
reads and parses text; PyTorch has its tensors in memory. PyTorch uses torch.nn.GRU over packed or
padded sequences, scaled_dot_product_attention, and SparseAdam for touched rows or fused Adam for
all 300 rows (which suits so few). It runs eager and, if there is a C++ compiler, compiled; its best
variant counts. The figures are samples per second of CPU time of the thread or process, without its
start: the difference of a run of five passes and one of one pass. Contenders run alternately. Each
round gives a ratio; prints the median, the smallest and the largest.

The limit is a loop of independent FMAs (bench/handwritten) that computes only the products of the
model, for positions with an item: forward, and twice as many backward. Padding, activations,
lookups, Adam and reading are not part of the limit.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "bench")]
import made_up  # noqa: E402
import make_histories  # noqa: E402
from whole_run import cpu_seconds  # noqa: E402

PASSES = 5


def read_histories(path):
    """Returns items, the next item, and another item, of each row."""
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return ([[int(x) for x in row[3].split()] for row in rows],
            [int(row[5]) for row in rows], [int(row[7]) for row in rows])


def products_of(name, items):
    """Returns the multiply-adds of the products of one forward pass."""
    if name == "gru4rec":
        return sum(len(row) for row in items) * 2 * 32 * 96
    total = 0
    for row in items:
        places = min(len(row), 10)
        # Three projections and two layers, then products of positions with those before them.
        total += places * 5 * 16 * 16 + places * (places + 1) // 2 * 2 * 16
    return total


def make_peer(torch, name, items, following, other):
    """Returns `step(rows)` of PyTorch, and the compiled parts."""
    functional = torch.nn.functional

    def rows_of(size, sparse):
        table = torch.nn.Embedding(make_histories.ITEMS, size, sparse=sparse)
        torch.nn.init.uniform_(table.weight, -0.05, 0.05)
        return table

    class Session(torch.nn.Module):
        def __init__(self, packed, sparse):
            super().__init__()
            self.seen, self.scored = rows_of(32, sparse), rows_of(32, sparse)
            self.gru = torch.nn.GRU(32, 32, batch_first=True)
            self.packed = packed

        def forward(self, items, lengths):
            rows = self.seen(items)
            if self.packed:
                packed = torch.nn.utils.rnn.pack_padded_sequence(
                    rows, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
                return self.gru(packed)[1][0] * (lengths > 0).unsqueeze(1)
            states = self.gru(rows)[0]
            last = states[torch.arange(len(items)), (lengths - 1).clamp(min=0)]
            return last * (lengths > 0).unsqueeze(1)

    class Block(torch.nn.Module):
        def __init__(self, sparse):
            super().__init__()
            self.scored = rows_of(16, sparse)
            self.places = torch.nn.Parameter(torch.rand(10, 16) * 0.1 - 0.05)
            self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(16) for _ in range(3))
            # The three projections are one product.
            self.projections = torch.nn.Linear(16, 48, bias=False)
            self.w1, self.w2 = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
            self.register_buffer("before", torch.ones(10, 10, dtype=torch.bool).tril())

        def forward(self, items, lengths):
            held = torch.arange(10) >= 10 - lengths.unsqueeze(1)
            x = (self.scored(items) * 4 + self.places) * held.unsqueeze(2)
            q, k, v = self.projections(self.norms[0](x)).chunk(3, 2)
            # A position before the first item attends to itself. Otherwise its weights would be 0 /
            # 0.
            allowed = self.before & (held.unsqueeze(1) | torch.eye(10, dtype=torch.bool))
            y = x + functional.scaled_dot_product_attention(q, k, v, allowed)
            z = y + self.w2(torch.relu(self.w1(self.norms[1](y))))
            return self.norms[2](z[:, 9])

    if name == "gru4rec":
        models = {"packed": partial(Session, True), "padded": partial(Session, False)}
        longest = max(map(len, items))
        filled = [row + [0] * (longest - len(row)) for row in items]
    else:
        models = {"attention": Block}
        filled = [([0] * 10 + row)[-10:] for row in items]
    places = torch.tensor(filled)
    lengths = torch.tensor([min(len(row), len(filled[0])) for row in items])
    following, other = torch.tensor(following), torch.tensor(other)

    def trainer(model, sparse):
        tables = [p for n, p in model.named_parameters() if n in ("seen.weight", "scored.weight")]
        dense = [p for n, p in model.named_parameters()
                 if not sparse or n not in ("seen.weight", "scored.weight")]
        optimizers = [torch.optim.Adam(dense, lr=3e-3, fused=True)]
        if sparse:
            optimizers.append(torch.optim.SparseAdam(tables, lr=3e-3))

        def loss_of(items, lengths, following, other):
            user = model(items, lengths)
            good = (user * model.scored(following)).sum(1)
            bad = (user * model.scored(other)).sum(1)
            if name == "gru4rec":
                return -functional.logsigmoid(good - bad).mean()
            return (functional.softplus(-good) + functional.softplus(bad)).mean()

        def step(loss_of, rows):
            length = lengths[rows]
            # No batch is wider than its longest row.
            width = max(1, int(length.max())) if name == "gru4rec" else 10
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss = loss_of(places[rows, :width], length, following[rows], other[rows])
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            return float(loss.detach())
        return loss_of, step

    found = {}
    for kind, make in models.items():
        for rows, sparse in (("lazy rows", True), ("all rows", False)):
            loss_of, step = trainer(make(sparse), sparse)
            found[f"{kind}, {rows}"] = partial(step, loss_of)
        # Neither packing nor sparse gradients are compiled.
        if kind != "packed":
            found[f"{kind}, all rows, compiled"] = partial(
                step, torch.compile(loss_of, dynamic=False))
    return found


def peer_rate(torch, step, count, batch):
    """Returns samples per second, and the loss of the last step."""
    order = torch.randperm(count)
    # A last batch of another size would be compiled again.
    batches = [order[i:i + batch] for i in range(0, count - batch + 1, batch)]
    step(batches[0])
    begin = time.process_time()
    for rows in batches:
        loss = step(rows)
    return len(batches) * batch / (time.process_time() - begin), loss


def our_rate(program, data, count, batch):
    command = [program, "train", "--data", data, "--batch-size", batch, "--epochs"]
    once, often = (cpu_seconds([*command, passes]) for passes in (1, PASSES))
    return (PASSES - 1) * count / (often - once)


def measure(torch, build, name, options, peak, folder):
    data = folder / "histories.tsv"
    made_up.write_lines(data, make_histories.history_line, options.rows)
    items, following, other = read_histories(data)
    subprocess.run([build / "bin" / "pdl-translate", SOURCE / "models" / name / f"{name}.mlir",
                    "-o", folder / name], check=True)
    program = folder / name / "trainer"
    limit = peak / (2 * 3 * products_of(name, items) / len(items))
    peers = make_peer(torch, name, items, following, other)
    print(f"{name}: limit {limit:.0f} samples/s, by the products alone")
    for kind, step in list(peers.items()):
        try:
            rate, loss = peer_rate(torch, step, len(items), options.batch)
            print(f"  PyTorch, {kind}: {rate:.0f} samples/s, loss {loss:.3f}")
        except Exception as error:  # No C++ compiler, or an op that is not compiled.
            print(f"  PyTorch, {kind}: not there: {str(error).splitlines()[0][:90]}")
            del peers[kind]
    ours, best, ratios = [], [], []
    for _ in range(options.rounds):
        ours.append(our_rate(program, data, len(items), options.batch))
        best.append(max(peer_rate(torch, step, len(items), options.batch)[0]
                        for step in peers.values()))
        ratios.append(ours[-1] / best[-1])
    print(f"  ours {statistics.median(ours):.0f} samples/s with reading "
          f"({100 * statistics.median(ours) / limit:.1f} % of the limit), PyTorch's best "
          f"{statistics.median(best):.0f} without ({100 * statistics.median(best) / limit:.1f} %)")
    print(f"  ours / PyTorch: {statistics.median(ratios):.2f} "
          f"({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--rows", type=int, default=20480)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("sequences_run.py: it compares with PyTorch; pip install torch")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    text = subprocess.run([options.build / "bin" / "pdl-bench-handwritten"], check=True,
                          capture_output=True, text=True).stdout
    peak = 1e9 * float(re.search(r"FMA loop: ([0-9.]+) Gflop/s", text)[1])
    print(f"FMA loop: {peak / 1e9:.1f} Gflop/s")
    for name in ("gru4rec", "sasrec"):
        with tempfile.TemporaryDirectory() as folder:
            measure(torch, options.build, name, options, peak, pathlib.Path(folder))


if __name__ == "__main__":
    main()
