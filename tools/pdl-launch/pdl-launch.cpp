//===- pdl-launch.cpp - Runs a job on this host ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFolder.h"
#include "Places.h"
#include "ProgramMode.h"
#include "ShareFlags.h"
#include "Supervisor.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProgramMain.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::fail;
using pdlrt::failUsage;
using pdlrt::Status;

namespace {

struct Options {
  unsigned trainers = 1;
  /// Number of servers. If not set: one, or none in a mode without servers.
  std::optional<unsigned> servers;
  bool unixSockets = false;
  unsigned grace = 30;
  std::string folder;
  Words trainerWords;
  Words serverWords;
};

/// Numbers of processes that have an address.
struct Listeners {
  /// Mode of the job; null if it is not known.
  const pdlrt::Mode *mode = nullptr;
  unsigned servers = 1;
  /// Number of trainers if they own state, otherwise 0.
  unsigned trainers = 0;
};

} // namespace

/// Splits the command line at the words `--` into the flags of the launcher,
/// those of trainers and those of servers.
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

static bool hasFlag(const Words &words, const std::string &flag) {
  return std::ranges::any_of(
      words, [&](const std::string &word) { return isFlag(word, flag); });
}

/// Returns an error if the user gives a flag that pdl-launch itself gives to
/// each program.
static Status checkWords(const Words &words) {
  for (const std::string flag :
       {"--rank", "--trainers", "--servers", "--peers"})
    if (hasFlag(words, flag))
      return Status::invalidArgument(flag +
                                     " is given by pdl-launch to each program; "
                                     "leave it out after --");
  return {};
}

/// Returns an error if the command is not `train`. Only this command uses
/// servers and peers.
static Status checkCommand(const Options &options) {
  const Words &words = options.trainerWords;
  if (words.empty() || words.front().starts_with("-") ||
      words.front() == "train")
    return {};
  return Status::invalidArgument(
      "only the command train has servers, but '" + words.front() +
      "' was asked for; run " + options.folder + "/trainer " + words.front() +
      " by itself, with the trained values in --checkpoint or --init-from");
}

static Status checkProgram(const std::string &path) {
  if (::access(path.c_str(), X_OK) == 0)
    return {};
  return Status::notFound("found no program " + path +
                          "; write both with pdl-translate MODEL --mode=sync "
                          "--emit=trainer,pserver -o FOLDER");
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Returns the number of listening processes for the trainer in the folder.
static Expected<Listeners> listenersOf(const Options &options) {
  const pdlrt::Mode *mode =
      pdllaunch::modeOfTrainer(options.folder + "/trainer");
  Listeners result;
  result.mode = mode;
  result.servers = options.servers.value_or(1);
  if (!mode || !mode->trainersOwn())
    return result;
  result.trainers = options.trainers;
  if (mode->needsServers())
    return result;
  if (options.servers)
    return Status::invalidArgument(std::string("--servers is not for mode ") +
                                   mode->name +
                                   ", in which trainers own all state; "
                                   "leave it out");
  if (!options.serverWords.empty())
    return Status::invalidArgument(
        std::string("there are words for servers, but a job "
                    "of mode ") +
        mode->name + " has none; leave them out");
  result.servers = 0;
  return result;
}

/// Returns the command line of one program: its path, the words of the user,
/// its rank, and the addresses of other processes.
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

/// Appends a flag with the addresses `all[begin]` to `all[end - 1]`, if there
/// are any.
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

/// Checks the options before anything is created.
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
    return failUsage(listeners.status());
  const auto folder = LaunchFolder::make();
  if (!folder)
    return fail(folder.status());
  const auto places = choosePlaces(options, *listeners, **folder);
  if (!places)
    return fail(places.status());
  Expected<std::string> token{std::string()};
  if (!hasFlag(options.trainerWords, "--token-file") &&
      !hasFlag(options.serverWords, "--token-file"))
    token = writeToken(**folder);
  if (!token)
    return fail(token.status());
  Options all = options;
  if (listeners->servers > 0)
    shareFlags(listeners->mode, all.trainerWords, all.serverWords);
  auto programs = makePrograms(all, *listeners, (*places)->addresses(), *token);
  if (!programs)
    return failUsage(programs.status());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  Supervisor supervisor(std::move(*programs),
                        std::chrono::seconds(options.grace), terminal);
  return supervisor.run();
}

/// Returns the table of the launcher's own flags.
static pdlrt::FlagTable flagsOf(Options &options) {
  using pdlrt::FlagValue;
  return {{pdlrt::mainOptions,
           {{.names = "--trainers",
             .placeholder = "N",
             .value = FlagValue::number(options.trainers, 1, 1024),
             .help = "Number of trainers"},
            {.names = "--servers",
             .placeholder = "N",
             .value = FlagValue::number(options.servers, 1, 1024),
             .help = "Number of servers (default: 1, or none in mode "
                     "collective)"},
            {.names = "--unix",
             .value = FlagValue::isGiven(options.unixSockets),
             .help = "Use Unix sockets instead of free ports of the loopback "
                     "interface"},
            {.names = "--grace",
             .placeholder = "SECONDS",
             .value = FlagValue::number(options.grace, 0, UINT32_MAX),
             .help = "Seconds that programs may continue after one has failed. "
                     "Then they get SIGTERM, and SIGKILL after the same time "
                     "again; 0: no limit"},
            {.names = "folder",
             .placeholder = "FOLDER",
             .value = FlagValue::anyText(options.folder),
             .help = "The folder with the programs `trainer` and, except in "
                     "mode collective, `pserver`",
             .isRequired = true}}}};
}

/// Returns words as lines of up to 96 characters, separated by commas.
static std::string listed(const Words &words) {
  std::string text, line;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (line.size() + 1 + word.size() > 96) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "    " : " ") + word;
  }
  return text + line;
}

static int run(int argc, char **argv) {
  const std::vector<Words> parts = cutAtDashes(argc, argv);
  Options options;
  CLI::App app(
      "Starts the trainers and the servers of one job on this host and waits "
      "for them. The exit status is\nthat of the first program that failed.\n\n"
      "  pdl-launch [flags] FOLDER [-- trainer's flags [-- server's flags]]\n\n"
      "Each program gets --rank, --trainers and --servers after its flags, in "
      "which {rank} is replaced by\nits rank and {trainers} by the number of "
      "trainers. Trainers that own state (modes\ncollective and hybrid) also "
      "get --peers; a job of mode collective has no servers. All programs "
      "get\n--token-file with a new secret, unless the flags contain it.\n\n"
      "Each flag is needed once. Trainers and servers get these flags, "
      "whichever list has them:\n" +
          listed(sharedFlagNames()) +
          "\nServers alone get these, even from the first list, as they get "
          "--init-from in modes in which\nthey hold all values:\n" +
          listed(serverFlagNames()),
      "pdl-launch");
  pdlrt::addHelpAndVersion(app);
  app.footer("Examples:\n"
             "  pdl-launch out/ -- --data clicks.tsv\n"
             "  pdl-launch --unix --trainers 4 --servers 2 out/ -- --data "
             "clicks.tsv --threads 1 -- --threads 2\n"
             "Exit status: that of the first program that failed; if none "
             "failed, that of the first one that\nyour signal stopped; 2 wrong "
             "flags; 127 a program could not be executed.");
  pdlrt::addFlags(app, flagsOf(options));
  if (const std::optional<int> status = pdlrt::parseFlags(
          app, 1 + int(parts[0].size()), argv,
          "flags for trainers follow --, and 'pdl-launch --help' lists"))
    return *status;
  options.trainerWords = parts[1];
  options.serverWords = parts[2];
  return launch(options);
}

int main(int argc, char **argv) {
  return pdlrt::runProgram("use a machine with more of it",
                           [&] { return run(argc, argv); });
}
