//===- JsonRequest.cpp - The body of a request in JSON --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonRequest.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <simdjson.h>
#include <utility>

using namespace pdlserve;
using namespace simdjson;

namespace {

/// What is wrong with a request, besides its JSON.
struct Fault {
  explicit Fault(std::string sentence)
      : outcome(Outcome::bad(std::move(sentence))) {}
  explicit Fault(Outcome outcome) : outcome(std::move(outcome)) {}

  Outcome outcome;
};

/// Reads one request. Faults are thrown within.
class Reader {
public:
  Reader(ondemand::parser &parser, Reservation &memory, JsonRequest &request)
      : parser(parser), memory(memory), request(request) {}

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
  void takeCopy(std::string_view json, std::string &to);
  void readInput(ondemand::object object);
  void readOutput(ondemand::object object);
  static void readShape(ondemand::array shape, Tensor &tensor);
  void readData(ondemand::array data, Tensor &tensor);
  void takeLate(std::string_view binary);

  ondemand::parser &parser;
  Reservation &memory;
  JsonRequest &request;
  std::vector<Late> late;
};

} // namespace

/// As many dimensions as anybody nests.
static constexpr int mostDepth = 16;
/// More inputs and outputs than any model has.
static constexpr size_t maxTensors = 1024;

static void require(bool hasRoom) {
  if (!hasRoom)
    throw Fault(noBudget());
}

/// Notes that an object has a key; it may have each once.
static void once(bool &has, std::string_view key) {
  if (std::exchange(has, true))
    throw Fault(fmt::format("the request has '{}' twice in one object", key));
}

static bool isArray(ondemand::value value) {
  return value.type() == ondemand::json_type::array;
}

template <typename Element>
static void append(Tensor &tensor, Element element, Reservation &memory) {
  require(makeRoom(tensor.storage, sizeof(element), memory));
  tensor.storage.append(reinterpret_cast<const char *>(&element),
                        sizeof(element));
  ++tensor.count;
}

/// A missing element: NaN, or an empty text. Integers become texts for it.
static void appendMissing(Tensor &tensor, Reservation &memory) {
  switch (tensor.type) {
  case DataType::Fp32:
    append(tensor, std::numeric_limits<float>::quiet_NaN(), memory);
    return;
  case DataType::Fp64:
    append(tensor, std::numeric_limits<double>::quiet_NaN(), memory);
    return;
  case DataType::Int64:
    for (int64_t i = 0; i < tensor.count; ++i) {
      int64_t number;
      std::memcpy(&number, tensor.storage.data() + i * int64_t(sizeof(number)),
                  sizeof(number));
      require(tensor.texts.add(std::to_string(number), memory));
    }
    tensor.storage.clear();
    tensor.type = DataType::Bytes;
    tensor.areIntegers = true;
    [[fallthrough]];
  case DataType::Bytes:
    require(tensor.texts.add("", memory));
    ++tensor.count;
    return;
  case DataType::Int32:
  case DataType::Uint64:
    throw Fault(fmt::format("input '{}': element {} of its data is null, which "
                            "{} cannot be",
                            tensor.name, tensor.count, nameOf(tensor.type)));
  }
}

static void readElement(ondemand::value value, Tensor &tensor,
                        Reservation &memory) {
  if (value.is_null()) {
    appendMissing(tensor, memory);
    return;
  }
  switch (tensor.type) {
  case DataType::Fp32: {
    const double number = value.get_double();
    const auto narrow = float(number);
    if (!std::isfinite(narrow))
      throw Fault(fmt::format("input '{}': {} is too large for FP32",
                              tensor.name, number));
    append(tensor, narrow, memory);
    return;
  }
  case DataType::Fp64:
    append(tensor, double(value.get_double()), memory);
    return;
  case DataType::Int64:
    append(tensor, int64_t(value.get_int64()), memory);
    return;
  case DataType::Uint64:
    append(tensor, uint64_t(value.get_uint64()), memory);
    return;
  case DataType::Int32: {
    const int64_t number = value.get_int64();
    if (number != int32_t(number))
      throw Fault(fmt::format("input '{}': {} is too large for INT32",
                              tensor.name, number));
    append(tensor, int32_t(number), memory);
    return;
  }
  case DataType::Bytes:
    if (tensor.areIntegers)
      require(
          tensor.texts.add(std::to_string(int64_t(value.get_int64())), memory));
    else
      require(tensor.texts.add(std::string_view(value.get_string()), memory));
    ++tensor.count;
    return;
  }
}

static void readArray(ondemand::array data, Tensor &tensor, int depth,
                      Reservation &memory) {
  if (depth == mostDepth)
    throw Fault(fmt::format("input '{}': its data are nested more than {} deep",
                            tensor.name, mostDepth));
  for (ondemand::value value : data)
    if (isArray(value))
      readArray(value.get_array(), tensor, depth + 1, memory);
    else
      try {
        readElement(value, tensor, memory);
      } catch (const simdjson_error &error) {
        if (error.error() != INCORRECT_TYPE && error.error() != NUMBER_ERROR &&
            error.error() != NUMBER_OUT_OF_RANGE &&
            error.error() != STRING_ERROR)
          throw;
        throw Fault(
            fmt::format("input '{}': element {} of its data is no "
                        "{} of {}",
                        tensor.name, tensor.count,
                        tensor.type == DataType::Bytes ? "text" : "number",
                        nameOf(tensor.type)));
      }
}

void Reader::readData(ondemand::array data, Tensor &tensor) {
  readArray(data, tensor, 0, memory);
}

void Reader::readShape(ondemand::array shape, Tensor &tensor) {
  for (ondemand::value size : shape) {
    if (tensor.shape.size() == mostDepth)
      throw Fault(
          fmt::format("an input has more than {} dimensions", mostDepth));
    tensor.shape.push_back(size.get_int64());
  }
}

/// Whether a parameter has another value than 0, false, null or an empty text.
static bool isSet(ondemand::value value) {
  std::string_view text = value.raw_json_token();
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text != "0" && text != "false" && text != "null" && text != "\"\"";
}

void Reader::readParameters(ondemand::object parameters, const char *flag,
                            std::optional<bool> *on,
                            std::optional<uint64_t> *binarySize) {
  bool hasFlag = false, hasSize = false;
  for (auto field : parameters) {
    const std::string_view key = field.unescaped_key();
    if (on && key == flag) {
      once(hasFlag, key);
      *on = bool(field.value().get_bool());
    } else if (binarySize && key == "binary_data_size") {
      once(hasSize, key);
      *binarySize = uint64_t(field.value().get_uint64());
    } else if (Outcome outcome = checkParameter(key, isSet(field.value()));
               !outcome.ok()) {
      throw Fault(std::move(outcome));
    }
  }
}

/// Keeps JSON that is read again later, with the copy that it is read from.
void Reader::takeCopy(std::string_view json, std::string &to) {
  require(memory.grow(2 * json.size()));
  to = json;
}

void Reader::readInput(ondemand::object object) {
  const size_t index = request.inputs.size();
  if (index == maxTensors)
    throw Fault(fmt::format("there are more than {} inputs", maxTensors));
  require(memory.grow(sizeof(Tensor)));
  Tensor &tensor = request.inputs.emplace_back();
  bool hasName = false, hasType = false, hasShape = false, hasData = false,
       hasParameters = false;
  Late later = {index, std::nullopt, {}};
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") {
      once(hasName, key);
      tensor.name = std::string_view(field.value().get_string());
    } else if (key == "datatype") {
      once(hasType, key);
      const std::string_view name = field.value().get_string();
      const std::optional<DataType> type = parseDataType(name);
      if (!type)
        throw Fault(
            fmt::format("input '{}': its datatype '{}' is none of FP32, "
                        "FP64, INT32, INT64, UINT64 and BYTES",
                        tensor.name, name));
      tensor.type = *type;
    } else if (key == "shape") {
      once(hasShape, key);
      readShape(field.value().get_array(), tensor);
    } else if (key == "parameters") {
      once(hasParameters, key);
      readParameters(field.value().get_object(), nullptr, nullptr,
                     &later.binarySize);
    } else if (key == "data") {
      once(hasData, key);
      ondemand::array data = field.value().get_array();
      if (hasType)
        readData(data, tensor);
      else
        takeCopy(data.raw_json(), later.json);
    }
  }
  for (const auto &[has, what] :
       {std::pair(!tensor.name.empty(), "name"), std::pair(hasType, "datatype"),
        std::pair(hasShape, "shape"),
        std::pair(hasData || later.binarySize, "data")})
    if (!has)
      throw Fault(
          fmt::format("input {} ('{}') has no {}", index, tensor.name, what));
  if (hasData && later.binarySize)
    throw Fault(fmt::format("input '{}' has data and binary_data_size; give "
                            "one of them",
                            tensor.name));
  if (later.binarySize || !later.json.empty())
    late.push_back(std::move(later));
}

void Reader::readOutput(ondemand::object object) {
  if (request.outputs.size() == maxTensors)
    throw Fault(fmt::format("there are more than {} outputs", maxTensors));
  require(memory.grow(sizeof(WantedOutput)));
  WantedOutput &output = request.outputs.emplace_back();
  bool hasName = false, hasParameters = false;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") {
      once(hasName, key);
      output.name = std::string_view(field.value().get_string());
    } else if (key == "parameters") {
      once(hasParameters, key);
      readParameters(field.value().get_object(), "binary_data",
                     &output.isBinary, nullptr);
    }
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
      throw Fault(fmt::format("input '{}': its binary_data_size is {}, but "
                              "there are only {} bytes behind the JSON",
                              tensor.name, *each.binarySize, binary.size()));
    const std::string_view own = binary.substr(0, *each.binarySize);
    binary.remove_prefix(*each.binarySize);
    if (Outcome outcome = tensor.takeRaw(own, memory); !outcome.ok())
      throw Fault(std::move(outcome));
  }
  if (!binary.empty())
    throw Fault(fmt::format("there are {} bytes behind the last binary tensor",
                            binary.size()));
}

void Reader::read(padded_string_view json, std::string_view binary) {
  ondemand::document document = parser.iterate(json);
  bool hasId = false, hasParameters = false, hasInputs = false,
       hasOutputs = false;
  for (auto field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    if (key == "id") {
      once(hasId, key);
      request.id = std::string_view(field.value().get_string());
      request.hasId = true;
    } else if (key == "parameters") {
      once(hasParameters, key);
      readParameters(field.value().get_object(), "binary_data_output",
                     &request.areOutputsBinary, nullptr);
    } else if (key == "inputs") {
      once(hasInputs, key);
      for (ondemand::value input : field.value().get_array())
        readInput(input.get_object());
    } else if (key == "outputs") {
      once(hasOutputs, key);
      for (ondemand::value output : field.value().get_array())
        readOutput(output.get_object());
    }
  }
  if (document.current_location().error() == SUCCESS)
    throw Fault("there is more behind the JSON object of the request");
  if (!hasInputs)
    throw Fault("the request has no inputs");
  takeLate(binary);
}

Outcome pdlserve::checkParameter(std::string_view name, bool isSet) {
  constexpr std::string_view refused[] = {
      "classification",       "shared_memory_region",
      "shared_memory_offset", "shared_memory_byte_size",
      "sequence_id",          "sequence_start",
      "sequence_end"};
  if (!isSet || std::ranges::find(refused, name) == std::end(refused))
    return {};
  return Outcome::bad(fmt::format("the request has the parameter '{}', which "
                                  "this server does not support; leave it out",
                                  name));
}

namespace {
/// The memory that a parser takes for the time of one request.
struct ParserMemory {
  /// The largest JSON for which a thread keeps its parser's memory.
  static constexpr size_t maxKept = size_t(1) << 20;

  ParserMemory(ondemand::parser &parser, Reservation &memory, size_t jsonBytes)
      : parser(parser), memory(memory), isLarge(jsonBytes > maxKept),
        // An index of 4 bytes for each byte, and the texts.
        bytes(jsonBytes * 6), isReserved(memory.grow(bytes)) {}
  ParserMemory(const ParserMemory &) = delete;
  ParserMemory &operator=(const ParserMemory &) = delete;
  ~ParserMemory() {
    if (isLarge)
      parser = ondemand::parser();
    if (isReserved)
      memory.shrink(bytes);
  }

  ondemand::parser &parser;
  Reservation &memory;
  const bool isLarge;
  const uint64_t bytes;
  const bool isReserved;
};
} // namespace

Outcome pdlserve::parseJsonRequest(std::string &body,
                                   std::optional<size_t> jsonSize,
                                   Reservation &memory, JsonRequest &request) {
  if (jsonSize.value_or(0) > body.size())
    return Outcome::bad(fmt::format("Inference-Header-Content-Length is {}, "
                                    "but the body has {} bytes",
                                    *jsonSize, body.size()));
  // Memory that may be read after it.
  if (!makeRoom(body, SIMDJSON_PADDING, memory))
    return noBudget();
  const std::string_view whole = body;
  const std::string_view json = whole.substr(0, jsonSize.value_or(body.size()));
  // It keeps its memory from request to request, unless that is much.
  thread_local ondemand::parser parser;
  const ParserMemory held{parser, memory, json.size()};
  if (!held.isReserved)
    return noBudget();
  try {
    Reader(parser, memory, request)
        .read(padded_string_view(json.data(), json.size(),
                                 json.size() + SIMDJSON_PADDING),
              whole.substr(json.size()));
  } catch (const Fault &fault) {
    return fault.outcome;
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
