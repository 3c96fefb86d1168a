//===- CommandLineRun.h - Runs a trainer's commands -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_PROGRAMS_TRAINER_COMMANDLINERUN_H
#define PDL_UNITTESTS_RUNTIME_PROGRAMS_TRAINER_COMMANDLINERUN_H

#include "Support/TestFolder.h"
#include "Support/TrainerProcess.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <vector>

/// Returns lines with a label, a weight, three numbers and two bags of ids. The
/// label depends on all of them, so that there is something to learn.
inline std::string makeData(int rows, uint64_t seed = 1) {
  uint64_t state = seed;
  auto uniform = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 11) * 0x1p-53;
  };
  std::string text;
  for (int i = 0; i < rows; ++i) {
    double x[3];
    for (double &value : x)
      value = 2 * uniform() - 1;
    const int a = int(uniform() * 50), b = int(uniform() * 9);
    const double z = 2 * x[0] - x[1] + (a % 5 - 2) * 0.7 + (b % 3 - 1);
    const int label = uniform() < 1 / (1 + std::exp(-z));
    text += fmt::format("{}\t1\t{:.3f}\t{:.3f}\t{:.3f}\tu{}\tt{}|t{}\n", label,
                        x[0], x[1], x[2], a, b, b / 2);
  }
  return text;
}

inline int run(const TestFolder &folder, std::vector<std::string> arguments,
               std::string *output = nullptr, std::string *errors = nullptr) {
  TrainerProcess process(folder, std::move(arguments));
  const int status = process.wait();
  if (output)
    *output = process.output();
  if (errors)
    *errors = process.errors();
  return status;
}

/// Returns the number after `name` at the start of a line; NaN if there is
/// none.
inline double figure(const std::string &text, const std::string &name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(name + " ", 0) == 0)
      return std::stod(line.substr(name.size() + 1));
  return std::nan("");
}

#endif // PDL_UNITTESTS_RUNTIME_PROGRAMS_TRAINER_COMMANDLINERUN_H
