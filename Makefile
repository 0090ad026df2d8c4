# Every target but help sets the course up first: .venv with the locked packages, and an OpenCL device that works.

# The first Python that is new enough; `make PYTHON=/path/to/python lab` chooses another.
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
# nbgrader calls a program of its own environment by name (alembic).
VENV := PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/python
READY := .venv/.ready
# What only tests and the site need stays out of the way of whoever takes the course.
DEV := .venv/.ready-dev
INSTALL := $(VENV) -m uv pip install --quiet --requirement
INSTALL_SLOWLY := $(VENV) -m pip install --quiet --disable-pip-version-check --requirement
COMPILE := $(VENV) -m uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help lab progress compare test grade notebooks bench peers site lock
.SILENT:

help: ## show this list
	awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(READY) ## open the course in JupyterLab
	$(VENV) -m autograder lab

progress: $(READY) ## show how far you are, and what is next
	$(VENV) -m autograder progress

compare: $(READY) ## put your work beside the reference, as a page: make compare M=01 (ALL=1: all of it)
	$(VENV) -m autograder compare $(or $(M),$(error say which module: make compare M=01)) $(if $(ALL),--all)

test: $(DEV) chromium ## run all tests; make test ARGS="tests/test_devices.py -v" runs some
	$(VENV) -m pytest -n auto --dist loadfile $(ARGS)

grade: $(READY) ## grade a sample class: right, wrong and hostile submissions
	$(VENV) -m autograder grade --sample

notebooks: $(READY) ## build the notebooks from the lessons in solutions/
	$(VENV) -m autograder build

bench: $(READY) ## run every benchmark and write docs/performance.md
	$(VENV) benchmarks/report.py $(ARGS)

peers: $(DEV) ## run the peers' own tests on our engines and write docs/peers.md
	$(VENV) tests/peers/run.py $(ARGS)

site: $(DEV) ## run the solved lessons and make a site of them and of docs/, in site/
	$(VENV) -m sphinx --quiet --fail-on-warning --conf-dir docs/site . site/html
	echo "open site/html/index.html"

lock: $(DEV) ## refresh the lock files from pyproject.toml
	$(COMPILE) --upgrade --extra dev --output-file requirements-dev.lock pyproject.toml
	$(COMPILE) --constraint requirements-dev.lock --no-annotate --output-file requirements.lock pyproject.toml

# uv installs five times as fast as pip, but knows nothing of a package mirror that only pip was told about.
$(READY): requirements.lock pyproject.toml
	$(if $(PYTHON),,$(error Python 3.11 or newer is needed, and none was found: install one, or name it with make PYTHON=...))
	echo "Setting up the course (once)."
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory debian-venv
	echo "- packages, into .venv"
	$(PYTHON) -m venv .venv
	$(VENV) -m pip install --quiet --disable-pip-version-check --constraint requirements-dev.lock uv
	$(INSTALL) requirements.lock || $(INSTALL_SLOWLY) requirements.lock
	$(VENV) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	echo "- an OpenCL device"
	$(VENV) -m tinygrad_cl doctor --install
	touch $@

$(DEV): $(READY) requirements-dev.lock
	echo "- packages for the tests"
	$(INSTALL) requirements-dev.lock || $(INSTALL_SLOWLY) requirements-dev.lock
	touch $@

# With it the tests drive JupyterLab; where it is not, and cannot be installed, they skip that and say so.
.PHONY: chromium
chromium:
	command -v chromium >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
		{ echo "- Chromium, from Debian"; apt-get update -qq; \
		DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || true

# Debian and Ubuntu keep the part of Python that makes virtual environments in a package of its own.
.PHONY: debian-venv
debian-venv:
	test "$$(id -u)" = 0 && command -v apt-get >/dev/null || \
		{ echo "Python cannot make virtual environments here: run 'sudo apt-get install python3-venv', then make again."; exit 1; }
	echo "- python3-venv, from Debian"
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get install -y -qq python3-venv >/dev/null
