# Run a command beside two Ray nodes of HEAD_CPUS and NODE_CPUS CPUs: two_nodes.sh COMMAND…
. "$(dirname "$0")/nodes.sh"
start_head "$HEAD_CPUS"
start_node "$NODE_CPUS"
"$@"
