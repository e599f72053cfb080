# SPDX-License-Identifier: BSD-2-Clause
# LeNet learns MNIST in the formats of share/fptrain/experiments, as far as a short run shows it. FPTRAIN_DATA says
# where the data sets are, else a directory beside the source.
set -u
data=${FPTRAIN_DATA:-$(cd "$top_srcdir/.." && pwd)/shared/data}/mnist
[ -d "$data" ] || { echo "skipped: no MNIST in $data (FPTRAIN_DATA)"; exit 77; }
experiments=$top_srcdir/share/fptrain/experiments
status=0
for formats in '' fp16 fp8; do
    said=$("$FPTRAIN" run --config "$experiments/mnist-lenet.ini" ${formats:+--config "$experiments/$formats.ini"} \
        --data "mnist:$data" --set data.limit=10000 --epochs 1 --threads 1) || status=1
    percent=$(printf '%s\n' "$said" | sed -n 's/.*test \([0-9]*\)\..*/\1/p')
    if [ "${percent:-0}" -lt 92 ]; then
        echo "${formats:-fp32}: $said"
        status=1
    fi
done
exit $status
