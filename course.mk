# What students and developers share: every target but help sets the course up first: .venv with the locked packages, and an
# OpenCL device that works. It is the whole Makefile of a students' copy.

# The first Python that is new enough; `make PYTHON=/path/to/python lab` chooses another.
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
# Its programs come first, also in JupyterLab's terminals.
VENV := PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/python
READY := .venv/.ready
# Compiled at once: in the sandbox nothing can be written, and each kernel would compile what it imports for itself.
INSTALL := $(VENV) -m uv pip install --quiet --compile-bytecode --requirement
INSTALL_SLOWLY := $(VENV) -m pip install --quiet --disable-pip-version-check --requirement

.DEFAULT_GOAL := help
.PHONY: help lab progress copies
.SILENT:

help: ## show this list
	awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s%s\n", $$1, $$2}' $(filter-out Makefile,$(MAKEFILE_LIST)) Makefile

lab: $(READY) ## open the course in JupyterLab
	$(VENV) -m autograder lab

progress: $(READY) ## show how far you are, and what is next
	$(VENV) -m autograder progress

copies: $(READY) ## put your copies of the notebooks into work/, for VS Code and other editors
	$(VENV) -m autograder copies

# uv installs five times as fast as pip, but knows nothing of a package mirror that only pip was told about.
$(READY): requirements.lock pyproject.toml
	$(if $(PYTHON),,$(error Python 3.11 or newer is needed, and none was found: install one, or name it with make PYTHON=...))
	echo "Setting up the course (once)."
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory debian-venv
	echo "- packages, into .venv"
	$(PYTHON) -m venv .venv
	$(VENV) -m pip install --quiet --disable-pip-version-check $(addprefix --constraint ,$(wildcard requirements-dev.lock)) uv
	$(INSTALL) requirements.lock || $(INSTALL_SLOWLY) requirements.lock
	$(VENV) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	echo "- an OpenCL device"
	$(VENV) -m tinygrad_cl doctor --install
	touch $@

# Debian and Ubuntu keep the part of Python that makes virtual environments in a package of its own.
.PHONY: debian-venv
debian-venv:
	test "$$(id -u)" = 0 && command -v apt-get >/dev/null || \
		{ echo "Python cannot make virtual environments here: run 'sudo apt-get install python3-venv', then make again."; exit 1; }
	echo "- python3-venv, from Debian"
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get install -y -qq python3-venv >/dev/null
