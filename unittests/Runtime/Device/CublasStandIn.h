//===- CublasStandIn.h - A fake cuBLASLt on the host ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that compute on the host what their descriptors say, for
// column-major matrices, and count their calls. Only one thread may use them.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_DEVICE_CUBLASSTANDIN_H
#define PDL_UNITTESTS_RUNTIME_DEVICE_CUBLASSTANDIN_H

#include "Device/CublasLt.h"

#include "gtest/gtest.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace standin {

namespace cublaslt = pdlrt::cublaslt;

/// Values that were set, by attribute.
using Attributes = std::map<int, std::vector<char>>;

struct Operation {
  int compute;
  Attributes attributes;
};

struct Layout {
  int64_t rows, columns, stride;
  bool operator==(const Layout &) const = default;
};

/// Recorded calls of the heuristics, and their results.
struct State {
  std::string nextFailure; // name of the function that is to fail
  cublaslt::Result failure = 0;
  /// Number of descriptors and handles that were created and not destroyed.
  int alive = 0;
  int asked = 0, multiplied = 0;
  Attributes preference;
  cublaslt::Heuristic response = {};
  int responses = 1;
  /// Arguments of the last product.
  int compute = 0;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  pdlrt::cuda::Stream stream = nullptr;
};
inline State state;

template <typename T> T valueOf(const Attributes &attributes, int attribute) {
  T value = {};
  const auto found = attributes.find(attribute);
  if (found == attributes.end())
    return value;
  EXPECT_EQ(found->second.size(), sizeof(T)) << "attribute " << attribute;
  std::memcpy(&value, found->second.data(), sizeof(T));
  return value;
}

inline cublaslt::Result responseOf(const char *function) {
  if (state.nextFailure != function)
    return cublaslt::success;
  state.nextFailure.clear();
  return state.failure;
}

template <typename Opaque, typename T>
cublaslt::Result make(const char *function, Opaque *opaque, T value) {
  const cublaslt::Result result = responseOf(function);
  if (result == cublaslt::success) {
    *opaque = reinterpret_cast<Opaque>(new T(std::move(value)));
    ++state.alive;
  }
  return result;
}

template <typename T, typename Opaque> cublaslt::Result end(Opaque opaque) {
  delete reinterpret_cast<T *>(opaque);
  --state.alive;
  return cublaslt::success;
}

template <typename T, typename Opaque> const T &of(Opaque opaque) {
  return *reinterpret_cast<const T *>(opaque);
}

inline void set(Attributes &attributes, int attribute, const void *value,
                size_t bytes) {
  const auto *begin = static_cast<const char *>(value);
  attributes[attribute].assign(begin, begin + bytes);
}

/// A column-major matrix, or its transpose.
struct Matrix {
  const float *elements;
  Layout layout;
  bool isTransposed;

  int64_t rows() const { return isTransposed ? layout.columns : layout.rows; }
  int64_t columns() const {
    return isTransposed ? layout.rows : layout.columns;
  }
  float at(int64_t row, int64_t column) const {
    return isTransposed ? elements[column + row * layout.stride]
                        : elements[row + column * layout.stride];
  }
};

inline cublaslt::Result
multiply(cublaslt::Handle, cublaslt::Operation op, const void *alpha,
         const void *a, cublaslt::Layout aLayout, const void *b,
         cublaslt::Layout bLayout, const void *beta, const void *c,
         cublaslt::Layout cLayout, void *d, cublaslt::Layout dLayout,
         const cublaslt::Algorithm *algorithm, void *workspace,
         size_t workspaceBytes, pdlrt::cuda::Stream stream) {
  if (const cublaslt::Result result = responseOf("multiply");
      result != cublaslt::success)
    return result;
  const auto &operation = of<Operation>(op);
  const Attributes &attributes = operation.attributes;
  const auto matrix = [&](const void *memory, cublaslt::Layout layout,
                          int attribute) {
    return Matrix{static_cast<const float *>(memory), of<Layout>(layout),
                  valueOf<int32_t>(attributes, attribute) ==
                      cublaslt::transposed};
  };
  const Matrix left = matrix(a, aLayout, cublaslt::transposeAttributeA);
  const Matrix right = matrix(b, bLayout, cublaslt::transposeAttributeB);
  const Layout result = of<Layout>(dLayout);
  EXPECT_EQ(left.rows(), result.rows);
  EXPECT_EQ(left.columns(), right.rows());
  EXPECT_EQ(right.columns(), result.columns);
  EXPECT_EQ(c, d);
  EXPECT_EQ(of<Layout>(cLayout), result);
  EXPECT_EQ(*static_cast<const float *>(alpha), 1);
  EXPECT_EQ(*static_cast<const float *>(beta), 0);
  EXPECT_EQ(std::memcmp(algorithm, &state.response.algorithm,
                        sizeof(cublaslt::Algorithm)),
            0);
  const auto epilogue =
      valueOf<uint32_t>(attributes, cublaslt::epilogueAttribute);
  EXPECT_TRUE(epilogue == cublaslt::noEpilogue ||
              epilogue == cublaslt::biasEpilogue);
  const auto *bias =
      epilogue == cublaslt::biasEpilogue
          ? valueOf<const float *>(attributes, cublaslt::biasAttribute)
          : nullptr;
  for (int64_t column = 0; column < result.columns; ++column)
    for (int64_t row = 0; row < result.rows; ++row) {
      float sum = 0;
      for (int64_t k = 0; k < left.columns(); ++k)
        sum += left.at(row, k) * right.at(k, column);
      static_cast<float *>(d)[row + column * result.stride] =
          sum + (bias ? bias[row] : 0);
    }
  state.compute = operation.compute;
  state.workspace = workspace;
  state.workspaceBytes = workspaceBytes;
  state.stream = stream;
  ++state.multiplied;
  return cublaslt::success;
}

/// Resets the stand-in and returns its library.
inline cublaslt::Library library() {
  state = {};
  state.response.algorithm.data[7] = 99;
  cublaslt::Library all = {};
  all.statusText = [](cublaslt::Result status) -> const char * {
    return status == 77 ? nullptr : "what went wrong";
  };
  all.create = [](cublaslt::Handle *handle) {
    return make("create", handle, 0);
  };
  all.destroy = [](cublaslt::Handle handle) { return end<int>(handle); };
  all.createOperation = [](cublaslt::Operation *operation, int compute,
                           int scaleType) {
    EXPECT_EQ(scaleType, cublaslt::float32);
    return make("createOperation", operation, Operation{compute, {}});
  };
  all.destroyOperation = [](cublaslt::Operation operation) {
    return end<Operation>(operation);
  };
  all.setOperation = [](cublaslt::Operation operation, int attribute,
                        const void *value, size_t bytes) {
    set(reinterpret_cast<Operation *>(operation)->attributes, attribute, value,
        bytes);
    return responseOf("setOperation");
  };
  all.createLayout = [](cublaslt::Layout *layout, int type, uint64_t rows,
                        uint64_t columns, int64_t stride) {
    EXPECT_EQ(type, cublaslt::float32);
    EXPECT_GE(stride, int64_t(rows));
    return make("createLayout", layout,
                Layout{int64_t(rows), int64_t(columns), stride});
  };
  all.destroyLayout = [](cublaslt::Layout layout) {
    return end<Layout>(layout);
  };
  all.createPreference = [](cublaslt::Preference *preference) {
    return make("createPreference", preference, Attributes());
  };
  all.destroyPreference = [](cublaslt::Preference preference) {
    return end<Attributes>(preference);
  };
  all.setPreference = [](cublaslt::Preference preference, int attribute,
                         const void *value, size_t bytes) {
    set(*reinterpret_cast<Attributes *>(preference), attribute, value, bytes);
    return responseOf("setPreference");
  };
  all.heuristics = [](cublaslt::Handle, cublaslt::Operation operation,
                      cublaslt::Layout, cublaslt::Layout, cublaslt::Layout c,
                      cublaslt::Layout d, cublaslt::Preference preference,
                      int most, cublaslt::Heuristic *results, int *count) {
    EXPECT_EQ(c, d);
    EXPECT_EQ(most, 1);
    ++state.asked;
    state.preference = of<Attributes>(preference);
    // The alignment of the bias, too.
    state.preference[cublaslt::biasAttribute + 100] =
        of<Operation>(operation).attributes.contains(cublaslt::biasAttribute)
            ? of<Operation>(operation).attributes.at(cublaslt::biasAttribute)
            : std::vector<char>(sizeof(uint64_t));
    *results = state.response;
    *count = state.responses;
    return responseOf("heuristics");
  };
  all.multiply = multiply;
  return all;
}

/// Attribute in `preference` with the alignment of the bias.
inline constexpr int biasAlignment = cublaslt::biasAttribute + 100;

} // namespace standin

#endif // PDL_UNITTESTS_RUNTIME_DEVICE_CUBLASSTANDIN_H
