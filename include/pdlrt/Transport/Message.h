//===- Message.h - Messages as lists of slices ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message is a list of slices of memory. So rows and blocks can be sent
// without copying them into one piece. The boundaries of slices have no
// meaning: a transport may split and join slices.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_MESSAGE_H
#define PDLRT_TRANSPORT_MESSAGE_H

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// A range of bytes, and the owner of their memory. If `owner` is null, the
/// memory must stay unchanged until the call that sends it has ended. Copies of
/// a slice refer to the same bytes.
struct MessageSlice {
  const std::byte *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

/// The bytes of a request or response, or of a part of it, as a list of slices.
/// Copies of a message refer to the same bytes.
class Message {
public:
  Message() = default;
  /// Returns a message with one slice that owns `content`.
  static Message ofString(std::string content) {
    auto owner = std::make_shared<const std::string>(std::move(content));
    Message message;
    message.append({reinterpret_cast<const std::byte *>(owner->data()),
                    owner->size(), owner});
    return message;
  }

  void append(MessageSlice slice) {
    byteCount += slice.size;
    sliceList.push_back(std::move(slice));
  }
  const std::vector<MessageSlice> &slices() const { return sliceList; }
  /// Returns the number of bytes in all slices.
  size_t size() const { return byteCount; }
  /// Returns all bytes in one string.
  std::string toString() const {
    std::string content;
    content.reserve(byteCount);
    for (const MessageSlice &slice : sliceList)
      content.append(reinterpret_cast<const char *>(slice.data), slice.size);
    return content;
  }

private:
  std::vector<MessageSlice> sliceList;
  size_t byteCount = 0;
};

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_MESSAGE_H
