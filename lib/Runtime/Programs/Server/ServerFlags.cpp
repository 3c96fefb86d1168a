//===- ServerFlags.cpp - Flags of a compiled server -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ServerFlags.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/State/TableBoundFlags.h"
#include "pdlrt/Transport/Address.h"

#include <fmt/format.h>

using namespace pdlrt;

static constexpr int64_t maxTrainers = 4096, maxServers = 4096,
                         maxThreads = 1024;

/// Where flags stand in the help: nowhere, if their mode is not the program's;
/// given all the same they are refused with a reason.
static const char *clusterGroupIf(bool isForMode) {
  return isForMode ? "Cluster" : "";
}

void pdlrt::addServerFlags(CLI::App &app, const Mode *mode,
                           ServerFlags &flags) {
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
                 "A file with a secret of at least 16 bytes in its first line, "
                 "which all processes of the job share and nobody else may "
                 "read")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("Cluster");
  app.add_option("--reader-token-file", flags.readerTokenFile,
                 "A file with another secret, of libraries that read the "
                 "servers' values. A job with --token-file takes no readers "
                 "without it")
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
  app.add_option("--max-staleness", flags.maxStaleness,
                 "Modes async and half-async: hold back the answer to whoever "
                 "is more than N steps ahead of the slowest, until it is not "
                 "(default: nobody is held back). Not with trainers that have "
                 "--push-queue. The same for all servers")
      ->type_name("N")
      ->transform(wholeNumber(0))
      ->group(clusterGroupIf(mode && mode->pushesAreSteps()));
  app.add_option("--quorum", flags.quorum,
                 "Mode quorum: end a round when the gradients of N trainers "
                 "have come. Part of the result; the same for all servers")
      ->type_name("N")
      ->transform(wholeNumber(1, maxTrainers))
      ->group(clusterGroupIf(mode && mode->closesWithQuorum));
  app.add_option("--late-gradients", flags.late,
                 "Mode quorum: what becomes of gradients whose round has "
                 "ended: count (in the next round; the default) or drop. "
                 "The same for all servers")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"count", "drop"}))
      ->group(clusterGroupIf(mode && mode->closesWithQuorum));
  app.add_option("--pack-gradients", flags.packGradients,
                 "How trainers must pack gradients: none, bf16 or int8. Part "
                 "of the result")
      ->type_name("HOW")
      ->check(CLI::IsMember({"none", "bf16", "int8"}))
      ->capture_default_str()
      ->group(clusterGroupIf(!mode || !mode->trainersApply));
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
  app.add_flag("--init-values-only", flags.initValuesOnly,
               "Take values of --init-from without optimizer slots and step "
               "counts, so that schedules begin anew")
      ->needs(initFrom)
      ->group("State");
  app.add_flag("--accept-old-layout", flags.acceptOldLayout,
               "Open checkpoints and dumps of before keys were part of the "
               "layout, and say what cannot be checked of them")
      ->group("State");
  CLI::Option *folder = app.add_option("--checkpoint", flags.checkpoint,
                                       "The trainers' folder of checkpoints: "
                                       "nothing is written elsewhere. Without "
                                       "it the first trainer names the folder, "
                                       "where not everybody may take part")
                            ->type_name("FOLDER")
                            ->check(notEmpty())
                            ->group("State");
  app.add_option("--emergency-checkpoint", flags.emergencyCheckpoint,
                 "The trainers' folder for a last checkpoint that cannot be "
                 "saved to the other one")
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
                 "Modes async, half-async and quorum: log each push in the "
                 "order in which it is applied, for 'pserver replay'; mode "
                 "geo: changes, whose replay has values without slots. In a "
                 "folder that is there "
                 "the file is applied-RANK.log. Takes as much room as all "
                 "gradients of the job")
      ->type_name("PATH")
      ->check(notEmpty())
      ->group("State");
  addTableBoundFlags(app, flags.tableBound, "State");
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

/// What flags say of who waits for whom.
static Status takeBounds(const Mode &mode, ServerFlags &flags) {
  if (flags.maxStaleness && !mode.pushesAreSteps())
    return Status::invalid(fmt::format(
        "--max-staleness is for modes in which servers apply each push by "
        "itself, such as async, and this program was translated with "
        "--mode={}; leave it out",
        mode.name));
  if (flags.quorum && !mode.closesWithQuorum)
    return Status::invalid(fmt::format(
        "--quorum is for mode quorum, and this program was translated with "
        "--mode={}; leave it out, or translate the model with --mode=quorum",
        mode.name));
  if (flags.late && !mode.closesWithQuorum)
    return Status::invalid(fmt::format(
        "--late-gradients is for mode quorum, and this program was translated "
        "with --mode={}; leave it out",
        mode.name));
  if (mode.closesWithQuorum && !flags.quorum)
    return Status::invalid("--quorum is required in mode quorum: say how many "
                           "trainers end a round");
  if (flags.quorum && *flags.quorum > flags.trainers)
    return Status::invalid(fmt::format(
        "--quorum {} is more than the {} trainers of the job (--trainers)",
        *flags.quorum, flags.trainers));
  flags.bounds.staleness = flags.maxStaleness;
  if (flags.quorum)
    flags.bounds.quorum = uint32_t(*flags.quorum);
  flags.bounds.late =
      flags.late == "drop" ? LateGradients::Drop : LateGradients::Count;
  return {};
}

Status pdlrt::checkServerFlags(const pdl_descriptor &descriptor,
                               ServerFlags &flags) {
  PDLRT_RETURN_IF_ERROR(checkTableBound(descriptor, flags.tableBound));
  if (flags.tableBound.mostBytes > 0 && modeOf(descriptor).trainersApply)
    return Status::invalid(std::string("--max-table-memory is not for mode ") +
                           modeOf(descriptor).name +
                           ", in which each trainer has rows of its own; "
                           "leave it out");
  if (flags.tableBound.mostBytes > 0 && !flags.logApplied.empty())
    return Status::invalid("--log-applied is not for servers with "
                           "--max-table-memory: a log does not say which rows "
                           "were evicted; leave one of the two out");
  const auto servers = int64_t(flags.servers.size());
  if (flags.rank >= servers)
    return Status::invalid(fmt::format(
        "--rank {} is none of the {} servers in --servers, which are numbered "
        "from 0 to {}",
        flags.rank, servers, servers - 1));
  PDLRT_RETURN_IF_ERROR(checkAddresses("--servers", flags.servers));
  Expected<ListenPlace> place =
      choosePlace(fmt::format("server {}", flags.rank),
                  flags.servers[flags.rank], flags.bind,
                  /*hasToken=*/!flags.tokenFile.empty());
  if (!place)
    return place.status();
  flags.address = place->address;
  flags.isOpenToAll = place->isOpenToAll;
  Expected<PlacementPolicy> policy = parsePlacementPolicy(flags.placement);
  if (!policy)
    return std::move(policy).status().withContext("--placement");
  flags.policy = *policy;
  // The parser lets no other name pass.
  if (const auto packing = gradientPackingOf(flags.packGradients))
    flags.packing = *packing;
  if (descriptor.role == PDL_ROLE_PSERVER)
    PDLRT_RETURN_IF_ERROR(takeBounds(modeOf(descriptor), flags));
  PDLRT_RETURN_IF_ERROR(checkOutputs(
      {{"--log-applied", flags.logApplied}, {"--trace", flags.trace}},
      {{"--init-from", flags.initFrom},
       {"--token-file", flags.tokenFile},
       {"--reader-token-file", flags.readerTokenFile}}));
  if (!flags.tokenFile.empty()) {
    Expected<std::string> token =
        readTokenFile("--token-file", flags.tokenFile);
    if (!token)
      return token.status();
    flags.token = std::move(*token);
  }
  if (!flags.readerTokenFile.empty()) {
    Expected<std::string> token =
        readTokenFile("--reader-token-file", flags.readerTokenFile);
    if (!token)
      return token.status();
    flags.readerToken = std::move(*token);
  }
  if (!flags.token.empty() && flags.readerToken == flags.token)
    return Status::invalid(
        "--reader-token-file holds the secret of --token-file, with which "
        "readers could take part in the job; give them another one");
  return {};
}
