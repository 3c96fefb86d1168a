//===- ServerSavesTest.cpp - Requests between servers ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/PeerIdentity.h"
#include "Job/PeerServer.h"
#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"

#include "pdlrt/Job/DistributedJob.h"
#include "pdlrt/Job/ServerSaves.h"
#include "pdlrt/Job/StateHost.h"

#include "nlohmann/json.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

using namespace pdlrt;
using nlohmann::json;
using testing::HasSubstr;

namespace {

constexpr std::chrono::seconds patience(20);

/// Two servers of a job that waits for its only trainer.
class ServerSavesTest : public testing::Test {
protected:
  /// One server process.
  struct Server {
    Server(ServerSavesTest &test, int32_t rank)
        : host(*test.program, test.placement, test.optionsOf(rank), test.clock),
          saves(*test.program, test.optionsOf(rank), host, *test.transport,
                {test.addresses, std::nullopt, ""}) {
      EXPECT_TRUE(host.listen(*test.transport, test.addresses[rank]).ok());
      host.load();
      const auto end = std::chrono::steady_clock::now() + patience;
      while (!host.isLoaded() && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      EXPECT_TRUE(host.isLoaded());
    }

    StateHost host;
    ServerSaves saves;
  };

  HostOptions optionsOf(int32_t rank) const {
    HostOptions options;
    options.owner = rank;
    options.onFailure = onFailure;
    options.savesBeforeLoss = onFailure == FailurePolicy::Wait;
    options.saves = saves;
    options.job = "clicks";
    return options;
  }
  static const pdl_descriptor *programOf(int32_t role) {
    ProgramVariant variant;
    variant.mode = PDL_MODE_SYNC;
    variant.role = role;
    return handWrittenProgram(variant);
  }
  /// Returns the response to a request, or the reason for the refusal.
  std::string send(int32_t to, const json &request) {
    PeerServer peer(*transport, addresses[to], 1);
    bool wasRefused = false;
    const Expected<Message> response =
        peer.ask(Message::ofString(request.dump()), std::chrono::seconds(5),
                 &wasRefused);
    EXPECT_TRUE(response || wasRefused) << response.status().message();
    return response ? response->toString()
                    : "refused: " + response.status().message();
  }
  /// Returns a request that a server of this job sends.
  json request(const std::string &what, int64_t from, uint64_t run,
               const std::string &job = "clicks") const {
    json object = {{"do", what}, {"from", from}, {"run", run}};
    PeerIdentity(*program, job, 1, 2).addTo(object);
    return object;
  }
  bool runs(Server &server) {
    return server.host.core().status().state == JobState::Running;
  }

  const TestFolder folder;
  SaveFolder saves = SaveFolder(folder.file("saved"));
  FailurePolicy onFailure = FailurePolicy::Wait;
  RealClock clock;
  std::unique_ptr<Transport> transport = createInProcessTransport(clock);
  const pdl_descriptor *program = programOf(PDL_ROLE_PSERVER);
  const Placement placement =
      *Placement::compute(*program, 2, 1, PlacementPolicy::LeastLoaded);
  const std::vector<std::string> addresses = {"server0", "server1"};
};

} // namespace

TEST_F(ServerSavesTest, RequestsThatDoNotSayTheirJobDoNothing) {
  Server first(*this, 0), second(*this, 1);
  second.saves.poll();
  for (const int32_t to : {0, 1}) {
    for (const json &stranger :
         {json{{"do", "stop"}}, json{{"do", "end"}, {"message", "bye"}},
          json{{"do", "moment"}}, json{{"do", "checkpoint"}},
          json{{"do", "resume"}, {"rank", 7}, {"fault", "bye"}},
          json{{"do", "save"},
               {"folder", folder.file("")},
               {"moment", json::array()}}})
      EXPECT_THAT(send(to, stranger), HasSubstr("refused: the message of a "
                                                "server does not say"))
          << stranger;
    EXPECT_THAT(send(to, json::array()), HasSubstr("refused"));
  }
  const uint64_t run = first.host.jobId();
  EXPECT_THAT(send(0, request("stop", 1, run, "views")),
              HasSubstr("is of another job: its job is \"views\", and that of "
                        "this server \"clicks\""));
  EXPECT_THAT(send(1, request("end", 0, run, "views")),
              HasSubstr("another job"));
  EXPECT_TRUE(runs(first) && runs(second));
}

TEST_F(ServerSavesTest, ServersTakeRequestsOfTheirOthersOnly) {
  Server first(*this, 0), second(*this, 1);
  const uint64_t run = first.host.jobId();
  for (const int64_t from : {int64_t(0), int64_t(2), int64_t(7), int64_t(-1)})
    for (const char *what : {"stop", "resume", "meet"})
      EXPECT_THAT(send(0, request(what, from, run)), HasSubstr("refused"))
          << from << what;
  for (const char *what : {"end", "moment", "save"}) {
    EXPECT_THAT(send(0, request(what, 1, run)), HasSubstr("refused")) << what;
    EXPECT_THAT(send(1, request(what, 1, run)), HasSubstr("refused")) << what;
  }
  // A server that has not met server 0 does nothing yet.
  EXPECT_EQ(json::parse(send(1, request("end", 0, run))).at("run"), 0);
  second.saves.poll();
  EXPECT_THAT(send(1, request("end", 0, run + 1)),
              HasSubstr("server 0 was started anew"));
  EXPECT_TRUE(runs(first) && runs(second));
  const json moment = json::parse(send(1, request("moment", 0, run)));
  EXPECT_EQ(moment.at("run"), run);
  // No step is in the state yet.
  EXPECT_EQ(moment.at("moment"), json::parse("[[0, 0, 0]]"));
  EXPECT_THAT(send(1, request("end", 0, run)), HasSubstr("run"));
  EXPECT_FALSE(runs(second));
  // The state of a failed job is not saved.
  EXPECT_THAT(send(1, request("moment", 0, run)),
              HasSubstr("the job has failed"));
}

TEST_F(ServerSavesTest, NothingIsWrittenOutsideOfTheJobsFolder) {
  Server first(*this, 0), second(*this, 1);
  second.saves.poll();
  const auto save = [&](const std::string &into) {
    json part = request("save", 0, first.host.jobId());
    part["folder"] = into;
    part["moment"] = json::parse("[[0, 0, 0]]");
    std::string written;
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      const json response = json::parse(send(1, part));
      if (response.at("written").is_string())
        return response.at("written").get<std::string>();
    }
    return std::string("never");
  };
  for (const std::string name :
       {"other", "saved/step-1", "saved", "saved/step-1.tmp.1/../../other"}) {
    std::filesystem::create_directories(folder.file("saved/step-1.tmp.1"));
    std::filesystem::create_directories(folder.file(name));
    EXPECT_THAT(save(folder.file(name)), HasSubstr("-server 1: a request"));
    EXPECT_FALSE(
        std::filesystem::exists(folder.file(name) + "/dense-1.safetensors"));
  }
  EXPECT_EQ(save(folder.file("saved/step-1.tmp.1")).front(), '+');
}

TEST_F(ServerSavesTest, JobsThatDoNotWaitTakeNoSaves) {
  onFailure = FailurePolicy::Abort;
  Server first(*this, 0), second(*this, 1);
  second.saves.poll();
  const uint64_t run = first.host.jobId();
  EXPECT_THAT(send(0, request("stop", 1, run)),
              HasSubstr("do not save without trainers"));
  for (const char *what : {"end", "moment", "save"})
    EXPECT_THAT(send(1, request(what, 0, run)),
                HasSubstr("do not save without trainers"));
  EXPECT_TRUE(runs(first) && runs(second));
}

TEST_F(ServerSavesTest, AServerThatIsLeftOverEndsNoLaterServer) {
  saves = SaveFolder();
  auto first = std::make_unique<Server>(*this, 0);
  Server second(*this, 1);
  second.saves.poll();
  DistributedOptions options;
  options.servers = addresses;
  options.job = "clicks";
  options.mayRejoin = true;
  auto joined =
      joinJob(*programOf(PDL_ROLE_TRAINER), options, {1, 0, 0}, *transport);
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  (*joined)->leave(Status::invalidArgument("no data"));
  EXPECT_TRUE(second.host.core().pendingLoss());
  // Server 0 is restarted.
  first.reset();
  first = std::make_unique<Server>(*this, 0);
  second.saves.poll();
  EXPECT_TRUE(runs(*first));
  EXPECT_FALSE(first->host.core().pendingLoss());
  EXPECT_FALSE(runs(second));
  EXPECT_THAT(second.host.core().status().message,
              HasSubstr("server 0 was started anew"));
}
