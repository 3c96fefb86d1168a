//===- XmlReader.h - Reads the XML of object stores -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_XMLREADER_H
#define LIB_RUNTIME_FILES_S3_XMLREADER_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// An element of an XML document: its name without a namespace prefix, its text
/// without markup, and its elements.
struct XmlElement {
  std::string name, text;
  std::vector<XmlElement> elements;

  /// Returns the first element with the name; null if there is none.
  const XmlElement *find(std::string_view wanted) const;
  /// Returns the text of the first element with the name; empty if there is
  /// none.
  std::string_view textOf(std::string_view wanted) const;
};

/// Reads a document. Attributes, comments and declarations are skipped. Returns
/// none if it is not well formed, is nested more than 16 times, or has a
/// document type or a CDATA section, which responses of S3 never have. Safe for
/// arbitrary bytes.
std::optional<XmlElement> readXml(std::string_view text);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_XMLREADER_H
