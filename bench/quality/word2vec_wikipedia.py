#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Skip-gram with negative sampling (Mikolov et al., 2013) on 5.85 million words of the
English Wikipedia: do vectors of words that people call alike point the same way?

Words are letters only, those that occur five times at least; frequent ones are left out
with word2vec's chances at 1e-4. Vectors have 100 elements, the window is five words to
each side, cut to one to five by chance. A row of the data is a word, those around it, and
ten others, drawn with their counts to the power 0.75; the loss of these is weighed as if
each word around it had five of its own. Lazy Adam, rate 0.003, batches of 256 rows, five
epochs over one drawing.

WordSim353: Spearman's correlation of cosines with the means of what people said. Analogies:
of those questions whose words are all among the 30,000 most frequent, the share where the
word nearest to b - a + c, these three left out, is the answer. Needs numpy to count.
"""

import collections
import gzip
import lzma
import pathlib
import random
import re
import tempfile

import experiment
import pdl

WIDTH = 100
WINDOW = 5
OTHERS = 10
PER_CONTEXT = 5
LEAST = 5
SUBSAMPLING = 1.0e-4
FREQUENT = 30000
EPOCHS = 5


def read(text):
    """Sentences as lists of numbers, and the words in order of their counts."""
    with lzma.open(text, "rt") as lines:
        sentences = [re.findall("[a-z]+", line.replace("<unk>", " ")) for line in lines]
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common() if count >= LEAST]
    number = {word: place for place, word in enumerate(words)}
    return ([[number[word] for word in sentence if word in number] for sentence in sentences],
            words, [counts[word] for word in words])


def write_rows(path, sentences, counts):
    chance = random.Random(7)
    total = sum(counts)
    kept = [min(1.0, (SUBSAMPLING * total / count) ** 0.5 + SUBSAMPLING * total / count)
            for count in counts]
    sums, so_far = [], 0.0
    for count in counts:
        so_far += count ** 0.75
        sums.append(so_far)
    names = [str(word) for word in range(len(counts))]
    chance.shuffle(sentences)
    rows = 0
    with open(path, "w") as out:
        for sentence in sentences:
            left = [names[word] for word in sentence if chance.random() < kept[word]]
            if len(left) < 2:
                continue
            others = chance.choices(names, cum_weights=sums, k=OTHERS * len(left))
            for place, word in enumerate(left):
                reach = chance.randint(1, WINDOW)
                around = left[max(0, place - reach):place] + left[place + 1:place + 1 + reach]
                drawn = others[OTHERS * place:OTHERS * (place + 1)]
                out.write(f"{word}\t{' '.join(around)}\t{len(around)}\t"
                          + "\t".join(drawn) + "\n")
            rows += len(left)
    return rows


def model():
    made = pdl.Model("word2vec")
    record = made.record("window")
    record.ids("word", 1, columns=[0])
    record.bags("around", 1, separator=" ", columns=[1])
    record.floats("count", 1, columns=[2])
    record.ids("others", OTHERS, columns=range(3, 3 + OTHERS))
    group = made.group("vectors", rule="adam", rate=3.0e-3, untouched="lazy")
    bound = 0.5 / WIDTH
    words = made.table("words", WIDTH, init=pdl.init.uniform(-bound, bound), group=group)
    contexts = made.table("contexts", WIDTH, init=pdl.init.zeros(), group=group)

    @made.program
    def train(word, around, count, others):
        vectors = pdl.lookup(words, word, "sum")
        near = pdl.lookup(contexts, around, "none")
        alike = pdl.reduce("sum", near * pdl.segment_repeat(vectors, around), [1], keep=True)
        found = pdl.reshape(pdl.segment_sum(pdl.softplus(-alike), around), (None, 1))
        far = pdl.reduce("sum", pdl.lookup(contexts, others, "sum") * vectors, [2])
        missed = pdl.reduce("sum", pdl.softplus(far), [1], keep=True)
        pdl.minimize(found + missed * count * (PER_CONTEXT / OTHERS), [group])

    return made


def vectors(path, symbol):
    """The rows of a table in a dump, by key."""
    import numpy
    keys, values = experiment.table(path, symbol)
    rows = numpy.zeros((keys.max() + 1, WIDTH), numpy.float32)
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


def main():
    given = experiment.arguments(__doc__)
    sentences, words, counts = read(given.data / "text" / "wikipedia_en_8parts.txt.xz")
    number = {word: place for place, word in enumerate(words)}
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = write_rows(folder / "rows.tsv", sentences, counts)
        print(f"{len(words)} words, {rows} rows", flush=True)
        program = pdl.compile(model(), folder / "program", numerics="fast")
        for seed in experiment.SEEDS:
            dump = folder / "vectors.safetensors"
            experiment.train(program, seed, "--data", folder / "rows.tsv", "--batch-size", 256,
                             "--epochs", EPOCHS, "--dump", dump)
            found = vectors(dump, "words")
            runs.append({
                "WordSim353": word_similarity(given.data / "text" / "wordsim353.tsv.gz", number,
                                              found),
                "analogies in %": analogies(given.data / "text" / "questions-words.txt.gz",
                                            number, found)})
            experiment.report(f"seed {seed}", runs[-1:])
    experiment.report("all", runs)


if __name__ == "__main__":
    main()
