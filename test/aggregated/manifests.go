/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"inferencecache.io/inference-cache/test/programs"
)

// base is what is applied before the servers run. The processes stand for the
// workload, and a name of loopback for its addresses, which cannot be endpoints.
const base = `
resources: [artifacts/base]
patches:
- patch: |
    $patch: delete
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: inference-cache-apiserver, namespace: inference-cache-system}
- target: {kind: Service, name: inference-cache-apiserver}
  patch: |
    - {op: replace, path: /spec, value: {type: ExternalName, externalName: localhost}}
`

// registration is what is applied when they are ready.
const registration = `
resources: [artifacts/apiservice]
patches:
- target: {kind: APIService, name: v1alpha1.inferencecache.io}
  patch: |
    - {op: replace, path: /spec/service/port, value: %s}
`

// bundle belongs to it if the servers do not make their certificates.
const bundle = `    - {op: add, path: /spec/caBundle, value: %s}
`

// Apply applies the manifests but for the APIService and the workload.
func (i *Installation) Apply(ctx context.Context) error { return i.apply(ctx, "base", base) }

// Register applies the APIService, at the port of the servers.
func (i *Installation) Register(ctx context.Context) error {
	manifest := fmt.Sprintf(registration, i.Port())
	if i.options.GivenCertificate {
		manifest += fmt.Sprintf(bundle, base64.StdEncoding.EncodeToString(i.authority))
	}
	return i.apply(ctx, "apiservice", manifest)
}

// apply has kubectl apply a kustomization of the repository's manifests, as a user
// would make one.
func (i *Installation) apply(ctx context.Context, name, kustomization string) error {
	root, err := programs.Repository()
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(i.options.Dir)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "manifests", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// kustomize takes no absolute paths.
	relative, err := filepath.Rel(dir, root)
	if err != nil {
		return err
	}
	kustomization = strings.Replace(kustomization, "[artifacts/", "["+relative+"/artifacts/", 1)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, i.options.Kubectl, "--kubeconfig="+i.options.Cluster.Kubeconfig(), "apply", "--server-side", "--kustomize="+dir)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apply the manifests of %s: %w\n%s", name, err, output)
	}
	return nil
}
