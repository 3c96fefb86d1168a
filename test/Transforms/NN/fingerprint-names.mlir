// Fingerprints contain the first names of ops, so renaming an op changes none.
// The digest below is that of the version in which the op was called
// nn.standardise.
// RUN: pdl-opt %s --pdl-pipeline="to=merged" | FileCheck %s

// CHECK: nn.fingerprint state {
// CHECK: "keys of @ages" = "bucketize(standardise(f32, deviation = [13.5], mean = [38.5]), boundaries = [-1, 0, 1])"
// CHECK: "losses of @train" = "1abd08b894f0f09e"
module @people {
  nn.record @person {
    nn.field @y : tensor<?x1xf32>
    nn.field @age : tensor<?x1xf32>
  }
  nn.group @dense rule(@sgd) rate(0.5)
  nn.table @ages : i64 -> tensor<2xf32> in @dense init(#nn.zeros)
  nn.param @w : tensor<3x1xf32> in @dense init(#nn.zeros)
  nn.program @train reads(@person) {
  ^bb0(%y: tensor<?x1xf32>, %age: tensor<?x1xf32>):
    %standard = nn.standardize %age mean [38.5] deviation [13.5] : tensor<?x1xf32>
    %bucket = nn.bucketize %standard boundaries [-1.0, 0.0, 1.0] : tensor<?x1xf32>
    %rows = nn.lookup @ages[%bucket] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %row = nn.flatten %rows from 1 : tensor<?x1x2xf32>
    %unit = nn.l2_normalize %row : tensor<?x2xf32>
    %x = nn.concat %unit, %standard axis 1 : tensor<?x2xf32>, tensor<?x1xf32>
    %z = nn.linear %x, @w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@dense] : tensor<?x1xf32>
  }
}
