//===- JsonRequest.cpp - Parses JSON requests -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonRequest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <simdjson.h>
#include <type_traits>
#include <utility>

using namespace pdlserve;
using namespace simdjson;

namespace {

/// Error in a request whose JSON is valid.
struct Fault {
  explicit Fault(std::string message)
      : outcome(Outcome::bad(std::move(message))) {}
  explicit Fault(Outcome outcome) : outcome(std::move(outcome)) {}

  Outcome outcome;
};

/// Parses one request. Throws Fault for a wrong request; its message contains
/// the position in the JSON, such as `inputs[0].data[2]`.
class Reader {
public:
  Reader(ondemand::parser &parser, Reservation &memory, JsonRequest &request)
      : parser(parser), memory(memory), request(request) {}

  void read(padded_string_view json, std::string_view binary);

private:
  /// An input whose data cannot be parsed yet: they are binary and follow the
  /// JSON, or they come before the datatype or the shape.
  struct Late {
    size_t input;
    std::optional<uint64_t> binarySize;
    std::string json;
  };

  void readMembers(ondemand::document &document);
  void readParameters(ondemand::object parameters, const std::string &place,
                      const char *flag, std::optional<bool> *on,
                      std::optional<uint64_t> *binarySize);
  void takeCopy(std::string_view json, std::string &to);
  void readInput(ondemand::object object);
  void readOutput(ondemand::object object);
  static void readShape(ondemand::array shape, const std::string &place,
                        Tensor &tensor);
  void takeLate(std::string_view binary);

  ondemand::parser &parser;
  Reservation &memory;
  JsonRequest &request;
  std::vector<Late> late;
};

} // namespace

/// Maximum number of nested dimensions.
static constexpr size_t maxDimensions = 16;
/// Maximum number of inputs and of outputs, more than any model has.
static constexpr size_t maxTensors = 1024;

static void require(bool hasRoom) {
  if (!hasRoom)
    throw Fault(noBudget());
}

/// Returns true if the JSON is valid, but the value is of another kind than the
/// caller has expected.
static bool isOtherKind(error_code error) {
  return error == INCORRECT_TYPE || error == NUMBER_ERROR ||
         error == NUMBER_OUT_OF_RANGE || error == STRING_ERROR;
}

/// Describes the kind of a value for an error message. Throws simdjson_error if
/// the JSON is invalid at this position.
static std::string describe(ondemand::value value) {
  switch (ondemand::json_type(value.type())) {
  case ondemand::json_type::array:
    return "an array";
  case ondemand::json_type::object:
    return "an object";
  case ondemand::json_type::string:
    return "a string";
  case ondemand::json_type::number:
  case ondemand::json_type::boolean:
  case ondemand::json_type::null:
    break;
  }
  constexpr size_t maxLength = 40;
  std::string_view token = value.raw_json_token();
  token = token.substr(0, token.find_first_of(" \t\r\n"));
  return token.size() <= maxLength
             ? std::string(token)
             : std::string(token.substr(0, maxLength)) + "...";
}

/// Returns `value` as a `Value`. Throws an error about `place` if its type is
/// different.
template <typename Value>
static Value take(ondemand::value value, std::string_view place,
                  std::string_view wanted) {
  Value taken;
  const error_code error = value.get(taken);
  if (error == SUCCESS)
    return taken;
  if (!isOtherKind(error))
    throw simdjson_error(error);
  throw Fault(fmt::format("{} has to be {}, but is {}", place, wanted,
                          describe(value)));
}

static ondemand::object takeObject(ondemand::value value,
                                   std::string_view place) {
  return take<ondemand::object>(value, place, "an object");
}

static ondemand::array takeArray(ondemand::value value,
                                 std::string_view place) {
  return take<ondemand::array>(value, place, "an array");
}

static std::string_view takeText(ondemand::value value,
                                 std::string_view place) {
  return take<std::string_view>(value, place, "a string");
}

/// Returns the position, for error messages, of the member `key` of the object
/// at position `owner`. The position of the request itself is empty.
static std::string placeOf(std::string_view owner, std::string_view key) {
  return owner.empty() ? std::string(key) : fmt::format("{}.{}", owner, key);
}

/// Records that the object at `place` has a key. Throws if it has the key
/// twice.
static void once(bool &has, std::string_view place, std::string_view key) {
  if (std::exchange(has, true))
    throw Fault(fmt::format("{} has the key '{}' twice in one object; give it "
                            "once",
                            place.empty() ? "the request" : place, key));
}

template <typename Element>
static void append(Tensor &tensor, Element element, Reservation &memory) {
  require(makeRoom(tensor.storage, sizeof(element), memory));
  tensor.storage.append(reinterpret_cast<const char *>(&element),
                        sizeof(element));
  ++tensor.count;
}

namespace {

/// Parses the data of one tensor. They may be a flat list of all elements, or
/// lists that are nested as the shape says.
class DataReader {
public:
  DataReader(size_t input, Tensor &tensor, Reservation &memory)
      : input(input), tensor(tensor), memory(memory) {}

  /// Call when the datatype and the shape of the tensor are known.
  void read(ondemand::array data) { readList(data, 0); }

private:
  void readList(ondemand::array list, size_t depth);
  void readElement(ondemand::value value);
  void appendMissing();
  /// Returns the position, for error messages, that the first `depth` indices
  /// select: of a list, or of an element.
  std::string place(size_t depth) const;
  [[noreturn]] void refuse(size_t depth, const std::string &why) const {
    throw Fault(
        fmt::format("{} (input '{}') {}", place(depth), tensor.name, why));
  }
  /// Throws an error about lists that are not nested according to the shape.
  [[noreturn]] void refuseForm(size_t depth, const std::string &why) const {
    refuse(depth,
           fmt::format("{}, but the shape is [{}]; nest the data as the shape "
                       "says, or give all elements in one flat list",
                       why, fmt::join(tensor.shape, ", ")));
  }

  const size_t input;
  Tensor &tensor;
  Reservation &memory;
  /// True if the data are nested; none before the first element.
  std::optional<bool> isNested;
  /// Indices of the current element.
  std::array<size_t, maxDimensions + 1> at{};
  size_t atCount = 0;
};

std::string DataReader::place(size_t depth) const {
  std::string text = fmt::format("inputs[{}].data", input);
  for (size_t i = 0; i < depth; ++i)
    text += fmt::format("[{}]", at[i]);
  return text;
}

void DataReader::readList(ondemand::array list, size_t depth) {
  const size_t rank = tensor.shape.size();
  size_t count = 0;
  for (ondemand::value value : list) {
    at[depth] = count++;
    const bool isList =
        ondemand::json_type(value.type()) == ondemand::json_type::array;
    if (!isNested)
      isNested = isList;
    // Nested lists must be as deep as the shape, and only the deepest lists may
    // have elements.
    if (isList ? depth + 1 >= rank || !*isNested
               : *isNested && depth + 1 != rank)
      refuseForm(depth + 1, isList ? "is a list" : "is no list");
    atCount = depth + 1;
    if (isList)
      readList(value.get_array(), depth + 1);
    else
      readElement(value);
  }
  if (isNested.value_or(false) && int64_t(count) != tensor.shape[depth])
    refuseForm(depth, fmt::format("has {} elements", count));
}

/// Appends a missing element: NaN for floating-point numbers, otherwise an
/// empty text. If the tensor has integers, first converts them to texts.
void DataReader::appendMissing() {
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
    refuse(atCount, fmt::format("is null, which {} cannot be; give a number, "
                                "or leave the input out if it is optional",
                                nameOf(tensor.type)));
  }
}

void DataReader::readElement(ondemand::value value) {
  if (value.is_null()) {
    appendMissing();
    return;
  }
  const auto taken = [&](auto number) {
    if (const error_code error = value.get(number)) {
      if (!isOtherKind(error))
        throw simdjson_error(error);
      const bool isText = std::is_same_v<decltype(number), std::string_view>;
      refuse(atCount,
             fmt::format(
                 "is {}, but {} has {}", describe(value),
                 nameOf(tensor.areIntegers ? DataType::Int64 : tensor.type),
                 isText ? "strings"
                 : std::is_floating_point_v<decltype(number)>
                     ? "finite numbers, and null where one is missing"
                 : std::is_unsigned_v<decltype(number)>
                     ? "whole numbers from 0 to 2^64 - 1"
                     : "whole numbers from -2^63 to 2^63 - 1"));
    }
    return number;
  };
  switch (tensor.type) {
  case DataType::Fp32: {
    const double number = taken(double());
    const auto narrow = float(number);
    if (!std::isfinite(narrow))
      refuse(atCount,
             fmt::format("is {}, which is too large for FP32", number));
    append(tensor, narrow, memory);
    return;
  }
  case DataType::Fp64:
    append(tensor, taken(double()), memory);
    return;
  case DataType::Int64:
    append(tensor, taken(int64_t()), memory);
    return;
  case DataType::Uint64:
    append(tensor, taken(uint64_t()), memory);
    return;
  case DataType::Int32: {
    const int64_t number = taken(int64_t());
    if (number != int32_t(number))
      refuse(atCount,
             fmt::format("is {}, which is too large for INT32", number));
    append(tensor, int32_t(number), memory);
    return;
  }
  case DataType::Bytes:
    if (tensor.areIntegers)
      require(tensor.texts.add(std::to_string(taken(int64_t())), memory));
    else
      require(tensor.texts.add(taken(std::string_view()), memory));
    ++tensor.count;
    return;
  }
}

} // namespace

void Reader::readShape(ondemand::array shape, const std::string &place,
                       Tensor &tensor) {
  for (ondemand::value size : shape) {
    if (tensor.shape.size() == maxDimensions)
      throw Fault(
          fmt::format("{} has more than {} dimensions", place, maxDimensions));
    const std::string own = fmt::format("{}[{}]", place, tensor.shape.size());
    const auto number = take<int64_t>(size, own, "a whole number");
    if (number < 0)
      throw Fault(fmt::format("{} is {}; give the size of the dimension, a "
                              "whole number from 0 on",
                              own, number));
    tensor.shape.push_back(number);
  }
}

/// Returns true if a parameter's value is not 0, false, null or an empty text.
static bool isSet(ondemand::value value) {
  std::string_view text = value.raw_json_token();
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text != "0" && text != "false" && text != "null" && text != "\"\"";
}

void Reader::readParameters(ondemand::object parameters,
                            const std::string &place, const char *flag,
                            std::optional<bool> *on,
                            std::optional<uint64_t> *binarySize) {
  bool hasFlag = false, hasSize = false;
  for (auto field : parameters) {
    const std::string_view key = field.unescaped_key();
    if (on && key == flag) {
      once(hasFlag, place, key);
      *on = take<bool>(field.value(), placeOf(place, key), "true or false");
    } else if (binarySize && key == "binary_data_size") {
      once(hasSize, place, key);
      *binarySize = take<uint64_t>(field.value(), placeOf(place, key),
                                   "a number of bytes");
    } else if (Outcome outcome = checkParameter(key, isSet(field.value()));
               !outcome.ok()) {
      throw Fault(std::move(outcome));
    }
  }
}

/// Copies JSON that must be parsed later. Reserves memory for this copy and for
/// the one that the parser makes.
void Reader::takeCopy(std::string_view json, std::string &to) {
  require(memory.grow(2 * json.size()));
  to = json;
}

void Reader::readInput(ondemand::object object) {
  const size_t index = request.inputs.size();
  const std::string place = fmt::format("inputs[{}]", index);
  require(memory.grow(sizeof(Tensor)));
  Tensor &tensor = request.inputs.emplace_back();
  bool hasName = false, hasType = false, hasShape = false, hasData = false,
       hasParameters = false;
  Late later = {index, std::nullopt, {}};
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") {
      once(hasName, place, key);
      tensor.name = takeText(field.value(), placeOf(place, key));
    } else if (key == "datatype") {
      once(hasType, place, key);
      const std::string_view name =
          takeText(field.value(), placeOf(place, key));
      const std::optional<DataType> type = parseDataType(name);
      if (!type)
        throw Fault(
            fmt::format("{}: the datatype '{}' is none of FP32, FP64, INT32, "
                        "INT64, UINT64 and BYTES",
                        place, name));
      tensor.type = *type;
    } else if (key == "shape") {
      once(hasShape, place, key);
      const std::string own = placeOf(place, key);
      readShape(takeArray(field.value(), own), own, tensor);
    } else if (key == "parameters") {
      once(hasParameters, place, key);
      const std::string own = placeOf(place, key);
      readParameters(takeObject(field.value(), own), own, nullptr, nullptr,
                     &later.binarySize);
    } else if (key == "data") {
      once(hasData, place, key);
      ondemand::array data = takeArray(field.value(), placeOf(place, key));
      if (hasType && hasShape)
        DataReader(index, tensor, memory).read(data);
      else
        takeCopy(data.raw_json(), later.json);
    }
  }
  for (const auto &[has, what] :
       {std::pair(!tensor.name.empty(), "name"), std::pair(hasType, "datatype"),
        std::pair(hasShape, "shape"),
        std::pair(hasData || later.binarySize, "data")})
    if (!has)
      throw Fault(fmt::format("{} has no {}; an input has name, datatype, "
                              "shape and data",
                              place, what));
  if (hasData && later.binarySize)
    throw Fault(fmt::format("{} (input '{}') has data and binary_data_size; "
                            "give one of them",
                            place, tensor.name));
  if (later.binarySize || !later.json.empty())
    late.push_back(std::move(later));
}

void Reader::readOutput(ondemand::object object) {
  const std::string place = fmt::format("outputs[{}]", request.outputs.size());
  require(memory.grow(sizeof(WantedOutput)));
  WantedOutput &output = request.outputs.emplace_back();
  bool hasName = false, hasParameters = false;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") {
      once(hasName, place, key);
      output.name = takeText(field.value(), placeOf(place, key));
    } else if (key == "parameters") {
      once(hasParameters, place, key);
      const std::string own = placeOf(place, key);
      readParameters(takeObject(field.value(), own), own, "binary_data",
                     &output.isBinary, nullptr);
    }
  }
  if (output.name.empty())
    throw Fault(fmt::format("{} has no name; give that of an output of the "
                            "model, or leave `outputs` out to get all",
                            place));
}

void Reader::takeLate(std::string_view binary) {
  for (const Late &each : late) {
    Tensor &tensor = request.inputs[each.input];
    if (!each.binarySize) {
      padded_string json(each.json);
      ondemand::document document = parser.iterate(json);
      DataReader(each.input, tensor, memory).read(document.get_array());
      continue;
    }
    if (*each.binarySize > binary.size())
      throw Fault(fmt::format("inputs[{}].parameters.binary_data_size of input "
                              "'{}' is {}, but there are only {} bytes left "
                              "after the JSON",
                              each.input, tensor.name, *each.binarySize,
                              binary.size()));
    const std::string_view own = binary.substr(0, *each.binarySize);
    binary.remove_prefix(*each.binarySize);
    if (Outcome outcome = tensor.takeRaw(own, memory); !outcome.ok())
      throw Fault(std::move(outcome));
  }
  if (!binary.empty())
    throw Fault(fmt::format("there are {} bytes after the last binary tensor; "
                            "the binary_data_size of all inputs together has "
                            "to be what follows the JSON",
                            binary.size()));
}

/// Calls `read` with each object of the list at `key`.
template <typename Read>
static void readEach(ondemand::value list, std::string_view key, Read read) {
  size_t count = 0;
  for (ondemand::value each : takeArray(list, key)) {
    if (count == maxTensors)
      throw Fault(fmt::format("there are more than {} {}", maxTensors, key));
    read(takeObject(each, fmt::format("{}[{}]", key, count++)));
  }
}

void Reader::readMembers(ondemand::document &document) {
  bool hasId = false, hasParameters = false, hasInputs = false,
       hasOutputs = false;
  ondemand::object members;
  if (const error_code error = document.get_object().get(members)) {
    if (!isOtherKind(error))
      throw simdjson_error(error);
    throw Fault("the body has to be a JSON object, such as "
                "{\"inputs\": [...]}");
  }
  for (auto field : members) {
    const std::string_view key = field.unescaped_key();
    if (key == "id") {
      once(hasId, "", key);
      request.id = takeText(field.value(), key);
      request.hasId = true;
    } else if (key == "parameters") {
      once(hasParameters, "", key);
      readParameters(takeObject(field.value(), key), "parameters",
                     "binary_data_output", &request.areOutputsBinary, nullptr);
    } else if (key == "inputs") {
      once(hasInputs, "", key);
      readEach(field.value(), "inputs",
               [this](ondemand::object each) { readInput(each); });
    } else if (key == "outputs") {
      once(hasOutputs, "", key);
      readEach(field.value(), "outputs",
               [this](ondemand::object each) { readOutput(each); });
    }
  }
  if (document.current_location().error() == SUCCESS)
    throw Fault("there is more after the JSON object of the request");
  if (!hasInputs)
    throw Fault("the request has no inputs; give {\"inputs\": [...]}");
}

/// Returns the error about invalid JSON. `at`: position of the error in bytes,
/// if known.
static Fault brokenJson(error_code error, std::optional<size_t> at) {
  if (error == EMPTY)
    return Fault("the body is empty; send a JSON object, such as "
                 "{\"inputs\": [...]}");
  std::string_view why = error_message(error);
  // The library's message begins with the name of the error.
  if (const size_t colon = why.find(": "); colon != std::string_view::npos)
    why.remove_prefix(colon + 2);
  return Fault(fmt::format("the body is no JSON that can be read{}: {}",
                           at ? fmt::format(" (at byte {})", *at) : "", why));
}

void Reader::read(padded_string_view json, std::string_view binary) {
  ondemand::document document;
  if (const error_code error = parser.iterate(json).get(document))
    throw brokenJson(error, std::nullopt);
  try {
    readMembers(document);
  } catch (const simdjson_error &error) {
    const char *at = nullptr;
    if (document.current_location().get(at) != SUCCESS)
      throw brokenJson(error.error(), std::nullopt);
    throw brokenJson(error.error(), size_t(at - json.data()));
  }
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
/// Memory of a parser during one request.
struct ParserMemory {
  /// Maximum size of the JSON after which a thread keeps the memory of its
  /// parser.
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
  // The parser may read padding after the JSON.
  if (!makeRoom(body, SIMDJSON_PADDING, memory))
    return noBudget();
  const std::string_view whole = body;
  const std::string_view json = whole.substr(0, jsonSize.value_or(body.size()));
  // Keeps its memory for further requests, unless it is large.
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
    return brokenJson(error.error(), std::nullopt).outcome;
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

std::string pdlserve::errorJson(std::string_view message) {
  std::string json = "{\"error\":";
  std::string text(message);
  // Names from clients may contain bytes that are not UTF-8.
  if (!simdjson::validate_utf8(text))
    std::ranges::replace_if(text, [](char c) { return (c & 0x80) != 0; }, '?');
  appendQuoted(json, text);
  json += '}';
  return json;
}
