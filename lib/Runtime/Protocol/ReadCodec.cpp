//===- ReadCodec.cpp - Messages of readers and servers --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ReadCodec.h"

#include "Transport/SliceReader.h"
#include "pdlrt/Transport/Envelope.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;
using nlohmann::json;

/// Version of these payloads. Other versions are refused.
static constexpr int64_t readVersion = 1;

static Message textOf(const json &object) {
  // Invalid UTF-8 in a name must not throw.
  return Message::ofString(
      object.dump(-1, ' ', false, json::error_handler_t::replace));
}

static json parsed(const Message &payload) {
  return json::parse(payload.toString(), nullptr, false);
}

//===----------------------------------------------------------------------===//
// Members of any type
//===----------------------------------------------------------------------===//

static bool take(const json &object, const char *name, std::string &out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string())
    return false;
  out = found->get<std::string>();
  return true;
}

static bool take(const json &object, const char *name, int64_t &out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer())
    return false;
  out = found->get<int64_t>();
  return true;
}

static bool take(const json &object, const char *name, uint64_t &out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned())
    return false;
  out = found->get<uint64_t>();
  return true;
}

static const json *findArray(const json &object, const char *name) {
  const auto found = object.find(name);
  return found == object.end() || !found->is_array() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// Visits
//===----------------------------------------------------------------------===//

Message pdlrt::encodeVisit(const Visitor &visitor) {
  return textOf({{"version", readVersion}, {"model", visitor.model}});
}

Expected<Visitor> pdlrt::decodeVisit(const Message &payload) {
  const json object = payload.size() > largestVisit ? json() : parsed(payload);
  Visitor visitor;
  int64_t version = 0;
  if (!object.is_object() || !take(object, "version", version) ||
      version != readVersion || !take(object, "model", visitor.model))
    return Status::failedPrecondition(
        "a reader asks in another way than this server "
        "knows; translate the library and the servers with "
        "one version");
  return visitor;
}

/// Encodes a set of shards as text. Each hexadecimal digit has four shards, in
/// ascending order.
static std::string
encodeShards(const std::bitset<pdlabi::logicalShardCount> &shards) {
  std::string text;
  for (size_t begin = 0; begin < shards.size(); begin += 4) {
    unsigned digit = 0;
    for (size_t i = 0; i < 4; ++i)
      digit |= unsigned(shards[begin + i]) << i;
    text += "0123456789abcdef"[digit];
  }
  return text;
}

static bool decodeShards(const std::string &text,
                         std::bitset<pdlabi::logicalShardCount> &shards) {
  if (text.size() * 4 != shards.size())
    return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool isLetter = c >= 'a' && c <= 'f';
    if (!isLetter && (c < '0' || c > '9'))
      return false;
    const unsigned digit =
        isLetter ? unsigned(c - 'a') + 10 : unsigned(c - '0');
    for (size_t bit = 0; bit < 4; ++bit)
      shards[i * 4 + bit] = digit >> bit & 1;
  }
  return true;
}

Message pdlrt::encodeContents(const ServerContents &contents) {
  json parts = json::array(), symbols = json::array();
  for (const ModelPart &part : contents.parts)
    parts.push_back({part.name, part.value});
  for (const HeldSymbol &symbol : contents.symbols) {
    json object = {{"name", symbol.name},
                   {"part", symbol.part},
                   {"storage", symbol.storage},
                   {"row_bytes", symbol.rowBytes}};
    if (symbol.isTable) {
      object["shards"] = encodeShards(symbol.shards);
    } else {
      json rows = json::array();
      for (const RowBlock &run : symbol.rows)
        rows.push_back({run.firstRow, run.rowCount});
      object["rows"] = std::move(rows);
    }
    symbols.push_back(std::move(object));
  }
  return textOf({{"version", readVersion},
                 {"model", contents.model},
                 {"seed", contents.seed},
                 {"owner", contents.owner},
                 {"owners", contents.owners},
                 {"parts", std::move(parts)},
                 {"symbols", std::move(symbols)}});
}

/// Decodes ranges of rows. Returns false unless the ranges ascend, do not
/// overlap, and have a size in bytes that fits into 64 bits.
static bool decodeRows(const json &rows, uint64_t rowBytes,
                       std::vector<RowBlock> &out) {
  int64_t end = 0;
  const bool ascend = std::ranges::all_of(rows, [&](const json &run) {
    if (!run.is_array() || run.size() != 2 || !run[0].is_number_integer() ||
        !run[1].is_number_integer())
      return false;
    const RowBlock block = {run[0].get<int64_t>(), run[1].get<int64_t>()};
    out.push_back(block);
    return block.firstRow >= end && block.rowCount >= 0 &&
           !__builtin_add_overflow(block.firstRow, block.rowCount, &end);
  });
  uint64_t bytes = 0;
  return ascend && !__builtin_mul_overflow(uint64_t(end), rowBytes, &bytes);
}

static bool decodeSymbol(const json &object, HeldSymbol &symbol) {
  if (!object.is_object() || !take(object, "name", symbol.name) ||
      !take(object, "part", symbol.part) ||
      !take(object, "storage", symbol.storage) ||
      !take(object, "row_bytes", symbol.rowBytes))
    return false;
  std::string shards;
  symbol.isTable = take(object, "shards", shards);
  if (symbol.isTable)
    return decodeShards(shards, symbol.shards);
  const json *rows = findArray(object, "rows");
  return rows && decodeRows(*rows, symbol.rowBytes, symbol.rows);
}

Expected<ServerContents> pdlrt::decodeContents(const Message &payload) {
  const Status foreign = Status::failedPrecondition(
      "answers readers in another way than this library "
      "knows; translate the library and the servers with one "
      "version");
  const json object = parsed(payload);
  ServerContents contents;
  int64_t version = 0;
  if (!object.is_object() || !take(object, "version", version) ||
      version != readVersion || !take(object, "model", contents.model) ||
      !take(object, "seed", contents.seed) ||
      !take(object, "owner", contents.owner) ||
      !take(object, "owners", contents.owners))
    return foreign;
  const json *parts = findArray(object, "parts");
  const json *symbols = findArray(object, "symbols");
  if (!parts || !symbols)
    return foreign;
  for (const json &part : *parts) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_string() ||
        !part[1].is_string())
      return foreign;
    contents.parts.push_back({PDL_PART_STATE, part[0].get<std::string>(),
                              part[1].get<std::string>()});
  }
  for (const json &symbol : *symbols)
    if (!decodeSymbol(symbol, contents.symbols.emplace_back()))
      return foreign;
  return contents;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

static constexpr uint64_t parametersBit = 1;

static uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

uint64_t pdlrt::bytesOfRead(uint64_t tables, uint64_t keys) {
  return envelopeSize + 16 + 16 * tables + 8 * keys;
}

static void put(std::string &out, uint64_t number) {
  out.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

Message pdlrt::encodeRead(const ReadRequest &request) {
  uint64_t keys = 0;
  for (const KeysOfTable &table : request.tables)
    keys += table.keys.size();
  std::string text;
  text.reserve(bytesOfRead(request.tables.size(), keys));
  put(text, request.withParameters ? parametersBit : 0);
  put(text, request.tables.size());
  for (const KeysOfTable &table : request.tables) {
    put(text, table.symbol);
    put(text, table.keys.size());
  }
  for (const KeysOfTable &table : request.tables)
    text.append(reinterpret_cast<const char *>(table.keys.data()),
                table.keys.size_bytes());
  return Message::ofString(std::move(text));
}

Expected<Decoded<ReadRequest>> pdlrt::decodeRead(const Message &payload) {
  const Status damaged = Status::dataLoss(
      "the read of a reader is damaged: its size is not what it says");
  Decoded<ReadRequest> read;
  read.bytes = payload;
  SliceReader reader(read.bytes);
  uint64_t head[2] = {};
  if (reader.left() < sizeof(head))
    return damaged;
  reader.copy(head, sizeof(head));
  read.content.withParameters = head[0] & parametersBit;
  if (head[1] > reader.left() / 16)
    return damaged;
  std::vector<std::pair<uint64_t, uint64_t>> tables(head[1]);
  uint64_t keys = 0;
  for (auto &[symbol, count] : tables) {
    uint64_t entry[2];
    reader.copy(entry, sizeof(entry));
    symbol = entry[0];
    count = entry[1];
    // Checked before the addition, so that the sum cannot overflow.
    if (count > payload.size() / 8)
      return damaged;
    keys += count;
  }
  if (keys > payload.size() / 8 || reader.left() != keys * 8)
    return damaged;
  for (const auto &[symbol, count] : tables) {
    const std::span<const std::byte> bytes =
        reader.take(count * 8, read.copies);
    read.content.tables.push_back(
        {symbol, {reinterpret_cast<const int64_t *>(bytes.data()), count}});
  }
  return read;
}

static void addNumbers(Message &message, std::vector<uint64_t> numbers) {
  auto owner =
      std::make_shared<const std::vector<uint64_t>>(std::move(numbers));
  message.append({reinterpret_cast<const std::byte *>(owner->data()),
                  owner->size() * sizeof(uint64_t), owner});
}

static void addBytes(Message &message, const OwnedBytes &bytes) {
  static constexpr std::byte zeros[8] = {};
  if (bytes.size > 0)
    message.append({bytes.data.get(), bytes.size, bytes.data});
  // The zeros are static, so they need no owner of their own.
  if (const size_t rest = padded(bytes.size) - bytes.size; rest > 0)
    message.append({zeros, rest, bytes.data});
}

Message
pdlrt::encodeReadResponse(int64_t updates,
                          const std::vector<std::vector<uint64_t>> &known,
                          const std::vector<OwnedBytes> &rows,
                          const std::vector<OwnedBytes> &parameters) {
  Message message;
  std::vector<uint64_t> numbers = {uint64_t(updates), known.size(),
                                   parameters.size()};
  for (const OwnedBytes &each : rows)
    numbers.push_back(each.size);
  for (const OwnedBytes &each : parameters)
    numbers.push_back(each.size);
  for (const std::vector<uint64_t> &bits : known)
    numbers.insert(numbers.end(), bits.begin(), bits.end());
  addNumbers(message, std::move(numbers));
  for (const OwnedBytes &each : rows)
    addBytes(message, each);
  for (const OwnedBytes &each : parameters)
    addBytes(message, each);
  return message;
}

static uint64_t bytesOfRows(const HeldSymbol &symbol) {
  uint64_t count = 0;
  for (const RowBlock &run : symbol.rows)
    count += uint64_t(run.rowCount);
  return count * symbol.rowBytes;
}

Expected<Decoded<ReadResponse>>
pdlrt::decodeReadResponse(const Message &payload, const ReadRequest &request,
                          const ServerContents &contents) {
  const Status damaged = Status::dataLoss(
      "the response to a read is damaged: it is not what was asked for");
  Decoded<ReadResponse> response;
  response.bytes = payload;
  SliceReader reader(response.bytes);
  const auto takeNumbers = [&](uint64_t count) -> std::span<const uint64_t> {
    const auto bytes = reader.take(count * 8, response.copies);
    return {reinterpret_cast<const uint64_t *>(bytes.data()), count};
  };
  // Sizes: one number for each requested table and each parameter.
  uint64_t parameterCount = 0;
  if (request.withParameters)
    for (const HeldSymbol &symbol : contents.symbols)
      parameterCount += !symbol.isTable;
  const uint64_t tableCount = request.tables.size();
  if (reader.left() < (3 + tableCount + parameterCount) * 8)
    return damaged;
  const auto head = takeNumbers(3);
  response.content.updates = int64_t(head[0]);
  if (head[1] != tableCount || head[2] != parameterCount)
    return damaged;
  const auto sizes = takeNumbers(tableCount + parameterCount);
  uint64_t words = 0, bytes = 0;
  for (const KeysOfTable &table : request.tables)
    words += (table.keys.size() + 63) / 64;
  for (const uint64_t size : sizes) {
    if (size > reader.left())
      return damaged;
    bytes += padded(size);
  }
  if (reader.left() != words * 8 + bytes)
    return damaged;
  for (const KeysOfTable &table : request.tables)
    response.content.tables.push_back(
        {takeNumbers((table.keys.size() + 63) / 64), {}});
  const auto takeBytes = [&](uint64_t size) {
    return reader.take(padded(size), response.copies).first(size);
  };
  for (uint64_t t = 0; t < tableCount; ++t) {
    RowsOfTable &rows = response.content.tables[t];
    const KeysOfTable &asked = request.tables[t];
    uint64_t count = 0;
    for (const uint64_t word : rows.known)
      count += uint64_t(std::popcount(word));
    // Bits after the last key must be zero.
    const size_t rest = asked.keys.size() % 64;
    if ((rest > 0 && rows.known.back() >> rest != 0) ||
        sizes[t] != count * contents.symbols[asked.symbol].rowBytes)
      return damaged;
    rows.rows = takeBytes(sizes[t]);
  }
  uint64_t next = tableCount;
  for (const HeldSymbol &symbol : contents.symbols) {
    if (!request.withParameters || symbol.isTable)
      continue;
    if (sizes[next] != bytesOfRows(symbol))
      return damaged;
    response.content.parameters.push_back(takeBytes(sizes[next++]));
  }
  return response;
}
