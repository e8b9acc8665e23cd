//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user's overlay that has the aggregation layer come to loopback, which cannot
// have endpoints.
const (
	localServer = `
resources: [ARTIFACTS/base]
patches:
- target: {kind: Service, name: inference-cache-apiserver}
  patch: |
    - {op: replace, path: /spec, value: {type: ExternalName, externalName: localhost}}
`
	localRegistration = `
resources: [ARTIFACTS/apiservice]
patches:
- target: {kind: APIService, name: v1alpha1.inferencecache.io}
  patch: |
    - {op: replace, path: /spec/service/port, value: %s}
`
)

// overlay writes one whose server listens on a port of loopback.
func overlay(t *testing.T, port string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, localServer)
	write(t, filepath.Join(dir, "apiservice"), fmt.Sprintf(localRegistration, port))
	return dir
}

// write writes a kustomization that refers to the artifacts. kustomize takes no
// absolute paths.
func write(t *testing.T, dir, kustomization string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(dir, environment.artifacts)
	if err != nil {
		t.Fatal(err)
	}
	content := strings.ReplaceAll(kustomization, "ARTIFACTS", relative)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
