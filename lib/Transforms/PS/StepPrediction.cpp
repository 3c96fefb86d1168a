//===- StepPrediction.cpp - Predict the time of a step --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepPrediction.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

/// A positive number in a file, and its destination.
struct Number {
  llvm::StringRef name;
  double *place;
};

} // namespace

static LogicalResult readNumbers(ModuleOp module, llvm::StringRef path,
                                 llvm::StringRef what, llvm::StringRef writer,
                                 llvm::ArrayRef<Number> numbers,
                                 llvm::json::Object *whole = nullptr) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return mlir::emitError(module.getLoc())
           << "ps-report cannot read " << what << " from " << path << ": "
           << buffer.getError().message();
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return mlir::emitError(module.getLoc())
           << path << " is no JSON: " << llvm::toString(value.takeError());
  llvm::json::Object *object = value->getAsObject();
  for (const Number &number : numbers) {
    double found = object ? object->getNumber(number.name).value_or(0) : 0;
    if (!(found > 0))
      return mlir::emitError(module.getLoc())
             << path << " has no positive number \"" << number.name
             << "\"; let " << writer << " write the file";
    *number.place = found;
  }
  if (whole)
    *whole = std::move(*object);
  return success();
}

FailureOr<MachineConstants> pdlc::readMachine(ModuleOp module,
                                              llvm::StringRef path) {
  MachineConstants result;
  if (failed(
          readNumbers(module, path, "machine constants", "pdl-measure",
                      {{"flops_per_second", &result.flops},
                       {"memory_bytes_per_second", &result.memoryBytes},
                       {"network_bytes_per_second", &result.networkBytes},
                       {"round_trip_seconds", &result.roundTrip},
                       {"find_key_seconds", &result.findKey},
                       {"new_key_seconds", &result.newKey},
                       {"new_byte_seconds", &result.newByte},
                       {"message_seconds", &result.message},
                       {"message_byte_seconds", &result.messageByte},
                       {"local_message_seconds", &result.localMessage},
                       {"local_message_byte_seconds", &result.localMessageByte},
                       {"cores", &result.cores},
                       {"process_bytes", &result.processBytes}})))
    return failure();
  return result;
}

FailureOr<MeasuredCosts> pdlc::readCosts(ModuleOp module,
                                         llvm::StringRef path) {
  MeasuredCosts result;
  llvm::json::Object whole;
  if (failed(readNumbers(module, path, "costs of a step",
                         "'trainer train --costs' of mode local",
                         {{"batch_size", &result.batchSize},
                          {"replicas", &result.replicas},
                          {"steps", &result.steps},
                          {"step_seconds", &result.step},
                          {"cpu_seconds", &result.processors},
                          {"resident_bytes", &result.residentBytes}},
                         &whole)))
    return failure();
  // These may be 0 for a model without tables, or one that trains nothing.
  result.apply = whole.getNumber("apply_seconds").value_or(0);
  result.ids = whole.getNumber("ids").value_or(0);
  result.keys = whole.getNumber("keys").value_or(0);
  if (const llvm::json::Object *tables = whole.getObject("table_keys"))
    for (const auto &[name, keys] : *tables)
      result.tableKeys += keys.getAsNumber().value_or(0);
  result.tableBytes = whole.getNumber("table_bytes").value_or(0);
  for (auto [key, number] :
       {std::pair("device_bytes", &result.deviceBytes),
        std::pair("device_table_bytes", &result.deviceTableBytes),
        std::pair("device_bytes_of_sample", &result.deviceBytesOfSample),
        std::pair("device_bytes_of_key", &result.deviceBytesOfKey)}) {
    *number = whole.getNumber(key).value_or(0);
    if (!(*number >= 0))
      return mlir::emitError(module.getLoc())
             << path << " has a " << key
             << " that cannot be; let 'trainer train --costs' write the file";
  }
  if (!(result.apply >= 0) || !(result.ids >= 0) || !(result.keys >= 0) ||
      result.keys > result.ids || !(result.tableKeys >= 0) ||
      !(result.tableBytes >= 0) || result.tableBytes > result.residentBytes)
    return mlir::emitError(module.getLoc())
           << path
           << " has numbers that cannot be: negative ones, more keys than ids, "
              "or tables larger than the process; let 'trainer train --costs' "
              "write the file";
  llvm::StringRef model = whole.getString("model").value_or("");
  if (model != module.getName().value_or("model"))
    return mlir::emitError(module.getLoc())
           << path << " has the costs of model @" << model
           << "; train this one with --mode=local and --costs";
  return result;
}

double pdlc::keyGrowth(const MeasuredCosts &costs, double steps) {
  if (!(costs.keys > 0) || !(costs.tableKeys > costs.keys) || costs.steps < 2)
    return 1;
  const double power =
      std::log(costs.tableKeys / costs.keys) / std::log(costs.steps);
  return std::pow(steps, std::min(power, 1.0));
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// State and gradients are read, and state is written.
static constexpr double kAccesses = 3;
/// Values and rows are copied into a message and out of it.
static constexpr double kCopies = 2;

/// Mode geo: returns how many rows the trainers create in one step that no
/// table of the job has yet.
static double newKeysOfCopies(const JobLoad &job, const MeasuredCosts *costs) {
  if (!job.trainersApply || !costs || costs->steps < 1)
    return 0;
  return costs->tableKeys /
         (costs->steps * costs->batchSize * costs->replicas) *
         double(job.batchSize * job.workers * job.trainers);
}

/// Returns the time to create a row of `bytes` bytes.
static double newRow(double bytes, const MachineConstants &machine) {
  return machine.newKey + bytes * machine.newByte;
}

/// Mode geo: returns the time that the tables of a trainer need for an exchange
/// with `owner`. `made` is the number of rows that are new to the job. The
/// trainer looks up its own keys and those that others have changed. If there
/// are other trainers, it also looks up all of them in its base values, and
/// creates rows: in the base values for all new keys, in the copy for new keys
/// of others. The time includes the allocation of message memory, because that
/// of the previous exchange was released.
static double copyTables(const JobLoad &job, const OwnerLoad &owner,
                         double made, const MachineConstants &machine) {
  const double trainers = double(job.trainers);
  const double ownKeys = owner.keys * machine.findKey;
  const double messages = (owner.bytesIn + owner.bytesOut) * machine.newByte;
  // With a single trainer, its step measurement already includes new rows.
  if (job.trainers == 1 || !(owner.keys > 0))
    return ownKeys + messages;
  const double state = owner.rowBytes / owner.keys,
               value = owner.valueBytes / owner.keys;
  return 2 * (ownKeys + owner.otherKeys * machine.findKey) + messages +
         made * (newRow(value, machine) +
                 (trainers - 1) / trainers * newRow(state, machine));
}

PredictedStep pdlc::predictStep(const JobLoad &job,
                                const MachineConstants &machine,
                                const MeasuredCosts *costs) {
  const double message =
      job.sharesHost ? machine.localMessage : machine.message;
  const double messageByte =
      job.sharesHost ? machine.localMessageByte : machine.messageByte;
  const double senders = double(job.trainers * job.sendersOfTrainer);
  auto copy = [&](double bytes) {
    return 2 * kCopies * bytes / machine.memoryBytes;
  };

  // Time of one worker's batch, its processor time, and the time of the rule.
  // The rule was measured in one process that owns all state.
  double batch = 0, batchProcessors = 0, apply = 0, allBytes = 0;
  for (const OwnerLoad &owner : job.owners)
    allBytes += owner.denseBytes + owner.rowBytes;
  if (costs) {
    const double scale = double(job.batchSize) / costs->batchSize;
    const double found = job.trainersApply ? 0 : costs->keys * machine.findKey;
    apply = costs->apply;
    batch = scale * (costs->step - costs->apply - found);
    batchProcessors =
        scale * (costs->processors - costs->apply - found) / costs->replicas;
  } else {
    batch = batchProcessors =
        job.flopsOfSample * double(job.batchSize) / machine.flops;
    apply = kAccesses * allBytes / machine.memoryBytes;
  }
  if (job.trainersApply) {
    batch += apply;
    batchProcessors += apply;
  }
  const double newKeys = newKeysOfCopies(job, costs);
  double allKeys = 0;
  for (const OwnerLoad &owner : job.owners)
    allKeys += owner.keys;

  // Time of a sender's messages to all owners, and of each owner's work.
  PredictedStep result;
  double sent = 0, ownerAll = 0, ownerMax = 0, linkMax = 0, toOwners = 0;
  for (const OwnerLoad &owner : job.owners)
    toOwners += owner.bytesIn + owner.bytesOut;
  for (const OwnerLoad &owner : job.owners) {
    const double bytes = owner.bytesIn + owner.bytesOut;
    // Messages between a trainer and its own owner do not use a socket.
    const double away = owner.inTrainer ? (senders - 1) / senders : 1;
    const double transport =
        away * (job.messages * message + bytes * messageByte) / 2;
    // Share of the new rows that belongs to this owner.
    const double made = allKeys > 0 ? newKeys * owner.keys / allKeys : 0;
    sent += transport + copy(bytes) +
            (job.trainersApply ? copyTables(job, owner, made, machine) : 0);
    double own =
        senders * (transport + copy(bytes) +
                   (owner.keys + owner.otherKeys) * machine.findKey) +
        (made > 0 ? made * newRow(owner.valueBytes / owner.keys, machine) : 0);
    // The owner adds the gradients, and applies the rule: in a round once to
    // all parameters, without rounds once for each sender. Rows are updated for
    // each sender that used them.
    const double share =
        allBytes > 0 ? apply / allBytes : kAccesses / machine.memoryBytes;
    if (!job.trainersApply) {
      own += share * (owner.denseBytes * (job.stepsAreRounds ? 1 : senders) +
                      owner.rowBytes * senders);
    }
    own += kAccesses * senders * owner.bytesIn / machine.memoryBytes;
    ownerAll += own;
    ownerMax = std::max(ownerMax, own);
    linkMax = std::max(linkMax, owner.inTrainer
                                    ? bytes * (senders - 1) + toOwners - bytes
                                    : bytes * senders);
  }
  const double ownSenders = double(job.sendersOfTrainer);
  result.compute = batch;
  result.network = job.sharesHost ? 0 : linkMax / machine.networkBytes;
  result.roundTrips = job.messages * machine.roundTrip;
  // Without rounds, a sender waits only for its own request.
  result.owner = job.stepsAreRounds ? ownerMax : ownerMax / senders;
  const double trainerProcessors =
      double(job.workers) * batchProcessors + ownSenders * sent;
  result.processors = double(job.trainers) * trainerProcessors + ownerAll;

  const double exchange =
      sent + result.network + result.roundTrips + result.owner;
  result.step = job.isConcurrent ? std::max(result.compute + sent, exchange)
                                 : result.compute + exchange;
  if (!job.sharesHost)
    return result;
  // In rounds, trainers and owners work alternately, and each of the two kinds
  // can use all cores. Without rounds, all processes run at the same time and
  // share the cores.
  const double cores = machine.cores;
  const double busy =
      job.stepsAreRounds
          ? std::max(result.compute + sent,
                     double(job.trainers) * trainerProcessors / cores) +
                result.roundTrips + std::max(ownerMax, ownerAll / cores)
          : result.processors / cores;
  result.limitedByProcessors = busy > result.step;
  result.step = std::max(result.step, busy);
  return result;
}
