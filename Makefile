# From nothing to a running temple. `make help` says what there is to make.
#
# ARGS goes to the program that a target runs:  make demo ARGS="--ports 8080 11884"
# PYTHON names the interpreter to build with:   make demo PYTHON=python3.12

PYTHON ?=
ARGS ?=
GAMES ?=

PLAY := controller,companion,broker
WORK := $(PLAY),lab,sheets,postgresql,dev
# More workers than most machines have cores: some tests wait, for a fault's time or a browser. In the order that
# tests/conftest.py gives them, because the long ones begin first there; a file's tests share what it sets up.
TESTS := .venv/bin/python -m pytest --numprocesses 6 --dist loadfile --no-loadscope-reorder
FORGE := --into .venv-hardware controller,hardware
export PYTHON
# Programs that tests start, and pytest's workers, would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo starter club temple sheets test coverage fresh packages packages-test repository image pi pico appliance firmware conformance validate check layout bench lab chaos crash soak pictures docs hardware hardware-test kernel physics release reproducible clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\): ## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name words; do \
		printf '  make %-13s %s\n' "$$name" "$$words"; done

demo: ## play with a simulated temple: keys drop tokens, phones show the score
	@tools/environment $(PLAY)
	@exec .venv/bin/python -m companion launch --with-parent --simulate $(ARGS)

starter: ## run the companion for a temple on a Pico W: it prints what the board's set-up asks for
	@tools/environment companion,broker
	@exec .venv/bin/python -m companion launch --with-parent --board $(ARGS)

club: ## run a club on this machine: PostgreSQL, three brokers, four workers, TLS, simulated temples (docs/club.md)
	@tools/environment $(PLAY),postgresql
	@exec .venv/bin/python -m companion club --with-parent $(ARGS)

temple: ## run the real temple on a Raspberry Pi, with its beams
	@tools/environment --system-lgpio $(PLAY)
	@exec .venv/bin/python -m companion launch --with-parent $(ARGS)

sheets: ## lay out boards, cards and strips as PDFs for the printer, into build/sheets
	@tests/system-packages sheets
	@tools/environment companion,sheets
	@.venv/bin/python -m companion sheets $(ARGS)

test: ## install what the tests need and run them
	@tests/system-packages
	@tools/environment $(WORK)
	@$(TESTS) $(ARGS)

coverage: ## run the tests, print lines and branches for each package; two must reach 98 %
	@tests/system-packages
	@tools/environment $(WORK)
	@rm -rf build/coverage
	@$(subst -m pytest,-m coverage run -m pytest,$(TESTS)) $(ARGS)
	@.venv/bin/python -m tests.coverage_table

fresh: ## type the README's commands on a new Debian 12 and 13: ARGS=all for every target of .ci/run
	@"$${PYTHON:-python3}" tests/fresh.py $(ARGS)

packages: ## build the Debian packages of the last commit into build/packages
	@"$${PYTHON:-python3}" -m tools.packages $(ARGS)

packages-test: ## build the packages, install them into a Debian 13 and boot it, upgrade it from an apt repository
	@"$${PYTHON:-python3}" -m tests.appliance.quick $(ARGS)

repository: ## add the packages to a signed apt repository: ARGS="--key key.gpg --address https://..."
	@"$${PYTHON:-python3}" -m tools.repository $(ARGS)

image: ## build an image for a Raspberry Pi's card into build, from Debian's archive and the last commit
	@"$${PYTHON:-python3}" -m tools.image $(ARGS)

pi: ## start that image in an emulated Raspberry Pi, and try what an owner meets
	@"$${PYTHON:-python3}" -m tests.pi.run $(ARGS)

pico: ## run a Pico's own firmware on an emulated RP2040: scenarios, and power cuts of its flash
	@tests/system-packages pico
	@tools/environment $(WORK),pico
	@.venv/bin/python -m tests.pico.emulator
	@.venv/bin/python -m tests.pico.run $(ARGS)

appliance: ## install the packages on a Debian 13, boot it, and try what an owner meets
	@"$${PYTHON:-python3}" -m tests.appliance.booted $(ARGS)

firmware: ## build the Uno's program and play every scenario to every counter
	@tests/system-packages firmware
	@tools/environment $(WORK),firmware
	@tools/node-modules firmware/tests build/firmware/node
	@$(MAKE) --no-print-directory -C firmware/arduino all size
	@.venv/bin/python -m pytest --numprocesses 2 firmware/tests tests/firmware $(ARGS)

conformance: ## play every game at random for long, or test games of your own: GAMES=/home/you/beans
	@tools/environment $(WORK)
	@TEMPLO_GAMES="$(GAMES)" TEMPLO_STATES="$${TEMPLO_STATES:-16000}" TEMPLO_WHOLE_GAMES="$${TEMPLO_WHOLE_GAMES:-3}" \
		TEMPLO_POSTS="$${TEMPLO_POSTS:-2000}" .venv/bin/python -m pytest -s $(if $(GAMES),-p tests.authors) \
		tests/games/test_checked.py tests/games/test_conformance.py tests/games/test_words.py \
		tests/games/test_game_pages.py tests/companion/web/security/test_posted_moves.py $(ARGS)

validate: ## read the HTML of every page with the Nu checker, which needs Java
	@tests/system-packages validate
	@tests/system-packages
	@tools/environment $(WORK)
	@tools/node-modules tests/browser/validator build/validator
	@rm -rf build/pages && mkdir -p build/pages
	@TEMPLO_PAGES=$(CURDIR)/build/pages .venv/bin/python -m pytest -q tests/browser/test_every_page.py
	@java -jar build/validator/node_modules/vnu-jar/build/dist/vnu.jar --errors-only build/pages
	@echo "$$(ls build/pages | wc -l) pages: no errors"

check: ## style, types and the direction of the imports
	@tools/environment $(WORK)
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

layout: ## measure every table page in every room, size, language and font, and print a table of them
	@tests/system-packages
	@tools/environment $(WORK)
	@.venv/bin/python -m tests.browser.all_rooms $(ARGS)

bench: ## measure the temple beside its peers
	@tests/system-packages
	@tools/environment $(WORK)
	@.venv/bin/python -m bench $(ARGS)

lab: ## play thousands of games of every preset, and write a report of each into build/lab
	@tools/environment companion,lab
	@.venv/bin/python -m lab all $(ARGS)

chaos: ## drop 10,000 tokens through 200 faults: ARGS="--seed S" repeats a run, "--workers 3" runs a club
	@tests/system-packages
	@tools/environment $(WORK)
	@.venv/bin/python -m tests.chaos.run $(ARGS)

crash: ## cut the power of both databases 10,000 times
	@tools/environment $(WORK)
	@.venv/bin/python -m tests.crash $(ARGS)

soak: ## play 200 games by app players and a temple, with kills, and see that memory and files stay as they are
	@tests/system-packages
	@tools/environment $(WORK)
	@.venv/bin/python -m tests.soak.run $(ARGS)

kernel: ## count on a real kernel with simulated lines, in QEMU: backends, packages, power cuts, the hotspot
	@tools/environment $(WORK),gpiod
	@.venv/bin/python -m tests.kernel.run $(ARGS)

pictures: ## draw the README's pictures from the running demo, and film the great moments into build/moments
	@tests/system-packages
	@tools/environment $(WORK)
	@.venv/bin/python -m tests.pictures $(ARGS)

docs: ## build the manual as a site, into build/site; check its links, and run the commands that it shows
	@tools/environment $(WORK),docs
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. .venv/bin/mkdocs build --strict $(ARGS)
	@.venv/bin/python -m pytest -q tests/docs
	@echo "The site is in build/site: open build/site/index.html."

hardware: ## build the printable temple into build/hardware, with pictures, slices and wiring
	@tests/system-packages hardware
	@tools/environment $(FORGE)
	@.venv-hardware/bin/python -m hardware $(ARGS)

hardware-test: ## check every part, the chutes' physics and the wiring
	@tests/system-packages hardware
	@tools/environment $(FORGE)
	@.venv-hardware/bin/python -m pytest hardware/tests $(ARGS)

physics: ## drop tokens through the chutes and count them with the real controller
	@tools/environment $(FORGE)
	@.venv-hardware/bin/python -m hardware.physics $(ARGS)

release: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
release: ## build everything that a release holds, into build/release: ARGS="--key ~/.ssh/id_ed25519" signs it
	@tests/system-packages firmware
	@rm -rf build/sheets build/hardware/stl build/hardware/step build/hardware/3mf build/hardware/plates build/wheels build/*.img.xz
	@"$${PYTHON:-python3}" -m tools.packages --where-possible
	@"$${PYTHON:-python3}" -m tools.image 2>build/why-no-image.txt || echo "No image: $$(cat build/why-no-image.txt)"
	@$(MAKE) --no-print-directory -C firmware/arduino all
	@$(MAKE) --no-print-directory sheets ARGS=
	@$(MAKE) --no-print-directory hardware ARGS=--no-slicer
	@tools/environment $(WORK),docs,release
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. .venv/bin/mkdocs build --strict --quiet
	@.venv/bin/python -m tools.manual_pdf
	@.venv/bin/python -m tools.distributions
	@.venv/bin/python -m tools.release $(ARGS)

reproducible: ## build wheel, sources, packages, sheets, site and manual twice, in different folders, and compare them
	@tests/system-packages sheets
	@tools/environment $(WORK),docs,release
	@.venv/bin/python -m tools.reproducible $(ARGS)

clean: ## remove the environment and everything that was built
	@rm -rf .venv .venv-hardware .venv.lock .venv-hardware.lock build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
