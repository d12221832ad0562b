# "make" or "make help" lists what there is. Everything is built with Go alone, into bin/.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# The programs are static. Tests are built likewise, so that each package is compiled once for both.
export CGO_ENABLED := 0

# The control plane for tests and for the local cluster: the one in KUBEBUILDER_ASSETS if it is complete, else built here. Only
# the local cluster has a controller manager and a scheduler.
KUBE_PROGRAMS := etcd kube-apiserver kubectl
CLUSTER_PROGRAMS := kube-controller-manager kube-scheduler
NODE_PROGRAMS := kubelet kube-proxy
ifneq ($(words $(wildcard $(addprefix $(KUBEBUILDER_ASSETS)/,$(KUBE_PROGRAMS) $(CLUSTER_PROGRAMS)))),$(words $(KUBE_PROGRAMS) $(CLUSTER_PROGRAMS)))
override KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
endif
export KUBEBUILDER_ASSETS
# What "make clean" leaves in bin/.
BUILT_TOOLS := k8s node actionlint controller-gen golangci-lint govulncheck helm
KUBERNETES_VERSION := $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2 }' hack/kube/go.mod)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: generate
generate: bin/controller-gen ## Generate code, CRDs, RBAC, and what the Helm chart and config/default take from elsewhere
	@hack/generate.sh

.PHONY: verify
verify: bin/controller-gen ## Check that the generated files are those that the sources give
	@hack/verify.sh

.PHONY: lint
lint: bin/golangci-lint bin/helm bin/actionlint ## Run the linters over Go, the Helm chart and the workflows
	@bin/golangci-lint run --allow-parallel-runners
	@bin/helm lint --strict --quiet charts/mcp-admin-operator
	@bin/actionlint

# VULNERABILITIES= is another database than vuln.go.dev: file:///folder for a machine without the internet.
.PHONY: vulnerabilities
vulnerabilities: bin/govulncheck ## Look for known vulnerabilities that the programs can reach; asks vuln.go.dev
	@bin/govulncheck $(if $(VULNERABILITIES),-db "$(VULNERABILITIES)") ./cmd/...

.PHONY: fmt
fmt: bin/golangci-lint ## Format the Go files
	@bin/golangci-lint fmt

.PHONY: unit
unit: ## Run the quick tests, which need neither a database server nor a cluster
	@go test -short ./...

.PHONY: databases
databases: ## Install PostgreSQL and MariaDB for the tests: Debian's packages; into this folder if you are not root
	@go run ./test/databases install

.PHONY: more-databases
more-databases: ## Install other releases and engines as well, into this folder
	@go run ./test/databases install -further

# Starts the database servers of the tests that are not there yet; more_databases also other releases, engines and a pooler.
with_databases := go run ./test/databases run --
more_databases := go run ./test/databases run -further --
suites := go run ./test/suites

.PHONY: test
test: build kube databases ## Run the tests, as any user: a line for each suite (go run ./test/suites -list tells which)
	@$(with_databases) $(suites)

.PHONY: test-all
test-all: test test-rest test-failovers ## Run all tests

.PHONY: test-rest
test-rest: build kube-cluster helm more-databases duckdb-if-possible ## Run what "make test" leaves out: long suites, whole random tests, other releases, clients from npm, a browser (as root)
	@$(more_databases) $(suites) -rest

.PHONY: test-transact
test-transact: databases ## Lose a thousand answers, cut connections, kill servers, and have 200 agents change the same rows for a minute, on each engine
	@MCP_TEST_FAULTS=1 MCP_TEST_LOST_ANSWERS=1000 MCP_TEST_CUT_TRANSFERS=50 MCP_TEST_KILLED_SERVERS=50 MCP_TEST_KILLED_DATABASES=20 MCP_TEST_AGENTS=200 MCP_TEST_SECONDS=60 \
		$(with_databases) $(suites) -run 'AnswerIsLostHappensOnce|WhoseConnectionsAreCut|ThatIsKilled|OverlappingTransacts' faults

.PHONY: test-attacks
test-attacks: databases ## Attack a server in a process of its own, and read how much memory it had
	@$(with_databases) $(suites) flood attacks

.PHONY: test-engines
test-engines: more-databases ## Run the data side's behavioural suite on every engine, release and pooler
	@$(more_databases) $(suites) -rest engines

.PHONY: test-failovers
test-failovers: databases ## Have agents write while PostgreSQL fails over: by Patroni, to a standby, and behind Pgpool-II
	@go run ./test/databases install -engine patroni
	@go run ./test/databases install -engine pgpool-standby
	@MCP_TEST_FAILOVERS=1 $(with_databases) $(suites) -rest -run 'Patroni|Pgpool|Standby' faults

.PHONY: test-engines-all
test-engines-all: test-failovers ## Run it on Pgpool-II and Spider as well, on what is built from source (Vitess, on one shard and on two; building takes minutes), and through failovers
	@go run ./test/databases install -all
	@go run ./test/databases run -all -- $(suites) -rest engines

.PHONY: test-duckdb
test-duckdb: ## Run the reading part of that suite, and of random calls, on DuckDB, which needs a C++ compiler
	@if ! command -v "$$(go env CXX)" > /dev/null; then echo "duckdb: SKIPPED: no test was run, as there is no C++ compiler ($$(go env CXX))"; exit; fi; \
	CGO_ENABLED=1 go -C cmd/duckdb test $(duckdb_test) . && \
	MCP_TEST_CALLS=$${MCP_TEST_CALLS:-3300} CGO_ENABLED=1 go -C cmd/duckdb test $(duckdb_test) -v -overlay testdata/overlay.json github.com/mcp-admin/mcp-admin-operator/test/engines github.com/mcp-admin/mcp-admin-operator/test/oracle | \
		grep -vE '^(=== | *--- (PASS|SKIP))|_test.go:[0-9]+: (nothing in|checks are not|a product of|DuckDB is|the gateway)'

.PHONY: test-schemas
test-schemas: databases ## Serve the databases of other people's programs, fetched as Debian packages
	@$(with_databases) $(suites) schemas

.PHONY: test-monitoring
test-monitoring: build kube databases ## Have each alert fire and end, and a Prometheus watch real servers (both from a Debian package)
	@$(with_databases) $(suites) monitoring

.PHONY: test-permissions
test-permissions: more-databases ## Make random calls in random worlds, and hold each against an oracle, plain SQL or a twin (MCP_TEST_CALLS=100000 makes so many)
	@$(more_databases) $(suites) -rest permissions oracle

# Times are the machine's affair: this fails by them, and the suites only tell them.
.PHONY: test-timing
test-timing: databases build kube-cluster ## Hold times: guesses of what policies hide, refusals, revocations, callers beside an attack; for a machine that does nothing else
	@MCP_TEST_TIMING=1 $(with_databases) $(suites) -run TestTimes permissions
	@MCP_TEST_TIMING=1 go test -count=1 -run TestTimes ./server/mcp
	@MCP_TEST_TIMING=1 $(with_databases) $(suites) attacks
	@MCP_TEST_TIMING=1 go run ./test/identity

.PHONY: test-approvals
test-approvals: more-databases ## Have agents ask for what other people must allow, while rows change and people decide; kill 1,000 pods meanwhile
	@MCP_TEST_KILLED_PODS=1000 $(more_databases) $(suites) -rest approvals

.PHONY: test-faults
test-faults: databases ## Do to served databases what happens to databases
	@$(with_databases) $(suites) faults

.PHONY: docs-test
docs-test: kube databases ## Run every block of the documents that can be run, and check the others
	@$(with_databases) $(suites) -run 'TestTheDocument|TestCommandsInACluster' commands
	@$(with_databases) $(suites) documents

.PHONY: five-minutes
five-minutes: build kube-cluster databases ## Time the quick starts of the documents, from nothing to the first answer in a real client
	@MCP_TEST_FIVE_MINUTES=1 $(with_databases) go test -count=1 -v -timeout 30m ./test/fiveminutes

.PHONY: catalogue
catalogue: ## Serve 10, 100 and 650 tables, and measure what tools/list costs an agent
	@MCP_TEST_CATALOGUE=1 go test -count=1 -v -run TestMeasure ./test/catalogue | grep -vE "^(=== |--- |PASS|ok )"

# A folder with questions and their right answers (docs/testing/measures.md), and the engines that they run on.
JOBS ?= ../shared/data/jobs/spider
ENGINES ?= SQLite,PostgreSQL,MariaDB

.PHONY: jobs
jobs: ## Ask the questions of the folder JOBS by calls of tools, on each of ENGINES, and compare the answers
	@if [ -f "$(JOBS)/jobs.json" ]; then $(MAKE) databases; else go run ./test/jobs -jobs "$(JOBS)"; exit; fi; \
	$(with_databases) go run ./test/jobs -jobs "$(JOBS)" -engines "$(ENGINES)"

# The same for tasks, whose actions must end in the right rows. DIR= names any folder of the form that test/jobs/tasks/README.md
# has; what its actions mean is in its own actions.yaml, or in ACTIONS.
DIR ?= ../shared/data/jobs/retail
ACTIONS ?= $(or $(wildcard $(DIR)/actions.yaml),test/jobs/tasks/$(notdir $(abspath $(DIR))).yaml)

.PHONY: jobs-retail
jobs-retail: ## Carry the tasks of the folder DIR out by calls of tools, on each of ENGINES, and compare every row
	@if [ -f "$(DIR)/tasks.json" ]; then $(MAKE) databases; else go run ./test/jobs/tasks -folder "$(DIR)"; exit; fi; \
	$(with_databases) go run ./test/jobs/tasks -folder "$(DIR)" -actions "$(ACTIONS)" -engines "$(ENGINES)"

# The manager with many objects, in a laboratory of a real API server and simulated pods. SCALE_JSON= names a file for all
# that was measured.
scale := go run ./test/scale $(if $(SCALE_JSON),-json "$(SCALE_JSON)")

# BENCH= are further flags, as in make bench BENCH='-engines PostgreSQL -ops get,list'; go run ./test/bench -help lists them.
BENCH ?=

.PHONY: bench
bench: databases ## Measure the server beside a bare Go server that sends the same SQL (about 10 minutes)
	@$(with_databases) go run ./test/bench -write $(BENCH)

.PHONY: profile
profile: databases ## Profile the server while the bench asks it, and draw flame graphs, into .local/bench/profile
	@$(with_databases) go run ./test/bench -engines PostgreSQL -rows 100000 -seconds 5 -profile .local/bench/profile $(BENCH)

.PHONY: scale
scale: kube ## Measure the manager with 100 endpoints, and with one of 2,000 tokens (about 10 minutes)
	@$(scale) -endpoints 10,100 -tokens 2000 -idle 10s

.PHONY: scale-full
scale-full: kube ## Measure the manager with up to 1,000 endpoints, and with one of up to 50,000 tokens (about an hour)
	@$(scale) -endpoints 10,100,300,1000 -tokens 10000,50000

# PODS= are further flags, as in make pods PODS='-pods 1,3 -seconds 2'; go run ./test/pods -help lists them.
PODS ?=

.PHONY: pods
pods: kube databases ## Measure one endpoint with 1, 2, 4 and 8 server processes over one PostgreSQL (about 5 minutes)
	@$(with_databases) go run ./test/pods -write $(PODS)

.PHONY: upgrade
upgrade: kube-cluster databases ## Upgrade to the next release and go back, on the local cluster, while agents call
	@$(with_databases) go run ./test/upgrade

# The folder of the real node. Its path must be short, as sockets lie in it. STEPS= tells only the steps that match, as in
# make e2e STEPS='installs by its chart|serves a PostgreSQL|refuses a revoked'.
NODE ?= /var/tmp/mcp-admin-node

.PHONY: e2e
e2e: ## Tell the product's story on a real node, as root: kubelet, containerd, CNI, chart, disturbances (about 7 minutes)
	@hack/node/packages.sh
	@go build -buildvcs=false -o bin/real-node ./hack/node/cmd/node
	@if bin/real-node check; then $(MAKE) e2e-story; else echo "e2e: SKIPPED: no step was run, as this machine cannot run a node"; fi

.PHONY: e2e-story
e2e-story: build bin/helm databases bin/k8s/kube bin/k8s/cluster bin/k8s/node bin/node/.built
	@rm -f $(NODE).report
	@go run ./hack/release -version "$(version)" -only images -platforms "linux/$$(go env GOARCH)" -dist bin/e2e
	@status=0; MCP_TEST_NODE=$(NODE) MCP_TEST_IMAGES=$(CURDIR)/bin/e2e $(with_databases) go test -count=1 -timeout 120m -v ./test/e2enode -ginkgo.succinct -ginkgo.no-color $(if $(STEPS),-ginkgo.focus '$(STEPS)') || status=$$?; \
	bin/real-node clean $(NODE) || status=1; \
	cat $(NODE).report; exit $$status

.PHONY: conformance
conformance: ## Run the official MCP conformance suite, at both revisions that it has requirements of
	@go run ./test/conformance

.PHONY: clients
clients: build ## Run the public MCP clients against a real server
	@go run ./test/clients

.PHONY: agents
agents: ## Have Claude Code, Codex and Gemini CLI read what mcp-admin connect and dev tell them (700 MB from npm)
	@MCP_TEST_AGENTS=1 go test -count=1 -v -timeout 20m -run TestAgents ./cmd/mcp-admin/connect

.PHONY: test-identity
test-identity: build kube-cluster ## Let in who has a token of a ServiceAccount or an identity provider, and refuse all others, on the local cluster
	@go run ./test/identity

.PHONY: browser
browser: ## Run an MCP client in a real browser; Chromium is installed if it is missing
	@MCP_TEST_BROWSER=1 go test -count=1 ./test/browser

.PHONY: page
page: kube ## Drive a real browser through the page of "mcp-admin ui" and "dev", at 3 and at 1,000 endpoints
	@MCP_TEST_PAGE=1 go test -count=1 -v -timeout 30m -run InChromium ./test/page

.PHONY: screenshots
screenshots: kube ## Make the page's pictures in docs/pictures anew
	@MCP_TEST_PAGE=1 MCP_SCREENSHOTS=docs/pictures go test -count=1 -timeout 30m -run Screenshots ./test/page

# At a terminal Ctrl-C goes to the program alone, and make ends with the program's status. ("go run" would end with 1.)
foreground := [ ! -t 0 ] || set -m;

.PHONY: demo
demo: build kube-cluster ## Show it: a local cluster, the operator, a bookshop, an agent's questions (DEMO_EXIT=1 ends after them)
	@go build -o bin/demo ./hack/demo
	@$(foreground) bin/demo; :

.PHONY: run
run: build ## Serve config/samples without a cluster, at http://127.0.0.1:8080/mcp/
	@$(foreground) bin/mcp-admin dev -f config/samples; :

.PHONY: recording
recording: ## Run the first commands of a new user, and draw what they print, and the matrix of rights
	@go run ./hack/recording

.PHONY: clean
clean: ## Remove what was made here, but for the tools and the local control plane, which take minutes to build
	@rm -rf .local dist test/*/node_modules .mcp-admin-dev
	@find bin -mindepth 1 -maxdepth 1 $(BUILT_TOOLS:%=! -name %) -exec rm -rf {} + 2>/dev/null || :

.PHONY: distclean
distclean: clean ## Remove everything that was made here
	@rm -rf bin

# What the programs say they are (hack/version.sh). Only what uses it asks git.
version = $(or $(VERSION),$(shell hack/version.sh))
version_ldflags = -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$(version)

.PHONY: build
build: ## Build the manager, the server and the program for people
	@go build -buildvcs=false -ldflags "$(version_ldflags)" -o bin/mcp-admin-manager ./cmd/manager
	@go build -buildvcs=false -ldflags "$(version_ldflags)" -o bin/mcp-admin-server ./cmd/server
	@go build -buildvcs=false -ldflags "$(version_ldflags)" -o bin/mcp-admin ./cmd/mcp-admin
	@ln -sf mcp-admin bin/kubectl-mcp_admin

# The programs with DuckDB are a module of their own, as they need C. Only DuckDB itself is C: with these tags all packages are compiled as
# for the other programs.
duckdb_tags := netgo,osusergo
duckdb_test = -count=1 -timeout 30m -tags $(duckdb_tags) -vet=off -ldflags "-s -w"

.PHONY: duckdb
duckdb: ## Build the server and mcp-admin with DuckDB, which needs a C++ compiler
	@CGO_ENABLED=1 go -C cmd/duckdb build -buildvcs=false -tags $(duckdb_tags) -ldflags "$(version_ldflags)" -o ../../bin/mcp-admin-server-duckdb ./mcp-admin-server
	@CGO_ENABLED=1 go -C cmd/duckdb build -buildvcs=false -tags $(duckdb_tags) -ldflags "$(version_ldflags)" -o ../../bin/mcp-admin-duckdb ./mcp-admin

.PHONY: duckdb-if-possible
duckdb-if-possible: # for tests that are skipped without it
	@if command -v "$$(go env CXX)" > /dev/null; then $(MAKE) duckdb; fi

.PHONY: images
images: ## Pack the images of the manager, the server and mcp-admin as OCI archives, into dist/images (PLATFORMS=linux/amd64)
	@go run ./hack/release -version "$(version)" -only images -platforms "$(PLATFORMS)" -dist dist/images

.PHONY: image-duckdb
image-duckdb: ## Pack the image of the server with DuckDB, for this machine's processor, into dist/image-duckdb (needs a compiler for C++)
	@go run ./hack/release -version "$(version)" -only duckdb -dist dist/image-duckdb

.PHONY: release
release: ## Write all that a release consists of to dist/: make release VERSION=v1.2.3
	@go run ./hack/release -version "$(version)"

.PHONY: tools
tools: bin/actionlint bin/controller-gen bin/golangci-lint bin/helm kube-cluster ## Build every tool

.PHONY: helm
helm: bin/helm ## Build helm

# Whether the control plane is built here.
ifeq ($(KUBEBUILDER_ASSETS),$(CURDIR)/bin/k8s)
built_kube := bin/k8s/kube
built_cluster := bin/k8s/cluster
endif

.PHONY: kube
kube: $(built_kube) ## Build the local API server (etcd, kube-apiserver, kubectl)

.PHONY: kube-cluster
kube-cluster: kube $(built_cluster) ## Build the local control plane, which also has a controller manager and a scheduler

bin/actionlint: TOOL := github.com/rhysd/actionlint/cmd/actionlint
bin/controller-gen: TOOL := sigs.k8s.io/controller-tools/cmd/controller-gen
bin/golangci-lint: TOOL := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
bin/govulncheck: TOOL := golang.org/x/vuln/cmd/govulncheck
bin/helm: TOOL := helm.sh/helm/v4/cmd/helm
bin/actionlint bin/controller-gen bin/golangci-lint bin/govulncheck bin/helm: bin/%: hack/tools/%/go.mod hack/tools/%/go.sum hack/go-build.sh
	@echo "building $* …"
	@hack/go-build.sh hack/tools/$* $@ $(TOOL)

kubernetes_version := k8s.io/component-base/version
kubernetes_ldflags := -X $(kubernetes_version).gitVersion=$(KUBERNETES_VERSION) \
	-X $(kubernetes_version).gitMajor=$(subst v,,$(word 1,$(subst ., ,$(KUBERNETES_VERSION)))) \
	-X $(kubernetes_version).gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION))) \
	-X $(kubernetes_version).gitTreeState=clean -X $(kubernetes_version).gitCommit=unknown

kube_sources := $(wildcard hack/kube/go.* hack/kube/*.go) hack/go-build.sh

bin/k8s/kube: $(kube_sources)
	@echo "building the local API server (about 4 minutes the first time) …"
	@hack/go-build.sh hack/kube $@ . "$(kubernetes_ldflags)"
	@for program in $(KUBE_PROGRAMS); do ln -sf kube bin/k8s/$$program; done

bin/k8s/cluster: $(kube_sources)
	@echo "building controller manager and scheduler (about a minute more) …"
	@hack/go-build.sh hack/kube $@ . "$(kubernetes_ldflags)" cluster
	@for program in $(CLUSTER_PROGRAMS); do ln -sf cluster bin/k8s/$$program; done

# What only a real node runs of Kubernetes.
bin/k8s/node: $(kube_sources)
	@echo "building kubelet and kube-proxy …"
	@hack/go-build.sh hack/kube $@ . "$(kubernetes_ldflags)" node
	@for program in $(NODE_PROGRAMS); do ln -sf node bin/k8s/$$program; done

# What a real node has beside Kubernetes: container runtime, network plugins, cluster DNS.
bin/node/.built: $(wildcard hack/node/*/go.mod hack/node/*/go.sum) hack/node/dns/main.go hack/node/pause/main.go hack/node/build.sh
	@echo "building a node's container runtime, network plugins and DNS (about 5 minutes the first time) …"
	@hack/node/build.sh
