module @ctr_dnn attributes {nn.phase = "split", ps.mode = #ps.mode<sync>} {
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
  ps.shards @emb count 1024 cost 1144
  nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
  ps.blocks @w1 rows [0, 64, 128, 192, 273] costs [204800, 204800, 204800, 259200]
  nn.param @b1 : tensor<400xf32> in @dense init(#nn.zeros)
  ps.blocks @b1 rows [0, 1] costs [3200]
  nn.param @w2 : tensor<400x400xf32> in @dense init(#nn.xavier)
  ps.blocks @w2 rows [0, 64, 128, 192, 256, 320, 400] costs [204800, 204800, 204800, 204800, 204800, 256000]
  nn.param @b2 : tensor<400xf32> in @dense init(#nn.zeros)
  ps.blocks @b2 rows [0, 1] costs [3200]
  nn.param @w3 : tensor<400x400xf32> in @dense init(#nn.xavier)
  ps.blocks @w3 rows [0, 64, 128, 192, 256, 320, 400] costs [204800, 204800, 204800, 204800, 204800, 256000]
  nn.param @b3 : tensor<400xf32> in @dense init(#nn.zeros)
  ps.blocks @b3 rows [0, 1] costs [3200]
  nn.param @w4 : tensor<400x1xf32> in @dense init(#nn.xavier)
  ps.blocks @w4 rows [0, 400] costs [3200]
  nn.param @b4 : tensor<1xf32> in @dense init(#nn.zeros)
  ps.blocks @b4 rows [0, 1] costs [8]
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @labels.range : #nn.bucket_error<buckets = 2>
  ps.channel @train.value.w1 number 0 in "train" value of @w1 : tensor<273x400xf32>
  ps.channel @train.value.b1 number 1 in "train" value of @b1 : tensor<400xf32>
  ps.channel @train.value.w2 number 2 in "train" value of @w2 : tensor<400x400xf32>
  ps.channel @train.value.b2 number 3 in "train" value of @b2 : tensor<400xf32>
  ps.channel @train.value.w3 number 4 in "train" value of @w3 : tensor<400x400xf32>
  ps.channel @train.value.b3 number 5 in "train" value of @b3 : tensor<400xf32>
  ps.channel @train.value.w4 number 6 in "train" value of @w4 : tensor<400x1xf32>
  ps.channel @train.value.b4 number 7 in "train" value of @b4 : tensor<1xf32>
  ps.channel @train.keys.emb number 8 in "train" keys of @emb : tensor<?xi64>
  ps.channel @train.rows.emb number 9 in "train" rows of @emb : tensor<?x10xf32>
  ps.channel @train.row_gradient.emb number 10 in "train" row_gradient of @emb : tensor<?x10xf32>
  ps.channel @train.gradient.w1 number 11 in "train" gradient of @w1 : tensor<273x400xf32>
  ps.channel @train.gradient.b1 number 12 in "train" gradient of @b1 : tensor<400xf32>
  ps.channel @train.gradient.w2 number 13 in "train" gradient of @w2 : tensor<400x400xf32>
  ps.channel @train.gradient.b2 number 14 in "train" gradient of @b2 : tensor<400xf32>
  ps.channel @train.gradient.w3 number 15 in "train" gradient of @w3 : tensor<400x400xf32>
  ps.channel @train.gradient.b3 number 16 in "train" gradient of @b3 : tensor<400xf32>
  ps.channel @train.gradient.w4 number 17 in "train" gradient of @w4 : tensor<400x1xf32>
  ps.channel @train.gradient.b4 number 18 in "train" gradient of @b4 : tensor<1xf32>
  ps.channel @train.loss number 19 in "train" loss : tensor<2xf64>
  ps.channel @train.partial_norm.joint.w1 number 20 in "train" partial_norm of @w1 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.b1 number 21 in "train" partial_norm of @b1 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.w2 number 22 in "train" partial_norm of @w2 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.b2 number 23 in "train" partial_norm of @b2 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.w3 number 24 in "train" partial_norm of @w3 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.b3 number 25 in "train" partial_norm of @b3 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.w4 number 26 in "train" partial_norm of @w4 clip @joint : tensor<?xf64>
  ps.channel @train.partial_norm.joint.b4 number 27 in "train" partial_norm of @b4 clip @joint : tensor<?xf64>
  ps.channel @train.norm.joint number 28 in "train" norm clip @joint : tensor<f64>
  ps.message @train.exchange in "train" round sends [@train.row_gradient.emb, @train.gradient.w1, @train.gradient.b1, @train.gradient.w2, @train.gradient.b2, @train.gradient.w3, @train.gradient.b3, @train.gradient.w4, @train.gradient.b4, @train.loss] ahead [] receives [@train.loss, @train.partial_norm.joint.w1, @train.partial_norm.joint.b1, @train.partial_norm.joint.w2, @train.partial_norm.joint.b2, @train.partial_norm.joint.w3, @train.partial_norm.joint.b3, @train.partial_norm.joint.w4, @train.partial_norm.joint.b4]
  ps.message @train.norm in "train" round sends [@train.norm.joint, @train.keys.emb] ahead [@train.keys.emb] receives [@train.value.w1, @train.value.b1, @train.value.w2, @train.value.b2, @train.value.w3, @train.value.b3, @train.value.w4, @train.value.b4, @train.rows.emb]
  nn.program @train reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2 {stage = #nn.stage<prepare>}
    %0:9 = ps.wait @train.norm keys(%keys : tensor<?xi64>) {stage = #nn.stage<receive>} : tensor<273x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x1xf32>, tensor<1xf32>, tensor<?x10xf32>
    %1 = nn.pool %0#8[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %2 = nn.reshape %1 {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x260xf32>
    %3 = nn.signed_log1p %arg1 {stage = #nn.stage<compute>} : tensor<?x13xf32>
    %4 = nn.concat %2, %3 axis 1 {stage = #nn.stage<compute>} : tensor<?x260xf32>, tensor<?x13xf32>
    %5 = nn.gemm %4, %0#0 bias(%0#1) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %6 = nn.gemm %5, %0#2 bias(%0#3) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %7 = nn.gemm %6, %0#4 bias(%0#5) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %8 = nn.gemm %7, %0#6 bias(%0#7) post [bias] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %9 = nn.sigmoid_cross_entropy %8, %arg0 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %10 = nn.sigmoid %8 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @auc(%10, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @log_loss(%10, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @copc(%10, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @labels.range(%arg0, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %11 = nn.sub %10, %arg0 {stage = #nn.stage<compute>} : tensor<?x1xf32>, tensor<?x1xf32>
    %12 = nn.reduce  sum %11 axes [0] {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %13 = nn.gemm %7 transposed, %11 post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<?x1xf32>) -> tensor<400x1xf32>
    %14 = nn.gemm %11, %0#6 transposed mask(%7) post [relu_gradient] {stage = #nn.stage<compute>} : (tensor<?x1xf32>, tensor<400x1xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %15 = nn.reduce  sum %14 axes [0] {stage = #nn.stage<compute>} : tensor<?x400xf32>
    %16 = nn.gemm %6 transposed, %14 post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<?x400xf32>) -> tensor<400x400xf32>
    %17 = nn.gemm %14, %0#4 transposed mask(%6) post [relu_gradient] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %18 = nn.reduce  sum %17 axes [0] {stage = #nn.stage<compute>} : tensor<?x400xf32>
    %19 = nn.gemm %5 transposed, %17 post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<?x400xf32>) -> tensor<400x400xf32>
    %20 = nn.gemm %17, %0#2 transposed mask(%5) post [relu_gradient] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %21 = nn.reduce  sum %20 axes [0] {stage = #nn.stage<compute>} : tensor<?x400xf32>
    %22 = nn.gemm %4 transposed, %20 post [] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<?x400xf32>) -> tensor<273x400xf32>
    %23 = nn.gemm %20, %0#0 transposed post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<273x400xf32>) -> tensor<?x273xf32>
    %24 = nn.slice %23 axis 1 offset 0 size 260 {stage = #nn.stage<compute>} : tensor<?x273xf32>
    %25 = nn.reshape %24 {stage = #nn.stage<compute>} : (tensor<?x260xf32>) -> tensor<?x10xf32>
    %26 = nn.pool_gradient[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum from %25) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %sum, %weight = nn.loss_sum %9 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    ps.post @train.exchange(%26, %22, %21, %19, %18, %16, %15, %13, %12, %sum, %weight) {stage = #nn.stage<send>} : tensor<?x10xf32>, tensor<273x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x1xf32>, tensor<1xf32>, tensor<f64>, tensor<f64>
    %27:10 = ps.wait @train.exchange {stage = #nn.stage<send>} : tensor<f64>, tensor<f64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
    %28 = ps.join_norms %27#2, %27#3, %27#4, %27#5, %27#6, %27#7, %27#8, %27#9 {stage = #nn.stage<send>} : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64> -> tensor<f64>
    ps.post @train.norm(%28) {stage = #nn.stage<send>} : tensor<f64>
  }
  ps.handler @train.apply in "train" on @train.norm {
    %0:2 = ps.merged @train.loss : tensor<f64>, tensor<f64>
    %1:2 = ps.merged @train.row_gradient.emb : tensor<?xi64>, tensor<?x10xf32>
    %2 = ps.merged @train.gradient.w1 : tensor<273x400xf32>
    %3 = ps.merged @train.gradient.b1 : tensor<400xf32>
    %4 = ps.merged @train.gradient.w2 : tensor<400x400xf32>
    %5 = ps.merged @train.gradient.b2 : tensor<400xf32>
    %6 = ps.merged @train.gradient.w3 : tensor<400x400xf32>
    %7 = ps.merged @train.gradient.b3 : tensor<400xf32>
    %8 = ps.merged @train.gradient.w4 : tensor<400x1xf32>
    %9 = ps.merged @train.gradient.b4 : tensor<1xf32>
    %10 = ps.merged @train.norm.joint : tensor<f64>
    %11:9 = nn.once @dense weight(%0#1) norm(%10) -> (weight, clip_factor, "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon") {
    ^bb0(%arg0: f64, %arg1: f64, %arg2: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 1.000000e+01 : f64
      %13 = math.sqrt %arg2 : f64
      %14 = arith.maximumf %13, %cst_0 : f64
      %15 = arith.divf %cst_0, %14 : f64
      %cst_1 = arith.constant 9.000000e-01 : f64
      %cst_2 = arith.constant 0.99899999999999999 : f64
      %cst_3 = arith.constant 1.000000e-08 : f64
      %cst_4 = arith.constant 1.000000e+00 : f64
      %16 = arith.subf %cst_4, %cst_1 : f64
      %17 = arith.subf %cst_4, %cst_2 : f64
      %18 = math.powf %cst_1, %arg0 : f64
      %19 = math.powf %cst_2, %arg0 : f64
      %20 = arith.subf %cst_4, %18 : f64
      %21 = arith.subf %cst_4, %19 : f64
      %22 = arith.divf %cst, %20 : f64
      %23 = math.sqrt %21 : f64
      %24 = arith.divf %cst_4, %23 : f64
      nn.yield %arg1, %15, %22, %24, %cst_1, %16, %cst_2, %17, %cst_3 : f64, f64, f64, f64, f64, f64, f64, f64, f64
    } : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    %12:8 = nn.once @sparse weight(%0#1) -> (weight, "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon") {
    ^bb0(%arg0: f64, %arg1: f64, %arg2: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 9.000000e-01 : f64
      %cst_1 = arith.constant 0.99899999999999999 : f64
      %cst_2 = arith.constant 1.000000e-08 : f64
      %cst_3 = arith.constant 1.000000e+00 : f64
      %13 = arith.subf %cst_3, %cst_0 : f64
      %14 = arith.subf %cst_3, %cst_1 : f64
      %15 = math.powf %cst_0, %arg0 : f64
      %16 = math.powf %cst_1, %arg0 : f64
      %17 = arith.subf %cst_3, %15 : f64
      %18 = arith.subf %cst_3, %16 : f64
      %19 = arith.divf %cst, %17 : f64
      %20 = math.sqrt %18 : f64
      %21 = arith.divf %cst_3, %20 : f64
      nn.yield %arg1, %19, %21, %cst_0, %13, %cst_1, %14, %cst_2 : f64, f64, f64, f64, f64, f64, f64, f64
    } : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @emb keys(%1#0) gradient(%1#1) scalars(%12#0, %12#1, %12#2, %12#3, %12#4, %12#5, %12#6, %12#7) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %arg7, %arg2 : f32
      %15 = arith.mulf %arg8, %13 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %13, %13 : f32
      %18 = arith.mulf %arg9, %arg3 : f32
      %19 = arith.mulf %arg10, %17 : f32
      %20 = arith.addf %18, %19 : f32
      %21 = math.sqrt %20 : f32
      %22 = arith.mulf %21, %arg6 : f32
      %23 = arith.addf %22, %arg11 : f32
      %24 = arith.divf %16, %23 : f32
      %25 = arith.mulf %arg5, %24 : f32
      %26 = arith.subf %arg0, %25 : f32
      nn.yield %26, %16, %20 : f32, f32, f32
    } : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w1 gradient(%2) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<273x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b1 gradient(%3) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w2 gradient(%4) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b2 gradient(%5) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w3 gradient(%6) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b3 gradient(%7) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w4 gradient(%8) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<400x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b4 gradient(%9) scalars(%11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7, %11#8) {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32):
      %13 = arith.divf %arg1, %arg4 : f32
      %14 = arith.mulf %13, %arg5 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %15 = arith.mulf %cst, %arg0 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %arg8, %arg2 : f32
      %18 = arith.mulf %arg9, %16 : f32
      %19 = arith.addf %17, %18 : f32
      %20 = arith.mulf %16, %16 : f32
      %21 = arith.mulf %arg10, %arg3 : f32
      %22 = arith.mulf %arg11, %20 : f32
      %23 = arith.addf %21, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.mulf %24, %arg7 : f32
      %26 = arith.addf %25, %arg12 : f32
      %27 = arith.divf %19, %26 : f32
      %28 = arith.mulf %arg6, %27 : f32
      %29 = arith.subf %arg0, %28 : f32
      nn.yield %29, %19, %23 : f32, f32, f32
    } : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  ps.handler @train.norms in "train" on @train.exchange {
    %0:2 = ps.merged @train.loss : tensor<f64>, tensor<f64>
    %1:2 = ps.merged @train.row_gradient.emb : tensor<?xi64>, tensor<?x10xf32>
    %2 = ps.merged @train.gradient.w1 : tensor<273x400xf32>
    %3 = ps.merged @train.gradient.b1 : tensor<400xf32>
    %4 = ps.merged @train.gradient.w2 : tensor<400x400xf32>
    %5 = ps.merged @train.gradient.b2 : tensor<400xf32>
    %6 = ps.merged @train.gradient.w3 : tensor<400x400xf32>
    %7 = ps.merged @train.gradient.b3 : tensor<400xf32>
    %8 = ps.merged @train.gradient.w4 : tensor<400x1xf32>
    %9 = ps.merged @train.gradient.b4 : tensor<1xf32>
    ps.partial_norm %2 weight(%0#1) to @train.partial_norm.joint.w1 : tensor<273x400xf32>, tensor<f64>
    ps.partial_norm %3 weight(%0#1) to @train.partial_norm.joint.b1 : tensor<400xf32>, tensor<f64>
    ps.partial_norm %4 weight(%0#1) to @train.partial_norm.joint.w2 : tensor<400x400xf32>, tensor<f64>
    ps.partial_norm %5 weight(%0#1) to @train.partial_norm.joint.b2 : tensor<400xf32>, tensor<f64>
    ps.partial_norm %6 weight(%0#1) to @train.partial_norm.joint.w3 : tensor<400x400xf32>, tensor<f64>
    ps.partial_norm %7 weight(%0#1) to @train.partial_norm.joint.b3 : tensor<400xf32>, tensor<f64>
    ps.partial_norm %8 weight(%0#1) to @train.partial_norm.joint.w4 : tensor<400x1xf32>, tensor<f64>
    ps.partial_norm %9 weight(%0#1) to @train.partial_norm.joint.b4 : tensor<1xf32>, tensor<f64>
  }
  ps.channel @evaluate.value.w1 number 0 in "evaluate" value of @w1 : tensor<273x400xf32>
  ps.channel @evaluate.value.b1 number 1 in "evaluate" value of @b1 : tensor<400xf32>
  ps.channel @evaluate.value.w2 number 2 in "evaluate" value of @w2 : tensor<400x400xf32>
  ps.channel @evaluate.value.b2 number 3 in "evaluate" value of @b2 : tensor<400xf32>
  ps.channel @evaluate.value.w3 number 4 in "evaluate" value of @w3 : tensor<400x400xf32>
  ps.channel @evaluate.value.b3 number 5 in "evaluate" value of @b3 : tensor<400xf32>
  ps.channel @evaluate.value.w4 number 6 in "evaluate" value of @w4 : tensor<400x1xf32>
  ps.channel @evaluate.value.b4 number 7 in "evaluate" value of @b4 : tensor<1xf32>
  ps.channel @evaluate.keys.emb number 8 in "evaluate" keys of @emb : tensor<?xi64>
  ps.channel @evaluate.rows.emb number 9 in "evaluate" rows of @emb : tensor<?x10xf32>
  ps.message @evaluate.pull in "evaluate" sends [@evaluate.keys.emb] ahead [] receives [@evaluate.value.w1, @evaluate.value.b1, @evaluate.value.w2, @evaluate.value.b2, @evaluate.value.w3, @evaluate.value.b3, @evaluate.value.w4, @evaluate.value.b4, @evaluate.rows.emb]
  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2 {stage = #nn.stage<prepare>}
    %0:9 = ps.wait @evaluate.pull keys(%keys : tensor<?xi64>) {stage = #nn.stage<receive>} : tensor<273x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x1xf32>, tensor<1xf32>, tensor<?x10xf32>
    %1 = nn.pool %0#8[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %2 = nn.reshape %1 {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x260xf32>
    %3 = nn.signed_log1p %arg1 {stage = #nn.stage<compute>} : tensor<?x13xf32>
    %4 = nn.concat %2, %3 axis 1 {stage = #nn.stage<compute>} : tensor<?x260xf32>, tensor<?x13xf32>
    %5 = nn.gemm %4, %0#0 bias(%0#1) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %6 = nn.gemm %5, %0#2 bias(%0#3) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %7 = nn.gemm %6, %0#4 bias(%0#5) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %8 = nn.gemm %7, %0#6 bias(%0#7) post [bias] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %9 = nn.sigmoid %8 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @auc(%9, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @log_loss(%9, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @copc(%9, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
  }
  ps.channel @predict.value.w1 number 0 in "predict" value of @w1 : tensor<273x400xf32>
  ps.channel @predict.value.b1 number 1 in "predict" value of @b1 : tensor<400xf32>
  ps.channel @predict.value.w2 number 2 in "predict" value of @w2 : tensor<400x400xf32>
  ps.channel @predict.value.b2 number 3 in "predict" value of @b2 : tensor<400xf32>
  ps.channel @predict.value.w3 number 4 in "predict" value of @w3 : tensor<400x400xf32>
  ps.channel @predict.value.b3 number 5 in "predict" value of @b3 : tensor<400xf32>
  ps.channel @predict.value.w4 number 6 in "predict" value of @w4 : tensor<400x1xf32>
  ps.channel @predict.value.b4 number 7 in "predict" value of @b4 : tensor<1xf32>
  ps.channel @predict.keys.emb number 8 in "predict" keys of @emb : tensor<?xi64>
  ps.channel @predict.rows.emb number 9 in "predict" rows of @emb : tensor<?x10xf32>
  ps.message @predict.pull in "predict" sends [@predict.keys.emb] ahead [] receives [@predict.value.w1, @predict.value.b1, @predict.value.w2, @predict.value.b2, @predict.value.w3, @predict.value.b3, @predict.value.w4, @predict.value.b4, @predict.rows.emb]
  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%arg0: tensor<?x13xf32>, %arg1: tensor<?xi64>, %arg2: tensor<?xi32>):
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg1 {stage = #nn.stage<prepare>}
    %0:9 = ps.wait @predict.pull keys(%keys : tensor<?xi64>) {stage = #nn.stage<receive>} : tensor<273x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x1xf32>, tensor<1xf32>, tensor<?x10xf32>
    %1 = nn.pool %0#8[%inverse, %key_splits, %occurrences] of (%arg1 bags(%arg2) sum) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %2 = nn.reshape %1 {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x260xf32>
    %3 = nn.signed_log1p %arg0 {stage = #nn.stage<compute>} : tensor<?x13xf32>
    %4 = nn.concat %2, %3 axis 1 {stage = #nn.stage<compute>} : tensor<?x260xf32>, tensor<?x13xf32>
    %5 = nn.gemm %4, %0#0 bias(%0#1) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %6 = nn.gemm %5, %0#2 bias(%0#3) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %7 = nn.gemm %6, %0#4 bias(%0#5) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %8 = nn.gemm %7, %0#6 bias(%0#7) post [bias] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %9 = nn.sigmoid %8 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.return %9 : tensor<?x1xf32>
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

