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
from op_cases import Bags, Case, Value, tensor_type, write_case
from reference_training import area_under_curve
from rule_cases import write_rule_cases

KEYS = [-2**63, -7, -1, 0, 1, 2, 41, 2**62, 2**63 - 1]


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
    case.check(case.emit(f"nn.standardise %{x.name} mean {mean} deviation {deviation}",
                         [x], x.shape, value, functional=False), "standardise")
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
            case.symbols.append(
                f"nn.param @{label}_w : tensor<5x3xf32> in @descent init(#nn.xavier)")
            weight = torch.tensor(case.numbers((5, 3), -1, 1), requires_grad=True)
            case.initial[f"{label}_w"] = weight.detach().numpy().astype(numpy.float32)
            case.leaves[f"{label}_w"] = weight
            value, operands = x.tensor @ weight, f"%{x.name}, @{label}_w"
            if biased:
                case.symbols.append(
                    f"nn.param @{label}_b : tensor<3xf32> in @descent init(#nn.zeros)")
                bias = torch.tensor(case.numbers(3), requires_grad=True)
                case.initial[f"{label}_b"] = bias.detach().numpy().astype(numpy.float32)
                case.leaves[f"{label}_b"] = bias
                value, operands = value + bias, operands + f", @{label}_b"
            act = "" if activation == "none" else f" act({activation})"
            case.check(case.emit(f"nn.linear {operands}{act}", [x], (-1, 3),
                                 function(value)), label)
    # Two layers, so that a cotangent passes through one; a frozen weight.
    x = case.variable(4)
    weights = {}
    for name, shape, trained in [("first_w", (4, 6), True), ("first_b", (6,), True),
                                 ("second_w", (6, 2), False), ("second_b", (2,), True)]:
        values = case.numbers(shape, -1, 1)
        kind, place = ("param", " in @descent") if trained else ("state", "")
        case.symbols.append(f"nn.{kind} @{name} : {tensor_type(shape)}{place} "
                            f"init(#nn.zeros)")
        case.initial[name] = values.astype(numpy.float32)
        weights[name] = torch.tensor(values, requires_grad=trained)
        case.leaves[name] = weights[name]
    hidden = torch.relu(x.tensor @ weights["first_w"] + weights["first_b"])
    h = case.emit(f"nn.linear %{x.name}, @first_w, @first_b act(relu)", [x], (-1, 6),
                  hidden)
    case.check(case.emit(f"nn.linear %{h.name}, @second_w, @second_b", [h], (-1, 2),
                         hidden @ weights["second_w"] + weights["second_b"]),
               "two_layers")
    return case


def random_bags(case, slots, keys):
    """Bags of 0 to 4 ids, the first empty, with repeats."""
    sizes = case.random.integers(0, 5, case.batch * slots)
    sizes[0], sizes[1] = 0, 4
    splits = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(numpy.int32)
    values = case.random.choice(numpy.array(keys, dtype=numpy.int64), splits[-1])
    values[:2] = values[0]
    return values, splits


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


def sample_products():
    case = Case("batched", "Products of samples, and other orders of elements")
    a = case.reshape(case.variable(12), 3, 4)
    b = case.reshape(case.variable(8), 4, 2)
    c = case.reshape(case.variable(12), 3, 4)
    d = case.reshape(case.variable(6), 3, 2)
    w = case.parameter("w", case.numbers((4, 5)))
    v = case.parameter("v", case.numbers((2, 3, 4)))
    fixed = case.parameter("fixed", case.numbers((2, 4, 3)))

    def matmul(lhs, rhs, left=False, right=False):
        x = lhs.tensor.mT if left else lhs.tensor
        y = rhs.tensor.mT if right else rhs.tensor
        value = x @ y
        text = (f"nn.matmul %{lhs.name}{' transposed' if left else ''}, "
                f"%{rhs.name}{' transposed' if right else ''}")
        shape = (*lhs.shape[:-2], *value.shape[-2:])
        return case.emit(text, [lhs, rhs], shape, value)

    def transpose(value, *order):
        return case.emit(f"nn.transpose %{value.name} permutation {list(order)}",
                         [value], [value.shape[axis] for axis in order],
                         value.tensor.permute(order))

    def take(value, axis, positions):
        present = torch.tensor([1.0 if at >= 0 else 0.0 for at in positions],
                               dtype=torch.float64)
        parts = value.tensor.index_select(axis, torch.tensor(
            [max(at, 0) for at in positions]))
        unit = [1] * parts.dim()
        unit[axis] = -1
        shape = list(value.shape)
        shape[axis] = len(positions)
        return case.emit(f"nn.take %{value.name} axis {axis} at {positions}", [value],
                         shape, parts * present.reshape(unit))

    case.check(matmul(a, b), "batched")
    case.check(matmul(a, c, right=True), "rhs_transposed")
    case.check(matmul(a, d, left=True), "lhs_transposed")
    case.check(matmul(b, a, left=True, right=True), "both_transposed")
    case.check(matmul(a, w), "one_matrix")
    case.check(matmul(d, case.parameter("u", case.numbers((3, 2))), right=True),
               "one_matrix_transposed")
    box = case.reshape(case.variable(24), 2, 3, 4)
    other = case.reshape(case.variable(16), 2, 4, 2)
    case.check(matmul(box, other), "heads")
    case.check(matmul(box, w), "heads_one_matrix")
    case.check(matmul(v, fixed), "static")
    case.check(matmul(a, a, right=True), "with_itself")
    case.check(transpose(a, 0, 2, 1), "transpose")
    case.check(transpose(box, 0, 2, 3, 1), "transpose_four")
    case.check(transpose(transpose(box, 0, 3, 1, 2), 0, 2, 3, 1), "transpose_twice")
    case.check(transpose(w, 1, 0), "transpose_static")
    x = case.variable(5)
    case.check(take(x, 1, [4, 0, 2]), "take")
    case.check(take(x, 1, [1, -1, 1, 3, 1, -1]), "take_again")
    case.check(take(a, 1, [2, 2, 0]), "take_rows")
    case.check(take(a, 2, [3, -1]), "take_columns")
    case.check(take(w, 0, [3, 1]), "take_static")
    # A layer over the last of three dimensions.
    for name, shape in [("layer_w", (4, 3)), ("layer_b", (3,))]:
        values = case.numbers(shape, -1, 1)
        case.symbols.append(f"nn.param @{name} : {tensor_type(shape)} in @descent "
                            f"init(#nn.zeros)")
        case.initial[name] = values.astype(numpy.float32)
        case.leaves[name] = torch.tensor(values, requires_grad=True)
    case.check(case.emit(f"nn.linear %{a.name}, @layer_w, @layer_b act(tanh)", [a],
                         (-1, 3, 3), torch.tanh(a.tensor @ case.leaves["layer_w"]
                                                + case.leaves["layer_b"])), "linear")
    return case


def normalisations():
    case = Case("normalisation", "Softmax, layer norm, rows of length 1")
    functional = torch.nn.functional
    x = case.variable(6, -5, 5, 0.5)
    box = case.reshape(case.variable(24, -40, 40), 4, 6)
    fixed = case.parameter("fixed", case.numbers((3, 5)))
    for op, function in [("softmax", torch.softmax), ("log_softmax", torch.log_softmax)]:
        for label, value, axis in [("row", x, 1), ("last", box, 2), ("middle", box, 1),
                                   ("static", fixed, 0)]:
            case.check(case.emit(f"nn.{op} %{value.name} axis {axis}", [value],
                                 value.shape, function(value.tensor, dim=axis),
                                 functional=False), f"{op}_{label}")
    scale = case.parameter("scale", case.numbers(6))
    shift = case.parameter("shift", case.numbers(6))
    for label, value, epsilon, factors in [
            ("plain", x, 1e-5, []), ("scaled", x, 1e-5, [scale]),
            ("both", x, 0.25, [scale, shift]), ("box", box, 1e-5, [scale, shift])]:
        clause = "".join(f" {word} %{factor.name}"
                         for word, factor in zip(("scale", "shift"), factors))
        number = f" epsilon {epsilon}" if epsilon != 1e-5 else ""
        tensor = functional.layer_norm(
            value.tensor, (6,), *[factor.tensor for factor in factors], eps=epsilon)
        case.check(case.emit(f"nn.layer_norm %{value.name}{clause}{number}",
                             [value, *factors], value.shape, tensor),
                   f"layer_norm_{label}")
    y = case.variable(6)
    case.check(case.unary("l2_normalise", y,
                          functional.normalize(y.tensor, dim=-1)), "l2_normalise")
    short = case.variable(6, -0.25, 0.25)
    length = (short.tensor**2).sum(dim=-1, keepdim=True).clamp(min=0.5).sqrt()
    case.check(case.emit(f"nn.l2_normalise %{short.name} epsilon 0.5", [short],
                         short.shape, short.tensor / length, functional=False),
               "l2_normalise_short")
    case.check(case.emit(f"nn.cosine_similarity %{y.name}, %{x.name}", [y, x], (-1, 1),
                         functional.cosine_similarity(y.tensor, x.tensor)[:, None]),
               "cosine_similarity")
    return case


def interactions():
    case = Case("interactions", "Products of features")
    width = 3
    e = case.reshape(case.variable(4 * width), 4, width)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    dots = torch.einsum("bid,bjd->bij", e.tensor, e.tensor)
    total = sum(dots[:, i, j] for i, j in pairs)
    case.check(case.emit(f"nn.factorization %{e.name}", [e], (-1, 1), total[:, None]),
               "factorization")
    case.check(case.emit(f"nn.pairwise_dots %{e.name}", [e], (-1, 6), torch.stack(
        [dots[:, i, j] for i, j in pairs], dim=1)), "pairwise_dots")
    pairs = [(i, j) for i in range(4) for j in range(i + 1)]
    case.check(case.emit(f"nn.pairwise_dots %{e.name} self", [e], (-1, 10), torch.stack(
        [dots[:, i, j] for i, j in pairs], dim=1)), "pairwise_dots_self")

    def symbol(name, shape):
        values = case.numbers(shape, -1, 1)
        case.symbols.append(f"nn.param @{name} : {tensor_type(shape)} in @descent "
                            f"init(#nn.zeros)")
        case.initial[name] = values.astype(numpy.float32)
        case.leaves[name] = torch.tensor(values, requires_grad=True)
        return case.leaves[name]

    x = case.variable(5)
    first = x.tensor
    value = x
    for layer in range(2):
        w, b = symbol(f"matrix{layer}_w", (5, 5)), symbol(f"matrix{layer}_b", (5,))
        tensor = first * (value.tensor @ w + b) + value.tensor
        value = case.emit(f"nn.cross_layer %{x.name}, %{value.name}, "
                          f"@matrix{layer}_w, @matrix{layer}_b", [value], x.shape,
                          tensor, functional=False)
    case.check(value, "cross_layer")
    value = x
    for layer in range(2):
        w, b = symbol(f"vector{layer}_w", (5, 1)), symbol(f"vector{layer}_b", (5,))
        tensor = first * (value.tensor @ w) + b + value.tensor
        value = case.emit(f"nn.cross_layer %{x.name}, %{value.name}, "
                          f"@vector{layer}_w, @vector{layer}_b vector", [value],
                          x.shape, tensor, functional=False)
    case.check(value, "cross_layer_vector")
    w = symbol("compress_w", (8, 3))
    rows = case.reshape(case.variable(2 * width), 2, width)
    outer = torch.einsum("bjd,bid->bjid", rows.tensor, e.tensor).reshape(8, 8, width)
    case.check(case.emit(f"nn.compressed_interaction %{e.name}, %{rows.name}, "
                         f"@compress_w", [e, rows], (-1, 3, width),
                         torch.einsum("bpd,ph->bhd", outer, w)),
               "compressed_interaction")
    return case


def composite_losses():
    case = Case("composite_losses", "Losses that other ops can say")
    functional = torch.nn.functional

    def loss(text, operands, tensor, label):
        case.check(case.emit(text, operands, operands[0].shape, tensor,
                             functional=False), label)

    z = case.variable(5, -6, 6, 0.5)
    soft = torch.softmax(torch.tensor(case.numbers((case.batch, 5))), dim=1)
    y = case.field("classes", numpy.round(soft.numpy() * 64) / 64)
    hot = numpy.eye(5)[case.random.integers(0, 5, case.batch)]
    for label, labels in [("soft", y), ("hot", case.field("hot", hot))]:
        value = functional.cross_entropy(z.tensor, labels.tensor, reduction="none")
        case.check(case.emit(f"nn.softmax_cross_entropy %{z.name}, %{labels.name}",
                             [z, labels], (-1, 1), value[:, None]),
                   f"softmax_cross_entropy_{label}")
    classes = case.random.integers(-1, 6, (case.batch, 1))  # 0 to 4 are classes
    given = case.field("class", classes * 1.0)
    one_hot = torch.tensor((classes == numpy.arange(5)) * 1.0)
    labels = case.emit(f"nn.one_hot %{given.name} classes 5", [given], (-1, 5), one_hot)
    case.check(labels, "one_hot")
    value = -(one_hot * torch.log_softmax(z.tensor, dim=1)).sum(dim=1, keepdim=True)
    case.check(case.emit(f"nn.softmax_cross_entropy %{z.name}, %{labels.name}",
                         [z, labels], (-1, 1), value), "softmax_cross_entropy_classes")
    z = case.variable(4, -3, 3, 1.0)
    clicks = (case.random.random((case.batch, 4)) > 0.5) * 1.0
    clicks[0] = 1  # the first sample stands on the margin
    labels = case.field("labels", clicks)
    side = 2 * labels.tensor - 1
    loss(f"nn.hinge_loss %{z.name}, %{labels.name}", [z],
         torch.relu(1 - side * z.tensor), "hinge_loss")
    a, b = case.variable(4, -9, 9, 0.5), case.variable(4, -9, 9, 0.5)
    loss(f"nn.bpr_loss %{a.name}, %{b.name}", [a],
         -functional.logsigmoid(a.tensor - b.tensor), "bpr_loss")
    loss(f"nn.rank_loss %{a.name}, %{b.name}, %{labels.name}", [a],
         functional.binary_cross_entropy_with_logits(
             a.tensor - b.tensor, labels.tensor, reduction="none"), "rank_loss")
    for delta in (1.0, 0.5):
        clause = f" delta {delta}" if delta != 1 else ""
        loss(f"nn.huber_loss %{a.name}, %{b.name}{clause}", [a],
             functional.huber_loss(a.tensor, b.tensor, reduction="none", delta=delta),
             f"huber_loss_{delta}")
    p = case.variable(4, 0.25, 0.75)
    for epsilon in (1e-4, 1e-7):
        clause = f" epsilon {epsilon:.1e}" if epsilon != 1e-4 else ""
        tensor = (-labels.tensor * torch.log(p.tensor + epsilon)
                  - (1 - labels.tensor) * torch.log(1 - p.tensor + epsilon))
        loss(f"nn.log_loss %{p.name}, %{labels.name}{clause}", [p], tensor,
             f"log_loss_{epsilon}")
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


def segments():
    case = Case("segments", "Rows of bags, and their way to samples and back")
    slots, width, length = 2, 3, 3
    keys = KEYS[:6]
    bags = Bags(case.field("bags", (*random_bags(case, slots, keys), slots)),
                *case.field_values["bags"])
    x = case.lookup_rows(case.table("x_rows", width, keys), bags)
    # Another field that describes the same positions.
    others = case.random.choice(numpy.array(keys, dtype=numpy.int64), len(bags.values))
    case.field("others", (others, bags.splits, slots))
    case.body.append(f"%same = nn.same_bags %others like %{bags.name} : {bags.type}")
    y = case.lookup_rows(case.table("y_rows", width, keys),
                         Bags("same", others, bags.splits, slots))

    def by_bag(function, value, tail=(width,)):
        """`function` of the rows of each bag; zeros of an empty one."""
        parts = [function(value.tensor[begin:end]) if end > begin
                 else torch.zeros(tail, dtype=torch.float64)
                 for begin, end in bags.ranges()]
        return torch.stack(parts).reshape(case.batch, slots, *tail)

    def to_samples(op, value, function, clause="", tail=(width,)):
        return case.emit(f"nn.{op} %{value.name} of %{bags.name}{clause}",
                         [value, bags], (-1, slots, *tail),
                         by_bag(function, value, tail))

    def within(op, value, function, clause=""):
        parts = [function(value.tensor[begin:end]) for begin, end in bags.ranges()]
        return case.emit(f"nn.{op} %{value.name} of %{bags.name}{clause}",
                         [value, bags], value.shape, torch.cat(parts))

    def to_rows(op, value, tensor, clause=""):
        return case.emit(f"nn.{op} %{value.name} over %{bags.name}{clause}",
                         [value, bags], (-1, *tensor.shape[1:]), tensor)

    def total(rows):
        """Sums of products with other rows: what is compared of rows."""
        product = case.binary("mul", rows, y, rows.tensor * y.tensor)
        return to_samples("segment_sum", product, lambda part: part.sum(dim=0))

    for name, function in [("sum", lambda part: part.sum(dim=0)),
                           ("mean", lambda part: part.mean(dim=0)),
                           ("sqrtn", lambda part: part.sum(dim=0) / len(part)**0.5),
                           ("max", lambda part: part.amax(dim=0)),
                           ("first", lambda part: part[0]),
                           ("last", lambda part: part[-1])]:
        case.check(to_samples(f"segment_{name}", x, function), name)
    sizes = torch.tensor([float(end - begin) for begin, end in bags.ranges()],
                         dtype=torch.float64).reshape(case.batch, slots, 1)
    case.check(case.emit(f"nn.segment_sizes %{bags.name}", [bags], (-1, slots, 1), sizes),
               "sizes")
    for clause, place in [("", lambda i, size: i), (" from_end", lambda i, size: size - 1 - i)]:
        tensor = torch.tensor([[float(place(i, end - begin))]
                               for begin, end in bags.ranges()
                               for i in range(end - begin)], dtype=torch.float64)
        rows = case.emit(f"nn.segment_positions %{bags.name}{clause}", [bags], (-1, 1),
                         tensor)
        case.check(total(case.binary("mul", rows, x, rows.tensor * x.tensor)),
                   f"positions{clause.replace(' ', '_')}")
    case.check(total(within("segment_softmax", x, lambda part: part.softmax(dim=0))),
               "softmax")
    case.check(total(within("segment_reverse", x, lambda part: part.flip(0))), "reverse")
    for by in (1, -1, 2, 0):
        def shift(part, by=by):
            size = len(part)
            return torch.stack([part[i - by] if 0 <= i - by < size
                                else torch.zeros(width, dtype=torch.float64)
                                for i in range(size)]) if size else part
        case.check(total(within("segment_shift", x, shift, f" by {by}")), f"shift_{by}")
    query = case.reshape(case.variable(slots * width), slots, width)
    repeated = torch.cat([query.tensor.reshape(-1, width)[bag].expand(end - begin, width)
                          for bag, (begin, end) in enumerate(bags.ranges())])
    case.check(total(to_rows("segment_repeat", query, repeated)), "repeat")
    for clause in ("", " from_end"):
        def pad(part, clause=clause):
            zeros = torch.zeros((max(length - len(part), 0), width), dtype=torch.float64)
            kept = part[-length:] if clause else part[:length]
            return torch.cat([zeros, kept] if clause else [kept, zeros])
        label = clause.replace(" ", "_")
        padded = to_samples("segment_pad", x, pad, clause, (length, width))
        case.check(padded, f"pad{label}")
        flat = padded.tensor.reshape(-1, length, width)
        parts = []
        for bag, (begin, end) in enumerate(bags.ranges()):
            size = end - begin
            for i in range(size):
                place = length - size + i if clause else i
                parts.append(flat[bag, place] if 0 <= place < length
                             else torch.zeros(width, dtype=torch.float64))
        case.check(total(to_rows("segment_unpad", padded, torch.stack(parts), clause)),
                   f"unpad{label}")
    # Rows by their position.
    where = case.emit(f"nn.segment_positions %{bags.name}", [bags], (-1, 1), None)
    bucket = case.id_op(f"nn.bucketize %{where.name} boundaries [1.0, 2.0]", [where.type],
                        tensor_type((-1, 1), "i64"))
    table = case.table("position_rows", width, [0, 1, 2])
    by_place = torch.stack([case.tables[table]["rows"][min(i, 2)]
                            for begin, end in bags.ranges() for i in range(end - begin)])
    case.count += 1
    case.body.append(f"%placed = nn.lookup @{table}[%{bucket}] pool(sum) : "
                     f"(tensor<?x1xi64>) -> tensor<?x1x3xf32>")
    placed = Value("placed", (-1, 1, width), by_place[:, None])
    placed = case.emit("nn.reshape %placed", [placed], (-1, width), by_place)
    case.check(total(placed), "position_rows")
    # A layer over rows, as over samples.
    case.symbols.append("nn.param @w : tensor<3x3xf32> in @descent init(#nn.zeros)")
    values = case.numbers((width, width), -1, 1)
    case.initial["w"] = values.astype(numpy.float32)
    case.leaves["w"] = torch.tensor(values, requires_grad=True)
    hidden = case.emit(f"nn.linear %{x.name}, @w act(tanh)", [x], x.shape,
                       torch.tanh(x.tensor @ case.leaves["w"]))
    case.check(total(hidden), "linear")
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
        """Each key has a row of its own, any other key gives zeros."""
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


METRICS_TEXT = """module @metrics {
  nn.record @sample {
    nn.field @prediction : tensor<?x1xf32>
    nn.field @label : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
    nn.field @scores : tensor<?x7xf32>
    nn.field @relevance : tensor<?x7xf32>
    nn.field @position : tensor<?x1xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @scale : tensor<1xf32> in @descent init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @coarse_auc : #nn.auc<buckets = 4>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @mean : #nn.mean
  nn.metric @mae : #nn.mae
  nn.metric @rmse : #nn.rmse
  nn.metric @accuracy : #nn.accuracy<threshold = 0.25>
  nn.metric @bucket_error : #nn.bucket_error<buckets = 64>
  nn.metric @accuracy_at : #nn.accuracy_at<k = 2>
  nn.metric @recall : #nn.recall_at<k = 3>
  nn.metric @ndcg : #nn.ndcg_at<k = 4>
  nn.metric @mrr : #nn.mrr
  nn.metric @top_accuracy : #nn.accuracy_at<k = 1>
  nn.metric @top_mrr : #nn.mrr
  nn.program @train reads(@sample except [@weight, @scores, @relevance, @position]) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>):
    %scale = nn.read @scale : tensor<1xf32>
    %z = nn.mul %p, %scale : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@descent] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>, %w: tensor<?x1xf32>, %s: tensor<?x7xf32>, %r: tensor<?x7xf32>, %i: tensor<?x1xf32>):
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @coarse_auc(%p, %y) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %y) : tensor<?x1xf32>
    nn.observe @copc(%p, %y) : tensor<?x1xf32>
    nn.observe @mean(%p) weight %w : tensor<?x1xf32>
    nn.observe @mae(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @rmse(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @accuracy(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @bucket_error(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @accuracy_at(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @recall(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @ndcg(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @mrr(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @top_accuracy(%s, %i) : tensor<?x7xf32>, tensor<?x1xf32>
    nn.observe @top_mrr(%s, %i) : tensor<?x7xf32>, tensor<?x1xf32>
  }
}
"""


def bucket_error(p, y, w, buckets):
    """Over spans of predictions of at most 0.01 that know their rate to 5 %."""
    rows = [(int(prediction * buckets), label, weight)
            for prediction, label, weight in zip(p, y, w)]
    spans, begin = [], None
    for bucket in range(buckets):
        if begin is None or (bucket - begin) / buckets > 0.01:
            begin, members = bucket, []
        members += [row for row in rows if row[0] == bucket]
        samples = sum(weight for _, _, weight in members)
        predicted = sum(bucket / buckets * weight for bucket, _, weight in members)
        clicks = sum(label * weight for _, label, weight in members)
        if predicted == 0:
            continue
        rate = predicted / samples
        if numpy.sqrt((1 - rate) / (rate * samples)) < 0.05:
            spans.append((abs(clicks / samples / rate - 1), samples))
            begin = None
    return numpy.average([error for error, _ in spans],
                         weights=[samples for _, samples in spans])


def list_metrics(scores, relevance, w):
    """Of the lists of rows of both: accuracy@2, recall@3, NDCG@4, MRR."""
    order = torch.argsort(torch.tensor(scores), dim=1, descending=True, stable=True)
    ranked = torch.gather(torch.tensor(relevance), 1, order).numpy()
    ideal = -numpy.sort(-relevance, axis=1)
    discount = 1 / numpy.log2(numpy.arange(4) + 2)
    relevant = ranked > 0.5
    gain, best = ((numpy.maximum(part[:, :4], 0) * discount).sum(axis=1)
                  for part in (ranked, ideal))
    count = relevant.sum(axis=1)
    lists = {"accuracy_at": relevant[:, :2].any(axis=1),
             "recall": relevant[:, :3].sum(axis=1) / numpy.maximum(count, 1),
             "ndcg": numpy.where(best > 0, gain / numpy.where(best > 0, best, 1), 0),
             "mrr": numpy.where(count > 0, 1 / (1 + relevant.argmax(axis=1)), 0)}
    return {name: numpy.average(values, weights=w) for name, values in lists.items()}


def write_metrics(folder):
    """Metrics over three batches, the last one smaller."""
    random = numpy.random.default_rng(5)
    # Each value lies inside a bucket of its own, so the histogram is exact.
    predictions = random.integers(0, 64, (21, 1)) / 64 + 1 / 256
    labels = (random.random((21, 1)) < predictions) * 1.0
    p, y = predictions.reshape(-1), labels.reshape(-1)
    # Weights that let some buckets know their rate, and none at all.
    w = random.integers(0, 6, 21) * 128.0
    # Few scores, so that many are equal, graded relevance, and lists without.
    scores = random.integers(0, 5, (21, 7)) / 4
    relevance = random.integers(-3, 4, (21, 7)) / 2
    relevance[3] = relevance[11] = 0
    position = random.integers(-1, 8, 21) * 1.0
    holds = torch.tensor(scores), torch.tensor(position).long()
    inside = (position >= 0) & (position < 7)
    place = torch.argsort(torch.argsort(holds[0], dim=1, descending=True, stable=True),
                          dim=1)[torch.arange(21), holds[1].clamp(0, 6)].numpy()
    loss = -numpy.where(y > 0.5, numpy.log(p), numpy.log(1 - p)).mean()
    gradient = (-2 * p * y)[:8].mean()
    expected = {"loss": numpy.array([(y[:8]**2).mean()]),
                "after/scale": numpy.array([-gradient]),
                "metric/auc": numpy.array([area_under_curve(p, y)]),
                "metric/coarse_auc": numpy.array(
                    [area_under_curve(numpy.floor(p * 4), y)]),
                "metric/log_loss": numpy.array([loss]),
                "metric/copc": numpy.array([y.sum() / p.sum()])}
    weighted = {"mean": p, "mae": abs(p - y), "rmse": (p - y)**2,
                "accuracy": (p > 0.25) == (y > 0.5)}
    more = {name: numpy.average(values, weights=w) for name, values in weighted.items()}
    more["rmse"] = numpy.sqrt(more["rmse"])
    more["bucket_error"] = bucket_error(p, y, w, 64)
    more.update(list_metrics(scores, relevance, w))
    more["top_accuracy"] = (inside & (place == 0)).mean()
    more["top_mrr"] = (inside / (1 + place)).mean()
    expected.update({f"metric/{name}": numpy.array([value]) for name, value in more.items()})
    facts = {"what": "All metrics", "batch_size": 8, "steps": 1, "outputs": []}
    write_case(folder, "metrics", facts["what"], METRICS_TEXT, facts,
               {"prediction": predictions.astype(numpy.float32),
                "label": labels.astype(numpy.float32),
                "weight": w.reshape(-1, 1).astype(numpy.float32),
                "scores": scores.astype(numpy.float32),
                "relevance": relevance.astype(numpy.float32),
                "position": position.reshape(-1, 1).astype(numpy.float32)},
               {"scale": numpy.zeros(1, dtype=numpy.float32)}, expected)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: generate_op_goldens.py FOLDER")
    torch.set_num_threads(1)
    for build in (unary_ops, gelu, activations, selects, binary_ops, broadcasts, shapes,
                  reductions, linear_layers, products, sample_products, normalisations,
                  interactions, lookups, segments, features, losses,
                  composite_losses):
        build().write(sys.argv[1])
    write_metrics(sys.argv[1])
    write_rule_cases(sys.argv[1])


if __name__ == "__main__":
    main()
