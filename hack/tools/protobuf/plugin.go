/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// compile parses and links the sources and returns what a plugin is asked:
// descriptors with comments, every file after those it imports. The well-known
// types are built in.
func compile(ctx context.Context, root string, sources []string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := compiler.Compile(ctx, sources...)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: sources}
	seen := map[string]bool{}
	for _, file := range linked {
		request.ProtoFile = appendWithImports(request.ProtoFile, file, seen)
	}
	return request, nil
}

// appendWithImports adds a file behind its imports, once.
func appendWithImports(files []*descriptorpb.FileDescriptorProto, file protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[file.Path()] {
		return files
	}
	seen[file.Path()] = true
	imports := file.Imports()
	for i := range imports.Len() {
		files = appendWithImports(files, imports.Get(i).FileDescriptor, seen)
	}
	return append(files, protodesc.ToFileDescriptorProto(file))
}

// run starts the plugin in dir, hands it the request and returns its files.
func (p plugin) run(ctx context.Context, dir string, request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	request.Parameter = proto.String(p.parameter)
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("%s: encode request: %w", p.name, err)
	}
	var output bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(dir, p.name))
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &output, os.Stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(output.Bytes(), response); err != nil {
		return nil, fmt.Errorf("%s: decode response: %w", p.name, err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("%s: %s", p.name, response.GetError())
	}
	return response.GetFile(), nil
}
