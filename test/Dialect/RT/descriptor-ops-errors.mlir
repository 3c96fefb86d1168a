// RUN: pdl-opt %s --split-input-file --verify-diagnostics

// Each case violates the constraint in its first line.

// (C1)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@absent is not a function of the module}}
rt.program @p reads(@clicks [@label]) prepare(@absent, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@w is not an nn.record}}
rt.program @p reads(@w [@label]) prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@absent is not a field of record @clicks}}
rt.program @p reads(@clicks [@absent]) prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{lookup @w is not an nn.table}}
rt.program @p reads(@clicks [@label]) lookups [@w] prepare(@stage, <0 + 0 * batch, keys(0), occurrences(0)>) compute(@stage, <0 + 0 * batch, keys(0), occurrences(0)>)

// -----

// (C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{update @mean is neither an nn.param nor an nn.table}}
rt.program @p reads(@clicks [@label]) updates [@mean] lookup_of [-1] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{update of parameter @w must have lookup -1}}
rt.program @p reads(@clicks [@label]) lookups [@emb] updates [@w] lookup_of [0] prepare(@stage, <0 + 0 * batch, keys(0), occurrences(0)>) compute(@stage, <0 + 0 * batch, keys(0), occurrences(0)>)

// -----

// (C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{update of table @emb must name the index of its lookup, not 1}}
rt.program @p reads(@clicks [@label]) lookups [@emb] updates [@emb] lookup_of [1] prepare(@stage, <0 + 0 * batch, keys(0), occurrences(0)>) compute(@stage, <0 + 0 * batch, keys(0), occurrences(0)>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 outputs, but 2 widths}}
rt.program @p reads(@clicks [@label]) outputs ["a"] widths [1, 2] types [f32] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 updates, but 2 `lookup_of` entries}}
rt.program @p reads(@clicks [@label]) updates [@w] lookup_of [-1, -1] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 updates, but 2 `counts` entries (C3)}}
rt.program @p reads(@clicks [@label]) updates [@w] lookup_of [-1] counts [0, 1] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 2 counts of rows; a table has 0 or more, a parameter none (C3)}}
rt.program @p reads(@clicks [@label]) updates [@w] lookup_of [-1] counts [2] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 updates, but 2 `objectives` entries (C3)}}
rt.program @p reads(@clicks [@label]) updates [@w] lookup_of [-1] objectives [0, 1] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has a negative objective (C3)}}
rt.program @p reads(@clicks [@label]) updates [@w] lookup_of [-1] objectives [-1] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{must have 1 entries of `keys` and of `occurrences`, one for each lookup}}
rt.program @p reads(@clicks [@label]) lookups [@emb] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C4)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{is frozen, but has updates or a loss}}
rt.program @p frozen reads(@clicks [@label]) loss prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (once C1)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@w is not an nn.group}}
rt.once_kernel @w calls @stage scalars ["sum of weights"] : f32

// -----

// (once C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{must write at least one scalar, the sum of weights (C2)}}
rt.once_kernel @w calls @stage scalars [] : f32

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 outputs, but 2 types (C3)}}
rt.program @p reads(@clicks [@label]) outputs ["a"] widths [1] types [f32, f64] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has an output of type 'i32'; outputs are f32, f64 or i64 (C3)}}
rt.program @p reads(@clicks [@label]) outputs ["a"] widths [1] types [i32] prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

// (C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{must have 1 entries of `ids`, one for each field}}
rt.program @p reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch, ids(4, 4)>) compute(@stage, <0 + 0 * batch>)

// -----

// (size C1)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{a size has no negative part (C1)}}
rt.program @p reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch, batch_squared(-4)>) compute(@stage, <0 + 0 * batch>)

// -----

// (size)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{expected batch_squared, ids, keys or occurrences, each once}}
rt.program @p reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch, rows(4)>) compute(@stage, <0 + 0 * batch>)

// -----

// (size)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{expected batch_squared, ids, keys or occurrences, each once}}
rt.program @p reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch, ids(4), ids(4)>) compute(@stage, <0 + 0 * batch>)

// -----

// (size)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{batch_squared is one number}}
rt.program @p reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch, batch_squared(4, 4)>) compute(@stage, <0 + 0 * batch>)

// -----

// (once C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{writes scalars of type 'i64'; they are f32 or f64 (C2)}}
rt.once_kernel @w calls @stage scalars ["sum of weights"] : i64

// -----

// (once C3)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{divides by scalar 1 of 1 (C3)}}
rt.once_kernel @w calls @stage scalars ["sum of weights"] divisors [1] : f32

// -----

// (update C1)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@mean is neither an nn.param nor an nn.table}}
rt.update_kernel @mean calls @stage

// -----

// (update C1)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@absent is not a function of the module}}
rt.update_kernel @w calls @absent

// -----

// (update C2)
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<10xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 slots, but 2 initial values}}
rt.update_kernel @w calls @stage slots ["m"] from [0.0, 1.0]

// -----

nn.param @w : tensor<10x10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 1 slots, but says that 2 have one element for each row (C2)}}
rt.update_kernel @w calls @stage slots ["m"] from [0.0] row_slots(2)

// -----

nn.param @w : tensor<10x10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has frozen programs read part 2, but only 1 slots of the value's size (C3)}}
rt.update_kernel @w calls @stage slots ["m", "n"] from [0.0, 0.0] row_slots(1) whole_rows frozen_part(2)

// -----

nn.param @w : tensor<10x10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{is called for a whole parameter, and knows rows (C4)}}
rt.update_kernel @w calls @stage whole_rows whole_parameter

// -----

nn.table @t : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{is called for a whole parameter, and @t is a table (C4)}}
rt.update_kernel @t calls @stage whole_parameter

// -----

nn.param @w : tensor<10x10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has counts of rows, and @w is no table (C5)}}
rt.update_kernel @w calls @stage counts(2)

// -----

nn.table @t : i64 -> tensor<10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has 2 counts, and 1 weights of them (C5)}}
rt.update_kernel @t calls @stage counts(2) weights [0.5]

// -----

nn.param @w : tensor<10x10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{has a device launch @stage, which knows neither seen nor whole_parameter (C7)}}
rt.update_kernel @w calls @stage launches @stage whole_parameter

// -----

nn.param @w : tensor<10x10xf32> init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{@w is not a function of the module}}
rt.update_kernel @w calls @stage launches @w

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @w : tensor<10x10xf32> in @g init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@+1 {{takes what gradients were computed on, and no group of @w compensates delays (C6)}}
rt.update_kernel @w calls @stage seen

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.zeros)
func.func @early_rows(%keys: tensor<?xi64>, %rows: tensor<?x4xf32>) {
  // expected-error@+1 {{of table @emb cannot be early: its rows leave together (C2)}}
  rt.gradient @emb keys(%keys : tensor<?xi64>) sum(%rows : tensor<?x4xf32>) early
  return
}
