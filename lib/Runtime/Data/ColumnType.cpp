//===- ColumnType.cpp - Types of columns in files -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnType.h"

#include "Data/ColumnMap.h"

#include <charconv>
#include <optional>
#include <string_view>

using namespace pdlrt;

/// Returns the type of values with that format of the C data interface.
static std::optional<ElementType> valueTypeOf(std::string_view format) {
  struct Entry {
    std::string_view format;
    ElementType type;
  };
  static constexpr Entry entries[] = {
      {"n", ElementType::Null},     {"b", ElementType::Bool},
      {"c", ElementType::Int8},     {"s", ElementType::Int16},
      {"i", ElementType::Int32},    {"l", ElementType::Int64},
      {"C", ElementType::UInt8},    {"S", ElementType::UInt16},
      {"I", ElementType::UInt32},   {"L", ElementType::UInt64},
      {"e", ElementType::Half},     {"f", ElementType::Float},
      {"g", ElementType::Double},   {"u", ElementType::Text32},
      {"z", ElementType::Text32},   {"U", ElementType::Text64},
      {"Z", ElementType::Text64},   {"vu", ElementType::TextView},
      {"vz", ElementType::TextView}};
  for (const Entry &entry : entries)
    if (entry.format == format)
      return entry.type;
  return std::nullopt;
}

static std::optional<ColumnType::List> listTypeOf(std::string_view format) {
  if (format == "+l")
    return ColumnType::List{ListLayout::Ends32};
  if (format == "+L")
    return ColumnType::List{ListLayout::Ends64};
  if (format == "+vl")
    return ColumnType::List{ListLayout::Views32};
  if (format == "+vL")
    return ColumnType::List{ListLayout::Views64};
  if (!format.starts_with("+w:"))
    return std::nullopt;
  int64_t size = 0;
  const auto end =
      std::from_chars(format.data() + 3, format.data() + format.size(), size);
  return end.ec == std::errc() && size >= 0
             ? std::optional(ColumnType::List{ListLayout::Fixed, size})
             : std::nullopt;
}

/// Returns the error about a type that is not read.
static Status refuseType(std::string_view format) {
  const auto is = [&](std::string_view begin) {
    return format.starts_with(begin);
  };
  std::string name, remedy = "write it as integers, floats or strings";
  if (is("ts")) {
    name = "a timestamp";
    remedy = "write it as int64, in the unit that the model expects";
  } else if (is("td") || is("tt") || is("tD") || is("ti")) {
    name = is("td") ? "a date" : is("tt") ? "a time" : "a duration";
    remedy = "write it as an integer or as a string";
  } else if (is("d:")) {
    name = "a decimal";
    remedy = "write it as double, or as int64 of the smallest unit";
  } else if (is("w:")) {
    name = "a binary value of fixed size";
    remedy = "write it as a string";
  } else if (is("+s")) {
    name = "a struct";
    remedy = "write each of its members as a column";
  } else if (is("+m")) {
    name = "a map";
    remedy = "write its keys and its values as two lists";
  } else {
    name = "the type with the Arrow format `" + std::string(format) + "`";
  }
  return Status::invalidArgument("is " + name + ", which is not read; " +
                                 remedy);
}

Expected<ColumnType> pdlrt::parseColumnType(const PdlColumnSchema &schema) {
  ColumnType type;
  const PdlColumnSchema *level = &schema;
  while (const auto list = listTypeOf(level->format)) {
    type.lists.push_back(*list);
    if (type.lists.size() > 2)
      return Status::invalidArgument(
          "has lists of lists of lists; a field has at most a list for each "
          "feature slot");
    level = level->children[0];
  }
  const auto element = valueTypeOf(level->format);
  if (!element)
    return refuseType(level->format);
  type.element = *element;
  if (!level->dictionary)
    return type;
  const auto value = valueTypeOf(level->dictionary->format);
  if (!value)
    return refuseType(level->dictionary->format);
  if (level->dictionary->dictionary || !isInteger(*element))
    return Status::invalidArgument(
        "has a dictionary of dictionaries; write its values");
  type.hasDictionary = true;
  type.index = *element;
  type.element = *value;
  return type;
}

std::string pdlrt::columnTypeText(const ColumnType &type) {
  std::string text;
  for (size_t i = 0; i < type.lists.size(); ++i)
    text += i == 0 ? "a list of " : "lists of ";
  const bool isOne = type.lists.empty();
  if (type.element == ElementType::Null)
    return text + "nulls";
  if (type.element == ElementType::Bool)
    return text + (isOne ? "a bool" : "bools");
  if (isInteger(type.element))
    return text + (isOne ? "an integer" : "integers");
  if (isFloat(type.element))
    return text + (isOne ? "a float" : "floats");
  return text + (isOne ? "a string" : "strings");
}

Status pdlrt::checkColumnType(const ColumnType &type, const pdl_field &field,
                              bool isWhole) {
  const bool isBag = field.kind == PDL_FIELD_RAGGED;
  const bool hasSlots = isWhole && field.width > 1;
  const size_t lists = type.lists.size();
  // A list of one value is a value; a value is a bag of one.
  const bool fits = hasSlots ? lists == (isBag ? 2 : 1)
                             : lists <= 1 && (isBag || isWhole || lists == 0);
  const bool isOfSize =
      type.lists.empty() || type.lists[0].layout != ListLayout::Fixed ||
      (isBag && !hasSlots) || type.lists[0].size == field.width;
  std::string remedy;
  if (type.element == ElementType::Null)
    return {};
  if (!fits && hasSlots)
    remedy = isBag ? "write a list of lists, with a list for each of its " +
                         std::to_string(field.width) +
                         " feature slots, or a column for each slot"
                   : "write a list of " + std::to_string(field.width) +
                         " values, or a column for each of them";
  else if (!fits)
    remedy = isBag ? "write a list" : "write one value in each row";
  else if (!isOfSize)
    remedy = "write lists of " + std::to_string(field.width) + " values";
  else if (field.element_type == PDL_I64 && isFloat(type.element))
    remedy = "write ids as integers or as strings";
  else if (field.element_type == PDL_I64 && type.element == ElementType::Bool &&
           field.hash_kind == PDL_HASH_NONE)
    remedy = "write ids as integers, or give the field hash(...)";
  if (remedy.empty())
    return {};
  return Status::invalidArgument("is " + columnTypeText(type) +
                                 ", which does not suit " + fieldText(field) +
                                 "; " + remedy);
}
