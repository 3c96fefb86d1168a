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

/// Body of an HTTP request, as a type for Beast. Memory is reserved in the
/// budget and allocated while bytes arrive. Memory for the announced length is
/// reserved only after a quarter of it has arrived. If the budget is exhausted,
/// reading fails with `not_enough_memory`.
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
    /// Number of bytes after the body that a JSON parser may read.
    static constexpr size_t padding = 64;

    /// Returns by how many bytes the capacity must grow if `next` bytes arrive.
    /// After a quarter of the announced bytes has arrived, the result suffices
    /// for all of them. Otherwise the body would grow in steps until its end,
    /// and the connection thread would copy most of it once more.
    size_t roomFor(size_t next) const {
      const size_t size = body.text.size(), after = size + next;
      return after <= body.text.capacity() || after > announced ||
                     after < announced / 4
                 ? next
                 : announced + padding - size;
    }

    value_type &body;
    /// Length of the body according to the header; 0 if the header does not
    /// specify it.
    size_t announced = 0;
  };
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_LIMITEDBODY_H
