/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

const reservations = "/inference-cache/reservations/"

// sharedEtcd is an etcd that API servers are pointed at.
type sharedEtcd struct {
	*testing.T
	endpoints []string
	client    *clientv3.Client
}

func startEtcd(t *testing.T) *sharedEtcd {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), UnsafeNoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return &sharedEtcd{T: t, endpoints: server.Endpoints(), client: client}
}

// startServer runs an API server on the etcd.
func (e *sharedEtcd) startServer() dynamic.Interface {
	e.Helper()
	server := apiservertest.Start(e.T, func(o *options.Options) {
		o.Recommended.Etcd.StorageConfig.Transport.ServerList = e.endpoints
	})
	client, err := dynamic.NewForConfig(server.Config)
	if err != nil {
		e.Fatal(err)
	}
	return client
}

// reserved returns the raw content of etcd about unique values: per kind and value
// the namespace and name of its holder. A guard is an entry of its own.
func (e *sharedEtcd) reserved() map[string]string {
	e.Helper()
	response, err := e.client.Get(e.Context(), reservations, clientv3.WithPrefix())
	if err != nil {
		e.Fatal(err)
	}
	found := map[string]string{}
	for _, kv := range response.Kvs {
		key, err := url.PathUnescape(strings.TrimPrefix(string(kv.Key), reservations))
		if err != nil {
			e.Fatal(err)
		}
		var record struct{ Namespace, Name string }
		if len(kv.Value) > 0 {
			if err := json.Unmarshal(kv.Value, &record); err != nil {
				e.Fatal(err)
			}
		}
		found[strings.Replace(key, "/holdings", "", 1)] = record.Namespace + "/" + record.Name
	}
	return found
}

var (
	policyResource = v1alpha1.SchemeGroupVersion.WithResource("cachepolicies")
	tenantResource = v1alpha1.SchemeGroupVersion.WithResource("cachetenants")
)

func newPolicy(name string) *unstructured.Unstructured {
	return object("CachePolicy", name, map[string]any{"eviction": "LRU"})
}

func newTenant(name, id string) *unstructured.Unstructured {
	return object("CacheTenant", name, map[string]any{"tenantID": id})
}

func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind))
	obj.SetName(name)
	return obj
}

// ways are all the ways to create an object.
var ways = []func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured, []string) (*unstructured.Unstructured, error){
	func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, dryRun []string) (*unstructured.Unstructured, error) {
		return c.Create(ctx, obj, metav1.CreateOptions{DryRun: dryRun})
	},
	func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, dryRun []string) (*unstructured.Unstructured, error) {
		return c.Update(ctx, obj, metav1.UpdateOptions{DryRun: dryRun})
	},
	func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, dryRun []string) (*unstructured.Unstructured, error) {
		return c.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test", DryRun: dryRun})
	},
	func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, dryRun []string) (*unstructured.Unstructured, error) {
		obj = obj.DeepCopy()
		obj.SetGenerateName(obj.GetName() + "-")
		obj.SetName("")
		return c.Create(ctx, obj, metav1.CreateOptions{DryRun: dryRun})
	},
}

// race runs write n times at once and returns what the winners got. Losers have to
// be refused for the value.
func race(t *testing.T, n int, write func(int) (*unstructured.Unstructured, error)) []*unstructured.Unstructured {
	t.Helper()
	objects, errs := make([]*unstructured.Unstructured, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { objects[i], errs[i] = write(i) })
	}
	group.Wait()
	var winners []*unstructured.Unstructured
	for i, err := range errs {
		switch {
		case err == nil:
			winners = append(winners, objects[i])
		case !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "Duplicate value"):
			t.Errorf("writer %d: %v, want that the value is refused", i, err)
		}
	}
	return winners
}

// mustReserve holds that exactly the given values are reserved and none is guarded.
func (e *sharedEtcd) mustReserve(t *testing.T, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, e.reserved()); diff != "" {
		t.Errorf("reservations (-want +got):\n%s", diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func createObject(t *testing.T, client dynamic.ResourceInterface, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := client.Create(t.Context(), obj, metav1.CreateOptions{})
	must(t, err)
	return created
}
