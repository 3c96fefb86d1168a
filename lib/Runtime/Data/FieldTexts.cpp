//===- FieldTexts.cpp - Copied texts of a record's ids --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FieldTexts.h"

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"

#include <cstdint>
#include <cstring>

using namespace pdlrt;

static uint32_t takeSize(std::string_view &texts) {
  uint32_t size;
  std::memcpy(&size, texts.data(), sizeof(size));
  texts.remove_prefix(sizeof(size));
  return size;
}

static std::string_view takeText(std::string_view &texts) {
  const uint32_t size = takeSize(texts);
  const std::string_view text = texts.substr(0, size);
  texts.remove_prefix(size);
  return text;
}

static void appendSize(size_t size, std::string &texts) {
  const auto number = uint32_t(size);
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  texts.append(bytes, sizeof(number));
}

void pdlrt::beginFieldTexts(size_t count, std::string &texts) {
  appendSize(count, texts);
}

void pdlrt::appendFieldText(std::string_view text, std::string &texts) {
  appendSize(text.size(), texts);
  texts.append(text);
}

void pdlrt::takeFieldTexts(std::string_view &texts,
                           std::vector<std::string_view> &ids) {
  for (uint32_t count = takeSize(texts); count > 0; --count)
    ids.push_back(takeText(texts));
}

std::string_view pdlrt::takeCopiedCell(std::string_view &copied, size_t count) {
  if (count > 1 && !copied.empty())
    return takeText(copied);
  const std::string_view all = copied;
  copied = {};
  return all;
}

void pdlrt::splitFieldText(const pdl_field &field, std::string_view cell,
                           std::vector<std::string_view> &ids) {
  const bool isList = field.kind == PDL_FIELD_RAGGED;
  // A cell that contains only a text for a missing value is an empty bag.
  const bool keepsMissing = field.missing_element_kind != PDL_MISSING_ERROR;
  if (isList && (cell.empty() || (keepsMissing && isMissingText(field, cell))))
    return;
  size_t cut = std::string_view::npos;
  while (isList && field.separator &&
         (cut = cell.find(char(field.separator))) != std::string_view::npos) {
    ids.push_back(trim(cell.substr(0, cut)));
    cell.remove_prefix(cut + 1);
  }
  ids.push_back(trim(cell));
}
