# Run a command, and kill the oldest process of a title once a condition holds and one is there:
# kill_when.sh CONDITION TITLE COMMAND…
condition=$1
title=^$2
shift 2
"$@" &
driver=$!
until { eval "$condition" && victim=$(pgrep -o -f "$title"); } || ! kill -0 "$driver"; do
    sleep 0.05
done
kill -9 "$victim"
wait "$driver"
