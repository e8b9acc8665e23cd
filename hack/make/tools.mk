##@ Build

# Links into the user's cache: hack/tool.sh builds a tool once per version and
# every clone shares it.
.PHONY: bin/kubectl
bin/kubectl:
	@tools=$$(hack/tool.sh kubectl); mkdir -p bin; ln -sfn "$$tools/kubectl" bin/kubectl

.PHONY: tools
tools: bin/kubectl ## Build the pinned tools: generators, golangci-lint, kubectl, pyzmq.
	@hack/tool.sh kubegen
	@hack/tool.sh protobuf
	@hack/tool.sh golangci
	@hack/python-env.sh
