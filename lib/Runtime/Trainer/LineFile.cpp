//===- LineFile.cpp - A text file, line by line ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trainer/LineFile.h"

#include <cerrno>
#include <cstring>
#include <utility>

using namespace pdlrt;

LineFile::~LineFile() {
  if (file)
    std::fclose(file);
}

Status LineFile::open(const std::string &newPath) {
  path = newPath;
  file = std::fopen(path.c_str(), "w");
  return check(file != nullptr);
}

Status LineFile::write(const std::string &line) {
  return check(std::fputs(line.c_str(), file) != EOF &&
               std::fputc('\n', file) != EOF);
}

Status LineFile::close() {
  std::FILE *closing = std::exchange(file, nullptr);
  return closing ? check(std::fclose(closing) == 0) : Status();
}

Status LineFile::check(bool good) const {
  return good ? Status()
              : Status::invalid("cannot write " + path + ": " +
                                std::strerror(errno));
}
