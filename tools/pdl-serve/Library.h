//===- Library.h - A loaded library of a model ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_LIBRARY_H
#define PDL_TOOLS_PDL_SERVE_LIBRARY_H

#include "pdl/serving.h"
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>

namespace pdlserve {

/// Loaded library that was created by `pdl-translate --emit=library`.
/// Thread-safe.
class Library {
public:
  /// Loads a library. Returns an error if the file is not a serving library,
  /// needs another CPU, or does not match the checksum at its end: mapping a
  /// damaged library could end the process. `takesUnchecked`: also load files
  /// without a checksum.
  static pdlrt::Expected<std::shared_ptr<const Library>>
  open(const std::string &path, bool takesUnchecked);
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library();

  const pdl_serving &functions() const { return *table; }
  const pdl_serving_description &description() const { return *described; }

private:
  Library() = default;

  /// Descriptor of the library's folder, which is open while the library is
  /// loaded. The library is loaded under a path that contains this descriptor.
  /// So another file at the same path is loaded as another library. The dynamic
  /// linker still finds libraries in the same folder.
  int folder = -1;
  std::string name;
  /// Identity of the file. It serves to find the library while it stays loaded.
  pdlrt::FileIdentity file;
  void *handle = nullptr;
  const pdl_serving *table = nullptr;
  const pdl_serving_description *described = nullptr;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_LIBRARY_H
