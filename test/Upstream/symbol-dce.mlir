// RUN: mlir-opt %s --allow-unregistered-dialect --symbol-dce | FileCheck %s

// The only use of a private symbol is in a sibling module, so the symbol counts
// as dead.
// CHECK: module @pserver {
// CHECK-NEXT: }
module @pserver {
  func.func private @handler() {
    return
  }
}
// CHECK: to = @pserver::@handler
module @trainer {
  func.func @step() {
    "wire.send"() {to = @pserver::@handler} : () -> ()
    return
  }
}
