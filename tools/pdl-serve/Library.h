//===- Library.h - A library that answers requests --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_LIBRARY_H
#define PDLSERVE_LIBRARY_H

#include "pdl/serving.h"
#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>

namespace pdlserve {

/// What `pdl-translate --emit=library` made, loaded. Threads may share it.
class Library {
public:
  /// An error where the file is no such library, is not whole, or needs another
  /// CPU.
  static pdlrt::Expected<std::shared_ptr<const Library>>
  open(const std::string &path);
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library();

  const pdl_serving &functions() const { return *table; }
  const pdl_serving_description &description() const { return *described; }

private:
  Library() = default;

  /// Open as long as the library is loaded. The loader knows it by a name
  /// below this descriptor: another file at the same path is another library
  /// for it, and what lies beside is found.
  int folder = -1;
  std::string name;
  void *handle = nullptr;
  const pdl_serving *table = nullptr;
  const pdl_serving_description *described = nullptr;
};

} // namespace pdlserve

#endif // PDLSERVE_LIBRARY_H
