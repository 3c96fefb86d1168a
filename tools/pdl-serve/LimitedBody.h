//===- LimitedBody.h - Request body within a memory budget ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_LIMITEDBODY_H
#define PDL_TOOLS_PDL_SERVE_LIMITEDBODY_H

#include "MemoryBudget.h"
#include "Tensor.h"

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace pdlserve {

/// Body type for Beast. Memory is allocated as bytes arrive, after it has been
/// reserved in the budget. An announced length reserves nothing before a
/// quarter of it has arrived. If the budget is exhausted, reading fails with
/// `not_enough_memory`.
struct LimitedBody {
  struct value_type {
    std::string text;
    Reservation memory;
  };

  class reader {
  public:
    template <bool isRequest, typename Fields>
    explicit reader(boost::beast::http::header<isRequest, Fields> &,
                    value_type &body)
        : body(body) {}

    void init(const boost::optional<uint64_t> &length,
              boost::system::error_code &error) {
      announced = size_t(length.value_or(0));
      error = {};
    }

    template <typename Buffers>
    size_t put(const Buffers &buffers, boost::system::error_code &error) {
      error = {};
      size_t taken = 0;
      for (const auto part : boost::beast::buffers_range_ref(buffers)) {
        if (!makeRoom(body.text, roomFor(part.size()), body.memory)) {
          error = boost::system::errc::make_error_code(
              boost::system::errc::not_enough_memory);
          break;
        }
        body.text.append(static_cast<const char *>(part.data()), part.size());
        taken += part.size();
      }
      return taken;
    }

    void finish(boost::system::error_code &error) { error = {}; }

  private:
    /// Bytes that a JSON parser may read after the body.
    static constexpr size_t padding = 64;

    /// Returns the capacity to add if `next` bytes follow. After a quarter of
    /// the announced bytes has arrived, returns the capacity for all of them.
    /// Growing step by step up to the end would copy most of the body once
    /// more, on the connection thread.
    size_t roomFor(size_t next) const {
      const size_t size = body.text.size(), after = size + next;
      return after <= body.text.capacity() || after > announced ||
                     after < announced / 4
                 ? next
                 : announced + padding - size;
    }

    value_type &body;
    /// Length according to the header; 0 if it states none.
    size_t announced = 0;
  };
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_LIMITEDBODY_H
