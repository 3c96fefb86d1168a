//===- CublasProducts.cpp - Matrix products on a GPU stream ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLASLt uses column-major matrices. A row-major matrix in memory is the
// transposed matrix in column-major order. So the product is computed as C^T =
// B^T A^T: B comes first, and n and m are swapped. The bias of a column of C is
// then that of a row of C^T, as the library requires.
//
// Only algorithms with reproducible results are used: none that adds partial
// sums in the order of their completion. Algorithms that store partial sums in
// the workspace and add them in a later step are allowed. They are needed for
// gradients of weights: these are small matrices and sums over the batch, and
// without partial sums only a small part of a GPU would compute them.
//
//===----------------------------------------------------------------------===//

#include "Device/CublasProducts.h"

#include <algorithm>
#include <limits>

using namespace pdlrt;
using namespace pdlrt::cublaslt;

/// Maximum alignment, in bytes, that plans assume: the size of the largest
/// load. If larger alignments were distinguished, plans would differ only
/// because of memory addresses.
static constexpr uint32_t maxAlignment = 16;

struct CublasProducts::Plan {
  explicit Plan(const Library &library) : library(library) {}
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;
  ~Plan() {
    if (operation)
      (void)library.destroyOperation(operation);
    for (Layout layout : {first, second, result})
      if (layout)
        (void)library.destroyLayout(layout);
  }

  const Library &library;
  Operation operation = nullptr;
  Layout first = nullptr, second = nullptr, result = nullptr;
  /// True if the library can compute the product with this algorithm.
  bool isTaken = false;
  Algorithm algorithm = {};
  /// Entry of the plan in the map.
  std::map<Kind, std::list<Plan>::iterator>::iterator place;
};

//===----------------------------------------------------------------------===//
// The handle
//===----------------------------------------------------------------------===//

static std::string messageOf(const Library &library, Result result,
                             const char *what) {
  const char *text = library.statusText ? library.statusText(result) : nullptr;
  return std::string(what) + ": " +
         (text ? text : "an error that the library has no text for") +
         " (cuBLAS status " + std::to_string(result) + ")";
}

Status CublasHandle::check(Result result, const char *what) const {
  return result == success
             ? Status()
             : Status::unavailable(messageOf(library, result, what));
}

Expected<std::unique_ptr<CublasHandle>>
CublasHandle::create(const Library &library, bool roundsToTF32) {
  cublaslt::Handle handle = nullptr;
  if (const Result result = library.create(&handle); result != success)
    return Status::failedPrecondition(
        messageOf(library, result, "starting NVIDIA's cuBLASLt") +
        ": install one that fits the driver, or translate the model with "
        "--numerics=strict");
  return std::unique_ptr<CublasHandle>(
      new CublasHandle(library, handle, roundsToTF32));
}

Expected<std::unique_ptr<CublasHandle>>
CublasHandle::createFirst(const Library *&library, bool roundsToTF32,
                          std::span<const char *const> names,
                          OpenLibrary *open) {
  Status first;
  for (; !names.empty(); names = names.subspan(1)) {
    const Expected<const Library *> opened = open(names);
    if (!opened)
      return first.ok() ? opened.status() : first;
    Expected<std::unique_ptr<CublasHandle>> created =
        create(**opened, roundsToTF32);
    if (created) {
      library = *opened;
      return created;
    }
    if (first.ok())
      first = created.status();
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

CublasProducts::CublasProducts(Device &device, const CublasHandle &handle,
                               cuda::Stream stream)
    : device(device), handle(handle), stream(stream) {}

CublasProducts::~CublasProducts() = default;

static uint32_t alignmentOf(const void *memory) {
  const auto address = reinterpret_cast<uint64_t>(memory);
  return uint32_t(std::min<uint64_t>(address & -address, maxAlignment));
}

CublasProducts::Kind CublasProducts::kindOf(const DeviceProduct &product) {
  return {product.m,
          product.n,
          product.k,
          product.cStride,
          product.transposeA,
          product.transposeB,
          product.roundsFactors,
          {alignmentOf(product.a), alignmentOf(product.b),
           alignmentOf(product.c), alignmentOf(product.bias)}};
}

/// Describes both factors to the library: B^T and A^T, or B and A if they are
/// given transposed.
Status CublasProducts::describe(Plan &plan, const Kind &kind) {
  const Library &library = handle.library;
  const char *const what = "describing a product to cuBLASLt";
  const int compute = kind.roundsFactors ? computeFast16BF
                      : takesTF32(kind)  ? computeFastTF32
                                         : computeFloat32;
  PDLRT_RETURN_IF_ERROR(handle.check(
      library.createOperation(&plan.operation, compute, float32), what));
  const auto set = [&](int attribute, auto value) {
    return handle.check(
        library.setOperation(plan.operation, attribute, &value, sizeof(value)),
        what);
  };
  PDLRT_RETURN_IF_ERROR(
      set(transposeAttributeA, kind.transposeB ? transposed : asItIs));
  PDLRT_RETURN_IF_ERROR(
      set(transposeAttributeB, kind.transposeA ? transposed : asItIs));
  const uint32_t biasAlignment = kind.alignments.back();
  PDLRT_RETURN_IF_ERROR(
      set(epilogueAttribute, biasAlignment ? biasEpilogue : noEpilogue));
  // The heuristics take the alignment of the bias from this address.
  if (biasAlignment)
    PDLRT_RETURN_IF_ERROR(set(biasAttribute, uint64_t(biasAlignment)));
  const auto layOut = [&](Layout &layout, int64_t rows, int64_t columns,
                          int64_t stride) {
    return handle.check(library.createLayout(&layout, float32, uint64_t(rows),
                                             uint64_t(columns), stride),
                        what);
  };
  // As stored in memory, column-major.
  const int64_t bRows = kind.transposeB ? kind.k : kind.n;
  const int64_t aRows = kind.transposeA ? kind.m : kind.k;
  PDLRT_RETURN_IF_ERROR(
      layOut(plan.first, bRows, kind.transposeB ? kind.n : kind.k, bRows));
  PDLRT_RETURN_IF_ERROR(
      layOut(plan.second, aRows, kind.transposeA ? kind.k : kind.m, aRows));
  return layOut(plan.result, kind.n, kind.m, kind.cStride);
}

Status CublasProducts::choose(Plan &plan, const Kind &kind) {
  const Library &library = handle.library;
  const char *const what = "asking cuBLASLt for an algorithm";
  Preference preference = nullptr;
  PDLRT_RETURN_IF_ERROR(
      handle.check(library.createPreference(&preference), what));
  const std::unique_ptr<PreferenceTag, Result (*)(Preference)> owner(
      preference, library.destroyPreference);
  const auto set = [&](int attribute, auto value) {
    return handle.check(
        library.setPreference(preference, attribute, &value, sizeof(value)),
        what);
  };
  const auto [a, b, c, bias] = kind.alignments;
  PDLRT_RETURN_IF_ERROR(set(workspaceAttribute, uint64_t(workspaceBytes)));
  PDLRT_RETURN_IF_ERROR(set(reductionAttribute, reductionInWorkspace));
  PDLRT_RETURN_IF_ERROR(
      set(implementationAttribute,
          ~(takesTF32(kind) ? uint64_t(0) : implementationOfTF32)));
  PDLRT_RETURN_IF_ERROR(set(alignmentAttributeA, b));
  PDLRT_RETURN_IF_ERROR(set(alignmentAttributeB, a));
  PDLRT_RETURN_IF_ERROR(set(alignmentAttributeC, c));
  PDLRT_RETURN_IF_ERROR(set(alignmentAttributeD, c));
  Heuristic best = {};
  int count = 0;
  const Result result = library.heuristics(
      handle.handle, plan.operation, plan.first, plan.second, plan.result,
      plan.result, preference, 1, &best, &count);
  if (result != notSupported)
    PDLRT_RETURN_IF_ERROR(handle.check(result, what));
  plan.isTaken = result == success && count > 0 && best.state == success &&
                 best.workspaceBytes <= workspaceBytes;
  plan.algorithm = best.algorithm;
  return {};
}

/// Returns the plan for a kind of product, and creates it if necessary.
Expected<CublasProducts::Plan *> CublasProducts::planOf(const Kind &kind) {
  if (const auto found = planByKind.find(kind); found != planByKind.end()) {
    plans.splice(plans.begin(), plans, found->second);
    return &plans.front();
  }
  if (plans.size() == maxPlans) {
    planByKind.erase(plans.back().place);
    plans.pop_back();
  }
  plans.emplace_front(handle.library);
  Plan &plan = plans.front();
  Status status = describe(plan, kind);
  if (status.ok())
    status = choose(plan, kind);
  if (!status.ok()) {
    plans.pop_front();
    return status;
  }
  plan.place = planByKind.emplace(kind, plans.begin()).first;
  return &plan;
}

Expected<bool> CublasProducts::multiply(const DeviceProduct &product) {
  // Larger sizes are not guaranteed to work.
  if (std::max({product.m, product.n, product.k, product.cStride}) >
      std::numeric_limits<int32_t>::max())
    return false;
  const Expected<Plan *> found = planOf(kindOf(product));
  if (!found)
    return found.status();
  Plan &plan = **found;
  if (!plan.isTaken)
    return false;
  if (!workspace.data()) {
    Expected<DeviceBuffer> given =
        device.allocate(DeviceBuffer::Kind::OfDevice, workspaceBytes);
    if (!given)
      return std::move(given).status();
    workspace = std::move(*given);
  }
  const Library &library = handle.library;
  if (product.bias)
    PDLRT_RETURN_IF_ERROR(
        handle.check(library.setOperation(plan.operation, biasAttribute,
                                          &product.bias, sizeof(product.bias)),
                     "describing a product to cuBLASLt"));
  const float one = 1, zero = 0;
  const Result result = library.multiply(
      handle.handle, plan.operation, &one, product.b, plan.first, product.a,
      plan.second, &zero, product.c, plan.result, product.c, plan.result,
      &plan.algorithm, workspace.data(), workspaceBytes, stream);
  if (result == notSupported) {
    plan.isTaken = false;
    return false;
  }
  PDLRT_RETURN_IF_ERROR(handle.check(result, "a product of cuBLASLt"));
  return true;
}
