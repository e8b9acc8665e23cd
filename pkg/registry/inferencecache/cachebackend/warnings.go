/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// floatingTags are the first words of tags that are moved from one build to the
// next by those who publish images.
var floatingTags = []string{"latest", "nightly", "edge", "main", "master", "dev", "devel", "develop", "canary", "stable"}

// WarningsOnCreate returns what is legal in a new object but hurts.
func (s strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return warnings(&obj.(*inferencecache.CacheBackend).Spec, s.adapters)
}

// WarningsOnUpdate returns the same for every write: what hurts goes on hurting.
func (s strategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return warnings(&obj.(*inferencecache.CacheBackend).Spec, s.adapters)
}

// WarningsOnUpdate returns none: who scales has not written what would be warned
// of.
func (scaleStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// warnings returns one line for each thing, sorted, so that equal objects are
// answered alike. Lines stay within the 120 characters that clients show whole,
// so they name the field and never its value.
func warnings(spec *inferencecache.CacheBackendSpec, adapters validation.Adapters) []string {
	lines := integrationWarnings(spec, adapters)
	if storage := spec.RemoteStorage; storage != nil {
		lines = append(lines, storageWarnings(storage)...)
	}
	if spec.LMCache != nil && floats(spec.LMCache.WorkerImage) {
		lines = append(lines, floatingImage("spec.lmCache.workerImage"))
	}
	slices.Sort(lines)
	return lines
}

func integrationWarnings(spec *inferencecache.CacheBackendSpec, adapters validation.Adapters) []string {
	integration := ptr.Deref(spec.Integration, inferencecache.IntegrationSpec{})
	var lines []string
	if storage := spec.RemoteStorage; storage != nil && !integration.EngineHostNetwork && wantsEngineHostNetwork(storage.Provider, adapters) {
		lines = append(lines, "spec.integration.engineHostNetwork: engines off their node's network move no blocks to "+string(storage.Provider)+"; set it to true")
	}
	if !ptr.Deref(integration.FailOpen, true) {
		lines = append(lines, "spec.integration.failOpen: false makes the cache a serving dependency; engines fail when it is unreachable")
	}
	if spec.LMCache != nil && integration.Mode == inferencecache.IntegrationModeEventsOnly {
		lines = append(lines, "spec.lmCache: ignored with integration mode EventsOnly, which wires no cache; remove it")
	}
	return lines
}

func wantsEngineHostNetwork(provider inferencecache.StorageProvider, adapters validation.Adapters) bool {
	return slices.ContainsFunc(adapters.Stores(), func(store validation.Store) bool {
		return store.Provider == provider && store.EngineHostNetwork
	})
}

func storageWarnings(storage *inferencecache.RemoteStorage) []string {
	var lines []string
	container := func(path, image string, resources *corev1.ResourceRequirements) {
		if floats(image) {
			lines = append(lines, floatingImage(path+".image"))
		}
		if resources != nil && len(resources.Limits) == 0 && len(resources.Requests) == 0 {
			lines = append(lines, path+".resources: {} sets no request and no limit; leave it out for the default")
		}
	}
	if block := storage.Redis; block != nil {
		container("spec.remoteStorage.redis", block.Image, block.Resources)
	}
	if block := storage.LMCacheServer; block != nil {
		container("spec.remoteStorage.lmCacheServer", block.Image, block.Resources)
	}
	if block := storage.Mooncake; block != nil {
		container("spec.remoteStorage.mooncake", block.Image, block.Resources)
	}
	if storage.Ownership == inferencecache.StorageOwnershipExternal && clusterIP(storage.Endpoint) {
		lines = append(lines, "spec.remoteStorage.endpoint: looks like a ClusterIP, which changes with its Service; use the Service's name")
	}
	return lines
}

func floatingImage(path string) string {
	return path + ": the tag can move to a build clients cannot talk to; use a version or digest"
}

// floats tells whether an image may be another one tomorrow. A digest fixes it,
// whatever the tag says.
func floats(image string) bool {
	if image == "" || strings.Contains(image, "@") {
		return false
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	word, _, _ := strings.Cut(tag, "-")
	return !tagged || slices.Contains(floatingTags, word)
}

// clusterIP tells whether an endpoint is an address as clusters give them to
// Services: a literal out of a private range.
func clusterIP(endpoint string) bool {
	address := strings.TrimSpace(endpoint)
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	parsed, err := netip.ParseAddrPort(address)
	return err == nil && parsed.Addr().IsPrivate()
}
