// Module protobuf pins the compiler and the plugins that make the gRPC stubs.
// It stands apart from the main module because the versions that a generator
// needs must never decide the versions that the servers link.
module inferencecache.io/inference-cache/hack/tools/protobuf

go 1.26.0

tool (
	google.golang.org/grpc/cmd/protoc-gen-go-grpc
	google.golang.org/protobuf/cmd/protoc-gen-go
)

require (
	github.com/bufbuild/protocompile v0.14.1
	google.golang.org/protobuf v1.36.12
)

require (
	golang.org/x/sync v0.8.0 // indirect
	google.golang.org/grpc/cmd/protoc-gen-go-grpc v1.6.2 // indirect
)
