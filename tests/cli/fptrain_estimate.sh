#!/bin/sh
# fptrain estimate: times of steps, of schedules and of runs, by hand for a network of 6, 13, 6 and 3 numbers.
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

# A log written by hand: three policy epochs at 8 bits, one at 16, four in FP32; another comparison.
#     ideal  2 * (3 * 222 + 444 + 4 * 1776) = 16428,  current  + 2 * 4 * 744 = 22380;  FP32  2 * 10 * 1776 = 35520
mkdir run plain
: >run/settings.ini
: >plain/settings.ini
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

# refused TEXT ARGUMENT...
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
refused 'none.json' --hardware none.json
printf '{"name": "x"}\n' >bad.json
refused 'bad.json: hardware has a name, a bandwidth' --hardware bad.json
refused 'the log of plain has no policy epochs' $tiny plain
refused 'none/settings.ini' $tiny none
refused 'muppet: 4 levels need as many switches, not 2' $tiny --switch 1/2
refused '--samples is a whole number' $tiny --samples 0
refused '--policy-epochs is a whole number' $tiny --policy-epochs many
refused "unknown option '--nonesuch'" $tiny --nonesuch
finish
