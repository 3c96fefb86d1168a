//===- LineFile.cpp - Text files, written line by line --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LineFile.h"

#include "pdlrt/Core/StandardStreams.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;

LineFile::~LineFile() {
  if (file && file != standardOutput())
    std::fclose(file);
}

Status LineFile::open(const std::string &newPath) {
  const bool isStandard = newPath == "-";
  failure = {};
  path = isStandard ? "the standard output" : newPath;
  file = isStandard ? standardOutput() : std::fopen(path.c_str(), "w");
  lineCount = 0;
  return check(file != nullptr);
}

/// Returns the number of bytes of the first `lines` lines of a file. If the
/// file has fewer lines, sets `lines` to their number. A last line without a
/// line break does not count.
static int64_t sizeOfLines(std::FILE *file, int64_t &lines) {
  std::vector<char> bytes(size_t(1) << 16);
  int64_t found = 0, size = 0, passed = 0;
  while (found < lines) {
    const size_t count = std::fread(bytes.data(), 1, bytes.size(), file);
    if (count == 0)
      break;
    for (size_t i = 0; i < count && found < lines; ++i)
      if (bytes[i] == '\n') {
        ++found;
        size = passed + int64_t(i) + 1;
      }
    passed += int64_t(count);
  }
  lines = found;
  return size;
}

Expected<int64_t> LineFile::openAfter(const std::string &newPath,
                                      int64_t lines) {
  struct stat found;
  const bool isThere = newPath != "-" && stat(newPath.c_str(), &found) == 0;
  if (!isThere || !S_ISREG(found.st_mode)) {
    PDLRT_RETURN_IF_ERROR(open(newPath));
    lineCount = isThere || newPath == "-" ? lines : 0;
    return lineCount;
  }
  failure = {};
  path = newPath;
  file = std::fopen(path.c_str(), "r+");
  PDLRT_RETURN_IF_ERROR(check(file != nullptr));
  const int64_t size = sizeOfLines(file, lines);
  PDLRT_RETURN_IF_ERROR(check(!std::ferror(file) &&
                              ftruncate(fileno(file), size) == 0 &&
                              fseeko(file, size, SEEK_SET) == 0));
  lineCount = lines;
  return lines;
}

Status LineFile::write(const std::string &line) {
  ++lineCount;
  return check(std::fputs(line.c_str(), file) != EOF &&
               std::fputc('\n', file) != EOF);
}

Status LineFile::flush() { return check(!file || std::fflush(file) == 0); }

Status LineFile::close() {
  std::FILE *closing = std::exchange(file, nullptr);
  if (!closing)
    return {};
  return check((closing == standardOutput() ? std::fflush(closing)
                                            : std::fclose(closing)) == 0);
}

Status LineFile::check(bool good) {
  if (!good && failure.ok())
    failure = Status::ofErrno(errno, "cannot write " + path + ": " +
                                         std::strerror(errno));
  return failure;
}
