##@ Test

# Extra arguments for go test, for example TESTFLAGS='-run Scale -v'.
TESTFLAGS ?=

# How long the soak goes on.
SOAKTIME ?= 10m

.PHONY: test
test: ## Run the unit tests, the prediction test and the fuzz targets on mutated seeds. Needs Go only.
	go test $(value TESTFLAGS) ./...

.PHONY: test-race
test-race: ## Run the same tests under the race detector. Needs a C compiler.
	CGO_ENABLED=1 go test -race $(value TESTFLAGS) ./...

.PHONY: test-integration
test-integration: build bin/kubectl ## Run the tests that drive kubectl, libzmq and our programs.
	hack/test-integration.sh $(value TESTFLAGS)

.PHONY: soak
soak: ## Let two servers and eight simulated engines live under load and faults for SOAKTIME. Needs Go only.
	go test -tags=integration -count=1 -timeout=24h -v -run='^TestSoak$$' ./test/soak -args -duration=$(SOAKTIME)

.PHONY: test-oracle
test-oracle: ## Hold our validation of Pods against that of Kubernetes itself. Compiles much of Kubernetes.
	cd hack/oracle && go test $(value TESTFLAGS) ./...

# How long `make e2e-engine` drives engines, not counting their starts, and what
# decides everything that it draws; 0 draws that too.
E2ETIME ?= 10m
E2ESEED ?= 0

.PHONY: e2e-engine
e2e-engine: ## Compare answers with a real vLLM for E2ETIME. Installs it once: 6 GB.
	hack/e2e-engine.sh $(E2ETIME) $(E2ESEED) $(value TESTFLAGS)

.PHONY: e2e-lmcache
e2e-lmcache: ## Probe LMCache's own servers of several releases. Needs what e2e-engine installs.
	hack/e2e-lmcache.sh $(value TESTFLAGS)
