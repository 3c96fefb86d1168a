//===- KeyText.h - Keys given as text ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_KEYTEXT_H
#define PDL_TOOLS_PDL_CHECKPOINT_KEYTEXT_H

#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Flags that say how a text becomes a key.
struct KeyFlags {
  std::optional<uint64_t> salt;
  bool isReady = false;
};

/// Returns the rows of the flag table that set `flags`.
std::vector<pdlrt::Flag> keyFlags(KeyFlags &flags);

/// Conversion of texts to keys of one table.
class KeyTexts {
public:
  /// Uses the description in the checkpoint of how fields become keys of
  /// `table`. Returns an error if `flags` contradict it, or if it has several
  /// ways and `flags` choose none.
  static pdlrt::Expected<KeyTexts> of(const pdlrt::CheckpointManifest &manifest,
                                      const std::string &table,
                                      const KeyFlags &flags);

  /// Returns the key of a text. Blanks around the text are ignored. Returns an
  /// error if the text must be an integer and is none.
  pdlrt::Expected<int64_t> keyOf(const std::string &text) const;
  /// Describes where keys come from, for messages such as "key 7, NOTE".
  const std::string &note() const { return description; }

private:
  /// Salt of hashed texts; nullopt: texts are integers.
  std::optional<uint64_t> salt;
  std::string description;
};

#endif // PDL_TOOLS_PDL_CHECKPOINT_KEYTEXT_H
