#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains skip-gram with negative sampling (Mikolov et al., 2013) on 5.85 million words of the
English Wikipedia. Tests whether words that people find similar have similar vectors.

Words consist of letters and occur at least five times. Frequent words are left out with word2vec's
probabilities at 1e-4. Vectors have 100 elements. The window is at most five words to each side; its
size is drawn from one to five. A row of the data is a word, its surrounding words, and five
negatives for each of these, drawn by their counts to the power 0.75. As in word2vec, each of the
five epochs has its own order of texts, omitted words, windows and negatives; a model would
memorize draws that all epochs share. The optimizer is plain SGD. Each pair moves its vectors by a
whole step of the learning rate, which falls linearly from 0.05 to 0, in batches of 256 rows.
Initial vectors are within 1 / 100, like those of gensim and fasttext, and contexts are 0.

WordSim353 is Spearman's correlation of cosines with the means of people's ratings. Analogies is the
share of correct answers among the questions whose words are all among the 30,000 most frequent
ones. An answer is correct if it is the word nearest to b - a + c, without a, b and c. Needs NumPy.
"""

import collections
import gzip
import lzma
import pathlib
import re
import tempfile

import experiment
import pdl

WIDTH = 100
WINDOW = 5
OTHERS = 5
LEAST = 5
SUBSAMPLING = 1.0e-4
FREQUENT = 30000
EPOCHS = 5
BATCH = 256
RATE = 0.05


def read(text):
    """Returns the texts as lists of word numbers, and the words in order of their counts."""
    with lzma.open(text, "rt") as lines:
        sentences = [re.findall("[a-z]+", line.replace("<unk>", " ")) for line in lines]
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common() if count >= LEAST]
    number = {word: place for place, word in enumerate(words)}
    return ([[number[word] for word in sentence if word in number] for sentence in sentences],
            words, [counts[word] for word in words])


def draw(sentences, counts, chance):
    """Returns the rows of one epoch: {field: array}. `chance` is a NumPy generator."""
    import numpy
    counts = numpy.array(counts, numpy.float64)
    common = SUBSAMPLING * counts.sum() / counts
    kept = numpy.minimum(1.0, numpy.sqrt(common) + common)
    order = chance.permutation(len(sentences))
    text = numpy.concatenate([numpy.array(sentences[place], numpy.int32) for place in order])
    owner = numpy.repeat(numpy.arange(len(order), dtype=numpy.int32),
                         [len(sentences[place]) for place in order])
    left = chance.random(len(text)) < kept[text]
    text, owner = text[left], owner[left]
    steps = numpy.array([*range(-WINDOW, 0), *range(1, WINDOW + 1)], numpy.int32)
    reach = chance.integers(1, WINDOW + 1, (len(text), 1), numpy.int32)
    places = numpy.arange(len(text), dtype=numpy.int32)[:, None] + steps
    inside = (abs(steps) <= reach) & (places >= 0) & (places < len(text))
    places = places.clip(0, len(text) - 1)
    inside &= owner[places] == owner[:, None]
    found = inside.sum(1)
    around = text[places[inside]]
    sums = numpy.cumsum(counts ** 0.75)
    others = numpy.searchsorted(
        sums, chance.random((len(around), OTHERS)) * sums[-1], side="right")
    # A negative that equals its positive word would cancel its update.
    differ = others != around[:, None]
    rows = found > 0
    ends = numpy.cumsum(found)[rows]
    drawn = numpy.concatenate([[0], numpy.cumsum(differ.sum(1))])
    return {"word": text[rows, None].astype(numpy.int64),
            "around.values": around.astype(numpy.int64),
            "around.splits": numpy.concatenate([[0], ends]),
            "others.values": others[differ].astype(numpy.int64),
            "others.splits": numpy.concatenate([[0], drawn[ends]])}


def model(steps):
    """Returns skip-gram with a learning rate that reaches 0 at `steps`."""
    made = pdl.Model("word2vec")
    record = made.record("window")
    record.ids("word", 1)
    record.bags("around", 1)
    record.bags("others", 1)
    # A step of SGD uses the mean over a batch; word2vec does a whole step for each pair.
    group = made.group("vectors", rule="sgd", rate=RATE * BATCH,
                       schedule=pdl.schedule("polynomial", steps=steps))
    bound = 1 / WIDTH
    words = made.table("words", WIDTH, init=pdl.init.uniform(-bound, bound), group=group)
    contexts = made.table("contexts", WIDTH, init=pdl.init.zeros(), group=group)

    def alike(vectors, bags):
        rows = pdl.lookup(contexts, bags, "none")
        return pdl.reduce("sum", rows * pdl.segment_repeat(vectors, bags), [1], keep=True)

    @made.program
    def train(word, around, others):
        vectors = pdl.lookup(words, word, "sum")
        found = pdl.segment_sum(pdl.softplus(-alike(vectors, around)), around)
        missed = pdl.segment_sum(pdl.softplus(alike(vectors, others)), others)
        pdl.minimize(pdl.reshape(found + missed, (None, 1)), [group])

    return made


def vectors(path, symbol, count):
    """Returns the rows of a table in a dump, with unit length, by key below `count`."""
    import numpy
    keys, values = experiment.table(path, symbol)
    rows = numpy.zeros((count, WIDTH), numpy.float32)
    rows[keys] = values
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def ranks(values):
    """Returns ranks from 1 in ascending order. Equal values share their mean rank."""
    ordered = sorted(range(len(values)), key=values.__getitem__)
    placed, begin = [0.0] * len(values), 0
    while begin < len(values):
        end = begin
        while end < len(values) and values[ordered[end]] == values[ordered[begin]]:
            end += 1
        for position in ordered[begin:end]:
            placed[position] = (begin + 1 + end) / 2
        begin = end
    return placed


def word_similarity(data, number, rows):
    import numpy
    people, cosines = [], []
    with gzip.open(data, "rt") as lines:
        for line in lines:
            parts = line.split("\t")
            if line.startswith("#") or len(parts) != 3:
                continue
            first, second = (number.get(word.lower()) for word in parts[:2])
            if first is not None and second is not None:
                people.append(float(parts[2]))
                cosines.append(float(rows[first] @ rows[second]))
    return float(numpy.corrcoef(ranks(people), ranks(cosines))[0, 1])


def analogies(data, number, rows):
    import numpy
    questions = []
    with gzip.open(data, "rt") as lines:
        for line in lines:
            asked = [number.get(word.lower(), FREQUENT) for word in line.split()]
            if not line.startswith(":") and max(asked) < FREQUENT:
                questions.append(asked)
    questions = numpy.array(questions)
    rows = rows[:FREQUENT]
    right = 0
    for begin in range(0, len(questions), 500):
        a, b, c, answer = questions[begin:begin + 500].T
        scores = (rows[b] - rows[a] + rows[c]) @ rows.T
        for given in (a, b, c):
            scores[numpy.arange(len(given)), given] = -numpy.inf
        right += int((scores.argmax(axis=1) == answer).sum())
    return 100.0 * right / len(questions)


def train(folder, sentences, counts, seed):
    """Returns the vectors of all words, from a training with draws of this seed."""
    import numpy
    chance = numpy.random.default_rng(seed)
    program, dump, rows = None, folder / "vectors.safetensors", folder / "rows.safetensors"
    saved = folder / f"saved{seed}"
    for epoch in range(1, EPOCHS + 1):
        drawn = draw(sentences, counts, chance)
        if program is None:
            # All draws have about the same number of rows.
            steps = EPOCHS * len(drawn["word"]) // BATCH
            program = pdl.compile(model(steps), folder / f"program{seed}", numerics="fast")
        experiment.write_tensors(rows, drawn)
        del drawn
        experiment.train(program, seed, "--data", rows, "--batch-size", BATCH, "--epochs", epoch,
                         "--checkpoint", saved, "--checkpoint-keep", 1, "--resume",
                         "--dump", dump)
    return vectors(dump, "words", len(counts))


def main():
    given = experiment.arguments(__doc__)
    import numpy  # noqa: F401  # Without it, say so before anything is trained.
    text = given.data / "text"
    sentences, words, counts = read(text / "wikipedia_en_8parts.txt.xz")
    number = {word: place for place, word in enumerate(words)}
    print(f"{len(words)} words, {len(sentences)} sentences", flush=True)
    runs = []
    with tempfile.TemporaryDirectory() as name:
        for seed in experiment.SEEDS:
            found = train(pathlib.Path(name), sentences, counts, seed)
            runs.append({
                "WordSim353": word_similarity(text / "wordsim353.tsv.gz", number, found),
                "analogies in %": analogies(text / "questions-words.txt.gz", number, found)})
            experiment.report(f"seed {seed}", runs[-1:])
    experiment.report("all", runs)


if __name__ == "__main__":
    main()
