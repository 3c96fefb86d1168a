#===- metric_cases.py - Cases of metrics -------------------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of metrics."""

import math

import numpy
import torch

from op_cases import write_case
from reference_training import area_under_curve

METRICS_TEXT = """module @metrics {
  nn.record @sample {
    nn.field @prediction : tensor<?x1xf32>
    nn.field @label : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
    nn.field @scores : tensor<?x7xf32>
    nn.field @relevance : tensor<?x7xf32>
    nn.field @position : tensor<?x1xf32>
    nn.field @user : tensor<?x1xi64>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @scale : tensor<1xf32> in @descent init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @coarse_auc : #nn.auc<buckets = 96>
  nn.metric @grouped_auc : #nn.grouped_auc
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
  nn.program @train reads(@sample except [@weight, @scores, @relevance, @position, @user]) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>):
    %scale = nn.read @scale : tensor<1xf32>
    %z = nn.mul %p, %scale : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@descent] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>, %w: tensor<?x1xf32>, %s: tensor<?x7xf32>, %r: tensor<?x7xf32>, %i: tensor<?x1xf32>, %u: tensor<?x1xi64>):
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @coarse_auc(%p, %y) : tensor<?x1xf32>
    nn.observe @grouped_auc(%p, %y) group %u weight %w : tensor<?x1xf32>
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


def odds_bucket(p, buckets):
    """Returns the bucket of a probability, on a scale with 32 octaves on each side of 1/2."""
    small = min(p, 1 - p)
    octave = max(math.floor(math.log2(small)) + 33, 0)
    inside = small / 2.0**(octave - 33) - 1
    place = (octave + inside) / 64
    return min(int((place if p <= 0.5 else 1 - place) * buckets), buckets - 1)


def bucket_error(p, y, w, buckets):
    """Computes the bucket error: over spans of predictions of at most 0.01 that have enough
    samples to know their rate to 5 %."""
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


def grouped_auc(p, y, w, users):
    """Computes the grouped AUC by counting the pairs of each user."""
    total = weight = 0.0
    for user in set(users):
        rows = [i for i in range(len(users)) if users[i] == user]
        right = pairs = 0.0
        for i in rows:
            for j in rows:
                if y[i] > y[j]:
                    pairs += w[i] * w[j]
                    right += w[i] * w[j] * ((p[i] > p[j]) + 0.5 * (p[i] == p[j]))
        if pairs > 0:
            total += w[rows].sum() * right / pairs
            weight += w[rows].sum()
    return total / weight


def list_metrics(scores, relevance, w):
    """Returns accuracy@2, recall@3, NDCG@4 and MRR. Each row of `scores` and `relevance` is a
    list."""
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
    """Writes a case with metrics over three batches; the last batch is smaller."""
    random = numpy.random.default_rng(5)
    # Each value lies inside a bucket of its own, so the histogram is exact.
    predictions = random.integers(0, 64, (21, 1)) / 64 + 1 / 256
    labels = (random.random((21, 1)) < predictions) * 1.0
    p, y = predictions.reshape(-1), labels.reshape(-1)
    # With these weights, some buckets have enough samples to know their rate, and others have
    # none.
    w = random.integers(0, 6, 21) * 128.0
    # There are few scores, so many are equal. Relevance has several grades, and some lists have no
    # relevant item.
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
                    [area_under_curve([odds_bucket(x, 96) for x in p], y)]),
                "metric/log_loss": numpy.array([loss]),
                "metric/copc": numpy.array([y.sum() / p.sum()])}
    weighted = {"mean": p, "mae": abs(p - y), "rmse": (p - y)**2,
                "accuracy": (p > 0.25) == (y > 0.5)}
    more = {name: numpy.average(values, weights=w) for name, values in weighted.items()}
    more["rmse"] = numpy.sqrt(more["rmse"])
    more["bucket_error"] = bucket_error(p, y, w, 64)
    more.update(list_metrics(scores, relevance, w))
    # Users with samples in one batch or in several, and one whose labels are all equal.
    users = random.integers(0, 5, 21)
    users[y < 0.5] += 8 * (users[y < 0.5] == 4)
    more["grouped_auc"] = grouped_auc(p, y, w, users)
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
                "position": position.reshape(-1, 1).astype(numpy.float32),
                "user": users.reshape(-1, 1)},
               {"scale": numpy.zeros(1, dtype=numpy.float32)}, expected)
