module @logistic_regression {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    nn.field @categories : tensor<?x8xi64> hash(<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.000000e+00 : f64, ">50K" = 1.000000e+00 : f64}) columns([14])
  }
  nn.rule @adagrad hyper (epsilon = 1.000000e-10 from 0.000000e+00) slots (accumulator = 0.000000e+00) once {
  ^bb0(%arg0: f64, %arg1: f64, %arg2: f64):
    nn.yield %arg1, %arg2 : f64, f64
  } each {
  ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32):
    %0 = arith.mulf %arg1, %arg1 : f32
    %1 = arith.addf %arg2, %0 : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.addf %2, %arg4 : f32
    %4 = arith.divf %arg1, %3 : f32
    %5 = arith.mulf %arg3, %4 : f32
    %6 = arith.subf %arg0, %5 : f32
    nn.yield %6, %1 : f32, f32
  }
  nn.group @linear rule(@adagrad) rate(1.000000e-01)
  nn.table @weights : i64 -> tensor<1xf32> in @linear init(#nn.zeros)
  nn.param @bias : tensor<1xf32> in @linear init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.func private @logit(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %0 = nn.slice %arg0 axis 1 offset 0 size 1 : tensor<?x5xf32>
    %1 = nn.slice %arg0 axis 1 offset 1 size 1 : tensor<?x5xf32>
    %2 = nn.slice %arg0 axis 1 offset 2 size 1 : tensor<?x5xf32>
    %3 = nn.slice %arg0 axis 1 offset 3 size 1 : tensor<?x5xf32>
    %4 = nn.slice %arg0 axis 1 offset 4 size 1 : tensor<?x5xf32>
    %5 = nn.bucketize %0 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] : tensor<?x1xf32>
    %6 = nn.cross %5 salt(100) : tensor<?x1xi64>
    %7 = nn.bucketize %1 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] : tensor<?x1xf32>
    %8 = nn.cross %7 salt(101) : tensor<?x1xi64>
    %9 = nn.bucketize %2 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] : tensor<?x1xf32>
    %10 = nn.cross %9 salt(102) : tensor<?x1xi64>
    %11 = nn.bucketize %3 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] : tensor<?x1xf32>
    %12 = nn.cross %11 salt(103) : tensor<?x1xi64>
    %13 = nn.bucketize %4 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] : tensor<?x1xf32>
    %14 = nn.cross %13 salt(104) : tensor<?x1xi64>
    %15 = nn.slice %arg1 axis 1 offset 0 size 1 : tensor<?x8xi64>
    %16 = nn.slice %arg1 axis 1 offset 1 size 1 : tensor<?x8xi64>
    %17 = nn.slice %arg1 axis 1 offset 2 size 1 : tensor<?x8xi64>
    %18 = nn.slice %arg1 axis 1 offset 3 size 1 : tensor<?x8xi64>
    %19 = nn.slice %arg1 axis 1 offset 4 size 1 : tensor<?x8xi64>
    %20 = nn.cross %16, %18 salt(110) : tensor<?x1xi64>, tensor<?x1xi64>
    %21 = nn.cross %6, %16, %18 salt(111) : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %22 = nn.cross %19, %6 salt(112) : tensor<?x1xi64>, tensor<?x1xi64>
    %23 = nn.cross %17, %16 salt(113) : tensor<?x1xi64>, tensor<?x1xi64>
    %24 = nn.cross %18, %14 salt(114) : tensor<?x1xi64>, tensor<?x1xi64>
    %25 = nn.cross %15, %18 salt(115) : tensor<?x1xi64>, tensor<?x1xi64>
    %26 = nn.concat %arg1, %6, %8, %10, %12, %14, %20, %21, %22, %23, %24, %25 axis 1 : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %27 = nn.lookup @weights[%26] pool(sum) : (tensor<?x19xi64>) -> tensor<?x19x1xf32>
    %28 = nn.reduce  sum %27 axes [1] : tensor<?x19x1xf32>
    %29 = nn.read @bias : tensor<1xf32>
    %30 = nn.add %28, %29 : tensor<?x1xf32>, tensor<1xf32>
    nn.return %30 : tensor<?x1xf32>
  }
  nn.program @train reads(@person) {
  ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>, %arg2: tensor<?x1xf32>):
    %0 = nn.call @logit(%arg0, %arg1) : (tensor<?x5xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %1 = nn.sigmoid_cross_entropy %0, %arg2 : tensor<?x1xf32>
    %2 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.observe @auc(%2, %arg2) : tensor<?x1xf32>
    nn.observe @log_loss(%2, %arg2) : tensor<?x1xf32>
    nn.observe @copc(%2, %arg2) : tensor<?x1xf32>
    nn.minimize %1 over @linear : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@person) {
  ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>, %arg2: tensor<?x1xf32>):
    %0 = nn.call @logit(%arg0, %arg1) : (tensor<?x5xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %1 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.observe @auc(%1, %arg2) : tensor<?x1xf32>
    nn.observe @log_loss(%1, %arg2) : tensor<?x1xf32>
    nn.observe @copc(%1, %arg2) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@person except @label) {
  ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>):
    %0 = nn.call @logit(%arg0, %arg1) : (tensor<?x5xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %1 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.return %1 : tensor<?x1xf32>
  }
}

