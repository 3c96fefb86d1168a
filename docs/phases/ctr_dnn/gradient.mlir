module @ctr_dnn attributes {nn.phase = "gradient"} {
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
    %27 = nn.sub %26, %arg0 : tensor<?x1xf32>, tensor<?x1xf32>
    %28 = nn.reduce  sum %27 axes [0] : tensor<?x1xf32>
    %29 = nn.matmul %22 transposed, %27 : tensor<?x400xf32>, tensor<?x1xf32>
    %30 = nn.matmul %27, %6 transposed : tensor<?x1xf32>, tensor<400x1xf32>
    %31 = nn.relu_gradient %30, %22 : tensor<?x400xf32>
    %32 = nn.reduce  sum %31 axes [0] : tensor<?x400xf32>
    %33 = nn.matmul %19 transposed, %31 : tensor<?x400xf32>, tensor<?x400xf32>
    %34 = nn.matmul %31, %4 transposed : tensor<?x400xf32>, tensor<400x400xf32>
    %35 = nn.relu_gradient %34, %19 : tensor<?x400xf32>
    %36 = nn.reduce  sum %35 axes [0] : tensor<?x400xf32>
    %37 = nn.matmul %16 transposed, %35 : tensor<?x400xf32>, tensor<?x400xf32>
    %38 = nn.matmul %35, %2 transposed : tensor<?x400xf32>, tensor<400x400xf32>
    %39 = nn.relu_gradient %38, %16 : tensor<?x400xf32>
    %40 = nn.reduce  sum %39 axes [0] : tensor<?x400xf32>
    %41 = nn.matmul %13 transposed, %39 : tensor<?x273xf32>, tensor<?x400xf32>
    %42 = nn.matmul %39, %0 transposed : tensor<?x400xf32>, tensor<273x400xf32>
    %43 = nn.slice %42 axis 1 offset 0 size 260 : tensor<?x273xf32>
    %44 = nn.reshape %43 : (tensor<?x260xf32>) -> tensor<?x26x10xf32>
    %45 = nn.reshape %44 : (tensor<?x26x10xf32>) -> tensor<?x10xf32>
    %46 = nn.pool_gradient[%inverse, %key_splits, %occurrences] of (%arg2 bags(%arg3) sum from %45) : (tensor<?x10xf32>) -> tensor<?x10xf32>
    %sum, %weight = nn.loss_sum %25 : tensor<?x1xf32>
    %47 = nn.squared_norm {@w1 = %41 : tensor<273x400xf32>, @b1 = %40 : tensor<400xf32>, @w2 = %37 : tensor<400x400xf32>, @b2 = %36 : tensor<400xf32>, @w3 = %33 : tensor<400x400xf32>, @b3 = %32 : tensor<400xf32>, @w4 = %29 : tensor<400x1xf32>, @b4 = %28 : tensor<1xf32>} weight(%weight)
    %48:9 = nn.once @dense weight(%weight) norm(%47) -> (weight, clip_factor, "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon") {
    ^bb0(%arg4: f64, %arg5: f64, %arg6: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 1.000000e+01 : f64
      %50 = math.sqrt %arg6 : f64
      %51 = arith.maximumf %50, %cst_0 : f64
      %52 = arith.divf %cst_0, %51 : f64
      %cst_1 = arith.constant 9.000000e-01 : f64
      %cst_2 = arith.constant 0.99899999999999999 : f64
      %cst_3 = arith.constant 1.000000e-08 : f64
      %cst_4 = arith.constant 1.000000e+00 : f64
      %53 = arith.subf %cst_4, %cst_1 : f64
      %54 = arith.subf %cst_4, %cst_2 : f64
      %55 = math.powf %cst_1, %arg4 : f64
      %56 = math.powf %cst_2, %arg4 : f64
      %57 = arith.subf %cst_4, %55 : f64
      %58 = arith.subf %cst_4, %56 : f64
      %59 = arith.divf %cst, %57 : f64
      %60 = math.sqrt %58 : f64
      %61 = arith.divf %cst_4, %60 : f64
      nn.yield %arg5, %52, %59, %61, %cst_1, %53, %cst_2, %54, %cst_3 : f64, f64, f64, f64, f64, f64, f64, f64, f64
    } : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    %49:8 = nn.once @sparse weight(%weight) -> (weight, "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon") {
    ^bb0(%arg4: f64, %arg5: f64, %arg6: f64):
      %cst = arith.constant 1.000000e-03 : f64
      %cst_0 = arith.constant 9.000000e-01 : f64
      %cst_1 = arith.constant 0.99899999999999999 : f64
      %cst_2 = arith.constant 1.000000e-08 : f64
      %cst_3 = arith.constant 1.000000e+00 : f64
      %50 = arith.subf %cst_3, %cst_0 : f64
      %51 = arith.subf %cst_3, %cst_1 : f64
      %52 = math.powf %cst_0, %arg4 : f64
      %53 = math.powf %cst_1, %arg4 : f64
      %54 = arith.subf %cst_3, %52 : f64
      %55 = arith.subf %cst_3, %53 : f64
      %56 = arith.divf %cst, %54 : f64
      %57 = math.sqrt %55 : f64
      %58 = arith.divf %cst_3, %57 : f64
      nn.yield %arg5, %56, %58, %cst_0, %50, %cst_1, %51, %cst_2 : f64, f64, f64, f64, f64, f64, f64, f64
    } : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @emb keys(%keys) gradient(%46) scalars(%49#0, %49#1, %49#2, %49#3, %49#4, %49#5, %49#6, %49#7) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %arg11, %arg6 : f32
      %52 = arith.mulf %arg12, %50 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %50, %50 : f32
      %55 = arith.mulf %arg13, %arg7 : f32
      %56 = arith.mulf %arg14, %54 : f32
      %57 = arith.addf %55, %56 : f32
      %58 = math.sqrt %57 : f32
      %59 = arith.mulf %58, %arg10 : f32
      %60 = arith.addf %59, %arg15 : f32
      %61 = arith.divf %53, %60 : f32
      %62 = arith.mulf %arg9, %61 : f32
      %63 = arith.subf %arg4, %62 : f32
      nn.yield %63, %53, %57 : f32, f32, f32
    } : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w1 gradient(%41) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<273x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b1 gradient(%40) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w2 gradient(%37) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b2 gradient(%36) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w3 gradient(%33) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<400x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b3 gradient(%32) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<400xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @w4 gradient(%29) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<400x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @b4 gradient(%28) scalars(%48#0, %48#1, %48#2, %48#3, %48#4, %48#5, %48#6, %48#7, %48#8) {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32, %arg11: f32, %arg12: f32, %arg13: f32, %arg14: f32, %arg15: f32, %arg16: f32):
      %50 = arith.divf %arg5, %arg8 : f32
      %51 = arith.mulf %50, %arg9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %52 = arith.mulf %cst, %arg4 : f32
      %53 = arith.addf %51, %52 : f32
      %54 = arith.mulf %arg12, %arg6 : f32
      %55 = arith.mulf %arg13, %53 : f32
      %56 = arith.addf %54, %55 : f32
      %57 = arith.mulf %53, %53 : f32
      %58 = arith.mulf %arg14, %arg7 : f32
      %59 = arith.mulf %arg15, %57 : f32
      %60 = arith.addf %58, %59 : f32
      %61 = math.sqrt %60 : f32
      %62 = arith.mulf %61, %arg11 : f32
      %63 = arith.addf %62, %arg16 : f32
      %64 = arith.divf %56, %63 : f32
      %65 = arith.mulf %arg10, %64 : f32
      %66 = arith.subf %arg4, %65 : f32
      nn.yield %66, %56, %60 : f32, f32, f32
    } : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
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

