# LeNet learns MNIST in the formats of share/fptrain/experiments, as far as a short run shows it. The files of MNIST
# are looked for in the directory that FPTRAIN_MNIST names.
set -u
if [ ! -e "${FPTRAIN_MNIST:-/nonexistent}/train-images-idx3-ubyte" ] &&
    [ ! -e "${FPTRAIN_MNIST:-/nonexistent}/train-images-idx3-ubyte.gz" ]; then
    echo "mnist: skipped, since FPTRAIN_MNIST names no directory with the files of MNIST"
    exit 77
fi
experiments=$top_srcdir/share/fptrain/experiments
status=0
for formats in '' fp16 fp8; do
    said=$("$FPTRAIN" run --config "$experiments/mnist-lenet.ini" ${formats:+--config "$experiments/$formats.ini"} \
        --data "mnist:$FPTRAIN_MNIST" --set data.limit=10000 --epochs 1 --threads 1) || status=1
    percent=$(printf '%s\n' "$said" | sed -n 's/.*test \([0-9]*\)\..*/\1/p')
    if [ "${percent:-0}" -lt 92 ]; then
        echo "${formats:-fp32}: $said"
        status=1
    fi
done
exit $status
