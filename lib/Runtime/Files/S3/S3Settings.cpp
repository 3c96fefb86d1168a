//===- S3Settings.cpp - Settings of S3-compatible stores ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/S3Settings.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

using namespace pdlrt;

static std::string_view trimmed(std::string_view text) {
  const auto isSpace = [](char c) {
    return c == ' ' || c == '\t' || c == '\r';
  };
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

S3Environment pdlrt::s3Environment() {
  return {[](const char *name) -> const char * { return std::getenv(name); }};
}

/// Returns the value of the first variable that is set and not empty.
static std::string variableOf(const S3Environment &environment,
                              std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const char *value = environment.variable(name); value && *value)
      return value;
  return {};
}

/// Reads the entries of a section. An indented entry belongs to the one before
/// it, and its key is `outer.inner`. Returns false if there is no such section.
static bool readSection(const std::string &path, const std::string &section,
                        S3Profile &into) {
  std::ifstream file(path, std::ios::binary);
  bool isInside = false, wasFound = false;
  std::string outer;
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#' || text.front() == ';')
      continue;
    if (text.front() == '[') {
      isInside = trimmed(text.substr(1, text.find(']') - 1)) == section;
      wasFound |= isInside;
      outer.clear();
      continue;
    }
    const size_t equals = text.find('=');
    if (!isInside || equals == std::string_view::npos)
      continue;
    const std::string key(trimmed(text.substr(0, equals)));
    const std::string value(trimmed(text.substr(equals + 1)));
    const bool isIndented = line.front() == ' ' || line.front() == '\t';
    if (isIndented && !outer.empty()) {
      into.try_emplace(outer + "." + key, value);
      continue;
    }
    outer = key;
    into.try_emplace(key, value);
  }
  return wasFound;
}

Expected<S3Profile> pdlrt::readS3Profile(const S3Environment &environment) {
  const std::string chosen =
      variableOf(environment, {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  const std::string name = chosen.empty() ? "default" : chosen;
  const std::string home = variableOf(environment, {"HOME"});
  std::string credentials =
      variableOf(environment, {"AWS_SHARED_CREDENTIALS_FILE"});
  std::string config = variableOf(environment, {"AWS_CONFIG_FILE"});
  if (credentials.empty())
    credentials = home + "/.aws/credentials";
  if (config.empty())
    config = home + "/.aws/config";
  S3Profile profile;
  bool wasFound = readSection(credentials, name, profile);
  wasFound |= readSection(config, "profile " + name, profile);
  if (name == "default")
    wasFound |= readSection(config, name, profile);
  if (!wasFound && !chosen.empty())
    return Status::invalidArgument(
        "AWS_PROFILE is " + chosen + ", which is neither in " + credentials +
        " nor in " + config + "; name a profile that is");
  return profile;
}

static std::string entryOf(const S3Profile &profile, const std::string &key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string() : found->second;
}

Expected<S3Settings> pdlrt::readS3Settings(const S3Environment &environment,
                                           const S3Profile &profile) {
  S3Settings settings;
  settings.endpoint =
      variableOf(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (settings.endpoint.empty())
    settings.endpoint = entryOf(profile, "endpoint_url");
  while (settings.endpoint.ends_with('/'))
    settings.endpoint.pop_back();
  if (!settings.endpoint.empty() && !settings.endpoint.starts_with("http://") &&
      !settings.endpoint.starts_with("https://"))
    return Status::invalidArgument(
        "the endpoint of S3 is " + settings.endpoint +
        "; set AWS_ENDPOINT_URL_S3 to an address that begins with http:// or "
        "https://");
  std::string region =
      variableOf(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (region.empty())
    region = entryOf(profile, "region");
  if (!region.empty())
    settings.region = region;
  const std::string style = entryOf(profile, "s3.addressing_style");
  settings.hasBucketInPath =
      style == "path" || (style != "virtual" && !settings.endpoint.empty());
  settings.authorities = variableOf(environment, {"AWS_CA_BUNDLE"});
  const std::string attempts = variableOf(environment, {"AWS_MAX_ATTEMPTS"});
  if (!attempts.empty()) {
    const char *const end = attempts.data() + attempts.size();
    const auto [last, error] =
        std::from_chars(attempts.data(), end, settings.maxAttempts);
    if (error != std::errc() || last != end || settings.maxAttempts < 1)
      return Status::invalidArgument("AWS_MAX_ATTEMPTS is " + attempts +
                                     "; set it to 1 or more");
  }
  return settings;
}

Expected<std::optional<S3Credentials>>
pdlrt::readS3Credentials(const S3Environment &environment,
                         const S3Profile &profile) {
  S3Credentials found = {variableOf(environment, {"AWS_ACCESS_KEY_ID"}),
                         variableOf(environment, {"AWS_SECRET_ACCESS_KEY"}),
                         variableOf(environment, {"AWS_SESSION_TOKEN"})};
  if (found.accessKey.empty() != found.secretKey.empty())
    return Status::invalidArgument(
        "of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set; set "
        "both");
  if (!found.accessKey.empty())
    return std::optional(std::move(found));
  found = {entryOf(profile, "aws_access_key_id"),
           entryOf(profile, "aws_secret_access_key"),
           entryOf(profile, "aws_session_token")};
  if (found.accessKey.empty() != found.secretKey.empty())
    return Status::invalidArgument(
        "the profile of AWS has only one of aws_access_key_id and "
        "aws_secret_access_key; write both");
  if (!found.accessKey.empty())
    return std::optional(std::move(found));
  for (const char *other : {"sso_session", "sso_start_url", "role_arn",
                            "credential_process", "login_session"})
    if (profile.contains(other))
      return Status::failedPrecondition(
          std::string("the profile of AWS signs in by ") + other +
          ", which PDL does not do; set the variables that 'aws configure "
          "export-credentials --format env' prints");
  return std::optional<S3Credentials>();
}
