/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/apiserver"
)

// TestNeededRights holds that a server needs no right for what is switched off.
func TestNeededRights(t *testing.T) {
	tests := map[string]struct {
		args []string
		// off are the askers that are not there.
		off []apiserver.Asker
	}{
		"all":                         {},
		"no quota":                    {args: []string{"--disable-admission-plugins=ResourceQuota"}, off: []apiserver.Asker{"ResourceQuota"}},
		"no policies":                 {args: []string{"--disable-admission-plugins=ValidatingAdmissionPolicy,MutatingAdmissionPolicy"}, off: []apiserver.Asker{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"}},
		"no webhooks":                 {args: []string{"--disable-admission-plugins=ValidatingAdmissionWebhook,MutatingAdmissionWebhook"}, off: []apiserver.Asker{"ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"}},
		"no priority and fairness":    {args: []string{"--enable-priority-and-fairness=false"}, off: []apiserver.Asker{apiserver.AskerPriorityAndFairness}},
		"no look-up":                  {args: []string{"--authentication-skip-lookup"}, off: []apiserver.Asker{apiserver.AskerAuthenticationConfig}},
		"look-up may fail":            {args: []string{"--authentication-tolerate-lookup-failure"}, off: []apiserver.Asker{apiserver.AskerAuthenticationConfig}},
		"authorities given":           {args: []string{"--client-ca-file=a", "--requestheader-client-ca-file=b"}, off: []apiserver.Asker{apiserver.AskerAuthenticationConfig}},
		"one of two authorities":      {args: []string{"--client-ca-file=a"}},
		"switched on what is on":      {args: []string{"--enable-admission-plugins=ResourceQuota"}},
		"certificates given":          {args: []string{"--tls-cert-file=a", "--tls-private-key-file=b"}, off: []apiserver.Asker{apiserver.AskerCertificates}},
		"lifecycle needs none of own": {args: []string{"--disable-admission-plugins=NamespaceLifecycle"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(apiserver.ClusterRights(), func(r apiserver.Right) bool { return slices.Contains(tc.off, r.Asker) })
			got := parse(t, append(tc.args, "--data-dir=d")...).neededRights()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("wrong rights (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRightsInNamespace holds that the rights of a namespace are asked for where the
// server is.
func TestRightsInNamespace(t *testing.T) {
	want := apiserver.ClusterRightsIn("elsewhere")
	if diff := cmp.Diff(want, parse(t, "--data-dir=d", "--namespace=elsewhere").neededRights()); diff != "" {
		t.Errorf("wrong rights (-want +got):\n%s", diff)
	}
	for _, r := range want {
		if r.Namespace != "" && r.Namespace != "kube-system" && r.Namespace != "elsewhere" {
			t.Errorf("right in another namespace: %s", r)
		}
	}
}

// TestRightsOfThreeUsers holds that each right is asked for as the user that uses it.
func TestRightsOfThreeUsers(t *testing.T) {
	o := parse(t, "--data-dir=d", "--kubeconfig=core", "--authentication-kubeconfig=authn", "--authorization-kubeconfig=authz")
	want := map[apiserver.Asker]string{
		apiserver.AskerAuthentication: "authn", apiserver.AskerAuthenticationConfig: "authn", apiserver.AskerAuthorization: "authz",
		apiserver.AskerServer: "core", apiserver.AskerCertificates: "core", apiserver.AskerPriorityAndFairness: "core", "ResourceQuota": "core",
	}
	for asker, file := range want {
		if got := o.kubeconfigOf(asker); got != file {
			t.Errorf("%s asks as the user of %s, want %s", asker, got, file)
		}
	}
}
