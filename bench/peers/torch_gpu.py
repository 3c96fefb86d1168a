# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains CTR-DNN and DLRM of models/ in PyTorch on one GPU, with the samples in its memory. Prints
JSON.

    torch_gpu.py rate MODEL DATA START --kind KIND     samples a second
    torch_gpu.py losses MODEL DATA START --kind KIND   losses of steps on the first batch
    torch_gpu.py products MODEL                        ms of a step's products alone
    torch_gpu.py kinds                                 the kinds that the device has

DATA and START are files of gpu_work.py. A kind has three parts. The first says how steps run:
`eager`; `compiled`, model and loss with torch.compile; `reduced`, compiled with CUDA graphs by
torch.compile's mode reduce-overhead; `graphs`, the whole step with its optimizer, eager, as one
CUDA graph; `graphs_compiled`, the same with compiled code. The second says how rows are found:
`rows` (embedding) or `bags` (embedding_bag). The third says which rows an update changes: `lazy`,
those of the batch (sparse gradients, which are neither compiled nor captured), or `all`. All other
parameters use fused Adam. Products are in f32, not in TF32, or, with --precision bf16, by autocast.
"""

import argparse
import contextlib
import json
import pathlib
import struct
import sys
import time

import numpy
import torch
from torch.nn import functional

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "bench"))
from peers.gpu_work import NAMES, Work  # noqa: E402

EVERYWHERE = ("eager_rows_lazy", "eager_bags_lazy", "eager_rows_all", "eager_bags_all",
              "compiled_rows_all", "compiled_bags_all")
ON_GPUS = ("reduced_rows_all", "graphs_rows_all", "graphs_bags_all", "graphs_compiled_rows_all",
           "graphs_compiled_bags_all")
# Number of steps before the measurement, or before a graph is captured.
WARM = 5
BATCHES = 16
MEAN, DEVIATION = [3.62, 2.37, 0.73, 0.35, 3.67], [0.35, 0.27, 2.46, 1.59, 0.39]


def read(path):
    """Reads the tensors of a file into the memory of the GPU."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    kinds = {"F32": numpy.float32, "I32": numpy.int32, "I64": numpy.int64}
    return {name: numpy.memmap(path, kinds[entry["dtype"]], "r",
                               8 + size + entry["data_offsets"][0], tuple(entry["shape"]))
            for name, entry in header.items()}


def on_device(values, device):
    return torch.from_numpy(numpy.array(values)).to(device)


class Twin(torch.nn.Module):
    def __init__(self, work, start, kind, device):
        super().__init__()
        self.work, self.is_bag, self.is_lazy = work, "bags" in kind, "lazy" in kind
        values = {name: on_device(value, device) for name, value in read(start).items()}
        self.rows = torch.nn.Parameter(values.pop(f"{work.table}.values"))
        values.pop(f"{work.table}.keys")
        self.layers = torch.nn.ParameterDict(values)
        if self.work.name == "dlrm":
            self.register_buffer("mean", torch.tensor(MEAN, device=device))
            self.register_buffer("deviation", torch.tensor(DEVIATION, device=device))
            self.register_buffer("pairs", torch.tril_indices(9, 9, -1, device=device))

    def lookup(self, ids):
        """Returns [batch, slots, width]."""
        if not self.is_bag:
            return functional.embedding(ids, self.rows, sparse=self.is_lazy)
        bags = functional.embedding_bag(ids.view(-1, 1), self.rows, mode="sum",
                                        sparse=self.is_lazy)
        return bags.view(*ids.shape, -1)

    def linear(self, x, weight, bias):
        return functional.linear(x, self.layers[weight].T, self.layers[bias])

    def ctr_dnn(self, ids, x):
        h = torch.cat([self.lookup(ids).flatten(1), x], 1)
        for layer in "123":
            h = torch.relu(self.linear(h, "w" + layer, "b" + layer))
        return self.linear(h, "w4", "b4")

    def dlrm(self, ids, x):
        h = torch.relu(self.linear((x - self.mean) / self.deviation, "bottom_w1", "bottom_b1"))
        dense = torch.relu(self.linear(h, "bottom_w2", "bottom_b2"))
        vectors = torch.cat([dense[:, None], self.lookup(ids).to(dense.dtype)], 1)
        dots = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        h = torch.cat([dense, dots], 1)
        for layer in "12":
            h = torch.relu(self.linear(h, "top_w" + layer, "top_b" + layer))
        return self.linear(h, "top_w3", "top_b3")

    def forward(self, ids, numbers, label):
        x = torch.sign(numbers) * torch.log1p(numbers.abs())
        logit = getattr(self, self.work.name)(ids, x)
        return functional.binary_cross_entropy_with_logits(logit.float(), label)


class Trainer:
    """A model that is trained in the way of a kind, from the values of `start`."""

    def __init__(self, options, work):
        self.kind, self.device = options.kind, torch.device(options.device)
        self.autocast = (torch.autocast(self.device.type, torch.bfloat16)
                         if options.precision == "bf16" else contextlib.nullcontext())
        self.model = Twin(work, options.start, options.kind, self.device)
        dense = list(self.model.layers.parameters())
        self.lazy = None
        if self.model.is_lazy:
            self.lazy = torch.optim.SparseAdam([self.model.rows], lr=work.rate)
        else:
            dense.append(self.model.rows)
        self.is_graph = self.kind.startswith("graphs")
        self.optimizers = [torch.optim.Adam(dense, lr=work.rate, fused=True,
                                            capturable=self.is_graph)]
        self.optimizers += [self.lazy] if self.lazy else []
        self.is_reduced = self.kind.startswith("reduced")
        self.loss_of = self.model
        if "compiled" in self.kind or self.is_reduced:
            self.loss_of = torch.compile(self.model, dynamic=False,
                                         mode="reduce-overhead" if self.is_reduced else None)
        self.graph = None

    def eager_step(self, batch):
        if self.is_reduced:
            torch.compiler.cudagraph_mark_step_begin()
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        with self.autocast:
            loss = self.loss_of(*batch)
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.detach()

    def prepare(self, batch):
        """Compiles, captures, and restores the values of the beginning."""
        begin = [value.detach().clone() for value in self.model.parameters()]
        if self.is_graph:
            self.capture(batch)
        else:
            for _ in range(WARM):
                self.eager_step(batch)
        with torch.no_grad():
            for value, old in zip(self.model.parameters(), begin):
                value.copy_(old)
            for optimizer in self.optimizers:
                for state in optimizer.state.values():
                    for name, value in state.items():
                        # A graph keeps using the memory that it has captured.
                        state[name] = value.zero_() if torch.is_tensor(value) else 0

    def capture(self, batch):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM):
                self.eager_step(batch)
        torch.cuda.current_stream().wait_stream(stream)
        self.given = [part.clone() for part in batch]
        self.graph = torch.cuda.CUDAGraph()
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.loss = self.eager_step(self.given)

    def step(self, batch):
        if not self.graph:
            return self.eager_step(batch)
        for place, part in zip(self.given, batch):
            place.copy_(part)
        self.graph.replay()
        return self.loss


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(device, count, call):
    wait(device)
    start = time.perf_counter()
    for number in range(count):
        call(number)
    wait(device)
    return time.perf_counter() - start


def read_batches(options, work, most):
    fields, size = read(options.data), options.batch
    # Bags of one id each.
    ids = (fields["categories.values"].reshape(-1, work.slots) if work.is_ragged else
           fields["categories"])
    count = min(most, len(ids) // size)
    return [[on_device(part[i * size:(i + 1) * size], options.device)
             for part in (ids, fields["numbers"], fields["label"])] for i in range(count)]


def rate(options, work):
    trainer = Trainer(options, work)
    batches = read_batches(options, work, BATCHES)
    trainer.prepare(batches[0])

    def step(number):
        trainer.step(batches[number % len(batches)])

    each = timed(trainer.device, WARM, step) / WARM
    count = max(WARM, round(options.seconds / each))
    return {"rate": count * options.batch / timed(trainer.device, count, step)}


def losses(options, work):
    trainer = Trainer(options, work)
    batch = read_batches(options, work, 1)[0]
    trainer.prepare(batch)
    found = []
    for number in range(options.steps):
        if trainer.lazy:
            # This class adds epsilon to the root of the biased mean, the paper to that of the
            # unbiased one.
            trainer.lazy.param_groups[0]["eps"] = 1e-8 * (1 - 0.999 ** (number + 1)) ** 0.5
        found.append(trainer.step(batch).item())
    return {"losses": found}


def products(options, work):
    """Measures each product alone, with torch.mm; equal products of a batch's samples with
    torch.bmm."""
    if options.device.startswith("cuda"):
        torch.backends.cuda.preferred_blas_library("cublaslt")
    kind = torch.bfloat16 if options.precision == "bf16" else torch.float32
    device, found = torch.device(options.device), {}
    for rows, columns, summed, count in work.products(options.batch):
        many = () if count == 1 else (count,)
        # The dimension that is summed over the batch is transposed, as in a step.
        a = (torch.randn(*many, summed, rows, device=device).transpose(-1, -2)
             if summed == options.batch else torch.randn(*many, rows, summed, device=device))
        a, b = a.to(kind), torch.randn(*many, summed, columns, device=device).to(kind)
        out = torch.empty(*many, rows, columns, device=device, dtype=kind)
        call = torch.mm if count == 1 else torch.bmm

        def multiply(_):
            call(a, b, out=out)

        each = timed(device, WARM, multiply) / WARM
        repeats = max(WARM, round(options.seconds / 10 / each))
        name = f"{rows} x {columns} x {summed}" + (f", {count} times" if many else "")
        found[name] = (found.get(name, 0) +
                       1000 * timed(device, repeats, multiply) / repeats)
    return {"products": found, "milliseconds": sum(found.values())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("rate", "losses", "products", "kinds"))
    parser.add_argument("model", choices=NAMES, nargs="?")
    parser.add_argument("data", type=pathlib.Path, nargs="?")
    parser.add_argument("start", type=pathlib.Path, nargs="?")
    parser.add_argument("--kind", choices=(*EVERYWHERE, *ON_GPUS))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--most-ids", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("highest")
    if options.what == "kinds":
        on_gpu = options.device.startswith("cuda")
        print(json.dumps({"kinds": [*EVERYWHERE, *(ON_GPUS if on_gpu else ())],
                          "device": torch.cuda.get_device_name(options.device) if on_gpu else
                          "a CPU", "torch": torch.__version__}))
        return
    work = Work(options.model, options.most_ids)
    print(json.dumps({"rate": rate, "losses": losses,
                      "products": products}[options.what](options, work)))


if __name__ == "__main__":
    main()
