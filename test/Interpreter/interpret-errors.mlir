// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.good x F32 2,1 1,2 c.values I64 2 1,2 c.splits I32 3 0,1,2
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.replicas batch0/x F32 2,1 1,2 batch0/c.values I64 2 1,2 batch0/c.splits I32 3 0,1,2 batch0.place I64 3 0,0,1
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.infinite x F32 2,1 inf,2 c.values I64 2 1,2 c.splits I32 3 0,1,2
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.splits x F32 2,1 1,2 c.values I64 2 1,2 c.splits I32 3 0,2,1
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.missing x F32 2,1 1,2
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.samples x F32 1,1 1 c.values I64 2 1,2 c.splits I32 3 0,1,2
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.integer x I64 2,1 1,2 c.values I64 2 1,2 c.splits I32 3 0,1,2
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.noparam emb.keys I64 1 1 emb.values F32 1,1 3
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.bf16 x BF16 2,1 1,2
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.twice w F32 1 1 emb.keys I64 2 1,1 emb.values F32 2,1 3,4
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.extra w F32 1 1 v F32 1 1

// RUN: not pdl-opt %s --nn-interpret="program=serve data=%t.good" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: error: has no program @serve to interpret; it has @train
// RUN: not pdl-opt %s --nn-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=DATA
// DATA: error: nn-interpret needs data=FILE
// RUN: not pdl-opt %s --nn-interpret="data=%t.none" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}.none: cannot be read
// RUN: not pdl-opt %s --nn-interpret="data=%s" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: {{.*}}interpret-errors.mlir: is not a safetensors file, but a text that begins with '// R{{UN}}: '; name a file that
// RUN: cat %t.good > %t.longer && printf 1234 >> %t.longer
// RUN: not pdl-opt %s --nn-interpret="data=%t.longer" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LONGER
// LONGER: error: {{.*}}.longer: 4 bytes at the end belong to no tensor; the file is damaged or not a safetensors file, so write or fetch it again
// RUN: not pdl-opt %s --nn-interpret="data=%t.bf16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BF16
// BF16: error: {{.*}}.bf16: tensor `x` has the type BF16; convert it to F32, F64, I32 or I64
// RUN: not pdl-opt %s --pdl-pipeline="to=gradient" --nn-interpret="data=%t.infinite dump=%t.dump" -o /dev/null 2>&1 | FileCheck %s --check-prefix=INFINITE
// INFINITE: error: 'nn.program' op has a loss that is not finite
// INFINITE: remark: in step 0
// RUN: not pdl-opt %s --nn-interpret="data=%t.splits" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPLITS
// SPLITS: error: {{.*}}.splits: tensor 'c.splits' does not cut 'c.values' into bags: it must ascend from 0 to 2
// RUN: not pdl-opt %s --nn-interpret="data=%t.missing" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}.missing: has no tensor 'c.splits', which program @train reads
// RUN: not pdl-opt %s --nn-interpret="data=%t.samples" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAMPLES
// SAMPLES: error: {{.*}}.samples: fields @x and @c have 1 and 2 samples
// RUN: not pdl-opt %s --nn-interpret="data=%t.integer" -o /dev/null 2>&1 | FileCheck %s --check-prefix=INTEGER
// INTEGER: error: {{.*}}.integer: tensor 'x' is I64 [2, 1], but field @x is 'tensor<?x1xf32>'
// RUN: not pdl-opt %s --nn-interpret="data=%t.good init=%t.noparam" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOPARAM
// NOPARAM: error: {{.*}}.noparam: has no tensor 'w', which the module has as a parameter
// RUN: not pdl-opt %s --nn-interpret="data=%t.good init=%t.twice" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}.twice: 'emb.keys' holds a key twice
// RUN: not pdl-opt %s --nn-interpret="data=%t.good init=%t.extra" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXTRA
// EXTRA: error: {{.*}}.extra: tensor 'v' belongs to nothing in the module
// RUN: not pdl-opt %s --nn-interpret="data=%t.replicas" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPLICAS
// REPLICAS: error: {{.*}}.replicas: batch 0 is of another replica than the first; the interpreter runs one replica

// A dump replaces only regular files.
// RUN: rm -rf %t.pipe %t.link %t.folder && mkfifo %t.pipe && ln -s %t.target %t.link && mkdir %t.folder && echo old > %t.target
// RUN: not pdl-opt %s --nn-interpret="data=%t.good dump=%t.pipe" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: test -p %t.pipe
// PIPE: error: {{.*}}.pipe: is there and is no regular file; name another
// RUN: not pdl-opt %s --nn-interpret="data=%t.good dump=%t.folder" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: test -d %t.folder
// FOLDER: error: {{.*}}.folder: is there and is no regular file; name another
// RUN: not pdl-opt %s --nn-interpret="data=%t.good dump=%t.link" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LINK
// RUN: test -L %t.link && grep -q old %t.target
// LINK: error: {{.*}}.link: is a link, and would be replaced itself; name the file that it stands for
// RUN: not pdl-opt %s --nn-interpret="data=%t.good dump=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: -: is the standard output, and the dump is not text; name a file (./- for one of that name)
module @m {
  nn.record @sample {
    nn.field @x : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.5)
  nn.param @w : tensor<1xf32> in @g init(#nn.constant<1.0>)
  nn.table @emb : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>):
    %w = nn.read @w : tensor<1xf32>
    %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %p = nn.mul %x, %w : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.add %p, %f : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
