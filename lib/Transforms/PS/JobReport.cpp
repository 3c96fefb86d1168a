//===- JobReport.cpp - Report traffic, memory and compute of a job --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementMap.h"
#include "StepPrediction.h"
#include "mlir/Support/FileUtilities.h"
#include "pdlabi/hash.h"
#include "pdlabi/norm.h"
#include "pdlc/Analysis/LookupIds.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ToolOutputFile.h"

namespace pdlc {
#define GEN_PASS_DEF_PSREPORT
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Maximum number of bytes of a table per key, in addition to the rows.
static constexpr int64_t kTableBytesOfKey = 20;
static constexpr int64_t kWireKeyBytes = 8;
/// Bytes of memory for each key that a trainer in mode geo has changed since
/// the last exchange, without its rows. A key is recorded at most twice. A
/// record has two to four index slots of 16 bytes and 20 bytes of positions.
/// The position of the key on its server is added.
static constexpr int64_t kExchangeBytesOfKey = 170;
/// Bytes of memory on a server for each changed key that it must still report
/// to other trainers, and for each key in the response that it is building. The
/// latter keys are in a growing list and, sorted, in a second list of their
/// shard.
static constexpr int64_t kChangedKeyBytes = 8;
static constexpr int64_t kReportedKeyBytes = 32;
/// Sizes of message parts in bytes (docs/Protocol.md). They are the header of a
/// message, the fixed part of its payload header, each size in the payload
/// header, a norm, and the two sums of a loss. Sections are padded to
/// kSectionAlignment.
static constexpr int64_t kEnvelopeBytes = 40;
static constexpr int64_t kPayloadHeadBytes = 16;
static constexpr int64_t kSizeBytes = 8;
static constexpr int64_t kNormBytes = 8;
static constexpr int64_t kLossBytes = 16;
static constexpr int64_t kSectionAlignment = 8;
static constexpr int64_t kWordBytes = 4;
/// Ratio of the memory that is allocated on a device to the memory that a step
/// needs. More is allocated than needed, so that the size soon stops growing
/// (`reserve` of pdlrt/Device/Device.h).
static constexpr double kDeviceRoom = 1.25;

namespace {

/// Properties of a parameter, state or table.
struct SymbolFacts {
  bool isTable = false;
  int64_t rows = 1, rowElements = 1, elementBytes = 4, slots = 0, counts = 0;
  /// Bytes per element of a table's value, as stored in the table.
  int64_t storedBytes = 4;
  /// Number of slots with one element per row, included in `slots`.
  int64_t rowSlots = 0;
  /// `trained` and `read`: the training program updates or reads the symbol.
  /// `clipped`: the norm of a clip includes it.
  bool trained = false, read = false, clipped = false;
  /// True if the server keeps the values that each sender has seen.
  bool seen = false;
  /// Number of ids per sample of a table.
  int64_t idsOfSample = 0;

  int64_t rowBytes() const { return rowElements * elementBytes; }
  /// Returns the bytes of a row's value, as a table stores and sends it. Values
  /// are padded to whole words.
  int64_t valueBytes() const {
    return int64_t(llvm::alignTo(rowElements * storedBytes, kWordBytes));
  }
  /// Returns the bytes of a row's gradient, with the counts that follow it in a
  /// table.
  int64_t gradientBytes() const { return rowBytes() + counts * elementBytes; }
  /// Returns the bytes of a row's value and slots.
  int64_t stateRowBytes() const {
    return valueBytes() +
           ((slots - rowSlots) * rowElements + rowSlots) * elementBytes;
  }
};

/// State of one owner, and traffic between it and one sender.
struct ServerFacts {
  int64_t blocks = 0, shards = 0;
  double stateBytes = 0, bytesOfKey = 0, gradientBytes = 0;
  /// Bytes of values in the last response to a sender. The owner keeps them for
  /// delay compensation.
  double seenBytes = 0;
  /// Bytes of parameters in messages: gradients to the owner, values from the
  /// owner. Nothing of this is sent if devices add the gradients.
  double parameterBytesIn = 0, parameterBytesOut = 0;
  /// Load of an exchange; later divided to give the load of a step.
  OwnerLoad load;
};

struct JobReport : pdlc::impl::PSReportBase<JobReport> {
  using PSReportBase::PSReportBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  LogicalResult checkOptions();
  LogicalResult readConstants();
  LogicalResult collect();
  void distribute();
  double flopsOfSample() const;
  int64_t messagesOfExchange() const;
  /// Returns the number of steps between two exchanges.
  int64_t stepsOfExchange() const { return mode->trainersApply ? geoSteps : 1; }
  bool isConcurrent() const { return pushQueue > 0; }
  void printParameters(raw_ostream &out) const;
  std::string nameOfOwner(int32_t owner) const;
  void printServers(raw_ostream &out) const;
  void printTrainer(raw_ostream &out) const;
  void printDeviceSums(raw_ostream &out, double sent, double received) const;
  double tellingBytes(const ServerFacts &server) const;
  void printMemory(raw_ostream &out) const;
  double deviceMemory() const;
  void printTimes(raw_ostream &out) const;
  JobLoad jobLoad() const;
  int64_t sendersOfTrainer() const { return mode->workersSend ? workers : 1; }
  double keysOfExchange(const SymbolFacts &table) const {
    return double(table.idsOfSample) * double(batchSize) * workers *
           double(stepsOfExchange()) * uniqueShare;
  }
  /// Returns the bytes of memory that an owner needs for each key of `table`.
  int64_t bytesOfKey(const SymbolFacts &table) const {
    return (mode->trainersApply ? table.valueBytes() : table.stateRowBytes()) +
           kTableBytesOfKey;
  }
  double keysOfSender(const SymbolFacts &table) const {
    return keysOfExchange(table) / double(sendersOfTrainer());
  }
  /// Mode geo: returns the number of keys that all other trainers have changed
  /// between two exchanges, as a multiple of the number that one trainer has
  /// changed.
  double keysOfOthers() const {
    const double others = double(trainers - 1);
    return measured && others > 0 ? keyGrowth(*measured, others) : others;
  }
  void addShard(ServerFacts &owner, const SymbolFacts &fact) const;
  /// Adds the bytes of headers, sizes, losses and norms that one sender and
  /// `server` exchange.
  void addSmallParts(ServerFacts &server) const;

  nn::ProgramOp train;
  int64_t clips = 0, channels = 0;
  const ps::ModeProperties *mode = nullptr;
  llvm::DenseMap<StringAttr, SymbolFacts> facts;
  PlacementMap map;
  std::vector<ServerFacts> byServer;
  std::optional<MachineConstants> constants;
  std::optional<MeasuredCosts> measured;
};

} // namespace

static std::string formatBytes(double bytes) {
  const char *unit = "B";
  for (const char *next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024)
      break;
    bytes /= 1024;
    unit = next;
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(unit[0] == 'B' ? "%.0f %s" : "%.1f %s", bytes, unit);
  return text;
}

LogicalResult JobReport::collect() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  auto factsOf = [&](Operation *op, RankedTensorType type, bool isTable,
                     FlatSymbolRefAttr group) {
    SymbolFacts &result = facts[SymbolTable::getSymbolName(op)];
    result.isTable = isTable;
    result.rows = isTable || type.getRank() <= 1 ? 1 : type.getDimSize(0);
    result.rowElements = type.getNumElements() / result.rows;
    result.elementBytes = type.getElementTypeBitWidth() / 8;
    auto table = dyn_cast<nn::TableOp>(op);
    result.storedBytes = table && table.getStored() ? 2 : result.elementBytes;
    if (!group)
      return;
    auto groupOp = symbols.lookup<nn::GroupOp>(group.getValue());
    if (auto rule = symbols.lookup<nn::RuleOp>(groupOp.getRule())) {
      result.rowSlots = static_cast<int64_t>(rule.getRowSlotNames().size());
      result.slots =
          static_cast<int64_t>(rule.getSlotNames().size()) + result.rowSlots;
      result.counts = static_cast<int64_t>(rule.getCountNames().size());
    }
    if (table && table.getAdmitCount())
      ++result.counts;
    if (table && table.getShrinkEvery()) {
      ++result.rowSlots;
      ++result.slots;
    }
  };
  for (Operation &op : *module.getBody()) {
    if (auto param = dyn_cast<nn::ParamOp>(op))
      factsOf(param, cast<RankedTensorType>(param.getType()), false,
              param.getGroupAttr());
    else if (auto state = dyn_cast<nn::StateOp>(op))
      factsOf(state, cast<RankedTensorType>(state.getType()), false, {});
    else if (auto table = dyn_cast<nn::TableOp>(op))
      factsOf(table, table.getRowType(), true, table.getGroupAttr());
  }
  for (auto program : module.getOps<nn::ProgramOp>())
    if (!program.getBody().getOps<nn::UpdateOp>().empty())
      train = program;
  if (!train)
    return emitError(module.getLoc(), "the module has no program that trains: "
                                      "there is no step to report about");
  for (Operation &op : train.getBody().front())
    if (auto update = dyn_cast<nn::UpdateOp>(op)) {
      SymbolFacts &fact = facts[update.getSymbolAttr().getAttr()];
      fact.trained = true;
      fact.seen = update.getSeen();
      channels += mode->trainersApply ? 2 : 1;
    } else if (auto read = dyn_cast<nn::ReadOp>(op)) {
      facts[read.getSymbolAttr().getAttr()].read = true;
      channels += mode->trainersApply ? 0 : 1;
    } else if (auto pull = dyn_cast<nn::PullOp>(op)) {
      SymbolFacts &table = facts[pull.getTableAttr().getAttr()];
      table.read = true;
      table.idsOfSample += idsPerSample(pull);
      channels += 2;
    } else if (auto norm = dyn_cast<nn::SquaredNormOp>(op)) {
      for (Attribute symbol : norm.getSymbols())
        facts[cast<FlatSymbolRefAttr>(symbol).getAttr()].clipped = true;
      ++clips;
      if (!mode->trainersApply)
        channels += 1 + (mode->sendersFormNorms ? 0 : norm.getSymbols().size());
    }
  // The channel of the losses.
  channels += mode->trainersApply ? 0 : 1;
  return success();
}

void JobReport::addSmallParts(ServerFacts &server) const {
  double heads =
      double(messagesOfExchange()) *
      double(kEnvelopeBytes + kPayloadHeadBytes + kSizeBytes * channels);
  server.load.bytesIn += heads;
  server.load.bytesOut += heads;
  if (mode->trainersApply)
    return;
  server.load.bytesIn += kLossBytes + double(kNormBytes * clips);
  // Each response of a step contains the losses, unless the sender knows them.
  if (!isConcurrent())
    server.load.bytesOut += double(kLossBytes * messagesOfExchange());
}

/// Adds one logical shard of a table.
void JobReport::addShard(ServerFacts &owner, const SymbolFacts &fact) const {
  const double keys = keysOfSender(fact) / pdlabi::logicalShardCount;
  OwnerLoad &load = owner.load;
  ++owner.shards;
  owner.bytesOfKey += double(bytesOfKey(fact)) / pdlabi::logicalShardCount;
  load.keys += keys;
  load.bytesIn += keys * kWireKeyBytes;
  if (mode->trainersApply) {
    // A trainer sends its changes. It receives the keys and values that the
    // others have changed; here all trainers are assumed to change different
    // keys.
    load.bytesIn += keys * fact.rowBytes();
    load.otherKeys += keys * keysOfOthers();
    load.valueBytes += keys * fact.valueBytes();
    load.bytesOut +=
        keys * keysOfOthers() * double(kWireKeyBytes + fact.rowBytes());
    load.rowBytes += keys * fact.stateRowBytes();
    return;
  }
  load.bytesOut += keys * fact.valueBytes();
  if (!fact.trained)
    return;
  // A push that is sent separately repeats its keys.
  load.bytesIn += keys * double(fact.gradientBytes() +
                                (isConcurrent() ? kWireKeyBytes : 0));
  load.rowBytes += keys * fact.stateRowBytes();
  owner.seenBytes += fact.seen ? keys * fact.valueBytes() : 0;
  if (fact.clipped && !mode->sendersFormNorms)
    load.bytesOut += kNormBytes;
}

/// Computes, for each owner, the traffic with one sender in a step, the memory
/// that it needs, and the state that it accesses.
void JobReport::distribute() {
  byServer.resize(map.ownerCount());
  for (PlacementMap::Symbol &symbol : map.symbols) {
    const SymbolFacts &fact = facts[symbol.name.getAttr()];
    auto blocks = dyn_cast<ps::BlocksOp>(symbol.units);
    std::vector<int64_t> rowsOn(map.ownerCount());
    for (auto [unit, server] : llvm::enumerate(symbol.owners)) {
      ServerFacts &own = byServer[server];
      if (blocks) {
        int64_t rows = blocks.getRows()[unit + 1] - blocks.getRows()[unit];
        rowsOn[server] += rows;
        ++own.blocks;
        own.stateBytes += double(rows) * fact.stateRowBytes();
        if (fact.trained)
          own.load.denseBytes += double(rows) * fact.stateRowBytes();
        own.seenBytes += fact.seen ? double(rows) * fact.rowBytes() : 0;
        continue;
      }
      addShard(own, fact);
    }
    if (!blocks || !fact.trained)
      continue;
    for (auto [server, rows] : llvm::enumerate(rowsOn)) {
      double section =
          double(llvm::alignTo(rows * fact.rowBytes(), kSectionAlignment));
      ServerFacts &own = byServer[server];
      own.gradientBytes += section;
      own.parameterBytesIn += section;
      // With copies, only values that others have changed are returned.
      if (mode->trainersApply ? trainers > 1 : fact.read)
        own.parameterBytesOut += section;
      if (fact.clipped && !mode->sendersFormNorms)
        own.load.bytesOut +=
            double(kNormBytes * llvm::divideCeil(rows, pdlabi::rowsInNormUnit));
    }
  }
  const double steps = double(stepsOfExchange());
  for (auto [number, server] : llvm::enumerate(byServer)) {
    addSmallParts(server);
    server.load.bytesIn += server.parameterBytesIn;
    server.load.bytesOut += server.parameterBytesOut;
    server.load.inTrainer = int32_t(number) >= map.servers;
    server.load.bytesIn /= steps;
    server.load.bytesOut /= steps;
    server.load.keys /= steps;
    server.load.otherKeys /= steps;
    server.load.valueBytes /= steps;
    server.load.rowBytes /= steps;
  }
}

/// Returns the multiplications and additions of all products per sample.
double JobReport::flopsOfSample() const {
  double flops = 0;
  auto elements = [](Value value) {
    double count = 1;
    for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
      count *= ShapedType::isDynamic(size) ? 1 : double(size);
    return count;
  };
  for (Operation &op : nn::ProgramOp(train).getBody().front()) {
    bool transposed = false;
    if (auto gemm = dyn_cast<nn::GemmOp>(op))
      transposed = gemm.getTransposeLhs();
    else if (auto matmul = dyn_cast<nn::MatmulOp>(op))
      transposed = matmul.getTransposeLhs();
    else
      continue;
    auto lhs = cast<RankedTensorType>(op.getOperand(0).getType());
    int64_t k = lhs.getDimSize(transposed ? 0 : 1);
    flops += 2 * elements(op.getResult(0)) *
             (ShapedType::isDynamic(k) ? 1 : double(k));
  }
  return flops;
}

int64_t JobReport::messagesOfExchange() const {
  if (mode->trainersApply)
    return 1;
  return (!mode->sendersFormNorms && clips > 0) || isConcurrent() ? 2 : 1;
}

void JobReport::printParameters(raw_ostream &out) const {
  out << "\n  symbol                      rows x width     bytes  slots  units "
         " "
         "a step\n";
  for (const PlacementMap::Symbol &symbol : map.symbols) {
    const SymbolFacts &fact = facts.at(symbol.name.getAttr());
    std::string shape = fact.isTable
                            ? "keys x " + std::to_string(fact.rowElements)
                            : std::to_string(fact.rows) + " x " +
                                  std::to_string(fact.rowElements);
    std::string bytes =
        formatBytes(double(fact.rows) *
                    (fact.isTable ? fact.valueBytes() : fact.rowBytes()));
    out << llvm::format("  @%-22s %16s %9s %6d %6d  ",
                        symbol.name.getValue().str().c_str(), shape.c_str(),
                        bytes.c_str(), int(fact.slots),
                        int(symbol.owners.size()));
    if (fact.isTable)
      out << llvm::format("%.0f keys of a trainer; %d bytes of memory a key",
                          keysOfExchange(fact), int(bytesOfKey(fact)));
    else if (!fact.trained)
      out << "nothing: read at the start";
    else
      out << (mode->trainersApply ? "change in, value out"
                                  : "gradient in, value out");
    out << '\n';
  }
}

/// Returns the name, padded to the width of its column.
std::string JobReport::nameOfOwner(int32_t owner) const {
  std::string name;
  llvm::raw_string_ostream text(name);
  if (!mode->trainersOwn())
    text << llvm::format("%6d", owner);
  else if (owner < map.servers)
    text << llvm::format("server %2d", owner);
  else
    text << llvm::format("trainer %1d", owner - map.servers);
  return name;
}

void JobReport::printServers(raw_ostream &out) const {
  out << (mode->trainersOwn() ? "\n      owner" : "\n  server")
      << "  blocks  shards  dense state  a key's bytes  in a step  out a step  "
         "messages\n";
  double most = 0, sum = 0;
  double senders = double(trainers * sendersOfTrainer());
  for (auto [number, server] : llvm::enumerate(byServer)) {
    out << "  " << nameOfOwner(int32_t(number))
        << llvm::format("  %6d  %6d  %11s  %13.1f  %9s  %10s  %8d\n",
                        int(server.blocks), int(server.shards),
                        formatBytes(server.stateBytes).c_str(),
                        server.bytesOfKey,
                        formatBytes(server.load.bytesIn * senders).c_str(),
                        formatBytes(server.load.bytesOut * senders).c_str(),
                        int(messagesOfExchange() * int64_t(senders)));
    double load = double(map.loads[number]);
    most = std::max(most, load);
    sum += load;
  }
  double seen = 0;
  for (const ServerFacts &server : byServer)
    seen = std::max(seen, server.seenBytes * senders);
  if (seen > 0)
    out << "  to compensate delays a server keeps up to " << formatBytes(seen)
        << " of what senders have seen of their last step\n";
  out << llvm::format("  cost of the largest over the mean: %.3f\n",
                      sum > 0 ? most * map.ownerCount() / sum : 1.0);
  out << llvm::format("  digest of the map: %016llx\n",
                      static_cast<unsigned long long>(map.digest));
}

void JobReport::printTrainer(raw_ostream &out) const {
  double dense = 0, rows = 0, received = 0, sent = 0;
  for (auto &[name, fact] : facts) {
    if (fact.isTable)
      rows += keysOfExchange(fact) *
              (fact.valueBytes() + (fact.trained ? fact.gradientBytes() : 0) +
               kWireKeyBytes);
    else
      dense += double(fact.rows) * fact.rowBytes() *
               (1 + (fact.trained ? workers : 0));
  }
  for (const ServerFacts &server : byServer) {
    sent += server.load.bytesIn * double(sendersOfTrainer());
    received += server.load.bytesOut * double(sendersOfTrainer());
  }
  out << "\n  trainer (each)\n"
      << "    memory for parameters and gradients " << formatBytes(dense)
      << ", for the rows of a step " << formatBytes(rows) << '\n'
      << "    sends " << formatBytes(sent) << " a step, receives "
      << formatBytes(received) << ", in "
      << messagesOfExchange() * map.ownerCount() * sendersOfTrainer()
      << " messages"
      << (mode->trainersApply ? " every " + std::to_string(geoSteps) + " steps"
                              : "")
      << llvm::format(" (%.0f and %.0f bytes)\n", sent, received);
  if (mode->parametersWith == pdlabi::OwnerPlace::Trainers)
    printDeviceSums(out, sent, received);
  out << llvm::format("    computes %.0f flops a sample in products\n",
                      flopsOfSample());
}

/// Prints the traffic of a trainer if devices add the gradients
/// (`--device-sums`). The compiler cannot know whether they will: this is
/// decided when trainers start.
void JobReport::printDeviceSums(raw_ostream &out, double sent,
                                double received) const {
  double gradients = 0;
  for (auto &[name, fact] : facts)
    if (!fact.isTable && fact.trained)
      gradients += double(fact.rows * fact.rowBytes());
  for (const ServerFacts &server : byServer) {
    sent -= server.parameterBytesIn;
    received -= server.parameterBytesOut;
  }
  out << "    with --device-sums (all trainers on devices, numerics fast) "
      << formatBytes(gradients)
      << " of gradients go that way instead:\n    it then sends "
      << formatBytes(sent) << " a step, receives " << formatBytes(received)
      << llvm::format(" (%.0f and %.0f bytes)\n", sent, received);
}

JobLoad JobReport::jobLoad() const {
  JobLoad job;
  job.trainers = trainers;
  job.workers = workers;
  job.sendersOfTrainer = sendersOfTrainer();
  job.batchSize = batchSize;
  job.messages = double(messagesOfExchange()) / double(stepsOfExchange());
  job.stepsAreRounds = mode->stepsAreRounds;
  job.trainersApply = mode->trainersApply;
  job.isConcurrent = isConcurrent();
  job.sharesHost = hosts == "shared";
  job.flopsOfSample = flopsOfSample();
  for (const ServerFacts &server : byServer)
    job.owners.push_back(server.load);
  return job;
}

void JobReport::printTimes(raw_ostream &out) const {
  const PredictedStep times =
      predictStep(jobLoad(), *constants, measured ? &*measured : nullptr);
  out << "\n  predicted step, "
      << (hosts == "shared" ? "all processes on one such machine"
                            : "each process on such a machine of its own")
      << '\n';
  for (auto [name, seconds] :
       {std::pair("compute", times.compute),
        std::pair("bytes on the network", times.network),
        std::pair("round trips", times.roundTrips),
        std::pair("the busiest owner", times.owner),
        std::pair("processors, of all processes", times.processors),
        std::pair("from a step to the next", times.step)})
    out << llvm::format("    %-28s %9.1f us\n", name, seconds * 1e6);
  out << llvm::format(
      "    %.0f samples/s of the job%s\n",
      double(trainers) * double(workers) * double(batchSize) / times.step,
      times.limitedByProcessors ? ": its processors are the limit" : "");
}

/// Mode geo: returns the memory that a server needs to report changes to
/// trainers: lists of changed keys, the response that it is building, and the
/// previous response. Returns 0 if there is only one trainer.
double JobReport::tellingBytes(const ServerFacts &server) const {
  if (!mode->trainersApply || trainers < 2)
    return 0;
  const auto ofKey =
      double(trainers * kChangedKeyBytes + (trainers - 1) * kReportedKeyBytes);
  return double(stepsOfExchange()) *
         (server.load.keys * ofKey + server.load.bytesOut);
}

/// Estimates the device memory of a trainer with all its replicas. Scales the
/// measured memory to the batch size and number of keys of this job.
double JobReport::deviceMemory() const {
  double state = 0, values = 0;
  for (auto &[name, fact] : facts) {
    if (fact.isTable)
      continue;
    state += double(fact.rows * fact.stateRowBytes());
    values += double(fact.rows * fact.rowBytes());
  }
  const auto growing = [&](double samples, double keys) {
    return kDeviceRoom * (samples * measured->deviceBytesOfSample +
                          keys * measured->deviceBytesOfKey);
  };
  const double keysBefore = measured->keys / measured->replicas;
  const double keys =
      keysBefore *
      keyGrowth(*measured, double(batchSize) / measured->batchSize);
  const double fixed = std::max(
      0.0, (measured->deviceBytes - measured->deviceTableBytes - state) /
                   measured->replicas -
               growing(measured->batchSize, keysBefore));
  // If the owners are elsewhere, each replica receives values in each step.
  const bool keepsState = mode->parametersWith == pdlabi::OwnerPlace::Trainers;
  return (keepsState ? state : kDeviceRoom * values * workers) +
         workers * (fixed + growing(double(batchSize), keys));
}

/// Prints the memory for tables as large as those of the measured process.
void JobReport::printMemory(raw_ostream &out) const {
  const double tables = measured->tableBytes;
  double most = 0, shards = 0, keptBytes = 0, wholeBytes = 0;
  for (const ServerFacts &server : byServer) {
    shards += double(server.shards);
    keptBytes += server.bytesOfKey;
  }
  for (auto &[name, fact] : facts)
    if (fact.isTable)
      wholeBytes += double(fact.stateRowBytes() + kTableBytesOfKey);
  // With copies, servers store values without slots.
  const double kept = wholeBytes > 0 ? tables * keptBytes / wholeBytes : 0;
  double inTrainer = 0;
  for (auto [number, server] : llvm::enumerate(byServer)) {
    const double senders = double(trainers * sendersOfTrainer());
    // An owner holds state, the sums of a step, and for each sender the last
    // received and sent message. While it builds new messages, the previous
    // ones still exist. In mode geo, messages are freed immediately.
    const double own =
        server.stateBytes + server.gradientBytes +
        (shards > 0 ? kept * double(server.shards) / shards : 0) +
        (mode->trainersApply ? 1 : 2) * senders *
            (server.load.bytesIn + server.load.bytesOut) *
            double(stepsOfExchange()) +
        tellingBytes(server);
    if (server.load.inTrainer)
      inTrainer = std::max(inTrainer, own);
    else
      most = std::max(most, constants->processBytes + own);
  }
  double trainer = measured->residentBytes + inTrainer;
  if (!mode->trainersApply) {
    trainer -= tables;
  } else {
    // In mode geo, a trainer sends all changes of its copy at once. They are
    // the differences from the values that it received last, which it also
    // keeps.
    for (const ServerFacts &server : byServer)
      trainer += (2 * (server.load.bytesIn + server.load.bytesOut) +
                  server.load.keys * double(kExchangeBytesOfKey)) *
                 double(stepsOfExchange());
    if (trainers > 1)
      for (auto &[name, fact] : facts)
        if (fact.trained)
          // The base values are a separate table without slots.
          trainer += fact.isTable
                         ? tables *
                               double(fact.valueBytes() + kTableBytesOfKey) /
                               double(fact.stateRowBytes() + kTableBytesOfKey)
                         : 2.0 * double(fact.rows * fact.rowBytes());
  }
  out << "\n  predicted memory, of tables as large as those measured\n";
  if (most > 0)
    out << "    the largest server  " << formatBytes(most) << '\n';
  out << "    a trainer           " << formatBytes(trainer) << '\n';
  if (measured->deviceBytes > 0)
    out << "    its device          " << formatBytes(deviceMemory()) << '\n';
}

LogicalResult JobReport::readConstants() {
  if (costs.empty() && uniqueShare == 0)
    uniqueShare = 1;
  if (!machine.empty()) {
    FailureOr<MachineConstants> found =
        pdlc::readMachine(getOperation(), machine);
    if (failed(found))
      return failure();
    constants = *found;
  }
  if (costs.empty())
    return success();
  if (!constants)
    return mlir::emitError(
        getOperation().getLoc(),
        "ps-report: costs of a step need the machine's constants too: give "
        "machine=FILE, which pdl-measure writes");
  FailureOr<MeasuredCosts> found = readCosts(getOperation(), costs);
  if (failed(found))
    return failure();
  measured = *found;
  if (uniqueShare == 0 && measured->ids > 0)
    uniqueShare = measured->keys / measured->ids *
                  keyGrowth(*measured, double(stepsOfExchange())) /
                  double(stepsOfExchange());
  return success();
}

LogicalResult JobReport::checkOptions() {
  ModuleOp module = getOperation();
  if (trainers < 1 || workers < 1 || batchSize < 0 || geoSteps < 1 ||
      !(uniqueShare >= 0) || uniqueShare > 1)
    return mlir::emitError(
        module.getLoc(),
        "ps-report: trainers, workers, batch-size and geo-steps are at least "
        "1, unique-share is at least 0 and at most 1");
  if (hosts != "own" && hosts != "shared")
    return mlir::emitError(module.getLoc(),
                           "ps-report: hosts is 'own' or 'shared', not '")
           << hosts << "'";
  mode = &ps::getMode(module);
  if (pushQueue > 0 && !(mode->workersSend && !mode->stepsAreRounds))
    return mlir::emitError(module.getLoc(),
                           "ps-report: push-queue is for mode async, not for ")
           << mode->name;
  return success();
}

LogicalResult JobReport::run() {
  ModuleOp module = getOperation();
  if (failed(checkOptions()) || failed(readConstants()))
    return failure();
  if (batchSize == 0)
    batchSize =
        measured ? int64_t(measured->batchSize) : pdlabi::defaultBatchSize;
  if (failed(PlacementMap::compute(
          module, servers < 0 ? std::nullopt : std::optional<int32_t>(servers),
          trainers, policy, map)))
    return failure();
  if (failed(collect()))
    return failure();
  distribute();
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file)
    return mlir::emitError(module.getLoc()) << "ps-report: " << message;
  raw_ostream &out = file->os();
  out << "model @" << module.getName().value_or("model") << ", mode "
      << mode->name << ", " << trainers << " trainers of " << workers
      << " workers, batch " << batchSize << ", " << map.servers
      << " servers, policy " << policy << '\n';
  printParameters(out);
  printServers(out);
  printTrainer(out);
  if (constants)
    printTimes(out);
  if (measured)
    printMemory(out);
  file->keep();
  return success();
}
