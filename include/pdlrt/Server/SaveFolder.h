//===- SaveFolder.h - Where a server may write checkpoints ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SAVEFOLDER_H
#define PDLRT_SERVER_SAVEFOLDER_H

#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// The one folder below which a server writes its parts of checkpoints: that of
/// its own flag; without one, that which the job's first trainer names when it
/// joins, where not everybody can join. Not thread-safe.
class SaveFolder {
public:
  /// Nowhere, until a trainer names a folder.
  SaveFolder() = default;
  /// Below `folder`; an empty one is nowhere, for good.
  explicit SaveFolder(const std::string &folder);

  /// Parts may be written below `folder` as well (--emergency-checkpoint).
  void allowAlso(const std::string &folder);

  /// Why a trainer that writes checkpoints to `folder` cannot join; an empty
  /// one writes none.
  Status check(const std::string &folder) const;
  /// That trainer has joined.
  void take(const std::string &folder);
  /// Why parts must not be written into `folder`.
  Status allows(const std::string &folder) const;

private:
  bool isOpen = true;
  /// Without links; empty: nowhere.
  std::string root;
  /// The other one, if there is one.
  std::string otherRoot;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SAVEFOLDER_H
