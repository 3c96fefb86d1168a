//===- OneDnnGemm.cpp - Matrix products with oneDNN -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backend of numerics `fast` in f32, as a shared library (OneDnnLibrary.h).
// Primitives are compiled once for each shape and cached in the worker's
// workspace, which also provides scratch memory. A product runs on the calling
// thread.
//
//===----------------------------------------------------------------------===//

#include "OneDnnLibrary.h"
#include "pdlabi/abi.h"
#include "pdlrt/Gemm/Gemm.h"

#include <dnnl.hpp>

#include <csignal>
#include <dlfcn.h>

#include <array>
#include <memory>
#include <vector>

using namespace pdlrt;

namespace {

/// Properties that determine a compiled primitive.
struct Shape {
  bool transposeA, transposeB, bias;
  int64_t m, n, k, aStride, bStride, cStride;

  bool operator==(const Shape &) const = default;
};

struct Product {
  Shape shape;
  dnnl::matmul primitive;
  // Views without their own memory; each execution sets their addresses.
  dnnl::memory a, b, bias, c, scratchpad;
  size_t scratchpadBytes;
};

class OneDnnState : public GemmBackendState {
public:
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  /// Returns the compiled product of `shape`. Throws dnnl::error.
  Product &find(const Shape &shape) {
    for (const std::unique_ptr<Product> &product : products)
      if (product->shape == shape)
        return *product;
    // Limits memory if batches always have new sizes.
    if (products.size() == 256)
      products.clear();
    products.push_back(compile(shape));
    return *products.back();
  }

private:
  std::unique_ptr<Product> compile(const Shape &shape) {
    using dnnl::memory;
    constexpr auto f32 = memory::data_type::f32;
    const int64_t m = shape.m, n = shape.n, k = shape.k;
    const auto matrix = [&](int64_t rows, int64_t columns, bool transposed,
                            int64_t stride) {
      return memory::desc({rows, columns}, f32,
                          transposed ? memory::dims{1, stride}
                                     : memory::dims{stride, 1});
    };
    const memory::desc a = matrix(m, k, shape.transposeA, shape.aStride);
    const memory::desc b = matrix(k, n, shape.transposeB, shape.bStride);
    const memory::desc c = matrix(m, n, false, shape.cStride);
    const memory::desc bias = matrix(1, n, false, n);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc descriptor(
        shape.bias ? dnnl::matmul::desc(a, b, bias, c)
                   : dnnl::matmul::desc(a, b, c),
        attributes, engine);
    const memory::desc scratchpad = descriptor.scratchpad_desc();
    const auto view = [&](const memory::desc &desc) {
      return memory(desc, engine, DNNL_MEMORY_NONE);
    };
    return std::make_unique<Product>(
        Product{shape, dnnl::matmul(descriptor), view(a), view(b), view(bias),
                view(c), view(scratchpad), scratchpad.get_size()});
  }

  std::vector<std::unique_ptr<Product>> products;
};

/// Makes oneDNN use one OpenMP thread, because the runtime has its own threads.
/// oneDNN chooses the OpenMP library, so it is looked up in the process.
bool useOneThread() {
  using SetThreads = void (*)(int);
  if (const auto set = reinterpret_cast<SetThreads>(
          dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(1);
  return true;
}

/// Blocks the signals of the calling thread during its life. A handler that
/// interrupts one of oneDNN's kernels for AVX-512 overwrites values that the
/// kernel still needs, unless it has a stack of its own (oneDNN 2.6.3). The
/// kernel then writes to wrong addresses. Signals to the process go to another
/// thread, or wait for the end of the product.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
  }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before = {};
};

/// Applies a post to `count` elements from column 0 of row `row` of C, which
/// has `n` columns.
void applyPost(const pdl_post &post, int64_t row, int64_t n, int64_t count,
               float *c) {
  const auto *operand = static_cast<const float *>(post.operand);
  switch (static_cast<pdl_post_op>(post.kind)) {
  case PDL_POST_BIAS:
    for (int64_t begin = 0; begin < count; begin += n)
      for (int64_t column = 0; column < n; ++column)
        c[begin + column] += operand[column];
    break;
  case PDL_POST_RELU:
    for (int64_t i = 0; i < count; ++i)
      c[i] = c[i] <= 0 ? 0.0f : c[i];
    break;
  case PDL_POST_RELU_GRADIENT:
    operand += row * n;
    for (int64_t i = 0; i < count; ++i)
      c[i] = operand[i] <= 0 ? 0.0f : c[i];
    break;
  }
}

void applyPost(const pdl_post &post, const GemmCall &call) {
  auto *c = static_cast<float *>(call.c);
  if (call.cStride == call.n)
    return applyPost(post, 0, call.n, call.m * call.n, c);
  for (int64_t row = 0; row < call.m; ++row)
    applyPost(post, row, call.n, call.n, c + row * call.cStride);
}

bool multiply(GemmWorkspace &workspace, const GemmCall &call) {
  // For these shapes compiling a primitive costs more than it gains, or the
  // strict kernels are faster (one column).
  if (call.m <= 4 || call.n == 1 || call.k <= 1)
    return false;
  thread_local const bool oneThread = useOneThread();
  static_cast<void>(oneThread);
  try {
    if (!workspace.backendState)
      workspace.backendState = std::make_unique<OneDnnState>();
    auto &state = static_cast<OneDnnState &>(*workspace.backendState);
    const bool bias = call.postCount > 0 && call.posts[0].kind == PDL_POST_BIAS;
    Product &product =
        state.find({call.transposeA, call.transposeB, bias, call.m, call.n,
                    call.k, call.strideOfA(), call.strideOfB(), call.cStride});
    // oneDNN only reads these, but does not take pointers to const.
    product.a.set_data_handle(const_cast<void *>(call.a));
    product.b.set_data_handle(const_cast<void *>(call.b));
    product.c.set_data_handle(call.c);
    product.scratchpad.set_data_handle(
        workspace.scratch(product.scratchpadBytes));
    std::array<dnnl_exec_arg_t, 5> arguments = {{
        {DNNL_ARG_SRC, product.a.get()},
        {DNNL_ARG_WEIGHTS, product.b.get()},
        {DNNL_ARG_DST, product.c.get()},
        {DNNL_ARG_SCRATCHPAD, product.scratchpad.get()},
    }};
    int argumentCount = 4;
    if (bias) {
      product.bias.set_data_handle(const_cast<void *>(call.posts[0].operand));
      arguments[4] = {DNNL_ARG_BIAS, product.bias.get()};
      argumentCount = 5;
    }
    {
      const BlockedSignals noSignals;
      // The C function, because the C++ one would build a map at each
      // execution.
      if (dnnl_primitive_execute(product.primitive.get(), state.stream.get(),
                                 argumentCount,
                                 arguments.data()) != dnnl_success)
        return false;
      state.stream.wait();
    }
    // Not with oneDNN, which does not guarantee that its relu keeps a NaN.
    for (int32_t post = bias ? 1 : 0; post < call.postCount; ++post)
      applyPost(call.posts[post], call);
    return true;
  } catch (const dnnl::error &) {
    return false;
  }
}

} // namespace

extern "C" FastGemm pdlrt_onednn_gemm(uint32_t abiVersion,
                                      size_t workspaceBytes, size_t callBytes) {
  return abiVersion == PDL_ABI_VERSION &&
                 workspaceBytes == sizeof(GemmWorkspace) &&
                 callBytes == sizeof(GemmCall)
             ? multiply
             : nullptr;
}
