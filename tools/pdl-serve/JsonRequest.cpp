//===- JsonRequest.cpp - The body of a request in JSON --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonRequest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <simdjson.h>

using namespace pdlserve;
using namespace simdjson;

namespace {

/// What is wrong with a request, besides its JSON.
struct Fault {
  std::string sentence;
};

/// Reads one request. Faults are thrown within.
class Reader {
public:
  Reader(ondemand::parser &parser, JsonRequest &request)
      : parser(parser), request(request) {}

  void read(padded_string_view json, std::string_view binary);

private:
  /// An input whose data follow behind the JSON, or stood before its datatype.
  struct Late {
    size_t input;
    std::optional<uint64_t> binarySize;
    std::string json;
  };

  void readParameters(ondemand::object parameters, const char *flag,
                      std::optional<bool> *on,
                      std::optional<uint64_t> *binarySize);
  void readInput(ondemand::object object);
  void readOutput(ondemand::object object);
  static void readShape(ondemand::array shape, Tensor &tensor);
  static void readData(ondemand::array data, Tensor &tensor);
  void takeLate(std::string_view binary);

  ondemand::parser &parser;
  JsonRequest &request;
  std::vector<Late> late;
};

} // namespace

/// As many dimensions as anybody nests.
static constexpr int mostDepth = 16;

static bool isArray(ondemand::value value) {
  return value.type() == ondemand::json_type::array;
}

template <typename Element>
static void append(Tensor &tensor, Element element) {
  tensor.storage.append(reinterpret_cast<const char *>(&element),
                        sizeof(element));
  ++tensor.count;
}

static void readElement(ondemand::value value, Tensor &tensor) {
  switch (tensor.type) {
  case DataType::Fp32: {
    const double number = value.get_double();
    const auto narrow = float(number);
    if (!std::isfinite(narrow))
      throw Fault{fmt::format("input '{}': {} is too large for FP32",
                              tensor.name, number)};
    append(tensor, narrow);
    return;
  }
  case DataType::Fp64:
    append(tensor, double(value.get_double()));
    return;
  case DataType::Int64:
    append(tensor, int64_t(value.get_int64()));
    return;
  case DataType::Int32: {
    const int64_t number = value.get_int64();
    if (number != int32_t(number))
      throw Fault{fmt::format("input '{}': {} is too large for INT32",
                              tensor.name, number)};
    append(tensor, int32_t(number));
    return;
  }
  case DataType::Bytes:
    tensor.texts.add(std::string_view(value.get_string()));
    ++tensor.count;
    return;
  }
}

static void readArray(ondemand::array data, Tensor &tensor, int depth) {
  if (depth == mostDepth)
    throw Fault{fmt::format("input '{}': its data are nested more than {} deep",
                            tensor.name, mostDepth)};
  for (ondemand::value value : data)
    if (isArray(value))
      readArray(value.get_array(), tensor, depth + 1);
    else
      try {
        readElement(value, tensor);
      } catch (const simdjson_error &error) {
        if (error.error() != INCORRECT_TYPE && error.error() != NUMBER_ERROR &&
            error.error() != NUMBER_OUT_OF_RANGE &&
            error.error() != STRING_ERROR)
          throw;
        throw Fault{
            fmt::format("input '{}': element {} of its data is no "
                        "{} of {}",
                        tensor.name, tensor.count,
                        tensor.type == DataType::Bytes ? "text" : "number",
                        nameOf(tensor.type))};
      }
}

void Reader::readData(ondemand::array data, Tensor &tensor) {
  readArray(data, tensor, 0);
}

void Reader::readShape(ondemand::array shape, Tensor &tensor) {
  for (ondemand::value size : shape) {
    if (tensor.shape.size() == mostDepth)
      throw Fault{
          fmt::format("an input has more than {} dimensions", mostDepth)};
    tensor.shape.push_back(size.get_int64());
  }
}

void Reader::readParameters(ondemand::object parameters, const char *flag,
                            std::optional<bool> *on,
                            std::optional<uint64_t> *binarySize) {
  for (auto field : parameters) {
    const std::string_view key = field.unescaped_key();
    if (on && key == flag)
      *on = bool(field.value().get_bool());
    else if (binarySize && key == "binary_data_size")
      *binarySize = uint64_t(field.value().get_uint64());
  }
}

void Reader::readInput(ondemand::object object) {
  const size_t index = request.inputs.size();
  Tensor &tensor = request.inputs.emplace_back();
  bool hasType = false, hasShape = false, hasData = false;
  Late later = {index, std::nullopt, {}};
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") {
      tensor.name = std::string_view(field.value().get_string());
    } else if (key == "datatype") {
      const std::string_view name = field.value().get_string();
      const std::optional<DataType> type = parseDataType(name);
      if (!type)
        throw Fault{
            fmt::format("input '{}': its datatype '{}' is none of FP32, "
                        "FP64, INT32, INT64 and BYTES",
                        tensor.name, name)};
      tensor.type = *type;
      hasType = true;
    } else if (key == "shape") {
      tensor.shape.clear();
      readShape(field.value().get_array(), tensor);
      hasShape = true;
    } else if (key == "parameters") {
      readParameters(field.value().get_object(), nullptr, nullptr,
                     &later.binarySize);
    } else if (key == "data") {
      if (std::exchange(hasData, true))
        throw Fault{fmt::format("input '{}' has data twice", tensor.name)};
      ondemand::array data = field.value().get_array();
      if (hasType)
        readData(data, tensor);
      else
        later.json = std::string_view(data.raw_json());
    }
  }
  for (const auto &[has, what] :
       {std::pair(!tensor.name.empty(), "name"), std::pair(hasType, "datatype"),
        std::pair(hasShape, "shape"),
        std::pair(hasData || later.binarySize, "data")})
    if (!has)
      throw Fault{
          fmt::format("input {} ('{}') has no {}", index, tensor.name, what)};
  if (hasData && later.binarySize)
    throw Fault{fmt::format("input '{}' has data and binary_data_size; give "
                            "one of them",
                            tensor.name)};
  if (later.binarySize || !later.json.empty())
    late.push_back(std::move(later));
}

void Reader::readOutput(ondemand::object object) {
  WantedOutput &output = request.outputs.emplace_back();
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name")
      output.name = std::string_view(field.value().get_string());
    else if (key == "parameters")
      readParameters(field.value().get_object(), "binary_data",
                     &output.isBinary, nullptr);
  }
}

void Reader::takeLate(std::string_view binary) {
  for (const Late &each : late) {
    Tensor &tensor = request.inputs[each.input];
    if (!each.binarySize) {
      padded_string json(each.json);
      ondemand::document document = parser.iterate(json);
      readData(document.get_array(), tensor);
      continue;
    }
    if (*each.binarySize > binary.size())
      throw Fault{fmt::format("input '{}': its binary_data_size is {}, but "
                              "there are only {} bytes behind the JSON",
                              tensor.name, *each.binarySize, binary.size())};
    const std::string_view own = binary.substr(0, *each.binarySize);
    binary.remove_prefix(*each.binarySize);
    if (Outcome outcome = tensor.takeRaw(own); !outcome.ok())
      throw Fault{outcome.sentence};
  }
  if (!binary.empty())
    throw Fault{fmt::format("there are {} bytes behind the last binary tensor",
                            binary.size())};
}

void Reader::read(padded_string_view json, std::string_view binary) {
  ondemand::document document = parser.iterate(json);
  bool hasInputs = false;
  for (auto field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    if (key == "id") {
      request.id = std::string_view(field.value().get_string());
      request.hasId = true;
    } else if (key == "parameters") {
      readParameters(field.value().get_object(), "binary_data_output",
                     &request.areOutputsBinary, nullptr);
    } else if (key == "inputs") {
      hasInputs = true;
      for (ondemand::value input : field.value().get_array())
        readInput(input.get_object());
    } else if (key == "outputs") {
      for (ondemand::value output : field.value().get_array())
        readOutput(output.get_object());
    }
  }
  if (document.current_location().error() == SUCCESS)
    throw Fault{"there is more behind the JSON object of the request"};
  if (!hasInputs)
    throw Fault{"the request has no inputs"};
  takeLate(binary);
}

Outcome pdlserve::parseJsonRequest(std::string &body,
                                   std::optional<size_t> jsonSize,
                                   JsonRequest &request) {
  if (jsonSize.value_or(0) > body.size())
    return Outcome::bad(fmt::format("Inference-Header-Content-Length is {}, "
                                    "but the body has {} bytes",
                                    *jsonSize, body.size()));
  // Memory that may be read behind it.
  body.reserve(body.size() + SIMDJSON_PADDING);
  const std::string_view whole = body;
  const std::string_view json = whole.substr(0, jsonSize.value_or(body.size()));
  // It keeps its memory from request to request.
  thread_local ondemand::parser parser;
  try {
    Reader(parser, request)
        .read(padded_string_view(json.data(), json.size(),
                                 json.size() + SIMDJSON_PADDING),
              whole.substr(json.size()));
  } catch (const Fault &fault) {
    return Outcome::bad(fault.sentence);
  } catch (const simdjson_error &error) {
    return Outcome::bad(
        error.error() == INCORRECT_TYPE || error.error() == NUMBER_ERROR
            ? "the request has a value of another JSON type than the V2 "
              "protocol has there"
            : fmt::format("the request is no JSON: {}", error.what()));
  }
  return {};
}

void pdlserve::appendQuoted(std::string &json, std::string_view text) {
  json += '"';
  for (const char c : text)
    if (c == '"' || c == '\\')
      (json += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      json += fmt::format("\\u{:04x}", int(c));
    else
      json += c;
  json += '"';
}

std::string pdlserve::errorJson(std::string_view sentence) {
  std::string json = "{\"error\":";
  std::string text(sentence);
  // A client may have put bytes into a name that are no UTF-8.
  if (!simdjson::validate_utf8(text))
    std::ranges::replace_if(text, [](char c) { return (c & 0x80) != 0; }, '?');
  appendQuoted(json, text);
  json += '}';
  return json;
}
