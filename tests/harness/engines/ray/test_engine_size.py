"""How many CPUs and GPUs an engine asks for, and how many engines fit."""

from __future__ import annotations

import pytest

from rewardkit.harness.engines.ray_backend import EngineSize, Resources

GPU_NODE = {"CPU": 16.0, "GPU": 8.0}
CPU_NODE = {"CPU": 4.0}


@pytest.mark.parametrize(
    ("nodes", "engines", "gpus", "size", "number"),
    [
        ([GPU_NODE], None, 1, "1 CPU and 1 GPU", 8),
        ([GPU_NODE, CPU_NODE], None, 4, "1 CPU and 4 GPUs", 2),
        ([GPU_NODE], 3, 2, "1 CPU and 2 GPUs", 3),
        ([CPU_NODE, CPU_NODE], None, 1, "4 CPUs", 2),
        ([CPU_NODE, {"CPU": 9.0}], None, 1, "4 CPUs", 3),
        ([CPU_NODE, CPU_NODE], 4, 1, "2 CPUs", 4),
        ([CPU_NODE, CPU_NODE], 3, 1, "2 CPUs", 3),
        ([CPU_NODE], 9, 1, "1 CPU", 9),
        ([{"CPU": 0.0}], None, 1, "1 CPU", 1),
        ([], None, 1, "1 CPU", 1),
    ],
)
def test_the_size_of_an_engine_and_how_many_run(
    nodes: list[Resources], engines: int | None, gpus: int, size: str, number: int
) -> None:
    found = EngineSize.of(nodes, engines, gpus)
    total = {kind: sum(node.get(kind, 0) for node in nodes) for kind in ("CPU", "GPU")}
    assert (str(found), found.fitting(total, engines)) == (size, number)
