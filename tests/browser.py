"""JupyterLab in a headless Chromium, for the tests that look at pages as people do."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from autograder import paths

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 90


def open_browser():
    """A context manager that gives playwright's browser; skips the test, with the reason, where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed, so no page can be looked at")
    if CHROMIUM is None:
        pytest.skip("no Chromium: `apt-get install chromium` brings one")

    @contextlib.contextmanager
    def opened():
        with api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            try:
                yield browser
            finally:
                browser.close()

    return opened()


@contextlib.contextmanager
def lab_server(folder, teacher=False):
    """The address of a JupyterLab in `folder`, with no token, reachable from this machine alone; as learners or as a teacher gets it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / ".config"),
        "JUPYTER_DATA_DIR": str(folder / ".data"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / ".settings"),
        "JUPYTER_CONFIG_PATH": "" if teacher else str(paths.JUPYTER),
    }
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            f"--port={port}",
            "--ServerApp.ip=127.0.0.1",
            "--allow-root",
            "--IdentityProvider.token=",
            f"--ServerApp.root_dir={folder}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",  # Notebook 7, of the same server
        ],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address, end = f"http://127.0.0.1:{port}", time.monotonic() + SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{address}/api").close()
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("JupyterLab did not start") from None
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=20)


def write_notebook(path, *sources):
    """A notebook of code cells."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{i}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": source,
        }
        for i, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    path.write_text(json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}))


def open_notebook(browser, address, name, theme="light", width=1400, height=1100):
    """A page with the notebook, all of its cells run."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
    page.set_default_timeout(SECONDS * 1000)
    page.goto(f"{address}/lab/tree/{name}?reset")
    page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status == 'idle'")
    if theme == "dark":
        page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    return page
