# evertty: `make run` sets everything up and serves, `make test` sets everything up and passes every test.
SHELL := /bin/bash
GO ?= go
BIN := bin/evertty
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.release=$(VERSION)
LISTEN ?= 127.0.0.1:3000
FUZZTIME ?= 20s
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.14.3
UI_SOURCES := $(shell find webui -path webui/node_modules -prune -o -path webui/dist -prune -o -type f -print)
# Without cgo and paths of this checkout, as in the binary: vet, the tests and the binary share what is compiled.
PLAIN := CGO_ENABLED=0 $(GO)
# The emulator and its snapshots start no goroutine: the race detector makes their tests five times as long and
# can find nothing there. It sees them in the tests of stream and internal, which use them from many.
SERIAL := ./vt/... ./snapshot
# The race detector needs a C compiler; without one the tests run without it. SQLite, which was C, takes ten
# times as long under it and is not ours: `make race` looks at it too. Only that package, as it shares no
# instance of a generic function with others: one without the detector would stand for those of ours.
RACE := $(shell command -v cc >/dev/null 2>&1 && echo -race -gcflags=modernc.org/sqlite/lib=-race=false)
# Packages tested at a time. More at a time end no sooner, and miss limits of time that are the product's own.
BESIDE := $(shell getconf _NPROCESSORS_ONLN)
# A machine that is busy with other work can miss a limit of time. So up to three failed tests run once more, alone, and
# both runs are printed. A data race fails at once, and `make race` and `make torture` forgive nothing.
GOTESTSUM := gotest.tools/gotestsum@v1.13.0
RERUN := run $(GOTESTSUM) --format standard-quiet --hide-summary skipped --rerun-fails=1 \
	--rerun-fails-max-failures=3 --rerun-fails-abort-on-data-race

MUTATE ?= ./stream ./internal/terminal ./internal/terminal/wait ./internal/journal ./internal/permission \
	./internal/datadir ./snapshot ./internal/server/auth
N ?= 200
SEED ?= 1
TORTURE := Torture|TheKeeperDies|BothDie|FullDisk|DiskThatFails|NoServerRuns|Clock|TestExec

# Recipes run with this umask, so that the tests' files do not depend on the user's. Where TMPDIR is not safe from other
# users, tests that need it choose another (internal/strictmodes/strictmodestest).
.SHELLFLAGS := -c 'umask 022; eval "$$0"'

.DEFAULT_GOAL := help
.PHONY: help run build ui test quick go-vet go-test package-test outside-test install-test ui-test browser sshd \
	clients race torture fuzz bench mutate demo picture pictures stills generate lint vuln docker release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: build ## set everything up and run the server (LISTEN=host:port)
	$(BIN) serve --listen $(LISTEN)

build: webui/dist/index.html ## bin/evertty, one static binary with the web page in it
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/evertty

ui: webui/dist/index.html ## the web page only

webui/node_modules/.installed: webui/package.json webui/package-lock.json
	cd webui && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

clients: tests/clients/node_modules/.installed ## clients of other products, for their tests

tests/clients/node_modules/.installed: tests/clients/package.json tests/clients/package-lock.json
	cd tests/clients && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

webui/dist/index.html: webui/node_modules/.installed $(UI_SOURCES)
	cd webui && npm run build

test: build ui-test browser sshd clients go-test ## set everything up (browser, sshd, clients) and pass every test

quick: ui-test go-vet ## for the inner loop: vet, short tests of the packages, tests of the page
	$(PLAIN) test -trimpath -vet=off -short -p $(BESIDE) -timeout 5m $$($(GO) list ./... | grep -v /tests$$)

go-vet:
	@odd=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$odd" || { echo "not formatted: $$odd"; exit 1; }
	$(PLAIN) vet -trimpath ./...

# One after the other: side by side the limits of interrupts and timeouts are missed on two cores.
go-test: webui/dist/index.html go-vet
	@$(MAKE) --no-print-directory package-test
	@$(MAKE) --no-print-directory outside-test
	@$(MAKE) --no-print-directory install-test

package-test:
	$(GO) $(RERUN) --packages "$$($(GO) list ./... | grep -vxFf <($(GO) list $(SERIAL) ./tests \
		./tests/installtest) | xargs)" -- \
		$(RACE) -trimpath -vet=off -p $(BESIDE) -timeout 10m
	EVERTTY_TEST_FEW=1 $(PLAIN) test -trimpath -vet=off -timeout 10m $(SERIAL)
	$(PLAIN) test -trimpath -vet=off -timeout 10m -run TestJournalDamage ./internal/journal

outside-test:
	EVERTTY_TEST_CHROME="$$(scripts/browser.sh)" $(PLAIN) $(RERUN) --packages ./tests -- \
		-trimpath -vet=off -timeout 30m

install-test: webui/dist/index.html ## install the packages in a fresh Debian and use them; skips without root
	$(PLAIN) $(RERUN) --packages ./tests/installtest -- -trimpath -vet=off -timeout 30m

ui-test: webui/node_modules/.installed ## type check, linter and unit tests of the web page
	cd webui && npm run check && npm test

browser: ## find a Chrome or Chromium, or install Debian's as root
	@scripts/browser.sh >/dev/null

sshd: ## find an OpenSSH server and nginx, or install Debian's as root; without them their tests skip
	@scripts/sshd.sh >/dev/null || true
	@scripts/nginx.sh >/dev/null || true

race: webui/dist/index.html ## every Go test under the race detector, twice
	EVERTTY_TEST_CHROME="$$(scripts/browser.sh)" $(GO) test -race -count=2 -timeout 20m ./...

torture: webui/dist/index.html ## kills, upgrades and damaged files; the figures of docs/operate/durability.md
	EVERTTY_TORTURE=1 $(GO) test -count=1 -timeout 60m -parallel 1 -v -run '$(TORTURE)' ./tests
	EVERTTY_TORTURE=1 $(GO) test $(RACE) -count=1 -timeout 60m ./internal/journal ./internal/datadir ./snapshot ./vt \
		./stream ./internal/terminal ./internal/supervisor ./internal/thread/service ./pty
	EVERTTY_TORTURE=1 $(PLAIN) test -count=1 -timeout 60m -run TestCost ./vt

fuzz: ## every fuzz target for FUZZTIME each
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep ^Fuzz); do \
		echo "$$pkg $$f"; \
		$(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$pkg || exit 1; done; done

bench: ## benchmarks, six runs each, ready for benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count 6 ./vt/... ./snapshot ./internal/journal ./internal/datadir \
		./stream ./pty

mutate: ## how much the tests see: breaks N=200 lines of MUTATE's packages, one at a time; SEED chooses them
	$(GO) run ./scripts/mutate -n $(N) -seed $(SEED) -race '$(RACE)' $(MUTATE)

demo: build ## docs/demo.svg, the moving picture of README.md
	$(GO) run ./scripts/demo $(BIN) docs/demo.svg

pictures: demo picture stills ## all of them, from the real product

stills: build ## docs/picker.svg and docs/link.svg, the same each time
	$(GO) run ./scripts/demo $(BIN) docs/picker.svg picker
	$(GO) run ./scripts/demo $(BIN) docs/link.svg link

picture: build ## docs/page.png, the picture of the page in README.md
	scripts/picture.sh $(BIN) docs/page.png

generate: ## openapi.json and the page's types, from package wire and the routes
	$(GO) generate ./internal/server

lint: ## go vet and golangci-lint
	$(GO) vet ./...
	$(GO) run $(GOLANGCI) run

vuln: ## known vulnerabilities in what is called; VULNDB=file:///DIR for a copy of the database
	$(GO) run $(GOVULNCHECK) $(if $(VULNDB),-db $(VULNDB)) ./...

# GoReleaser takes the commit and its time only from a repository with a remote; a clone of a bundle has none. It asks
# no remote for anything.
REMOTE := $(if $(shell git remote 2>/dev/null),,GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url \
	GIT_CONFIG_VALUE_0=https://github.com/evertty/evertty)

release: ## what a release has, in dist/, and a check of it; publishes nothing (docs/develop/release.md)
	$(GO) run $(GORELEASER) check
	$(REMOTE) $(GO) run $(GORELEASER) release --snapshot --clean \
		--skip=publish$(shell command -v syft >/dev/null || echo ,sbom)
	scripts/formula.sh dist >dist/evertty.rb
	EVERTTY_TEST_RELEASE=$(CURDIR)/dist $(PLAIN) test -trimpath -vet=off -count=1 -run TestRelease ./tests/installtest

docker: ## the container image
	docker build --build-arg VERSION=$(VERSION) -t evertty .

clean: ## remove what was built
	rm -rf bin dist webui/dist/assets webui/dist/index.html webui/dist/favicon.svg webui/node_modules \
		tests/clients/node_modules
