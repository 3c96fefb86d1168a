//===- NNRecordOps.td - Records and fields -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNRECORDOPS_TD
#define PDLC_DIALECT_NN_IR_NNRECORDOPS_TD

include "mlir/Interfaces/FunctionInterfaces.td"
include "pdlc/Dialect/NN/IR/NNAttributes.td"

def NN_RecordOp : NN_Op<"record", [Symbol, SymbolTable, NoTerminator,
    NoRegionArguments, SingleBlock, IsolatedFromAbove]> {
  let summary = "Layout of one sample";
  let description = [{
    Lists the fields of one sample, in file order. Readers, serving and checks
    all use this one declaration.

    - `missing_texts([...])`: the texts that mark a missing value, in all
      fields. They apply to cells, to values in a bag and to texts in requests.
      The default is `?`. The empty text always marks a missing value.

    Constraints:
    - (C1) The body contains only `nn.field` ops.
    - (C2) A model has one record (checked by `nn-check-model`).
    - (C3) A missing text is not empty and does not begin or end with a blank,
      because cells are compared without such blanks.

    Example:
    ```mlir
    nn.record @clicks {
      nn.field @label : tensor<?x1xf32>
      nn.field @category : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>)
    }
    nn.record @exported missing_texts(["NULL", "NA", "\\N"]) {
      nn.field @price : tensor<?x1xf32> missing(0.0)
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrArrayAttr>:$missing_texts);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`missing_texts` `(` $missing_texts^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def NN_FieldOp : NN_Op<"field", [Symbol, HasParent<"RecordOp">]> {
  let summary = "One field of a record";
  let description = [{
    A field holds raw typed values. All feature transforms are ops of the model.
    The type says what the field reads:

    - `tensor<?xNxf32>`: N numeric columns;
    - `tensor<?xNxi64>`: N ids that are always present;
    - `!nn.ragged<?xNx*xi64>`: N bags of ids;
    - `!nn.ragged<?xNx*xf32>`: N bags of numbers.

    Clauses, in any order:

    - `hash(...)`: how text becomes a key. By default, the text is a decimal
      integer, and that integer is the key.
    - `missing(v)`: the replacement for a missing value. It is a number for
      float fields and a string for id fields; the string is hashed like any
      other text. Without this clause, a missing number or tensor id makes the
      row bad, and a missing ragged cell is an empty bag.
    - `missing_element(v)`: the replacement for a value that is missing among
      other values of a bag, written like that of `missing`. With it, bags of
      several fields keep their positions (`nn.same_bags`). Without it, a
      missing id of a bag is left out, and a missing number is replaced by
      `missing` or makes the row bad. A separator at the end of a cell then only
      ends the last value.
    - `values({...})`: texts that stand for numbers, such as label names.
    - `columns([...])`: the columns, as positions (from 0) or header names. By
      default, these are the columns after those of the previous field.
    - `separator("|")`: separates several ids or numbers in one cell (ragged
      fields).

    Constraints:
    - (C1) The type is `tensor<?xNx(f32|f64|i64)>`, or ragged with two
      dimensions before `*`. 1 <= N <= 1048576.
    - (C2) `hash` and `separator` require ids; `values` requires floats.
      `values` maps to numbers that are finite in the element type of the field
      (checked by `nn-check-model`, which knows that type). `separator` requires
      a ragged type and is one ASCII character.
    - (C3) `missing_element` requires a ragged type. `missing` and
      `missing_element` are numbers for float fields, finite as in (C2). They
      are strings for id fields with `hash`, and 64-bit integers for id fields
      without `hash`.
    - (C4) `columns` has N entries. They are all positions (>= 0, < 2^31) or all
      names.
    - (C5) No field has the name of a ragged field followed by `.values` or
      `.splits`. Batch files use these names for the two parts of a ragged
      field.

    Example:
    ```mlir
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
    OptionalAttr<NN_HashAttr>:$hash, OptionalAttr<AnyAttr>:$missing,
    OptionalAttr<AnyAttr>:$missing_element, OptionalAttr<DictionaryAttr>:$values, OptionalAttr<ArrayAttr>:$columns,
    OptionalAttr<StrAttr>:$separator);
  let assemblyFormat = [{
    $sym_name `:` $type ``
    custom<FieldClauses>($hash, $missing, $missing_element, $values, $columns, $separator)
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of columns (feature slots) of one sample.
    int64_t getWidth();
    bool isRagged();
    bool isFloat();
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNRECORDOPS_TD
