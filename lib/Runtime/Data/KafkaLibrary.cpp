//===- KafkaLibrary.cpp - Functions of librdkafka -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaLibrary.h"

#include "Core/SharedLibrary.h"

using namespace pdlrt;

static void findKafkaFunctions(SharedLibrary &library,
                               kafka::Library &functions) {
#define PDLRT_KAFKA_FIND(NAME)                                                 \
  library.find(functions.NAME##_, "rd_kafka_" #NAME);
  PDLRT_KAFKA_FUNCTIONS(PDLRT_KAFKA_FIND)
#undef PDLRT_KAFKA_FIND
}

static constexpr LibraryErrors kafkaErrors = {
    "kafka:// needs librdkafka, which is not there",
    ": install Debian's package librdkafka1 or a later one",
    "kafka:// needs a later librdkafka: ",
    ": install Debian's package librdkafka1 or a later one"};

Expected<const kafka::Library *> kafka::openLibrary() {
  static constexpr const char *names[] = {"librdkafka.so.1"};
  return openOnce<Library>(names, kafkaErrors, findKafkaFunctions);
}
