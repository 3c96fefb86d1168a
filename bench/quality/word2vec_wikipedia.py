#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Skip-gram with negative sampling (Mikolov et al., 2013) on 5.85 million words of the
English Wikipedia: do vectors of words that people call alike point the same way?

Words are letters only, those that occur five times at least; frequent ones are left out
with word2vec's chances at 1e-4. Vectors have 100 elements, the window is five words to
each side, cut to one to five by chance. A row of the data is a word, those around it, and
for each of these five others, drawn with their counts to the power 0.75. As in word2vec
each of five epochs has its own order of sentences, its own words left out, windows and
others: a drawing that all epochs share is learned by heart. Plain SGD; a pair moves its
vectors by a whole step of the rate, which falls from 0.05 to 0 in a line, in batches of 256
rows. Vectors begin within 1 / 100, as those of gensim and fasttext do, contexts at 0.

WordSim353: Spearman's correlation of cosines with the means of what people said. Analogies:
of those questions whose words are all among the 30,000 most frequent, the share where the
word nearest to b - a + c, these three left out, is the answer. Needs NumPy.
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
    """Sentences as lists of numbers, and the words in order of their counts."""
    with lzma.open(text, "rt") as lines:
        sentences = [re.findall("[a-z]+", line.replace("<unk>", " ")) for line in lines]
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common() if count >= LEAST]
    number = {word: place for place, word in enumerate(words)}
    return ([[number[word] for word in sentence if word in number] for sentence in sentences],
            words, [counts[word] for word in words])


def draw(sentences, counts, chance):
    """The rows of one epoch: {field: array}. `chance` is a NumPy generator."""
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
    # One that is the word it stands against would pull where the other pushes.
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
    """Skip-gram whose rate reaches 0 at `steps`."""
    made = pdl.Model("word2vec")
    record = made.record("window")
    record.ids("word", 1)
    record.bags("around", 1)
    record.bags("others", 1)
    # A step is that of the mean over a batch; word2vec takes a whole one for each pair.
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
    """The rows of a table in a dump, of unit length, by key below `count`."""
    import numpy
    keys, values = experiment.table(path, symbol)
    rows = numpy.zeros((count, WIDTH), numpy.float32)
    rows[keys] = values
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def ranks(values):
    """Places from 1 in ascending order; equal values share their mean place."""
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
    """The vectors of all words, of a training with drawings of this seed."""
    import numpy
    chance = numpy.random.default_rng(seed)
    program, dump, rows = None, folder / "vectors.safetensors", folder / "rows.safetensors"
    saved = folder / f"saved{seed}"
    for epoch in range(1, EPOCHS + 1):
        drawn = draw(sentences, counts, chance)
        if program is None:
            # Drawings have about as many rows as each other.
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
