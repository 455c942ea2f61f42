# Run a command, and kill the oldest process of a title once the run has a row and one is there:
# kill_in_run.sh TITLE COMMAND…
title=^$1
shift
"$@" &
driver=$!
until [ -s run/samples.jsonl ] && victim=$(pgrep -o -f "$title"); do
    kill -0 "$driver" || { echo "the command ended before a process $title was killed" >&2; exit 6; }
    sleep 0.05
done
echo "killed $(ps -p "$victim" -o args=) after $(wc -l <run/samples.jsonl) rows" >&2
kill -9 "$victim"
wait "$driver"
