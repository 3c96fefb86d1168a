//===- ServersFile.cpp - Servers with the values of a model ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServersFile.h"

#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Files/FileBytes.h"

#include "nlohmann/json.hpp"

#include <filesystem>
#include <fmt/format.h>

using namespace pdlserve;
using nlohmann::json;
using pdlrt::Expected;
using pdlrt::Status;
namespace fs = std::filesystem;

bool pdlserve::isServersFile(const std::string &path) {
  return fs::path(path).filename() == serversFileName;
}

pdl_serving_connection ServersFile::connection() const {
  pdl_serving_connection to = {};
  to.struct_size = sizeof(to);
  to.servers = servers.c_str();
  to.token = token.c_str();
  to.parameters = parameters.c_str();
  to.cache_bytes = cacheBytes;
  to.row_age_ms = rowAgeMillis;
  to.timeout_ms = timeoutMillis;
  return to;
}

/// Reads a small regular file.
static Expected<std::string> textOf(const std::string &path) {
  constexpr uint64_t maxBytes = uint64_t(1) << 20;
  const auto file = pdlrt::FileBytes::open(path, "write the addresses of the "
                                                 "job's servers to a file");
  if (!file)
    return file.status();
  if (file->size() > maxBytes)
    return Status::invalidArgument(path + ": has more than 1 MiB");
  std::string text(file->size(), '\0');
  PDLRT_RETURN_IF_ERROR(file->readAt(0, text.size(), text.data()));
  return text;
}

Expected<ServersFile> pdlserve::readServersFile(const std::string &path) {
  const auto refuse = [&](const std::string &why) {
    return Status::invalidArgument(path + ": " + why);
  };
  const Expected<std::string> text = textOf(path);
  if (!text)
    return text.status();
  const json object = json::parse(*text, nullptr, false);
  if (!object.is_object())
    return refuse("is no object of JSON, such as {\"servers\": "
                  "[\"host:7101\", \"host:7102\"]}");
  ServersFile file;
  struct Number {
    const char *name;
    int64_t *to;
    int64_t least, most, factor;
  };
  constexpr int64_t maxMillis = int64_t(1) << 31;
  const Number numbers[] = {
      {"cache_mib", &file.cacheBytes, 0, int64_t(1) << 24, int64_t(1) << 20},
      {"row_age_ms", &file.rowAgeMillis, 0, maxMillis, 1},
      {"timeout_ms", &file.timeoutMillis, 1, maxMillis, 1},
      {"refresh_ms", &file.refreshMillis, 0, maxMillis, 1}};
  for (const auto &[name, value] : object.items()) {
    if (name == "servers") {
      if (!value.is_array())
        return refuse("servers is no list of addresses");
      for (const json &address : value) {
        if (!address.is_string())
          return refuse("servers is no list of addresses");
        file.servers +=
            (file.servers.empty() ? "" : ",") + address.get<std::string>();
      }
      continue;
    }
    if (name == "token_file") {
      if (!value.is_string())
        return refuse("token_file is no path");
      const fs::path place =
          fs::path(path).parent_path() / value.get<std::string>();
      std::error_code ignored;
      if (fs::exists(place, ignored) && !fs::is_regular_file(place, ignored))
        return refuse("token_file is no regular file");
      Expected<std::string> token =
          pdlrt::readTokenFile("token_file", place.string());
      if (!token)
        return refuse(token.status().message());
      file.token = *std::move(token);
      continue;
    }
    if (name == "parameters") {
      if (!value.is_string() || value.get<std::string>().empty())
        return refuse("parameters is no path");
      file.parameters =
          (fs::path(path).parent_path() / value.get<std::string>()).string();
      continue;
    }
    const Number *found = nullptr;
    for (const Number &number : numbers)
      if (name == number.name)
        found = &number;
    if (!found)
      return refuse(fmt::format("has '{}', which is none of servers, "
                                "token_file, parameters, cache_mib, "
                                "row_age_ms, timeout_ms and refresh_ms",
                                name));
    if (!value.is_number_integer() || value.get<int64_t>() < found->least ||
        value.get<int64_t>() > found->most)
      return refuse(fmt::format("{} is no whole number of {} to {}", name,
                                found->least, found->most));
    *found->to = value.get<int64_t>() * found->factor;
  }
  if (file.servers.empty())
    return refuse("names no servers; give their addresses as \"servers\"");
  return file;
}
