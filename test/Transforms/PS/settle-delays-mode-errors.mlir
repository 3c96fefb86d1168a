// RUN: pdl-opt %s --ps-settle-delays="mode=nowhere" -verify-diagnostics

// expected-error @+1 {{ps-settle-delays knows no mode 'nowhere'; expected local, sync}}
module {
}
