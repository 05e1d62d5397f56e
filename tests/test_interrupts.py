"""Ctrl-C: it waits for the compiler, which is left in order; and who presses it twice waits for nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from mapdag.compiling import uninterrupted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has it")

COMPILED = """
import os, signal, sys
from numba.core import event
from mapdag.kernels import entry

@entry
def double(x):
    return x + x

class Impatient(event.Listener):
    def on_start(self, event):
        for _ in range(int(sys.argv[1])):
            os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        pass

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    event.register("numba:compile", Impatient())
    try:
        print(double(3))
    except KeyboardInterrupt:
        print("interrupted")
    print(sum(double.stats.cache_hits.values()))
"""

BUSY = """
import hashlib, threading
from mapdag.cli.interrupts import listening
with listening():
    threading.Timer(1, print, ["on"], {"flush": True}).start()  # in the midst of what comes now
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # many minutes without a step of Python's own
"""


WRITING = """
import hashlib, signal, sys
from mapdag.cli.interrupts import listening
from mapdag.io.files import write_file
def write(stream):
    stream.write(b"half")
    stream.flush()
    print("on", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whatever the tests were started with: nohup ignores SIGHUP
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[2]))
with listening():
    write_file(sys.argv[1], write)
"""


ENDING = """
import os, threading, time
from mapdag.cli.interrupts import _end
os._exit = lambda code, leave=os._exit: (time.sleep(0.2), leave(code))
threading.Thread(target=_end, args=[15]).start()
_end(15)
"""


@pytest.fixture
def impatient(tmp_path):
    """Compile a kernel in another process that gets so many signals meanwhile; returns what it prints."""
    script = tmp_path / "small.py"
    script.write_text(COMPILED)

    def run(times):
        command = [sys.executable, str(script), str(times)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "Traceback" not in done.stderr
        return done.stdout.split()

    return run


def test_a_kernel_is_compiled_to_its_end_and_kept_before_ctrl_c(impatient):
    assert impatient(1) == ["interrupted", "0"]
    assert impatient(1) == ["6", "1"]  # from the disk, so nobody was impatient


def test_a_second_ctrl_c_does_not_wait_for_the_compiler(impatient):
    assert impatient(2) == ["interrupted", "0"]
    assert impatient(0) == ["6", "0"]  # it was not kept


def test_ctrl_c_comes_after_what_must_not_be_interrupted():
    steps = []

    def work():
        with uninterrupted():
            with uninterrupted():
                os.kill(os.getpid(), signal.SIGINT)
                steps.append("inside")
            steps.append("outside")
        steps.append("behind")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert steps == ["inside", "outside"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_signals_alone():
    before, found = signal.getsignal(signal.SIGINT), []

    def other():
        with uninterrupted():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [before]


@contextmanager
def started(command):
    """Start a process, and wait until it says that it is on."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "on\n"
            yield process
        finally:
            process.kill()


def test_a_command_ends_at_the_second_ctrl_c_whatever_it_is_doing():
    with started([sys.executable, "-c", BUSY]) as process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, "mapdag: interrupted\n")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_ended_leaves_nothing_half_written(tmp_path, name):
    number = getattr(signal, name)
    with started([sys.executable, "-c", WRITING, str(tmp_path / "rows.csv"), "SIG_DFL"]) as process:
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (128 + number, "mapdag: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_the_thread_and_the_handler_of_one_signal_say_so_once():
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (128 + 15, "mapdag: interrupted\n")


def test_a_command_under_nohup_goes_on_when_its_terminal_closes(tmp_path):
    with started([sys.executable, "-c", WRITING, str(tmp_path / "rows.csv"), "SIG_IGN"]) as process:
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (128 + signal.SIGTERM, "mapdag: interrupted\n")


def test_afterwards_signals_are_as_they_were(run):
    """Commands may be run from Python, too, whose Ctrl-C must not end it."""
    before, fd = signal.signal(signal.SIGINT, signal.default_int_handler), signal.set_wakeup_fd(-1)
    try:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
        assert run("networks")[0] == 0
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers
        assert signal.set_wakeup_fd(-1) == -1
        for thread in threading.enumerate():
            if thread.name == "mapdag-signals":
                thread.join(60)
                assert not thread.is_alive()
    finally:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(fd)
