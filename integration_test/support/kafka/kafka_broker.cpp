//===- kafka_broker.cpp - Brokers of Kafka for tests ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the mock cluster of librdkafka, which speaks the protocol of Kafka, on
// ports of the loopback interface. The arguments are the number of brokers and
// the time in milliseconds for which messages are collected. Prints the
// addresses of the brokers, then reads commands from the standard input and
// answers each with a line: "ok", or "error" and the reason. Ends at the end of
// the input.
//
//   topic NAME PARTITIONS             creates a topic
//   send TOPIC PARTITION TIME BYTES   sends the message of that size that
//                                     follows the line; BYTES -1: a message
//                                     without content. TIME: milliseconds since
//                                     1970; 0: now
//   flush                             waits until all messages are written
//   fail API COUNT ERROR              answers the next requests of an API with
//                                     an error
//   down BROKER, up BROKER            stops or starts a broker, from 1
//   leader TOPIC PARTITION BROKER     moves a partition
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <sstream>
#include <string>
#include <vector>

namespace {

class Brokers {
public:
  Brokers(int count, const char *lingerMs) {
    char text[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "client.id", "kafka_broker", text, sizeof(text));
    owner = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    cluster = rd_kafka_mock_cluster_new(owner, count);
    conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", addresses(), text,
                      sizeof(text));
    rd_kafka_conf_set(conf, "linger.ms", lingerMs, text, sizeof(text));
    rd_kafka_conf_set(conf, "enable.idempotence", "true", text, sizeof(text));
    producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
  }
  ~Brokers() {
    rd_kafka_destroy(producer);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(owner);
  }

  const char *addresses() const {
    return rd_kafka_mock_cluster_bootstraps(cluster);
  }

  /// Executes a command. Returns an error message, or an empty string.
  std::string execute(const std::string &line) {
    std::istringstream words(line);
    std::string name, topic;
    words >> name;
    if (name == "topic") {
      int partitions = 0;
      words >> topic >> partitions;
      return words ? textOf(rd_kafka_mock_topic_create(cluster, topic.c_str(),
                                                       partitions, 1))
                   : "topic NAME PARTITIONS";
    }
    if (name == "send")
      return send(words);
    if (name == "flush")
      return textOf(rd_kafka_flush(producer, 30000));
    if (name == "fail") {
      int api = 0, count = 0, error = 0;
      words >> api >> count >> error;
      const std::vector<rd_kafka_resp_err_t> errors =
          std::vector(size_t(count), rd_kafka_resp_err_t(error));
      rd_kafka_mock_push_request_errors_array(cluster, int16_t(api),
                                              errors.size(), errors.data());
      return "";
    }
    if (name == "down" || name == "up") {
      int broker = 0;
      words >> broker;
      return textOf(name == "up"
                        ? rd_kafka_mock_broker_set_up(cluster, broker)
                        : rd_kafka_mock_broker_set_down(cluster, broker));
    }
    if (name == "leader") {
      int partition = 0, broker = 0;
      words >> topic >> partition >> broker;
      return textOf(rd_kafka_mock_partition_set_leader(cluster, topic.c_str(),
                                                       partition, broker));
    }
    return "unknown command " + name;
  }

private:
  static std::string textOf(rd_kafka_resp_err_t error) {
    return error ? rd_kafka_err2str(error) : "";
  }

  std::string send(std::istringstream &words) {
    std::string topic;
    int partition = 0;
    int64_t time = 0, size = 0;
    words >> topic >> partition >> time >> size;
    if (!words || size > (int64_t(1) << 30))
      return "send TOPIC PARTITION TIME BYTES";
    std::string bytes(size_t(std::max<int64_t>(size, 0)), '\0');
    if (!std::cin.read(bytes.data(), std::streamsize(bytes.size())))
      return "the message is shorter";
    char *const content = size < 0 ? nullptr : bytes.data();
    while (true) {
      const rd_kafka_resp_err_t error =
          rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()),
                            RD_KAFKA_V_PARTITION(partition),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                            RD_KAFKA_V_VALUE(content, bytes.size()),
                            RD_KAFKA_V_TIMESTAMP(time), RD_KAFKA_V_END);
      rd_kafka_poll(producer, error == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 100 : 0);
      if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
        return textOf(error);
    }
  }

  rd_kafka_t *owner = nullptr, *producer = nullptr;
  rd_kafka_mock_cluster_t *cluster = nullptr;
};

} // namespace

int main(int argc, char **argv) {
  Brokers brokers(argc > 1 ? std::atoi(argv[1]) : 1, argc > 2 ? argv[2] : "5");
  std::cout << brokers.addresses() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string error = brokers.execute(line);
    std::cout << (error.empty() ? "ok" : "error " + error) << std::endl;
  }
  return 0;
}
