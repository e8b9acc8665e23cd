##@ Cluster

# Where the cluster of `make cluster-up` is kept, and how many fake nodes it has.
CLUSTERDIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/inference-cache/controlplane
CLUSTERNODES ?= 2

.PHONY: cluster-up
cluster-up: bin/kubectl ## Start a real control plane with fake nodes on loopback; compiles Kubernetes once.
	@programs=$$(hack/tool.sh controlplane); \
	go run ./hack/controlplane up -programs="$$programs" -dir="$(CLUSTERDIR)" -nodes=$(CLUSTERNODES)

.PHONY: cluster-down
cluster-down: ## End what cluster-up started and remove its files.
	@go run ./hack/controlplane down -dir="$(CLUSTERDIR)"

.PHONY: test-controlplane
test-controlplane: ## Start that control plane, use it and stop it; compiles Kubernetes once.
	programs=$$(hack/tool.sh controlplane); \
	CONTROLPLANE="$$programs" go test -p=1 -tags=e2e -count=1 -timeout=15m $(value TESTFLAGS) ./test/controlplane ./hack/controlplane

.PHONY: e2e
e2e: bin/kubectl ## Run our API server behind that control plane and test it as a part of the cluster.
	hack/test-cluster.sh $(value TESTFLAGS)

# How many CacheBackends `make scale` has, each with ten Pods.
SCALEBACKENDS ?= 1000

.PHONY: scale
scale: bin/kubectl ## Measure the manager with SCALEBACKENDS backends (1000) and ten times as many Pods; opt-in.
	@programs=$$(hack/tool.sh controlplane); \
	CONTROLPLANE="$$programs" KUBECTL="$(CURDIR)/bin/kubectl" go test -tags=e2e -count=1 -timeout=4h -v $(value TESTFLAGS) ./test/scale -args -backends=$(SCALEBACKENDS) -window=2m
