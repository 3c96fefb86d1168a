//===- ServerMap.cpp - Contents of the servers of a job -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serving/ServerRows.h"
#include "pdlrt/Abi/Descriptor.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

static Status refuse(const std::string &address, const std::string &why) {
  return Status::failedPrecondition(fmt::format("server {}: {}", address, why));
}

static Status compareProgram(const pdl_descriptor &descriptor,
                             const std::string &address,
                             const ServerContents &contents) {
  const std::string differences = differencesOf(
      partsOf(descriptor), contents.parts, CheckpointUse::Values, "the server");
  if (differences.empty())
    return {};
  return refuse(
      address, fmt::format("does not fit this library (model {} there, {} "
                           "here): {}; translate the library and the servers "
                           "from one model",
                           contents.model, descriptor.model_name, differences));
}

/// Returns true if two servers can belong to one job. `start` and `other`: the
/// newest trainer incarnation that each of them knows. Servers of one job know
/// the same one, except while a trainer restarts. Incarnations of different
/// jobs differ by far more (docs/Protocol.md).
static bool mayBeOfOneJob(uint64_t start, uint64_t other) {
  constexpr uint64_t startsOfOneJob = 1024;
  return start == 0 || other == 0 ||
         std::max(start, other) - std::min(start, other) < startsOfOneJob;
}

/// Returns an error if a server occurs twice or if the servers belong to
/// different jobs.
static Status compareServers(const std::vector<std::string> &addresses,
                             const std::vector<ServerContents> &servers,
                             const std::vector<uint64_t> &starts) {
  for (size_t s = 0; s < servers.size(); ++s)
    for (size_t before = 0; before < s; ++before) {
      const ServerContents &one = servers[before], &other = servers[s];
      if (one.owner == other.owner)
        return refuse(addresses[s],
                      fmt::format("says that it is server {}, and so does {}; "
                                  "give each server of one job once",
                                  other.owner, addresses[before]));
      if (one.owners != other.owners || one.seed != other.seed ||
          !mayBeOfOneJob(starts[before], starts[s]))
        return refuse(addresses[s],
                      fmt::format("is of another job than {}; give the "
                                  "addresses of one job's servers",
                                  addresses[before]));
    }
  return {};
}

static Expected<ServerMap::Table>
mapTable(const pdl_symbol &symbol, const std::vector<std::string> &addresses,
         const std::vector<ServerContents> &servers) {
  constexpr uint16_t nobody = UINT16_MAX;
  ServerMap::Table table;
  table.options = TableOptions::of(symbol, servers.front().seed);
  table.isUnknownZero = symbol.unknown == PDL_UNKNOWN_ZERO;
  table.serverOf.fill(nobody);
  const std::string part =
      symbol.frozen_part ? symbol.slot_names[symbol.frozen_part - 1] : "";
  for (size_t s = 0; s < servers.size(); ++s) {
    const auto &symbols = servers[s].symbols;
    const auto held =
        std::ranges::find(symbols, std::string(symbol.name), &HeldSymbol::name);
    if (held == symbols.end() || !held->isTable)
      return refuse(addresses[s], fmt::format("has no table @{}", symbol.name));
    if (held->part != part || held->storage != table.options.frozenStorage() ||
        held->rowBytes != table.options.frozenBytes())
      return refuse(
          addresses[s],
          fmt::format("gives another part of the rows of @{} than the library "
                      "reads; translate both from one model",
                      symbol.name));
    table.symbolAt.push_back(uint64_t(held - symbols.begin()));
    for (size_t shard = 0; shard < held->shards.size(); ++shard)
      if (held->shards[shard])
        table.serverOf[shard] = uint16_t(s);
  }
  if (const auto missing = std::ranges::count(table.serverOf, nobody))
    return Status::failedPrecondition(fmt::format(
        "none of the {} given servers has {} of the {} shards of @{}; give "
        "the addresses of all servers of the job, which has {} owners of state",
        servers.size(), missing, table.serverOf.size(), symbol.name,
        servers.front().owners));
  return table;
}

Expected<std::shared_ptr<ServerMap>>
ServerMap::of(const pdl_descriptor &descriptor,
              const std::vector<std::string> &addresses,
              std::vector<ServerContents> servers, std::vector<uint64_t> jobs,
              const std::vector<uint64_t> &starts) {
  for (size_t s = 0; s < servers.size(); ++s)
    PDLRT_RETURN_IF_ERROR(compareProgram(descriptor, addresses[s], servers[s]));
  PDLRT_RETURN_IF_ERROR(compareServers(addresses, servers, starts));
  auto map = std::make_shared<ServerMap>();
  map->tables.resize(size_t(descriptor.symbol_count));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (symbol.kind != PDL_SYMBOL_TABLE)
      continue;
    Expected<Table> table = mapTable(symbol, addresses, servers);
    if (!table)
      return std::move(table).status();
    map->tables[size_t(i)] = std::make_unique<Table>(*std::move(table));
  }
  map->servers = std::move(servers);
  map->jobs = std::move(jobs);
  return map;
}
