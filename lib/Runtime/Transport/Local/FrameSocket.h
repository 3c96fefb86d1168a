//===- FrameSocket.h - Messages over one unix socket ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_LOCAL_FRAMESOCKET_H
#define LIB_RUNTIME_TRANSPORT_LOCAL_FRAMESOCKET_H

#include "Transport/Local/SocketLoop.h"
#include "pdlrt/Transport/Transport.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace pdlrt::localimpl {

/// What a socket brings. Called by the loop's thread alone.
class FrameTaker {
public:
  virtual ~FrameTaker();
  /// The first bytes of a message of `size` bytes: `leastFront` of them, or
  /// all. False: its bytes are passed over, and it does not come.
  virtual bool begins(uint64_t call, uint64_t size, const Message &front) = 0;
  virtual void came(uint64_t call, Message message) = 0;
  /// The other end lets the call go.
  virtual void letGo(uint64_t call) = 0;
  /// Memory did not suffice for a message that had begun.
  virtual void lacksMemory(uint64_t call) = 0;
  /// Nothing else comes. Once.
  virtual void closed() = 0;
  /// False: nothing more is read before `FrameSocket::readOn`, or, where too
  /// much waits to be sent (`isCrowded`), before less does. One of both ends
  /// must read on even then. Called with the socket's lock.
  virtual bool isReady(bool isCrowded) = 0;
};

/// Sends and takes messages, each with the number of its call. Both ends begin
/// with a mark. A message travels as the number and its size, 8 bytes each,
/// little-endian, then its bytes; a size of 2^64 - 1 says that the call is let
/// go. One message follows the other. Thread-safe but for what is said. Where
/// there is no memory for a message to be sent, the socket is shut.
class FrameSocket final : public SocketLoop::Watcher,
                          public std::enable_shared_from_this<FrameSocket> {
public:
  /// The loop and what `taker` stands for outlive the last call of `taker`.
  FrameSocket(SocketLoop &loop, Descriptor connected, uint64_t largestMessage);

  /// Begins to read; false: there is no memory.
  bool start(std::weak_ptr<FrameTaker> taker);
  /// Sends a message, at once as far as the system takes it, the rest as it
  /// does. Slices with an owner are held until they are sent; others must stay
  /// until then, or until `keep`. False where the socket is closed.
  bool send(uint64_t call, Message message);
  bool sendLetGo(uint64_t call);
  /// Slices without an owner of what is not sent yet of a call become copies; a
  /// message that has not begun is not sent at all. Where too much would have
  /// to be copied, or there is no memory for it, the socket is shut.
  void keep(uint64_t call);
  /// Whether everything has been handed to the system.
  bool isIdle();
  /// Ends it; `closed` is called later.
  void shut();
  /// Reads again after the taker was not ready.
  void readOn();

  void canRead() override;
  void canWrite() override;
  void hungUp() override;

private:
  enum class Reading { Mark, Head, Bytes, Nothing };
  struct Outgoing {
    uint64_t call;
    /// Mark or head, then the message.
    std::array<std::byte, 16> head;
    size_t headSize;
    Message message;
    /// The next byte: of the head, then of a slice.
    size_t headSent = 0, slice = 0, offset = 0;
  };

  bool enqueue(Outgoing frame);
  void flush(std::list<Outgoing> &sent);
  void advance(size_t count, std::list<Outgoing> &sent);
  bool copyRest(Outgoing &frame, Message &dropped) const;
  bool isCrowded() const;
  void shutWithLock(std::list<Outgoing> &dropped);
  void readOnWithLock();
  void wait();
  void read();
  bool parse(FrameTaker &taker);
  bool takeHead(FrameTaker &taker, bool &more);
  void takeBytes(FrameTaker &taker);
  void growMessage();
  void end();

  SocketLoop &loop;
  const Descriptor socket;
  const uint64_t largestMessage;
  uint64_t number = 0;

  std::mutex mutex;
  /// Shut: nothing is sent any more, and the loop is about to close it, unless
  /// that has stopped.
  bool isShut = false, isClosed = false;
  bool isPaused = false, waitsToWrite = false;
  /// The system had no memory for what was to be sent.
  bool isStarved = false;
  std::list<Outgoing> queue;
  /// Of the messages in the queue.
  size_t queuedBytes = 0;

  // Of the loop's thread.
  std::weak_ptr<FrameTaker> taker;
  Reading reading = Reading::Mark;
  /// Bytes that were read and not looked at yet.
  std::vector<std::byte> stage;
  size_t stageBegin = 0, stageEnd = 0;
  uint64_t call = 0;
  /// Of the current message.
  uint64_t left = 0;
  bool isWanted = false;
  Message message;
  /// The last slice of it, and how much of that has come.
  std::byte *slice = nullptr;
  size_t sliceSize = 0, sliceFilled = 0;
};

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_FRAMESOCKET_H
