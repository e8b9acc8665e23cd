/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/certs"
)

// registered is a Registration that runs next to a cluster of its own, with a clock
// that only the test moves.
type registered struct {
	*apiserver.Registration
	kube    *cluster
	clock   *testingclock.FakeClock
	metrics *prometheus.Registry
}

// register starts one. lifetimes are nil when certificates are given.
func register(t *testing.T, kube *cluster, lifetimes *certs.Lifetimes) *registered {
	t.Helper()
	server := httptest.NewTLSServer(kube)
	t.Cleanup(server.Close)
	r := &registered{kube: kube, clock: testingclock.NewFakeClock(time.Now()), metrics: prometheus.NewRegistry()}
	var err error
	r.Registration, err = apiserver.NewRegistration(apiserver.RegistrationConfig{
		Client:    &rest.Config{Host: server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
		Namespace: apiserver.DefaultNamespace, ServiceName: apiserver.DefaultServiceName,
		Names: []string{"localhost"}, Lifetimes: lifetimes, Clock: r.clock, Registerer: r.metrics, Logger: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); server.CloseClientConnections(); <-done })
	return r
}

// soon waits for a state, and lets time pass meanwhile.
func (r *registered) soon(t *testing.T, pass time.Duration, check func() error) {
	t.Helper()
	mustSucceedSoon(t, func(context.Context) error {
		err := check()
		if err != nil {
			r.clock.Step(pass)
		}
		return err
	})
}

// problems returns the metric of problems.
func (r *registered) problems(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := r.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if v := metric.GetGauge().GetValue(); family.GetName() == "inferencecache_registration_problems" && v != 0 {
				problems[metric.GetLabel()[0].GetValue()] = v
			}
		}
	}
	return problems
}

// problemIs waits until the metric says exactly that there is one problem, or none.
func (r *registered) problemIs(t *testing.T, problem string) {
	t.Helper()
	r.soon(t, time.Minute, func() error {
		got := r.problems(t)
		if problem == "" && len(got) == 0 || len(got) == 1 && got[problem] == 1 {
			return nil
		}
		return fmt.Errorf("problems %v, want %q", got, problem)
	})
}

func TestPreflight(t *testing.T) {
	type object struct{ resource, manifest string }
	crd := object{"customresourcedefinitions", definition("cachebackends", "v1alpha1")}
	tests := map[string]struct {
		objects []object
		// want are parts of the readiness error; none means ready.
		want []string
		// problems are what the metric counts.
		problems map[string]float64
	}{
		"empty cluster":   {},
		"our APIService":  {objects: []object{{"apiservices", apiService("inference-cache-system", "inference-cache-apiserver")}}},
		"other version":   {objects: []object{{"customresourcedefinitions", definition("cachebackends", "v2")}}},
		"our group's end": {objects: []object{{"customresourcedefinitions", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.notinferencecache.io}, spec: {group: notinferencecache.io, versions: [{name: v1alpha1, served: true}]}}`}}},
		"version that is not served": {objects: []object{{
			"customresourcedefinitions",
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.inferencecache.io}, spec: {group: inferencecache.io, versions: [{name: v1alpha1, served: false}]}}`,
		}}},
		"definition of any name": {
			objects: []object{crd, {"customresourcedefinitions", definition("anything", "v1alpha1")}},
			want: []string{
				"CustomResourceDefinition anything.inferencecache.io serves inferencecache.io/v1alpha1", "CustomResourceDefinition cachebackends.inferencecache.io",
				"kubectl get cachebackends.inferencecache.io -A -o yaml", "delete the definition",
			},
			problems: map[string]float64{"crd": 2},
		},
		"definition with the APIService that the cluster makes for it": {
			objects:  []object{crd, {"apiservices", apiService("", "")}},
			want:     []string{"CustomResourceDefinition cachebackends.inferencecache.io serves"},
			problems: map[string]float64{"crd": 1, "apiservice": 1},
		},
		"APIService of the cluster itself": {
			objects:  []object{{"apiservices", apiService("", "")}},
			want:     []string{"APIService v1alpha1.inferencecache.io says that the cluster itself serves the group", "delete it"},
			problems: map[string]float64{"apiservice": 1},
		},
		"foreign Service": {
			objects:  []object{{"apiservices", apiService("default", "inference-cache-apiserver")}},
			want:     []string{"APIService v1alpha1.inferencecache.io points to Service default/inference-cache-apiserver, not to inference-cache-system/inference-cache-apiserver", "uninstall what registered it"},
			problems: map[string]float64{"apiservice": 1},
		},
		"definition behind our registration": {
			objects:  []object{crd, {"apiservices", apiService("inference-cache-system", "inference-cache-apiserver")}},
			problems: map[string]float64{"crd": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kube := &cluster{}
			for _, o := range tc.objects {
				kube.objects.put(t, o.resource, o.manifest)
			}
			r := register(t, kube, nil)
			r.soon(t, 0, func() error {
				err := r.Check(nil)
				if err != nil && strings.Contains(err.Error(), "not known yet") {
					return err
				}
				if (err == nil) != (len(tc.want) == 0) {
					t.Errorf("readiness error %v, want parts %q", err, tc.want)
				}
				for _, part := range tc.want {
					if err != nil && !strings.Contains(err.Error(), part) {
						t.Errorf("readiness error does not say %q: %v", part, err)
					}
				}
				return nil
			})
			if got := r.problems(t); fmt.Sprint(got) != fmt.Sprint(tc.problems) && len(got)+len(tc.problems) > 0 {
				t.Errorf("problems %v, want %v", got, tc.problems)
			}
			if len(kube.objects.written()) > 0 {
				t.Errorf("wrote %q", kube.objects.written())
			}
		})
	}
}

// TestPreflightHeals removes what is in the way, and puts it back when the server
// is ready, which must not change that.
func TestPreflightHeals(t *testing.T) {
	kube := &cluster{}
	kube.refused.set("list customresourcedefinitions")
	r := register(t, kube, nil)
	is := func(part string) {
		t.Helper()
		r.soon(t, 20*time.Second, func() error {
			err := r.Check(nil)
			if err != nil && strings.Contains(err.Error(), part) {
				return nil
			}
			return fmt.Errorf("readiness error %w, want %q", err, part)
		})
	}
	is("list CustomResourceDefinitions")
	kube.objects.put(t, "customresourcedefinitions", definition("things", "v1alpha1"))
	kube.refused.set()
	is("CustomResourceDefinition things.inferencecache.io serves")
	kube.objects.remove("customresourcedefinitions", "", "things.inferencecache.io")
	r.soon(t, 20*time.Second, func() error { return r.Check(nil) })
	r.problemIs(t, "")

	kube.objects.put(t, "customresourcedefinitions", definition("things", "v1alpha1"))
	r.problemIs(t, "crd")
	kube.objects.remove("customresourcedefinitions", "", "things.inferencecache.io")
	kube.objects.put(t, "apiservices", apiService("default", "other"))
	r.problemIs(t, "apiservice")
	if err := r.Check(nil); err != nil {
		t.Errorf("a server that was ready is not any more: %v", err)
	}
}

// bundle returns what the Secret says is to be trusted.
func (r *registered) bundle(t *testing.T) string {
	t.Helper()
	secret := r.kube.objects.get("secrets", apiserver.DefaultNamespace, "inference-cache-ca")
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", "ca.crt")
	bundle, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(bundle) == 0 {
		t.Fatalf("no bundle, error %v", err)
	}
	return string(bundle)
}

// inService says whether the APIService has what the Secret says.
func (r *registered) inService(t *testing.T) error {
	t.Helper()
	service := r.kube.objects.get("apiservices", "", "v1alpha1.inferencecache.io")
	encoded, _, _ := unstructured.NestedString(service.Object, "spec", "caBundle")
	if got, err := base64.StdEncoding.DecodeString(encoded); err != nil || string(got) != r.bundle(t) {
		return fmt.Errorf("caBundle of the APIService is %q, error %w", got, err)
	}
	return nil
}

func (r *registered) inConfigMap(t *testing.T) error {
	t.Helper()
	configMap := r.kube.objects.get("configmaps", apiserver.DefaultNamespace, "inference-cache-ca")
	if configMap == nil {
		return errors.New("no ConfigMap")
	}
	if got, _, _ := unstructured.NestedString(configMap.Object, "data", "ca.crt"); got != r.bundle(t) {
		return fmt.Errorf("ConfigMap has %q", got)
	}
	return nil
}

var month = certs.Lifetimes{CA: 12 * 30 * day, Leaf: 30 * day}

func TestPublish(t *testing.T) {
	kube := &cluster{}
	kube.objects.put(t, "clusterroles", `{metadata: {name: inference-cache-apiserver, uid: role-uid}}`)
	r := register(t, kube, &month)
	r.soon(t, 0, func() error { return r.inConfigMap(t) })

	kube.objects.put(t, "apiservices", apiService(apiserver.DefaultNamespace, apiserver.DefaultServiceName))
	r.soon(t, 0, func() error { return r.inService(t) })
	service := kube.objects.get("apiservices", "", "v1alpha1.inferencecache.io")
	owners := service.GetOwnerReferences()
	if len(owners) != 1 || owners[0].UID != "role-uid" || owners[0].Kind != "ClusterRole" || owners[0].BlockOwnerDeletion != nil || owners[0].Controller != nil {
		t.Errorf("owners are %+v", owners)
	}
	if priority, _, _ := unstructured.NestedFieldNoCopy(service.Object, "spec", "groupPriorityMinimum"); fmt.Sprint(priority) != "1000" {
		t.Errorf("priority of the group became %v", priority)
	}

	// Somebody applies their manifest again, and deletes the ConfigMap.
	kube.objects.put(t, "apiservices", apiService(apiserver.DefaultNamespace, apiserver.DefaultServiceName))
	r.soon(t, 0, func() error { return r.inService(t) })
	kube.objects.remove("configmaps", apiserver.DefaultNamespace, "inference-cache-ca")
	r.soon(t, time.Minute, func() error { return r.inConfigMap(t) })
	r.problemIs(t, "")

	// Nothing is written that is there already.
	before := len(kube.objects.written())
	asked := time.Duration(0)
	r.soon(t, time.Minute, func() error {
		if asked += time.Minute; asked < time.Hour {
			return errors.New("not yet")
		}
		return nil
	})
	if after := kube.objects.written(); len(after) != before {
		t.Errorf("wrote again: %q", after[before:])
	}
}

// TestPublishAgainstSomebody lets somebody take the bundle out of the APIService as
// soon as it is there. It is put back, and more and more seldom.
func TestPublishAgainstSomebody(t *testing.T) {
	kube := &cluster{}
	manifest := apiService(apiserver.DefaultNamespace, apiserver.DefaultServiceName)
	kube.objects.put(t, "apiservices", manifest)
	r := register(t, kube, &month)
	r.soon(t, 0, func() error { return r.inService(t) })
	undo := func() {
		kube.objects.put(t, "apiservices", manifest)
		r.soon(t, time.Second, func() error { return r.inService(t) })
	}
	undo()
	r.problemIs(t, "bundle")
	start := r.clock.Now()
	const times = 10
	for range times {
		undo()
	}
	if spent := r.clock.Since(start); spent < times*10*time.Second {
		t.Errorf("it was put back %d times within %s", times, spent)
	}
	r.problemIs(t, "")
}

// TestPublishInForeignService holds that an APIService of others is left alone,
// whenever it turns up.
func TestPublishInForeignService(t *testing.T) {
	kube := &cluster{}
	kube.objects.put(t, "apiservices", apiService("default", apiserver.DefaultServiceName))
	r := register(t, kube, &month)
	r.soon(t, 0, func() error { return r.inConfigMap(t) })
	r.problemIs(t, "apiservice")
	kube.objects.put(t, "apiservices", apiService(apiserver.DefaultNamespace, apiserver.DefaultServiceName))
	r.soon(t, time.Second, func() error { return r.inService(t) })
	r.soon(t, 20*time.Second, func() error { return r.Check(nil) })
	kube.objects.put(t, "apiservices", apiService("default", apiserver.DefaultServiceName))
	r.problemIs(t, "apiservice")
	writes := slices.DeleteFunc(kube.objects.written(), func(w string) bool { return !strings.HasPrefix(w, "patch apiservices") })
	if len(writes) != 1 {
		t.Errorf("wrote %q, want one write", writes)
	}
}

// TestRotationWaitsForPublication holds that nothing is signed by an authority that
// the cluster was not told about: somebody else manages the bundle.
func TestRotationWaitsForPublication(t *testing.T) {
	kube := &cluster{}
	kube.objects.put(t, "apiservices", apiService(apiserver.DefaultNamespace, apiserver.DefaultServiceName))
	r := register(t, kube, &month)
	r.soon(t, 0, func() error { return r.inService(t) })
	first, before := r.bundle(t), kube.objects.get("secrets", apiserver.DefaultNamespace, "inference-cache-ca")
	kube.objects.own("apiservices", "", "v1alpha1.inferencecache.io", "helm")
	r.clock.Step(month.CA / 3 * 2)
	r.soon(t, time.Minute, func() error {
		if r.bundle(t) == first {
			return errors.New("there is no successor")
		}
		return nil
	})
	r.problemIs(t, "bundle")
	r.clock.Step(month.CA / 12)
	for range 20 {
		r.clock.Step(10 * time.Minute)
		r.problemIs(t, "bundle")
	}
	signer := func(secret *unstructured.Unstructured) string {
		cert, _, _ := unstructured.NestedString(secret.Object, "data", "tls.crt")
		return cert
	}
	current := func() *unstructured.Unstructured {
		return kube.objects.get("secrets", apiserver.DefaultNamespace, "inference-cache-ca")
	}
	if signer(current()) != signer(before) {
		t.Fatal("the successor signs although it is not published")
	}
	kube.objects.own("apiservices", "", "v1alpha1.inferencecache.io", "")
	r.problemIs(t, "")
	r.soon(t, time.Minute, func() error {
		if signer(current()) == signer(before) {
			return errors.New("the successor does not sign")
		}
		return r.inService(t)
	})
}
