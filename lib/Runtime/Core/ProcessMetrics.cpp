//===- ProcessMetrics.cpp - Metrics of the process ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProcessMetrics.h"

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Stopwatch.h"

#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace pdlrt;

namespace {

/// The metric families of a process.
struct ProcessFamilies {
  const RealCounterFamily cpu{
      {.name = "process_cpu_seconds_total",
       .unit = "seconds",
       .help = "CPU time of all threads of the process"}};
  const GaugeFamily resident{{.name = "process_resident_memory_bytes",
                              .unit = "bytes",
                              .help = "Resident memory of the process"}};
  const GaugeFamily virtualMemory{{.name = "process_virtual_memory_bytes",
                                   .unit = "bytes",
                                   .help = "Virtual memory of the process"}};
  const GaugeFamily start{{.name = "process_start_time_seconds",
                           .unit = "seconds",
                           .help = "Start time of the process, since 1970"}};
  const GaugeFamily open{{.name = "process_open_fds",
                          .unit = "files",
                          .help = "Open file descriptors, including sockets"}};
  const GaugeFamily max{{.name = "process_max_fds",
                         .unit = "files",
                         .help = "Maximum number of open file descriptors"}};
  const GaugeFamily threads{{.name = "process_threads",
                             .unit = "threads",
                             .help = "Threads of the process"}};
  const GaugeFamily build{
      {.name = "pdl_build_info",
       .unit = "",
       .help = "Always 1; the labels describe the program and its place in "
               "the job",
       .labels = {"mode", "model", "rank", "role"}}};
};

/// Values of /proc/self/stat.
struct ProcessStat {
  double virtualBytes = 0, residentPages = 0, startTicks = 0, threads = 0;
};

} // namespace

/// Returns the values of the system about this process; 0 for values that it
/// does not report.
static ProcessStat readStat() {
  // Numbers of the fields in proc(5), from 1. The state is the first field
  // after the name, which may contain any character.
  constexpr int stateField = 3, threadsField = 20, startField = 22,
                virtualField = 23, residentField = 24;
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t nameEnd = line.rfind(')');
  if (nameEnd == std::string::npos)
    return {};
  std::istringstream rest(line.substr(nameEnd + 1));
  ProcessStat stat;
  std::string word;
  for (int field = stateField; rest >> word; ++field)
    if (double *const value = field == threadsField    ? &stat.threads
                              : field == startField    ? &stat.startTicks
                              : field == virtualField  ? &stat.virtualBytes
                              : field == residentField ? &stat.residentPages
                                                       : nullptr)
      *value = std::strtod(word.c_str(), nullptr);
  return stat;
}

/// Returns the time at which the system has started, in seconds since 1970; 0
/// if it is not known.
static double bootSeconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word)
    if (word == "btime" && file >> seconds)
      return seconds;
  return 0;
}

static double countOpenFiles() {
  DIR *folder = ::opendir("/proc/self/fd");
  if (!folder)
    return 0;
  // The entries ".", ".." and that of `folder` do not count.
  double count = -3;
  while (::readdir(folder))
    ++count;
  ::closedir(folder);
  return count;
}

static const ProcessFamilies &processFamilies() {
  return processMetrics<ProcessFamilies>();
}

void pdlrt::declareProcessMetrics() { processFamilies(); }

Gauge pdlrt::addBuildInfo(const std::string &model, const std::string &mode,
                          const std::string &rank, const std::string &role) {
  Gauge info = processFamilies().build.add({mode, model, rank, role});
  info.set(1);
  return info;
}

namespace {

/// The only cells of the families.
struct ProcessCells {
  Mutex mutex;
  RealCounter cpuSeconds = processFamilies().cpu.add();
  Gauge residentBytes = processFamilies().resident.add(),
        virtualBytes = processFamilies().virtualMemory.add(),
        startSeconds = processFamilies().start.add(),
        openFiles = processFamilies().open.add(),
        maxFiles = processFamilies().max.add(),
        threads = processFamilies().threads.add();
};

} // namespace

void pdlrt::updateProcessMetrics() {
  const ProcessStat stat = readStat();
  ProcessCells &cells = processMetrics<ProcessCells>();
  const MutexLock lock(cells.mutex);
  cells.cpuSeconds += processCpuSeconds() - cells.cpuSeconds.value();
  cells.residentBytes.set(stat.residentPages * double(::sysconf(_SC_PAGESIZE)));
  cells.virtualBytes.set(stat.virtualBytes);
  cells.startSeconds.set(bootSeconds() +
                         stat.startTicks / double(::sysconf(_SC_CLK_TCK)));
  cells.threads.set(stat.threads);
  cells.openFiles.set(countOpenFiles());
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    cells.maxFiles.set(double(limit.rlim_cur));
}
