//===- RecordText.h - The record of a model as text -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDTEXT_H
#define LIB_RUNTIME_DATA_RECORDTEXT_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>

namespace pdlrt {

/// Returns the record of a compiled program, and the fields that its programs
/// read, as JSON. Tools that have no model read it (`RecordDescription`).
std::string recordText(const pdl_descriptor &descriptor);

/// A record that was read from text, with a descriptor that has only fields and
/// programs. Immutable, thus thread-safe.
class RecordDescription {
public:
  /// Returns an error if the text is not what `recordText` of this version
  /// writes.
  static Expected<RecordDescription> parse(const std::string &text);
  RecordDescription(RecordDescription &&) noexcept;
  RecordDescription &operator=(RecordDescription &&) noexcept;
  ~RecordDescription();

  const pdl_descriptor &descriptor() const;
  /// Returns the program with that name; for an empty name, a program that
  /// reads all fields of the record.
  Expected<const pdl_program *> program(const std::string &name) const;

private:
  struct Content;
  explicit RecordDescription(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDTEXT_H
