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
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Transport/Transport.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace pdlrt::localimpl {

/// Receives the messages of a socket. Called only by the loop's thread.
class FrameTaker {
public:
  virtual ~FrameTaker();
  /// Called when a message of `size` bytes begins. `front`: the first
  /// `minFront` bytes of the message, or all of it if it is shorter. If the
  /// function returns false, the message is skipped.
  virtual bool begins(uint64_t call, uint64_t size, const Message &front) = 0;
  virtual void came(uint64_t call, Message message) = 0;
  /// Called when the other side has dropped the call.
  virtual void letGo(uint64_t call) = 0;
  /// Called if there is not enough memory for a message that has begun.
  virtual void lacksMemory(uint64_t call) = 0;
  /// Called once, after all other functions.
  virtual void closed() = 0;
  /// Returns false to pause reading. Reading continues when
  /// `FrameSocket::readOn` is called. If it was paused because too much data
  /// waits to be sent (`isCrowded`), it also continues when less data waits.
  /// One of the two sides must always continue to read, or both would wait
  /// forever. Called with the socket's mutex locked.
  virtual bool isReady(bool isCrowded) = 0;
};

/// Sends and receives messages over a socket. Each message belongs to a call,
/// which has a number. First, each side sends a magic number. A message is sent
/// as the number of its call and its size (8 bytes each, little-endian),
/// followed by its bytes. In place of a message, the size 2^64 - 1 means that
/// the call is dropped. Messages are sent one after the other. If memory for a
/// message to be sent is exhausted, the socket is shut. Thread-safe unless
/// noted otherwise.
class FrameSocket final : public SocketLoop::Watcher,
                          public std::enable_shared_from_this<FrameSocket> {
public:
  /// `loop`, and the object to which the `taker` of `start` refers, must
  /// outlive the last call of that object.
  FrameSocket(SocketLoop &loop, Descriptor connected, uint64_t largestMessage);

  /// Starts to read. Returns false if memory is exhausted.
  bool start(std::weak_ptr<FrameTaker> taker);
  /// Sends a message: as many bytes as the system accepts at once, and the rest
  /// later. Slices with an owner are kept until they are sent. Other slices
  /// must stay valid until then, or until `keep` is called. Returns false if
  /// the socket is closed.
  bool send(uint64_t call, Message message);
  bool sendLetGo(uint64_t call);
  /// Copies the unsent slices of a call's message that have no owner, so that
  /// the caller may free them. If no byte of the message was sent, drops it. If
  /// there is too much to copy, or memory is exhausted, shuts the socket.
  void keep(uint64_t call);
  /// Returns true if all bytes have been passed to the system.
  bool isIdle();
  /// Ends the socket; `closed` is called later.
  void shut();
  /// Continues reading after the receiver was not ready.
  void readOn();

  void canRead() override;
  void canWrite() override;
  void hungUp() override;

private:
  enum class Reading { Mark, Head, Bytes, Nothing };
  struct Outgoing {
    uint64_t call;
    /// Magic number or header, then the message.
    std::array<std::byte, 16> head;
    size_t headSize;
    Message message;
    /// The next byte: of the header, then of a slice.
    size_t headSent = 0, slice = 0, offset = 0;
  };

  bool enqueue(Outgoing frame);
  void flush(std::list<Outgoing> &sent) PDLRT_REQUIRES(mutex);
  void advance(size_t count, std::list<Outgoing> &sent) PDLRT_REQUIRES(mutex);
  bool copyRest(Outgoing &frame, Message &dropped) const;
  bool isCrowded() const PDLRT_REQUIRES(mutex);
  void shutWithLock(std::list<Outgoing> &dropped) PDLRT_REQUIRES(mutex);
  void readOnWithLock() PDLRT_REQUIRES(mutex);
  void wait() PDLRT_REQUIRES(mutex);
  void read();
  bool parse(FrameTaker &taker);
  bool takeHead(FrameTaker &taker, bool &more);
  void takeBytes(FrameTaker &taker);
  void growMessage();
  void end();

  SocketLoop &loop;
  const Descriptor socket;
  const uint64_t largestMessage;

  Mutex mutex;
  /// Number of the socket in the loop.
  uint64_t number PDLRT_GUARDED_BY(mutex) = 0;
  /// `isShut`: nothing more is sent, and the loop will close the socket soon,
  /// unless the loop has stopped. `isClosed`: the socket is closed.
  bool isShut PDLRT_GUARDED_BY(mutex) = false, isClosed
                                               PDLRT_GUARDED_BY(mutex) = false;
  bool isPaused PDLRT_GUARDED_BY(mutex) = false, waitsToWrite PDLRT_GUARDED_BY(
                                                     mutex) = false;
  /// True if the system had no memory for data to be sent.
  bool isStarved PDLRT_GUARDED_BY(mutex) = false;
  std::list<Outgoing> queue PDLRT_GUARDED_BY(mutex);
  /// Bytes of the messages in the queue.
  size_t queuedBytes PDLRT_GUARDED_BY(mutex) = 0;

  // Used only by the loop's thread.
  std::weak_ptr<FrameTaker> taker;
  Reading reading = Reading::Mark;
  /// Bytes that were read but not parsed yet.
  std::vector<std::byte> stage;
  size_t stageBegin = 0, stageEnd = 0;
  uint64_t call = 0;
  /// Remaining bytes of the current message.
  uint64_t left = 0;
  bool isWanted = false;
  Message message;
  /// `slice`: last slice of `message`. `sliceSize`: its size. `sliceFilled`:
  /// number of bytes received.
  std::byte *slice = nullptr;
  size_t sliceSize = 0, sliceFilled = 0;
};

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_FRAMESOCKET_H
