//===- Program.cpp - A started program ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Status;

/// Runs in the child process: executes the program, or reports the error.
[[noreturn]] static void become(std::vector<char *> &arguments,
                                const sigset_t &signals, pid_t launcher,
                                const int *writeEnds) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // A shell starts background jobs with SIGINT ignored. A program that still
  // ignores it would lose the signal, and the job would continue.
  for (const int request : {SIGINT, SIGTERM})
    ::signal(request, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  // SIGPIPE stays ignored. If the launcher dies, its pipes break and the
  // program gets SIGTERM. A program that prints at that time should still shut
  // down gracefully.
  // Now check whether the launcher is alive: it may have died before SIGTERM
  // was requested.
  if (::getppid() != launcher)
    ::_exit(128 + SIGTERM);
  // Only one process group at a time may read from a terminal. If this program
  // did, it would be stopped.
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0)
    ::dup2(nothing, STDIN_FILENO);
  ::dup2(writeEnds[0], STDOUT_FILENO);
  ::dup2(writeEnds[1], STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  const char *reason = std::strerror(errno);
  for (const char *part :
       {"cannot start ", static_cast<const char *>(arguments[0]), ": ", reason,
        "\n"})
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
  ::_exit(127);
}

Status Program::start(const sigset_t &signals) {
  int ends[2][2] = {{-1, -1}, {-1, -1}};
  for (auto &pair : ends)
    if (::pipe2(pair, O_CLOEXEC) != 0)
      return Status::ofErrno(errno, "cannot create a pipe for " + name + ": " +
                                        std::strerror(errno));
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int writeEnds[2] = {ends[0][1], ends[1][1]};
  const pid_t launcher = ::getpid();
  process = ::fork();
  if (process == 0)
    become(arguments, signals, launcher, writeEnds);
  const int error = errno;
  for (int pipe = 0; pipe < 2; ++pipe) {
    ::close(writeEnds[pipe]);
    readEnds[pipe] = ends[pipe][0];
    ::fcntl(readEnds[pipe], F_SETFL, O_NONBLOCK);
  }
  if (process < 0)
    return Status::ofErrno(error, "cannot start " + name + ": " +
                                      std::strerror(error));
  return {};
}

void Program::signal(int number) const {
  if (running())
    ::kill(process, number);
}

bool Program::forward(int pipe, Output &output) {
  char buffer[1 << 14];
  while (readEnds[pipe] >= 0) {
    const ssize_t count = ::read(readEnds[pipe], buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return true;
    if (count <= 0)
      break;
    lines[pipe].add({buffer, static_cast<size_t>(count)},
                    [&](std::string_view line) {
                      output.programLine(pipe == 0, name, line);
                    });
  }
  closePipe(pipe, output);
  return false;
}

void Program::closePipe(int pipe, Output &output) {
  lines[pipe].end([&](std::string_view line) {
    output.programLine(pipe == 0, name, line);
  });
  if (readEnds[pipe] >= 0)
    ::close(readEnds[pipe]);
  readEnds[pipe] = -1;
}

bool Program::collect(Output &output) {
  int result = 0;
  if (!running() || ::waitpid(process, &result, WNOHANG) != process)
    return false;
  killed = WIFSIGNALED(result);
  status = killed ? 128 + WTERMSIG(result) : WEXITSTATUS(result);
  // The program has ended, so all of its output can be read now. Do not wait
  // for the end of the pipe, which a child process of the program may keep
  // open.
  for (int pipe = 0; pipe < 2; ++pipe) {
    forward(pipe, output);
    closePipe(pipe, output);
  }
  return true;
}

std::string Program::endMessage() const {
  const int code = exitStatus();
  if (killed)
    return name + " was ended by signal " + std::to_string(code - 128) + " (" +
           ::strsignal(code - 128) + ")";
  return name + " ended with status " + std::to_string(code);
}
