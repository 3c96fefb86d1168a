// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores lines of the standard input with models/ctr_dnn, as score.c does, in
// batches of 64 that four threads share. Prints a prediction a line, in order.
//
//   pdl-translate models/ctr_dnn/ctr_dnn.mlir --emit=library -o out
//   c++ -std=c++17 score.cpp $(PKG_CONFIG_PATH=$PWD/out pkg-config --cflags --libs ctr_dnn) -pthread -o score
//   ./score checkpoints < clicks.tsv

#include "ctr_dnn.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int numberCount = 13, categoryCount = 26;
constexpr size_t batchSize = 64;

// Memory for a batch. Each thread has its own and reuses it.
struct Batch {
  std::vector<float> numbers;
  std::string texts;
  std::vector<int64_t> textEnds;
  std::vector<int32_t> splits;

  void clear() {
    numbers.clear();
    texts.clear();
    textEnds.clear();
    splits.assign(1, 0);
  }
  void add(const std::string &line) {
    std::istringstream cells(line);
    std::string cell;
    std::getline(cells, cell, '\t'); // the label
    for (int i = 0; i < numberCount; ++i) {
      cell.clear();
      std::getline(cells, cell, '\t');
      numbers.push_back(std::strtof(cell.c_str(), nullptr));
    }
    for (int i = 0; i < categoryCount; ++i) {
      cell.clear();
      std::getline(cells, cell, '\t');
      texts += cell;
      textEnds.push_back(int64_t(texts.size()));
      splits.push_back(int32_t(textEnds.size()));
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  const pdl_serving *serving = ctr_dnn_serving();
  if (argc != 2 || !serving) {
    std::cerr << (argc != 2 ? "usage: score CHECKPOINT < FILE\n"
                            : "this CPU lacks what the library needs\n");
    return 2;
  }
  pdl_serving_model *model = serving->open(argv[1]);
  if (!model) {
    std::cerr << serving->last_error() << '\n';
    return 1;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);)
    lines.push_back(line);
  std::vector<float> predictions(lines.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  auto work = [&] {
    Batch batch;
    for (size_t begin;
         !failed && (begin = next.fetch_add(batchSize)) < lines.size();) {
      const size_t end = std::min(begin + batchSize, lines.size());
      batch.clear();
      for (size_t i = begin; i < end; ++i)
        batch.add(lines[i]);
      const ctr_dnn_predict_inputs inputs = {
          batch.numbers.data(),
          {nullptr, batch.splits.data(), batch.texts.data(),
           batch.textEnds.data()}};
      const ctr_dnn_predict_outputs outputs = {&predictions[begin]};
      if (ctr_dnn_predict(model, int64_t(end - begin), &inputs, &outputs)) {
        // The error message belongs to this thread.
        std::cerr << serving->last_error() << '\n';
        failed = true;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  serving->close(model);
  std::cout.precision(9);
  for (float prediction : predictions)
    std::cout << prediction << '\n';
  return failed ? 1 : 0;
}
