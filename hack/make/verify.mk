##@ Verify

.PHONY: verify
verify: verify-format verify-source verify-modules verify-layout verify-generated ## Run every check on the tree that is not a test of behaviour.

.PHONY: verify-generated
verify-generated: ## Regenerate everything and fail on a difference.
	hack/verify-generated.sh

.PHONY: verify-format
verify-format: ## Fail on Go files that gofmt would change.
	hack/verify-format.sh

.PHONY: verify-modules
verify-modules: ## Fail if go.mod or go.sum is not what the imports need.
	go mod tidy -diff

.PHONY: verify-source
verify-source: ## Hold file and function sizes, headers and forbidden words.
	go run ./hack/sourcecheck

.PHONY: verify-layout
verify-layout: ## Hold the import direction, names and documented dependencies.
	go test ./test/layout
