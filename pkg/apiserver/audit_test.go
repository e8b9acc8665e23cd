/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
)

// auditPolicy is the example that we ship.
const auditPolicy = "../../artifacts/audit/policy.yaml"

// TestAuditPolicyKnowsEveryResource asks the shipped policy about everything that is
// served, so that a new resource has to be decided about.
func TestAuditPolicyKnowsEveryResource(t *testing.T) {
	s := apiservertest.Start(t)
	list, err := clientset(t, s.Config).Discovery().ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := policy.LoadPolicyFromFile(auditPolicy)
	if err != nil {
		t.Fatal(err)
	}
	evaluator := policy.NewPolicyRuleEvaluator(loaded)
	computed := sets.New("routelookups", "cacheindices", "cachebackends/observation", "cachebackends/snapshot", "cachebackends/probe")
	writes := sets.New("create", "update", "patch", "delete", "deletecollection")
	for _, r := range list.APIResources {
		resource, subresource, _ := strings.Cut(r.Name, "/")
		for _, verb := range r.Verbs {
			want := auditv1.LevelMetadata
			if writes.Has(verb) && !computed.Has(r.Name) && subresource != "status" {
				want = auditv1.LevelRequestResponse
			}
			got := evaluator.EvaluatePolicyRule(authorizer.AttributesRecord{
				Verb: verb, APIGroup: v1alpha1.GroupName, APIVersion: v1alpha1.SchemeGroupVersion.Version,
				Resource: resource, Subresource: subresource, ResourceRequest: true,
			})
			if string(got.Level) != string(want) {
				t.Errorf("%s %s is noted at level %s, want %s", verb, r.Name, got.Level, want)
			}
		}
	}
	for path, want := range map[string]auditv1.Level{"/readyz": auditv1.LevelNone, "/livez/etcd": auditv1.LevelNone, "/apis": auditv1.LevelMetadata} {
		if got := evaluator.EvaluatePolicyRule(authorizer.AttributesRecord{Verb: "get", Path: path}); string(got.Level) != string(want) {
			t.Errorf("%s is noted at level %s, want %s", path, got.Level, want)
		}
	}
}

// audited is what a test looks at of an entry of the audit log.
type audited struct {
	Level                 string
	Request, Answer, Code bool
}

// readAuditLog returns the entries by verb and path, and the whole log.
func readAuditLog(t *testing.T, path string) (map[string]audited, string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]audited{}
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if e.Stage != auditv1.StageResponseComplete || !strings.HasPrefix(e.RequestURI, group) {
			continue
		}
		entries[e.Verb+" "+strings.TrimPrefix(e.RequestURI, group)] = audited{
			Level: string(e.Level), Request: e.RequestObject != nil, Answer: e.ResponseObject != nil, Code: e.ResponseStatus != nil,
		}
	}
	return entries, string(content)
}

// TestAuditLog runs a server with the shipped policy and reads what it has noted.
func TestAuditLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	s := apiservertest.Start(t, func(o *options.Options) {
		o.Recommended.Audit.PolicyFile = auditPolicy
		o.Recommended.Audit.LogOptions.Path = log
	})
	const tokenID, salt = 1618033988, "what-a-secret-salt"
	kinds := clientset(t, s.Config).InferencecacheV1alpha1()
	created := create(t, clientset(t, s.Config), "a")
	lookup := &v1alpha1.RouteLookup{Spec: v1alpha1.RouteLookupSpec{ModelID: "m", CacheSalt: salt, TokenIDs: []int64{tokenID}}}
	if _, err := kinds.RouteLookups("default").Create(t.Context(), lookup, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	created.Status.ObservedGeneration = 1
	if _, err := kinds.CacheBackends("default").UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/readyz", group + "/cacheindices", group + "/namespaces/default/cachebackends/a/snapshot"} {
		if got := get(t, client(t, s), s.Config.Host+path, "Authorization", "Bearer "+s.Token); got.status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	if err := kinds.CacheBackends("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	metadata, whole := audited{Level: "Metadata", Code: true}, audited{Level: "RequestResponse", Request: true, Answer: true, Code: true}
	want := map[string]audited{
		"create /namespaces/default/cachebackends":          whole,
		"create /namespaces/default/routelookups":           metadata,
		"update /namespaces/default/cachebackends/a/status": metadata,
		"list /cacheindices":                                metadata,
		"get /namespaces/default/cachebackends/a/snapshot":  metadata,
		"delete /namespaces/default/cachebackends/a":        whole,
	}
	entries, all := readAuditLog(t, log)
	got := map[string]audited{}
	for name := range want {
		got[name] = entries[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong entries (-want +got):\n%s", diff)
	}
	for what, text := range map[string]string{"token ids": fmt.Sprint(tokenID), "salt": salt, "bearer token": s.Token} {
		if strings.Contains(all, text) {
			t.Errorf("the log has the %s of a request", what)
		}
	}
	if strings.Contains(all, "/readyz") {
		t.Error("the log has probes")
	}
}
