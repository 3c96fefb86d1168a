//===- DataCommand.cpp - Reads a file through a command -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/DataCommand.h"

#include "Data/InputFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace pdlrt;

DataCommand::~DataCommand() {
  if (process > 0) {
    // The command leads a process group. Its output is not needed any more.
    ::kill(-process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (errors)
    std::fclose(errors);
}

/// Starts `/bin/sh -c command` as the leader of a process group, with these
/// descriptors as its standard streams. Returns an error number.
static int startShell(const std::string &command, const std::string &file,
                      const std::array<int, 3> &streams, pid_t &process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&actions, streams[size_t(i)], i);
  // This process may ignore or block signals that commands need, such as
  // SIGPIPE.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETPGROUP);
  std::string name = "FILE=" + file;
  std::vector<char *> environment = {name.data()};
  for (char **variable = environ; *variable; ++variable)
    if (std::strncmp(*variable, "FILE=", 5) != 0)
      environment.push_back(*variable);
  environment.push_back(nullptr);
  std::string shell = "sh", flag = "-c", text = command;
  std::array<char *, 4> arguments = {shell.data(), flag.data(), text.data(),
                                     nullptr};
  const int error = ::posix_spawn(&process, "/bin/sh", &actions, &attributes,
                                  arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

Expected<int> DataCommand::start(const std::string &file) {
  path = inputName(file);
  const auto failed = [&](int error) {
    return Status::ofErrno(error, path + ": cannot start --data-pipe `" +
                                      command + "`: " + std::strerror(error));
  };
  errors = std::tmpfile();
  if (!errors)
    return failed(errno);
  // The command may name a file that only it can open, such as one in HDFS.
  int input = isStandardInput(file)
                  ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                  : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (input < 0)
    input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int ends[2];
  if (input < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
    const int error = errno;
    if (input >= 0)
      ::close(input);
    return failed(error);
  }
  const int error =
      startShell(command, file, {input, ends[1], ::fileno(errors)}, process);
  ::close(input);
  ::close(ends[1]);
  if (error != 0) {
    process = -1;
    ::close(ends[0]);
    return failed(error);
  }
  return ends[0];
}

/// Returns the last bytes that the command wrote to its standard error, on one
/// line.
std::string DataCommand::errorText() const {
  constexpr long longest = 1000;
  std::fseek(errors, 0, SEEK_END);
  const long size = std::ftell(errors);
  std::fseek(errors, std::max(size - longest, 0L), SEEK_SET);
  std::string text(size_t(std::clamp(size, 0L, longest)), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), errors));
  while (text.ends_with('\n'))
    text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
    text.replace(at, 1, " | ");
  return size > longest ? "..." + text : text;
}

Status DataCommand::finish() {
  if (process <= 0)
    return failure;
  int status = 0;
  // The command may have closed its output and continue, so that a stop must
  // end this wait.
  pid_t ended;
  int pause = 1;
  while ((ended = ::waitpid(process, &status, WNOHANG)) == 0 ||
         (ended < 0 && errno == EINTR)) {
    pollfd stop = {stopDescriptor(), POLLIN, 0};
    if (::poll(&stop, 1, pause) > 0)
      return Status::cancelled(path + ": was not read to its end, because the "
                                      "process was told to stop");
    pause = std::min(2 * pause, 50);
  }
  process = -1;
  const std::string said = errorText();
  const std::string begin = path + ": --data-pipe `" + command + "` ";
  if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (!said.empty())
      logWarning(begin + "wrote to its standard error: " + said);
    return {};
  }
  const std::string how =
      ended > 0 && WIFSIGNALED(status)
          ? "was ended by signal " + std::to_string(WTERMSIG(status))
          : "exited with status " + std::to_string(WEXITSTATUS(status));
  failure = Status::invalidArgument(begin + how +
                                    (said.empty()
                                         ? ", without a word; its output may "
                                           "be incomplete"
                                         : ": " + said));
  return failure;
}
