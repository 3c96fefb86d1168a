//===- TokenFile.cpp - Secrets in files -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/TokenFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;

/// Returns true if a user other than the owner can read or change the file.
static bool isOpenToOthers(const struct stat &file) {
  if (!S_ISREG(file.st_mode))
    return false;
  const bool groupReads = (file.st_mode & S_IRGRP) != 0 && file.st_uid != 0;
  return groupReads || (file.st_mode & (S_IWGRP | S_IRWXO)) != 0;
}

/// Reads the first line. Stops after `maxTokenBytes`, because the file may be a
/// device that never ends.
static Status readLine(int file, std::string &line) {
  char next = 0;
  while (line.size() <= maxTokenBytes) {
    const ssize_t count = ::read(file, &next, 1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Status::ofErrno(errno, std::strerror(errno));
    if (count == 0 || next == '\n')
      break;
    line += next;
  }
  return {};
}

Expected<std::string> pdlrt::readTokenFile(const std::string &what,
                                           const std::string &path) {
  const auto refuse = [&](const std::string &why) {
    return Status::failedPrecondition(what + " " + path + ": " + why);
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status::ofErrno(errno, what + " " + path + ": " +
                                      std::strerror(errno) +
                                      "; write the secret to its first line");
  struct stat about = {};
  const bool isOpen = ::fstat(file, &about) != 0 || isOpenToOthers(about);
  std::string token;
  const Status status = isOpen ? Status() : readLine(file, token);
  ::close(file);
  if (isOpen)
    return refuse("other users can read or change this file; make it private "
                  "(chmod 600), and write another secret to it");
  if (!status.ok())
    return Status(status).withContext(what + " " + path);
  if (token.empty())
    return refuse("the first line is empty; write the secret to it");
  if (token.size() > maxTokenBytes)
    return refuse("the first line is longer than " +
                  std::to_string(maxTokenBytes) +
                  " bytes; write the secret to it");
  if (token.size() < minTokenBytes)
    return refuse("the secret has " + std::to_string(token.size()) +
                  " bytes, and one of less than " +
                  std::to_string(minTokenBytes) +
                  " can be guessed; 'head -c 32 /dev/urandom | base64' makes "
                  "one");
  return token;
}
