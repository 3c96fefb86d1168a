//===- NNProgramOps.td - Functions, programs, cycles -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNPROGRAMOPS_TD
#define PDLC_DIALECT_NN_IR_NNPROGRAMOPS_TD

include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "pdlc/Dialect/NN/IR/NNTypes.td"

def NN_FuncOp : NN_Op<"func", [StandsUntil<"Model", "nn-lower-model inlines functions">,
    FunctionOpInterface, IsolatedFromAbove,
    AffineScope, SingleBlock, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A function that programs share";
  let description = [{
    Defines a function. Phase `merged` inlines it into its callers.

    In addition to values, a function can take symbols:
    `with(@w: tensor<4x8xf32>, @emb: i64 -> tensor<8xf32>)`. Its body uses these
    names like a parameter or state of that type, or like a table with such
    rows. Each call says which symbols they stand for. One function can
    therefore describe many layers.

    Constraints:
    - (C1) The function has a body of one block that ends in `nn.return`. It
      does not call itself, directly or through other functions.
    - (C2) The symbols that it takes have types of parameters (`nn.param`, C1)
      or of tables (`nn.table`, C1). Their names are unique in the function, and
      no symbol of the model has one of them.

    Example:
    ```mlir
    nn.func private @double(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = nn.add %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
      nn.return %0 : tensor<?x4xf32>
    }
    nn.func private @expert(%x: tensor<?x4xf32>) with(@w: tensor<4x8xf32>, @b: tensor<8xf32>) -> tensor<?x8xf32> {
      %0 = nn.linear %x, @w, @b act(relu) : (tensor<?x4xf32>) -> tensor<?x8xf32>
      nn.return %0 : tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<FlatSymbolRefArrayAttr>:$symbols, OptionalAttr<TypeArrayAttr>:$symbol_types,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool isDeclaration() { return false; }
    /// Returns the symbols that the function takes, and their types. The type
    /// of a table is the function type from key to row.
    ::llvm::SmallVector<std::pair<::mlir::FlatSymbolRefAttr, ::mlir::Type>> getTakenSymbols();
  }];
}

def NN_CallOp : NN_BodyOp<"call", [StandsUntil<"Model", "nn-lower-model inlines functions">,
    CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls an nn.func";
  let description = [{
    Calls a function with values, and with symbols if the function takes any.

    Constraints:
    - (C1) The callee is an `nn.func` with these operand and result types.
    - (C2) `with(...)` lists one symbol for each symbol that the callee takes,
      in order and of the declared type. In a function, it may be a symbol that
      the function takes.

    Example:
    ```mlir
    %0 = nn.call @double(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = nn.call @expert(%x) with(@w1, @b1) : (tensor<?x4xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
    OptionalAttr<FlatSymbolRefArrayAttr>:$symbols,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` (`with` `` custom<SymbolArguments>($symbols)^)? attr-dict
    `:` functional-type($operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(
          ::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
  }];
}

def NN_ReturnOp : NN_Op<"return", [Pure, Terminator, ReturnLike,
    ParentOneOf<["FuncOp", "ProgramOp"]>]> {
  let summary = "Ends a function or a program";
  let description = [{
    In a program, the operands are its outputs, such as predictions. Outputs may
    have names, which become the column names that `predict` writes. Outputs
    without names are `output0`, `output1` and so on. If an output has several
    elements for each sample, its columns are `name.0`, `name.1` and so on.

    Constraints:
    - (C1) In a function, the operand types are the result types of the
      function. In a program, they are float tensors with the batch as first
      dimension.
    - (C2) Only programs have names. Either all outputs have one, or none has.
      Names are not empty, contain no control characters, and the resulting
      column names are unique.

    Example:
    ```mlir
    nn.return %0 : tensor<?x1xf32>
    nn.return %p as "ctr", %q as "cvr" : tensor<?x1xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands, OptionalAttr<StrArrayAttr>:$names);
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "custom<Returned>($operands, type($operands), $names) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the name of output `number`.
    std::string getOutputName(unsigned number);
  }];
}

def NN_ProgramOp : NN_Op<"program", [Symbol, IsolatedFromAbove,
    SingleBlockImplicitTerminator<"ReturnOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A task that the executable runs on batches";
  let description = [{
    The block arguments are the fields of the record, in record order. Fields
    after `except` are left out. From phase `merged` on, a ragged field has two
    arguments: its ids `tensor<?xi64>` and its splits `tensor<?xi32>` (bags + 1
    entries).

    A `frozen` program only reads. It inserts no keys, updates no state, and
    accumulates only metrics.

    Constraints:
    - (C1) `reads` names an `nn.record`. Each excepted name is one of its
      fields.
    - (C2) The arguments are as described, for the phase of the module.
    - (C3) A frozen program contains no `nn.minimize`, `nn.accumulate`,
      `nn.once`, or `nn.update`.
    - (C4) Each group is trained by one `nn.minimize`. Groups with one joint
      clip are trained by the same `nn.minimize`.
    - (C5, snapshot rule, from `merged` on) Each parameter or state is read at
      most once, and each table is pulled at most once. Each symbol is updated
      at most once, by the last op that mentions it.

    Example:
    ```mlir
    nn.program @predict frozen reads(@clicks except @label) {
    ^bb0(%c: !nn.ragged<?x26x*xi64>):
      %p = nn.call @score(%c) : (!nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
      nn.return %p : tensor<?x1xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$record,
    OptionalAttr<FlatSymbolRefArrayAttr>:$except, UnitAttr:$frozen);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`frozen` $frozen^)? `reads` `(` $record
    (`except` custom<SymbolList>($except)^)? `)` attr-dict-with-keyword
    custom<ProgramBody>($body)
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the fields that the program reads, in argument order.
    ::llvm::SmallVector<::pdlc::nn::FieldOp> getFields();
    ::pdlc::nn::ReturnOp getReturn();
  }];
}

def NN_CycleOp : NN_Op<"cycle", [Symbol,
    StandsUntil<"Model", "nn-join-cycle makes one program of its programs">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Alternating training programs";
  let description = [{
    Each step runs one of the programs: the given number of steps of the first,
    then of the second, and after the last again the first. Each step reads the
    next batch. Commands use the name of the cycle like that of a program:
    `train` runs the program or cycle `@train`.

    Each program trains its own groups, and reads the parameters of the other
    programs as the previous steps left them. Phase `merged` replaces the
    programs with a single one (`nn-join-cycle`). Its state `@NAME.turn`, with
    the rule `@cyclic_counter`, selects the active program. The state is saved
    with the model, and is the same for all replicas and servers. Losses are
    reported as for several `nn.minimize` in one program: the loss of the first
    program as that of the training, and the losses of the others as means.

    Constraints:
    - (C1) There is at least one turn. Each turn has 1 to 65536 steps, and all
      turns together have at most 65536.
    - (C2) Each name is a program that trains, has no outputs, and is not
      frozen.
    - (C3) No two of the programs train the same group or accumulate into the
      same group (checked by `nn-join-cycle`).
    - (C4) If the programs accumulate into states, the rules of these states are
      not `undivided`. Such a rule would run in every step, whichever program is
      active (checked by `nn-join-cycle`).
    - (C5) The model defines no `@cyclic_counter` (checked by `nn-link-std`).

    Example:
    ```mlir
    nn.cycle @train [@train_critic * 5, @train_generator]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$programs,
    DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$sym_name custom<Turns>($programs, $steps) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The rule of the state that counts the steps of the cycle.
    static constexpr ::llvm::StringLiteral kRule = "cyclic_counter";
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNPROGRAMOPS_TD
