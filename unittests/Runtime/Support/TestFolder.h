//===- TestFolder.h - A separate folder for each test -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_TESTFOLDER_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_TESTFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

/// A separate folder for each test, removed by the destructor.
class TestFolder {
public:
  TestFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "pdl-trainer-XXXXXX")
            .string();
    path = mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path); }

  std::string file(const std::string &name) const {
    return (path / name).string();
  }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  std::string read(const std::string &name) const {
    std::ifstream in(file(name), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

private:
  std::filesystem::path path;
};

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_TESTFOLDER_H
