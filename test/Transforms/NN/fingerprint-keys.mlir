// RUN: pdl-opt %s --pdl-pipeline="to=merged" | grep '"keys ' | sed 's/\\0A/\n/g' > %t.keys
// RUN: FileCheck %s < %t.keys

// Each way from fields to keys of a table is one line, even if several programs
// use it. Equal fields of one way are numbered in the order of the record.
// CHECK:      "keys of @emb" = "%0 = bucketize(f32 missing 0.5, boundaries = [1, 2.5]); cross(%0, %0, salt = 3)
// CHECK-NEXT: cross(#2 text by xxh64 salt 4 missing \22?\22, #1 text by xxh64 salt 4 missing \22?\22, salt = 0)
// CHECK-NEXT: cross(slice(text by xxh64 salt slot, axis = 1, offset = 1, size = 1), integer missing 7, salt = 0)
// CHECK-NEXT: id_arithmetic(text by xxh64 salt 4 missing \22?\22, kind = remainder, number = 1000)
// CHECK-NEXT: integer
// CHECK-NEXT: integer missing 7
// CHECK-NEXT: slice(text by xxh64 salt slot, axis = 1, offset = 1, size = 1)
// CHECK-NEXT: text by xxh64 salt slot"
// CHECK-NOT:  "keys

// Each property that turns a raw value into a key changes the text.
// DEFINE: %{edit} =
// DEFINE: %{differs} = sed -e %{edit} %s | pdl-opt --pdl-pipeline="to=merged" | grep '"keys ' | sed 's/\\0A/\n/g' | not diff -q %t.keys -
// DEFINE: %{equal} = sed -e %{edit} %s | pdl-opt --pdl-pipeline="to=merged" | grep '"keys ' | sed 's/\\0A/\n/g' | diff %t.keys -

// Hash function and salt.
// REDEFINE: %{edit} = 's/@b : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = 4>)/@b : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = 5>)/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/@number : tensor<?x1xi64> missing(7)/@number : tensor<?x1xi64> hash(#nn.hash<xxh64>) missing("7")/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/@slots : tensor<?x2xi64> hash(#nn.hash<xxh64, salt = slot>)/@slots : tensor<?x2xi64> hash(#nn.hash<xxh64>)/'
// RUN: %{differs}
// The missing token and the missing number.
// REDEFINE: %{edit} = 's/missing(7)/missing(8)/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/missing("?") columns/missing("!") columns/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/missing(0.5)/missing(1.5)/'
// RUN: %{differs}
// Texts of missing values, and the replacement of a missing value in a bag.
// REDEFINE: %{edit} = 's/nn.record @r {/nn.record @r missing_texts(["NULL"]) {/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/@tags : !nn.ragged<?x1x\*xi64>/@tags : !nn.ragged<?x1x*xi64> missing_element(3)/'
// RUN: %{differs}
// Buckets, crosses, the order of their operands, remainders.
// REDEFINE: %{edit} = 's/\[1.0, 2.5\]/[1.0, 2.0]/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/salt(3)/salt(2)/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/nn.cross %%b, %%a/nn.cross %%a, %%b/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/with 1000/with 1001/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/remainder %%a/add %%a/'
// RUN: %{differs}
// REDEFINE: %{edit} = 's/offset 1 size 1/offset 0 size 1/'
// RUN: %{differs}

// Nothing else changes it: names, columns, other programs and unrelated fields.
// REDEFINE: %{edit} = 's/@a :/@user :/; s/@b :/@item :/; s/@a, @b/@user, @item/; s/@slots/@places/g'
// RUN: %{equal}
// REDEFINE: %{edit} = 's/columns(\[3\])/columns([9])/'
// RUN: %{equal}
// REDEFINE: %{edit} = 's/nn.record @r {/nn.record @r missing_texts(["?"]) {/'
// RUN: %{equal}
// REDEFINE: %{edit} = 's/nn.program @second/nn.program @other/'
// RUN: %{equal}
// The order of different fields does not change it, because their properties
// identify them.
// REDEFINE: %{edit} = '/nn.field @slots/{h;d}; /nn.field @number/G; s/(%%slots: tensor<?x2xi64>, %%number: tensor<?x1xi64>/(%%number: tensor<?x1xi64>, %%slots: tensor<?x2xi64>/'
// RUN: %{equal}
// REDEFINE: %{edit} = 's/@y : tensor<?x1xf32>/@y : tensor<?x1xf32> missing(0.0)/'
// RUN: %{equal}

// A field of integers has only those missing texts that it would otherwise read
// as numbers.
// RUN: sed 's/nn.record @r {/nn.record @r missing_texts(["NULL", "0", "NA"]) {/' %s | pdl-opt --pdl-pipeline="to=merged" | grep '"keys ' | sed 's/\\0A/\n/g' | FileCheck --check-prefix=MISSING %s
// MISSING:      {{^}}integer missing 7 missing texts [\220\22]{{$}}
// MISSING-NEXT: {{^}}integer missing texts [\220\22]{{$}}
// MISSING:      {{^}}text by xxh64 salt slot missing texts [\220\22, \22NA\22, \22NULL\22]

// A module that trains nothing lists the keys that it reads.
// RUN: sed -e '/minimize/d; s/nn.program @train/nn.program @predict frozen/; s/nn.program @second/nn.program @more frozen/; s|// return|nn.return %%l : tensor<?x1xf32>|' %s \
// RUN:   | pdl-opt --pdl-pipeline="to=merged" | grep '"keys ' | sed 's/\\0A/\n/g; s/keys read of/keys of/' | diff %t.keys -
module @ways {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32> missing(0.5)
    nn.field @a : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = 4>) missing("?") columns([2])
    nn.field @b : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = 4>) missing("?") columns([3])
    nn.field @slots : tensor<?x2xi64> hash(#nn.hash<xxh64, salt = slot>)
    nn.field @number : tensor<?x1xi64> missing(7)
    nn.field @tags : !nn.ragged<?x1x*xi64> separator("|")
  }
  nn.group @g rule(@sgd) rate(0.5)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r except [@slots, @number, @tags]) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>, %a: tensor<?x1xi64>, %b: tensor<?x1xi64>):
    %bucket = nn.bucketize %x boundaries [1.0, 2.5] : tensor<?x1xf32>
    %twice = nn.cross %bucket, %bucket salt(3) : tensor<?x1xi64>, tensor<?x1xi64>
    %both = nn.cross %b, %a : tensor<?x1xi64>, tensor<?x1xi64>
    %few = nn.id_arithmetic remainder %a with 1000 : tensor<?x1xi64>
    %ids = nn.concat %twice, %both, %few axis 1 : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %e = nn.lookup @emb[%ids] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x3x1xf32>
    %l = nn.reduce sum %f axes [1] keep : tensor<?x3xf32>
    // return
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @second reads(@r except [@y, @x, @a, @b]) {
  ^bb0(%slots: tensor<?x2xi64>, %number: tensor<?x1xi64>, %tags: !nn.ragged<?x1x*xi64>):
    %one = nn.slice %slots axis 1 offset 1 size 1 : tensor<?x2xi64>
    %mixed = nn.cross %one, %number : tensor<?x1xi64>, tensor<?x1xi64>
    %ids = nn.concat %slots, %number, %one, %mixed axis 1 : tensor<?x2xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %e = nn.lookup @emb[%ids] pool(sum) : (tensor<?x5xi64>) -> tensor<?x5x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x5x1xf32>
    %t = nn.lookup @emb[%tags] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %g = nn.flatten %t from 1 : tensor<?x1x1xf32>
    %h = nn.concat %f, %g axis 1 : tensor<?x5xf32>, tensor<?x1xf32>
    %l = nn.reduce sum %h axes [1] keep : tensor<?x6xf32>
    // return
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
