//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/test/programs"
)

const (
	foreignDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: cachebackends.inferencecache.io
  annotations: {"api-approved.kubernetes.io": "unapproved, a test"}
spec:
  group: inferencecache.io
  names: {kind: CacheBackend, plural: cachebackends}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
	foreignRegistration = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1alpha1.inferencecache.io
spec:
  group: inferencecache.io
  version: v1alpha1
  groupPriorityMinimum: 100
  versionPriority: 1
  service: {namespace: default, name: somebody}
`
)

// TestRefusals holds that neither script touches what somebody else has under our
// name, and that nothing is applied beside it.
func TestRefusals(t *testing.T) {
	tests := map[string]struct{ manifest, want string }{
		"CustomResourceDefinition": {manifest: foreignDefinition, want: "a CustomResourceDefinition serves inferencecache.io/v1alpha1 here"},
		"APIService":               {manifest: foreignRegistration, want: "belongs to Service default/somebody"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			core, _ := clients(t)
			apply := command(t, environment.kubectl, "apply", "--server-side", "--filename=-")
			apply.Stdin = strings.NewReader(tc.manifest)
			if output, err := apply.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			remove := func() {
				command := command(t, environment.kubectl, "delete", "--ignore-not-found", "--filename=-")
				command.Stdin = strings.NewReader(tc.manifest)
				if output, err := command.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, output)
				}
			}
			output, err := script(t, "install.sh")
			if err == nil || !strings.Contains(output, tc.want) {
				t.Errorf("%v\n%s\nwant a failure that says %q", err, output, tc.want)
			}
			if _, err := core.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err == nil {
				t.Error("the namespace was made")
			}
			mustScript(t, "uninstall.sh")
			get := command(t, environment.kubectl, "get", "--filename=-")
			get.Stdin = strings.NewReader(tc.manifest)
			if output, err := get.CombinedOutput(); err != nil {
				t.Errorf("what is not ours was deleted: %v\n%s", err, output)
			}
			remove()
			// The registration of a definition goes some time after it.
			err = programs.Poll(t.Context(), func() error {
				_, err := command(t, environment.kubectl, "wait", "--for=delete", "apiservice/"+registration, "--timeout=30s").Output()
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
