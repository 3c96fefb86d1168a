//===- pdl-launch.cpp - Runs a job on this host ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobSummary.h"
#include "LaunchFolder.h"
#include "MetricsTargets.h"
#include "Places.h"
#include "ProgramMode.h"
#include "ShareFlags.h"
#include "Supervisor.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Files/RunSummary.h"
#include "pdlrt/Job/JobFlags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::fail;
using pdlrt::failUsage;
using pdlrt::LogFormat;
using pdlrt::logFormat;
using pdlrt::Status;

namespace {

struct Options {
  unsigned trainers = 1;
  /// Number of servers. If not set: one, or none in a mode without servers.
  std::optional<unsigned> servers;
  bool unixSockets = false;
  unsigned grace = 30;
  std::string folder;
  /// Path of the file with the monitoring endpoints; empty: there are none.
  std::string metricsTargets;
  /// Path of the summary of the job; empty: none.
  std::string summary;
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
  /// Number of processes with a monitoring endpoint.
  unsigned monitored = 0;
};

/// Addresses of a job.
struct JobPlaces {
  std::unique_ptr<Places> listeners;
  /// Monitoring endpoints: of the servers, then of the trainers. May be empty.
  Words endpoints;
  /// Folder for the summaries of the programs; empty: there are none.
  std::string summaries;
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

/// Returns an error if the user gives addresses of endpoints, and pdl-launch
/// chooses them too.
static Status checkEndpoints(const Options &options) {
  if (options.metricsTargets.empty() ||
      (!hasFlag(options.trainerWords, "--metrics-address") &&
       !hasFlag(options.serverWords, "--metrics-address")))
    return {};
  return Status::invalidArgument(
      "--metrics-address is given by pdl-launch to each program if there is "
      "--metrics-targets; leave one of the two out");
}

/// Returns an error if the user names summaries of programs, and pdl-launch
/// names them too.
static Status checkSummary(const Options &options) {
  if (options.summary.empty() || (!hasFlag(options.trainerWords, "--summary") &&
                                  !hasFlag(options.serverWords, "--summary")))
    return {};
  return Status::invalidArgument(
      "--summary before FOLDER has the summaries of all programs; leave it out "
      "after --");
}

/// Returns an error if the user gives a log format to programs, and pdl-launch
/// gives them its own.
static Status checkLogFormat(const Options &options) {
  if (logFormat() == LogFormat::Text ||
      (!hasFlag(options.trainerWords, "--log-format") &&
       !hasFlag(options.serverWords, "--log-format")))
    return {};
  return Status::invalidArgument(
      "--log-format before FOLDER is for all programs of the job; leave it out "
      "after --");
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
                                                   const JobPlaces &job,
                                                   const std::string &token) {
  const Words &addresses = job.listeners->addresses();
  size_t endpoint = 0;
  const auto monitored = [&](Words words, const std::string &name) {
    if (!job.endpoints.empty())
      words.insert(words.end(),
                   {"--metrics-address", job.endpoints[endpoint++]});
    if (logFormat() != LogFormat::Text)
      words.insert(
          words.end(),
          {"--log-format", logFormat() == LogFormat::Json ? "json" : "quiet"});
    if (!job.summaries.empty())
      words.insert(words.end(),
                   {"--summary", summaryPath(job.summaries, name)});
    return words;
  };
  const std::string server = options.folder + "/pserver";
  const std::string trainer = options.folder + "/trainer";
  if (listeners.servers > 0)
    PDLRT_RETURN_IF_ERROR(checkProgram(server));
  Words places;
  if (!token.empty())
    places = {"--token-file", token};
  addAddresses("--servers", addresses, 0, listeners.servers, places);
  std::vector<Program> programs;
  for (unsigned rank = 0; rank < listeners.servers; ++rank) {
    const std::string name = "pserver " + std::to_string(rank);
    programs.emplace_back(name, commandOf(server,
                                          monitored(options.serverWords, name),
                                          rank, options.trainers, places));
  }
  addAddresses("--peers", addresses, listeners.servers,
               listeners.servers + listeners.trainers, places);
  Words words = options.trainerWords;
  if (words.empty() || words.front().starts_with("-"))
    words.insert(words.begin(), "train");
  for (unsigned rank = 0; rank < options.trainers; ++rank) {
    const std::string name = "trainer " + std::to_string(rank);
    programs.emplace_back(name, commandOf(trainer, monitored(words, name), rank,
                                          options.trainers, places));
  }
  return programs;
}

/// Checks the options before anything is created.
static Expected<Listeners> checkOptions(const Options &options) {
  PDLRT_RETURN_IF_ERROR(checkWords(options.trainerWords));
  PDLRT_RETURN_IF_ERROR(checkWords(options.serverWords));
  PDLRT_RETURN_IF_ERROR(checkCommand(options));
  PDLRT_RETURN_IF_ERROR(checkEndpoints(options));
  PDLRT_RETURN_IF_ERROR(checkLogFormat(options));
  PDLRT_RETURN_IF_ERROR(checkSummary(options));
  PDLRT_RETURN_IF_ERROR(checkProgram(options.folder + "/trainer"));
  Expected<Listeners> listeners = listenersOf(options);
  if (listeners && !options.metricsTargets.empty())
    listeners->monitored = listeners->servers + options.trainers;
  return listeners;
}

static Expected<JobPlaces> choosePlaces(const Options &options,
                                        const Listeners &listeners,
                                        const LaunchFolder &folder) {
  const unsigned listening = listeners.servers + listeners.trainers;
  const unsigned ports =
      (options.unixSockets ? 0 : listening) + listeners.monitored;
  // All ports are found at once, so that they differ.
  Expected<std::unique_ptr<Places>> found = freePorts(ports);
  if (!found)
    return std::move(found).status();
  JobPlaces places;
  if (!options.summary.empty())
    places.summaries = folder.path();
  const Words &all = (*found)->addresses();
  places.endpoints.assign(all.end() - listeners.monitored, all.end());
  places.listeners =
      options.unixSockets
          ? unixSockets(folder.path(), listeners.servers, listeners.trainers)
          : std::move(*found);
  return places;
}

/// Writes the file of --metrics-targets, if the user requested it.
static Expected<std::unique_ptr<MetricsTargets>>
writeTargets(const Options &options, const Listeners &listeners,
             const JobPlaces &job) {
  if (options.metricsTargets.empty())
    return std::unique_ptr<MetricsTargets>();
  std::vector<MetricsTarget> targets;
  for (unsigned i = 0; i < listeners.monitored; ++i)
    targets.push_back({i < listeners.servers
                           ? "pserver " + std::to_string(i)
                           : "trainer " + std::to_string(i - listeners.servers),
                       job.endpoints[i]});
  return MetricsTargets::write(options.metricsTargets, targets);
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
  auto programs = makePrograms(all, *listeners, *places, *token);
  if (!programs)
    return failUsage(programs.status());
  const auto targets = writeTargets(options, *listeners, *places);
  if (!targets)
    return fail(targets.status());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  Supervisor supervisor(std::move(*programs),
                        std::chrono::seconds(options.grace), terminal);
  const int status = supervisor.run();
  if (!places->summaries.empty())
    summarizeJob(supervisor, places->summaries);
  return status;
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
            {.names = "--metrics-targets",
             .placeholder = "FILE",
             .value = FlagValue::text(options.metricsTargets),
             .help = "Give each program --metrics-address with a free port of "
                     "the loopback interface, and list the addresses in this "
                     "file for Prometheus (file_sd_configs) while the job "
                     "runs"},
            pdlrt::logFormatFlag(),
            pdlrt::summaryFlag(options.summary),
            {.names = "folder",
             .placeholder = "FOLDER",
             .value = FlagValue::anyText(options.folder),
             .help = "The folder with the programs `trainer` and, except in "
                     "mode collective, `pserver`",
             .isRequired = true}}}};
}

/// Opens the summary of the job. It also has the words for the programs.
static Status openSummary(const Options &options, const CLI::App &app) {
  pdlrt::RunSummary &summary = pdlrt::processSummary();
  PDLRT_RETURN_IF_ERROR(
      summary.open(options.summary, "pdl-launch",
                   pdlabi::versionLine("PDL", pdlabi::builtCommit()),
                   pdlrt::givenFlags(app)));
  summary.set("trainers", options.trainers);
  summary.set("trainer_words", options.trainerWords);
  summary.set("server_words", options.serverWords);
  return {};
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
  pdlrt::takeLogFormat(argc, argv);
  pdlrt::setLogOrigin({"pdl-launch", std::nullopt});
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
  if (!options.summary.empty())
    if (const Status status = openSummary(options, app); !status.ok())
      return failUsage(status);
  return launch(options);
}

int main(int argc, char **argv) {
  return pdlrt::runProgram("use a machine with more of it",
                           [&] { return run(argc, argv); });
}
