//===- ManifestJson.h - Writes and reads fields as JSON ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two classes with the same functions. `ManifestWriter` writes the members of a
// structure as fields of a JSON object, and `ManifestReader` reads them.
// ManifestFields.h calls these functions once for each field, so one list of
// fields defines both directions.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_MANIFESTJSON_H
#define LIB_RUNTIME_CHECKPOINT_MANIFESTJSON_H

#include "Files/CheckedText.h"
#include "pdlrt/Files/Safetensors.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdlrt {

/// Thrown for JSON that is valid, but not a valid manifest.
struct ManifestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes an object.
class ManifestWriter {
public:
  static constexpr bool isReading = false;

  const nlohmann::json &json() const { return object; }

  /// Writes a text, flag or list that the JSON library converts.
  template <typename T> void value(const char *key, const T &value) {
    object[key] = value;
  }
  /// Writes a number that is not negative.
  template <typename T> void count(const char *key, const T &value) {
    object[key] = value;
  }
  /// Writes a 64-bit hash as hexadecimal text.
  void hash(const char *key, uint64_t value) { object[key] = hexText(value); }
  /// Writes the name that `names` contains for an enumerator.
  template <typename Names, typename Kind>
  void kind(const char *key, const Kind &value, const Names &names) {
    const auto found =
        std::ranges::find(names, value, &Names::value_type::first);
    object[key] = found == std::end(names) ? "" : found->second;
  }
  /// Writes an element type, which must be one of `known`.
  void type(const char *key, TensorType value,
            std::initializer_list<TensorType> known) {
    (void)known;
    object[key] = tensorTypeName(value);
  }
  void typeHereOrOutside(const char *key, TensorType value,
                         std::initializer_list<TensorType> known) {
    type(key, value, known);
  }
  /// Writes a structure. `fields(io, value)` lists its fields.
  template <typename T, typename Fields>
  void nested(const char *key, const T &value, const Fields &fields) {
    ManifestWriter inner;
    fields(inner, value);
    object[key] = std::move(inner.object);
  }
  /// Writes a list of structures.
  template <typename T, typename Fields>
  void list(const char *key, const std::vector<T> &values,
            const Fields &fields) {
    nlohmann::json all = nlohmann::json::array();
    for (const T &value : values) {
      ManifestWriter inner;
      fields(inner, value);
      all.push_back(std::move(inner.object));
    }
    object[key] = std::move(all);
  }
  /// Calls `field` if `isSet`. The function of ManifestReader instead calls it
  /// if the object has the key.
  template <typename Field>
  void optional(const char *key, bool isSet, const Field &field) {
    (void)key;
    if (isSet)
      field();
  }
  /// Returns a reference to the value of an `optional` member that is set.
  template <typename T>
  static const T &present(const std::optional<T> &member) {
    return *member;
  }

private:
  nlohmann::json object = nlohmann::json::object();
};

/// Reads a JSON object. Has the same functions as `ManifestWriter`, so that one
/// list of fields serves for both. Throws nlohmann::json::exception and
/// ManifestError.
class ManifestReader {
public:
  static constexpr bool isReading = true;

  /// `outer`: the object that contains this one, or null.
  explicit ManifestReader(const nlohmann::json &object,
                          const nlohmann::json *outer = nullptr)
      : object(object), outer(outer) {}

  template <typename T> void value(const char *key, T &value) {
    value = object.at(key).get<T>();
  }
  template <typename T> void count(const char *key, T &value) {
    const nlohmann::json &number = object.at(key);
    // The JSON library would silently convert a negative number.
    if (!number.is_number_unsigned() ||
        number.get<uint64_t>() > uint64_t(INT64_MAX))
      throw ManifestError(std::string(key) + " is no count");
    value = T(number.get<int64_t>());
  }
  void hash(const char *key, uint64_t &value) {
    value = parseHex(object.at(key));
  }
  template <typename Names, typename Kind>
  void kind(const char *key, Kind &value, const Names &names) {
    const std::string name = object.at(key);
    const auto found = std::ranges::find_if(
        names, [&](const auto &known) { return name == known.second; });
    if (found == std::end(names))
      throw ManifestError("there is no kind '" + name + "'");
    value = found->first;
  }
  void type(const char *key, TensorType &value,
            std::initializer_list<TensorType> known) {
    value = typeIn(object, key, known);
  }
  /// Reads a type of this object. If this object has none, reads that of the
  /// outer object.
  void typeHereOrOutside(const char *key, TensorType &value,
                         std::initializer_list<TensorType> known) {
    value =
        typeIn(object.contains(key) || !outer ? object : *outer, key, known);
  }
  template <typename T, typename Fields>
  void nested(const char *key, T &value, const Fields &fields) {
    ManifestReader inner(object.at(key), &object);
    fields(inner, value);
  }
  template <typename T, typename Fields>
  void list(const char *key, std::vector<T> &values, const Fields &fields) {
    for (const nlohmann::json &entry : object.at(key)) {
      ManifestReader inner(entry, &object);
      fields(inner, values.emplace_back());
    }
  }
  template <typename Field>
  void optional(const char *key, bool isSet, const Field &field) {
    (void)isSet;
    if (object.contains(key))
      field();
  }
  template <typename T> static T &present(std::optional<T> &member) {
    return member.emplace();
  }

private:
  static TensorType typeIn(const nlohmann::json &from, const char *key,
                           std::initializer_list<TensorType> known) {
    const std::string name = from.at(key);
    for (TensorType type : known)
      if (name == tensorTypeName(type))
        return type;
    throw ManifestError("elements are of type '" + name + "'");
  }

  const nlohmann::json &object;
  const nlohmann::json *outer;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_MANIFESTJSON_H
