//===- ColumnFileWriter.cpp - Writes files of columns ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnFileWriter.h"

#include "Data/ColumnFile.h"

using namespace pdlrt;

Status ColumnFileWriter::statusOf(int32_t code,
                                  const PdlColumnError &error) const {
  if (code == PDL_OK)
    return {};
  // The sink's own error has the name of the file, and the reason.
  return sinkStatus.ok() ? Status(static_cast<pdl_status>(code), error.text)
                         : sinkStatus;
}

Expected<std::unique_ptr<ColumnFileWriter>>
ColumnFileWriter::create(PdlColumnFormat format, PdlColumnSchema &schema,
                         Sink sink) {
  const auto functions = columnLibrary();
  PDLRT_RETURN_IF_ERROR(functions.status());
  std::unique_ptr<ColumnFileWriter> made(
      new ColumnFileWriter(**functions, std::move(sink)));
  const PdlColumnSink bytes = {
      .context = made.get(),
      .write = [](void *context, const void *data, int64_t count) {
        auto *self = static_cast<ColumnFileWriter *>(context);
        const Status status =
            self->sink({static_cast<const char *>(data), size_t(count)});
        if (self->sinkStatus.ok())
          self->sinkStatus = status;
        return status.ok();
      }};
  PdlColumnError error = {};
  const int32_t code =
      (*functions)
          ->beginWriting(&bytes, format, &schema, &made->writer, &error);
  PDLRT_RETURN_IF_ERROR(made->statusOf(code, error));
  return made;
}

ColumnFileWriter::~ColumnFileWriter() {
  if (writer)
    functions.destroyWriter(writer);
}

Status ColumnFileWriter::write(PdlColumnArray &batch) {
  PdlColumnError error = {};
  return statusOf(functions.write(writer, &batch, &error), error);
}

Status ColumnFileWriter::finish() {
  PdlColumnError error = {};
  return statusOf(functions.endWriting(writer, &error), error);
}
