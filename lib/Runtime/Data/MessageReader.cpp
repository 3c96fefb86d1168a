//===- MessageReader.cpp - Reads messages of columns ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/MessageReader.h"

#include "Data/ColumnReader.h"
#include "Data/InputFile.h"
#include "Data/KafkaRows.h"
#include "Data/RowAssembler.h"

#include <algorithm>

using namespace pdlrt;

namespace {

class MessageReader final : public RecordReader, public PartitionReader {
public:
  MessageReader(const std::string &address, int32_t fileIndex,
                std::string_view format, const RecordReaderOptions &options,
                std::unique_ptr<KafkaRows> messages, RowAssembler noRow)
      : topic(inputName(address)), fileIndex(fileIndex), format(format),
        options(options), messages(std::move(messages)),
        noRow(std::move(noRow)) {}

  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override;
  RowPlace place() const override { return messages->following(); }
  std::vector<KafkaPlace> places() const override { return messages->places(); }
  Status checkNext() override;

private:
  Expected<bool> findRow();
  Status openMessage(std::string_view content, int64_t passedRows);
  void take(int64_t count) {
    nextRow += count;
    messages->takeRows(nextRow, rows);
  }
  void beginBadRow(PassedRows &passed) const;

  const std::string topic;
  const int32_t fileIndex;
  const std::string format;
  const RecordReaderOptions &options;
  std::unique_ptr<KafkaRows> messages;
  /// Makes the copied texts of a message that cannot be read.
  RowAssembler noRow;
  std::string_view bytes; ///< Of the current message.
  /// The rows of the current message; null if it cannot be read, for the reason
  /// `defect`.
  std::unique_ptr<RecordReader> reader;
  std::string defect;
  /// Number of rows of the message, and of those that were read.
  int64_t rows = 0, nextRow = 0;
};

} // namespace

/// Opens a message, of which `passedRows` rows were read before.
Status MessageReader::openMessage(std::string_view content,
                                  int64_t passedRows) {
  bytes = content;
  defect.clear();
  nextRow = 0;
  const ColumnMessage message = {.bytes = bytes,
                                 .place = messages->placeText(),
                                 .topic = topic,
                                 .sample = messages->sample()};
  auto opened = openColumnMessage(message, fileIndex, format, options, rows);
  if (opened) {
    reader = *std::move(opened);
  } else if (opened.status().code() == PDL_DATA_LOSS ||
             opened.status().code() == PDL_INVALID_ARGUMENT) {
    defect = opened.status().message();
    rows = 1;
  } else {
    return std::move(opened).status();
  }
  if (passedRows > rows || (passedRows > 0 && !reader))
    return Status::failedPrecondition(
        message.place + ": the message has fewer rows than before; the topic "
                        "is another one");
  if (passedRows > 0) {
    auto skipped = reader->skip(passedRows, nullptr);
    PDLRT_RETURN_IF_ERROR(skipped.status());
  }
  take(passedRows);
  return {};
}

/// Opens the next message if the current one has no further rows. Returns false
/// at the end of the topic.
Expected<bool> MessageReader::findRow() {
  while (nextRow == rows) {
    // It refers to the bytes of the message.
    reader.reset();
    std::string_view content;
    int64_t passedRows = 0;
    auto more = messages->nextMessage(content, passedRows);
    if (!more || !*more)
      return more;
    PDLRT_RETURN_IF_ERROR(openMessage(content, passedRows));
  }
  return true;
}

Status MessageReader::checkNext() {
  auto more = findRow();
  PDLRT_RETURN_IF_ERROR(more.status());
  return *more && !reader ? Status::invalidArgument(defect) : Status();
}

void MessageReader::beginBadRow(PassedRows &passed) const {
  if (const auto sample = messages->sample())
    passed.continueAt(*sample);
  passed.beginRow(PassedRows::contentOf(bytes.data(), bytes.size()));
}

Expected<int64_t> MessageReader::read(int64_t count, RecordColumns &into,
                                      PassedRows &passed) {
  for (int64_t done = 0; done < count;) {
    auto more = findRow();
    if (!more && options.wait && options.wait->isLate())
      return done;
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return done;
    if (options.wait)
      options.wait->noteRow();
    int64_t some = 1;
    if (reader) {
      auto read =
          reader->read(std::min(count - done, rows - nextRow), into, passed);
      PDLRT_RETURN_IF_ERROR(read.status());
      some = *read;
    } else {
      beginBadRow(passed);
      noRow.clear();
      PDLRT_RETURN_IF_ERROR(passed.addBad(defect, noRow.copied(false)));
    }
    take(some);
    done += some;
  }
  return count;
}

Expected<int64_t> MessageReader::skip(int64_t count, PassedRows *passed) {
  for (int64_t done = 0; done < count;) {
    auto more = findRow();
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return done;
    int64_t some = 1;
    if (reader) {
      auto skipped =
          reader->skip(std::min(count - done, rows - nextRow), passed);
      PDLRT_RETURN_IF_ERROR(skipped.status());
      some = *skipped;
    } else if (passed) {
      beginBadRow(*passed);
    }
    take(some);
    done += some;
  }
  return count;
}

Expected<bool> MessageReader::moveTo(const RowPlace &place) {
  if (place.byte > 0) {
    reader.reset();
    rows = nextRow = 0;
    return messages->moveTo(place);
  }
  auto skipped = skip(place.row, nullptr);
  PDLRT_RETURN_IF_ERROR(skipped.status());
  return *skipped == place.row;
}

Expected<std::unique_ptr<RecordReader>>
pdlrt::openMessageReader(const std::string &address, int32_t fileIndex,
                         std::string_view name,
                         const RecordReaderOptions &options) {
  auto noRow = RowAssembler::create(options, [&](size_t field) {
    return namesLikeField(options.descriptor.fields[field], name,
                          /*hasLists=*/true);
  });
  if (!noRow)
    return std::move(noRow).status().withContext(inputName(address));
  auto messages = KafkaRows::open(address, options.wait);
  PDLRT_RETURN_IF_ERROR(messages.status());
  return std::unique_ptr<RecordReader>(
      std::make_unique<MessageReader>(address, fileIndex, name, options,
                                      *std::move(messages), *std::move(noRow)));
}
