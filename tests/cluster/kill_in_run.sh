# Run a command, and kill the oldest process of a command line once the run has a row and one is there:
# kill_in_run.sh PATTERN COMMAND…
pattern="^($1)"
shift
"$@" &
driver=$!
until [ -s run/samples.jsonl ] && victim=$(pgrep -o -f "$pattern"); do
    if ! kill -0 "$driver"; then
        echo "the command ended before a process $pattern was killed; last seen: $seen" >&2
        exit 6
    fi
    seen=$(ps -eo args | cut -c1-120)
    sleep 0.05
done
echo "killed $(ps -p "$victim" -o args=) after $(wc -l <run/samples.jsonl) rows" >&2
kill -9 "$victim"
wait "$driver"
