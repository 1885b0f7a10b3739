#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The active checks of the sample: "unsupported" (127) without their tools, and right about what the tools say.
# usage: active_test.sh CHECKS_CONF
set -eu
conf=$1
work=$(mktemp -d /tmp/fettle-active-XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for tool in sh awk grep cat wc; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done

# The Run of a record, as the format has it.
run_of() {
    sed -n "s/^#Check=$1 .* Run=\"\(.*\)\"\$/\1/p" "$conf" | sed 's/\\\(["\\]\)/\1/g'
}

# NAME STATUS TEXT: what the plugin comes to with the tools that are there.
expect() {
    status=0
    run=$(run_of "$1")
    [ -n "$run" ] || { echo "there is no $1"; exit 1; }
    said=$(PATH="$work/bin" sh -c "$run") || status=$?
    [ "$status $said" = "$2 $3" ] || { echo "$1: $status \"$said\", not $2 \"$3\""; exit 1; }
}

# A tool that says what stands on standard input, and ends with STATUS.
tool() {
    { echo '#!/bin/sh'; echo "cat <<'END'"; cat; echo END; echo "exit ${2:-0}"; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

n=0
for name in $(sed -n 's/^#Check=\([^ ]*\) .*When=[a-z,]*demand.* Run=.*/\1/p' "$conf"); do
    expect "$name" 127 ''
    n=$((n + 1))
done
[ "$n" -ge 13 ] || { echo "only $n active checks"; exit 1; }

echo 'GPU 0: NVIDIA H100' | tool nvidia-smi
tool sleep </dev/null
echo '# Avg bus bandwidth    : 461.5' | tool all_reduce_perf
expect all-reduce 0 'bandwidth 461.5 GB/s'
expect all-reduce-ib 0 'bandwidth 461.5 GB/s'
echo '# Avg bus bandwidth    : 149.9' | tool all_reduce_perf
expect all-reduce 2 'bandwidth 149.9 GB/s'
expect all-reduce-ib 2 'bandwidth 149.9 GB/s'
echo 'Test NCCL failure' | tool all_reduce_perf 1
expect all-reduce 3 'no result'

echo 'Result = PASS' | tool deviceQuery
expect cuda-device-query 0 'Result = PASS'
echo 'Result = FAIL' | tool deviceQuery
expect cuda-device-query 2 'deviceQuery did not pass'
echo 'Test PASSED' | tool vectorAdd
expect cuda-vector-add 0 'Test PASSED'
echo 'Result verification failed' | tool vectorAdd 1
expect cuda-vector-add 2 'vectorAdd did not pass'
tool simpleMultiGPU </dev/null
expect cuda-multi-gpu 0 passed
tool simpleMultiGPU 1 </dev/null
expect cuda-multi-gpu 2 'simpleMultiGPU did not pass'

matrix() {
    tool p2pBandwidthLatencyTest <<END
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1
     0 2500.1  40.5
     1  40.6 2501.0
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1
     0 2500.1  390.5
     1  $1 2501.0
Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1
     0 2500.1  50.5
     1  50.6 2501.0
END
}
matrix 388.2
expect cuda-p2p 0 'bandwidth 388.2 GB/s'
matrix 60.1
expect cuda-p2p 2 'bandwidth 60.1 GB/s'

for level in 1 2; do
    echo '| Deployment | Pass |' | tool dcgmi
    expect "dcgm-$level" 0 passed
    printf '| Deployment | Pass |\n| Memory | Fail - GPU: 3 |\n' | tool dcgmi 226
    expect "dcgm-$level" 2 '| Memory | Fail - GPU: 3 |'
    echo 'Error: unable to establish a connection' | tool dcgmi 1
    expect "dcgm-$level" 3 'no result'
done

printf 'Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: OK\n' | tool gpu_burn
expect gpu-burn 0 passed
printf 'Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: FAULTY\n' | tool gpu_burn
expect gpu-burn 2 '	GPU 1: FAULTY'
tool gpu-fryer 1 </dev/null
expect gpu-fryer 2 'gpu-fryer did not pass'

printf ' #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n 65536 5000 394.01 393.2 0.75\n' |
    tool ib_write_bw
expect ib-write 0 'bandwidth 393.2 Gb/s'
printf ' 65536 5000 194.01 193.2 0.37\n' | tool ib_write_bw
expect ib-write 2 'bandwidth 193.2 Gb/s'

# Of two nodes: what each of them comes to.
export FETTLE_NODES=n1,n2 FETTLE_RANK=1
expect ib-write-pair 2 'bandwidth 193.2 Gb/s'
printf ' 65536 5000 394.01 393.2 0.75\n' | tool ib_write_bw
expect ib-write-pair 0 'bandwidth 393.2 Gb/s'
tool ib_write_bw 1 </dev/null
expect ib-write-pair 2 'no result'
FETTLE_RANK=0
expect ib-write-pair 2 ''
tool ib_write_bw </dev/null
expect ib-write-pair 0 served
echo '# Avg bus bandwidth    : 381.5' | tool mpirun
expect all-reduce-pair 0 'bandwidth 381.5 GB/s'
echo '# Avg bus bandwidth    : 81.5' | tool mpirun
expect all-reduce-pair 2 'bandwidth 81.5 GB/s'
echo 'no route to n2' | tool mpirun 1
expect all-reduce-pair 2 'no result'
FETTLE_RANK=1
expect all-reduce-pair 0 ''
