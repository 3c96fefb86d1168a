//===- FileIdentity.cpp - Identity of a file ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/FileIdentity.h"

#include <sys/stat.h>

using namespace pdlrt;

std::optional<FileIdentity> FileIdentity::of(const std::string &path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0)
    return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}

std::optional<FileIdentity> FileIdentity::of(int descriptor) {
  struct stat found = {};
  if (::fstat(descriptor, &found) != 0)
    return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}
