//===- TrainerProcess.h - Runs a trainer as a user does ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_TRAINERPROCESS_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_TRAINERPROCESS_H

#include "TestFolder.h"

#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/// A running program with its two output streams in files of the folder.
class TrainerProcess {
public:
  TrainerProcess(const TestFolder &folder, std::vector<std::string> arguments,
                 std::string program = HAND_WRITTEN_TRAINER)
      : folder(folder) {
    std::vector<char *> argv;
    argv.push_back(program.data());
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    // Truncated here, so that the output of an earlier process is not read.
    const std::string out = folder.write("stdout", "");
    const std::string err = folder.write("stderr", "");
    child = fork();
    if (child == 0) {
      dup2(open(out.c_str(), O_WRONLY), 1);
      dup2(open(err.c_str(), O_WRONLY), 2);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }

  pid_t id() const { return child; }
  /// Waits for the end. Returns the exit status, or -1 if a signal ended the
  /// process.
  int wait() {
    int status = 0;
    waitpid(child, &status, 0);
    signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Returns the signal that ended the process, or 0. Call after `wait`.
  int endSignal() const { return signal; }
  std::string output() const { return folder.read("stdout"); }
  std::string errors() const { return folder.read("stderr"); }

private:
  const TestFolder &folder;
  pid_t child;
  int signal = 0;
};

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_TRAINERPROCESS_H
