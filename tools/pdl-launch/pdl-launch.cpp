//===- pdl-launch.cpp - A cluster on this host ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFolder.h"
#include "Places.h"
#include "ProgramMode.h"
#include "Supervisor.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProgramMain.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::fail;
using pdlrt::Status;

using Words = std::vector<std::string>;

namespace {

struct Options {
  unsigned trainers = 1;
  /// None: one, or, in a mode without servers, none.
  std::optional<unsigned> servers;
  bool unixSockets = false;
  unsigned grace = 30;
  std::string folder;
  Words trainerWords;
  Words serverWords;
};

/// How many processes have an address.
struct Listeners {
  unsigned servers = 1;
  /// All, where they own state.
  unsigned trainers = 0;
};

} // namespace

/// Cuts the command line at `--`: our flags, the trainers', the servers'.
static std::vector<Words> cutAtDashes(int argc, char **argv) {
  std::vector<Words> parts(1);
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--" && parts.size() < 3)
      parts.emplace_back();
    else
      parts.back().push_back(argv[i]);
  parts.resize(3);
  return parts;
}

/// What pdl-launch says itself, the user cannot.
static Status checkWords(const Words &words) {
  for (const std::string &word : words)
    for (const std::string flag :
         {"--rank", "--trainers", "--servers", "--peers"})
      if (word == flag || word.starts_with(flag + "="))
        return Status::invalid(flag +
                               " is given by pdl-launch to each program; "
                               "leave it out behind --");
  return {};
}

/// Whether somebody has chosen the job's secret.
static bool namesToken(const Words &words) {
  return std::ranges::any_of(words, [](const std::string &word) {
    return word == "--token-file" || word.starts_with("--token-file=");
  });
}

/// Flags that mean the same to trainers and servers.
static constexpr const char *sharedFlags[] = {
    "--seed",      "--checkpoint",     "--resume",    "--job",
    "--placement", "--pack-gradients", "--token-file"};

/// Appends the shared flags of one kind of process that the other lacks.
static void shareFlags(const Words &from, Words &to) {
  const auto isGiven = [](const std::string &flag, const std::string &word) {
    return word == flag || word.starts_with(flag + "=");
  };
  const Words own = to;
  for (const std::string flag : sharedFlags) {
    if (std::any_of(own.begin(), own.end(), [&](const std::string &word) {
          return isGiven(flag, word);
        }))
      continue;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!isGiven(flag, from[i]))
        continue;
      to.push_back(from[i]);
      if (from[i] == flag && flag != "--resume" && i + 1 < from.size())
        to.push_back(from[++i]);
    }
  }
}

/// Servers and peers are for trainings.
static Status checkCommand(const Options &options) {
  const Words &words = options.trainerWords;
  if (words.empty() || words.front().starts_with("-") ||
      words.front() == "train")
    return {};
  return Status::invalid(
      "only the command train has servers, but '" + words.front() +
      "' was asked for; run " + options.folder + "/trainer " + words.front() +
      " by itself, with the trained values in --checkpoint or --init-from");
}

static Status checkProgram(const std::string &path) {
  if (::access(path.c_str(), X_OK) == 0)
    return {};
  return Status::invalid("found no program " + path +
                         "; write both with pdl-translate MODEL --mode=sync "
                         "--emit=trainer,pserver -o FOLDER");
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Who listens in the job of that folder's trainer.
static Expected<Listeners> listenersOf(const Options &options) {
  const pdlrt::Mode *mode =
      pdllaunch::modeOfTrainer(options.folder + "/trainer");
  Listeners result;
  result.servers = options.servers.value_or(1);
  if (!mode || !mode->trainersOwn())
    return result;
  result.trainers = options.trainers;
  if (mode->needsServers())
    return result;
  if (options.servers)
    return Status::invalid(std::string("--servers is not for mode ") +
                           mode->name +
                           ", in which trainers own all state; "
                           "leave it out");
  if (!options.serverWords.empty())
    return Status::invalid(std::string("there are words for servers, but a job "
                                       "of mode ") +
                           mode->name + " has none; leave them out");
  result.servers = 0;
  return result;
}

/// The command of one program: its path, the user's words, then who it is and
/// where others are.
static Words commandOf(const std::string &path, Words words, unsigned rank,
                       unsigned trainers, const Words &addresses) {
  for (std::string &word : words) {
    replaceAll(word, "{rank}", std::to_string(rank));
    replaceAll(word, "{trainers}", std::to_string(trainers));
  }
  words.insert(words.begin(), path);
  for (const std::string &word :
       {std::string("--rank"), std::to_string(rank), std::string("--trainers"),
        std::to_string(trainers)})
    words.push_back(word);
  words.insert(words.end(), addresses.begin(), addresses.end());
  return words;
}

/// A flag with addresses `begin` to `end`, unless there are none.
static void addAddresses(const char *flag, const Words &all, unsigned begin,
                         unsigned end, Words &words) {
  if (begin == end)
    return;
  std::string list;
  for (unsigned i = begin; i < end; ++i)
    list += (i == begin ? "" : ",") + all[i];
  words.emplace_back(flag);
  words.push_back(std::move(list));
}

static Expected<std::vector<Program>> makePrograms(const Options &options,
                                                   const Listeners &listeners,
                                                   const Words &addresses,
                                                   const std::string &token) {
  const std::string server = options.folder + "/pserver";
  const std::string trainer = options.folder + "/trainer";
  if (listeners.servers > 0)
    PDLRT_RETURN_IF_ERROR(checkProgram(server));
  Words places;
  if (!token.empty())
    places = {"--token-file", token};
  addAddresses("--servers", addresses, 0, listeners.servers, places);
  std::vector<Program> programs;
  for (unsigned rank = 0; rank < listeners.servers; ++rank)
    programs.emplace_back(
        "pserver " + std::to_string(rank),
        commandOf(server, options.serverWords, rank, options.trainers, places));
  addAddresses("--peers", addresses, listeners.servers,
               listeners.servers + listeners.trainers, places);
  Words words = options.trainerWords;
  if (words.empty() || words.front().starts_with("-"))
    words.insert(words.begin(), "train");
  for (unsigned rank = 0; rank < options.trainers; ++rank)
    programs.emplace_back(
        "trainer " + std::to_string(rank),
        commandOf(trainer, words, rank, options.trainers, places));
  return programs;
}

/// Before anything is made.
static Expected<Listeners> checkOptions(const Options &options) {
  PDLRT_RETURN_IF_ERROR(checkWords(options.trainerWords));
  PDLRT_RETURN_IF_ERROR(checkWords(options.serverWords));
  PDLRT_RETURN_IF_ERROR(checkCommand(options));
  PDLRT_RETURN_IF_ERROR(checkProgram(options.folder + "/trainer"));
  return listenersOf(options);
}

static Expected<std::unique_ptr<Places>>
choosePlaces(const Options &options, const Listeners &listeners,
             const LaunchFolder &folder) {
  if (options.unixSockets)
    return unixSockets(folder.path(), listeners.servers, listeners.trainers);
  return freePorts(listeners.servers + listeners.trainers);
}

static int launch(const Options &options) {
  const auto listeners = checkOptions(options);
  if (!listeners)
    return fail(2, listeners.status().message());
  const auto folder = LaunchFolder::make();
  if (!folder)
    return fail(2, folder.status().message());
  const auto places = choosePlaces(options, *listeners, **folder);
  if (!places)
    return fail(2, places.status().message());
  Expected<std::string> token{std::string()};
  if (!namesToken(options.trainerWords) && !namesToken(options.serverWords))
    token = writeToken(**folder);
  if (!token)
    return fail(2, token.status().message());
  Options all = options;
  if (listeners->servers > 0) {
    shareFlags(options.trainerWords, all.serverWords);
    shareFlags(options.serverWords, all.trainerWords);
  }
  auto programs = makePrograms(all, *listeners, (*places)->addresses(), *token);
  if (!programs)
    return fail(2, programs.status().message());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  Supervisor supervisor(std::move(*programs),
                        std::chrono::seconds(options.grace), terminal);
  return supervisor.run();
}

static int run(int argc, char **argv) {
  const std::vector<Words> parts = cutAtDashes(argc, argv);
  Options options;
  CLI::App app(
      "Starts the trainers and the servers of one job on this host and waits "
      "for them; the status is\nthat of the first program that failed.\n\n"
      "  pdl-launch [flags] FOLDER [-- trainer's words [-- server's words]]\n\n"
      "Each program gets --rank, --trainers and --servers behind its words, in "
      "which {rank} stands for\nits rank and {trainers} for their number. "
      "Flags that mean the same to trainers and servers\n(--seed, "
      "--checkpoint, --resume, --job, --placement, --pack-gradients, "
      "--token-file) are\nenough in one of the two lists. "
      "Trainers that own state (modes collective and hybrid)\nget --peers "
      "too; a job of mode collective has no servers. All get --token-file with "
      "a new secret,\nunless the words have that flag.",
      "pdl-launch");
  app.add_option("--trainers", options.trainers, "Number of trainers")
      ->transform(pdlrt::wholeNumber(1, 1024))
      ->capture_default_str();
  app.add_option("--servers", options.servers,
                 "Number of servers (default: 1, or none in mode collective)")
      ->transform(pdlrt::wholeNumber(1, 1024));
  app.add_flag("--unix", options.unixSockets,
               "Unix sockets instead of free ports of the loopback");
  app.add_option("--grace", options.grace,
                 "Seconds that programs may run on after one failed, before "
                 "they get SIGTERM, and SIGKILL after as long again; 0: for "
                 "ever")
      ->transform(pdlrt::wholeNumber(0, UINT32_MAX))
      ->capture_default_str();
  app.add_option("folder", options.folder,
                 "The folder with the programs `trainer` and, but in mode "
                 "collective, `pserver`")
      ->required();
  if (const std::optional<int> status = pdlrt::parseFlags(
          app, 1 + int(parts[0].size()), argv,
          "words for trainers stand behind --, and 'pdl-launch --help' lists"))
    return *status;
  options.trainerWords = parts[1];
  options.serverWords = parts[2];
  return launch(options);
}

int main(int argc, char **argv) {
  return pdlrt::runProgram(2, "use a machine with more of it",
                           [&] { return run(argc, argv); });
}
