/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package lmcacheserver

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// DefaultImage is the image of a managed server. It must speak the protocol of the
	// LMCache in the engine's image.
	DefaultImage = "lmcache/standalone:v0.4.7"
	// Port is the port of a managed server.
	Port int32 = 65432

	containerName       = "lmcache-server"
	user          int64 = 65532
)

// Render returns the objects of a managed LMCache server. It fails for a backend
// whose store is none.
func Render(in workload.Input) (workload.Objects, error) {
	storage, err := in.Storage(v1alpha1.StorageProviderLMCacheServer)
	if err != nil {
		return workload.Objects{}, err
	}
	settings := ptr.Deref(storage.LMCacheServer, v1alpha1.LMCacheServerStorage{})
	server := workload.Server{
		Provider:   v1alpha1.StorageProviderLMCacheServer,
		Name:       containerName,
		Image:      settings.Image,
		Command:    []string{"lmcache_server"},
		Args:       []string{"0.0.0.0", strconv.Itoa(int(Port)), "cpu"},
		Env:        env(),
		Resources:  settings.Resources,
		Ports:      []workload.Port{{Name: "lmcache", Number: Port}},
		ReadyDelay: 5,
		Scratch:    true,
		User:       user,
		// A command of the operator's may have to fetch something first.
		Egress: len(settings.Command) > 0,
	}
	if server.Image == "" {
		server.Image = DefaultImage
	}
	if len(settings.Command) > 0 {
		server.Command, server.Args = settings.Command[:1], settings.Command[1:]
	}
	return workload.Render(in, server)
}

// env keeps LMCache from reporting its use to its makers, and gives the libraries
// below it a home and a name for a user that the image does not know.
func env() []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "LMCACHE_TRACK_USAGE", Value: "false"},
		{Name: "HOME", Value: "/tmp"},
		{Name: "USER", Value: "lmcache"},
	}
}
