// RUN: rm -rf %t && split-file %s %t

// A call does not reach a sibling module, by no kind of name.
// RUN: not mlir-opt %t/flat.mlir 2>&1 | FileCheck %s --check-prefix=FLAT
// FLAT: error: 'func.call' op 'handler' does not reference a valid function
// RUN: not mlir-opt %t/nested.mlir 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: custom op 'func.call' invalid kind of attribute specified

// What stands in nested modules is not translated, and nothing says so.
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
