//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
)

// TestShell has bash and shellcheck read every script that is shipped.
func TestShell(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(root, "*.sh"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Fatalf("shellcheck is missing; install it with: apt-get install shellcheck (%v)", err)
	}
	for _, script := range scripts {
		if output, err := exec.CommandContext(t.Context(), "bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("bash -n: %v\n%s", err, output)
		}
	}
	if output, err := exec.CommandContext(t.Context(), "shellcheck", append([]string{"--external-sources"}, scripts...)...).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, output)
	}
}

// TestUninstallNamesAll holds that what is outside of our namespace is deleted by
// name, whatever overlay made it.
func TestUninstallNamesAll(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "uninstall.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range slices.Concat(workloads, []string{"manager"}) {
		for _, object := range objects(t, folder) {
			accessor, err := meta.Accessor(object)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.ToLower(object.GetObjectKind().GroupVersionKind().Kind) + "/" + accessor.GetName()
			inside := accessor.GetNamespace() == "inference-cache-system" || name == "namespace/inference-cache-system"
			if !inside && !strings.Contains(string(script), name) {
				t.Errorf("%s of %s is not in uninstall.sh", name, folder)
			}
		}
	}
}

// fakeKubectl answers as a cluster that is fit for the server. Lines before others
// say what is unfit about it. It notes what would change the cluster.
const fakeKubectl = `#!/usr/bin/env bash
args="$*"
case "${args}" in
%s
"get --raw /version") echo '{}' ;;
"version --client -o yaml") printf 'clientVersion:\n  minor: "37"\n' ;;
"kustomize "*) echo 'kind: StatefulSet' ;;
"get configmap extension-apiserver-authentication "*) echo certificate ;;
"get --raw /apis/admissionregistration.k8s.io/v1") echo '{"name":"mutatingadmissionpolicies"}' ;;
"apply "*"--dry-run=server"*) echo 'namespace/x serverside-applied (server dry run)' ;;
"get "*) ;;
*) echo "${args}" >>"${CHANGES}" ;;
esac
`

// TestInstallRefuses holds that an unfit cluster is told from a fit one before
// anything is changed.
func TestInstallRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		// unfit are answers of the cluster.
		unfit string
		want  string
	}{
		"unknown flag":      {args: []string{"--fast"}, want: "Usage: "},
		"flag without more": {args: []string{"--context"}, want: "--context needs a value"},
		"no number":         {args: []string{"--timeout=5m"}, want: "--timeout is a number of seconds, not 5m"},
		"no overlay":        {args: []string{"--overlay", "large"}, want: "overlays that are shipped: cert-manager ha"},
		"no cluster":        {unfit: `"get --raw /version") echo refused >&2; exit 1 ;;`, want: "the cluster does not answer: refused"},
		"old kubectl":       {unfit: `"version "*) printf 'clientVersion:\n  minor: "26+"\n' ;;`, want: "this kubectl is 1.26; 1.27 is the oldest"},
		"foreign CRD": {
			unfit: `"get customresourcedefinitions "*) echo cachebackends.inferencecache.io ;;`,
			want:  "a CustomResourceDefinition serves inferencecache.io/v1alpha1 here",
		},
		"foreign APIService": {
			unfit: `"get apiservice "*) echo other/server ;;`,
			want:  "belongs to Service other/server, not to inference-cache-system/inference-cache-apiserver",
		},
		"APIService of a CRD": {unfit: `"get apiservice "*) echo / ;;`, want: "belongs to a CustomResourceDefinition"},
		"no right to look":    {unfit: `"get apiservice "*) echo forbidden >&2; exit 1 ;;`, want: "forbidden"},
		"no aggregation":      {unfit: `"get configmap extension-apiserver-authentication "*) ;;`, want: "the aggregation layer of this cluster is off"},
		"old cluster": {
			unfit: `"get --raw /apis/admissionregistration.k8s.io/v1") echo '{}' ;;`,
			want:  "give it --disable-admission-plugins=MutatingAdmissionPolicy",
		},
		"example of an etcd": {args: []string{"--overlay=ha"}, unfit: `"kustomize "*) echo etcd.example.com ;;`, want: "name your etcd"},
		"no certificate for etcd": {
			args: []string{"--overlay", "ha"}, unfit: `"kustomize "*) echo '  secretName: inference-cache-etcd-client' ;;`,
			want: "no Secret inference-cache-etcd-client in inference-cache-system",
		},
		"other storage": {
			args: []string{"--overlay", "ha"}, unfit: "\"kustomize \"*) echo 'kind: Deployment' ;;\n" + `"get statefulset "*) echo statefulset.apps/inference-cache-apiserver ;;`,
			want: "objects do not move from one etcd to another",
		},
		"conflict": {unfit: `"apply "*"--dry-run=server"*) echo 'error: Apply failed with 1 conflict' >&2; exit 1 ;;`, want: "Apply failed with 1 conflict"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			output, changes, err := script(t, "install.sh", tc.unfit, tc.args...)
			if err == nil || !strings.Contains(output, tc.want) {
				t.Errorf("%v\n%s\nwant a failure that says %q", err, output, tc.want)
			}
			if changes != "" {
				t.Errorf("changed the cluster:\n%s", changes)
			}
		})
	}
}

// TestDryRun holds that asking changes nothing.
func TestDryRun(t *testing.T) {
	for _, name := range []string{"install.sh", "uninstall.sh"} {
		t.Run(name, func(t *testing.T) {
			output, changes, err := script(t, name, "", "--dry-run", "--context=here")
			if err != nil {
				t.Errorf("%v\n%s", err, output)
			}
			if changes != "" {
				t.Errorf("changed the cluster:\n%s", changes)
			}
		})
	}
}

// TestUninstallOrder holds the order down, in a cluster where the objects are gone
// already.
func TestUninstallOrder(t *testing.T) {
	marked := `"get namespace "*template*) echo objects-settled ;;
"get statefulset,"*) echo statefulset.apps/inference-cache-apiserver ;;`
	output, changes, err := script(t, "uninstall.sh", marked)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	want := []string{
		"mutatingwebhookconfiguration/inference-cache-manager", "poddisruptionbudget,deployment",
		"poddisruptionbudget,deployment,statefulset", "persistentvolumeclaim", "secret/inference-cache-ca", "role/inference-cache-apiserver",
		"clusterrolebinding/inference-cache-apiserver", "clusterrole/inference-cache-apiserver", "clusterrole/inference-cache-view", "clusterrolebinding/inference-cache-metrics", "flowschema/inference-cache-apiserver", "namespace",
	}
	var got []string
	for _, found := range regexp.MustCompile(`(?m)^delete (\S+)`).FindAllStringSubmatch(changes, -1) {
		got = append(got, found[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong order (-want +got):\n%s", diff)
	}
}

// TestUninstallRefuses holds that nothing is lost that nobody has agreed to lose.
func TestUninstallRefuses(t *testing.T) {
	const stored = `"get statefulset,"*) echo persistentvolumeclaim/data-inference-cache-apiserver-0 ;;`
	tests := map[string]struct{ unfit, want string }{
		"no registration":     {unfit: stored, want: "the server is out of reach, so that its objects cannot be deleted: there is no APIService v1alpha1.inferencecache.io"},
		"server is dead":      {unfit: stored + "\n" + `"get apiservice "*service*) echo inference-cache-system/inference-cache-apiserver ;;`, want: "give --abandon-objects"},
		"other server":        {unfit: stored + "\n" + `"get apiservice "*service*) echo other/server ;;`, want: "APIService v1alpha1.inferencecache.io belongs to Service other/server"},
		"somebody lives here": {unfit: `"get deployments,"*) echo pod/stranger ;;`, want: "holds what is not ours"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			output, changes, err := script(t, "uninstall.sh", tc.unfit)
			if err == nil || !strings.Contains(output, tc.want) {
				t.Errorf("%v\n%s\nwant a failure that says %q", err, output, tc.want)
			}
			if changes != "" {
				t.Errorf("changed the cluster:\n%s", changes)
			}
		})
	}
}

// script runs one of the scripts against a cluster that is not there, and returns
// what it said and what it would have changed.
func script(t *testing.T, name, unfit string, args ...string) (output, changes string, err error) {
	t.Helper()
	dir := t.TempDir()
	program, noted := filepath.Join(dir, "kubectl"), filepath.Join(dir, "changes")
	// The context comes before everything else.
	content := strings.Replace(strings.Replace(fakeKubectl, "%s", unfit, 1), `args="$*"`, `args="$*" args="${args#--context=* }"`, 1)
	if err := os.WriteFile(program, []byte(content), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, name), args...)
	cmd.Env = append(os.Environ(), "KUBECTL="+program, "CHANGES="+noted)
	said, err := cmd.CombinedOutput()
	changed, readErr := os.ReadFile(noted)
	if readErr != nil && !errors.Is(readErr, os.ErrNotExist) {
		t.Fatal(readErr)
	}
	return string(said), string(changed), err
}
