//===- MetricsTargets.cpp - List of a job's processes ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricsTargets.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::Status;

MetricsTargets::~MetricsTargets() = default;

namespace {
class TargetsFile final : public MetricsTargets {
public:
  explicit TargetsFile(std::string path) : path(std::move(path)) {}
  ~TargetsFile() override {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

private:
  const std::string path;
};
} // namespace

static Status cannotWrite(const std::string &path, int error) {
  return Status::ofErrno(error, "cannot write " + path + ": " +
                                    std::strerror(error) +
                                    "; give --metrics-targets another path");
}

Expected<std::unique_ptr<MetricsTargets>>
MetricsTargets::write(const std::string &path,
                      const std::vector<MetricsTarget> &targets) {
  nlohmann::json all = nlohmann::json::array();
  for (const MetricsTarget &each : targets)
    all.push_back(
        {{"targets", {each.address}}, {"labels", {{"process", each.process}}}});
  const std::string partial = path + ".partial";
  errno = 0;
  std::ofstream file(partial);
  file << all.dump(2) << '\n';
  file.close();
  if (!file)
    return cannotWrite(partial, errno);
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error)
    return cannotWrite(path, error.value());
  return std::unique_ptr<MetricsTargets>(std::make_unique<TargetsFile>(path));
}
