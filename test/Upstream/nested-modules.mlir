// RUN: rm -rf %t && split-file %s %t

// A call cannot name a function of a sibling module in any way.
// RUN: not mlir-opt %t/flat.mlir 2>&1 | FileCheck %s --check-prefix=FLAT
// FLAT: error: 'func.call' op 'handler' does not reference a valid function
// RUN: not mlir-opt %t/nested.mlir 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: custom op 'func.call' invalid kind of attribute specified

// Nested modules are not translated, without any message.
// RUN: mlir-translate --mlir-to-llvmir %t/roles.mlir | FileCheck %s --check-prefix=EMPTY --implicit-check-not=step
// EMPTY: source_filename

//--- flat.mlir
module @pserver {
  func.func @handler() {
    return
  }
}
module @trainer {
  func.func @step() {
    func.call @handler() : () -> ()
    return
  }
}

//--- nested.mlir
module @pserver {
  func.func @handler() {
    return
  }
}
module @trainer {
  func.func @step() {
    func.call @pserver::@handler() : () -> ()
    return
  }
}

//--- roles.mlir
module {
  module @trainer {
    llvm.func @step() {
      llvm.return
    }
  }
}
