module @ctr_dnn attributes {nn.phase = "split"} {
  nn.record @criteo {
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x13xf32> missing(0.000000e+00 : f64)
    nn.field @categories : !nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>)
  }
  nn.clip @joint : global_norm(1.000000e+01)
  nn.rule @adam hyper (beta1 = 9.000000e-01, beta2 = 0.99899999999999999, epsilon = 1.000000e-08) slots (m = 0.000000e+00, v = 0.000000e+00) once {
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
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.program @train reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %0 = nn.read @w1 {stage = "compute"} : tensor<273x400xf32>
    %1 = nn.read @b1 {stage = "compute"} : tensor<400xf32>
    %2 = nn.read @w2 {stage = "compute"} : tensor<400x400xf32>
    %3 = nn.read @b2 {stage = "compute"} : tensor<400xf32>
    %4 = nn.read @w3 {stage = "compute"} : tensor<400x400xf32>
    %5 = nn.read @b3 {stage = "compute"} : tensor<400xf32>
    %6 = nn.read @w4 {stage = "compute"} : tensor<400x1xf32>
    %7 = nn.read @b4 {stage = "compute"} : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2 {stage = "prepare"}
    %8 = nn.pull @emb[%keys] {stage = "prepare"} : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of(%arg2) splits(%arg3) [sum] bagged [true] {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %11 = nn.reshape %10 {stage = "compute"} : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %12 = nn.signed_log1p %arg1 {stage = "compute"} : tensor<?x13xf32>
    %13 = nn.concat %11, %12 axis 1 {stage = "compute"} : (tensor<?x260xf32>, tensor<?x13xf32>) -> tensor<?x273xf32>
    %14 = nn.gemm %13, %0 bias(%1) post [bias, relu] {stage = "compute"} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %15 = nn.gemm %14, %2 bias(%3) post [bias, relu] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %16 = nn.gemm %15, %4 bias(%5) post [bias, relu] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %17 = nn.gemm %16, %6 bias(%7) post [bias] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %18 = nn.sigmoid_cross_entropy %17, %arg0 {stage = "compute"} : tensor<?x1xf32>
    %19 = nn.sigmoid %17 {stage = "compute"} : tensor<?x1xf32>
    nn.observe @auc(%19, %arg0) {stage = "compute"} : tensor<?x1xf32>
    nn.observe @log_loss(%19, %arg0) {stage = "compute"} : tensor<?x1xf32>
    nn.observe @copc(%19, %arg0) {stage = "compute"} : tensor<?x1xf32>
    %20 = nn.sub %19, %arg0 {stage = "compute"} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %21 = nn.reduce  sum %20 axes [0] {stage = "compute"} : (tensor<?x1xf32>) -> tensor<1xf32>
    %22 = nn.gemm %16 transposed, %20 post [] {stage = "compute"} : (tensor<?x400xf32>, tensor<?x1xf32>) -> tensor<400x1xf32>
    %23 = nn.gemm %20, %6 transposed mask(%16) post [relu_gradient] {stage = "compute"} : (tensor<?x1xf32>, tensor<400x1xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %24 = nn.reduce  sum %23 axes [0] {stage = "compute"} : (tensor<?x400xf32>) -> tensor<400xf32>
    %25 = nn.gemm %15 transposed, %23 post [] {stage = "compute"} : (tensor<?x400xf32>, tensor<?x400xf32>) -> tensor<400x400xf32>
    %26 = nn.gemm %23, %4 transposed mask(%15) post [relu_gradient] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %27 = nn.reduce  sum %26 axes [0] {stage = "compute"} : (tensor<?x400xf32>) -> tensor<400xf32>
    %28 = nn.gemm %14 transposed, %26 post [] {stage = "compute"} : (tensor<?x400xf32>, tensor<?x400xf32>) -> tensor<400x400xf32>
    %29 = nn.gemm %26, %2 transposed mask(%14) post [relu_gradient] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<?x400xf32>) -> tensor<?x400xf32>
    %30 = nn.reduce  sum %29 axes [0] {stage = "compute"} : (tensor<?x400xf32>) -> tensor<400xf32>
    %31 = nn.gemm %13 transposed, %29 post [] {stage = "compute"} : (tensor<?x273xf32>, tensor<?x400xf32>) -> tensor<273x400xf32>
    %32 = nn.gemm %29, %0 transposed post [] {stage = "compute"} : (tensor<?x400xf32>, tensor<273x400xf32>) -> tensor<?x273xf32>
    %33 = nn.slice %32 axis 1 offset 0 size 260 {stage = "compute"} : (tensor<?x273xf32>) -> tensor<?x260xf32>
    %34 = nn.reshape %33 {stage = "compute"} : (tensor<?x260xf32>) -> tensor<?x26x10xf32>
    %35 = nn.reshape %34 {stage = "compute"} : (tensor<?x26x10xf32>) -> tensor<?x10xf32>
    %36 = nn.pool_gradient(%35) at[%inverse, %key_splits, %occurrences] of(%arg2) splits(%arg3) [sum] bagged [true] present [true] {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %sum, %weight = nn.loss_sum %18 {stage = "compute"} : tensor<?x1xf32>
    %37 = nn.squared_norm [@w1, @b1, @w2, @b2, @w3, @b3, @w4, @b4](%31, %30, %28, %27, %25, %24, %22, %21) weight(%weight) {stage = "apply"} : tensor<273x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x400xf32>, tensor<400xf32>, tensor<400x1xf32>, tensor<1xf32>
    %38:9 = nn.once @dense weight(%weight) norm(%37) {
    ^bb0(%arg4: f64, %arg5: f64, %arg6: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 1.000000e+01 : f64
      %40 = math.sqrt %arg6 : f64
      %41 = arith.maximumf %40, %cst_0 : f64
      %42 = arith.divf %cst_0, %41 : f64
      %cst_1 = arith.constant 9.000000e-01 : f64
      %cst_2 = arith.constant 0.99899999999999999 : f64
      %cst_3 = arith.constant 1.000000e-08 : f64
      %cst_4 = arith.constant 1.000000e+00 : f64
      %43 = arith.subf %cst_4, %cst_1 : f64
      %44 = arith.subf %cst_4, %cst_2 : f64
      %45 = math.powf %cst_1, %arg4 : f64
      %46 = math.powf %cst_2, %arg4 : f64
      %47 = arith.subf %cst_4, %45 : f64
      %48 = arith.subf %cst_4, %46 : f64
      %49 = arith.divf %cst, %47 : f64
      %50 = math.sqrt %48 : f64
      %51 = arith.divf %cst_4, %50 : f64
      nn.yield %arg5, %42, %49, %51, %cst_1, %43, %cst_2, %44, %cst_3 : f64, f64, f64, f64, f64, f64, f64, f64, f64
    } {stage = "apply"} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    %39:8 = nn.once @sparse weight(%weight) {
    ^bb0(%arg4: f64, %arg5: f64, %arg6: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 9.000000e-01 : f64
      %cst_1 = arith.constant 0.99899999999999999 : f64
      %cst_2 = arith.constant 1.000000e-08 : f64
      %cst_3 = arith.constant 1.000000e+00 : f64
      %40 = arith.subf %cst_3, %cst_0 : f64
      %41 = arith.subf %cst_3, %cst_1 : f64
      %42 = math.powf %cst_0, %arg4 : f64
      %43 = math.powf %cst_1, %arg4 : f64
      %44 = arith.subf %cst_3, %42 : f64
      %45 = arith.subf %cst_3, %43 : f64
      %46 = arith.divf %cst, %44 : f64
      %47 = math.sqrt %45 : f64
      %48 = arith.divf %cst_3, %47 : f64
      nn.yield %arg5, %46, %48, %cst_0, %40, %cst_1, %41, %cst_2 : f64, f64, f64, f64, f64, f64, f64, f64
    } {stage = "apply"} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @emb keys(%keys) gradient(%36) scalars(%39#0, %39#1, %39#2, %39#3, %39#4, %39#5, %39#6, %39#7) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %arg11, %arg6 : f32
      %42 = arith.mulf %arg12, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %arg13, %arg7 : f32
      %46 = arith.mulf %arg14, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %arg10 : f32
      %50 = arith.addf %49, %arg15 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %arg9, %51 : f32
      %53 = arith.subf %arg4, %52 : f32
      nn.yield %53, %43, %47 : f32, f32, f32
    } {stage = "apply"} : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w1 gradient(%31) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<273x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b1 gradient(%30) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w2 gradient(%28) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b2 gradient(%27) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w3 gradient(%25) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b3 gradient(%24) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w4 gradient(%22) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<400x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b4 gradient(%21) scalars(%38#0, %38#1, %38#2, %38#3, %38#4, %38#5, %38#6, %38#7, %38#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %40 = arith.divf %arg5, %arg8 : f32
      %41 = arith.mulf %40, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %42 = arith.mulf %cst, %arg4 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %arg12, %arg6 : f32
      %45 = arith.mulf %arg13, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %43, %43 : f32
      %48 = arith.mulf %arg14, %arg7 : f32
      %49 = arith.mulf %arg15, %47 : f32
      %50 = arith.addf %48, %49 : f32
      %51 = math.sqrt %50 : f32
      %52 = arith.mulf %51, %arg11 : f32
      %53 = arith.addf %52, %arg16 : f32
      %54 = arith.divf %46, %53 : f32
      %55 = arith.mulf %arg10, %54 : f32
      %56 = arith.subf %arg4, %55 : f32
      nn.yield %56, %46, %50 : f32, f32, f32
    } {stage = "apply"} : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: tensor<?xi64>, %arg3: tensor<?xi32>):
    %0 = nn.read @w1 {stage = "compute"} : tensor<273x400xf32>
    %1 = nn.read @b1 {stage = "compute"} : tensor<400xf32>
    %2 = nn.read @w2 {stage = "compute"} : tensor<400x400xf32>
    %3 = nn.read @b2 {stage = "compute"} : tensor<400xf32>
    %4 = nn.read @w3 {stage = "compute"} : tensor<400x400xf32>
    %5 = nn.read @b3 {stage = "compute"} : tensor<400xf32>
    %6 = nn.read @w4 {stage = "compute"} : tensor<400x1xf32>
    %7 = nn.read @b4 {stage = "compute"} : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg2 {stage = "prepare"}
    %8 = nn.pull @emb[%keys] {stage = "prepare"} : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of(%arg2) splits(%arg3) [sum] bagged [true] {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %11 = nn.reshape %10 {stage = "compute"} : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %12 = nn.signed_log1p %arg1 {stage = "compute"} : tensor<?x13xf32>
    %13 = nn.concat %11, %12 axis 1 {stage = "compute"} : (tensor<?x260xf32>, tensor<?x13xf32>) -> tensor<?x273xf32>
    %14 = nn.gemm %13, %0 bias(%1) post [bias, relu] {stage = "compute"} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %15 = nn.gemm %14, %2 bias(%3) post [bias, relu] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %16 = nn.gemm %15, %4 bias(%5) post [bias, relu] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %17 = nn.gemm %16, %6 bias(%7) post [bias] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %18 = nn.sigmoid %17 {stage = "compute"} : tensor<?x1xf32>
    nn.observe @auc(%18, %arg0) {stage = "compute"} : tensor<?x1xf32>
    nn.observe @log_loss(%18, %arg0) {stage = "compute"} : tensor<?x1xf32>
    nn.observe @copc(%18, %arg0) {stage = "compute"} : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%arg0: tensor<?x13xf32>, %arg1: tensor<?xi64>, %arg2: tensor<?xi32>):
    %0 = nn.read @w1 {stage = "compute"} : tensor<273x400xf32>
    %1 = nn.read @b1 {stage = "compute"} : tensor<400xf32>
    %2 = nn.read @w2 {stage = "compute"} : tensor<400x400xf32>
    %3 = nn.read @b2 {stage = "compute"} : tensor<400xf32>
    %4 = nn.read @w3 {stage = "compute"} : tensor<400x400xf32>
    %5 = nn.read @b3 {stage = "compute"} : tensor<400xf32>
    %6 = nn.read @w4 {stage = "compute"} : tensor<400x1xf32>
    %7 = nn.read @b4 {stage = "compute"} : tensor<1xf32>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %arg1 {stage = "prepare"}
    %8 = nn.pull @emb[%keys] {stage = "prepare"} : tensor<?x10xf32>
    %9 = nn.pool %8[%inverse, %key_splits, %occurrences] of(%arg1) splits(%arg2) [sum] bagged [true] {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = nn.reshape %9 {stage = "compute"} : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %11 = nn.reshape %10 {stage = "compute"} : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %12 = nn.signed_log1p %arg0 {stage = "compute"} : tensor<?x13xf32>
    %13 = nn.concat %11, %12 axis 1 {stage = "compute"} : (tensor<?x260xf32>, tensor<?x13xf32>) -> tensor<?x273xf32>
    %14 = nn.gemm %13, %0 bias(%1) post [bias, relu] {stage = "compute"} : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %15 = nn.gemm %14, %2 bias(%3) post [bias, relu] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %16 = nn.gemm %15, %4 bias(%5) post [bias, relu] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    %17 = nn.gemm %16, %6 bias(%7) post [bias] {stage = "compute"} : (tensor<?x400xf32>, tensor<400x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %18 = nn.sigmoid %17 {stage = "compute"} : tensor<?x1xf32>
    nn.return %18 : tensor<?x1xf32>
  }
  nn.fingerprint state {
    "keys of @emb in @train" = "c3a78c542cf8db67",
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
    "field @categories" = "!nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>) from column 14",
    "field @label" = "tensor<?x1xf32> from column 0",
    "field @numbers" = "tensor<?x13xf32> missing(0.000000e+00 : f64) from column 1",
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
    "losses of @train" = "ec2efcf53f247ce4",
    "rate of group @dense" = "0.001",
    "rate of group @sparse" = "0.001",
    "regularizer of group @dense" = "#nn.l2<9.9999999999999995E-7>",
    "rule of group @dense" = "{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, 73cd4d1424e06faa463a75f5397c8995",
    "rule of group @sparse" = "{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, 73cd4d1424e06faa463a75f5397c8995",
    "untouched rows of group @sparse" = "lazy"
  }
}

