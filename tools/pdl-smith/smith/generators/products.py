# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for products, softmax, norms of features, and ops composed of these."""

import pdl
from smith.table import FIXED, SAMPLES, Generator

ACTIVATIONS = (None, "relu", "tanh", "sigmoid", "gelu", "softplus", "hard_sigmoid", "swish",
               "sin", "cos", "abs", "signed_log1p")


class Linear(Generator):
    often, learned, grows = 3, True, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: s.kind != FIXED)
        return x and self.step([x], x.kind, features=x.shape[-1],
                               width=r.choice((1, 2, 3, 5, 8)), group=chooser.group(),
                               bias=r.random() < 0.7, activation=r.choice(ACTIVATIONS))

    def build(self, b, step, v, s):
        bias = b.param("b", (s["width"],)) if s["bias"] else None
        return pdl.linear(v[0], b.param("w", (s["features"], s["width"])), bias,
                          s["activation"])


class Matmul(Generator):
    often, grows = 4, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: len(s.shape) in (2, 3))
        if not x:
            return None
        if len(x.shape) == 3 and x.kind != FIXED:
            left, right = r.random() < 0.5, r.random() < 0.5
            other = chooser.mate(x, lambda s: len(s.shape) == 3 and s.shape[
                2 if right else 1] == x.shape[1 if left else 2])
            return other and self.step([x, other], x.kind, left=left, right=right)
        if len(x.shape) == 3:
            return None
        found = chooser.all((FIXED,), lambda s: len(s.shape) == 2 and x.shape[-1] in s.shape)
        if not found:
            return None
        other = r.choice(found)
        return self.step([x, other], x.kind, left=False, right=other.shape[0] != x.shape[-1])

    def build(self, b, step, v, s):
        return pdl.matmul(v[0], v[1], transpose_lhs=s["left"], transpose_rhs=s["right"])


class OverAxis(Generator):

    def choose(self, chooser):
        x = chooser.value()
        axes = x and [i for i, size in enumerate(x.shape) if size is not None]
        return x and self.step([x], x.kind, axis=chooser.random.choice(axes),
                               name=chooser.random.choice(("softmax", "log_softmax")))

    def build(self, b, step, v, s):
        return getattr(pdl, s["name"])(v[0], axis=s["axis"])


class LayerNorm(Generator):
    learned = True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: len(s.shape) > 1)
        scaled = r.random() < 0.6
        return x and self.step([x], x.kind, width=x.shape[-1], group=chooser.group(),
                               scaled=scaled, shifted=scaled and r.random() < 0.7)

    def build(self, b, step, v, s):
        scale = b.param("s", (s["width"],)) if s["scaled"] else None
        shift = b.param("t", (s["width"],)) if s["shifted"] else None
        return pdl.layer_norm(v[0], scale, shift, 0.25)


class L2Normalize(Generator):

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x], x.kind)

    def build(self, b, step, v, s):
        return pdl.l2_normalize(v[0], 0.25)


class CosineSimilarity(Generator):

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x, chooser.like(x)], x.kind)

    def build(self, b, step, v, s):
        return pdl.cosine_similarity(v[0], v[1], 0.25)


class OfVectors(Generator):
    """Ops on several vectors per sample, [batch, vectors, width]."""

    grows = True

    def vectors(self, chooser, least=1):
        return chooser.value(lambda s: len(s.shape) == 3 and s.shape[1] >= least,
                             kinds=(SAMPLES,))


class Factorization(OfVectors):

    def choose(self, chooser):
        x = self.vectors(chooser)
        return x and self.step([x], SAMPLES)

    def build(self, b, step, v, s):
        return pdl.factorization(v[0])


class PairwiseDots(OfVectors):

    def choose(self, chooser):
        x = self.vectors(chooser, least=2)
        return x and self.step([x], SAMPLES, diagonal=chooser.random.random() < 0.5)

    def build(self, b, step, v, s):
        return pdl.pairwise_dots(v[0], self=s["diagonal"])


class CompressedInteraction(OfVectors):
    learned = True

    def choose(self, chooser):
        x = self.vectors(chooser)
        if not x:
            return None
        other = chooser.mate(x, lambda s: len(s.shape) == 3 and s.shape[2] == x.shape[2])
        return self.step([x, other], SAMPLES, pairs=x.shape[1] * other.shape[1],
                         width=chooser.random.randint(1, 3), group=chooser.group())

    def build(self, b, step, v, s):
        return pdl.compressed_interaction(v[0], v[1], b.param("w", (s["pairs"], s["width"])))


class CrossLayer(Generator):
    learned, grows = True, True

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) == 2, kinds=(SAMPLES,))
        return x and self.step([x, chooser.like(x)], SAMPLES, width=x.shape[-1],
                               group=chooser.group(), vector=chooser.random.random() < 0.5)

    def build(self, b, step, v, s):
        width = s["width"]
        weight = b.param("w", (width, 1) if s["vector"] else (width, width))
        return pdl.cross_layer(v[0], v[1], weight, b.param("b", (width,)), s["vector"])
