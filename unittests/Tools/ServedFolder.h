//===- ServedFolder.h - Folder of models for tests of pdl-serve -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_TOOLS_SERVEDFOLDER_H
#define PDL_UNITTESTS_TOOLS_SERVEDFOLDER_H

#include "Library.h"
#include "Repository.h"
#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"
#include "pdlabi/library_checksum.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/State/Model.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>
#include <xxhash.h>

/// Returns the bytes of a file.
inline std::string contentOfFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns a library in the form in which pdl-translate writes it. `beside`:
/// names and contents of the libraries that it needs.
inline std::string
seal(const std::string &library,
     const std::vector<std::pair<std::string, std::string>> &beside = {}) {
  std::string content = contentOfFile(library);
  const size_t linked = content.size();
  for (const auto &[name, bytes] : beside)
    content +=
        fmt::format("{} {:x}\n", name, XXH3_64bits(bytes.data(), bytes.size()));
  pdl_library_checksum end = {};
  std::memcpy(end.magic, PDL_LIBRARY_CHECKSUM_MAGIC, sizeof(end.magic));
  end.companion_bytes = content.size() - linked;
  end.covered_bytes = content.size();
  end.xxh3 = XXH3_64bits(content.data(), content.size());
  content.append(reinterpret_cast<const char *>(&end), sizeof(end));
  return content;
}

/// pdlrt::Model folder with one version of a library.
class ServeLibrary : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(folder.file("m/1"));
    path = folder.write("m/1/library.so", seal(PDL_TEST_LIBRARY));
    values = folder.file("m/1/values.safetensors");
    const pdlrt::Model model(*handWrittenProgram({}), 3);
    ASSERT_TRUE(pdlrt::dumpModel(model, values, false).ok());
  }

  std::string whyNot(bool takesUnchecked = false) {
    auto library = pdlserve::Library::open(path, takesUnchecked);
    return library ? "" : library.status().message();
  }

  TestFolder folder;
  std::string path, values;
};

/// Looks at the folder until its content is ready.
inline void lookUntilReady(pdlserve::Repository &repository) {
  std::string why;
  for (int i = 0; i < 1000 && !repository.isReady(why); ++i) {
    repository.look();
    repository.waitForChange(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(repository.isReady(why)) << why;
}

#endif // PDL_UNITTESTS_TOOLS_SERVEDFOLDER_H
