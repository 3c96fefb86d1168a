//===- ProgramOutput.cpp - Runs a program for its output ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProgramOutput.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pdlrt;

Expected<ProgramOutput> pdlrt::outputOfProgram(const std::string &path,
                                               const std::string &argument,
                                               const std::string &remedy) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Status::ofErrno(errno, "cannot create a pipe");
  std::string program = path, word = argument;
  char *const words[] = {program.data(), word.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, program.c_str(), &actions, nullptr,
                                  words, ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ProgramOutput output;
  char buffer[4096];
  ssize_t count = 0;
  while (error == 0 && ((count = ::read(ends[0], buffer, sizeof(buffer))) > 0 ||
                        (count < 0 && errno == EINTR)))
    if (count > 0)
      output.text.append(buffer, static_cast<size_t>(count));
  ::close(ends[0]);
  if (error != 0)
    return Status::ofErrno(error, path + ": cannot be started: " +
                                      std::strerror(error) + "; " + remedy);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  output.hasSucceeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return output;
}
