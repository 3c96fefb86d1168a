//===- EventContents.h - Curves and histograms of event files ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_EVENTCONTENTS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_EVENTCONTENTS_H

#include "Programs/Trainer/EventSummary.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/State/Model.h"

namespace pdlrt {

/// Adds the distributions of the values that frozen programs read: for each
/// parameter those of its elements, and for each table in this process those of
/// the Euclidean norms of rows. Reads whole shards of a table, which are random
/// samples of its rows, until it has 100,000 rows or all. Call between steps.
/// Throws std::bad_alloc.
Status addHistograms(const Model &model, EventSummary &summary);

/// Adds a curve of precision and recall for each AUC of the model that has a
/// value in the results of a test.
void addCurves(const pdl_descriptor &descriptor, const PassReport &tested,
               EventSummary &summary);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_EVENTCONTENTS_H
