# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains word vectors on one thread, with PDL or with gensim. Prints as JSON the CPU seconds of an
epoch and the result of WordSim353.

    word2vec_run.py (ours | gensim) DATA FOLDER [--epochs N] [--sentences N]

DATA is the folder of data sets of bench/quality. Model, text and measure are those of
bench/quality/word2vec_wikipedia.py. For PDL, NumPy draws windows and negatives before each epoch;
gensim draws them during the training.
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "bench" / "quality"))
import word2vec_wikipedia as wikipedia  # noqa: E402


def train_ours(sentences, counts, options):
    """Returns the seconds of drawing and of training, and the vectors."""
    wikipedia.EPOCHS = options.epochs
    before = os.times()
    vectors = wikipedia.train(options.folder, sentences, counts, 1)
    after = os.times()
    return {"drawing": after.user + after.system - before.user - before.system,
            "training": after.children_user + after.children_system -
            before.children_user - before.children_system}, vectors


def train_gensim(sentences, counts, options):
    import gensim
    import numpy
    # gensim reads files faster than a list of lists.
    path = options.folder / "sentences.txt"
    with open(path, "w", encoding="ascii") as out:
        for sentence in sentences:
            out.write(" ".join(map(str, sentence)) + "\n")
    model = gensim.models.Word2Vec(
        vector_size=wikipedia.WIDTH, window=wikipedia.WINDOW, min_count=1, sg=1,
        negative=wikipedia.OTHERS, sample=wikipedia.SUBSAMPLING, workers=1, alpha=options.rate)
    model.build_vocab(corpus_file=str(path))
    start = time.process_time()
    model.train(corpus_file=str(path), total_examples=model.corpus_count,
                total_words=model.corpus_total_words, epochs=options.epochs)
    used = time.process_time() - start
    vectors = numpy.zeros((len(counts), wikipedia.WIDTH), numpy.float32)
    for word, place in model.wv.key_to_index.items():
        vectors[int(word)] = model.wv.vectors[place]
    vectors /= numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return {"training": used}, vectors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("who", choices=("ours", "gensim"))
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--sentences", type=int, help="only so many, the first")
    # Of 0.025 (the default) and 0.05, the learning rate with the better WordSim353.
    parser.add_argument("--rate", type=float, default=0.05, help="gensim's")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    text = options.data / "text"
    sentences, words, counts = wikipedia.read(text / "wikipedia_en_8parts.txt.xz")
    if options.sentences:
        sentences = list(itertools.islice(sentences, options.sentences))
    seconds, vectors = {"ours": train_ours, "gensim": train_gensim}[options.who](
        sentences, counts, options)
    number = {word: place for place, word in enumerate(words)}
    print(json.dumps({
        **{part: used / options.epochs for part, used in seconds.items()},
        "words": sum(map(len, sentences)),
        "WordSim353": wikipedia.word_similarity(text / "wordsim353.tsv.gz", number, vectors)}))


if __name__ == "__main__":
    main()
