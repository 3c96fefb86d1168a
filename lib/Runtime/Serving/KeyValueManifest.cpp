//===- KeyValueManifest.cpp - Manifest of exports for key-value stores ----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/CheckedText.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Serving/KeyValueExport.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <system_error>

using namespace pdlrt;
using nlohmann::json;

/// Version of the format. Must be increased with each change that older readers
/// would misread.
static constexpr int64_t keyValueVersion = 1;

Expected<bool> pdlrt::isKeyValueExport(const std::string &folder) {
  if (isInObjectStore(folder))
    return isStored(withoutSlashes(folder) + "/" + keyValueManifestName);
  std::error_code ignored;
  return std::filesystem::exists(
      std::filesystem::path(folder) / keyValueManifestName, ignored);
}

int64_t KeyValueTable::rows() const {
  int64_t sum = 0;
  for (const KeyValueFile &file : files)
    sum += file.rows;
  return sum;
}

static json digestJson(const FileDigest &digest) {
  return {{"bytes", digest.bytes}, {"xxh3", hexText(digest.hash)}};
}

std::string pdlrt::encodeKeyValues(const KeyValueManifest &manifest) {
  json tables = json::array();
  for (const KeyValueTable &table : manifest.tables) {
    json files = json::array();
    for (const KeyValueFile &file : table.files) {
      json entry = digestJson(file.digest);
      entry["file"] = file.file;
      entry["rows"] = file.rows;
      entry["first_key"] = file.firstKey;
      entry["last_key"] = file.lastKey;
      files.push_back(std::move(entry));
    }
    tables.push_back({{"name", table.name},
                      {"part", table.part},
                      {"element_type", tensorTypeName(table.elements.type)},
                      {"width", table.elements.width},
                      {"rows", table.rows()},
                      {"files", std::move(files)}});
    if (!table.keys.empty())
      tables.back()["keys"] = table.keys;
  }
  json whole = {{"format", manifest.format},
                {"model", manifest.model},
                {"steps", manifest.steps},
                {"slot", manifest.slot},
                {"tables", std::move(tables)}};
  if (manifest.parameters)
    whole["parameters"] = digestJson(*manifest.parameters);
  return joinChecked(
      keyValueVersion,
      "\"key_values\": " +
          whole.dump(2, ' ', false, json::error_handler_t::replace) + "}\n");
}

namespace {

/// Error in a text that is valid JSON but not a valid manifest.
struct ContentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace

/// Returns the integer with this name, which must be at least `least`. Throws
/// json::exception and ContentError.
static int64_t countAt(const json &object, const char *name,
                       int64_t least = 0) {
  const json &value = object.at(name);
  // The JSON library would silently convert a negative number.
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() > uint64_t(INT64_MAX) ||
      value.get<int64_t>() < least)
    throw ContentError(std::string(name) + " is no count");
  return value.get<int64_t>();
}

static int64_t keyAt(const json &object, const char *name) {
  const json &value = object.at(name);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<uint64_t>() > uint64_t(INT64_MAX)))
    throw ContentError(std::string(name) + " is no key");
  return value.get<int64_t>();
}

static FileDigest digestOf(const json &object) {
  return {uint64_t(countAt(object, "bytes")), parseHex(object.at("xxh3"))};
}

static RowElements elementsOf(const json &object) {
  // Prevents overflow in the size of a row.
  constexpr int64_t maxElements = int64_t(1) << 32;
  const std::string type = object.at("element_type");
  RowElements elements;
  elements.width = countAt(object, "width", 1);
  if (elements.width > maxElements)
    throw ContentError("width is too large");
  for (TensorType known : {TensorType::F32, TensorType::F64})
    if (type == tensorTypeName(known)) {
      elements.type = known;
      return elements;
    }
  throw ContentError("elements are of type '" + type + "'");
}

static KeyValueTable tableOf(const json &object, std::set<std::string> &names) {
  KeyValueTable table;
  table.name = object.at("name");
  table.part = object.at("part");
  table.elements = elementsOf(object);
  if (object.contains("keys"))
    table.keys = object.at("keys");
  for (const json &entry : object.at("files")) {
    KeyValueFile file;
    file.file = entry.at("file");
    file.rows = countAt(entry, "rows", 1);
    file.firstKey = keyAt(entry, "first_key");
    file.lastKey = keyAt(entry, "last_key");
    file.digest = digestOf(entry);
    if (file.file.empty() || file.file.front() == '.' ||
        file.file.find('/') != std::string::npos ||
        !names.insert(file.file).second)
      throw ContentError("it names a file '" + file.file +
                         "' twice or outside of its folder");
    table.files.push_back(std::move(file));
  }
  return table;
}

Expected<KeyValueManifest> pdlrt::decodeKeyValues(const std::string &text,
                                                  const std::string &path) {
  const auto refuse = [&](const std::string &why) {
    return Status::dataLoss(path + ": " + why +
                            "; export the checkpoint again");
  };
  const std::optional<CheckedText> checked = splitChecked(text);
  if (!checked)
    return refuse("is no manifest of an export for key-value stores");
  if (checked->version != keyValueVersion)
    return refuse(
        fmt::format("has format version {}, but this program reads version {}",
                    checked->version, keyValueVersion));
  if (checked->content != CheckedText::Content::Whole)
    return refuse("its checksum does not fit its content");
  try {
    const json root = json::parse(text).at("key_values");
    KeyValueManifest manifest;
    manifest.format = root.at("format");
    manifest.model = root.at("model");
    manifest.steps = countAt(root, "steps");
    manifest.slot = root.at("slot");
    std::set<std::string> files, tables;
    for (const json &entry : root.at("tables")) {
      manifest.tables.push_back(tableOf(entry, files));
      if (!tables.insert(manifest.tables.back().name).second)
        throw ContentError("it has table @" + manifest.tables.back().name +
                           " twice");
    }
    if (root.contains("parameters"))
      manifest.parameters = digestOf(root.at("parameters"));
    return manifest;
  } catch (const std::exception &exception) {
    return refuse(std::string("its content is not that of a manifest (") +
                  exception.what() + ")");
  }
}
