##@ Test

# Extra arguments for go test, for example TESTFLAGS='-run Scale -v'.
TESTFLAGS ?=

.PHONY: test
test: ## Run the unit tests, the prediction test and the fuzz targets on mutated seeds. Needs Go only.
	go test $(value TESTFLAGS) ./...

.PHONY: test-race
test-race: ## Run the same tests under the race detector. Needs a C compiler.
	CGO_ENABLED=1 go test -race $(value TESTFLAGS) ./...

.PHONY: test-integration
test-integration: build bin/kubectl ## Run the tests that drive kubectl, libzmq and our programs.
	hack/test-integration.sh $(value TESTFLAGS)

.PHONY: test-oracle
test-oracle: ## Hold our validation of Pods against that of Kubernetes itself. Compiles much of Kubernetes.
	cd hack/oracle && go test $(value TESTFLAGS) ./...
