"""The SLURM script of the docs runs shards as a scheduler would start, stop and requeue them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "scale.md"

SBATCH = """#!/bin/bash
# run the tasks of an array one after another, and again while they are requeued
array=${1#--array=}
first=${array%-*} last=${array#*-}
shift
export SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_ID
status=0
for SLURM_ARRAY_TASK_ID in $(seq "$first" "$last"); do
    while :; do
        rm -f requeue
        bash "$@" || status=$?
        [ -e requeue ] || break
    done
done
exit $status
"""
SCONTROL = '#!/bin/bash\necho "$*" >> requeued\ntouch requeue\n'
INTERRUPTED_ONCE = """#!/bin/bash
# the time is up while the first call runs
echo "$*" >> called
[ -e been_here ] && exit 0
touch been_here
trap 'echo interrupted >> called; exit 130' INT
kill -USR1 $PPID
for _ in $(seq 600); do sleep 0.1; done
"""
FAILING = "#!/bin/bash\nexit 3\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the script of the docs, and the scheduler's commands on PATH."""
    monkeypatch.chdir(tmp_path)
    block = re.search(r"^cat > shards\.sh <<'END'\n.*?^END$", PAGE.read_text(), re.M | re.S)
    assert block
    subprocess.run(["bash", "-c", block[0]], check=True)
    for name, text in (("sbatch", SBATCH), ("scontrol", SCONTROL)):
        command(tmp_path, name, text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def command(folder: Path, name: str, text: str) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    path = folder / "bin" / name
    path.write_text(text)
    path.chmod(0o755)


def sbatch(*words: str) -> int:
    return subprocess.run(["sbatch", *words], check=False).returncode


def test_an_array_does_all_shards_of_a_scoring(folder: Path) -> None:
    command(folder, "rewardkit", f'#!/bin/bash\nexec {sys.executable} -m rewardkit "$@"\n')
    rows = [{"output": f"#### {number}", "gold": "3"} for number in range(9)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    score = ["score", "rows.jsonl", "--verifier", "gsm8k", "--reference-field", "gold", "-o"]
    assert sbatch("--array=1-2", "shards.sh", "2", *score, "run") == 0
    subprocess.run(["rewardkit", "report", "run"], check=True)
    subprocess.run(["rewardkit", *score, "one", "--quiet"], check=True)
    merged, one = (Path(name, "samples.jsonl").read_bytes() for name in ("run", "one"))
    assert merged == one
    assert not Path("requeued").exists()


def test_a_task_whose_time_is_up_is_interrupted_and_requeued(folder: Path) -> None:
    command(folder, "rewardkit", INTERRUPTED_ONCE)
    assert sbatch("--array=3-3", "shards.sh", "8", "eval", "--model", "a b") == 0
    call = "eval --model a b --quiet --shard 3/8"
    assert Path("called").read_text().splitlines() == [call, "interrupted", call]
    assert Path("requeued").read_text() == "requeue 77_3\n"


def test_a_task_that_fails_is_not_requeued(folder: Path) -> None:
    command(folder, "rewardkit", FAILING)
    assert sbatch("--array=1-1", "shards.sh", "8", "eval") == 3
    assert not Path("requeued").exists()
