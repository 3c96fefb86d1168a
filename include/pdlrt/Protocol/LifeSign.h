//===- LifeSign.h - What processes say of themselves ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_LIFESIGN_H
#define PDLRT_PROTOCOL_LIFESIGN_H

#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"

#include <string>

namespace pdlrt {

/// What helps where a process is lost for which nobody waits.
inline constexpr const char *startAllAgain =
    "Start all trainers and servers again, with --resume where there is a "
    "checkpoint";

/// The payload of a Beat and of its answer, and of a Wait, with which a server
/// that cannot take a join yet says that it lives.
struct LifeSign {
  /// Whether somebody of the job was asked to stop, as far as the sender knows.
  bool stop = false;
  /// Of servers: who or what is waited for, such as "waiting for trainer 1 to
  /// join (5 s)"; empty if nobody is.
  std::string sentence = {};
  /// The sender, for receivers on its host.
  ProcessIdentity process = {};
};

/// The sentence as it may travel: of at most 64 KiB, else its begin and dots.
/// No character is cut in two.
std::string cutToFit(const std::string &sentence);

/// The sentence is cut to fit.
Message encodeLifeSign(const LifeSign &sign);
/// An error where the bytes are none.
Expected<LifeSign> decodeLifeSign(const Message &message);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_LIFESIGN_H
