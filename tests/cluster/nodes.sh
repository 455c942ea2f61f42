# Ray nodes on the loopback of a network namespace, for a script that sources this file.
set -u
ip link set lo up || exit 9
export RAY_AUTH_MODE=token RAY_worker_niceness=0
RAY_AUTH_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN
memory=--object-store-memory=100000000

# start_head CPUS
start_head() {
    ray start --head --node-ip-address=127.0.0.2 --port=6399 --num-cpus="$1" \
        --include-dashboard=false $memory >head.log 2>&1 || exit 8
}

# start_node CPUS [WORDS before its start…]
start_node() {
    local cpus=$1
    shift
    "$@" ray start --address=127.0.0.2:6399 --node-ip-address=127.0.0.3 \
        --num-cpus="$cpus" $memory >node.log 2>&1 || exit 7
}
