/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

const root, prefix = "/test", "/tenants"

// faults is a storage of objects that fails where a test says so.
type faults struct {
	storage.Interface
	// beforeCreate and afterCreate run around a creation. An error is what it
	// returns, whatever happened.
	beforeCreate, afterCreate func() error
}

func (f *faults) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if f.beforeCreate != nil {
		if err := f.beforeCreate(); err != nil {
			return err
		}
	}
	if err := f.Interface.Create(ctx, key, obj, out, ttl); err != nil {
		return err
	}
	if f.afterCreate != nil {
		return f.afterCreate()
	}
	return nil
}

// fixture is an etcd with the storage of two servers on it.
type fixture struct {
	testing.TB
	etcd    *clientv3.Client
	backend storagebackend.Config
	objects *faults
	// first and second reserve for objects.
	first, second *Storage
}

func newFixture(t testing.TB) *fixture {
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
	scheme := runtime.NewScheme()
	install.Install(scheme)
	f := &fixture{TB: t, backend: storagebackend.Config{
		Prefix:    root,
		Transport: storagebackend.TransportConfig{ServerList: server.Endpoints()},
		Codec:     serializer.NewCodecFactory(scheme).LegacyCodec(v1alpha1.SchemeGroupVersion),
	}}
	config := storagebackend.ConfigForResource{Config: f.backend, GroupResource: inferencecache.Resource("cachetenants")}
	objects, destroy, err := factory.Create(config, newTenant, newTenants, prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	f.objects = &faults{Interface: objects}
	f.first, f.second = f.wrap(f.objects), f.wrap(objects)
	if f.etcd, err = dial(f.backend.Transport); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.etcd.Close() })
	return f
}

func newTenant() runtime.Object  { return &inferencecache.CacheTenant{} }
func newTenants() runtime.Object { return &inferencecache.CacheTenantList{} }

func (f *fixture) wrap(objects storage.Interface) *Storage {
	f.Helper()
	s, err := Wrap(Config{
		Rule: Rule{
			Kind:  inferencecache.Kind("CacheTenant"),
			Name:  "tenantID",
			Value: func(obj runtime.Object) string { return obj.(*inferencecache.CacheTenant).Spec.TenantID },
			Duplicate: func(value string, _, owner types.NamespacedName) *field.Error {
				err := field.Duplicate(field.NewPath("id"), value)
				err.Detail = owner.String()
				return err
			},
		},
		Resource: inferencecache.Resource("cachetenants"),
		Backend:  f.backend,
		Objects:  objects,
		Prefix:   prefix,
		KeyOf:    func(o types.NamespacedName) (string, error) { return path.Join(prefix, o.Namespace, o.Name), nil },
		NewFunc:  newTenant, NewListFunc: newTenants,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	return s
}

// tenant returns an object that claims id.
func tenant(name, id string) *inferencecache.CacheTenant {
	return &inferencecache.CacheTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: uuid.NewUUID()},
		Spec:       inferencecache.CacheTenantSpec{TenantID: id},
	}
}

func keyOf(name string) string { return path.Join(prefix, "ns", name) }

func (f *fixture) create(s storage.Interface, name, id string) error {
	return s.Create(f.Context(), keyOf(name), tenant(name, id), newTenant(), 0)
}

// createLarge creates an object with as many bytes of ballast.
func (f *fixture) createLarge(s storage.Interface, name, id string, bytes int) error {
	obj := tenant(name, id)
	obj.Annotations = map[string]string{"ballast": strings.Repeat("x", bytes)}
	return s.Create(f.Context(), keyOf(name), obj, newTenant(), 0)
}

// update changes what an object claims, and creates it when it is not there. What
// happens meanwhile happens between the first reading of it and the first writing.
func (f *fixture) update(s storage.Interface, name, id string, meanwhile func()) error {
	return s.GuaranteedUpdate(f.Context(), keyOf(name), newTenant(), true, nil,
		func(existing runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			obj := existing.(*inferencecache.CacheTenant)
			if obj.Name == "" {
				obj = tenant(name, id)
			}
			if run := meanwhile; run != nil {
				meanwhile = nil
				run()
			}
			obj.Spec.TenantID = id
			return obj, nil, nil
		}, nil)
}

func (f *fixture) remove(s storage.Interface, name string) error {
	return s.Delete(f.Context(), keyOf(name), newTenant(), nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
}

// must fails the test when a step does.
func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// state is what etcd holds: the value of each object, and the holder of each
// value, with a star while a guard is there.
type state struct {
	Objects, Holdings map[string]string
}

func (f *fixture) state() state {
	f.Helper()
	s := state{Objects: map[string]string{}, Holdings: map[string]string{}}
	list := newTenants().(*inferencecache.CacheTenantList)
	f.must(f.objects.GetList(f.Context(), prefix, storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list))
	for _, item := range list.Items {
		s.Objects[item.Name] = item.Spec.TenantID
	}
	response, err := f.etcd.Get(f.Context(), root+"/reservations/", clientv3.WithPrefix())
	f.must(err)
	keys := f.first.ledger.keys
	for _, kv := range response.Kvs {
		if value, err := keys.value(string(kv.Key)); err == nil {
			holder, err := decodeRecord(kv.Value)
			f.must(err)
			s.Holdings[value] = holder.Name + s.Holdings[value]
			continue
		}
		// Guards come before holdings in the order of keys.
		value, err := keys.value(keys.holdings + path.Base(string(kv.Key)))
		f.must(err)
		s.Holdings[value] = "*"
	}
	return s
}

// endLeases makes the time of all guards be over.
func (f *fixture) endLeases() {
	f.Helper()
	leases, err := f.etcd.Leases(f.Context())
	f.must(err)
	for _, lease := range leases.Leases {
		_, err := f.etcd.Revoke(f.Context(), lease.ID)
		f.must(err)
	}
}

// leftover writes a holding for an object that may not be there.
func (f *fixture) leftover(value, name string) {
	f.Helper()
	content, err := record{Resource: "cachetenants.inferencecache.io", Namespace: "ns", Name: name, UID: "gone"}.encode()
	f.must(err)
	_, err = f.etcd.Put(f.Context(), f.first.ledger.keys.holding(value), content)
	f.must(err)
}

// duplicate is the text of the error for a value that an object has.
func duplicate(object, value, owner string) string {
	return fmt.Sprintf("CacheTenant.inferencecache.io %q is invalid: id: Duplicate value: %q: ns/%s", object, value, owner)
}
