# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model whose tables store their values in 16 bits."""

# Rows have an odd number of values. The groups are of all kinds: one has a row slot, one has a
# slot that frozen programs read, one has a clip, and one updates rows without a gradient too.
MODEL = """module @stored {
  nn.record @r {
    nn.field @id : tensor<?x3xi64>
    nn.field @label : tensor<?x1xf32>
  }
  nn.metric @error : #nn.mae
  nn.clip @joint : global_norm(0.5)
  nn.group @rows rule(@rowwise_adagrad) rate(0.25) untouched(lazy)
  nn.group @averaged rule(@adam) rate(0.0625) average(@ema {decay = 0.75}) untouched(lazy)
  nn.group @all rule(@adam) rate(0.0625) decay(#nn.l2<0.0078125>) clip(@joint) untouched(dense)
  nn.table @a : i64 -> tensor<5xf32> in @rows init(#nn.normal<0.0, 0.5>) stored(bf16)
  nn.table @b : i64 -> tensor<9xf32> in @averaged init(#nn.uniform<-1.0, 1.0>) stored(bf16)
  nn.table @c : i64 -> tensor<2xf32> in @all init(#nn.uniform<-1.0, 1.0>) unknown(zero) stored(f16)
  nn.table @d : i64 -> tensor<3xf32> in @rows init(#nn.uniform<-1.0, 1.0>)

  nn.func private @z(%id: tensor<?x3xi64>) -> tensor<?x1xf32> {
    %a = nn.lookup @a[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x5xf32>
    %b = nn.lookup @b[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x9xf32>
    %c = nn.lookup @c[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x2xf32>
    %d = nn.lookup @d[%id] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x3xf32>
    %all = nn.concat %a, %b, %c, %d axis 2
      : tensor<?x3x5xf32>, tensor<?x3x9xf32>, tensor<?x3x2xf32>, tensor<?x3x3xf32>
    %t = nn.tanh %all : tensor<?x3x19xf32>
    %s = nn.reduce sum %t axes [1, 2] : tensor<?x3x19xf32>
    %z = nn.reshape %s : (tensor<?xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%id: tensor<?x3xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id) : (tensor<?x3xi64>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@rows, @averaged, @all] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r) {
  ^bb0(%id: tensor<?x3xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id) : (tensor<?x3xi64>) -> tensor<?x1xf32>
    nn.observe @error(%z, %label) : tensor<?x1xf32>, tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%id: tensor<?x3xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%id) : (tensor<?x3xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
"""
