//===- Toy.cpp - Messages of toy trainers ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/Toy.h"

#include <cstring>
#include <string>
#include <string_view>

using namespace pdlrt;

template <typename T> static void put(std::string &out, const T &value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

template <typename T>
static void putAll(std::string &out, const std::vector<T> &values) {
  put(out, static_cast<uint64_t>(values.size()));
  for (const T &value : values)
    put(out, value);
}

namespace {

/// Reads values from the front of a text until too few bytes are left.
class Reader {
public:
  explicit Reader(std::string_view from) : rest(from) {}

  template <typename T> void take(T &value) {
    if (rest.size() < sizeof(T)) {
      isShort = true;
      return;
    }
    std::memcpy(static_cast<void *>(&value), rest.data(), sizeof(T));
    rest.remove_prefix(sizeof(T));
  }
  template <typename T> void takeAll(std::vector<T> &values) {
    uint64_t count = 0;
    take(count);
    if (isShort || count > rest.size() / sizeof(T)) {
      isShort = true;
      return;
    }
    values.resize(count);
    for (T &value : values)
      take(value);
  }
  bool tookAll() const { return !isShort && rest.empty(); }

private:
  std::string_view rest;
  bool isShort = false;
};

} // namespace

Message ToyRequest::encode() const {
  std::string bytes;
  put(bytes, step);
  putAll(bytes, increments);
  put(bytes, static_cast<uint8_t>(hasPart));
  put(bytes, part);
  putAll(bytes, keys);
  return Message::ofString(std::move(bytes));
}

Expected<ToyRequest> ToyRequest::decode(const Message &message) {
  const std::string bytes = message.toString();
  Reader reader(bytes);
  ToyRequest request;
  uint8_t flag = 0;
  reader.take(request.step);
  reader.takeAll(request.increments);
  reader.take(flag);
  reader.take(request.part);
  reader.takeAll(request.keys);
  request.hasPart = flag != 0;
  if (!reader.tookAll())
    return Status::dataLoss("payload is no toy request");
  return request;
}

Message ToyResponse::encode() const {
  std::string bytes;
  put(bytes, trainer);
  put(bytes, step);
  putAll(bytes, counters);
  put(bytes, static_cast<uint8_t>(hasDense));
  put(bytes, dense);
  return Message::ofString(std::move(bytes));
}

Expected<ToyResponse> ToyResponse::decode(const Message &message) {
  const std::string bytes = message.toString();
  Reader reader(bytes);
  ToyResponse response;
  uint8_t flag = 0;
  reader.take(response.trainer);
  reader.take(response.step);
  reader.takeAll(response.counters);
  reader.take(flag);
  reader.take(response.dense);
  response.hasDense = flag != 0;
  if (!reader.tookAll())
    return Status::dataLoss("payload is no toy answer");
  return response;
}
