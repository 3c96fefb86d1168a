//===- CredentialSource.cpp - Credentials of S3 that expire ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/CredentialSource.h"

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

using namespace pdlrt;

/// Credentials are requested again this long before they expire.
static constexpr int64_t renewalSeconds = 300;

static Status noCredentials(const std::string &reason) {
  return Status::failedPrecondition(
      "there are no credentials for S3" + reason +
      "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a "
      "profile that has them");
}

/// Reads the answer of a service of credentials.
static Expected<S3Credentials> readAnswer(const std::string &text,
                                          const std::string &service) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto entry = [&](const char *name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
  };
  if (!json.is_object() || entry("AccessKeyId").empty() ||
      entry("SecretAccessKey").empty())
    return noCredentials(": the answer of " + service + " has none");
  S3Credentials credentials = {entry("AccessKeyId"), entry("SecretAccessKey"),
                               entry("Token")};
  std::tm time = {};
  if (::strptime(entry("Expiration").c_str(), "%Y-%m-%dT%H:%M:%S", &time))
    credentials.expires = ::timegm(&time);
  return credentials;
}

Expected<S3Credentials>
CredentialSource::fetchOfContainer(const std::string &url) const {
  HttpRequest request;
  request.method = "GET";
  request.url = url;
  request.connectSeconds = 2;
  request.stallSeconds = 5;
  const auto variable = [&](const char *name) {
    const char *const value = environment.variable(name);
    return std::string(value ? value : "");
  };
  std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string path =
          variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
      !path.empty()) {
    std::ifstream file(path);
    if (!std::getline(file, token))
      return noCredentials(": " + path + " cannot be read");
  }
  if (!token.empty())
    request.headers.emplace_back("authorization", token);
  const HttpResponse response = http.send(request);
  if (response.status != 200)
    return noCredentials(
        ": " + url + " answered " +
        (response.status ? std::to_string(response.status) : response.error));
  return readAnswer(response.body, url);
}

/// Asks the metadata service of virtual machines.
Expected<S3Credentials> CredentialSource::fetchOfInstance() const {
  const char *const off = environment.variable("AWS_EC2_METADATA_DISABLED");
  if (off && std::string_view(off) == "true")
    return noCredentials("");
  const char *const other =
      environment.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  const std::string base = other && *other ? other : "http://169.254.169.254";
  HttpRequest request;
  request.connectSeconds = 1;
  request.stallSeconds = 5;
  request.method = "PUT";
  request.url = base + "/latest/api/token";
  request.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  const HttpResponse token = http.send(request);
  if (token.status != 200)
    return noCredentials("");
  const std::string folder =
      base + "/latest/meta-data/iam/security-credentials/";
  request.method = "GET";
  request.url = folder;
  request.headers = {{"x-aws-ec2-metadata-token", token.body}};
  const HttpResponse role = http.send(request);
  if (role.status != 200 || role.body.empty())
    return noCredentials(": this virtual machine has no role");
  request.url = folder + role.body.substr(0, role.body.find('\n'));
  const HttpResponse answer = http.send(request);
  if (answer.status != 200)
    return noCredentials(": " + request.url + " answered " +
                         std::to_string(answer.status));
  return readAnswer(answer.body, request.url);
}

Expected<S3Credentials> CredentialSource::fetch() const {
  auto profile = readS3Profile(environment);
  PDLRT_RETURN_IF_ERROR(profile.status());
  auto read = readS3Credentials(environment, *profile);
  PDLRT_RETURN_IF_ERROR(read.status());
  if (const std::optional<S3Credentials> &known = *read)
    return *known;
  if (const char *full =
          environment.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
      full && *full)
    return fetchOfContainer(full);
  if (const char *relative =
          environment.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
      relative && *relative)
    return fetchOfContainer(std::string("http://169.254.170.2") + relative);
  return fetchOfInstance();
}

Expected<S3Credentials> CredentialSource::get(int64_t now) {
  // The lock is held during the request, so that one thread makes it for all.
  const MutexLock lock(mutex);
  if (current &&
      (current->expires == 0 || now + renewalSeconds < current->expires))
    return *current;
  auto fetched = fetch();
  // If the service cannot be reached, uses credentials that are still valid.
  if (!fetched && current && now < current->expires)
    return *current;
  PDLRT_RETURN_IF_ERROR(fetched.status());
  current = *fetched;
  return fetched;
}
