//===- StoreMetrics.h - Registered metrics of object stores -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_STOREMETRICS_H
#define PDLRT_FILES_STOREMETRICS_H

namespace pdlrt {

/// Declares the metrics of requests to object stores, so that they appear in
/// lists of metrics before a request is sent.
void declareStoreMetrics();

} // namespace pdlrt

#endif // PDLRT_FILES_STOREMETRICS_H
