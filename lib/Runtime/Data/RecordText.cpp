//===- RecordText.cpp - The record of a model as text ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordText.h"

#include <bit>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

using namespace pdlrt;
using nlohmann::json;

/// Version of the text. It changes with each change of fields or programs.
static constexpr int textVersion = 1;

/// Returns the bits of a number, because JSON has no NaN.
static json bitsOf(double number) { return std::bit_cast<uint64_t>(number); }

static json textOrNull(const char *text) { return text ? json(text) : json(); }

static json describe(const pdl_field &field) {
  json found = {
      {"name", field.name},
      {"kind", field.kind},
      {"element_type", field.element_type},
      {"width", field.width},
      {"hash_kind", field.hash_kind},
      {"salt_kind", field.salt_kind},
      {"salt", field.salt},
      {"missing_kind", field.missing_kind},
      {"missing_value", bitsOf(field.missing_value)},
      {"missing_token", textOrNull(field.missing_token)},
      {"missing_element_kind", field.missing_element_kind},
      {"missing_element_value", bitsOf(field.missing_element_value)},
      {"missing_element_token", textOrNull(field.missing_element_token)},
      {"separator", field.separator}};
  if (field.missing_texts) {
    json &texts = found["missing_texts"] = json::array();
    for (int64_t i = 0; i < field.missing_text_count; ++i)
      texts.push_back(field.missing_texts[i]);
  }
  for (int64_t i = 0; i < field.column_count; ++i)
    found["columns"].push_back(field.column_names
                                   ? json(field.column_names[i])
                                   : json(field.column_positions[i]));
  for (int64_t i = 0; i < field.value_count; ++i)
    found["values"].push_back(
        {field.value_texts[i], bitsOf(field.value_numbers[i])});
  return found;
}

static json describe(const pdl_program &program) {
  json found = {{"name", program.name},
                {"fields", json::array()},
                {"joined", json::array()},
                {"id_ranges", json::array()}};
  for (int32_t i = 0; i < program.field_count; ++i)
    found["fields"].push_back(program.fields[i]);
  for (int32_t i = 0; i < 2 * program.joined_count; ++i)
    found["joined"].push_back(program.joined[i]);
  for (int32_t i = 0; i < program.id_range_count; ++i) {
    const pdl_id_range &range = program.id_ranges[i];
    json each = {{"field", range.field},
                 {"first_column", range.first_column},
                 {"column_count", range.column_count},
                 {"first", range.first},
                 {"end", range.end}};
    const uint64_t count = uint64_t(range.end) - uint64_t(range.first);
    for (uint64_t word = 0; range.allowed && word < (count + 31) / 32; ++word)
      each["allowed"].push_back(range.allowed[word]);
    found["id_ranges"].push_back(std::move(each));
  }
  return found;
}

std::string pdlrt::recordText(const pdl_descriptor &descriptor) {
  json text = {{"version", textVersion},
               {"model", descriptor.model_name},
               {"fields", json::array()},
               {"programs", json::array()}};
  for (int32_t i = 0; i < descriptor.field_count; ++i)
    text["fields"].push_back(describe(descriptor.fields[i]));
  for (int32_t i = 0; i < descriptor.program_count; ++i)
    text["programs"].push_back(describe(descriptor.programs[i]));
  return text.dump(/*indent=*/2, ' ', /*ensure_ascii=*/false,
                   json::error_handler_t::replace);
}

/// The descriptor, and everything that it points to.
struct RecordDescription::Content {
  const char *keep(const json &text) {
    return texts.emplace_back(text.get<std::string>()).c_str();
  }
  const char *keepOrNull(const json &text) {
    return text.is_null() ? nullptr : keep(text);
  }
  const char *const *keepAll(const json &all) {
    std::vector<const char *> &list = textLists.emplace_back();
    for (const json &each : all)
      list.push_back(keep(each));
    return list.data();
  }
  template <typename T>
  const T *keepNumbers(std::deque<std::vector<T>> &lists, const json &all) {
    return lists.emplace_back(all.get<std::vector<T>>()).data();
  }
  pdl_field fieldOf(const json &from);
  pdl_program programOf(const json &from);
  void addWhole();

  std::deque<std::string> texts;
  std::deque<std::vector<const char *>> textLists;
  std::deque<std::vector<int64_t>> positions;
  std::deque<std::vector<int32_t>> indices;
  std::deque<std::vector<double>> numbers;
  std::deque<std::vector<pdl_id_range>> ranges;
  std::vector<pdl_field> fields;
  /// The last one reads all fields.
  std::vector<pdl_program> programs;
  pdl_descriptor descriptor = {};
};

static double numberOf(const json &bits) {
  return std::bit_cast<double>(bits.get<uint64_t>());
}

pdl_field RecordDescription::Content::fieldOf(const json &from) {
  pdl_field field = {};
  field.struct_size = sizeof(field);
  field.name = keep(from.at("name"));
  field.kind = from.at("kind");
  field.element_type = from.at("element_type");
  field.width = from.at("width");
  field.hash_kind = from.at("hash_kind");
  field.salt_kind = from.at("salt_kind");
  field.salt = from.at("salt");
  field.missing_kind = from.at("missing_kind");
  field.missing_value = numberOf(from.at("missing_value"));
  field.missing_token = keepOrNull(from.at("missing_token"));
  field.missing_element_kind = from.at("missing_element_kind");
  field.missing_element_value = numberOf(from.at("missing_element_value"));
  field.missing_element_token = keepOrNull(from.at("missing_element_token"));
  field.separator = from.at("separator");
  if (from.contains("missing_texts")) {
    field.missing_text_count = int64_t(from["missing_texts"].size());
    // A list without texts is not null.
    static const char *const none[] = {nullptr};
    const char *const *all = keepAll(from["missing_texts"]);
    field.missing_texts = all ? all : none;
  }
  if (from.contains("columns")) {
    const json &columns = from["columns"];
    field.column_count = int64_t(columns.size());
    if (columns.at(0).is_string())
      field.column_names = keepAll(columns);
    else
      field.column_positions = keepNumbers(positions, columns);
  }
  if (from.contains("values")) {
    json mapped = json::array();
    std::vector<double> &values = numbers.emplace_back();
    for (const json &each : from["values"]) {
      mapped.push_back(each.at(0));
      values.push_back(numberOf(each.at(1)));
    }
    field.value_count = int64_t(values.size());
    field.value_texts = keepAll(mapped);
    field.value_numbers = values.data();
  }
  return field;
}

pdl_program RecordDescription::Content::programOf(const json &from) {
  pdl_program program = {};
  program.struct_size = sizeof(program);
  program.name = keep(from.at("name"));
  program.field_count = int32_t(from.at("fields").size());
  program.fields = keepNumbers(indices, from.at("fields"));
  program.joined_count = int32_t(from.at("joined").size() / 2);
  program.joined = keepNumbers(indices, from.at("joined"));
  std::vector<pdl_id_range> &own = ranges.emplace_back();
  for (const json &each : from.at("id_ranges")) {
    pdl_id_range range = {};
    range.field = each.at("field");
    range.first_column = each.at("first_column");
    range.column_count = each.at("column_count");
    range.first = each.at("first");
    range.end = each.at("end");
    if (each.contains("allowed"))
      range.allowed = keepNumbers(indices, each["allowed"]);
    own.push_back(range);
  }
  program.id_range_count = int32_t(own.size());
  program.id_ranges = own.data();
  return program;
}

/// Adds a program that reads all fields, with the conditions of all programs.
void RecordDescription::Content::addWhole() {
  pdl_program whole = {};
  whole.struct_size = sizeof(whole);
  whole.name = "";
  std::vector<int32_t> &all = indices.emplace_back();
  for (size_t i = 0; i < fields.size(); ++i)
    all.push_back(int32_t(i));
  std::vector<int32_t> &joined = indices.emplace_back();
  std::vector<pdl_id_range> &own = ranges.emplace_back();
  for (const pdl_program &program : programs) {
    for (int32_t i = 0; i < 2 * program.joined_count; ++i)
      joined.push_back(program.fields[program.joined[i]]);
    for (int32_t i = 0; i < program.id_range_count; ++i) {
      own.push_back(program.id_ranges[i]);
      own.back().field = program.fields[own.back().field];
    }
  }
  whole.field_count = int32_t(all.size());
  whole.fields = all.data();
  whole.joined_count = int32_t(joined.size() / 2);
  whole.joined = joined.data();
  whole.id_range_count = int32_t(own.size());
  whole.id_ranges = own.data();
  programs.push_back(whole);
}

Expected<RecordDescription> RecordDescription::parse(const std::string &text) {
  auto content = std::make_unique<Content>();
  try {
    const json all = json::parse(text);
    if (all.at("version") != textVersion)
      return Status::invalidArgument(
          "its record is written in another version of PDL; compile the model "
          "again with the pdl-translate of this version");
    for (const json &each : all.at("fields"))
      content->fields.push_back(content->fieldOf(each));
    for (const json &each : all.at("programs"))
      content->programs.push_back(content->programOf(each));
    for (const pdl_program &program : content->programs)
      for (int32_t i = 0; i < program.field_count; ++i)
        if (program.fields[i] < 0 ||
            size_t(program.fields[i]) >= content->fields.size())
          return Status::invalidArgument("its record has no field " +
                                         std::to_string(program.fields[i]));
    content->addWhole();
    pdl_descriptor &descriptor = content->descriptor;
    descriptor.struct_size = sizeof(descriptor);
    descriptor.model_name = content->keep(all.at("model"));
    descriptor.field_count = int32_t(content->fields.size());
    descriptor.fields = content->fields.data();
    descriptor.program_count = int32_t(content->programs.size()) - 1;
    descriptor.programs = content->programs.data();
  } catch (const json::exception &error) {
    return Status::invalidArgument(std::string("its record cannot be read: ") +
                                   error.what());
  }
  return RecordDescription(std::move(content));
}

RecordDescription::RecordDescription(std::unique_ptr<Content> content)
    : content(std::move(content)) {}
RecordDescription::RecordDescription(RecordDescription &&) noexcept = default;
RecordDescription &
RecordDescription::operator=(RecordDescription &&) noexcept = default;
RecordDescription::~RecordDescription() = default;

const pdl_descriptor &RecordDescription::descriptor() const {
  return content->descriptor;
}

Expected<const pdl_program *>
RecordDescription::program(const std::string &name) const {
  if (name.empty())
    return &content->programs.back();
  std::string known;
  for (int32_t i = 0; i < content->descriptor.program_count; ++i) {
    const pdl_program &program = content->programs[size_t(i)];
    if (program.name == name.substr(name.starts_with('@') ? 1 : 0))
      return &program;
    known += (known.empty() ? "" : ", ") + std::string(program.name);
  }
  return Status::invalidArgument(
      "--program " + name + ": the model has no such program, only " + known);
}
