// RUN: not pdl-opt %s --ps-place="servers=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pdl-opt %s --ps-place="servers=2 policy=alphabetical" 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not pdl-opt %s --ps-report="servers=2" 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not pdl-opt %s --ps-report="servers=2 unique-share=2" 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not pdl-opt %s --ps-report="servers=2 machine=%t.none" 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: echo '{"flops_per_second": 0}' > %t.json
// RUN: not pdl-opt %s --ps-report="servers=2 machine=%t.json" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: echo 'module {}' | not pdl-opt --ps-place 2>&1 | FileCheck %s --check-prefix=UNITS

// NONE: error: a job has at least one server, not 0
// POLICY: error: 'alphabetical' is no placement policy; give round-robin, hash-name, least-loaded
// REPORT: error: the module has no program that trains: there is no step to report about
// SHARE: error: ps-report: trainers, workers, batch-size and geo-steps are at least 1, unique-share is at least 0 and at most 1
// MACHINE: error: ps-report cannot read machine constants from {{.*}}.none: No such file
// NUMBER: error: {{.*}} has no positive number "flops_per_second"; let pdl-measure write the file
// UNITS: error: the module is cut into no units for servers: stop at phase placed of mode sync or async, with --pdl-pipeline="to=placed mode=sync" before this pass
module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.param @w : tensor<8x1xf32> init(#nn.zeros)
  ps.blocks @w rows [0, 8] costs [64]
}
