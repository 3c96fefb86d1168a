//===- ServerFlags.cpp - Flags of a compiled server -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ServerFlags.h"

#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Transport/Address.h"

#include <fmt/format.h>

using namespace pdlrt;

static constexpr int64_t maxTrainers = 4096, maxServers = 4096,
                         maxThreads = 1024;

void pdlrt::addServerFlags(CLI::App &app, ServerFlags &flags) {
  app.add_option("--rank", flags.rank,
                 "The number of this server: the place of its address in "
                 "--servers, from 0")
      ->type_name("N")
      ->transform(wholeNumber(0, maxServers))
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
      ->transform(wholeNumber(1, maxTrainers))
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--bind", flags.bind,
                 "Listen here instead of at the server's own address in "
                 "--servers (such as 0.0.0.0:7101). An address that other "
                 "machines reach needs this or --token-file: whoever reaches "
                 "it and knows --job and the secret may take part")
      ->type_name("ADDRESS")
      ->group("Cluster");
  app.add_option("--job", flags.job,
                 "A name of the job; trainers of another one are refused")
      ->type_name("NAME")
      ->group("Cluster");
  app.add_option("--token-file", flags.tokenFile,
                 "A file with a secret that all processes of the job share")
      ->type_name("FILE")
      ->check(notEmpty())
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
  app.add_option("--pack-gradients", flags.packGradients,
                 "How trainers must pack gradients: none, bf16 or int8. Part "
                 "of the result")
      ->type_name("HOW")
      ->check(CLI::IsMember({"none", "bf16", "int8"}))
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--silence-limit", flags.silenceLimit,
                 "Seconds after which a trainer that is not heard of is lost; "
                 "0: never")
      ->type_name("SECONDS")
      ->check(secondsFlag())
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--wait", flags.joinPatience,
                 "Seconds that trainers may take to start; 0: for ever")
      ->type_name("SECONDS")
      ->check(secondsFlag())
      ->capture_default_str()
      ->group("Cluster");
  app.add_option("--seed", flags.seed,
                 "Seed of initial values; the trainers' (default: that of the "
                 "--init-from file or checkpoint, else 0)")
      ->type_name("N")
      ->transform(wholeNumber())
      ->group("State");
  CLI::Option *initFrom =
      app.add_option("--init-from", flags.initFrom,
                     "Start from the values in this safetensors file; each "
                     "server takes what it owns")
          ->type_name("FILE")
          ->check(notEmpty())
          ->group("State");
  CLI::Option *folder = app.add_option("--checkpoint", flags.checkpoint,
                                       "The trainers' folder of checkpoints: "
                                       "nothing is written elsewhere. Without "
                                       "it the first trainer names the folder, "
                                       "where not everybody may take part")
                            ->type_name("FOLDER")
                            ->check(notEmpty())
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
      ->check(notEmpty())
      ->group("State");
  app.add_option("--threads", flags.threads,
                 "Threads to run on. Never changes a result")
      ->type_name("N")
      ->transform(wholeNumber(1, maxThreads))
      ->capture_default_str()
      ->group("Execution");
  app.add_option("--trace", flags.trace,
                 "Write what each thread did when, as JSON for ui.perfetto.dev "
                 "or chrome://tracing, when the job is over: a few steps make "
                 "a trace that can be read")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("Execution");
}

/// Whether only processes of this machine reach an address.
static bool isLocal(const Address &address) {
  return address.kind != Address::Kind::Tcp || address.host == "localhost" ||
         address.host == "::1" || address.host.rfind("127.", 0) == 0;
}

Status pdlrt::checkServerFlags(ServerFlags &flags) {
  const auto servers = int64_t(flags.servers.size());
  if (flags.rank >= servers)
    return Status::invalid(fmt::format(
        "--rank {} is none of the {} servers in --servers, which are numbered "
        "from 0 to {}",
        flags.rank, servers, servers - 1));
  PDLRT_RETURN_IF_ERROR(checkServerAddresses(flags.servers));
  flags.address = flags.bind.empty() ? flags.servers[flags.rank] : flags.bind;
  Expected<Address> address = parseAddress(flags.address);
  if (!address)
    return std::move(address).status().withContext("--bind");
  flags.isOpenToAll = !isLocal(*address) && flags.tokenFile.empty();
  if (flags.bind.empty() && flags.isOpenToAll)
    return Status::invalid(
        "server " + std::to_string(flags.rank) + " would listen at " +
        flags.address +
        ", which other machines may reach; give all processes of the job a "
        "secret with --token-file, or say --bind " +
        flags.address + " if everybody who reaches it may take part");
  Expected<PlacementPolicy> policy = parsePlacementPolicy(flags.placement);
  if (!policy)
    return std::move(policy).status().withContext("--placement");
  flags.policy = *policy;
  flags.packing = *gradientPackingOf(flags.packGradients);
  PDLRT_RETURN_IF_ERROR(checkOutputs(
      {{"--log-applied", flags.logApplied}, {"--trace", flags.trace}},
      {{"--init-from", flags.initFrom}, {"--token-file", flags.tokenFile}}));
  if (flags.tokenFile.empty())
    return {};
  Expected<std::string> token = readTokenFile(flags.tokenFile);
  if (!token)
    return token.status();
  flags.token = std::move(*token);
  return {};
}
