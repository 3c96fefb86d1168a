//===- ProgramMode.cpp - The mode of a compiled trainer -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMode.h"

#include <cerrno>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

using namespace pdllaunch;

/// Returns true if the file is an ELF executable. Only such files are run to
/// find out their mode, because running another file may have any effect.
static bool isCompiled(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  char mark[SELFMAG] = {};
  return file.read(mark, SELFMAG) &&
         std::string_view(mark, SELFMAG) == std::string_view(ELFMAG, SELFMAG);
}

/// Runs a program with the argument `word`. Returns its standard output; empty
/// if it fails.
static std::string outputOf(const std::string &path, const char *word) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {};
  std::string program = path, argument = word;
  char *const words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, program.c_str(), &actions, nullptr,
                                  words, ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string output;
  char buffer[4096];
  ssize_t count = 0;
  while (error == 0 && ((count = ::read(ends[0], buffer, sizeof(buffer))) > 0 ||
                        (count < 0 && errno == EINTR)))
    if (count > 0)
      output.append(buffer, static_cast<size_t>(count));
  ::close(ends[0]);
  int status = 0;
  while (error == 0 && ::waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  return error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? output
             : std::string();
}

const pdlrt::Mode *pdllaunch::modeOfTrainer(const std::string &path) {
  if (!isCompiled(path))
    return nullptr;
  std::istringstream lines(outputOf(path, "--version"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name;
    if (words >> what >> name && what == "mode")
      return pdlrt::findModeNamed(name);
  }
  return nullptr;
}
