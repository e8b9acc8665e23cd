##@ Verify

.PHONY: lint
lint: ## Run the linters of .golangci.yml.
	tools=$$(hack/tool.sh golangci); $$tools/golangci-lint run ./...

.PHONY: lint-fix
lint-fix: ## Run the linters and apply the fixes that they offer.
	tools=$$(hack/tool.sh golangci); $$tools/golangci-lint run --fix ./...
