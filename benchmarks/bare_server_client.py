"""A minimal client of an OpenAI-compatible server: sends all requests, a fixed number at once.

    python benchmarks/bare_server_client.py NAME PROBLEMS.jsonl OUT.jsonl \\
        --base-url http://127.0.0.1:8000/v1 --max-tokens 64

Each line of PROBLEMS has an `id` and a `prompt`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp


def main() -> None:
    """Request every completion, then write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="the name that the server gives it")
    parser.add_argument("problems", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--max-tokens", type=int, required=True)
    parser.add_argument("--concurrency", type=int, default=200)
    arguments = parser.parse_args()
    with arguments.problems.open() as lines:
        problems = [json.loads(line) for line in lines]
    completions = asyncio.run(_ask_all(problems, arguments))
    with arguments.out.open("w") as file:
        for problem, text in zip(problems, completions, strict=True):
            file.write(json.dumps({"id": problem["id"], "completion": text}) + "\n")


async def _ask_all(problems: list[dict[str, Any]], arguments: argparse.Namespace) -> list[str]:
    connector = aiohttp.TCPConnector(limit=arguments.concurrency)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        asked = (_ask(session, problem["prompt"], arguments) for problem in problems)
        return await asyncio.gather(*asked)


async def _ask(session: aiohttp.ClientSession, prompt: str, arguments: argparse.Namespace) -> str:
    body = {
        "model": arguments.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": arguments.max_tokens,
        "temperature": 0,
    }
    url = f"{arguments.base_url}/chat/completions"
    async with session.post(url, json=body) as response:
        response.raise_for_status()
        answer = await response.json()
    return str(answer["choices"][0]["message"]["content"])


if __name__ == "__main__":
    main()
