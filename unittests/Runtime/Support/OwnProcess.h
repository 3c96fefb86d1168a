//===- OwnProcess.h - A process with its own folder -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The including file defines HAND_WRITTEN_TRAINER, as TrainerProcess.h
// requires.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_OWNPROCESS_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_OWNPROCESS_H

#include "TrainerProcess.h"

#include <csignal>
#include <string>
#include <utility>
#include <vector>

/// A process with its own folder, which is killed at the end.
struct Process {
  Process(const std::string &program, std::vector<std::string> arguments)
      : child(folder, std::move(arguments), program) {}
  ~Process() {
    if (!waited)
      kill(child.id(), SIGKILL), child.wait();
  }
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;
  int wait() {
    waited = true;
    return child.wait();
  }
  std::string said() const { return child.errors() + child.output(); }

  TestFolder folder;
  TrainerProcess child;
  bool waited = false;
};

/// Returns rows with a label, a weight, three numbers, and two bags of ids.
inline std::string data(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i % 3 == 0) + "\t1\t" + std::to_string(i % 7) +
            "\t0." + std::to_string(i % 10) + "\t-1\ta" +
            std::to_string(i % 11) + "|b\tc" + std::to_string(i % 5) + "\n";
  return text;
}

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_OWNPROCESS_H
