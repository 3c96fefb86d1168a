#===- generate_op_goldens.py - Goldens of ops and rules -------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Writes the golden cases of README.md: `generate_op_goldens.py FOLDER`."""

import sys

import numpy
import torch

import hashing
from composite_cases import (composite_losses, interactions, normalizations,
                             sample_products)
from control_cases import choices
from cycle_cases import write_cycle
from metric_cases import write_metrics
from mixed_cases import write_mixed
from mixing_cases import drawing, mixing, sampled_losses
from op_cases import KEYS, Case, Value, random_bags, tensor_type
from recurrence_cases import recurrence
from rule_cases import write_rule_cases
from segment_cases import segments
from selection_cases import selection
from state_cases import batch_sums, write_states
from type_cases import casts, comparisons, id_arithmetic, weighted_lookups


def unary_ops():
    case = Case("unary", "Elementwise ops of one operand")
    for op, low, high, ties, function in [
            ("neg", -2, 2, 0.0, torch.neg),
            ("abs", -2, 2, 0.0, torch.abs),
            ("sign", -2, 2, 0.0, torch.sign),
            ("exp", -4, 4, 0.0, torch.exp),
            ("log", 0.5, 9, 1.0, torch.log),
            ("log1p", -0.5, 9, 0.0, torch.log1p),
            ("sqrt", 0.5, 9, 1.0, torch.sqrt),
            ("tanh", -3, 3, 0.0, torch.tanh),
            ("sigmoid", -9, 9, 0.0, torch.sigmoid),
            ("relu", -2, 2, 0.0, torch.relu)]:
        x = case.variable(3, low, high, ties)
        case.check(case.unary(op, x, function(x.tensor)), op)
    x = case.variable(3, -300, 300, 0.0)
    # The derivative is 1 / (1 + |x|), at 0 too, where that of torch.abs is 0.
    magnitude = torch.where(x.tensor >= 0, x.tensor, -x.tensor)
    side = torch.where(x.tensor.detach() >= 0, 1.0, -1.0)
    value = side * torch.log1p(magnitude)
    case.check(case.unary("signed_log1p", x, value), "signed_log1p")
    x = case.variable(3)
    stopped = case.unary("stop_gradient", x, x.tensor.detach())
    case.check(case.binary("mul", stopped, x, stopped.tensor * x.tensor),
               "stop_gradient")
    x = case.variable(3, 0, 90)
    mean, deviation = [38.5, 10.25, 0.75], [13.5, 2.5, 4.0]
    value = (x.tensor - torch.tensor(mean)) / torch.tensor(deviation)
    case.check(case.emit(f"nn.standardize %{x.name} mean {mean} deviation {deviation}",
                         [x], x.shape, value, functional=False), "standardize")
    return case


def activations():
    case = Case("activations", "Activations, and ops of one operand with numbers")
    functional = torch.nn.functional

    def hard_sigmoid(x):
        # PyTorch's own gradient has 1/6 rounded to 32 bits.
        inside = (x > -3) & (x < 3)
        return torch.where(inside, (x + 3) / 6, (x >= 3).double())

    def clamp(x):
        # At the bounds PyTorch's own gradient depends on its version.
        low, high = x.new_tensor(-1.0), x.new_tensor(1.5)
        return torch.where(x < low, low, torch.where(x > high, high, x))

    for op, low, high, ties, function in [
            ("floor", -3, 3, 1.0, torch.floor),
            ("rsqrt", 0.5, 9, 1.0, torch.rsqrt),
            # PyTorch's is x itself from its threshold on.
            ("softplus", -30, 30, 0.0, lambda x: functional.softplus(x, threshold=1e3)),
            ("swish", -9, 9, 0.0, functional.silu),
            ("hard_sigmoid", -4, 4, 3.0, hard_sigmoid),
            ("hard_sigmoid", -4, 4, -3.0, hard_sigmoid)]:
        x = case.variable(3, low, high, ties)
        case.check(case.unary(op, x, function(x.tensor)), f"{op}_{ties:.0f}")
    for text, low, high, ties, function in [
            ("leaky_relu", -2, 2, 0.0, lambda x: functional.leaky_relu(x, 0.01)),
            ("leaky_relu slope 0.25", -2, 2, 0.0,
             lambda x: functional.leaky_relu(x, 0.25)),
            ("elu", -4, 4, 0.0, functional.elu),
            ("elu alpha 0.5", -4, 4, 0.0, lambda x: functional.elu(x, alpha=0.5)),
            ("clamp from -1.0 to 1.5", -3, 3, -1.0, clamp),
            ("clamp from -1.0 to 1.5", -3, 3, 1.5, clamp),
            ("pow exponent 1.5", 0.5, 4, 1.0, lambda x: x.pow(1.5)),
            ("pow exponent 3.0", -2, 2, -1.0, lambda x: x.pow(3)),
            ("pow exponent -0.5", 0.5, 4, 1.0, lambda x: x.pow(-0.5)),
            ("pow exponent 0.0", -2, 2, 0.0, lambda x: x.pow(0)),
            ("pow exponent 1.0", -2, 2, 0.0, lambda x: x.pow(1))]:
        x = case.variable(3, low, high, ties)
        op, _, numbers = text.partition(" ")
        result = case.emit(f"nn.{op} %{x.name} {numbers}".rstrip(), [x], x.shape,
                           function(x.tensor), functional=False)
        case.check(result, f"{text}_{ties}".replace(" ", "_"))
    return case


def selects():
    case = Case("select", "One of two values")
    for width, other in [(4, 4), (4, 1), (1, 4)]:
        a, b = case.variable(width), case.variable(other)
        c, d = case.variable(4), case.variable(1)
        greater = case.binary("greater", a, b, (a.tensor > b.tensor).double())
        value = torch.where(greater.tensor != 0, c.tensor, d.tensor)
        case.check(case.emit(f"nn.select %{greater.name}, %{c.name}, %{d.name}",
                             [greater, c, d], (-1, 4), value), f"select{width}{other}")
    return case


BINARY = [("add", torch.add), ("sub", torch.sub), ("mul", torch.mul),
          ("div", torch.div), ("max", torch.maximum), ("min", torch.minimum),
          ("equal", lambda a, b: (a == b).double()),
          ("greater", lambda a, b: (a > b).double())]


def gelu():
    case = Case("gelu", "The Gaussian error linear unit")
    function = lambda x: torch.nn.functional.gelu(x, approximate="tanh")
    x = case.variable(6, -6, 6, 0.0)
    case.check(case.unary("gelu", x, function(x.tensor)), "gelu")
    for label, low, high in (("near", -0.46875, 0.46875), ("middle", -3, 3), ("far", -6, 6)):
        x = case.variable(6, low, high, 0.0)
        case.check(case.unary("erf", x, torch.erf(x.tensor)), f"erf_{label}")
        x = case.variable(6, low, high, 0.0)
        case.check(case.unary("gelu_erf", x, torch.nn.functional.gelu(x.tensor)),
                   f"gelu_erf_{label}")
    return case


def binary_ops():
    case = Case("binary", "Elementwise ops of two operands of one shape")
    for op, function in BINARY:
        a = case.variable(3, 0.5, 4, 2.0)
        b = case.variable(3, 0.5, 4, 2.0)  # the first sample has equal operands
        case.check(case.binary(op, a, b, function(a.tensor, b.tensor)), op)
    return case


def broadcasts():
    case = Case("broadcast", "Broadcasting in elementwise ops and nn.broadcast")
    for op, function in BINARY[:6]:
        wide = case.variable(12, 0.5, 4)
        box = case.reshape(wide, 3, 4)
        vector = case.parameter(f"{op}_vector", case.numbers(4, 0.5, 4))
        column = case.parameter(f"{op}_column", case.numbers((3, 1), 0.5, 4))
        single = case.parameter(f"{op}_single", case.numbers(1, 0.5, 4))
        flat = case.variable(4, 0.5, 4)
        unit = case.variable(1, 0.5, 4)
        first = case.reshape(case.variable(4, 0.5, 4), 1, 4)
        second = case.reshape(case.variable(3, 0.5, 4), 3, 1)
        for label, a, b in [("sample_vector", flat, vector),
                            ("vector_sample", vector, flat),
                            ("sample_unit", flat, unit),
                            ("unit_vector", unit, vector),
                            ("sample_single", flat, single),
                            ("box_vector", box, vector),
                            ("box_column", box, column),
                            ("outer", first, second),
                            ("static", column, vector)]:
            value = case.binary(op, a, b, function(a.tensor, b.tensor))
            case.check(value, f"{op}_{label}")
    vector = case.parameter("vector", case.numbers(4))
    single = case.parameter("single", case.numbers(1))
    flat, unit = case.variable(4), case.variable(1)
    case.check(case.emit(f"nn.broadcast %{single.name}", [single], (4,),
                         single.tensor.expand(4)), "broadcast_static")
    case.check(case.emit(f"nn.broadcast %{unit.name}", [unit], (-1, 4),
                         unit.tensor.expand(8, 4)), "broadcast_unit")
    case.check(case.emit(f"nn.broadcast %{vector.name} like %{flat.name}",
                         [vector, flat], (-1, 4), vector.tensor.expand(8, 4)),
               "broadcast_like")
    return case


def shapes():
    case = Case("shapes", "concat, slice, reshape, flatten, constant")
    a, b, c = case.variable(2), case.variable(3), case.variable(1)

    def concat(parts, axis, shape):
        names = ", ".join(f"%{part.name}" for part in parts)
        return case.emit(f"nn.concat {names} axis {axis}", parts, shape,
                         torch.cat([part.tensor for part in parts], dim=axis))

    def cut(value, axis, offset, size):
        shape = list(value.shape)
        shape[axis] = size
        return case.emit(
            f"nn.slice %{value.name} axis {axis} offset {offset} size {size}",
            [value], shape, value.tensor.narrow(axis, offset, size))

    case.check(concat([a, b, c], 1, (-1, 6)), "concat")
    case.check(concat([a, a], 1, (-1, 4)), "concat_twice")
    box, other = case.reshape(case.variable(6), 2, 3), case.reshape(case.variable(4), 2, 2)
    case.check(concat([box, other], 2, (-1, 2, 5)), "concat_last")
    third = case.reshape(case.variable(9), 3, 3)
    case.check(concat([box, third], 1, (-1, 5, 3)), "concat_middle")
    x = case.variable(6)
    case.check(cut(x, 1, 2, 3), "slice")
    case.check(cut(x, 1, 0, 4), "slice_overlap")
    case.check(cut(third, 1, 1, 2), "slice_middle")
    case.check(cut(third, 2, 0, 1), "slice_last")
    fixed = case.parameter("fixed", case.numbers((4, 3)))
    case.check(cut(fixed, 0, 1, 2), "slice_static")
    case.check(case.reshape(case.reshape(x, 3, 2), 2, 3), "reshape")
    case.check(case.emit(f"nn.flatten %{third.name} from 1", [third], (-1, 9),
                         third.tensor.reshape(8, 9)), "flatten")
    cube = case.reshape(case.variable(12), 2, 3, 2)
    case.check(case.emit(f"nn.flatten %{cube.name} from 2", [cube], (-1, 2, 6),
                         cube.tensor.reshape(8, 2, 6)), "flatten_inner")
    case.count += 1
    case.body.append("%constant = nn.constant dense<[0.5, -1.25, 3.0]> : tensor<3xf32>")
    constant = Value("constant", (3,), torch.tensor([0.5, -1.25, 3.0],
                                                    dtype=torch.float64))
    case.check(case.binary("mul", b, constant, b.tensor * constant.tensor), "constant")
    return case


def reductions():
    case = Case("reduce", "Sum, mean and maximum over axes")
    functions = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax}
    for kind, function in functions.items():
        long = case.variable(37)
        ties = case.reshape(case.variable(12, -1, 1, numpy.tile([0.5, 0.25], 6)), 3, 4)
        fixed = case.parameter(f"{kind}_fixed", case.numbers((5, 3)))
        for label, value, axes, keep in [
                ("row", long, [1], False), ("row_keep", long, [1], True),
                ("last", ties, [2], False), ("middle", ties, [1], False),
                ("middle_keep", ties, [1], True), ("both", ties, [1, 2], False),
                ("static", fixed, [0], False), ("static_row", fixed, [1], False)]:
            shape = [1 if axis in axes else size for axis, size in enumerate(value.shape)
                     if keep or axis not in axes]
            result = case.emit(
                f"nn.reduce {kind} %{value.name} axes {axes}" + (" keep" if keep else ""),
                [value], shape, function(value.tensor, dim=axes, keepdim=keep))
            case.check(result, f"{kind}_{label}")
    return case


def linear_layers():
    case = Case("linear", "Linear layers with each activation")
    functions = {"none": lambda x: x, "relu": torch.relu, "sigmoid": torch.sigmoid,
                 "tanh": torch.tanh}
    for activation, function in functions.items():
        for biased in (True, False):
            label = activation + ("" if biased else "_plain")
            x = case.variable(5)
            weight = case.declare(f"{label}_w", case.numbers((5, 3), -1, 1),
                                  init="#nn.xavier")
            value, operands = x.tensor @ weight, f"%{x.name}, @{label}_w"
            if biased:
                bias = case.declare(f"{label}_b", case.numbers(3))
                value, operands = value + bias, operands + f", @{label}_b"
            act = "" if activation == "none" else f" act({activation})"
            case.check(case.emit(f"nn.linear {operands}{act}", [x], (-1, 3),
                                 function(value)), label)
    # Two layers, so that a cotangent passes through one; a frozen weight.
    x = case.variable(4)
    weights = {}
    for name, shape, trained in [("first_w", (4, 6), True), ("first_b", (6,), True),
                                 ("second_w", (6, 2), False), ("second_b", (2,), True)]:
        weights[name] = case.declare(name, case.numbers(shape, -1, 1),
                                     "descent" if trained else None)
    hidden = torch.relu(x.tensor @ weights["first_w"] + weights["first_b"])
    h = case.emit(f"nn.linear %{x.name}, @first_w, @first_b act(relu)", [x], (-1, 6),
                  hidden)
    case.check(case.emit(f"nn.linear %{h.name}, @second_w, @second_b", [h], (-1, 2),
                         hidden @ weights["second_w"] + weights["second_b"]),
               "two_layers")
    return case


def products():
    case = Case("products", "Products of values, and what adjoints are made of")
    x, y = case.variable(4), case.variable(3)
    w = case.parameter("w", case.numbers((4, 3)))
    case.check(case.emit(f"nn.matmul %{x.name}, %{w.name}", [x, w], (-1, 3),
                         x.tensor @ w.tensor), "matmul")
    case.check(case.emit(f"nn.matmul %{y.name}, %{w.name} transposed", [y, w],
                         (-1, 4), y.tensor @ w.tensor.T), "matmul_rhs")
    v = case.parameter("v", case.numbers((4, 2)))
    case.check(case.emit(f"nn.matmul %{w.name} transposed, %{v.name}", [w, v], (3, 2),
                         w.tensor.T @ v.tensor), "matmul_lhs")
    # These have no adjoint: fields alone may reach them.
    values = case.numbers((8, 3))
    values[0] = 0
    given = case.field("given", values)
    other = case.field("other", case.numbers((8, 3)))
    padded = torch.nn.functional.pad(given.tensor, (1, 2))
    case.check(case.emit(f"nn.pad %{given.name} axis 1 low 1 high 2", [given],
                         (-1, 6), padded), "pad")
    passed = torch.where(given.tensor <= 0, torch.zeros_like(other.tensor),
                         other.tensor)
    case.check(case.emit(f"nn.relu_gradient %{other.name}, %{given.name}", [other],
                         (-1, 3), passed, functional=False), "relu_gradient")
    return case


def lookups():
    case = Case("lookup", "Lookups with each pooling, of bags and of tensors")
    anchor = case.variable(1)
    case.check(case.unary("neg", anchor, -anchor.tensor), "anchor")
    for pooling in ("sum", "mean", "sqrtn"):
        table = case.table(f"{pooling}_rows", 3, KEYS)
        values, splits = random_bags(case, 2, KEYS)
        bags = case.field(f"{pooling}_bags", (values, splits, 2))
        case.check(case.lookup(table, bags, "!nn.ragged<?x2x*xi64>", values, splits,
                               pooling), f"{pooling}_bags")
        ids = case.random.choice(numpy.array(KEYS, dtype=numpy.int64), (case.batch, 2))
        name = case.field(f"{pooling}_ids", ids)
        case.check(case.lookup(table, name, tensor_type((-1, 2), "i64"),
                               ids.reshape(-1), numpy.arange(ids.size + 1), pooling),
                   f"{pooling}_ids")
    # Rows that the file of initial values lacks.
    for label, init, unknown, default in [
            ("constant_start", "#nn.constant<0.375>", "", 0.375),
            ("zero_start", "#nn.zeros", "", 0.0)]:
        table = case.table(label, 2, KEYS[:3], init, unknown, default)
        ids = numpy.array([[KEYS[i % len(KEYS)]] for i in range(case.batch)],
                          dtype=numpy.int64)
        name = case.field(f"{label}_ids", ids)
        case.check(case.lookup(table, name, tensor_type((-1, 1), "i64"),
                               ids.reshape(-1), numpy.arange(ids.size + 1)), label)
    return case


def catalog():
    case = Case("catalog", "Ids that are the same for each sample", seed_name="catalogue")
    anchor = case.variable(1)
    case.check(case.unary("neg", anchor, -anchor.tensor), "anchor")
    like = case.field("like", numpy.zeros((case.batch, 2)))
    for label, keys in (("all", KEYS), ("one", KEYS[:1] * 4)):
        table = case.table(f"{label}_rows", 3, sorted(set(keys)))
        ids = numpy.array(keys, dtype=numpy.int64)
        count = tensor_type((len(keys),), "i64")
        listed = f"{label}_keys"
        case.body.append(f"%{listed} = nn.constant dense<{list(keys)}> : {count}")
        type = tensor_type((-1, len(keys)), "i64")
        name = case.id_op(f"nn.broadcast %{listed} like %{like.name}", [count, like.type],
                          type)
        repeated = numpy.tile(ids, case.batch)
        case.check(case.lookup(table, name, type, repeated, numpy.arange(repeated.size + 1)),
                   label)
    return case


def features():
    case = Case("features", "bucketize, cross, concat and slice of ids")
    anchor = case.variable(1)
    case.check(case.unary("neg", anchor, -anchor.tensor), "anchor")
    boundaries = [-1.5, 0.0, 0.25, 18.0, 65.0]
    numbers = numpy.array([[-2.0, -1.5], [-1.0, 0.0], [0.125, 0.25], [3.0, 18.0],
                           [64.0, 65.0], [66.0, 1e30], [-1e30, -0.0], [17.96875, 0.5]])
    field = case.field("numbers", numbers)
    one, two = tensor_type((-1, 1), "i64"), tensor_type((-1, 2), "i64")
    buckets = hashing.bucketize(numbers, boundaries)
    bucket_name = case.id_op(f"nn.bucketize %{field.name} boundaries {boundaries}",
                             [field.type], two)

    def check_ids(label, name, id_type, values, splits):
        """Checks ids by a table in which each expected key has a row of its own, and other keys
        read zeros."""
        table = case.table(f"{label}_rows", 2, values, unknown="zero")
        case.check(case.lookup(table, name, id_type, values, splits), label)

    def check_tensor(label, name, ids):
        check_ids(label, name, tensor_type((-1, ids.shape[1]), "i64"),
                  ids.reshape(-1), numpy.arange(ids.size + 1))

    check_tensor("bucketize", bucket_name, buckets)
    ids = case.random.choice(numpy.array(KEYS, dtype=numpy.int64), (case.batch, 2))
    ids_name = case.field("ids", ids)
    for label, salt, operands in [("rehash", 7, [(bucket_name, buckets)]),
                                  ("cross", 0, [(bucket_name, buckets), (ids_name, ids)]),
                                  ("cross_three", 2**40, [(ids_name, ids),
                                                          (bucket_name, buckets),
                                                          (ids_name, ids)])]:
        names = ", ".join("%" + name for name, _ in operands)
        clause = f" salt({salt})" if salt else ""
        name = case.id_op(f"nn.cross {names}{clause}", [two] * len(operands), two)
        check_tensor(label, name, hashing.cross([value for _, value in operands], salt))
    # Bags with bags, and bags with a tensor.
    first, second = random_bags(case, 2, KEYS), random_bags(case, 2, KEYS[:4])
    ragged = "!nn.ragged<?x2x*xi64>"
    first_name = case.field("first_bags", (*first, 2))
    second_name = case.field("second_bags", (*second, 2))
    name = case.id_op(f"nn.cross %{first_name}, %{second_name} salt(3)",
                      [ragged, ragged], ragged)
    check_ids("cross_bags", name, ragged, *hashing.cross_bags([first, second], 3))
    single = (ids.reshape(-1), numpy.arange(ids.size + 1))
    name = case.id_op(f"nn.cross %{first_name}, %{ids_name} salt(4)", [ragged, two],
                      ragged)
    check_ids("cross_mixed", name, ragged, *hashing.cross_bags([first, single], 4))
    # Ids move like numbers.
    part = case.id_op(f"nn.slice %{ids_name} axis 1 offset 1 size 1", [two], one)
    check_tensor("slice_ids", part, ids[:, 1:])
    turned = case.id_op(f"nn.reshape %{ids_name}", [two], tensor_type((-1, 2, 1), "i64"))
    back = case.id_op(f"nn.reshape %{turned}", [tensor_type((-1, 2, 1), "i64")], two)
    check_tensor("reshape_ids", back, ids)
    joined = case.id_op(f"nn.concat %{part}, %{bucket_name} axis 1", [one, two],
                        tensor_type((-1, 3), "i64"))
    check_tensor("concat_ids", joined, numpy.concatenate([ids[:, 1:], buckets], axis=1))
    return case


def losses():
    case = Case("losses", "Losses, with gradients to both operands")

    def cross_entropy(z, y):
        return torch.nn.functional.binary_cross_entropy_with_logits(
            z, y, reduction="none")

    z = case.variable(4, -6, 6, 0.0)
    labels = case.field("labels", (case.random.random((case.batch, 4)) > 0.5) * 1.0)
    text = "nn.{} %{}, %{}"
    case.check(case.emit(text.format("sigmoid_cross_entropy", z.name, labels.name), [z],
                         z.shape, cross_entropy(z.tensor, labels.tensor),
                         functional=False), "sigmoid_cross_entropy")
    z, y = case.variable(4, -40, 40), case.variable(4, 0.25, 0.75)
    case.check(case.emit(text.format("sigmoid_cross_entropy", z.name, y.name), [z],
                         z.shape, cross_entropy(z.tensor, y.tensor),
                         functional=False), "sigmoid_cross_entropy_soft")
    p, y = case.variable(4), case.variable(4)
    case.check(case.emit(text.format("squared_error", p.name, y.name), [p], p.shape,
                         (p.tensor - y.tensor)**2, functional=False), "squared_error")
    # A value with several uses: its cotangents add up.
    x = case.variable(3, -1, 1)
    a = case.unary("tanh", x, torch.tanh(x.tensor))
    b = case.unary("exp", x, torch.exp(x.tensor))
    c = case.binary("mul", a, b, a.tensor * b.tensor)
    case.check(case.binary("add", c, x, c.tensor + x.tensor), "many_uses")
    return case


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: generate_op_goldens.py FOLDER")
    torch.set_num_threads(1)
    for build in (unary_ops, gelu, activations, selects, binary_ops, broadcasts, shapes,
                  reductions, linear_layers, products, sample_products, normalizations,
                  interactions, lookups, catalog, recurrence, choices, selection, segments, features, mixing,
                  drawing, sampled_losses, losses, batch_sums, composite_losses,
                  comparisons, id_arithmetic, casts, weighted_lookups):
        build().write(sys.argv[1])
    write_states(sys.argv[1])
    write_cycle(sys.argv[1])
    write_mixed(sys.argv[1])
    write_metrics(sys.argv[1])
    write_rule_cases(sys.argv[1])


if __name__ == "__main__":
    main()
