//===- EventFile.h - Event files of TensorBoard -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_EVENTFILE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_EVENTFILE_H

#include "Programs/Trainer/EventSummary.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace pdlrt {

/// An event file of TensorBoard (--tensorboard; docs/TensorBoard.md). If the
/// file cannot be written, it is closed with a warning, and the program
/// continues. All functions but `open` do nothing if no file is open. Not
/// thread-safe.
class EventFile {
public:
  EventFile() = default;
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;
  ~EventFile() { close(); }

  /// Creates the folder if it does not exist, and a new file in it. Files of
  /// earlier runs stay. `resumedSteps`: number of steps that a training has
  /// done before; viewers then hide what earlier files have of later steps.
  /// Nullopt: viewers show all of it.
  Status open(const std::string &folder, std::optional<int64_t> resumedSteps);
  bool isOpen() const { return file != nullptr; }
  /// Writes the values of a step, and passes them to the operating system.
  /// Does nothing if there are none.
  void write(int64_t step, const EventSummary &summary);
  void close();

private:
  Status writeEvent(int64_t step, uint64_t field, const std::string &content);
  Status check(bool good);
  void note(const Status &status);

  std::FILE *file = nullptr;
  std::string path;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_EVENTFILE_H
