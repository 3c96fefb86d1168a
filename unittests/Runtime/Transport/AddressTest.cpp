//===- AddressTest.cpp - Addresses of processes ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Address.h"

#include <gtest/gtest.h>

using namespace pdlrt;

namespace {

TEST(AddressTest, ReadsWhatItWrites) {
  for (const char *text :
       {"127.0.0.1:7101", "[::1]:80", "node-7.cluster:0", "unix:/tmp/a socket",
        "unix:relative", "unix:@name", "localhost:65535"}) {
    const auto address = parseAddress(text);
    ASSERT_TRUE(address.ok()) << address.status().message();
    EXPECT_EQ(address->toString(), text);
  }
  const auto address = parseAddress("[fe80::1]:7101");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->kind, Address::Kind::Tcp);
  EXPECT_EQ(address->host, "fe80::1");
  EXPECT_EQ(address->port, 7101);
}

TEST(AddressTest, SaysWhichHostCannotBeResolved) {
  for (const char *text :
       {"127.0.0.1:80", "localhost:80", "[::1]:80", "unix:/tmp/x", "unix:@x"})
    EXPECT_EQ(describeUnknownHost(text), "") << text;
  const std::string unknown = describeUnknownHost("no-such-host.invalid:7101");
  EXPECT_NE(unknown.find("host 'no-such-host.invalid' of "
                         "no-such-host.invalid:7101 cannot be resolved ("),
            std::string::npos)
      << unknown;
}

TEST(AddressTest, RefusesTheRestWithAReason) {
  const std::pair<std::string, const char *> cases[] = {
      {"", "no port"},
      {"localhost", "no port"},
      {":7101", "no host"},
      {"localhost:", "the port"},
      {"localhost:x", "the port"},
      {"localhost:65536", "the port"},
      {"localhost:-1", "the port"},
      {"localhost:71 ", "the port"},
      {"::1:80", "brackets"},
      {"dns:///host:80", "a scheme such as http:// is no part of it"},
      {"http://host:80", "a scheme such as http:// is no part of it"},
      {"a,b:80", "character"},
      {"host/x:80", "character"},
      {"unix:", "empty"},
      {"unix:@", "empty"},
      {"unix:/" + std::string(107, 'x'), "108 bytes"},
      {std::string("unix:/a\0b", 9), "zero byte"},
  };
  for (const auto &[text, reason] : cases) {
    const auto address = parseAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_NE(address.status().message().find(reason), std::string::npos)
        << address.status().message();
  }
}

} // namespace
