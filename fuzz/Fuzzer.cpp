//===- Fuzzer.cpp - Calls a decoder from libFuzzer ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <unistd.h>

using namespace pdlrt;

static void write(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), std::streamsize(bytes.size()));
}

/// Returns the path of temporary files, without suffix.
static const std::string &filePath() {
  static const std::string path = (std::filesystem::temp_directory_path() /
                                   ("pdl-fuzz-" + std::to_string(getpid())))
                                      .string();
  return path;
}

void removeAtEnd(const std::string &path) {
  static std::set<std::string> written;
  static const int removed = std::atexit([] {
    std::error_code ignored;
    for (const std::string &each : written)
      std::filesystem::remove_all(each, ignored);
  });
  (void)removed;
  written.insert(path);
}

std::string asFile(const std::string &bytes, const std::string &suffix) {
  const std::string path = filePath() + suffix;
  removeAtEnd(path);
  write(path, bytes);
  return path;
}

std::string asFolder(const std::map<std::string, std::string> &files) {
  const std::string path = filePath() + ".folder";
  removeAtEnd(path);
  std::filesystem::create_directories(path);
  for (const auto &entry : std::filesystem::directory_iterator(path))
    if (!files.contains(entry.path().filename()))
      std::filesystem::remove_all(entry);
  for (const auto &[name, bytes] : files)
    write(path + "/" + name, bytes);
  return path;
}

Message inSlices(const std::string &bytes) {
  Message message;
  for (size_t at = 0; at < bytes.size();) {
    const size_t size =
        std::min<size_t>(1 + uint8_t(bytes[at]), bytes.size() - at);
    message.append(Message::ofString(bytes.substr(at, size)).slices().front());
    at += size;
  }
  return message;
}

/// The last argument is the folder of the corpus. Seeds are written to it
/// before it is read.
extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  const std::string folder = *count > 1 ? (*arguments)[*count - 1] : "-";
  if (folder.front() == '-' || std::filesystem::is_regular_file(folder))
    return 0;
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string &seed : fuzzSeeds())
    write(folder + "/seed-" + std::to_string(number++), seed);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzzOne(std::string(reinterpret_cast<const char *>(data), size));
  return 0;
}
