// Two programs take turns. Of the ids that are drawn one loss has three a sample, the other two: the
// zeros in the place of the one's gradient are counted by the rows of the other, three for two.
// They were made by a reshape from rows of three to rows of two numbers, which is refused.
module @rows_cut_in_turns {
  nn.record @sample {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x6xf32>
    nn.field @y : tensor<?x4xf32>
    nn.field @z : tensor<?x1xf32>
    nn.field @ids : tensor<?x2xi64>
    nn.field @item : tensor<?x1xi64>
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @more : !nn.ragged<?x2x*xi64>
    nn.field @other : !nn.ragged<?x2x*xi64>
  }

  nn.group @g0 rule(@sgd) rate(0.125)
  nn.group @g1 rule(@sgd) rate(0.125)
  nn.group @g2 rule(@sgd) rate(0.125)

  nn.table @t11 : i64 -> tensor<1xf32> in @g0 init(#nn.uniform<-0.5, 0.5>)
  nn.table @t18 : i64 -> tensor<1xf32> in @g1 init(#nn.normal<0.0, 0.25>)
  nn.param @bias0 : tensor<1xf32> in @g0 init(#nn.constant<0.25>)
  nn.param @bias1 : tensor<1xf32> in @g1 init(#nn.constant<0.25>)
  nn.param @bias2 : tensor<1xf32> in @g2 init(#nn.constant<0.25>)

  nn.func private @compute(%x: tensor<?x6xf32>, %y: tensor<?x4xf32>, %z: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %item: tensor<?x1xi64>, %bags: !nn.ragged<?x2x*xi64>, %more: !nn.ragged<?x2x*xi64>, %other: !nn.ragged<?x2x*xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
    %0 = nn.slice %item axis 1 offset 0 size 1 : tensor<?x1xi64>
    %own = nn.id_arithmetic remainder %0 with 7 : tensor<?x1xi64>
    %drawn = nn.sample 3 from 0 below 7 uniform : tensor<?x3xi64>
    %1 = nn.tanh %z : tensor<?x1xf32>
    %user = nn.reshape %1 : (tensor<?x1xf32>) -> tensor<?x1x1xf32>
    %rows = nn.lookup @t11[%own] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %2 = nn.matmul %rows, %user : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %3 = nn.reshape %2 : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    %rows_1 = nn.lookup @t11[%drawn] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x1xf32>
    %4 = nn.matmul %rows_1, %user : tensor<?x3x1xf32>, tensor<?x1x1xf32>
    %5 = nn.reshape %4 : (tensor<?x3x1xf32>) -> tensor<?x3xf32>
    %6 = nn.log_probability %own from 0 below 7 uniform : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %7 = nn.log_probability %drawn from 0 below 7 uniform : (tensor<?x3xi64>) -> tensor<?x3xf32>
    %value = nn.nce_loss %3, %5 correction %6, %7 : tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x3xf32>
    %value_1 = nn.tanh %value : tensor<?x1xf32>
    %value_2 = nn.sample 4 from 0 below 7 uniform : tensor<?x4xi64>
    %8 = nn.slice %value_2 axis 1 offset 0 size 1 : tensor<?x4xi64>
    %own_1 = nn.id_arithmetic remainder %8 with 7 : tensor<?x1xi64>
    %drawn_1 = nn.sample 2 from 0 below 7 uniform : tensor<?x2xi64>
    %9 = nn.tanh %value_1 : tensor<?x1xf32>
    %user_1 = nn.reshape %9 : (tensor<?x1xf32>) -> tensor<?x1x1xf32>
    %10 = nn.accidental_hits %own_1, %drawn_1 : (tensor<?x1xi64>, tensor<?x2xi64>) -> tensor<?x2xf32>
    %rows_2 = nn.lookup @t18[%own_1] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %11 = nn.matmul %rows_2, %user_1 : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %12 = nn.reshape %11 : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    %rows_3 = nn.lookup @t18[%drawn_1] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x1xf32>
    %13 = nn.matmul %rows_3, %user_1 : tensor<?x2x1xf32>, tensor<?x1x1xf32>
    %14 = nn.reshape %13 : (tensor<?x2x1xf32>) -> tensor<?x2xf32>
    %value_3 = nn.negative_sampling %12, %14 hits %10 : tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    %value_4 = nn.tanh %value_3 : tensor<?x1xf32>
    %first = nn.tanh %z : tensor<?x1xf32>
    %15 = nn.read @bias0 : tensor<1xf32>
    %first_1 = nn.add %first, %15 : tensor<?x1xf32>, tensor<1xf32>
    %16 = nn.read @bias1 : tensor<1xf32>
    %first_2 = nn.add %first_1, %16 : tensor<?x1xf32>, tensor<1xf32>
    %17 = nn.read @bias2 : tensor<1xf32>
    %first_3 = nn.add %first_2, %17 : tensor<?x1xf32>, tensor<1xf32>
    nn.return %first_3, %value_4 : tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.program @train_first reads(@sample) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x6xf32>, %y: tensor<?x4xf32>, %z: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %item: tensor<?x1xi64>, %bags: !nn.ragged<?x2x*xi64>, %more: !nn.ragged<?x2x*xi64>, %other: !nn.ragged<?x2x*xi64>):
    %0, %1 = nn.call @compute(%x, %y, %z, %ids, %item, %bags, %more, %other) : (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xi64>, tensor<?x1xi64>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %flat = nn.reshape %0 : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %2 = nn.mul %flat, %flat : tensor<?x1xf32>, tensor<?x1xf32>
    %total = nn.reduce mean %2 axes [1] keep : tensor<?x1xf32>
    %flat_1 = nn.reshape %1 : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %3 = nn.neg %flat_1 : tensor<?x1xf32>
    %4 = nn.softmax %3 axis 1 : tensor<?x1xf32>
    %5 = nn.softmax_cross_entropy %flat_1, %4 : tensor<?x1xf32>, tensor<?x1xf32>
    %total_1 = nn.add %total, %5 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total_1 over [@g0] : tensor<?x1xf32>
  }

  nn.program @train_second reads(@sample) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x6xf32>, %y: tensor<?x4xf32>, %z: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %item: tensor<?x1xi64>, %bags: !nn.ragged<?x2x*xi64>, %more: !nn.ragged<?x2x*xi64>, %other: !nn.ragged<?x2x*xi64>):
    %0, %1 = nn.call @compute(%x, %y, %z, %ids, %item, %bags, %more, %other) : (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xi64>, tensor<?x1xi64>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %flat = nn.reshape %0 : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %2 = nn.mul %flat, %flat : tensor<?x1xf32>, tensor<?x1xf32>
    %total = nn.reduce mean %2 axes [1] keep : tensor<?x1xf32>
    %flat_1 = nn.reshape %1 : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %3 = nn.neg %flat_1 : tensor<?x1xf32>
    %4 = nn.softmax %3 axis 1 : tensor<?x1xf32>
    %5 = nn.softmax_cross_entropy %flat_1, %4 : tensor<?x1xf32>, tensor<?x1xf32>
    %total_1 = nn.add %total, %5 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total_1 over [@g1, @g2] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample except @label) {
  ^bb0(%x: tensor<?x6xf32>, %y: tensor<?x4xf32>, %z: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %item: tensor<?x1xi64>, %bags: !nn.ragged<?x2x*xi64>, %more: !nn.ragged<?x2x*xi64>, %other: !nn.ragged<?x2x*xi64>):
    %0, %1 = nn.call @compute(%x, %y, %z, %ids, %item, %bags, %more, %other) : (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xi64>, tensor<?x1xi64>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    nn.return %0 as "first", %1 as "step18" : tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.cycle @train [@train_first, @train_second]
}
