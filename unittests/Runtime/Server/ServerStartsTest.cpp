//===- ServerStartsTest.cpp - Restarts of trainers, and waiting -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoreFixture.h"
#include "Support/IdleProcess.h"
#include "pdlrt/Protocol/JoinResponse.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Seconds = std::chrono::seconds;

/// End of the status of a job that waits for trainer 1, which has failed.
static constexpr char remedy[] =
    "; start trainer 1 again, or stop the job by SIGTERM to any process";

TEST_F(ServerCoreTest, ASecondProcessOfARankIsRefusedUnderAbort) {
  core();
  joinAll();
  EXPECT_EQ(
      join(1, 2).text(),
      "a second start of trainer 1 is refused: the earlier one joined 0 s "
      "ago and was heard of 0 s ago; does a second process run as rank "
      "1, or another job at these addresses? A trainer that died cannot "
      "rejoin under --on-failure=abort");
  EXPECT_EQ(join(1, 0).text(),
            "a start of trainer 1 is refused: a later one has joined; does a "
            "second process run as rank 1?");
  // The first process continues.
  exchange(0, 1, "a");
  EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ab");
}

TEST_F(ServerCoreTest, ANewStartGoesOnUnderWait) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  const Reply old = exchange(1, 2, "d");
  leave(1, "killed");
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_EQ(core().waitingFor(), "waiting for the exchange of trainer 0 (0 s; "
                                 "trainer 1 failed: killed)" +
                                     std::string(remedy));

  const Reply joined = join(1, 5);
  EXPECT_EQ(joined.head().sequence, 3u);
  EXPECT_EQ(old.text(),
            "this start of trainer 1 is over: a later one has joined");
  // The head says so too, without the number of the later incarnation.
  EXPECT_EQ(old.head().incarnation, incarnationOfReplaced);
  EXPECT_EQ(beat(1).head().incarnation, incarnationOfReplaced);
  EXPECT_THAT(exchange(1, 2, "d").text(), HasSubstr("this start of trainer 1"));
  EXPECT_THAT(leave(1, "late").text(), HasSubstr("this start of trainer 1"));
  // The restarted trainer requests its last response, and repeats its request
  // of the round.
  EXPECT_EQ(exchange(1, 1, "", 5).text(), "1 reads ab");
  const Reply again = exchange(1, 2, "d", 5);
  EXPECT_FALSE(again.came());
  exchange(0, 2, "c");
  EXPECT_EQ(again.text(), "1 reads cd");
  EXPECT_EQ(again.head().incarnation, 5u);
  EXPECT_EQ(application->rounds, 2);
}

//===----------------------------------------------------------------------===//
// Processes without an incarnation
//===----------------------------------------------------------------------===//

constexpr auto judged = StartSign::Claim::Judged;

TEST_F(ServerCoreTest, AGreetingChangesNothing) {
  options.firstIncarnation = 70;
  core();
  const Reply greeted = ask(0, {1, judged});
  EXPECT_EQ(greeted.kind(), MessageKind::Response);
  EXPECT_EQ(greeted.head(), (Envelope{MessageKind::Response, 0, 0, 0, 70, 0}));
  EXPECT_THAT(application->calls, IsEmpty());
  EXPECT_THAT(exchange(0, 1, "a", 70).text(), HasSubstr("has not joined"));
  EXPECT_EQ(ask(0, {1, judged}, 0, "bad").text(), "model A is not model B");
  EXPECT_EQ(ask(0, {1, judged}, 70).text(), "welcome");
  EXPECT_EQ(ask(0, {2, judged}).kind(), MessageKind::Refusal);
}

// Other servers may take time to load.
TEST_F(ServerCoreTest, WhoGreetsIsNotLate) {
  options.joinLimit = Seconds(60);
  options.trainers = 1;
  core();
  for (int minute = 0; minute < 30; ++minute) {
    advance(Seconds(50));
    ASSERT_EQ(ask(0, {1, judged}).kind(), MessageKind::Response);
  }
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(62));
  EXPECT_THAT(core().status().message, HasSubstr("did not join"));
}

TEST_F(ServerCoreTest, ASecondStartIsRefusedWhileTheFirstBeats) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  advance(Seconds(20));
  beat(1);
  Reply second;
  for (int turn = 0; turn < 4; ++turn) {
    second = ask(1, {2, judged});
    EXPECT_EQ(second.kind(), MessageKind::Wait);
    EXPECT_THAT(second.sign().message,
                HasSubstr("whether the earlier start of trainer 1 lives"));
    advance(Seconds(1));
    beat(1);
  }
  second = ask(1, {2, judged});
  EXPECT_EQ(second.text(),
            "a second start of trainer 1 is refused: the earlier one joined 24 "
            "s ago and was heard of 0 s ago; end that process first, or give "
            "this job addresses of its own");
  // The first process continues.
  exchange(0, 1, "a");
  EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ab");
}

TEST_F(ServerCoreTest, ASecondStartIsLetInAfterASilence) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  // A message that was in flight when its sender died does not count as a sign
  // of life.
  ask(1, {2, judged});
  advance(Seconds(2));
  beat(1);
  for (int second = 0; second < 10; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Wait);
    EXPECT_EQ(ask(1, {2, judged}, 2).kind(), MessageKind::Wait);
  }
  advance(Seconds(3));
  EXPECT_EQ(ask(1, {2, judged}).head().sequence, 2u);
  // A Greet does not replace the process that has joined.
  EXPECT_EQ(beat(1).kind(), MessageKind::Response);
  EXPECT_EQ(ask(1, {2, judged}, 2).kind(), MessageKind::Refusal);
  advance(Seconds(13));
  EXPECT_EQ(ask(1, {2, judged}, 2).text(), "welcome");
  EXPECT_THAT(beat(1).text(), HasSubstr("this start of trainer 1 is over"));
  EXPECT_EQ(beat(1, 2).kind(), MessageKind::Response);
}

TEST_F(ServerCoreTest, OfTwoStartsThatComeAtOnceOneIsLetIn) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  leave(1, "killed");
  EXPECT_EQ(ask(1, {2, judged}).head().sequence, 2u);
  EXPECT_EQ(ask(1, {3, judged}).head().sequence, 2u);
  EXPECT_EQ(ask(1, {3, judged}, 2).text(), "welcome");
  // A copy of its join, and the join of the other process.
  EXPECT_EQ(ask(1, {3, judged}, 2).text(), "welcome");
  EXPECT_THAT(ask(1, {2, judged}, 2).text(),
              HasSubstr("a later one has joined"));
  // Other servers follow the decision of the first one.
  EXPECT_EQ(ask(1, {4, StartSign::Claim::Decided}, 3).text(), "welcome");
}

TEST_F(ServerCoreTest, AStartThatTakesNobodysPlace) {
  options.onFailure = FailurePolicy::Wait;
  core();
  const StartSign brief = {2, StartSign::Claim::OnlyIfFirst};
  EXPECT_EQ(ask(1, brief).kind(), MessageKind::Response);
  joinAll();
  advance(Seconds(60));
  EXPECT_EQ(ask(1, brief).text(), "a start of trainer 1 has joined before");
  leave(1, "killed");
  EXPECT_EQ(ask(1, brief, 2).kind(), MessageKind::Refusal);
}

TEST_F(ServerCoreTest, AProcessOfThisHostThatLivesIsNotReplaced) {
  options.onFailure = FailurePolicy::Wait;
  core();
  const IdleProcess process;
  ASSERT_EQ(join(0).text(), "welcome");
  ASSERT_EQ(ask(1, {1, judged, process.identity()}, 1).text(), "welcome");
  const Reply second = ask(1, {2, judged, ProcessIdentity::ofThisProcess()});
  EXPECT_THAT(second.text(),
              HasSubstr("the earlier one, process " +
                        std::to_string(process.identity().number) +
                        " of the server's host, joined"));
  process.end();
  EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Response);
  EXPECT_EQ(ask(1, {2, judged}, 2).text(), "welcome");
}

// The advice only mentions what is known about the process.
TEST_F(ServerCoreTest, AProcessThatIsStoppedIsNotStartedAgain) {
  const IdleProcess process;
  const std::string number = std::to_string(process.identity().number);
  options.onFailure = FailurePolicy::Wait;
  core();
  ASSERT_EQ(join(0).text(), "welcome");
  ASSERT_EQ(ask(1, {1, judged, process.identity()}, 1).text(), "welcome");
  exchange(0, 1, "a");
  advance(Seconds(13));
  beat(0);
  EXPECT_EQ(core().waitingFor(),
            "waiting for the exchange of trainer 1 (13 s; trainer 1 was not "
            "heard of for 13 s: process " +
                number +
                " of this host is alive); find out what trainer 1 waits for, "
                "or stop the job by SIGTERM to any process");
  process.suspend();
  EXPECT_EQ(core().waitingFor(),
            "waiting for the exchange of trainer 1 (13 s; trainer 1 was not "
            "heard of for 13 s: process " +
                number +
                " of this host is stopped (SIGSTOP)); continue trainer 1 by "
                "SIGCONT to process " +
                number + ", or stop the job by SIGTERM to any process");
  process.end();
  advance(Seconds(1));
  EXPECT_EQ(core().waitingFor(),
            "waiting for the exchange of trainer 1 (14 s; trainer 1 has died: "
            "there is no process " +
                number +
                " on this host); start trainer 1 again, or stop the job by "
                "SIGTERM to any process");
}

// The join was in flight when the process died, long before the silence limit.
TEST_F(ServerCoreTest, ATrainerThatDiedBeforeItsJoinCameIsKnownToBeDead) {
  IdleProcess process;
  const StartSign start = {1, judged, process.identity()};
  process.end();
  core();
  ASSERT_EQ(ask(1, start, 1).text(), "welcome");
  advance(Seconds(1));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(core().status().message, HasSubstr("trainer 1 has died"));

  // The next process need not wait for the silence limit.
  server.reset();
  options.onFailure = FailurePolicy::Wait;
  core();
  ASSERT_EQ(ask(1, start, 1).text(), "welcome");
  EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Response);
  EXPECT_EQ(ask(1, {2, judged}, 2).text(), "welcome");
}

// No training is lost: another process may join, and the waiting ones learn
// why.
TEST_F(ServerCoreTest, AStartThatDiedBeforeItJoinedIsNamed) {
  core();
  join(0);
  const IdleProcess process;
  const uint32_t number = process.identity().number;
  ask(1, {1, judged, process.identity()});
  process.end();
  advance(Seconds(1));
  EXPECT_EQ(core().waitingFor(),
            "waiting for trainer 1 to join (1 s, at most 600 s; the last start "
            "of trainer 1 has died before it joined: there is no process " +
                std::to_string(number) + " on this host)");
  EXPECT_EQ(core().status().state, JobState::Running);
  const IdleProcess next;
  const StartSign start = {2, judged, next.identity()};
  ask(1, start);
  EXPECT_EQ(core().waitingFor(),
            "waiting for trainer 1 to join (1 s, at most 600 s)");
  EXPECT_EQ(ask(1, start, 1).text(), "welcome");
  next.end();
}

// Waiting for something that cannot come would never end.
TEST_F(ServerCoreTest, ANewStartThatCannotGoOnFailsTheJob) {
  options.onFailure = FailurePolicy::Wait;
  options.restartsContinue = false;
  core();
  joinAll();
  // If there was no request yet, a restarted process can replace the first one.
  join(1, 4);
  EXPECT_EQ(core().status().state, JobState::Running);
  exchange(0, 1, "a");
  exchange(1, 1, "b", 4);
  const Reply open = exchange(0, 2, "c");
  EXPECT_THAT(join(1, 5).text(), HasSubstr("trainer 1 was started anew"));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(open.text(), HasSubstr("start all again, with --resume"));
}

// All servers are greeted; otherwise only the first one would be joined.
TEST_F(ServerCoreTest, AGreetingOfOneThatCannotGoOnFailsTheJob) {
  options.onFailure = FailurePolicy::Wait;
  options.restartsContinue = false;
  core();
  for (const uint32_t rank : {0, 1})
    EXPECT_EQ(ask(rank, {rank + 1, judged}, 1).text(), "welcome");
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  leave(0);
  // A trainer that is done does not continue, and no process waits for it.
  EXPECT_EQ(ask(0, {7, judged}).kind(), MessageKind::Response);
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(20));
  EXPECT_THAT(ask(1, {8, judged}).text(),
              HasSubstr("trainer 1 was started anew"));
  EXPECT_EQ(core().status().state, JobState::Failed);
}

// Another server may have failed the job, and all processes that knew this have
// ended.
TEST_F(ServerCoreTest, AnAbandonedJobThatCannotGoOnFails) {
  options.onFailure = FailurePolicy::Wait;
  options.abandonLimit = std::chrono::minutes(30);
  for (const bool goesOn : {false, true})
    for (const ClockTime silence : {Seconds(10), Seconds(0)}) {
      options.restartsContinue = goesOn;
      options.silenceLimit = silence;
      core();
      joinAll();
      exchange(0, 1, "a");
      advance(std::chrono::minutes(29));
      beat(1);
      advance(std::chrono::minutes(29));
      EXPECT_EQ(core().status().state, JobState::Running);
      advance(std::chrono::minutes(2));
      EXPECT_EQ(core().status().state,
                goesOn ? JobState::Running : JobState::Failed);
      if (!goesOn)
        EXPECT_THAT(core().status().message,
                    HasSubstr("no trainer is left: trainer 0 was not "
                              "heard of for 3"));
      server.reset();
    }
}

TEST_F(ServerCoreTest, WhoFailedAndCannotGoOnIsNotWaitedFor) {
  options.onFailure = FailurePolicy::Wait;
  options.restartsContinue = false;
  core();
  joinAll();
  // The trainer has sent nothing, so its next process can replace it.
  leave(1, "no data");
  EXPECT_EQ(core().status().state, JobState::Running);
  join(1, 4);
  exchange(1, 1, "b", 4);
  // A silence may end.
  advance(Seconds(60));
  EXPECT_EQ(core().status().state, JobState::Running);
  leave(1, "the disk is full", 4);
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_EQ(core().status().message, "trainer 1 failed: the disk is full");

  server.reset();
  core();
  IdleProcess process;
  ask(0, {1, judged, process.identity()}, 1);
  join(1);
  exchange(0, 1, "a");
  process.end();
  advance(Seconds(1));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(core().status().message,
              AllOf(HasSubstr("trainer 0 has died"),
                    HasSubstr("start all again, with --resume")));
}

// The process may have programs of another version, or may not belong to the
// job.
TEST_F(ServerCoreTest, WhoIsRefusedIsWaitedForForAMinute) {
  for (const FailurePolicy policy :
       {FailurePolicy::Abort, FailurePolicy::Wait}) {
    options.onFailure = policy;
    server.reset();
    core();
    ask(0, {1, judged}, 0, "bad");
    advance(Seconds(70));
    EXPECT_EQ(core().status().state, JobState::Running) << "of no job";
    application->guessesRefused = true;
    ask(0, {2, judged}, 0, "bad");
    ask(1, {3, judged}, 0, "bad");
    EXPECT_THAT(core().waitingFor(),
                HasSubstr("a start of trainer 0 was refused: model A is not"));
    advance(Seconds(59));
    EXPECT_EQ(core().status().state, JobState::Running);
    // This is the right process.
    ask(0, {4, judged});
    ask(1, {5, judged});
    advance(Seconds(70));
    EXPECT_EQ(core().status().state, JobState::Running);
    ask(0, {6, judged}, 0, "bad");
    ask(1, {7, judged}, 0, "bad");
    advance(Seconds(62));
    EXPECT_EQ(core().status().state, JobState::Failed);
    EXPECT_EQ(core().status().message,
              "trainer 0 was refused, and no other start of it has come since: "
              "model A is not model B");
  }
}

TEST_F(ServerCoreTest, AServerWithoutTrainersEndsUnderWaitToo) {
  options.onFailure = FailurePolicy::Wait;
  core();
  advance(options.joinLimit - Seconds(1));
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(2));
  EXPECT_THAT(core().status().message, HasSubstr("trainer 0 did not join"));
  server.reset();
  core();
  join(1);
  advance(2 * options.joinLimit);
  EXPECT_EQ(core().status().state, JobState::Running);
}

// A process that has died needs no notification.
TEST_F(ServerCoreTest, AnIncarnationThatHasDiedNeedsNoResponse) {
  core();
  IdleProcess process;
  ask(1, {1, judged, process.identity()});
  join(0);
  leave(0, "no data");
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_FALSE(core().allNotified());
  process.end();
  EXPECT_TRUE(core().allNotified());
}

TEST_F(ServerCoreTest, ATrainerThatDiedWhileLeavingRejoinsUnderWait) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  leave(1);
  // A late copy of its join changes nothing.
  EXPECT_EQ(join(1).text(), "welcome");
  EXPECT_EQ(exchange(1, 2, "c").text(), "trainer 1 has left this job");
  EXPECT_EQ(join(1, 2).head().sequence, 2u);
  leave(0);
  EXPECT_EQ(core().status().state, JobState::Running);
  leave(1, "", 2);
  EXPECT_EQ(core().status().state, JobState::Finished);
}

TEST_F(ServerCoreTest, ANewStartGetsTheNotesOfTheEarlierOne) {
  options.onFailure = FailurePolicy::Wait;
  options.trainers = 1;
  core();
  joinAll();
  for (const uint64_t sequence : {1, 2, 3}) {
    const Reply reply;
    core().handle(
        joinFrame({MessageKind::Exchange, 0, 0, 1, sequence, 0},
                  Message::ofString("a"),
                  Message::ofString("note " + std::to_string(sequence))),
        reply.responder());
    EXPECT_EQ(reply.text(), "0 reads a");
  }
  const auto said = decodeJoinResponse(join(0, 2).note());
  ASSERT_TRUE(said.ok());
  ASSERT_EQ(said->notes.size(), options.keptResponses);
  EXPECT_EQ(said->notes.back().sequence, 3u);
  EXPECT_EQ(said->notes.back().note.toString(), "note 3");
}

TEST_F(ServerCoreTest, AfterAllHaveFailedNothingIsAwaited) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  leave(1, "server 3 is lost");
  EXPECT_EQ(core().status().state, JobState::Running);
  leave(0, "server 3 is gone");
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_EQ(core().status().message, "trainer 0 failed: server 3 is gone");
}

// An example is another --on-failure.
TEST_F(ServerCoreTest, WhoIsRefusedIsWaitedForUnlessAllAre) {
  options.onFailure = FailurePolicy::Wait;
  core();
  application->knowsRefused = true;
  EXPECT_EQ(ask(1, {1, judged}, 0, "bad").text(), "model A is not model B");
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_EQ(core().waitingFor(),
            "waiting for trainers 0 and 1 to join (0 s, at most 600 s; trainer "
            "1 was refused: model A is not model B)");
  // Another process of that rank is accepted.
  EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Response);
  ask(0, {3, judged}, 0, "bad");
  EXPECT_EQ(core().status().state, JobState::Running);
  ask(1, {4, judged}, 0, "bad");
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_EQ(core().status().message,
            "trainer 1 was refused: model A is not model B");
}

TEST_F(ServerCoreTest, AFailedTrainerIsWaitedForWhereOthersAreDone) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  leave(1, "killed");
  leave(0);
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_EQ(core().waitingFor(),
            std::string("waiting: trainer 1 failed: killed") + remedy);
  join(1, 2);
  leave(1, "", 2);
  EXPECT_EQ(core().status().state, JobState::Finished);
}

TEST_F(ServerCoreTest, AServerGivesUpByItself) {
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  core().fail(Status::unavailable("server 0 was told to stop"));
  EXPECT_EQ(open.text(), "server 0 was told to stop");
  EXPECT_FALSE(core().allNotified());
  EXPECT_EQ(beat(1).text(), "server 0 was told to stop");
  EXPECT_FALSE(core().allNotified());
  leave(0);
  leave(1);
  EXPECT_TRUE(core().allNotified());
}

// If trainers own state, the trainer in the owner's process sends no further
// requests.
TEST_F(ServerCoreTest, ATrainerOfItsOwnProcessNeedsNoResponse) {
  core();
  join(0);
  const Reply greeted = ask(1, {1, judged});
  core().failWithTrainer(1, Status::unavailable("owner 0 is lost"));
  EXPECT_EQ(core().status().message, "trainer 1 failed: owner 0 is lost");
  EXPECT_FALSE(core().allNotified());
  leave(0);
  EXPECT_TRUE(core().allNotified());
}

TEST_F(ServerCoreTest, TheEndLetsOpenRequestsGo) {
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  server.reset();
  EXPECT_FALSE(open.came());
  // Remaining timers have no effect.
  advance(Seconds(60));
}

} // namespace
