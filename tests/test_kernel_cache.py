"""A kernel cache for each process."""

import os
import subprocess
import sys

from tinygrad_cl.opencl import cache

TAKE = "from tinygrad_cl.opencl.cache import take_directory; print(take_directory({root!r}), flush=True); input()"


def test_no_two_processes_share_a_kernel_cache_and_a_free_one_is_used_again(tmp_path):
    def start():
        program = [sys.executable, "-c", TAKE.format(root=str(tmp_path))]
        process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return process, process.stdout.readline().strip()

    (first, a), (second, b) = start(), start()
    assert (a, b) == (str(tmp_path / "0"), str(tmp_path / "1"))
    first.kill()
    first.communicate()
    third, c = start()
    assert c == a
    for process in (second, third):
        process.communicate("\n")


def test_a_kernel_cache_that_grew_too_large_starts_afresh(tmp_path):
    (tmp_path / "0").mkdir()
    with open(tmp_path / "0" / "kernel", "wb") as file:
        file.truncate(cache.MAX_BYTES + 1)
    assert list(cache.take_directory(tmp_path).iterdir()) == []


def test_the_kernel_cache_is_temporary_where_the_home_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    directory = cache.take_directory(tmp_path / "file" / "root")
    assert directory.is_dir() and tmp_path not in directory.parents


def test_pocls_variable_is_left_alone_where_it_works_and_as_it_was_afterwards(tmp_path, monkeypatch):
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    with cache.private_kernel_cache():
        assert os.environ["POCL_CACHE_DIR"] == str(tmp_path)
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "missing"))
    with cache.private_kernel_cache():
        assert os.path.isdir(os.environ["POCL_CACHE_DIR"])
    assert os.environ["POCL_CACHE_DIR"] == str(tmp_path / "missing")
    monkeypatch.delenv("POCL_CACHE_DIR")
    with cache.private_kernel_cache():
        assert os.path.isdir(os.environ["POCL_CACHE_DIR"])
    assert "POCL_CACHE_DIR" not in os.environ


def test_one_process_keeps_one_cache():
    used = []
    for _ in range(2):
        with cache.private_kernel_cache():
            used.append(os.environ["POCL_CACHE_DIR"])
    assert used[0] == used[1]
