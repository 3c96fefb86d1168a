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
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>

namespace pdlserve {

/// What `pdl-translate --emit=library` made, loaded. Threads may share it.
class Library {
public:
  /// Loads a library. An error if the file is no such library, needs another
  /// CPU, or does not have the checksum at its end: one that is damaged could
  /// end the process as soon as it is mapped. `takesUnchecked`: a file without
  /// a checksum is loaded nevertheless.
  static pdlrt::Expected<std::shared_ptr<const Library>>
  open(const std::string &path, bool takesUnchecked);
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library();

  const pdl_serving &functions() const { return *table; }
  const pdl_serving_description &description() const { return *described; }

private:
  Library() = default;

  /// The folder, open as long as the library is loaded. The loader knows the
  /// library by a name below this descriptor. So another file at the same path
  /// is another library, and the loader finds the libraries beside it.
  int folder = -1;
  std::string name;
  /// The file, by which a library that stays loaded is found again.
  pdlrt::FileIdentity file;
  void *handle = nullptr;
  const pdl_serving *table = nullptr;
  const pdl_serving_description *described = nullptr;
};

} // namespace pdlserve

#endif // PDLSERVE_LIBRARY_H
