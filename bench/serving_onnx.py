#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a compiled library with ONNX Runtime: same model, values and samples, one thread.

    python3 -m venv peers && peers/bin/pip install onnxruntime onnx numpy
    peers/bin/python bench/serving_onnx.py [--build FOLDER] [--models NAMES] [--rounds N]

Models of models/ are trained a little. A library of each (numerics fast, and strict) loads the
checkpoint. onnx.helper makes an ONNX graph of the same values, which must first predict the same as
the library, to 1e-5. Then they run alternately: calls of one sample, for the median wall-clock time
of a call, and batches of 256, for samples per second of the thread's processor time. Each call has
other samples than the previous one. Prints medians of the rounds, their ratio, and the lowest and
highest ratio of a round.

ONNX Runtime is tuned: all graph optimizations, one thread, one graph for each batch size with fixed
shapes, inputs and outputs bound to memory before the measurement (IO binding), called below its
Python wrapper. Its lookups are one Gather of dense indices, which are made from keys before the
measurement. The library finds the rows of 64-bit keys itself and, in the lines "texts", first
hashes texts to keys. Both are called from Python with arguments that were made before.

A batch of 256 is also compared with a loop of FMAs that does only the products of the model. A
library skips multiplications by zeros, which relu often makes, so it may be faster than this loop.
The share of zeros is printed, and --batch-size 20000 makes values with fewer. Needs an idle core:
--core N.
"""

import argparse
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SOURCE = pathlib.Path(__file__).resolve().parent.parent
for folder in "integration_test/support", "integration_test/oracles", "python":
    sys.path.insert(0, str(SOURCE / folder))

TYPES = {"F32": np.float32, "I64": np.int64}
SAMPLES = {1: 2000, 256: 64}  # different calls, by batch size


#===----------------------------------------------------------------------===#
# Graphs
#===----------------------------------------------------------------------===#

class Graph:
    """An ONNX graph that is made node by node. `values`: tensors of a dump."""

    def __init__(self, values):
        self.values, self.nodes, self.constants, self.products = values, [], {}, 0
        self.activations = []  # results of a relu, which the next product reads

    def node(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, name, value):
        self.constants[name] = value
        return name

    def integers(self, *values):
        return self.constant("i" + "_".join(map(str, values)), np.array(values, np.int64))

    def numbers(self, name, values):
        return self.constant(name, np.array(values, np.float32))

    def parameter(self, name):
        return self.constant(name, self.values[name])

    def linear(self, x, weight, bias=None, act=None):
        self.products += self.values[weight].size
        result = self.node("Gemm", x, self.parameter(weight),
                           *([self.parameter(bias)] if bias else []))
        if act:
            result = self.node(act, result)
            self.activations.append(result)
        return result

    def tamed(self, x):
        """Returns sign(x) log(1 + |x|)."""
        size = self.node("Log", self.node("Add", self.node("Abs", x), self.numbers("one", [1])))
        return self.node("Mul", self.node("Sign", x), size)

    def standardized(self, x):
        mean = self.numbers("mean", [3.62, 2.37, 0.73, 0.35, 3.67])
        deviation = self.numbers("deviation", [0.35, 0.27, 2.46, 1.59, 0.39])
        return self.node("Div", self.node("Sub", self.tamed(x), mean), deviation)

    def rows(self, table, ids):
        """Returns [b, slots, width] of dense indices. The last row is that of an empty bag,
        zeros."""
        values = self.values[f"{table}.values"]
        return self.node("Gather", self.constant(table, np.concatenate(
            [values, np.zeros((1, values.shape[1]), np.float32)])), ids, axis=0)

    def model(self, batch, numbers, slots, outputs=None):
        """`outputs`: values by name, instead of the predictions."""
        graph = helper.make_graph(
            self.nodes, "model",
            [helper.make_tensor_value_info("numbers", TensorProto.FLOAT, [batch, numbers]),
             helper.make_tensor_value_info("ids", TensorProto.INT64, [batch, slots])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, None])
             for name in outputs or [self.nodes[-1].output[0]]],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        made.ir_version = 8
        onnx.checker.check_model(made)
        return made.SerializeToString()


def ctr_dnn(graph):
    flat = graph.node("Reshape", graph.rows("emb", "ids"), graph.integers(-1, 260))
    h = graph.node("Concat", flat, graph.tamed("numbers"), axis=1)
    for layer in "123":
        h = graph.linear(h, "w" + layer, "b" + layer, "Relu")
    graph.node("Sigmoid", graph.linear(h, "w4", "b4"))


def dlrm(graph):
    x = graph.linear(graph.standardized("numbers"), "bottom_w1", "bottom_b1", "Relu")
    dense = graph.linear(x, "bottom_w2", "bottom_b2", "Relu")
    one = graph.node("Reshape", dense, graph.integers(-1, 1, 8))
    vectors = graph.node("Concat", one, graph.rows("embedding", "ids"), axis=1)
    graph.products += 36 * 8
    dots = graph.node("MatMul", vectors, graph.node("Transpose", vectors, perm=[0, 2, 1]))
    flat = graph.node("Reshape", dots, graph.integers(-1, 81))
    below = [9 * i + j for i in range(9) for j in range(i)]
    pairs = graph.node("Gather", flat, graph.constant("below", np.array(below, np.int64)), axis=1)
    h = graph.node("Concat", dense, pairs, axis=1)
    for layer, act in ("1", "Relu"), ("2", "Relu"), ("3", None):
        h = graph.linear(h, "top_w" + layer, "top_b" + layer, act)
    graph.node("Sigmoid", h)


def deepfm(graph):
    x = graph.standardized("numbers")
    weights = graph.node("ReduceSum", graph.rows("weights", "ids"), graph.integers(1), keepdims=0)
    first = graph.node("Add", weights, graph.linear(x, "number_weights", "bias"))
    column = graph.node("Reshape", x, graph.integers(-1, 5, 1))
    scaled = graph.node("Mul", column, graph.parameter("number_factors"))
    vectors = graph.node("Concat", graph.rows("factors", "ids"), scaled, axis=1)
    total = graph.node("ReduceSum", vectors, graph.integers(1), keepdims=0)
    squares = graph.node("ReduceSum", graph.node("Mul", vectors, vectors), graph.integers(1),
                         keepdims=0)
    difference = graph.node("Sub", graph.node("Mul", total, total), squares)
    second = graph.node("Mul", graph.node("ReduceSum", difference, graph.integers(1), keepdims=1),
                        graph.numbers("half", [0.5]))
    flat = graph.node("Reshape", vectors, graph.integers(-1, 104))
    h = graph.linear(graph.linear(flat, "w1", "b1", "Relu"), "w2", "b2", "Relu")
    machine = graph.node("Add", first, second)
    graph.node("Sigmoid", graph.node("Add", machine, graph.linear(h, "w3")))


GRAPHS = {"ctr_dnn": (ctr_dnn, "emb"), "dlrm": (dlrm, "embedding"), "deepfm": (deepfm, "factors")}


#===----------------------------------------------------------------------===#
# Contenders
#===----------------------------------------------------------------------===#

def aligned(array):
    """Returns a copy whose memory begins at a multiple of 64 bytes."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    copy = memory[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Runtime:
    """ONNX Runtime with a graph of one batch size."""

    def __init__(self, serialized):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        self.session = onnxruntime.InferenceSession(serialized, options,
                                                    providers=["CPUExecutionProvider"])

    def call(self, numbers, ids):
        """Returns a function that scores these samples, and the memory of its output."""
        numbers, ids = aligned(numbers), aligned(ids)
        out = aligned(np.zeros((len(numbers), 1), np.float32))
        binding = self.session.io_binding()
        for name, value in ("numbers", numbers), ("ids", ids):
            binding.bind_input(name, "cpu", 0, value.dtype, value.shape, value.ctypes.data)
        binding.bind_output(self.session.get_outputs()[0].name, "cpu", 0, np.float32, out.shape,
                            out.ctypes.data)
        run, bound = self.session._sess.run_with_iobinding, binding._iobinding
        kept = numbers, ids, binding
        return lambda _kept=kept: run(bound, None), out


class Library:
    """A compiled library with the values of a checkpoint."""

    def __init__(self, path, values):
        from pdl import serving  # pylint: disable=import-outside-toplevel
        self.serving = serving
        self.library = serving.Library(path)
        self.model = self.library.open(values)

    def call(self, inputs, batch):
        """Returns the same as Runtime.call; `inputs` as pdl.serving takes them."""
        program = self.library.programs["predict"]
        raw, kept = (self.serving._Input * len(program.inputs))(), []
        are_keys = (ctypes.c_int32 * len(program.inputs))()
        for place, tensor in enumerate(program.inputs):
            are_keys[place] = self.model._is_unsigned(tensor, inputs[tensor.name])
            self.model._take(raw[place], tensor, inputs[tensor.name], kept)
        out = aligned(np.zeros((batch, 1), np.float32))
        outputs = (ctypes.c_void_p * 1)(out.ctypes.data)
        run, pointer = self.library.functions.run_keys, self.model._pointer
        arguments = (ctypes.c_void_p(pointer), ctypes.c_int32(program.index),
                     ctypes.c_int64(batch), raw, are_keys, outputs)

        def call(_kept=(kept, inputs)):
            if run(*arguments):
                raise self.library.error()
        return call, out


#===----------------------------------------------------------------------===#
# Samples
#===----------------------------------------------------------------------===#

def read(path):
    import tensorfile  # pylint: disable=import-outside-toplevel
    found = {}
    for name, tensor in tensorfile.read(str(path)).items():
        array = np.frombuffer(tensor.data, TYPES.get(tensor.type, np.uint8))
        found[name] = array.reshape(tensor.shape)
    return found


class Samples:
    """The samples of all contenders, in the form of each. `inputs`: from predict --dump-inputs."""

    def __init__(self, inputs, values, table):
        self.numbers = inputs["numbers"]
        self.count = len(self.numbers)
        self.ragged = "categories.splits" in inputs
        if self.ragged:
            self.keys, self.splits = inputs["categories.values"], inputs["categories.splits"]
        else:
            self.keys = inputs["categories"].reshape(-1)
            self.splits = np.arange(len(self.keys) + 1)
        self.slots = (len(self.splits) - 1) // self.count
        content, ends = inputs["categories.texts"].tobytes(), inputs["categories.text_ends"]
        self.texts = [content[a:b] for a, b in zip([0, *ends], ends)]
        self.text_splits = inputs.get("categories.text_splits", np.arange(len(ends) + 1))
        self.ids = self.dense(values[f"{table}.keys"])

    def dense(self, keys):
        """Returns the row number of each slot; for an empty bag, the number after the last row."""
        counts = np.diff(self.splits)
        assert counts.max() <= 1, "a Gather alone is for bags of one id"
        order = np.argsort(keys)
        places = order[np.searchsorted(keys[order], self.keys)]
        assert (keys[places] == self.keys).all(), "a key has no row"
        ids = np.full(self.count * self.slots, len(keys), np.int64)
        ids[counts > 0] = places
        return ids.reshape(self.count, self.slots)

    def cut(self, splits, begin, end):
        part = splits[begin * self.slots:end * self.slots + 1]
        return int(part[0]), int(part[-1]), part - part[0]

    def keys_of(self, begin, end):
        first, last, splits = self.cut(self.splits, begin, end)
        keys = aligned(self.keys[first:last].view(np.uint64))
        return {"numbers": aligned(self.numbers[begin:end]),
                "categories": (keys, splits.astype(np.int32)) if self.ragged else keys}

    def texts_of(self, begin, end):
        first, last, splits = self.cut(self.text_splits, begin, end)
        texts = self.texts[first:last]
        return {"numbers": aligned(self.numbers[begin:end]),
                "categories": [texts[a:b] for a, b in zip(splits, splits[1:])]
                if self.ragged else texts}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.stderr}")
    return done.stdout


def prepare(options, name, folder):
    """Trains a model. Returns values and inputs, libraries by numerics, and the trainer's
    predictions."""
    os.environ["PDL_BUILD"] = str(options.build)
    from model_data import model_data  # pylint: disable=import-outside-toplevel
    tools = options.build / "bin"
    source, libraries = SOURCE / "models" / name / f"{name}.mlir", {}
    for numerics in "fast", "strict":
        run(tools / "pdl-translate", source, f"--numerics={numerics}", "--emit=library", "-o",
            folder / numerics)
        libraries[numerics] = folder / numerics / f"lib{name}.so"
    run(tools / "pdl-translate", source, "-o", folder)
    data = ["--data", model_data(name, folder, 20000), "--rows", ":20000"]
    run(folder / "trainer", "train", *data, "--batch-size", options.batch_size, "--checkpoint",
        folder / "saved")
    run(tools / "pdl-checkpoint", "dump", folder / "saved", "-o", folder / "values.safetensors")
    run(folder / "trainer", "predict", *data, "--checkpoint", folder / "saved", "--output",
        folder / "predicted.safetensors", "--dump-inputs", folder / "inputs.safetensors")
    return (read(folder / "values.safetensors"), read(folder / "inputs.safetensors"), libraries,
            read(folder / "predicted.safetensors")["output0"])


#===----------------------------------------------------------------------===#
# Turns
#===----------------------------------------------------------------------===#

def micros(calls):
    """Returns the median wall-clock time of a call."""
    clock, times = time.perf_counter_ns, []
    for call, _ in calls:
        begin = clock()
        call()
        times.append(clock() - begin)
    return statistics.median(times) / 1000


def rate(calls, batch):
    """Returns samples per second of the thread's processor time."""
    begin = time.thread_time_ns()
    for call, _ in calls:
        call()
    return 1e9 * batch * len(calls) / (time.thread_time_ns() - begin)


def calls_of(batch, samples, runtime, libraries):
    """Returns calls with different samples, by contender."""
    step = batch if batch > 1 else 7
    begins = [i * step % (samples.count - batch) for i in range(SAMPLES[batch])]
    calls = {"ONNX Runtime": [runtime.call(samples.numbers[i:i + batch], samples.ids[i:i + batch])
                              for i in begins]}
    for numerics, library in libraries.items():
        calls[f"library, {numerics}"] = [library.call(samples.keys_of(i, i + batch), batch)
                                         for i in begins]
    calls["library, fast, texts"] = [libraries["fast"].call(samples.texts_of(i, i + batch), batch)
                                     for i in begins]
    return begins, calls


def check(name, batch, begins, calls, expected):
    """Checks that all predict the same; otherwise ends the program."""
    worst = 0.0
    for contender, made in calls.items():
        for begin, (call, out) in zip(begins, made):
            call()
            apart = float(np.abs(out - expected[begin:begin + batch]).max())
            worst = max(worst, apart)
            if not apart <= 1e-5:
                raise SystemExit(f"{name}: {contender} and the trainer are {apart} apart, more "
                                 "than 1e-5")
    return worst


def measure(options, name, batch, calls, limit):
    found = {contender: [] for contender in calls}
    for turn in range(options.rounds + 1):
        for contender, made in calls.items():
            value = micros(made) if batch == 1 else rate(made, batch)
            if turn:  # The first one warms up.
                found[contender].append(value)
    peers = found["ONNX Runtime"]
    for contender, values in found.items():
        figure = statistics.median(values)
        ratios = [value / peer for value, peer in zip(values, peers)]
        text = (f"{figure:8.1f} us p50 of a call" if batch == 1 else
                f"{figure:10,.0f} samples/s, {100 * figure / limit:.0f} % of the FMA loop")
        print(f"{name:8} batch {batch:<4} {contender:22} {text}   "
              f"{statistics.median(ratios):.2f} of ONNX Runtime's ({min(ratios):.2f} to "
              f"{max(ratios):.2f})", flush=True)


def zeros_of(graph, samples):
    """Returns the percentage of zeros that products read, and of zeros that four consecutive
    samples share."""
    batch = 4096
    session = onnxruntime.InferenceSession(
        graph.model(batch, samples.numbers.shape[1], samples.slots, graph.activations),
        providers=["CPUExecutionProvider"])
    found = session.run(None, {"numbers": samples.numbers[:batch], "ids": samples.ids[:batch]})
    texts = []
    for values in found:
        zero = values == 0
        rows = zero.reshape(batch // 4, 4, -1).all(axis=1)
        texts.append(f"{100 * zero.mean():.0f} ({100 * rows.mean():.0f})")
    return ", ".join(texts)


def compare(options, name, folder, peak):
    values, inputs, paths, expected = prepare(options, name, folder)
    write, table = GRAPHS[name]
    graph = Graph(values)
    write(graph)
    samples = Samples(inputs, values, table)
    libraries = {numerics: Library(path, folder / "saved") for numerics, path in paths.items()}
    print(f"{name}: {len(values[table + '.keys']):,} rows of a table, "
          f"{graph.products:,} multiplications a sample; behind relus zeros (in four rows at once), "
          f"%: {zeros_of(graph, samples)}", flush=True)
    for batch in SAMPLES:
        runtime = Runtime(graph.model(batch, samples.numbers.shape[1], samples.slots))
        begins, calls = calls_of(batch, samples, runtime, libraries)
        worst = check(name, batch, begins, calls, expected)
        print(f"{name:8} batch {batch:<4} predictions are at most {worst:.1e} apart", flush=True)
        measure(options, name, batch, calls, peak * 1e9 / (2 * graph.products))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--models", default=",".join(GRAPHS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=256,
                        help="of the training, one pass over 20,000 samples; 20000 is one step, after "
                             "which values are nearly the initial ones (default: 256)")
    parser.add_argument("--core", type=int, default=min(os.sched_getaffinity(0)))
    options = parser.parse_args()
    options.build = options.build.absolute()
    print(f"ONNX Runtime {onnxruntime.__version__}, rounds in turns: {options.rounds}", flush=True)
    os.sched_setaffinity(0, {options.core})
    said = run(options.build / "bin" / "pdl-bench-handwritten", "--peak")
    peak = float(re.search(r"([0-9.]+) Gflop/s", said)[1])
    print(f"FMA loop: {peak} Gflop/s", flush=True)
    for name in options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            compare(options, name, pathlib.Path(folder), peak)


if __name__ == "__main__":
    main()
