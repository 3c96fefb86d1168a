//===- XmlReader.cpp - Reads the XML of object stores ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/XmlReader.h"

#include <charconv>
#include <cstdint>
#include <utility>

using namespace pdlrt;

const XmlElement *XmlElement::find(std::string_view wanted) const {
  for (const XmlElement &element : elements)
    if (element.name == wanted)
      return &element;
  return nullptr;
}

std::string_view XmlElement::textOf(std::string_view wanted) const {
  const XmlElement *const found = find(wanted);
  return found ? std::string_view(found->text) : std::string_view();
}

static bool isXmlSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Appends a Unicode character as UTF-8. Returns false if there is none with
/// this number.
static bool appendCharacter(uint32_t number, std::string &text) {
  if (number == 0 || number > 0x10ffff ||
      (number >= 0xd800 && number <= 0xdfff))
    return false;
  if (number < 0x80) {
    text += char(number);
  } else if (number < 0x800) {
    text += char(0xc0 | number >> 6);
    text += char(0x80 | (number & 0x3f));
  } else if (number < 0x10000) {
    text += char(0xe0 | number >> 12);
    text += char(0x80 | (number >> 6 & 0x3f));
    text += char(0x80 | (number & 0x3f));
  } else {
    text += char(0xf0 | number >> 18);
    text += char(0x80 | (number >> 12 & 0x3f));
    text += char(0x80 | (number >> 6 & 0x3f));
    text += char(0x80 | (number & 0x3f));
  }
  return true;
}

/// Appends the character that a reference such as `amp` or `#x41` stands for.
static bool appendReference(std::string_view name, std::string &text) {
  static constexpr std::pair<std::string_view, char> named[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto &[known, character] : named)
    if (known == name) {
      text += character;
      return true;
    }
  if (!name.starts_with('#'))
    return false;
  name.remove_prefix(1);
  const bool isHex = name.starts_with('x');
  name.remove_prefix(isHex ? 1 : 0);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(
      name.data(), name.data() + name.size(), number, isHex ? 16 : 10);
  return error == std::errc() && end == name.data() + name.size() &&
         appendCharacter(number, text);
}

namespace {

class XmlReader {
public:
  explicit XmlReader(std::string_view text) : rest(text) {}
  /// Reads the root element and nothing after it.
  bool readDocument(XmlElement &root);

private:
  static constexpr int maxDepth = 16;

  bool skipPast(std::string_view mark);
  bool skipBetween();
  void skipSpaces();
  bool readName(std::string &name);
  bool skipAttributes(bool &isEmpty);
  bool readText(std::string &text);
  bool readElement(XmlElement &element, int depth);
  bool readContent(XmlElement &element, int depth);

  std::string_view rest;
};

} // namespace

bool XmlReader::skipPast(std::string_view mark) {
  const size_t at = rest.find(mark);
  if (at == std::string_view::npos)
    return false;
  rest.remove_prefix(at + mark.size());
  return true;
}

void XmlReader::skipSpaces() {
  while (!rest.empty() && isXmlSpace(rest.front()))
    rest.remove_prefix(1);
}

/// Skips spaces, declarations and comments outside of elements.
bool XmlReader::skipBetween() {
  while (true) {
    skipSpaces();
    if (rest.starts_with("<?")) {
      if (!skipPast("?>"))
        return false;
    } else if (rest.starts_with("<!--")) {
      rest.remove_prefix(4);
      if (!skipPast("-->"))
        return false;
    } else {
      return true;
    }
  }
}

bool XmlReader::readName(std::string &name) {
  const size_t end = rest.find_first_of(" \t\r\n/>=<&\"'");
  if (end == 0 || end == std::string_view::npos)
    return false;
  name = rest.substr(0, end);
  rest.remove_prefix(end);
  if (const size_t colon = name.rfind(':'); colon != std::string::npos)
    name.erase(0, colon + 1);
  return !name.empty();
}

/// Skips attributes and the end of a tag.
bool XmlReader::skipAttributes(bool &isEmpty) {
  while (true) {
    skipSpaces();
    isEmpty = rest.starts_with("/>");
    if (isEmpty || rest.starts_with('>')) {
      rest.remove_prefix(isEmpty ? 2 : 1);
      return true;
    }
    std::string ignored;
    if (!readName(ignored))
      return false;
    skipSpaces();
    if (!rest.starts_with('='))
      return false;
    rest.remove_prefix(1);
    skipSpaces();
    if (!rest.starts_with('"') && !rest.starts_with('\''))
      return false;
    const char quote = rest.front();
    rest.remove_prefix(1);
    if (!skipPast({&quote, 1}))
      return false;
  }
}

/// Reads text up to the next tag.
bool XmlReader::readText(std::string &text) {
  while (!rest.empty() && rest.front() != '<') {
    const size_t end = std::min(rest.find_first_of("<&"), rest.size());
    text += rest.substr(0, end);
    rest.remove_prefix(end);
    if (!rest.starts_with('&'))
      continue;
    const size_t semicolon = rest.find(';');
    if (semicolon == std::string_view::npos ||
        !appendReference(rest.substr(1, semicolon - 1), text))
      return false;
    rest.remove_prefix(semicolon + 1);
  }
  return !rest.empty();
}

bool XmlReader::readContent(XmlElement &element, int depth) {
  while (true) {
    if (!readText(element.text))
      return false;
    if (rest.starts_with("</")) {
      rest.remove_prefix(2);
      std::string closed;
      if (!readName(closed) || closed != element.name)
        return false;
      skipSpaces();
      if (!rest.starts_with('>'))
        return false;
      rest.remove_prefix(1);
      return true;
    }
    if (rest.starts_with("<!--")) {
      rest.remove_prefix(4);
      if (!skipPast("-->"))
        return false;
    } else if (!readElement(element.elements.emplace_back(), depth + 1)) {
      return false;
    }
  }
}

bool XmlReader::readElement(XmlElement &element, int depth) {
  if (depth > maxDepth || !rest.starts_with('<'))
    return false;
  rest.remove_prefix(1);
  bool isEmpty = false;
  if (rest.starts_with('!') || rest.starts_with('?') ||
      !readName(element.name) || !skipAttributes(isEmpty))
    return false;
  return isEmpty || readContent(element, depth);
}

bool XmlReader::readDocument(XmlElement &root) {
  if (rest.starts_with("\xef\xbb\xbf"))
    rest.remove_prefix(3);
  return skipBetween() && readElement(root, 1) && skipBetween() && rest.empty();
}

std::optional<XmlElement> pdlrt::readXml(std::string_view text) {
  XmlElement root;
  if (!XmlReader(text).readDocument(root))
    return std::nullopt;
  return root;
}
