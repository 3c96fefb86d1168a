//===- WireCost.cpp - Memory cost of parsing a message --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WireCost.h"

#include <array>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

using namespace pdlserve;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

/// More inputs, outputs or parameters than any model has.
static constexpr int maxFields = 1024;
/// Memory of a message, a text, and a number outside of a packed field.
static constexpr uint64_t messageBytes = 256, textBytes = 64, numberBytes = 32;

namespace {

/// Cost of one field.
struct Field {
  int number;
  /// Memory for each byte of a packed field.
  uint64_t factor;
  /// Fields of a message. Null for texts and numbers.
  const struct Layout *nested;
  /// True if a message may contain at most `maxFields` of this field.
  bool isCounted;
};

/// Lists those fields of a message of proto/inference.proto that need more
/// memory than texts do.
struct Layout {
  const Field *begin, *end;

  const Field *find(int number) const {
    for (const Field *field = begin; field != end; ++field)
      if (field->number == number)
        return field;
    return nullptr;
  }
};

} // namespace

template <size_t count>
static constexpr Layout layoutOf(const std::array<Field, count> &fields) {
  return {fields.data(), fields.data() + count};
}

// Vectors grow by doubling, so a factor is twice the size of an element.
static constexpr std::array<Field, 0> parameterFields = {};
static constexpr Layout parameterLayout = layoutOf(parameterFields);
static constexpr std::array<Field, 7> contentFields = {
    {{1, 2, nullptr, false},
     {2, 8, nullptr, false},
     {3, 16, nullptr, false},
     {4, 8, nullptr, false},
     {5, 16, nullptr, false},
     {6, 2, nullptr, false},
     {7, 2, nullptr, false}}};
static constexpr Layout contentLayout = layoutOf(contentFields);
static constexpr std::array<Field, 3> inputFields = {
    {{3, 16, nullptr, false},
     {4, 0, &parameterLayout, true},
     {5, 0, &contentLayout, false}}};
static constexpr Layout inputLayout = layoutOf(inputFields);
static constexpr std::array<Field, 1> outputFields = {
    {{2, 0, &parameterLayout, true}}};
static constexpr Layout outputLayout = layoutOf(outputFields);
static constexpr std::array<Field, 4> requestFields = {
    {{4, 0, &parameterLayout, true},
     {5, 0, &inputLayout, true},
     {6, 0, &outputLayout, true},
     {7, 1, nullptr, true}}};
static constexpr Layout requestLayout = layoutOf(requestFields);

static Outcome malformed() {
  return Outcome::bad("the message is no ModelInferRequest");
}

/// Adds the cost of the rest of a message.
static Outcome addCost(CodedInputStream &stream, const Layout &layout,
                       uint64_t &cost) {
  std::array<int, 8> counts = {};
  while (const uint32_t tag = stream.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const Field *field = layout.find(number);
    if (field && field->isCounted && ++counts[size_t(number)] > maxFields)
      return {Code::TooLarge,
              fmt::format("the request has more than {} inputs, outputs or "
                          "parameters",
                          maxFields)};
    uint64_t ignored = 0;
    switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT:
      if (!stream.ReadVarint64(&ignored))
        return malformed();
      cost += numberBytes;
      break;
    case WireFormatLite::WIRETYPE_FIXED32:
      if (!stream.Skip(4))
        return malformed();
      cost += numberBytes;
      break;
    case WireFormatLite::WIRETYPE_FIXED64:
      if (!stream.Skip(8))
        return malformed();
      cost += numberBytes;
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      int size = 0;
      if (!stream.ReadVarintSizeAsInt(&size))
        return malformed();
      if (field && field->nested) {
        cost += messageBytes;
        const CodedInputStream::Limit limit = stream.PushLimit(size);
        if (Outcome outcome = addCost(stream, *field->nested, cost);
            !outcome.ok())
          return outcome;
        if (stream.BytesUntilLimit() != 0)
          return malformed();
        stream.PopLimit(limit);
        break;
      }
      cost += textBytes + uint64_t(size) * (field ? field->factor : 1);
      if (!stream.Skip(size))
        return malformed();
      break;
    }
    default:
      // Groups, which no message contains.
      return malformed();
    }
  }
  return {};
}

Outcome pdlserve::findCost(google::protobuf::io::ZeroCopyInputStream &message,
                           uint64_t &cost) {
  CodedInputStream stream(&message);
  stream.SetTotalBytesLimit(INT32_MAX);
  cost = messageBytes;
  if (Outcome outcome = addCost(stream, requestLayout, cost); !outcome.ok())
    return outcome;
  return stream.ConsumedEntireMessage() ? Outcome() : malformed();
}
