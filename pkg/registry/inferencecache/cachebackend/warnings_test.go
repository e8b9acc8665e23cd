/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Expected lines of the warnings that more than one test wants.
const (
	warnsHostNetwork = "spec.integration.engineHostNetwork: engines off their node's network move no blocks to Mooncake; set it to true"
	warnsFailClosed  = "spec.integration.failOpen: false makes the cache a serving dependency; engines fail when it is unreachable"
	warnsClusterIP   = "spec.remoteStorage.endpoint: looks like a ClusterIP, which changes with its Service; use the Service's name"
	warnsWorkerImage = "spec.lmCache.workerImage: the tag can move to a build clients cannot talk to; use a version or digest"
)

func TestWarnings(t *testing.T) {
	storage := func(storage inferencecache.RemoteStorage) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) { b.Spec.RemoteStorage = &storage }
	}
	worker := func(image string) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) {
			b.Spec.LMCache = &inferencecache.LMCacheConfig{WorkerImage: image}
		}
	}
	external := func(endpoint string) func(*inferencecache.CacheBackend) {
		return storage(inferencecache.RemoteStorage{
			Provider: inferencecache.StorageProviderRedis, Ownership: inferencecache.StorageOwnershipExternal, Endpoint: endpoint,
		})
	}
	managed := inferencecache.StorageOwnershipManaged
	tests := map[string]struct {
		change func(*inferencecache.CacheBackend)
		want   []string
	}{
		"nothing hurts":        {change: func(*inferencecache.CacheBackend) {}},
		"nothing is defaulted": {change: func(b *inferencecache.CacheBackend) { b.Spec = inferencecache.CacheBackendSpec{} }},
		"engines off the node's network": {
			change: storage(inferencecache.RemoteStorage{Provider: inferencecache.StorageProviderMooncake, Ownership: managed}),
			want:   []string{warnsHostNetwork},
		},
		"engines on the node's network": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.RemoteStorage.Provider = inferencecache.StorageProviderMooncake
				b.Spec.Integration.EngineHostNetwork = true
			},
		},
		"fail closed": {
			change: func(b *inferencecache.CacheBackend) { b.Spec.Integration.FailOpen = ptr.To(false) },
			want:   []string{warnsFailClosed},
		},
		"ignored block": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.RemoteStorage = nil
				b.Spec.LMCache = &inferencecache.LMCacheConfig{}
				b.Spec.Integration.Mode = inferencecache.IntegrationModeEventsOnly
			},
			want: []string{"spec.lmCache: ignored with integration mode EventsOnly, which wires no cache; remove it"},
		},
		"no tag":             {change: worker("registry:5000/lmcache"), want: []string{warnsWorkerImage}},
		"latest":             {change: worker("lmcache:latest"), want: []string{warnsWorkerImage}},
		"nightly of a kind":  {change: worker("lmcache:nightly-cu129"), want: []string{warnsWorkerImage}},
		"version":            {change: worker("registry:5000/lmcache:0.4.7")},
		"version of a kind":  {change: worker("lmcache:v0.4.7-latest")},
		"digest":             {change: worker("lmcache:latest@sha256:" + strings.Repeat("0", 64))},
		"address of cluster": {change: external("10.96.0.17:6379"), want: []string{warnsClusterIP}},
		"address with a scheme and blanks": {
			change: external(" lm://[fd00::17]:6379 "), want: []string{warnsClusterIP},
		},
		"public address": {change: external("203.0.113.9:6379")},
		"name":           {change: external("redis.ns.svc:6379")},
		"everything, sorted": {
			change: func(b *inferencecache.CacheBackend) {
				empty := &corev1.ResourceRequirements{}
				b.Spec.Integration.FailOpen = ptr.To(false)
				b.Spec.RemoteStorage = &inferencecache.RemoteStorage{
					Provider: inferencecache.StorageProviderMooncake, Ownership: managed,
					Redis:         &inferencecache.RedisStorage{Image: "redis", Resources: empty},
					LMCacheServer: &inferencecache.LMCacheServerStorage{Image: "a:main", Resources: empty},
					Mooncake:      &inferencecache.MooncakeStorage{Image: "a:edge", Resources: empty},
				}
			},
			want: []string{
				warnsHostNetwork,
				warnsFailClosed,
				"spec.remoteStorage.lmCacheServer.image: the tag can move to a build clients cannot talk to; use a version or digest",
				"spec.remoteStorage.lmCacheServer.resources: {} sets no request and no limit; leave it out for the default",
				"spec.remoteStorage.mooncake.image: the tag can move to a build clients cannot talk to; use a version or digest",
				"spec.remoteStorage.mooncake.resources: {} sets no request and no limit; leave it out for the default",
				"spec.remoteStorage.redis.image: the tag can move to a build clients cannot talk to; use a version or digest",
				"spec.remoteStorage.redis.resources: {} sets no request and no limit; leave it out for the default",
			},
		},
		"resources with a limit": {
			change: storage(inferencecache.RemoteStorage{
				Provider: inferencecache.StorageProviderRedis, Ownership: managed,
				Redis: &inferencecache.RedisStorage{Resources: &corev1.ResourceRequirements{
					Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
				}},
			}),
		},
	}
	strategy := newStrategy(testScheme(), testAdapters{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			backend := testBackend(test.change)
			got := strategy.WarningsOnCreate(t.Context(), backend)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, strategy.WarningsOnUpdate(t.Context(), backend, testBackend())); diff != "" {
				t.Errorf("warnings of an update (-create +update):\n%s", diff)
			}
			for _, line := range got {
				if len(line) > 120 || strings.Contains(line, "\n") {
					t.Errorf("not one line of at most 120 characters, but %d: %q", len(line), line)
				}
			}
			if !slices.IsSorted(got) {
				t.Errorf("not sorted: %q", got)
			}
		})
	}
}

// TestWarningsAreDocumented holds that the reference names every field that is
// warned of.
func TestWarningsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/reference/validation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## Warnings")
	if !found {
		t.Fatal("the reference has no section on warnings")
	}
	fields := []string{
		warnsHostNetwork, warnsFailClosed, warnsClusterIP, warnsWorkerImage, "spec.lmCache:",
		"spec.remoteStorage.<provider>.image:", "spec.remoteStorage.<provider>.resources:",
	}
	for _, line := range fields {
		field, _, _ := strings.Cut(line, ":")
		if !strings.Contains(section, "`"+field+"`") {
			t.Errorf("the reference does not speak of the warning about %s", field)
		}
	}
}

func TestSubresourcesDoNotWarn(t *testing.T) {
	main := newStrategy(testScheme(), testAdapters{})
	backend := testBackend(func(b *inferencecache.CacheBackend) { b.Spec.Integration.FailOpen = ptr.To(false) })
	if got := (scaleStrategy{strategy: main}).WarningsOnUpdate(t.Context(), backend, backend); len(got) > 0 {
		t.Errorf("scaling warns: %q", got)
	}
	if got := newStatusStrategy(main).WarningsOnUpdate(t.Context(), backend, backend); len(got) > 0 {
		t.Errorf("a status warns: %q", got)
	}
}
