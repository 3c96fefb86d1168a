//===- KafkaLibrary.h - Functions of librdkafka -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of librdkafka that are used. The library is loaded at run time,
// so only programs that read a topic need it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_KAFKALIBRARY_H
#define LIB_RUNTIME_DATA_KAFKALIBRARY_H

#include "pdlrt/Core/Status.h"

#include <librdkafka/rdkafka.h>

// One line for each function, without its prefix `rd_kafka_`.
#define PDLRT_KAFKA_FUNCTIONS(FUNCTION)                                        \
  FUNCTION(conf_new)                                                           \
  FUNCTION(conf_destroy)                                                       \
  FUNCTION(conf_set)                                                           \
  FUNCTION(conf_set_opaque)                                                    \
  FUNCTION(conf_set_error_cb)                                                  \
  FUNCTION(conf_set_log_cb)                                                    \
  FUNCTION(new)                                                                \
  FUNCTION(destroy)                                                            \
  FUNCTION(poll)                                                               \
  FUNCTION(err2str)                                                            \
  FUNCTION(last_error)                                                         \
  FUNCTION(metadata)                                                           \
  FUNCTION(metadata_destroy)                                                   \
  FUNCTION(query_watermark_offsets)                                            \
  FUNCTION(get_watermark_offsets)                                              \
  FUNCTION(offsets_for_times)                                                  \
  FUNCTION(topic_partition_list_new)                                           \
  FUNCTION(topic_partition_list_destroy)                                       \
  FUNCTION(topic_partition_list_add)                                           \
  FUNCTION(topic_new)                                                          \
  FUNCTION(topic_destroy)                                                      \
  FUNCTION(queue_new)                                                          \
  FUNCTION(queue_destroy)                                                      \
  FUNCTION(queue_io_event_enable)                                              \
  FUNCTION(consume_start_queue)                                                \
  FUNCTION(consume_stop)                                                       \
  FUNCTION(consume_batch_queue)                                                \
  FUNCTION(message_destroy)                                                    \
  FUNCTION(message_timestamp)

namespace pdlrt::kafka {

/// The functions of librdkafka. The names have `_` at the end instead of the
/// prefix.
struct Library {
#define PDLRT_KAFKA_MEMBER(NAME) decltype(&rd_kafka_##NAME) NAME##_;
  PDLRT_KAFKA_FUNCTIONS(PDLRT_KAFKA_MEMBER)
#undef PDLRT_KAFKA_MEMBER
};

/// Returns the library, which is loaded once in a process. An error message
/// names the package to install. Thread-safe.
Expected<const Library *> openLibrary();

} // namespace pdlrt::kafka

#endif // LIB_RUNTIME_DATA_KAFKALIBRARY_H
