#!/usr/bin/env bash
# All measurements worth taking on a machine with an NVIDIA GPU, in at most twelve minutes.
#
#   benchmarks/gpu_session.sh OUT [PART ...]
#
# Run this in the checkout. PYTHON is an interpreter with the cuda extra, pytest and pytest-xdist; without it, the part
# install makes such an environment in OUT/env, which needs a network. Each part has its own time limit and log, OUT/PART.log,
# written as results arrive; a part that fails or times out does not stop the others. The part learning trains for five
# minutes. The part jax installs pgx and JAX in an environment of its own. The exit status ignores these two.
# DEVICE=cpu runs small versions of the same parts on the CPU, which tests the script itself.
set -uo pipefail

[ $# -ge 1 ] || { sed -n '2,10p' "$0" | cut -c3-; exit 2; }
out=$1
shift
parts=${*:-machine equal speed training profile memcheck learning jax}
python=${PYTHON:-$out/env/bin/python}
[ $# -ge 1 ] || [ "${PYTHON:-}" ] || parts="install $parts"
device=${DEVICE:-cuda}
helsinki="$python -m helsinki_env.cli.main"
if [ "$device" = cuda ]; then
  batches=1024,4096,16384,65536,262144 seconds=2 rounds=20 games= jax='jax[cuda12]' jax_batches='1024 65536'
else
  batches=64,256 seconds=0.2 rounds=1 games="--games 64" jax=jax jax_batches=64
fi
mkdir -p "$out" || exit 2
failed=0
all=700 # seconds for all parts, and 15 until a part is killed

fails() { case $1 in learning | jax) ;; *) failed=1 ;; esac; }

# measure PART SECONDS COMMAND: send Ctrl-C when time is up, so that commands that save their work on Ctrl-C do so.
measure() {
  local part=$1 limit=$2 begin=$SECONDS code
  shift 2
  [ "$limit" -le $((all - SECONDS)) ] || limit=$((all - SECONDS))
  if [ "$limit" -lt 10 ]; then
    echo "$part: not started, the time is used up"
    fails "$part"
    return
  fi
  timeout --kill-after=15 --signal=INT "$limit" bash -c "$*" >"$out/$part.log" 2>&1
  code=$?
  [ $code = 0 ] || fails "$part"
  echo "$part: exit status $code after $((SECONDS - begin)) s"
}

for part in $parts; do
  case $part in
    install) measure install 150 "python3 -m venv '$out'/env
        '$out'/env/bin/pip install --quiet -c constraints.txt -e '.[cuda]' pytest pytest-xdist" ;;
    machine) measure machine 15 "$python --version; $python -m pip list | grep -iE '^(numpy|numba|torch|triton)'; nproc; nvidia-smi || true" ;;
    # 100,000 games for each number of players on the GPU and on the CPU: all memory must be identical
    equal) measure equal 150 "$python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' && $python -m pytest -q -W ignore -n 6 --dist load -m '' tests/test_cuda.py -k 'a_card_plays or a_card_refuses'" ;;
    speed) measure speed 100 "for game in helsinki copenhagen; do
        $helsinki bench --device $device --game \$game --batches $batches --seconds $seconds --json '$out'/speed-\$game.json; done" ;;
    training) measure training 45 "$python benchmarks/training_speed.py --preset gpu --device $device --rounds $rounds $games" ;;
    # time of the kernels of one step, and the bottleneck of the slowest kernel
    profile) measure profile 40 "ncu --clock-control none --set basic --kernel-name 'regex:(step|mark|observe)_all' --launch-skip 9 --launch-count 3 \
        $helsinki bench --device $device --batches 65536 --seconds 0.1" ;;
    memcheck) measure memcheck 40 "compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9 \
        $python -m pytest -q -W ignore -n 0 -m '' tests/test_cuda.py -k a_card_refuses" ;;
    # learning curve of five minutes, for which the limits of the parts above leave the time
    learning) measure learning 300 "exec $helsinki train --preset gpu --device $device --out '$out/learning'" ;;
    jax) measure jax 120 "set -e; $python -m venv '$out/jax'
        '$out'/jax/bin/pip install --quiet -c docs/peers/requirements.txt pgx '$jax'
        for game in go_9x9 chess shogi; do for batch in $jax_batches; do
          echo \$game \$batch; '$out'/jax/bin/python -P docs/peers/peer.py pgx \$game \$batch $seconds; done; done" ;;
    *) echo "There is no part '$part'. Parts: install machine equal speed training profile memcheck learning jax." >&2; exit 2 ;;
  esac
done
exit $failed
