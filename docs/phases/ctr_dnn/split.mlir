module @ctr_dnn attributes {nn.phase = "split"} {
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
    %0 = nn.read @w1 {stage = #nn.stage<compute>} : tensor<273x400xf32>
    %1 = nn.read @b1 {stage = #nn.stage<compute>} : tensor<400xf32>
    %2 = nn.read @w2 {stage = #nn.stage<compute>} : tensor<400x400xf32>
    %3 = nn.read @b2 {stage = #nn.stage<compute>} : tensor<400xf32>
    %4 = nn.read @w3 {stage = #nn.stage<compute>} : tensor<400x400xf32>
    %5 = nn.read @b3 {stage = #nn.stage<compute>} : tensor<400xf32>
    %6 = nn.read @w4 {stage = #nn.stage<compute>} : tensor<400x1xf32>
    %7 = nn.read @b4 {stage = #nn.stage<compute>} : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2 {stage = #nn.stage<prepare>}
    %8 = nn.pull @emb[%keys] {stage = #nn.stage<prepare>} : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x260xf32>
    %11 = nn.signed_log1p %arg1 {stage = #nn.stage<compute>} : tensor<?x13xf32>
    %12 = nn.concat %10, %11 axis 1 {stage = #nn.stage<compute>} : tensor<?x260xf32>, tensor<?x13xf32>
    %13 = nn.gemm %12, %0 bias(%1) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %14 = nn.gemm %13, %2 bias(%3) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %15 = nn.gemm %14, %4 bias(%5) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %16 = nn.gemm %15, %6 bias(%7) post [bias] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %17 = nn.sigmoid_cross_entropy %16, %arg0 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %18 = nn.sigmoid %16 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @auc(%18, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @log_loss(%18, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @copc(%18, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @labels.range(%arg0, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %19 = nn.sub %18, %arg0 {stage = #nn.stage<compute>} : tensor<?x1xf32>, tensor<?x1xf32>
    %20 = nn.reduce  sum %19 axes [0] {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %21 = nn.gemm %15 transposed, %19 post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<?x1xf32>) -> tensor<400x1xf32>
    %22 = nn.gemm %19, %6 transposed mask(%15) post [relu_gradient] {stage = #nn.stage<compute>} : (tensor<?x1xf32>, tensor<400x1xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %23 = nn.reduce  sum %22 axes [0] {stage = #nn.stage<compute>} : tensor<?x400xf32>
    %24 = nn.gemm %14 transposed, %22 post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<?x400xf32>) -> tensor<400x400xf32>
    %25 = nn.gemm %22, %4 transposed mask(%14) post [relu_gradient] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %26 = nn.reduce  sum %25 axes [0] {stage = #nn.stage<compute>} : tensor<?x400xf32>
    %27 = nn.gemm %13 transposed, %25 post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<?x400xf32>) -> tensor<400x400xf32>
    %28 = nn.gemm %25, %2 transposed mask(%13) post [relu_gradient] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %29 = nn.reduce  sum %28 axes [0] {stage = #nn.stage<compute>} : tensor<?x400xf32>
    %30 = nn.gemm %12 transposed, %28 post [] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<?x400xf32>) -> tensor<273x400xf32>
    %31 = nn.gemm %28, %0 transposed post [] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<273x400xf32>) -> tensor<?x273xf32>
    %32 = nn.slice %31 axis 1 offset 0 size 260 {stage = #nn.stage<compute>} : tensor<?x273xf32>
    %33 = nn.reshape %32 {stage = #nn.stage<compute>} : (tensor<?x260xf32>) -> tensor<?x10xf32>
    %34 = nn.pool_gradient[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum from %33) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %sum, %weight = nn.loss_sum %17 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %35 = nn.squared_norm {@w1 = %30 : tensor<273x400xf32>, @b1 = %29 : tensor<400xf32>, @w2 = %27 : tensor<400x400xf32>, @b2 = %26 : tensor<400xf32>, @w3 = %24 : tensor<400x400xf32>, @b3 = %23 : tensor<400xf32>, @w4 = %21 : tensor<400x1xf32>, @b4 = %20 : tensor<1xf32>} weight(%weight) {stage = #nn.stage<apply>}
    %36:9 = nn.once @dense weight(%weight) norm(%35) -> (weight, clip_factor, "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon") {
    ^bb0(%arg4: f64, %arg5: f64, %arg6: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 1.000000e+01 : f64
      %38 = math.sqrt %arg6 : f64
      %39 = arith.maximumf %38, %cst_0 : f64
      %40 = arith.divf %cst_0, %39 : f64
      %cst_1 = arith.constant 9.000000e-01 : f64
      %cst_2 = arith.constant 0.99899999999999999 : f64
      %cst_3 = arith.constant 1.000000e-08 : f64
      %cst_4 = arith.constant 1.000000e+00 : f64
      %41 = arith.subf %cst_4, %cst_1 : f64
      %42 = arith.subf %cst_4, %cst_2 : f64
      %43 = math.powf %cst_1, %arg4 : f64
      %44 = math.powf %cst_2, %arg4 : f64
      %45 = arith.subf %cst_4, %43 : f64
      %46 = arith.subf %cst_4, %44 : f64
      %47 = arith.divf %cst, %45 : f64
      %48 = math.sqrt %46 : f64
      %49 = arith.divf %cst_4, %48 : f64
      nn.yield %arg5, %40, %47, %49, %cst_1, %41, %cst_2, %42, %cst_3 : f64, f64, f64, f64, f64, f64, f64, f64, f64
    } {stage = #nn.stage<apply>} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    %37:8 = nn.once @sparse weight(%weight) -> (weight, "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon") {
    ^bb0(%arg4: f64, %arg5: f64, %arg6: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 9.000000e-01 : f64
      %cst_1 = arith.constant 0.99899999999999999 : f64
      %cst_2 = arith.constant 1.000000e-08 : f64
      %cst_3 = arith.constant 1.000000e+00 : f64
      %38 = arith.subf %cst_3, %cst_0 : f64
      %39 = arith.subf %cst_3, %cst_1 : f64
      %40 = math.powf %cst_0, %arg4 : f64
      %41 = math.powf %cst_1, %arg4 : f64
      %42 = arith.subf %cst_3, %40 : f64
      %43 = arith.subf %cst_3, %41 : f64
      %44 = arith.divf %cst, %42 : f64
      %45 = math.sqrt %43 : f64
      %46 = arith.divf %cst_3, %45 : f64
      nn.yield %arg5, %44, %46, %cst_0, %38, %cst_1, %39, %cst_2 : f64, f64, f64, f64, f64, f64, f64, f64
    } {stage = #nn.stage<apply>} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @emb keys(%keys) gradient(%34) scalars(%37#0, %37#1, %37#2, %37#3, %37#4, %37#5, %37#6, %37#7) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %arg11, %arg6 : f32
      %40 = arith.mulf %arg12, %38 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %38, %38 : f32
      %43 = arith.mulf %arg13, %arg7 : f32
      %44 = arith.mulf %arg14, %42 : f32
      %45 = arith.addf %43, %44 : f32
      %46 = math.sqrt %45 : f32
      %47 = arith.mulf %46, %arg10 : f32
      %48 = arith.addf %47, %arg15 : f32
      %49 = arith.divf %41, %48 : f32
      %50 = arith.mulf %arg9, %49 : f32
      %51 = arith.subf %arg4, %50 : f32
      nn.yield %51, %41, %45 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w1 gradient(%30) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<273x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b1 gradient(%29) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w2 gradient(%27) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b2 gradient(%26) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w3 gradient(%24) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b3 gradient(%23) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w4 gradient(%21) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<400x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b4 gradient(%20) scalars(%36#0, %36#1, %36#2, %36#3, %36#4, %36#5, %36#6, %36#7, %36#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %38 = arith.divf %arg5, %arg8 : f32
      %39 = arith.mulf %38, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %40 = arith.mulf %cst, %arg4 : f32
      %41 = arith.addf %39, %40 : f32
      %42 = arith.mulf %arg12, %arg6 : f32
      %43 = arith.mulf %arg13, %41 : f32
      %44 = arith.addf %42, %43 : f32
      %45 = arith.mulf %41, %41 : f32
      %46 = arith.mulf %arg14, %arg7 : f32
      %47 = arith.mulf %arg15, %45 : f32
      %48 = arith.addf %46, %47 : f32
      %49 = math.sqrt %48 : f32
      %50 = arith.mulf %49, %arg11 : f32
      %51 = arith.addf %50, %arg16 : f32
      %52 = arith.divf %44, %51 : f32
      %53 = arith.mulf %arg10, %52 : f32
      %54 = arith.subf %arg4, %53 : f32
      nn.yield %54, %44, %48 : f32, f32, f32
    } {stage = #nn.stage<apply>} : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %0 = nn.read @w1 {stage = #nn.stage<compute>} : tensor<273x400xf32>
    %1 = nn.read @b1 {stage = #nn.stage<compute>} : tensor<400xf32>
    %2 = nn.read @w2 {stage = #nn.stage<compute>} : tensor<400x400xf32>
    %3 = nn.read @b2 {stage = #nn.stage<compute>} : tensor<400xf32>
    %4 = nn.read @w3 {stage = #nn.stage<compute>} : tensor<400x400xf32>
    %5 = nn.read @b3 {stage = #nn.stage<compute>} : tensor<400xf32>
    %6 = nn.read @w4 {stage = #nn.stage<compute>} : tensor<400x1xf32>
    %7 = nn.read @b4 {stage = #nn.stage<compute>} : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2 {stage = #nn.stage<prepare>}
    %8 = nn.pull @emb[%keys] {stage = #nn.stage<prepare>} : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x260xf32>
    %11 = nn.signed_log1p %arg1 {stage = #nn.stage<compute>} : tensor<?x13xf32>
    %12 = nn.concat %10, %11 axis 1 {stage = #nn.stage<compute>} : tensor<?x260xf32>, tensor<?x13xf32>
    %13 = nn.gemm %12, %0 bias(%1) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %14 = nn.gemm %13, %2 bias(%3) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %15 = nn.gemm %14, %4 bias(%5) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %16 = nn.gemm %15, %6 bias(%7) post [bias] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %17 = nn.sigmoid %16 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @auc(%17, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @log_loss(%17, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.observe @copc(%17, %arg0) {stage = #nn.stage<compute>} : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%arg0: tensor<?x13xf32>, %arg1: tensor<?xi64>, %arg2: tensor<?xi32>):
    %0 = nn.read @w1 {stage = #nn.stage<compute>} : tensor<273x400xf32>
    %1 = nn.read @b1 {stage = #nn.stage<compute>} : tensor<400xf32>
    %2 = nn.read @w2 {stage = #nn.stage<compute>} : tensor<400x400xf32>
    %3 = nn.read @b2 {stage = #nn.stage<compute>} : tensor<400xf32>
    %4 = nn.read @w3 {stage = #nn.stage<compute>} : tensor<400x400xf32>
    %5 = nn.read @b3 {stage = #nn.stage<compute>} : tensor<400xf32>
    %6 = nn.read @w4 {stage = #nn.stage<compute>} : tensor<400x1xf32>
    %7 = nn.read @b4 {stage = #nn.stage<compute>} : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg1 {stage = #nn.stage<prepare>}
    %8 = nn.pull @emb[%keys] {stage = #nn.stage<prepare>} : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of (%arg1 bags(%arg2) sum) {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 {stage = #nn.stage<compute>} : (tensor<?x10xf32>) -> tensor<?x260xf32>
    %11 = nn.signed_log1p %arg0 {stage = #nn.stage<compute>} : tensor<?x13xf32>
    %12 = nn.concat %10, %11 axis 1 {stage = #nn.stage<compute>} : tensor<?x260xf32>, tensor<?x13xf32>
    %13 = nn.gemm %12, %0 bias(%1) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %14 = nn.gemm %13, %2 bias(%3) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %15 = nn.gemm %14, %4 bias(%5) post [bias, relu] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %16 = nn.gemm %15, %6 bias(%7) post [bias] {stage = #nn.stage<compute>} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %17 = nn.sigmoid %16 {stage = #nn.stage<compute>} : tensor<?x1xf32>
    nn.return %17 : tensor<?x1xf32>
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

