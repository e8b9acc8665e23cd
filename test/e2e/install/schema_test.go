//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/test/programs"
)

// TestSchemas has the control plane judge every kustomization: fields, values,
// rights that roles may give, pod security; cert-manager's kinds against their
// definitions.
func TestSchemas(t *testing.T) {
	definitions := certManager(t)
	kubectl(t, "apply", "--server-side", "--filename="+definitions)
	kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "--filename="+definitions)
	kubectl(t, "apply", "--server-side", "--filename="+filepath.Join(environment.artifacts, "base", "namespace.yaml"))
	for _, folder := range []string{"base", "apiservice", "overlays/ha", "overlays/cert-manager", "overlays/cert-manager/apiservice"} {
		t.Run(folder, func(t *testing.T) {
			output := kubectl(t, "apply", "--server-side", "--dry-run=server", "--validate=strict", "--kustomize="+filepath.Join(environment.artifacts, folder))
			if strings.Contains(output, "Warning") {
				t.Errorf("it warns:\n%s", output)
			}
		})
	}
	kubectl(t, "delete", "namespace", namespace)
	kubectl(t, "delete", "--filename="+definitions)
}

// certManager returns the folder with the definitions of cert-manager's kinds.
func certManager(t *testing.T) string {
	t.Helper()
	const module = "github.com/cert-manager/cert-manager"
	repository, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	var output []byte
	for _, args := range [][]string{{"mod", "download", module}, {"list", "-m", "-f", "{{.Dir}}", module}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join(repository, "hack", "tools", "certmanager")
		if output, err = cmd.Output(); err != nil {
			t.Fatalf("go %v: %v", args, err)
		}
	}
	return filepath.Join(strings.TrimSpace(string(output)), "deploy", "crds")
}

// TestTwoReplicas holds that the Pods of the overlay for two replicas are admitted
// and that scripts know it. Nothing runs in them, so nobody waits for engines.
func TestTwoReplicas(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, `
resources: [ARTIFACTS/overlays/ha]
patches:
- target: {kind: ConfigMap}
  patch: |
    - {op: replace, path: /data/servers, value: "https://127.0.0.1:2379"}
- target: {kind: Deployment}
  patch: |
    - {op: replace, path: /spec/minReadySeconds, value: 0}
`)
	output, err := script(t, "install.sh", "--overlay", dir)
	if err == nil || !strings.Contains(output, "no Secret inference-cache-etcd-client") {
		t.Fatalf("%v\n%s\nwant a failure that names the Secret", err, output)
	}
	kubectl(t, "apply", "--server-side", "--kustomize="+dir)
	kubectl(t, "rollout", "status", "deployment/"+workload, "--namespace="+namespace, "--timeout=120s")
	output, err = script(t, "install.sh")
	if err == nil || !strings.Contains(output, "objects do not move from one etcd to another") {
		t.Errorf("%v\n%s\nwant a failure that knows the other storage", err, output)
	}
	output, err = script(t, "uninstall.sh")
	if err == nil || !strings.Contains(output, "the server is out of reach") {
		t.Errorf("%v\n%s\nwant a refusal", err, output)
	}
	mustScript(t, "uninstall.sh", "--abandon-objects")
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("these are left:\n%s", strings.Join(left, "\n"))
	}
}
