// RUN: pdl-opt %s --rt-descriptor-to-llvm --verify-diagnostics --split-input-file

// expected-error@+1 {{the model declares no program; add an nn.program such as @train}}
module {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
}

// -----

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.record @other {
  nn.field @label : tensor<?x1xf32>
}
llvm.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}
// expected-error@+1 {{put all fields into one record and leave some out with `except`}}
rt.program @a frozen reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)
rt.program @b frozen reads(@other [@label]) prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)

// -----

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
// expected-error@+1 {{takes the name pdl_program_query, which the program exports; rename it}}
llvm.func @pdl_program_query(%context: !llvm.ptr) -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}
rt.program @a frozen reads(@clicks [@label]) prepare(@pdl_program_query, <0 + 0 * batch>) compute(@pdl_program_query, <0 + 0 * batch>)

// -----

// Scalars have the element type of the updated symbol.
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f64, %gradient: f64, %rate: f64):
  nn.yield %value : f64
}
nn.group @dense rule(@sgd) rate(1.0)
nn.param @w : tensor<10xf64> in @dense init(#nn.zeros)
llvm.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}
rt.once_kernel @dense calls @stage scalars ["sum of weights"] : f32
// expected-error@+1 {{updates @w of 'f64', but the scalars of its group @dense are of 'f32'; put symbols of two types into two groups}}
rt.update_kernel @w calls @stage
rt.program @a frozen reads(@clicks [@label]) prepare(@stage, <0 + 0 * batch>) compute(@stage, <0 + 0 * batch>)
