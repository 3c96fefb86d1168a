//===- ServerFlags.cpp - Flags of a compiled server -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ServerFlags.h"

#include "pdlrt/Rpc/Address.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

using namespace pdlrt;

static constexpr int64_t maxTrainers = 4096, maxThreads = 1024;

void pdlrt::addServerFlags(CLI::App &app, ServerFlags &flags) {
  app.add_option("--rank", flags.rank,
                 "The number of this server: the place of its address in "
                 "--servers, from 0")
      ->type_name("N")
      ->required()
      ->group("Cluster");
  app.add_option("--servers", flags.servers,
                 "Addresses of all servers, in the order of their ranks: "
                 "HOST:PORT or unix:PATH, separated by commas")
      ->delimiter(',')
      ->type_name("ADDRESS")
      ->required()
      ->group("Cluster");
  app.add_option("--trainers", flags.trainers, "How many trainers the job has")
      ->type_name("N")
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--bind", flags.bind,
                 "Listen here instead of at the server's own address in "
                 "--servers. Needed for an address that other machines reach: "
                 "whoever reaches it and knows --job and --token-file may take "
                 "part (such as 0.0.0.0:7101)")
      ->type_name("ADDRESS")
      ->group("Cluster");
  app.add_option("--job", flags.job,
                 "A name of the job; trainers of another one are refused")
      ->type_name("NAME")
      ->group("Cluster");
  app.add_option("--token-file", flags.tokenFile,
                 "A file with a secret that all processes of the job share")
      ->type_name("FILE")
      ->group("Cluster");
  app.add_option("--placement", flags.placement,
                 "How blocks and shards are dealt to servers: least-loaded, "
                 "round-robin or hash-name. Never changes a result")
      ->type_name("POLICY")
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--on-failure", flags.onFailure,
                 "When a trainer is lost: abort the job, or wait until it is "
                 "back")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"abort", "wait"}))
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--silence-limit", flags.silenceLimit,
                 "Seconds after which a trainer that is not heard of is lost")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--wait", flags.joinPatience,
                 "Seconds that trainers may take to start")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--seed", flags.seed,
                 "Seed of initial values; the trainers' (default: that of the "
                 "--init-from file or checkpoint, else 0)")
      ->type_name("N")
      ->group("State");
  CLI::Option *initFrom =
      app.add_option("--init-from", flags.initFrom,
                     "Start from the values in this safetensors file; each "
                     "server takes what it owns")
          ->type_name("FILE")
          ->group("State");
  CLI::Option *folder = app.add_option("--checkpoint", flags.checkpoint,
                                       "The trainers' folder of checkpoints")
                            ->type_name("FOLDER")
                            ->group("State");
  app.add_flag("--resume", flags.resume,
               "Go on from the newest whole checkpoint in --checkpoint, "
               "whoever wrote it; begin if there is none yet")
      ->needs(folder)
      ->excludes(initFrom)
      ->group("State");
  app.add_option("--log-applied", flags.logApplied,
                 "Mode async: log each push in the order in which it is "
                 "applied, for 'pserver replay'. In a folder that is there "
                 "the file is applied-RANK.log. Takes as much room as all "
                 "gradients of the job")
      ->type_name("PATH")
      ->group("State");
  app.add_option("--threads", flags.threads,
                 "Threads to run on. Never changes a result")
      ->type_name("N")
      ->check(CLI::Range(int64_t(1), maxThreads))
      ->capture_default_str()
      ->group("Execution");
}

/// Whether only processes of this machine reach an address.
static bool isLocal(const Address &address) {
  return address.kind != Address::Kind::Tcp || address.host == "localhost" ||
         address.host == "::1" || address.host.rfind("127.", 0) == 0;
}

static Status readToken(ServerFlags &flags) {
  if (flags.tokenFile.empty())
    return {};
  std::ifstream file(flags.tokenFile);
  const bool opened = file.is_open();
  const int reason = errno;
  if (!std::getline(file, flags.token) || flags.token.empty())
    return Status::invalid(
        "--token-file " + flags.tokenFile + ": " +
        (opened ? "the first line is empty" : std::strerror(reason)) +
        "; write the job's secret to its first line");
  return {};
}

Status pdlrt::checkServerFlags(ServerFlags &flags) {
  const auto servers = int64_t(flags.servers.size());
  if (flags.rank < 0 || flags.rank >= servers)
    return Status::invalid(fmt::format(
        "--rank {} is none of the {} servers in --servers, which are numbered "
        "from 0 to {}",
        flags.rank, servers, servers - 1));
  if (flags.trainers < 1 || flags.trainers > maxTrainers)
    return Status::invalid(
        fmt::format("--trainers {} is no number from 1 to {}", flags.trainers,
                    maxTrainers));
  for (const std::string &address : flags.servers) {
    if (Expected<Address> parsed = parseAddress(address); !parsed)
      return std::move(parsed).status().withContext("--servers");
    if (std::count(flags.servers.begin(), flags.servers.end(), address) > 1)
      return Status::invalid("--servers names " + address +
                             " twice; each server has its own address");
  }
  flags.address = flags.bind.empty() ? flags.servers[flags.rank] : flags.bind;
  Expected<Address> address = parseAddress(flags.address);
  if (!address)
    return std::move(address).status().withContext("--bind");
  if (flags.bind.empty() && !isLocal(*address))
    return Status::invalid(
        "server " + std::to_string(flags.rank) + " would listen at " +
        flags.address +
        ", which other machines may reach; if that is meant, say --bind " +
        flags.address + ", best together with --token-file");
  Expected<PlacementPolicy> policy = parsePlacementPolicy(flags.placement);
  if (!policy)
    return std::move(policy).status().withContext("--placement");
  flags.policy = *policy;
  return readToken(flags);
}
