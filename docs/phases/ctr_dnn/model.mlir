module @ctr_dnn {
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
  nn.func private @logit(%arg0: tensor<?x13xf32>, %arg1: !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32> {
    %0 = nn.lookup @emb[%arg1] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    %1 = nn.flatten %0 from 1 : tensor<?x26x10xf32>
    %2 = nn.signed_log1p %arg0 : tensor<?x13xf32>
    %3 = nn.concat %1, %2 axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    %4 = nn.linear %3, @w1, @b1 act(relu) : (tensor<?x273xf32>) -> tensor<?x400xf32>
    %5 = nn.linear %4, @w2, @b2 act(relu) : (tensor<?x400xf32>) -> tensor<?x400xf32>
    %6 = nn.linear %5, @w3, @b3 act(relu) : (tensor<?x400xf32>) -> tensor<?x400xf32>
    %7 = nn.linear %6, @w4, @b4 : (tensor<?x400xf32>) -> tensor<?x1xf32>
    nn.return %7 : tensor<?x1xf32>
  }
  nn.program @train reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: !nn.ragged<?x26x*xi64>):
    %0 = nn.call @logit(%arg1, %arg2) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %1 = nn.sigmoid_cross_entropy %0, %arg0 : tensor<?x1xf32>
    %2 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.observe @auc(%2, %arg0) : tensor<?x1xf32>
    nn.observe @log_loss(%2, %arg0) : tensor<?x1xf32>
    nn.observe @copc(%2, %arg0) : tensor<?x1xf32>
    nn.minimize %1 over [@dense, @sparse] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%arg0: tensor<?x1xf32>, %arg1: tensor<?x13xf32>, %arg2: !nn.ragged<?x26x*xi64>):
    %0 = nn.call @logit(%arg1, %arg2) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %1 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.observe @auc(%1, %arg0) : tensor<?x1xf32>
    nn.observe @log_loss(%1, %arg0) : tensor<?x1xf32>
    nn.observe @copc(%1, %arg0) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%arg0: tensor<?x13xf32>, %arg1: !nn.ragged<?x26x*xi64>):
    %0 = nn.call @logit(%arg0, %arg1) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %1 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.return %1 : tensor<?x1xf32>
  }
}

