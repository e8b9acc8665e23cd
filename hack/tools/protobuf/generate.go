/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/pluginpb"
)

// stubSuffix ends the name of every file that a plugin may write. Only such
// files are ever removed from the output directory.
const stubSuffix = ".pb.go"

// plugin is a protoc plugin and the parameters it is given.
type plugin struct {
	name      string
	parameter string
}

// plugins run in this order. Stubs lie beside each other as their sources do;
// a server must implement every method, so that a new one cannot be forgotten.
var plugins = []plugin{
	{name: "protoc-gen-go", parameter: "paths=source_relative"},
	{name: "protoc-gen-go-grpc", parameter: "paths=source_relative,require_unimplemented_servers=true"},
}

// options say where sources are read and stubs are written.
type options struct {
	source  string
	output  string
	plugins string
}

// generate compiles every source, runs every plugin and brings the output
// directory to exactly what the plugins answered. Nothing is written unless all
// plugins succeeded.
func generate(ctx context.Context, opts options) error {
	sources, err := filesWithSuffix(opts.source, ".proto")
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("no .proto file under %s", opts.source)
	}
	request, err := compile(ctx, opts.source, sources)
	if err != nil {
		return err
	}
	stubs := map[string]string{}
	for _, p := range plugins {
		files, err := p.run(ctx, opts.plugins, request)
		if err != nil {
			return err
		}
		if err := collect(stubs, p.name, files); err != nil {
			return err
		}
	}
	if err := write(opts.output, stubs); err != nil {
		return err
	}
	return prune(opts.output, stubs)
}

// collect adds a plugin's answer to stubs and refuses what would leave the
// output directory or overwrite another plugin's file.
func collect(stubs map[string]string, plugin string, files []*pluginpb.CodeGeneratorResponse_File) error {
	for _, file := range files {
		name := file.GetName()
		if !filepath.IsLocal(name) || !strings.HasSuffix(name, stubSuffix) {
			return fmt.Errorf("%s: unexpected file name %q", plugin, name)
		}
		if _, taken := stubs[name]; taken {
			return fmt.Errorf("%s: %s is already written by another plugin", plugin, name)
		}
		stubs[name] = file.GetContent()
	}
	return nil
}

// write stores the stubs, and leaves a file alone whose bytes would not change,
// so that its time stamp does not either.
func write(output string, stubs map[string]string) error {
	for name, content := range stubs {
		path := filepath.Join(output, name)
		if current, err := os.ReadFile(path); err == nil && string(current) == content {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// prune removes stubs that no source stands behind any more.
func prune(output string, stubs map[string]string) error {
	present, err := filesWithSuffix(output, stubSuffix)
	if err != nil {
		return err
	}
	for _, name := range present {
		if _, wanted := stubs[name]; wanted {
			continue
		}
		if err := os.Remove(filepath.Join(output, name)); err != nil {
			return err
		}
	}
	return nil
}

// filesWithSuffix lists the files below root, relative to it, with slashes and
// in lexical order.
func filesWithSuffix(root, suffix string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !strings.HasSuffix(path, suffix) {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		names = append(names, filepath.ToSlash(name))
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}
