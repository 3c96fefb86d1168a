//===- LimitedBody.h - Body of a request, within a budget ----- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_LIMITEDBODY_H
#define PDLSERVE_LIMITEDBODY_H

#include "MemoryBudget.h"
#include "Tensor.h"

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace pdlserve {

/// A body of Beast that is allocated as its bytes arrive, and never before they
/// are taken from the budget: a length that is announced costs nothing. If the
/// budget has not as much left, reading fails with `not_enough_memory`.
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

    void init(const boost::optional<uint64_t> &,
              boost::system::error_code &error) {
      error = {};
    }

    template <typename Buffers>
    size_t put(const Buffers &buffers, boost::system::error_code &error) {
      error = {};
      size_t taken = 0;
      for (const auto part : boost::beast::buffers_range_ref(buffers)) {
        if (!makeRoom(body.text, part.size(), body.memory)) {
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
    value_type &body;
  };
};

} // namespace pdlserve

#endif // PDLSERVE_LIMITEDBODY_H
