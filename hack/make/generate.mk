##@ Generate

.PHONY: generate
generate: generate-kube generate-proto ## Regenerate everything that is generated, offline.

.PHONY: generate-kube
generate-kube: ## Regenerate deep copies, conversions, defaults, OpenAPI and clients of pkg/apis, and the pages about flags.
	hack/update-codegen.sh
