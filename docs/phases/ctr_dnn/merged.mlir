module @ctr_dnn attributes {nn.phase = "merged"} {
  nn.record @criteo {
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x13xf32> missing(0.000000e+00 : f64)
    nn.field @categories : !nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>)
  }
  nn.clip @joint : global_norm(1.000000e+01)
  nn.rule @adam hyper (beta1 = 9.000000e-01 from 0.000000e+00 below 1.000000e+00, beta2 = 0.99899999999999999 from 0.000000e+00 below 1.000000e+00, epsilon = 1.000000e-08 from 0.000000e+00) slots (m = 0.000000e+00, v = 0.000000e+00) once {
  ^bb0(%arg0: f64, %arg1: f64, %arg2: f64, %arg3: f64, %arg4: f64):
    %cst = arith.constant 1.000000e+00 : f64
    %0 = arith.subf %cst, %arg2 : f64
    %1 = arith.subf %cst, %arg3 : f64
    %2 = math.powf %arg2, %arg0 : f64
    %3 = math.powf %arg3, %arg0 : f64
    %4 = arith.subf %cst, %2 : f64
    %5 = arith.subf %cst, %3 : f64
    %6 = arith.divf %arg1, %4 : f64
    %7 = math.sqrt %5 : f64
    %8 = arith.divf %cst, %7 : f64
    nn.yield %6, %8, %arg2, %0, %arg3, %1, %arg4 : f64, f64, f64, f64, f64, f64, f64
  } each {
  ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32):
    %0 = arith.mulf %arg6, %arg2 : f32
    %1 = arith.mulf %arg7, %arg1 : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.mulf %arg1, %arg1 : f32
    %4 = arith.mulf %arg8, %arg3 : f32
    %5 = arith.mulf %arg9, %3 : f32
    %6 = arith.addf %4, %5 : f32
    %7 = math.sqrt %6 : f32
    %8 = arith.mulf %7, %arg5 : f32
    %9 = arith.addf %8, %arg10 : f32
    %10 = arith.divf %2, %9 : f32
    %11 = arith.mulf %arg4, %10 : f32
    %12 = arith.subf %arg0, %11 : f32
    nn.yield %12, %2, %6 : f32, f32, f32
  }
  nn.group @dense rule(@adam) rate(1.000000e-03) decay(#nn.l2<9.9999999999999995E-7>) clip(@joint)
  nn.group @sparse rule(@adam) rate(1.000000e-03) untouched( lazy)
  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-1.000000e-02, 1.000000e-02>)
  nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w4 : tensor<400x1xf32> in @dense init(#nn.xavier)
  nn.param @b4 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @labels.range : #nn.bucket_error<buckets = 2>
  nn.program @train reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %0 = nn.read @w1 : tensor<273x400xf32>
    %1 = nn.read @b1 : tensor<400xf32>
    %2 = nn.read @w2 : tensor<400x400xf32>
    %3 = nn.read @b2 : tensor<400xf32>
    %4 = nn.read @w3 : tensor<400x400xf32>
    %5 = nn.read @b3 : tensor<400xf32>
    %6 = nn.read @w4 : tensor<400x1xf32>
    %7 = nn.read @b4 : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2
    %8 = nn.pull @emb[%keys] : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum) : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %11 = nn.reshape %10 : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %12 = nn.signed_log1p %arg1 : tensor<?x13xf32>
    %13 = nn.concat %11, %12 axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    %14 = nn.matmul %13, %0 : tensor<?x273xf32>, tensor<273x400xf32>
    %15 = nn.add %14, %1 : tensor<?x400xf32>, tensor<400xf32>
    %16 = nn.relu %15 : tensor<?x400xf32>
    %17 = nn.matmul %16, %2 : tensor<?x400xf32>, tensor<400x400xf32>
    %18 = nn.add %17, %3 : tensor<?x400xf32>, tensor<400xf32>
    %19 = nn.relu %18 : tensor<?x400xf32>
    %20 = nn.matmul %19, %4 : tensor<?x400xf32>, tensor<400x400xf32>
    %21 = nn.add %20, %5 : tensor<?x400xf32>, tensor<400xf32>
    %22 = nn.relu %21 : tensor<?x400xf32>
    %23 = nn.matmul %22, %6 : tensor<?x400xf32>, tensor<400x1xf32>
    %24 = nn.add %23, %7 : tensor<?x1xf32>, tensor<1xf32>
    %25 = nn.sigmoid_cross_entropy %24, %arg0 : tensor<?x1xf32>
    %26 = nn.sigmoid %24 : tensor<?x1xf32>
    nn.observe @auc(%26, %arg0) : tensor<?x1xf32>
    nn.observe @log_loss(%26, %arg0) : tensor<?x1xf32>
    nn.observe @copc(%26, %arg0) : tensor<?x1xf32>
    nn.observe @labels.range(%arg0, %arg0) : tensor<?x1xf32>
    nn.minimize %25 over [@dense, @sparse] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %0 = nn.read @w1 : tensor<273x400xf32>
    %1 = nn.read @b1 : tensor<400xf32>
    %2 = nn.read @w2 : tensor<400x400xf32>
    %3 = nn.read @b2 : tensor<400xf32>
    %4 = nn.read @w3 : tensor<400x400xf32>
    %5 = nn.read @b3 : tensor<400xf32>
    %6 = nn.read @w4 : tensor<400x1xf32>
    %7 = nn.read @b4 : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2
    %8 = nn.pull @emb[%keys] : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum) : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %11 = nn.reshape %10 : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %12 = nn.signed_log1p %arg1 : tensor<?x13xf32>
    %13 = nn.concat %11, %12 axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    %14 = nn.matmul %13, %0 : tensor<?x273xf32>, tensor<273x400xf32>
    %15 = nn.add %14, %1 : tensor<?x400xf32>, tensor<400xf32>
    %16 = nn.relu %15 : tensor<?x400xf32>
    %17 = nn.matmul %16, %2 : tensor<?x400xf32>, tensor<400x400xf32>
    %18 = nn.add %17, %3 : tensor<?x400xf32>, tensor<400xf32>
    %19 = nn.relu %18 : tensor<?x400xf32>
    %20 = nn.matmul %19, %4 : tensor<?x400xf32>, tensor<400x400xf32>
    %21 = nn.add %20, %5 : tensor<?x400xf32>, tensor<400xf32>
    %22 = nn.relu %21 : tensor<?x400xf32>
    %23 = nn.matmul %22, %6 : tensor<?x400xf32>, tensor<400x1xf32>
    %24 = nn.add %23, %7 : tensor<?x1xf32>, tensor<1xf32>
    %25 = nn.sigmoid %24 : tensor<?x1xf32>
    nn.observe @auc(%25, %arg0) : tensor<?x1xf32>
    nn.observe @log_loss(%25, %arg0) : tensor<?x1xf32>
    nn.observe @copc(%25, %arg0) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%arg0: tensor<?x13xf32>, %arg1: tensor<?xi64>, %arg2: tensor<?xi32>):
    %0 = nn.read @w1 : tensor<273x400xf32>
    %1 = nn.read @b1 : tensor<400xf32>
    %2 = nn.read @w2 : tensor<400x400xf32>
    %3 = nn.read @b2 : tensor<400xf32>
    %4 = nn.read @w3 : tensor<400x400xf32>
    %5 = nn.read @b3 : tensor<400xf32>
    %6 = nn.read @w4 : tensor<400x1xf32>
    %7 = nn.read @b4 : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg1
    %8 = nn.pull @emb[%keys] : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of (%arg1 bags(%arg2) sum) : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %11 = nn.reshape %10 : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %12 = nn.signed_log1p %arg0 : tensor<?x13xf32>
    %13 = nn.concat %11, %12 axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    %14 = nn.matmul %13, %0 : tensor<?x273xf32>, tensor<273x400xf32>
    %15 = nn.add %14, %1 : tensor<?x400xf32>, tensor<400xf32>
    %16 = nn.relu %15 : tensor<?x400xf32>
    %17 = nn.matmul %16, %2 : tensor<?x400xf32>, tensor<400x400xf32>
    %18 = nn.add %17, %3 : tensor<?x400xf32>, tensor<400xf32>
    %19 = nn.relu %18 : tensor<?x400xf32>
    %20 = nn.matmul %19, %4 : tensor<?x400xf32>, tensor<400x400xf32>
    %21 = nn.add %20, %5 : tensor<?x400xf32>, tensor<400xf32>
    %22 = nn.relu %21 : tensor<?x400xf32>
    %23 = nn.matmul %22, %6 : tensor<?x400xf32>, tensor<400x1xf32>
    %24 = nn.add %23, %7 : tensor<?x1xf32>, tensor<1xf32>
    %25 = nn.sigmoid %24 : tensor<?x1xf32>
    nn.return %25 : tensor<?x1xf32>
  }
  nn.fingerprint state {
    "keys of @emb" = "text by xxh64 salt slot",
    "rows of @emb" = "f32 [10]",
    "shape of @b1" = "f32 [400]",
    "shape of @b2" = "f32 [400]",
    "shape of @b3" = "f32 [400]",
    "shape of @b4" = "f32 [1]",
    "shape of @w1" = "f32 [273, 400]",
    "shape of @w2" = "f32 [400, 400]",
    "shape of @w3" = "f32 [400, 400]",
    "shape of @w4" = "f32 [400, 1]"
  } optimizer {
    "groups with steps" = "@dense, @sparse",
    "slots of @b1" = "m, v",
    "slots of @b2" = "m, v",
    "slots of @b3" = "m, v",
    "slots of @b4" = "m, v",
    "slots of @emb" = "m, v",
    "slots of @w1" = "m, v",
    "slots of @w2" = "m, v",
    "slots of @w3" = "m, v",
    "slots of @w4" = "m, v"
  } training {
    "clip of group @dense" = "global norm 10 of @w1, @b1, @w2, @b2, @w3, @b3, @w4, @b4",
    "field 1" = "tensor<?x1xf32> from column 0",
    "field 2" = "tensor<?x13xf32> missing(0.000000e+00 : f64) from column 1",
    "field 3" = "!nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>) from column 14",
    "group of @b1" = "@dense",
    "group of @b2" = "@dense",
    "group of @b3" = "@dense",
    "group of @b4" = "@dense",
    "group of @emb" = "@sparse",
    "group of @w1" = "@dense",
    "group of @w2" = "@dense",
    "group of @w3" = "@dense",
    "group of @w4" = "@dense",
    "initial rows of @emb" = "#nn.uniform<-1.000000e-02, 1.000000e-02>",
    "losses of @train" = "b17cb417b094b15b",
    "rate of group @dense" = "0.001",
    "rate of group @sparse" = "0.001",
    "regularizer of group @dense" = "#nn.l2<9.9999999999999995E-7>",
    "rule of group @dense" = "{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, 73cd4d1424e06faa463a75f5397c8995",
    "rule of group @sparse" = "{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, 73cd4d1424e06faa463a75f5397c8995",
    "untouched rows of group @sparse" = "lazy"
  }
}

