// A model with everything that a role can have: a table, parameters with
// several blocks, a clip, a frozen program, and a parameter that is never
// trained.
module @two_roles {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
    nn.field @dense : tensor<?x200xf32>
    nn.field @cat : !nn.ragged<?x2x*xi64>
  }
  nn.clip @joint : global_norm(1.0)
  nn.group @all rule(@adagrad) rate(0.1) clip(@joint)
  nn.table @emb : i64 -> tensor<4xf32> in @all init(#nn.uniform<-0.1, 0.1>)
  nn.param @w : tensor<208x1xf32> in @all init(#nn.xavier)
  nn.param @v : tensor<208x1xf32> in @all init(#nn.xavier)
  nn.param @scale : tensor<8xf32> init(#nn.constant<1.0>)
  nn.metric @auc : #nn.auc<buckets = 64>
  nn.func private @logit(%d: tensor<?x200xf32>, %c: !nn.ragged<?x2x*xi64>) -> tensor<?x1xf32> {
    %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
    %f = nn.flatten %e from 1 : tensor<?x2x4xf32>
    %s = nn.read @scale : tensor<8xf32>
    %m = nn.mul %f, %s : tensor<?x8xf32>, tensor<8xf32>
    %x = nn.concat %m, %d axis 1 : tensor<?x8xf32>, tensor<?x200xf32>
    %z0 = nn.linear %x, @w : (tensor<?x208xf32>) -> tensor<?x1xf32>
    %z1 = nn.linear %x, @v : (tensor<?x208xf32>) -> tensor<?x1xf32>
    %z = nn.mul %z0, %z1 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@clicks) {
  ^bb0(%y: tensor<?x1xf32>, %d: tensor<?x200xf32>, %c: !nn.ragged<?x2x*xi64>):
    %z = nn.call @logit(%d, %c) : (tensor<?x200xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@all] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@clicks except @label) {
  ^bb0(%d: tensor<?x200xf32>, %c: !nn.ragged<?x2x*xi64>):
    %z = nn.call @logit(%d, %c) : (tensor<?x200xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
