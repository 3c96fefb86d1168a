//===- LineFile.cpp - A text file, line by line ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LineFile.h"

#include <cerrno>
#include <cstring>
#include <utility>

using namespace pdlrt;

LineFile::~LineFile() {
  if (file && file != stdout)
    std::fclose(file);
}

Status LineFile::open(const std::string &newPath) {
  const bool isStandard = newPath == "-";
  path = isStandard ? "the standard output" : newPath;
  file = isStandard ? stdout : std::fopen(path.c_str(), "w");
  return check(file != nullptr);
}

Status LineFile::write(const std::string &line) {
  return check(std::fputs(line.c_str(), file) != EOF &&
               std::fputc('\n', file) != EOF);
}

Status LineFile::close() {
  std::FILE *closing = std::exchange(file, nullptr);
  if (!closing)
    return {};
  return check(
      (closing == stdout ? std::fflush(closing) : std::fclose(closing)) == 0);
}

Status LineFile::check(bool good) const {
  return good ? Status()
              : Status::invalid("cannot write " + path + ": " +
                                std::strerror(errno));
}
