#===- composite_cases.py - Cases of composite ops ----------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of products of samples, and of ops that other ops can express."""

import numpy
import torch

from op_cases import Case


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
    # Layer over the last of three dimensions.
    layer_w = case.declare("layer_w", case.numbers((4, 3), -1, 1))
    layer_b = case.declare("layer_b", case.numbers((3,), -1, 1))
    case.check(case.emit(f"nn.linear %{a.name}, @layer_w, @layer_b act(tanh)", [a],
                         (-1, 3, 3), torch.tanh(a.tensor @ layer_w + layer_b)), "linear")
    return case


def normalizations():
    case = Case("normalization", "Softmax, layer norm, rows of length 1",
                seed_name="normalisation")
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
    case.check(case.unary("l2_normalize", y,
                          functional.normalize(y.tensor, dim=-1)), "l2_normalize")
    short = case.variable(6, -0.25, 0.25)
    length = (short.tensor**2).sum(dim=-1, keepdim=True).clamp(min=0.5).sqrt()
    case.check(case.emit(f"nn.l2_normalize %{short.name} epsilon 0.5", [short],
                         short.shape, short.tensor / length, functional=False),
               "l2_normalize_short")
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
        return case.declare(name, case.numbers(shape, -1, 1))

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
