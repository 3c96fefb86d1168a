//===- ThreadSanitizer.h - Annotations for ThreadSanitizer ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC is built without the sanitizer, so its locks, and the order of events
// that they establish, are invisible. Therefore the start of an operation is
// annotated as a release, and its end as an acquire. Races in gRPC's own code,
// and in its code that is inlined here, are not reported (GrpcTransport.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_THREADSANITIZER_H
#define LIB_RUNTIME_TRANSPORT_GRPC_THREADSANITIZER_H

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#endif

namespace pdlrt::grpcimpl {

/// Must be called before an operation with tag `tag` starts.
inline void noteStart(void *tag) {
#if __has_feature(thread_sanitizer)
  __tsan_release(tag);
#endif
}

/// Must be called after the operation has ended, before the tag is used.
inline void noteEnd(void *tag) {
#if __has_feature(thread_sanitizer)
  __tsan_acquire(tag);
#endif
}

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_THREADSANITIZER_H
