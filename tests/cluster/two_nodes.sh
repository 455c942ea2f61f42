# Two Ray nodes on the loopback of a network namespace: score on both, and lose an actor meanwhile.
set -u
ip link set lo up || exit 9
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN
memory=--object-store-memory=100000000
ray start --head --node-ip-address=127.0.0.2 --port=6399 --num-cpus="$CPUS" \
    --include-dashboard=false $memory >head.log 2>&1 || exit 8
ray start --address=127.0.0.2:6399 --node-ip-address=127.0.0.3 --num-cpus="$CPUS" $memory \
    >node.log 2>&1 || exit 7

python -m rewardkit score rows.jsonl --verifier math --reference-field gold --quiet \
    --ray 127.0.0.2:6399 -o run &
driver=$!
if [ "$KILL" ]; then
    until [ -s run/samples.jsonl ]; do sleep 0.05; done
    kill -9 "$(pgrep -o -f ray::JudgingActor)"
fi
wait "$driver"
