// RUN: pdl-opt %s --rt-descriptor-to-llvm="numerics=strict" | FileCheck %s

// The layouts are those of pdlabi/abi.h, with the same order of members.

module @tiny {
  nn.fingerprint state {"shape of @w" = "f32 [100, 200]"} optimizer {"slots of @w" = "m, v"}
    training {"rate of group @dense" = "1"}
  nn.record @clicks missing_texts(["NULL", "NA"]) {
    nn.field @label : tensor<?x1xf32> values({"no" = 0.0, "yes" = 1.0}) columns([14])
    nn.field @numbers : tensor<?x3xf32> missing(0.5)
    nn.field @category : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>) missing_element("gap") separator("|")
    nn.field @tags : !nn.ragged<?x26x*xi64> separator("|")
  }
  nn.rule @sgd hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield %value : f32
  }
  nn.clip @joint : global_norm(10.0)
  nn.group @sparse rule(@sgd) rate(1.0) untouched(lazy)
  nn.group @dense rule(@sgd) rate(1.0) clip(@joint)
  nn.state @mean : tensor<13xf64> init(#nn.constant<0.25>)
  nn.param @w : tensor<100x200xf32> in @dense init(#nn.xavier)
  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-0.01, 0.01>) unknown(zero)
  nn.table @small : i64 -> tensor<7xf32> init(#nn.zeros) stored(f16)
  nn.metric @auc : #nn.auc<buckets = 4096>
  llvm.func @prepare(%context: !llvm.ptr) -> i32 {
    %0 = llvm.mlir.constant(0 : i32) : i32
    llvm.return %0 : i32
  }
  llvm.func @kernel(%count: i64, %state: !llvm.ptr, %gradient: !llvm.ptr, %scalars: !llvm.ptr) {
    llvm.return
  }
  rt.once_kernel @dense calls @kernel scalars ["sum of weights", "rate"] divisors [0] : f32
  rt.update_kernel @w calls @kernel slots ["m", "v"] from [0.0, 0.5]
  rt.program @train reads(@clicks [@label, @category, @tags]) joined [2, 1] ids [#rt.id_range<field 1 columns 0 + 2 from 5 below 45>, #rt.id_range<field 1 columns 1 + 1 from -1 below 2 counts dense<[3, 0, 9]> : tensor<3xi64>>] lookups [@emb]
    updates [@w, @emb] lookup_of [-1, 0] outputs ["output0", "output1"] widths [1, 13] types [f32, f64] loss
    prepare(@prepare, <0 + 0 * batch, keys(0), occurrences(4)>)
    compute(@prepare, <64 + 1600 * batch, batch_squared(12), ids(0, 8, 0), keys(40), occurrences(0)>)
}

// Only the query function is not internal.
// CHECK-NOT: {{nn\.(param|group|record)}}
// CHECK: llvm.func internal @prepare
// CHECK: llvm.func internal @kernel

// CHECK: @pdl.field.label.missing()
// CHECK: @pdl.field.label.columns(dense<14> : tensor<1xi64>)
// CHECK: @pdl.field.label.numbers(dense<[0.000000e+00, 1.000000e+00]>

// The numbers of slots, and kernels.
// CHECK: @pdl.symbol.w.shape(dense<[100, 200]> : tensor<2xi64>)
// CHECK: @pdl.symbol.w.slot_values(dense<[0.000000e+00, 5.000000e-01]>

// Fields label and category; the table is symbol 2; updates of symbols 1 and 2.
// CHECK: @pdl.program.train.fields(dense<[0, 2, 3]> : tensor<3xi32>)
// CHECK: @pdl.program.train.joined(dense<[2, 1]> : tensor<2xi32>)
// The second of three ids may be missing.
// CHECK: @pdl.program.train.ids2(dense<5> : tensor<1xi32>)
// CHECK: @pdl.program.train.ids()
// CHECK: @pdl.program.train.lookups() {{.*}} !llvm.array<1 x struct<"pdl_lookup_descriptor", (i32)>>
// CHECK: llvm.mlir.constant(2 : i32)
// CHECK: @pdl.program.train.updates()
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK: llvm.mlir.constant(-1 : i32)
// CHECK: llvm.mlir.constant(2 : i32)
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK: @pdl.program.train.compute_arena.per_key(dense<40> : tensor<1xi64>)

// xavier is uniform in [-b, b), b = sqrt(6 / 300).
// CHECK: llvm.mlir.global internal constant @pdl.symbols()
// CHECK: llvm.mlir.addressof @pdl.symbol.w.shape
// CHECK: llvm.mlir.constant(100 : i64)
// CHECK: llvm.mlir.constant(200 : i64)
// CHECK: llvm.mlir.constant(-0.1414213{{[0-9]*}} : f64)
// CHECK: llvm.mlir.constant(0.1414213{{[0-9]*}} : f64)
// CHECK: llvm.mlir.addressof @kernel

// The parts of the model: kinds state, optimizer and training.
// CHECK: llvm.mlir.global internal constant @pdl.parts() {{.*}} !llvm.array<3 x struct<"pdl_part", (i32, ptr, ptr)>>
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK: llvm.mlir.constant(2 : i32)

// Numerics strict (1), the fingerprints, and no fingerprint of a wire.
// CHECK: llvm.mlir.global internal constant @pdl.descriptor()
// CHECK: llvm.mlir.constant({{-?[1-9][0-9]*}} : i64)
// CHECK: llvm.mlir.constant({{-?[1-9][0-9]*}} : i64)
// CHECK: llvm.mlir.constant(0 : i64)
// CHECK: llvm.func @pdl_program_query(%[[VERSION:.*]]: i32) -> !llvm.ptr
// CHECK: llvm.icmp "eq" %[[VERSION]]
// CHECK: llvm.select
