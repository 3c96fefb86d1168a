//===- Report.cpp - What a job will move, hold and compute ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LookupIds.h"
#include "PlacementMap.h"
#include "mlir/Support/FileUtilities.h"
#include "pdlabi/hash.h"
#include "pdlabi/norm.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

namespace pdlc {
#define GEN_PASS_DEF_PSREPORT
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Bytes of a table beside its rows, for each key, at the most.
static constexpr int64_t kTableBytesOfKey = 20;
static constexpr int64_t kKeyBytes = 8;
/// docs/Protocol.md: the head of a message, the fixed part of a payload's head,
/// a size in it, a norm, the sums of losses; sections are padded.
static constexpr int64_t kEnvelopeBytes = 40;
static constexpr int64_t kPayloadHeadBytes = 16;
static constexpr int64_t kSizeBytes = 8;
static constexpr int64_t kNormBytes = 8;
static constexpr int64_t kLossBytes = 16;
static constexpr int64_t kSectionAlignment = 8;
static constexpr int64_t kWordBytes = 4;

namespace {

/// What is known of a parameter, state or table.
struct SymbolFacts {
  bool isTable = false;
  int64_t rows = 1, rowElements = 1, elementBytes = 4, slots = 0, counts = 0;
  /// Of an element of a table's value, where the table is.
  int64_t storedBytes = 4;
  /// Of the slots those of one element a row.
  int64_t rowSlots = 0;
  /// Whether @train updates it, reads it, and whether a clip's norm takes it.
  bool trained = false, read = false, clipped = false;
  /// Whether its server keeps what each sender has seen of it.
  bool seen = false;
  /// Table: ids of a sample.
  int64_t idsOfSample = 0;

  int64_t rowBytes() const { return rowElements * elementBytes; }
  /// As a table holds it and answers with it: whole words.
  int64_t valueBytes() const {
    return int64_t(llvm::alignTo(rowElements * storedBytes, kWordBytes));
  }
  /// Of a table, behind the gradient of each row its counts.
  int64_t gradientBytes() const { return rowBytes() + counts * elementBytes; }
  /// Of a row's value and slots.
  int64_t stateRowBytes() const {
    return valueBytes() +
           ((slots - rowSlots) * rowElements + rowSlots) * elementBytes;
  }
};

/// State of one owner, and bytes between it and one sender.
struct ServerFacts {
  int64_t blocks = 0, shards = 0;
  double stateBytes = 0, bytesOfKey = 0, bytesIn = 0, bytesOut = 0,
         touchedBytes = 0;
  /// Of what one sender has seen, for one step.
  double seenBytes = 0;
};

/// What `pdl-measure` finds.
struct Machine {
  double flops = 0, memoryBytes = 0, networkBytes = 0, roundTrip = 0;
};

struct Report : pdlc::impl::PSReportBase<Report> {
  using PSReportBase::PSReportBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  LogicalResult readMachine();
  LogicalResult collect();
  void distribute();
  double flopsOfSample() const;
  int64_t messagesOfStep() const;
  void printParameters(raw_ostream &out) const;
  std::string nameOfOwner(int32_t owner) const;
  double bytesOfLink() const;
  void printServers(raw_ostream &out) const;
  void printTrainer(raw_ostream &out) const;
  void printTimes(raw_ostream &out, const Machine &on) const;
  int64_t sendersOfTrainer() const { return mode->workersSend ? workers : 1; }
  double keysOfStep(const SymbolFacts &table) const {
    return double(table.idsOfSample) * double(batchSize) * workers *
           uniqueShare;
  }
  double keysOfSender(const SymbolFacts &table) const {
    return keysOfStep(table) / double(sendersOfTrainer());
  }
  /// Heads, sizes, losses and norms of a step, of one sender and server.
  void addSmallParts(ServerFacts &server) const;

  nn::ProgramOp train;
  int64_t clips = 0, channels = 0;
  const ps::ModeProperties *mode = nullptr;
  llvm::DenseMap<StringAttr, SymbolFacts> facts;
  PlacementMap map;
  std::vector<ServerFacts> byServer;
  std::optional<Machine> constants;
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

LogicalResult Report::collect() {
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
      facts[update.getSymbolAttr().getAttr()].trained = true;
      facts[update.getSymbolAttr().getAttr()].seen = update.getSeen();
      ++channels;
    } else if (auto read = dyn_cast<nn::ReadOp>(op)) {
      facts[read.getSymbolAttr().getAttr()].read = true;
      ++channels;
    } else if (auto pull = dyn_cast<nn::PullOp>(op)) {
      SymbolFacts &table = facts[pull.getTableAttr().getAttr()];
      table.read = true;
      table.idsOfSample += idsPerSample(pull);
      channels += 2;
    } else if (auto norm = dyn_cast<nn::SquaredNormOp>(op)) {
      for (Attribute symbol : norm.getSymbols())
        facts[cast<FlatSymbolRefAttr>(symbol).getAttr()].clipped = true;
      ++clips;
      channels += 1 + (mode->sendersFormNorms ? 0 : norm.getSymbols().size());
    }
  // The losses'.
  ++channels;
  return success();
}

void Report::addSmallParts(ServerFacts &server) const {
  double heads =
      double(messagesOfStep()) *
      double(kEnvelopeBytes + kPayloadHeadBytes + kSizeBytes * channels);
  server.bytesIn += heads + kLossBytes + double(kNormBytes * clips);
  // Each answer of a step says the losses.
  server.bytesOut += heads + double(kLossBytes * messagesOfStep());
}

/// Bytes of one sender's step, and what a server holds and touches.
void Report::distribute() {
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
          own.touchedBytes += double(rows) * fact.stateRowBytes();
        own.seenBytes += fact.seen ? double(rows) * fact.rowBytes() : 0;
        continue;
      }
      double keys = keysOfSender(fact) / pdlabi::logicalShardCount;
      ++own.shards;
      own.bytesOfKey += double(fact.stateRowBytes() + kTableBytesOfKey) /
                        pdlabi::logicalShardCount;
      own.bytesIn += keys * kKeyBytes;
      own.bytesOut += keys * fact.valueBytes();
      if (fact.trained) {
        own.bytesIn += keys * fact.gradientBytes();
        own.touchedBytes += keys * fact.stateRowBytes();
        own.seenBytes += fact.seen ? keys * fact.valueBytes() : 0;
        if (fact.clipped && !mode->sendersFormNorms)
          own.bytesOut += kNormBytes;
      }
    }
    if (!blocks || !fact.trained)
      continue;
    for (auto [server, rows] : llvm::enumerate(rowsOn)) {
      double section =
          double(llvm::alignTo(rows * fact.rowBytes(), kSectionAlignment));
      byServer[server].bytesIn += section;
      byServer[server].bytesOut += fact.read ? section : 0;
      if (fact.clipped && !mode->sendersFormNorms)
        byServer[server].bytesOut +=
            double(kNormBytes * llvm::divideCeil(rows, pdlabi::rowsInNormUnit));
    }
  }
  for (ServerFacts &server : byServer)
    addSmallParts(server);
}

/// Multiplications and additions of all products for one sample.
double Report::flopsOfSample() const {
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

int64_t Report::messagesOfStep() const {
  return !mode->sendersFormNorms && clips > 0 ? 2 : 1;
}

void Report::printParameters(raw_ostream &out) const {
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
      out << llvm::format("%.0f keys of a trainer", keysOfStep(fact));
    else
      out << (fact.trained ? "gradient in, value out"
                           : "nothing: read at the start");
    out << '\n';
  }
}

/// As wide as the head of its column.
std::string Report::nameOfOwner(int32_t owner) const {
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

/// Bytes of a step that pass the link of the process with most of them.
double Report::bytesOfLink() const {
  auto both = [](const ServerFacts &owner) {
    return owner.bytesIn + owner.bytesOut;
  };
  double most = 0, all = 0;
  for (const ServerFacts &owner : byServer)
    all += both(owner);
  for (auto [number, owner] : llvm::enumerate(byServer)) {
    double senders = double(trainers * sendersOfTrainer());
    // What a trainer says to its own owner stays in the process; what it says
    // to others goes over the same link as what they say to its owner.
    most =
        std::max(most, int32_t(number) < map.servers
                           ? both(owner) * senders
                           : both(owner) * (senders - 1) + all - both(owner));
  }
  return most;
}

void Report::printServers(raw_ostream &out) const {
  out << (mode->trainersOwn() ? "\n      owner" : "\n  server")
      << "  blocks  shards  dense state  a key's bytes  in a step  out a step  "
         "messages\n";
  double most = 0, sum = 0;
  double senders = double(trainers * sendersOfTrainer());
  for (auto [number, server] : llvm::enumerate(byServer)) {
    out << "  " << nameOfOwner(int32_t(number))
        << llvm::format(
               "  %6d  %6d  %11s  %13.1f  %9s  %10s  %8d\n", int(server.blocks),
               int(server.shards), formatBytes(server.stateBytes).c_str(),
               server.bytesOfKey, formatBytes(server.bytesIn * senders).c_str(),
               formatBytes(server.bytesOut * senders).c_str(),
               int(messagesOfStep() * int64_t(senders)));
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

void Report::printTrainer(raw_ostream &out) const {
  double dense = 0, rows = 0, received = 0, sent = 0;
  for (auto &[name, fact] : facts) {
    if (fact.isTable)
      rows += keysOfStep(fact) *
              (fact.valueBytes() + (fact.trained ? fact.gradientBytes() : 0) +
               kKeyBytes);
    else
      dense += double(fact.rows) * fact.rowBytes() *
               (1 + (fact.trained ? workers : 0));
  }
  for (const ServerFacts &server : byServer) {
    sent += server.bytesIn * double(sendersOfTrainer());
    received += server.bytesOut * double(sendersOfTrainer());
  }
  out << "\n  trainer (each)\n"
      << "    memory for parameters and gradients " << formatBytes(dense)
      << ", for the rows of a step " << formatBytes(rows) << '\n'
      << "    sends " << formatBytes(sent) << " a step, receives "
      << formatBytes(received) << ", in "
      << messagesOfStep() * map.ownerCount() * sendersOfTrainer() << " messages"
      << llvm::format(" (%.0f and %.0f bytes)\n", sent, received)
      << llvm::format("    computes %.0f flops a sample in products\n",
                      flopsOfSample());
}

/// Takes the parts of a step as one after the other, and a core for each
/// worker.
void Report::printTimes(raw_ostream &out, const Machine &on) const {
  double bytes = bytesOfLink(), touched = 0;
  for (const ServerFacts &server : byServer)
    touched = std::max(touched, server.touchedBytes);
  double compute = flopsOfSample() * double(batchSize) / on.flops;
  double network = bytes / on.networkBytes;
  double latency = double(messagesOfStep()) * on.roundTrip;
  // Each byte of state is read and written; gradients are read.
  double apply = 3 * touched * (mode->stepsAreRounds ? 1 : trainers * workers) /
                 on.memoryBytes;
  double sum = compute + network + latency + apply;
  out << "\n  predicted time of a step, its parts one after the other, on such "
         "machines\n";
  for (auto [name, seconds] : {std::pair("compute", compute),
                               std::pair("bytes on the network", network),
                               std::pair("round trips", latency),
                               std::pair("apply on the largest server", apply)})
    out << llvm::format("    %-28s %9.1f us  %5.1f %%\n", name, seconds * 1e6,
                        sum > 0 ? 100 * seconds / sum : 0.0);
}

LogicalResult Report::readMachine() {
  if (machine.empty())
    return success();
  ModuleOp module = getOperation();
  auto buffer = llvm::MemoryBuffer::getFile(machine);
  if (!buffer)
    return module.emitError() << "ps-report cannot read machine constants from "
                              << machine << ": " << buffer.getError().message();
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return module.emitError()
           << machine << " is no JSON: " << llvm::toString(value.takeError());
  Machine &result = constants.emplace();
  const llvm::json::Object *object = value->getAsObject();
  for (auto [name, place] :
       {std::pair("flops_per_second", &result.flops),
        std::pair("memory_bytes_per_second", &result.memoryBytes),
        std::pair("network_bytes_per_second", &result.networkBytes),
        std::pair("round_trip_seconds", &result.roundTrip)}) {
    double number = object ? object->getNumber(name).value_or(0) : 0;
    if (!(number > 0))
      return module.emitError() << machine << " has no positive number \""
                                << name << "\"; let pdl-measure write the file";
    *place = number;
  }
  return success();
}

LogicalResult Report::run() {
  ModuleOp module = getOperation();
  if (trainers < 1 || workers < 1 || batchSize < 1 || !(uniqueShare > 0) ||
      uniqueShare > 1)
    return module.emitError(
        "ps-report: trainers, workers and batch-size are at least 1, "
        "unique-share is above 0 and at most 1");
  if (failed(readMachine()))
    return failure();
  mode = &ps::getMode(module);
  if (failed(PlacementMap::compute(
          module, servers < 0 ? std::nullopt : std::optional<int32_t>(servers),
          trainers, policy, map)))
    return failure();
  if (mode->trainersApply)
    return module.emitError()
           << "ps-report does not predict mode " << mode->name
           << ", in which a step takes no message: what an exchange carries "
              "depends on the rows that the steps before it touched";
  if (failed(collect()))
    return failure();
  distribute();
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file)
    return module.emitError() << "ps-report: " << message;
  raw_ostream &out = file->os();
  out << "model @" << module.getName().value_or("model") << ", mode "
      << mode->name << ", " << trainers << " trainers of " << workers
      << " workers, batch " << batchSize << ", " << map.servers
      << " servers, policy " << policy << '\n';
  printParameters(out);
  printServers(out);
  printTrainer(out);
  if (constants)
    printTimes(out, *constants);
  file->keep();
  return success();
}
