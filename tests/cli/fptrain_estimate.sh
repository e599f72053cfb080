#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain estimate: times of steps, of schedules and of runs, and widths in a memory, by hand for a network of 6, 13, 6
# and 3 numbers.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"

# Four samples: products of 312 multiply-adds five times and of 72 three times, 744 rounded elements; so on this machine
# 1776, 444 and 222 us of products in FP32, FP16 and INT8, and 744 us of rounding.
cat >machine.json <<END
{"name": "slow", "bandwidth": 0.008, "rows": [{"fp32": 0.001, "fp16": 0.004, "int8": 0.008}]}
END
tiny='--hardware machine.json --model mlp --set model.width=0.05 --shape 1x3x2 --classes 3 --batch 4 --samples 5'

# Policy epochs of two steps: one at 8 bits, three at 12 to 16, two in FP32.
#     MuPPET, ideal     2 * (222 + 3 * 444 + 2 * 1776)  = 10212 us,  current  + 2 * 4 * 744 = 16164
#     FP32              2 * 6 * 1776                    = 21312
#     mixed precision   2 * 6 * 444                     = 5328,      current  + 2 * 6 * 744 = 14256
cat >wanted <<END
mlp on slow, batch 4: 1776 multiply-adds and 744 rounded elements a step
unit     products, ms   rounding, ms       epoch, s
fp32           1.7760         0.0000         0.0036
fp16           0.4440         0.7440         0.0024
int8           0.2220         0.7440         0.0019

--switch
  epochs: 1 at 8 bits, 1 at 12 bits, 1 at 14 bits, 1 at 16 bits, 2 in FP32
  FP32, 6 epochs          0.02131 s
  mixed precision         0.01426 s current (1.49 x), 0.005328 s ideal (4.00 x)
  MuPPET                  0.01616 s current (1.32 x), 0.01021 s ideal (2.09 x)
END
"$FPTRAIN" estimate $tiny --switch 0/1/2/3 --policy-epochs 6 >out 2>err || failed "estimate: $(cat err)"
diff wanted out >differences || failed "estimate: $(cat differences)"

# A run that ends before its last switches has no more epochs than it has: two at 8 bits, one at 12.
#     ideal  2 * (2 * 222 + 444) = 1776,  current  + 2 * 3 * 744 = 6240;  FP32  2 * 3 * 1776 = 10656
cat >wanted <<END
  epochs: 2 at 8 bits, 1 at 12 bits
  FP32, 3 epochs          0.01066 s
  mixed precision        0.007128 s current (1.49 x), 0.002664 s ideal (4.00 x)
  MuPPET                  0.00624 s current (1.71 x), 0.001776 s ideal (6.00 x)
END
"$FPTRAIN" estimate $tiny --switch 1/3/5/7 --policy-epochs 3 >out 2>err || failed "a short run: $(cat err)"
sed '1,/^--switch$/d' out | diff wanted - >differences || failed "a short run: $(cat differences)"
for epochs in 1 2; do
    "$FPTRAIN" estimate $tiny --switch 1/3/5/7 --policy-epochs $epochs >out 2>err || failed "a short run: $(cat err)"
    grep -qx "  epochs: $epochs at 8 bits" out || failed "a run of $epochs epochs: $(cat out)"
done

# A log written by hand: three policy epochs at 8 bits, one at 16, four in FP32; another comparison.
#     ideal  2 * (3 * 222 + 444 + 4 * 1776) = 16428,  current  + 2 * 4 * 744 = 22380;  FP32  2 * 10 * 1776 = 35520
mkdir run plain
own='[model]\nname = mlp\nwidth = 0.05\n[train]\nbatch = 4\n'
printf "$own" >run/settings.ini
printf "$own" >plain/settings.ini
printf '{"step":1,"loss":1}\n' >plain/log.jsonl
cp plain/log.jsonl run
for bits in 8 8 8 16 32 32 32 32; do
    printf '{"step":2,"policy_epoch":0,"bits":%d,"switched":false}\n' $bits >>run/log.jsonl
done
"$FPTRAIN" estimate $tiny --policy-epochs 10 run >out 2>err || failed "estimate of a run: $(cat err)"
cat >wanted <<END
run
  epochs: 3 at 8 bits, 1 at 16 bits, 4 in FP32
  FP32, 10 epochs          0.03552 s
  mixed precision         0.02376 s current (1.49 x), 0.00888 s ideal (4.00 x)
  MuPPET                  0.02238 s current (1.59 x), 0.01643 s ideal (2.16 x)
END
sed '1,/^$/d' out | diff wanted - >differences || failed "estimate of a run: $(cat differences)"

# Runs with one word length throughout, 6 steps or three policy epochs of 2: in FP32 6 * 1776 = 10656; 8 bits 6 * 222 =
# 1332, current + 6 * 744 = 5796. FP32 of ten policy epochs is 35520. The table has for both runs called run (16428 and
# 22380) the means.
mkdir run-1 run-2 fp32 eight
cp run/* run-1
cp run/* run-2
echo '{"step":8,"epoch":1,"test_loss":1,"test_accuracy":0.5,"test_accuracy_fp32":0.5}' >>run-1/log.jsonl
echo '{"step":8,"epoch":1,"test_loss":1,"test_accuracy":0.75,"test_accuracy_fp32":0.5}' >>run-2/log.jsonl
echo '{"step":9,"epoch":2,"test_loss":1,"test_accuracy":0.7,"test_accuracy_fp32":0.5}' >>run-2/log.jsonl
printf "$own" >fp32/settings.ini
printf "$own"'[formats]\nv = muppet(8) sr\nw = muppet(8) sr\ndv = muppet(8)\ndw = muppet(8)\n' >eight/settings.ini
for run in fp32 eight; do
    echo '{"step":6,"epoch":0,"loss":1}' >$run/log.jsonl
    echo '{"step":6,"epoch":0,"test_loss":1,"test_accuracy":0.6,"test_accuracy_fp32":0.5}' >>$run/log.jsonl
done
"$FPTRAIN" estimate $tiny --policy-epochs 10 --plot runs.svg run-1 fp32 run-2 eight >out 2>err ||
    failed "estimate of four runs: $(cat err)"
cat >wanted <<END
  epochs: 3 in FP32
  FP32, 10 epochs          0.03552 s
  mixed precision         0.02376 s current (1.49 x), 0.00888 s ideal (4.00 x)
  run                     0.01066 s current (3.33 x), 0.01066 s ideal (3.33 x)
  epochs: 3 at 8 bits
  FP32, 10 epochs          0.03552 s
  mixed precision         0.02376 s current (1.49 x), 0.00888 s ideal (4.00 x)
  MuPPET                 0.005796 s current (6.13 x), 0.001332 s ideal (26.67 x)
runs                 count  best, %  (lowest, highest)  last, %    ideal  current
run                      2    62.50     50.00    75.00    60.00    0.463    0.630
fp32                     1    60.00     60.00    60.00    60.00    0.300    0.300
eight                    1    60.00     60.00    60.00    60.00    0.037    0.163
END
{ sed -n '/^fp32$/,/^$/p; /^eight$/,/^$/p' out | sed '/^fp32$/d; /^eight$/d; /^$/d'; sed -n '/^runs /,$p' out; } |
    diff wanted - >differences || failed "estimate of four runs: $(cat differences)"
# Four runs and the mean of two of them in both panels, three kinds in the legend; the ends of a file that is whole.
[ "$(grep -c 'path class="k' runs.svg)" -eq 13 ] || failed "the plot has $(grep -c 'path class="k' runs.svg) marks"
[ "$(grep -c 'class="k. mean"' runs.svg)" -eq 2 ] || failed 'the plot has not two means'
[ "$(tail -n 1 runs.svg)" = '</svg>' ] && head -c 4 runs.svg | grep -q '<svg' || failed 'the plot is not whole'

# Widths 0.05, 0.04 and 0.03 have 13, 10 and 8 units, and 6, 5 and 4: 196, 143 and 107 parameters of 12 and 16 bytes in
# FP32. Packed 12/8/8 at 0.03 (48, 8, 32, 4, 12, 3 elements in a group each): 72 + 12 + 48 + 6 + 18 + 5 + 24 bytes, and
# twice 107 + 24; workspace 4 (2 * 56 + 5 * 48). The last line: 20 MiB for the program, and of 34947 parameters and some
# 600 values a sample less than 1 MB.
cat >wanted <<END
mlp in 2048 bytes for parameters, gradients, optimiser and their workspace
optimiser kept     width   parameters  stored, bytes  bits each      workspace
momentum  fp32      0.04          143           1716     96.000              0
momentum  packed    0.03          107            447     33.421           1408
adam      fp32      0.03          107           1712    128.000              0
adam      packed    0.03          107            578     43.215           1408
a training at width 1: about 22 MB with all values, batch 64, 1 thread, without the data
END
small='--model mlp --shape 1x3x2 --classes 3'
"$FPTRAIN" estimate $small --memory 2K >out 2>err || failed "estimate of widths: $(cat err)"
diff wanted out >differences || failed "estimate of widths: $(cat differences)"
"$FPTRAIN" estimate $small --memory 1 >out 2>err || failed "estimate of widths: $(cat err)"
[ "$(grep -c none out)" -eq 4 ] || failed "in one byte: $(cat out)"
# Where a width just fits, and where a byte is missing; 143 parameters at 0.04. Packed at 0.05, in tensors of 78, 13, 78,
# 6, 18 and 3: 12 bits take 117 + 20 + 117 + 9 + 27 + 5 bytes and scales of 4, 319; 8 bits 220; the workspace is 4 (2 * 91
# + 5 * 78). With 4 bits in groups of 16: 39 + 7 + 39 + 3 + 9 + 2 and 15 scales, 159. At the largest width, 16, 28672 +
# 8390656 + 6147 parameters. The last network comes in four widths alone.
coarse="$small --set optimizer.store=packed --set optimizer.weights=group(int4,16)"
wide='--model shufflenetv2 --shape 3x32x32'
while IFS='|' read -r network bytes row; do
    "$FPTRAIN" estimate $network --memory $bytes >out 2>err || failed "widths in $bytes: $(cat err)"
    tr -s ' ' <out | grep -qx "$row" || failed "$network in $bytes: no '$row' in $(cat out)"
done <<END
$small|2352|momentum fp32 0.05 196 2352 96.000 0
$small|2351|momentum fp32 0.04 143 1716 96.000 0
$small|3136|adam fp32 0.05 196 3136 128.000 0
$small|3135|adam fp32 0.04 143 2288 128.000 0
$small|3047|momentum packed 0.05 196 759 30.980 2288
$small|3046|momentum packed 0.04 143 .*
$small|3267|adam packed 0.05 196 979 39.959 2288
$small|1024G|momentum fp32 16.00 8425475 101105700 96.000 0
$coarse|2887|momentum packed 0.05 196 599 24.449 2288
$wide|15166248|momentum fp32 1.00 1263854 15166248 96.000 0
$wide|15166247|momentum fp32 0.50 433034 5196408 96.000 0
$wide|15166247|adam fp32 0.50 433034 .*
$wide|15166247|adam packed 1.00 1263854 .*
END

# refused TEXT ARGUMENT...: after what it has printed
refused() {
    wanted=$1
    shift
    "$FPTRAIN" estimate "$@" >out 2>err
    status=$?
    if [ $status -ne 2 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -e "fptrain: estimate: $wanted" err; then
        failed "estimate $*: status $status, wanted '$wanted', got: $(cat err)"
    fi
}
refused '--hardware FILE is needed' --model mlp
refused 'none.json: No such file or directory' --hardware none.json
refused '.: Is a directory' --hardware .
printf '{\n"name"}' >bad.json
refused "bad.json: no JSON: ':' expected near '}', in line 2" --hardware bad.json
{ printf '{"name": "' && head -c 1048576 /dev/zero | tr '\0' x && printf '"}'; } >bad.json
refused 'bad.json: larger than 1048576 bytes' --hardware bad.json
# A name drives no terminal
sed 's/slow/\\u001b[31mslow\\u009b/' machine.json >red.json
"$FPTRAIN" estimate $tiny --hardware red.json >out 2>&1 || failed 'red.json'
holds "$(head -n 1 out | cut -d, -f1)" = 'mlp on ?[31mslow??'
printf "$own"'[formats]\nv = e5m2\n' >plain/settings.ini
refused 'plain has neither policy epochs' $tiny plain
printf "$own"'[formats]\nv = muppet(8)\n' >plain/settings.ini
refused 'plain has neither policy epochs' $tiny plain
# Of a run of another network or batch the time of a step is not that of the options.
refused 'run has model.name = mlp, not lenet' --hardware machine.json --shape 1x28x28 run
refused 'run has model.width = 0.05, not 0.06' $tiny --set model.width=0.06 run
refused "run has train.batch = 4, not 8; '--config DIR/settings.ini' takes what a run had" $tiny --batch 8 run
"$FPTRAIN" estimate --hardware machine.json --config run/settings.ini --shape 1x3x2 --classes 3 run >out ||
    failed 'the settings of a run'
refused "'run' and 'run' are one run" $tiny run run
refused 'run is of data of another shape: 1x28x28 in 10 classes, not 3x32x32 in 10' --hardware machine.json \
    --config run/settings.ini --data shapes run
for width in 4 5; do
    mkdir net$width
    cp run/log.jsonl net$width
    printf '[model]\nname = own.net\n[network]\nlinear %d, linear classes\n' $width >net$width/settings.ini
done
refused 'net5 is of another text of the network own.net' --hardware machine.json --config net4/settings.ini \
    --shape 1x3x2 net4 net5
refused '--plot takes directories' $tiny --plot runs.svg --policy-epochs 3
refused '--plot takes directories' $tiny --plot runs.svg run
refused '--policy-epochs is for --switch or directories' $tiny --policy-epochs 3
refused '--plot would replace what is read' $tiny --plot machine.json --policy-epochs 3 run
refused '--memory is a number of bytes' --model mlp --memory 0
refused '--memory is a number of bytes' --model mlp --memory 3T
refused '--memory is a number of bytes' --model mlp --memory 1Mi
refused '--memory is a number of bytes' --model mlp --memory 1048577G
refused '--memory goes with a network' $tiny --memory 1G
refused 'format of the stored weight' $small --memory 1M --set optimizer.store=packed --set optimizer.weights=nonesuch
refused 'the model shufflenetv2 needs images of at least 8 x 8' --model shufflenetv2 --shape 3x4x4 --memory 1M
refused '--memory goes with a network' $small --memory 1G run
refused '--memory goes with a network' $small --memory 1G --samples 3
refused 'none/settings.ini' $tiny none
refused 'muppet: 4 levels need as many switches, not 2' $tiny --switch 1/2
refused "--samples: '0' is not in 1..100000000" $tiny --samples 0
refused "--policy-epochs: 'many' is not in 1..100000000" $tiny --policy-epochs many
refused "unknown option '--nonesuch'" $tiny --nonesuch
finish
