//===- StateServer.h - The state that a server owns -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server's part of a program's state, and what requests do to it: in rounds,
// or one by one, as the mode says. The payloads are those of docs/Protocol.md.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_STATESERVER_H
#define PDLRT_SERVER_STATESERVER_H

#include "pdlrt/Core/BufferPool.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Protocol/ReadCodec.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Server/SaveFolder.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Server/ServerCosts.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/State/PreparedRows.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/RunningSum.h"

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// What flags say of who waits for whom; of modes that ask.
struct StepBounds {
  /// The most steps that a sender may be ahead of the slowest; none: no bound.
  std::optional<int64_t> staleness = std::nullopt;
  /// How many trainers close a round; none: all.
  std::optional<uint32_t> quorum = std::nullopt;
  LateGradients late = LateGradients::Count;
};

/// What a server is made of. References outlive it.
struct ServerSetup {
  /// Of role pserver; has passed `checkDescriptor`.
  const pdl_descriptor &descriptor;
  const Placement &placement;
  /// Its own view of the job: rank (`serverRank`), trainers, seed, job.
  Handshake handshake;
  Scheduler &scheduler;
  SaveFolder saves = {};
  StepBounds bounds = {};
  /// For its handshake; the caller bounds the tables.
  TableBound tableBound = {};
};

/// What all modes share: joins, pulls of frozen programs, sums over trainers.
/// Calls come one at a time.
class StateServer : public ServerApplication, private PreparedRows {
public:
  ~StateServer() override;

  /// Its part of the state.
  Model &model() { return ownModel; }
  const Handshake &handshake() const { return own; }
  /// The run goes on from a checkpoint of that many steps. Before any join.
  void setStartStep(int64_t steps) { own.startStep = steps; }
  /// How many workers each trainer has; of what was 0 before. The first trainer
  /// that joins says it.
  void setWorkers(int64_t workers);
  /// Its state is that of a checkpoint, which a save may follow as changes
  /// (`saveNameOf`). Before any join.
  void setSavedAs(std::string name) { savedAs = std::move(name); }
  /// Other values than the initial ones were loaded, of which trainers that
  /// hold values do not know. Before any join; throws std::bad_alloc.
  virtual void noteLoaded() {}
  /// What steps have cost so far. Not while a call is under way.
  const ServerCosts &costs() const { return ownCosts; }

  Expected<Message> greet(const Envelope &request,
                          const Message &payload) override;
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override;
  bool isOfJob(const Message &handshake) const override;
  bool mayBeOfJob(const Message &handshake) const override;
  Expected<Message> answerVisit(const Message &payload) override;
  Expected<Message> answerRead(const Message &payload) override;
  Expected<StepFacts> check(const Envelope &request,
                            const Message &payload) override;
  Expected<Message> handle(const Envelope &request, Message payload) override;
  Status take(const Envelope &request, Message payload, Turn turn) override;
  Status closeRound(MessageKind kind) override;
  Expected<std::vector<Message>>
  answer(std::span<const Envelope> requests) override;

protected:
  /// Which keys a sender's last request carried, and the row of each.
  struct Pulled {
    /// -1: none.
    int32_t program = -1;
    std::shared_ptr<const ExchangeMessage> message;
    /// By channel: of KEYS, the row of each key; of ROW_GRADIENT, where each
    /// row of the gradient is.
    std::vector<std::vector<void *>> rows;
    /// By channel of KEYS: rows that were made for these keys.
    std::vector<std::vector<TableRow>> fresh;

    int64_t keyCount(int32_t channel) const {
      return int64_t(message->sectionOf<int64_t>(channel).size());
    }
  };
  /// Keys that one task looks up or copies.
  static constexpr int64_t keysInTask = 1024;
  /// Copies of parameters' blocks for the answers of one moment, by symbol.
  using Snapshot = std::vector<std::shared_ptr<std::byte>>;
  /// What an answer says of a step.
  struct StepOutcome {
    bool applied = false;
    /// By objective; none: LOSS is not part of the answer.
    std::optional<std::vector<ObjectiveSums>> sums;
    bool stop = false;
    bool save = false;
    uint32_t contributors = 0;

    void setSums(const Contribution &merged) {
      if (merged.present)
        sums = merged.objectives;
    }
  };
  /// What a sender was answered of the symbols whose groups compensate delays:
  /// what it computes its next step on.
  struct Seen {
    /// Its request, with the keys.
    std::shared_ptr<const ExchangeMessage> message;
    /// By channel of KEYS: the value of each row.
    std::vector<std::shared_ptr<std::byte>> rows;
    /// By symbol: a parameter's blocks.
    Snapshot values;
    int64_t bytes = 0;
  };
  /// Whom to answer, and what it is to get.
  struct StateFor {
    Pulled *pulled;
    /// Whether it wants all blocks.
    bool allValues;
    const StepOutcome *outcome;
    /// Where what it will have seen is put; null: not asked for.
    Seen *seen = nullptr;
    /// Whether it has all parameters itself.
    bool withoutParameters = false;
  };

  explicit StateServer(const ServerSetup &setup);

  /// A step's request of one sender. Errors leave everything as it was.
  virtual Status checkStep(const Envelope &request, ExchangeMessage message,
                           const ExchangeLayout &layout) = 0;
  virtual Status takeStep(const Envelope &request, Turn turn) = 0;
  virtual Status closeStep(MessageKind kind) = 0;
  virtual Expected<std::vector<Message>>
  answerSteps(std::span<const Envelope> requests) = 0;

  /// What to say where memory did not suffice for what it `did`.
  Status outOfMemory(const std::bad_alloc &error, const std::string &did) const;
  int32_t rank() const { return int32_t(own.serverRank); }
  /// In messages: "server 1".
  std::string name() const { return placement.nameOf(rank()); }
  uint32_t trainers() const { return uint32_t(own.trainers); }
  /// How many rows each channel of a request must have, after `pulled`.
  std::vector<int64_t> pushedRows(const ExchangeLayout &layout,
                                  const Pulled &pulled) const;
  /// The same of a request with keys of its own, whose bytes are not checked
  /// yet.
  static std::vector<int64_t> pushedRows(const ExchangeLayout &layout,
                                         const ExchangeMessage &message);
  /// What a checked message contributes; borrows it and `pulled`.
  Contribution contributionOf(const ExchangeLayout &layout,
                              const ExchangeMessage &message, Pulled &pulled);
  /// Ends the sum of what a step of a program is given, and takes it up in the
  /// program's updater where it is to be applied; an error where it must not
  /// be. Throws std::bad_alloc.
  Expected<Contribution> closeSum(RunningSum &sum, int32_t program);
  /// Finds or makes the rows of all keys. Changes nothing that can be read, so
  /// an error may come in the middle.
  Status insertKeys(const std::vector<Pulled *> &senders);
  /// The keys of steps whose gradients have not been applied. Call only between
  /// requests.
  virtual std::vector<const Pulled *> pendingKeys() const = 0;
  /// After an update: rows that were made for the next step are as new again,
  /// in tables of which each update changes all rows. Throws nothing.
  void renewRows(const Pulled &pulled);
  /// The answers State to senders whose keys have rows.
  std::vector<Message> answerState(const ExchangeLayout &layout,
                                   const std::vector<StateFor> &to);
  /// Adds the blocks of a VALUE channel to an answer, as they are now.
  void addValues(const ExchangeLayout &layout, int32_t channel, bool frozen,
                 Snapshot &snapshot, ExchangeWriter &writer);
  /// The update of a program that a symbol belongs to; -1 if there is none.
  int32_t updateOf(const ExchangeLayout &layout, int32_t symbol) const;

  const pdl_descriptor &descriptor;
  const Placement &placement;
  Scheduler &scheduler;
  /// Modes add what they do to these; a part begins with each request.
  ServerCosts ownCosts;
  Stopwatch stopwatch;
  Model ownModel;
  BufferPool pool;
  /// By program of the descriptor.
  std::vector<ExchangeLayout> layouts;
  std::vector<std::vector<GradientBlock>> blocks;
  std::vector<std::unique_ptr<Updater>> updaters;

private:
  friend Expected<std::unique_ptr<StateServer>>
  createStateServer(const ServerSetup &setup);
  /// An error where the program's channels are not understood.
  Status prepare();
  /// A range of the keys of one channel of one sender.
  struct KeyTask {
    size_t sender;
    int32_t channel;
    int64_t begin, end;
    /// Rows that were made.
    std::vector<TableRow> fresh;
  };
  void listPrepared(const Visit &visit) const override;
  /// Returns the rows of a table that were made for `pendingKeys`, in lists
  /// that are not empty. Call only between requests. Throws std::bad_alloc.
  std::vector<std::span<const TableRow>> preparedRows(int32_t symbol) const;
  bool updatesAllRows(int32_t symbol) const;
  /// The trainer's handshake, where it fits this server.
  Expected<Handshake> compare(const Envelope &request,
                              const Message &payload) const;
  Message ownHandshake() const;
  void insertRange(KeyTask &task, Pulled &pulled, TableScratch &own,
                   Status &status);
  void beginRequest(const Message &payload);
  /// A request, taken apart and unpacked.
  Expected<ExchangeMessage>
  decodeRequest(const Message &payload, const ExchangeLayout &layout,
                const std::vector<bool> &scattered) const;
  Expected<StepFacts> checkPayload(const Envelope &request,
                                   const Message &payload);
  void endRequest(const std::vector<Message> &answers);
  /// Runs `step`; an error where memory does not suffice for what it `did`.
  template <typename Step>
  auto withMemory(const std::string &did, Step step) -> decltype(step());
  void splitKeys(const std::vector<Pulled *> &senders);
  static void noteSeen(const std::shared_ptr<std::byte> &buffer, size_t bytes,
                       std::shared_ptr<std::byte> &place, Seen &seen);
  Message pull(const ExchangeMessage &message, const ExchangeLayout &layout);
  /// Reads a table as a save of this moment would hold it: calls found(i, row)
  /// for each key, from several threads. `row` is null if the key has no row,
  /// or a prepared one that nobody has used or changed. The last call for a key
  /// counts. Throws std::bad_alloc.
  template <typename Found>
  void findForReading(int32_t symbol, std::span<const int64_t> keys,
                      Found found);
  /// What readers are told of, made when the first one asks.
  const ServerContents &contents();
  std::vector<OwnedBytes> heldParameters();
  Status checkSave(const Envelope &request, const Message &payload) const;
  /// Parts of a checkpoint that are written beside steps.
  struct Saving;
  template <typename Write>
  Message saveInto(const std::string &folder, Write write);
  SavedRows rowsOf(const SaveRequest &request);
  void endSaving();
  Message save(const SaveRequest &request);
  Message beginSave(const SaveRequest &request);
  Message askSave(const std::string &folder) const;
  Status checkReduce(const Envelope &request, const Message &payload);
  void closeReduce();

  Handshake own;
  SaveFolder saves;
  /// Trainers that have joined.
  std::set<uint32_t> started;
  /// When the first request of a step came, and the last one.
  Stopwatch::Time firstRequest, lastRequest;
  double cpuBefore = 0;
  std::vector<KeyTask> keyTasks;
  std::vector<TableScratch> scratch;
  std::vector<Status> statuses;
  /// By trainer, of the current round.
  std::vector<std::unique_ptr<ReduceVectors>> reduced;
  /// The answer of the round of sums that was closed last.
  Message reducedSum;
  /// The save, or checkpoint, since which rows say whether they have changed;
  /// empty: they do not.
  std::string savedAs;
  std::optional<ServerContents> ownContents;
  /// Of the last request to begin one; ends before all else here.
  std::unique_ptr<Saving> saving;
};

/// The server of the descriptor's mode, with initial values.
Expected<std::unique_ptr<StateServer>>
createStateServer(const ServerSetup &setup);

} // namespace pdlrt

#endif // PDLRT_SERVER_STATESERVER_H
