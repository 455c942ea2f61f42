"""Programs that try to reach out of their jail, or to pass without solving anything.

SCRIPTS print "won" if they reach what they must not. SOLUTIONS are judged by `assert solve(2) == 5`
and must not pass. Each ends within the limits of the test.
"""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]

_ATTEMPT = """
import ctypes, os, resource, signal, socket, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
try:
    {}
    print("won")
except BaseException as error:
    print("refused", type(error).__name__)
"""


def _refused(**attempts: str) -> dict[str, str]:
    """Programs that win if the attempt raises nothing."""
    return {
        name: _ATTEMPT.format(attempt.replace("\n", "\n    ")) for name, attempt in attempts.items()
    }


def _other_error(attempt: str) -> str:
    """An attempt that succeeds unless the filter of system calls refuses it: the kernel's own
    refusal comes later, after it has loaded a module or looked for an address."""
    return f"try: {attempt}\nexcept OSError as error: assert error.errno != 1"


SCRIPTS: dict[str, str] = {
    **_refused(
        read_the_users="open('/etc/passwd').read()",
        read_the_repository=f"open({str(REPOSITORY / 'pyproject.toml')!r}).read()",
        list_the_repository=f"os.listdir({str(REPOSITORY)!r})",
        read_above="open('../../../../../../etc/passwd').read()",
        read_through_a_symlink="os.symlink('/etc/passwd', '/tmp/x')\nopen('/tmp/x').read()",
        read_the_parents_root="open(f'/proc/{os.getppid()}/root/etc/passwd').read()",
        read_its_own_memory="open('/proc/self/mem', 'rb')",
        read_the_first_environment="open('/proc/self/environ').read()",
        read_the_parents_memory="open(f'/proc/{os.getppid()}/mem', 'rb')",
        read_other_command_lines="open('/proc/1/cmdline').read()",
        list_processes="os.listdir('/proc')",
        read_the_machine="os.listdir('/sys')",
        read_its_variables="assert len(os.environ) > 0",
        read_the_interpreters_arguments="assert any('/' in one for one in sys.argv)",
        open_the_memory_device="open('/dev/mem', 'rb')",
        open_the_terminal="open('/dev/tty')",
        read_the_kernels_log="assert libc.syscall(103, 3, None, 0) >= 0",
        find_other_descriptors="assert any(os.fstat(fd) for fd in range(4, 256))",
        read_the_programs_result="os.read(3, 10)",
        call_out="socket.create_connection(('1.1.1.1', 53), 1)",
        listen="socket.socket().bind(('127.0.0.1', 0))",
        send_a_datagram="socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        ask_the_kernel_by_netlink="socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
        connect_to_an_abstract_socket="socket.socket(socket.AF_UNIX).connect('\\0/tmp/.X11-unix/X0')",
        pair_datagram_sockets="socket.socketpair(type=socket.SOCK_DGRAM)",
        pair_raw_sockets="socket.socketpair(type=socket.SOCK_RAW)",
        pair_packet_sockets="socket.socketpair(type=socket.SOCK_SEQPACKET)",
        pair_datagrams_that_wait_not="socket.socketpair(type=socket.SOCK_DGRAM | 2048)",
        pair_by_a_long_number="kind = ctypes.c_long(2**32 + 2)\n"
        "assert libc.socketpair(1, kind, 0, bytes(8)) == 0",
        pair_netlink_sockets=_other_error("socket.socketpair(socket.AF_NETLINK, 3)"),
        pair_internet_sockets=_other_error("socket.socketpair(socket.AF_INET)"),
        pair_sockets_of_a_virtual_machine=_other_error("socket.socketpair(socket.AF_VSOCK)"),
        pair_sockets_of_a_family_that_is_a_module=_other_error("socket.socketpair(socket.AF_CAN)"),
        address_what_it_sends=_other_error("socket.socketpair()[0].sendto(b'x', '/tmp/x')"),
        see_a_session="os.getsid(os.getppid() or 1)",
        see_the_first_session="os.getsid(1)",
        see_a_group="os.getpgid(os.getppid() or 1)",
        see_an_affinity="os.sched_getaffinity(1)",
        see_anothers_time="time.clock_gettime(~1 << 3 | 2)",
        see_a_parents_time="time.clock_gettime(~(os.getppid() or 1) << 3)",
        see_anothers_clock="time.clock_getres(~1 << 3 | 2)",
        see_a_priority="os.getpriority(os.PRIO_PROCESS, 1)",
        see_a_scheduler="os.sched_getscheduler(1)",
        see_limits="resource.prlimit(1, resource.RLIMIT_NOFILE)",
        ask_a_signals_permission="os.kill(1, 0)",
        open_for_neither="os.open('/dev/null', 3)",
        fetch_a_page="__import__('urllib.request').request.urlopen('http://1.1.1.1', timeout=1)",
        run_a_shell="assert os.system('true') == 0",
        run_a_subprocess="subprocess.run(['/bin/true'])",
        run_a_module="subprocess.check_output([sys.executable, '-c', ''])",
        become_a_shell="os.execv('/bin/sh', ['sh', '-c', 'echo won'])",
        spawn="os.posix_spawn('/bin/true', ['true'], {})",
        fork="os.fork()",
        fork_by_number="assert libc.fork() >= 0",
        fork_by_clone="assert libc.syscall(56, 17, 0, 0, 0, 0) >= 0",
        start_a_pool="__import__('multiprocessing').Pool(2).map(abs, [1])",
        leave_its_session="os.setsid()",
        leave_its_group="os.setpgid(0, 0)",
        kill_everyone="os.kill(-1, 9)",
        kill_its_parent="os.kill(os.getppid(), 9)\ntime.sleep(0.1)\nassert os.getppid() == 1",
        kill_the_first_process="os.kill(1, 15)",
        signal_the_parents_group="os.killpg(os.getpgid(os.getppid()) or 1, 9)",
        signal_by_a_files_owner="__import__('fcntl').fcntl(0, 8, os.getppid())",
        trace_its_parent="assert libc.ptrace(16, os.getppid(), 0, 0) == 0",
        be_traced="assert libc.ptrace(0, 0, 0, 0) == 0",
        read_anothers_memory="assert libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0) >= 0",
        write_into_python="open(os.__file__, 'a')",
        delete_a_module="os.unlink(os.__file__)",
        change_a_mode="os.chmod(os.__file__, 0o777)",
        change_an_owner="os.chown(os.__file__, 0, 0)",
        change_a_time="os.utime(os.__file__, (0, 0))",
        lock_a_module="__import__('fcntl').flock(open(os.__file__), 2)",
        write_beside="open('x', 'w')",
        write_at_home="open('/root/won', 'w')",
        write_shared_memory="open('/dev/shm/won', 'w')",
        make_a_device="os.mknod('/tmp/null', 0o20666, os.makedev(1, 3))",
        change_the_root="os.chroot('/tmp')",
        mount="assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
        unmount="assert libc.umount2(b'/tmp', 2) == 0",
        take_a_new_user="assert libc.unshare(0x10000000) == 0",
        enter_other_namespaces="assert libc.setns(0, 0) == 0",
        become_root="os.setuid(0)",
        raise_its_limit="resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        change_the_parents_limit="resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
        take_a_core="os.sched_setaffinity(os.getppid(), {0})",
        be_served_first="os.nice(-5)",
        use_io_uring="assert libc.syscall(425, 8, bytes(120)) >= 0",
        load_bpf="assert libc.syscall(321, 0, bytes(120), 120) >= 0",
        measure_others="assert libc.syscall(298, bytes(120), 0, -1, -1, 0) >= 0",
        keep_a_key="assert libc.syscall(248, b'user', b'won', b'x', 1, -2) >= 0",
        keep_shared_memory="assert libc.shmget(1, 4096, 0o1666) >= 0",
        keep_a_message_queue="assert libc.msgget(1, 0o1666) >= 0",
        hide_memory="os.memfd_create('x')",
        handle_faults="assert libc.syscall(323, 0) >= 0",
        send_a_descriptor="a, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [0])",
        outlive_its_parent="assert libc.prctl(36, 1, 0, 0, 0) == 0",
        set_the_hosts_name="socket.sethostname('won')",
        write_much="for i in range(100): open(f'/tmp/{i}', 'wb').write(bytes(2**20))",
        write_a_sparse_file="open('/tmp/x', 'wb').truncate(10**10)",
        take_much_memory="bytearray(10**10)",
        map_much_memory="__import__('mmap').mmap(-1, 10**10)",
    ),
    "keep_taking_memory": "x = []\nwhile True: x.append(bytearray(2**20))",
    "flood_its_output": "while True: print('x' * 1000)",
    "flood_its_errors": "import sys\nwhile True: sys.stderr.write('x' * 1000)",
    "flood_its_result": "import os\nwhile True: os.write(3, b'x' * 1000)",
    "sleep": "import time; time.sleep(1000)",
    "stop_itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "spin": "while True: pass",
    "spin_in_c": "9 ** 9 ** 9 ** 9",
    "spin_in_an_expression": "import re; re.match('(a+)+$', 'a' * 50 + 'b')",
    "ignore_signals": "import signal\nfor n in range(1, 32):\n"
    "    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\nwhile True: pass",
    "spin_at_exit": "import atexit\n@atexit.register\ndef f():\n    while True: pass",
    "wait_for_a_thread": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(99,)).start()",
    "start_threads": "import threading, time\nthreading.stack_size(32768)\nwhile True:\n"
    "    threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    "fork_bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "recurse": "import sys; sys.setrecursionlimit(10**9)\n"
    "def f(): return sorted([1], key=lambda x: f())\nf()",
    "crash": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "close_everything": "import os; os.closerange(0, 256)",
}

SOLUTIONS: dict[str, str] = {
    "equals_everything": "class R:\n    def __eq__(self, o): return True\ndef solve(x): return R()",
    "list_that_equals": "class R(list):\n    def __eq__(self, o): return True\n"
    "def solve(x): return R()",
    "number_that_equals": "class R(int):\n    def __eq__(self, o): return True\n"
    "def solve(x): return R(1)",
    "liar_about_its_class": "class R:\n    __class__ = int\n    def __eq__(self, o): return True\n"
    "def solve(x): return R()",
    "equals_inside_a_list": "class R:\n    def __eq__(self, o): return True\n"
    "def solve(x): return [R()]",
    "patched_builtins": "import builtins\nbuiltins.AssertionError = type('E', (Exception,), {})\n"
    "builtins.int.__eq__ if 0 else None\ndef solve(x): return 4",
    "patched_json": "import json\njson.dumps = lambda *a, **k: 'true'\ndef solve(x): return 4",
    "patched_encoder": "from rewardkit.confinement import program\n"
    "program.encode = lambda value: '[]'\ndef solve(x): return 4",
    "exits": "import sys\ndef solve(x): sys.exit(0)",
    "exits_at_once": "import os\nos._exit(0)",
    "exits_in_the_call": "import os\ndef solve(x): os._exit(0)",
    "exits_at_exit": "import atexit, os\natexit.register(os._exit, 0)\n"
    "def solve(x): raise SystemExit",
    "raises_an_exit": "def solve(x): raise SystemExit(0)",
    "raises_its_own": "class E(AssertionError): pass\ndef solve(x): raise E",
    "forges_completion": "import os\nos.write(3, b'completed ' + b'0' * 64)\n"
    "def solve(x): return 4",
    "forges_on_every_descriptor": "import os\nfor fd in range(256):\n"
    "    try: os.write(fd, b'completed ')\n    except OSError: pass\ndef solve(x): return 4",
    "forges_what_cannot_cross": "import os\nos.write(3, b'opaque '); os._exit(0)",
    "forges_missing_tests": "import os\nos.write(3, b'missing '); os._exit(0)",
    "returns_what_is_too_deep_to_send_back": "def solve(x):\n    value = []\n"
    "    for _ in range(96): value = [value]\n    return value if x == 2 else 4",
    "prints_success": "print('completed', 'OK', '1 passed')\ndef solve(x): return 4",
    "answers_too_early": 'import os\nos.write(4, b\'{"tuple": ["returned", true, []]}\\n\')\n'
    "def solve(x): return 4",
    "answers_nonsense": "import os\ndef solve(x): os.write(4, b'\\xff\\n')",
    "answers_deeply": "import os\ndef solve(x): os.write(4, b'[' * 100000 + b'\\n')",
    "answers_without_end": "import os\ndef solve(x):\n    while True: os.write(4, b'x' * 1000)",
    "raises_a_class_by_name": "import os\ndef solve(x):\n"
    '    os.write(4, b\'{"tuple": ["raised", "exit", "0"]}\\n\')',
    "raises_stop": "def solve(x): raise StopIteration",
    "looks_for_the_nonce": "import gc, os\ndef solve(x):\n"
    "    for o in gc.get_objects():\n        if isinstance(o, dict) and 'nonce' in o:\n"
    "            os.write(3, b'completed ' + o['nonce'].encode()); return 5",
    "reads_its_callers": "import sys\ndef solve(x):\n    frame = sys._getframe()\n"
    "    while frame:\n        for v in frame.f_locals.values():\n"
    "            if 'assert' + ' solve' in str(v): return 5\n        frame = frame.f_back",
    "reads_modules": "import sys\ndef solve(x):\n"
    "    texts = [str(vars(module)) for module in list(sys.modules.values())]\n"
    "    return 5 if any('assert' + ' solve' in text for text in texts) else 4",
    "kills_the_tester": "import os\ndef solve(x):\n    for pid in range(2, 5000):\n"
    "        try: os.kill(pid, 9)\n        except OSError: pass\n    return 4",
    "changes_the_argument": "def solve(x): return [x]",
    "returns_nothing": "def solve(x): pass",
    "returns_itself": "def solve(x):\n    a = []; a.append(a); return a",
    "returns_a_generator": "def solve(x): yield 5",
    "returns_an_endless_generator": "def solve(x):\n    while True: yield 5",
    "returns_a_generator_in_a_list": "def solve(x): return [iter(int, 1)]",
    "is_asynchronous": "async def solve(x): return 4",
    "is_asynchronous_and_never_ends": "import asyncio\nasync def solve(x): await asyncio.sleep(99)",
    "yields_asynchronously": "async def solve(x): yield 5",
    "returns_an_array": "import array\ndef solve(x): return array.array('i', [5])",
    "answers_with_a_forged_iterator": "import os\ndef solve(x):\n"
    '    os.write(4, b\'{"tuple": ["iterator", [[]], []]}\\n\')',
    "answers_with_a_forged_coroutine": "import os\ndef solve(x):\n"
    '    os.write(4, b\'{"tuple": ["awaited", 5, []]}\\n\')',
    "returns_much": "def solve(x): return 'x' * 10**7",
    "returns_colliding_keys": "def solve(x): return {k * (2**61 - 1) for k in range(3000)}",
    "defines_nothing": "",
    "does_not_parse": "def solve(",
    "hangs": "def solve(x):\n    while True: pass",
    "hangs_at_once": "while True: pass",
    "is_pytest": "# pytest\ndef test_ok(): pass\ndef solve(x): return 4",
}

SEND = """
import socket
for path in {paths}:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
        for flags in 0, 0x800, 0x80000:
            try:
                for end in socket.socketpair(type=kind | flags):
                    end.setblocking(False)
                    end.sendto(b"x", path)
            except OSError as error: print(error)
"""
"""Sends datagrams to sockets of other processes, whose paths or abstract names it knows."""

TRUNCATE = """
import os
for path in {paths}:
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, 3):
        for more in 0, os.O_CREAT, os.O_NOFOLLOW | os.O_CLOEXEC, os.O_PATH:
            for folder in None, os.open(os.path.dirname(path), os.O_PATH):
                try: os.close(os.open(path, flags | more | os.O_TRUNC, dir_fd=folder))
                except OSError as error: print(error)
    try: os.truncate(path, 0)
    except OSError as error: print(error)
"""
"""Empties files, in every way that open(2) and truncate(2) have."""
