# What students have, too, is in course.mk: the set-up, help, lab and progress.
include course.mk

# What only tests and the site need stays out of the way of whoever takes the course.
DEV := .venv/.ready-dev
# Whoever is done takes over tests that wait elsewhere: the longest file would be the end of all otherwise.
PYTEST := $(VENV) -m pytest -n auto --dist worksteal
COMPILE := $(VENV) -m uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

.PHONY: compare test test-all lint format grade bundle release collect return notebooks bench size peers pictures site lock

compare: $(READY) ## put your work beside the reference, as a page: make compare M=01 (ALL=1: all of it)
	$(VENV) -m autograder compare $(or $(M),$(error say which module: make compare M=01)) $(if $(ALL),--all)

test: $(DEV) chromium ## run the tests, but for the long ones; make test ARGS="tests/test_devices.py -v" runs some
	$(PYTEST) -m "not long" $(ARGS)

test-all: $(DEV) chromium ## run all tests
	$(PYTEST) $(ARGS)

lint: $(DEV) ## look at the code: its format, what linters know, and types
	$(VENV) -m ruff format --check --quiet . || { echo "make format mends it"; exit 1; }
	$(VENV) -m ruff check --quiet .
	$(VENV) -m mypy --no-error-summary

format: $(DEV) ## write the code in the one format
	$(VENV) -m ruff check --fix-only --quiet .
	$(VENV) -m ruff format --quiet .

grade: $(READY) ## grade a sample class: right, wrong and hostile submissions
	$(VENV) -m autograder grade --sample

bundle: $(READY) ## write what a class is given into bundles/, a zip file for each module
	$(VENV) -m autograder bundle $(M)

release: $(READY) ## hand a module out through nbgrader's exchange: make release M=01
	$(VENV) -m autograder release $(or $(M),$(error say which module: make release M=01)) --out $(or $(OUT),OUT)

collect: $(READY) ## collect what was handed in through nbgrader's exchange: make collect M=01
	$(VENV) -m autograder collect $(or $(M),$(error say which module: make collect M=01)) --out $(or $(OUT),OUT)

return: $(READY) ## return feedback through nbgrader's exchange: make return M=01
	$(VENV) -m autograder return $(or $(M),$(error say which module: make return M=01)) --out $(or $(OUT),OUT)

notebooks: $(READY) ## build the notebooks from the lessons in solutions/
	$(VENV) -m autograder build

bench: $(READY) ## run every benchmark and write docs/performance.md; ARGS="--against COMMIT": what is slower than there
	$(VENV) benchmarks/report.py $(ARGS)

size: $(READY) ## count the lines of code of each part, without docstrings and comments; ARGS=--tokens: and the tokens
	$(VENV) tools/size.py $(ARGS)

peers: $(DEV) ## run the peers' own tests on our engines and write docs/peers.md
	$(VENV) tests/peers/run.py $(ARGS)

pictures: $(DEV) chromium ## make the screenshots of the README again; ARGS="steps class" makes some
	$(VENV) tests/pictures.py $(ARGS)

site: $(DEV) ## make a site of the lessons and of docs/, in site/; solved lessons that have changed run first
	$(VENV) tools/site_lessons.py
	$(VENV) -m sphinx --quiet --fail-on-warning --conf-dir docs/site . site/html
	echo "open site/html/index.html"

lock: $(DEV) ## refresh the lock files from pyproject.toml
	$(COMPILE) --upgrade --extra dev --output-file requirements-dev.lock pyproject.toml
	$(COMPILE) --constraint requirements-dev.lock --no-annotate --output-file requirements.lock pyproject.toml

$(DEV): $(READY) requirements-dev.lock
	echo "- packages for the tests"
	$(INSTALL) requirements-dev.lock || $(INSTALL_SLOWLY) requirements-dev.lock
	touch $@

# What the tests use of the system: a browser to drive JupyterLab, and the sandbox of submissions.
.PHONY: chromium
chromium:
	{ command -v chromium && command -v bwrap; } >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
		{ echo "- Chromium and bubblewrap, from Debian"; apt-get update -qq; \
		DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get install -y -qq --no-install-recommends chromium bubblewrap >/dev/null; } || true
