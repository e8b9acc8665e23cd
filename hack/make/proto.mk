##@ Generate

PROTO_SOURCE := proto
PROTO_OUTPUT := pkg/generated/proto

.PHONY: generate-proto
generate-proto: ## Regenerate the gRPC stubs from proto/.
	tools=$$(hack/tool.sh protobuf); \
	$$tools/protobuf -plugins $$tools -source $(PROTO_SOURCE) -output $(PROTO_OUTPUT)
