//===- FrameSocket.cpp - Messages over one unix socket --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Local/FrameSocket.h"

#include "Transport/Local/EnoughMemory.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <limits>
#include <new>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::localimpl;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the wire is little-endian");

/// Bytes that both sides send first.
static constexpr char mark[8] = {'P', 'D', 'L', 'U', 'N', 'I', 'X', '1'};
static constexpr size_t headSize = 2 * sizeof(uint64_t);
/// Size of the buffer for headers and small messages. Large messages have
/// memory of their own.
static constexpr size_t stageSize = size_t(16) << 10;
/// Maximum number of bytes that are allocated before the data for them arrives.
static constexpr size_t largestSlice = size_t(64) << 20;
/// Maximum number of bytes that are read before other sockets are served.
static constexpr size_t readAtOnce = size_t(8) << 20;
/// Requested size of the system's buffer for a socket, which the system may
/// limit. With a large buffer, fewer switches between threads are needed for a
/// large message.
static constexpr int socketBuffer = 4 << 20;
static constexpr size_t maxPieces = 64;
static_assert(maxPieces <= IOV_MAX);
/// An impossible message size: the server has dropped the call.
static constexpr uint64_t noMessage = std::numeric_limits<uint64_t>::max();
/// If more data waits to be sent, the socket counts as crowded: a number of
/// messages, or a number of bytes without those of the first message, which may
/// have any size.
static constexpr size_t maxQueued = 256;
static constexpr size_t maxQueuedBytes = size_t(64) << 20;
/// Maximum number of bytes to copy if a call ends while its message is being
/// sent. If there are more, the socket is shut.
static constexpr size_t maxKept = size_t(64) << 20;
/// Pause before sending again if the system had no memory.
static constexpr std::chrono::milliseconds starvedPause(2);

FrameTaker::~FrameTaker() = default;

FrameSocket::FrameSocket(SocketLoop &loop, Descriptor connected,
                         uint64_t largestMessage)
    : loop(loop), socket(std::move(connected)), largestMessage(largestMessage),
      stage(stageSize) {
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &socketBuffer,
               sizeof(socketBuffer));
  Outgoing first{0, {}, sizeof(mark), {}};
  std::memcpy(first.head.data(), mark, sizeof(mark));
  queue.push_back(std::move(first));
}

bool FrameSocket::start(std::weak_ptr<FrameTaker> of) {
  taker = std::move(of);
  const MutexLock lock(mutex);
  number = loop.add(socket.get(), shared_from_this(), /*read=*/true);
  std::list<Outgoing> sent;
  if (number != 0)
    flush(sent);
  return number != 0;
}

//===----------------------------------------------------------------------===//
// Sending
//===----------------------------------------------------------------------===//

bool FrameSocket::send(uint64_t call, Message message) {
  Outgoing frame{call, {}, headSize, {}};
  const uint64_t size = message.size();
  std::memcpy(frame.head.data(), &call, sizeof(call));
  std::memcpy(frame.head.data() + sizeof(call), &size, sizeof(size));
  frame.message = std::move(message);
  return enqueue(std::move(frame));
}

bool FrameSocket::sendLetGo(uint64_t call) {
  Outgoing frame{call, {}, headSize, {}};
  std::memcpy(frame.head.data(), &call, sizeof(call));
  std::memcpy(frame.head.data() + sizeof(call), &noMessage, sizeof(noMessage));
  return enqueue(std::move(frame));
}

bool FrameSocket::enqueue(Outgoing frame) {
  // Sent messages are destroyed after the mutex was unlocked, because their
  // owners may call this object.
  std::list<Outgoing> sent;
  try {
    sent.push_back(std::move(frame));
  } catch (const std::bad_alloc &) {
    // The other side would wait for this message forever.
    shut();
    return false;
  }
  const MutexLock lock(mutex);
  if (isClosed || isShut)
    return false;
  queuedBytes += sent.front().message.size();
  queue.splice(queue.end(), sent);
  if (!waitsToWrite)
    flush(sent);
  return true;
}

/// Returns true if so much data is waiting that the other side does not seem to
/// read. The mutex must be locked.
bool FrameSocket::isCrowded() const {
  return queue.size() > maxQueued ||
         (!queue.empty() &&
          queuedBytes - queue.front().message.size() > maxQueuedBytes);
}

/// Sends as many bytes as the system accepts. The mutex must be locked.
void FrameSocket::flush(std::list<Outgoing> &sent) {
  const bool wasCrowded = isCrowded();
  isStarved = false;
  while (!queue.empty()) {
    iovec pieces[maxPieces];
    size_t count = 0;
    for (auto frame = queue.begin(); frame != queue.end(); ++frame) {
      if (count == maxPieces)
        break;
      if (frame->headSent < frame->headSize)
        pieces[count++] = {frame->head.data() + frame->headSent,
                           frame->headSize - frame->headSent};
      const std::vector<MessageSlice> &slices = frame->message.slices();
      size_t offset = frame->offset;
      for (size_t s = frame->slice; s < slices.size() && count < maxPieces;
           ++s, offset = 0)
        if (slices[s].size > offset)
          pieces[count++] = {const_cast<std::byte *>(slices[s].data) + offset,
                             slices[s].size - offset};
    }
    msghdr header{};
    header.msg_iov = pieces;
    header.msg_iovlen = count;
    const ssize_t done =
        ::sendmsg(socket.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)) {
      isStarved = errno != EAGAIN;
      waitsToWrite = true;
      wait();
      break;
    }
    if (done < 0) {
      // The loop notices this, and ends the socket.
      isShut = true;
      ::shutdown(socket.get(), SHUT_RDWR);
      return;
    }
    advance(size_t(done), sent);
  }
  if (wasCrowded && !isCrowded())
    readOnWithLock();
}

/// Removes `count` sent bytes from the queue.
void FrameSocket::advance(size_t count, std::list<Outgoing> &sent) {
  while (!queue.empty()) {
    Outgoing &frame = queue.front();
    const size_t ofHead = std::min(count, frame.headSize - frame.headSent);
    frame.headSent += ofHead;
    count -= ofHead;
    if (frame.headSent < frame.headSize)
      return;
    const std::vector<MessageSlice> &slices = frame.message.slices();
    while (frame.slice < slices.size()) {
      const size_t part =
          std::min(count, slices[frame.slice].size - frame.offset);
      frame.offset += part;
      count -= part;
      if (frame.offset < slices[frame.slice].size)
        return;
      ++frame.slice;
      frame.offset = 0;
    }
    queuedBytes -= frame.message.size();
    sent.splice(sent.end(), queue, queue.begin());
  }
}

/// Sets the events for which the loop waits. Call with the lock.
void FrameSocket::wait() {
  loop.change(number, socket.get(), !isPaused, waitsToWrite);
}

void FrameSocket::canWrite() {
  std::list<Outgoing> sent;
  bool pauses = false;
  {
    const MutexLock lock(mutex);
    if (isClosed || !waitsToWrite)
      return;
    waitsToWrite = false;
    flush(sent);
    if (!waitsToWrite)
      wait();
    pauses = waitsToWrite && isStarved;
  }
  // The socket can take data, so the loop would call again at once.
  if (pauses)
    std::this_thread::sleep_for(starvedPause);
}

void FrameSocket::keep(uint64_t call) {
  Message dropped;
  std::list<Outgoing> unsent;
  const MutexLock lock(mutex);
  const auto found = std::ranges::find_if(queue, [&](const Outgoing &frame) {
    return frame.call == call && frame.headSize == headSize;
  });
  if (found == queue.end())
    return;
  if (found->headSent == 0) {
    queuedBytes -= found->message.size();
    unsent.splice(unsent.end(), queue, found);
    return;
  }
  if (!copyRest(*found, dropped))
    shutWithLock(unsent);
}

/// Copies those bytes of a message that have no owner and were not sent.
/// Returns false if there are too many of them, or if memory is exhausted. The
/// mutex must be locked.
bool FrameSocket::copyRest(Outgoing &frame, Message &dropped) const {
  const std::vector<MessageSlice> &slices = frame.message.slices();
  size_t rest = 0;
  for (size_t s = frame.slice; s < slices.size(); ++s)
    if (!slices[s].owner)
      rest += slices[s].size;
  if (rest > maxKept)
    return false;
  try {
    Message owned;
    for (size_t s = 0; s < slices.size(); ++s) {
      const MessageSlice &from = slices[s];
      if (from.owner || s < frame.slice) {
        owned.append(from);
        continue;
      }
      auto copy = std::make_shared<std::vector<std::byte>>(
          from.data, from.data + from.size);
      owned.append({copy->data(), copy->size(), copy});
    }
    dropped = std::exchange(frame.message, std::move(owned));
  } catch (const std::bad_alloc &) {
    return false;
  }
  return true;
}

bool FrameSocket::isIdle() {
  const MutexLock lock(mutex);
  return isClosed || isShut || queue.empty();
}

void FrameSocket::shut() {
  std::list<Outgoing> dropped;
  const MutexLock lock(mutex);
  shutWithLock(dropped);
}

void FrameSocket::shutWithLock(std::list<Outgoing> &dropped) {
  if (isClosed)
    return;
  dropped.swap(queue);
  queuedBytes = 0;
  isShut = true;
  ::shutdown(socket.get(), SHUT_RDWR);
  isPaused = waitsToWrite = false;
  wait();
}

//===----------------------------------------------------------------------===//
// Receiving
//===----------------------------------------------------------------------===//

void FrameSocket::readOn() {
  const MutexLock lock(mutex);
  readOnWithLock();
}

void FrameSocket::readOnWithLock() {
  if (isClosed || isShut || !isPaused)
    return;
  isPaused = false;
  wait();
  // Complete messages may be in the buffer already, so parse it soon. The mutex
  // must stay locked: once the socket is shut, the loop may be destroyed.
  try {
    loop.post([self = shared_from_this()] { self->canRead(); });
  } catch (const std::bad_alloc &) {
    isShut = true;
    ::shutdown(socket.get(), SHUT_RDWR);
  }
}

void FrameSocket::hungUp() { end(); }

void FrameSocket::end() {
  std::list<Outgoing> dropped;
  {
    const MutexLock lock(mutex);
    if (isClosed)
      return;
    isClosed = true;
    dropped.swap(queue);
    queuedBytes = 0;
    // The descriptor may belong to another socket after this one is closed.
    loop.remove(number, socket.get());
  }
  reading = Reading::Nothing;
  message = {};
  if (const auto to = taker.lock())
    to->closed();
}

void FrameSocket::canRead() {
  // The receiver may have missed some of its messages.
  if (!hasMemoryFor([this] { read(); }))
    end();
}

void FrameSocket::read() {
  const std::shared_ptr<FrameTaker> to = taker.lock();
  if (!to)
    return end();
  if (!parse(*to))
    return;
  for (size_t taken = 0; taken < readAtOnce;) {
    if (stageBegin > 0) {
      std::memmove(stage.data(), stage.data() + stageBegin,
                   stageEnd - stageBegin);
      stageEnd -= stageBegin;
      stageBegin = 0;
    }
    // Read bytes of the current message to their final memory, and the bytes
    // after it to the buffer.
    iovec places[2];
    int count = 0;
    const size_t direct =
        reading == Reading::Bytes && isWanted ? sliceSize - sliceFilled : 0;
    if (direct > 0)
      places[count++] = {slice + sliceFilled, direct};
    places[count++] = {stage.data() + stageEnd, stageSize - stageEnd};
    const size_t room = direct + stageSize - stageEnd;
    const ssize_t got = ::readv(socket.get(), places, count);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return;
    if (got <= 0)
      return end();
    const size_t placed = std::min(size_t(got), direct);
    sliceFilled += placed;
    left -= placed;
    stageEnd += size_t(got) - placed;
    taken += size_t(got);
    if (!parse(*to))
      return;
    if (size_t(got) < room)
      return;
  }
}

/// Parses the bytes that were read. Returns true if more bytes are needed.
/// Returns false if the socket is closed, or if reading pauses because the
/// receiver is not ready (`FrameTaker::isReady`). Closes the socket if the
/// bytes are invalid.
bool FrameSocket::parse(FrameTaker &to) {
  while (true) {
    const size_t staged = stageEnd - stageBegin;
    switch (reading) {
    case Reading::Nothing:
      return false;
    case Reading::Mark:
      if (staged < sizeof(mark))
        return true;
      if (std::memcmp(stage.data() + stageBegin, mark, sizeof(mark)) != 0) {
        end();
        return false;
      }
      stageBegin += sizeof(mark);
      reading = Reading::Head;
      break;
    case Reading::Head: {
      {
        const MutexLock lock(mutex);
        if (isClosed)
          return false;
        if (!to.isReady(isCrowded())) {
          if (!std::exchange(isPaused, true))
            wait();
          return false;
        }
      }
      bool more = false;
      if (!takeHead(to, more))
        return false;
      if (more)
        return true;
      break;
    }
    case Reading::Bytes:
      takeBytes(to);
      if (reading == Reading::Bytes)
        return true;
      break;
    }
  }
}

/// Parses the header and the front of a message. Sets `more` to true if they
/// have not arrived completely. Returns false, and closes the socket, if the
/// bytes are no valid header.
bool FrameSocket::takeHead(FrameTaker &to, bool &more) {
  const size_t staged = stageEnd - stageBegin;
  const std::byte *from = stage.data() + stageBegin;
  more = staged < headSize;
  if (more)
    return true;
  uint64_t size = 0;
  std::memcpy(&call, from, sizeof(call));
  std::memcpy(&size, from + sizeof(call), sizeof(size));
  if (size == noMessage) {
    stageBegin += headSize;
    to.letGo(call);
    return true;
  }
  if (size > largestMessage) {
    end();
    return false;
  }
  const size_t front = std::min<uint64_t>(size, minFront);
  more = staged < headSize + front;
  if (more)
    return true;
  stageBegin += headSize;
  left = size;
  message = {};
  slice = nullptr;
  sliceSize = sliceFilled = 0;
  try {
    const Message start = Message::ofString(
        std::string(reinterpret_cast<const char *>(from + headSize), front));
    isWanted = to.begins(call, size, start);
  } catch (const std::bad_alloc &) {
    isWanted = false;
    to.lacksMemory(call);
  }
  reading = Reading::Bytes;
  return true;
}

/// Moves buffered bytes of a message to their final memory. Passes the message
/// on when it is complete.
void FrameSocket::takeBytes(FrameTaker &to) {
  while (left > 0) {
    if (isWanted && sliceFilled == sliceSize) {
      try {
        growMessage();
      } catch (const std::bad_alloc &) {
        isWanted = false;
        message = {};
        to.lacksMemory(call);
      }
    }
    size_t part = std::min<uint64_t>(left, stageEnd - stageBegin);
    if (isWanted) {
      part = std::min(part, sliceSize - sliceFilled);
      std::memcpy(slice + sliceFilled, stage.data() + stageBegin, part);
      sliceFilled += part;
    }
    stageBegin += part;
    left -= part;
    if (part == 0)
      return;
  }
  reading = Reading::Head;
  if (isWanted)
    to.came(call, std::exchange(message, {}));
}

/// Allocates memory for the next bytes.
void FrameSocket::growMessage() {
  sliceSize = std::min<uint64_t>(left, largestSlice);
  sliceFilled = 0;
  // Not cleared, because each byte is written before it is read.
  std::shared_ptr<std::byte[]> memory(new std::byte[sliceSize]);
  slice = memory.get();
  message.append({slice, sliceSize, std::move(memory)});
}
