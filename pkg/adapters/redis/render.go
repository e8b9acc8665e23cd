/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"strconv"

	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// DefaultImage is the image of a managed Redis.
	DefaultImage = "docker.io/library/redis:7.4-alpine"
	// Port is the port of a managed Redis.
	Port int32 = 6379

	containerName = "redis-l2"
	// user is the user that the image makes for the server. Any other does too:
	// nothing is written.
	user int64 = 999
)

// Render returns the objects of a managed Redis. It fails for a backend whose store
// is none, and for one that generates a password when Input.Password is empty.
func Render(in workload.Input) (workload.Objects, error) {
	storage, err := in.Storage(v1alpha1.StorageProviderRedis)
	if err != nil {
		return workload.Objects{}, err
	}
	settings := ptr.Deref(storage.Redis, v1alpha1.RedisStorage{})
	server := workload.Server{
		Provider:   v1alpha1.StorageProviderRedis,
		Name:       containerName,
		Image:      settings.Image,
		Args:       args(settings),
		Resources:  settings.Resources,
		Ports:      []workload.Port{{Name: "redis", Number: Port}},
		ReadyDelay: 3,
		User:       user,
		Password:   generated(settings.Auth),
	}
	if server.Image == "" {
		server.Image = DefaultImage
	}
	return workload.Render(in, server)
}

// args start a Redis that keeps everything in memory and within four fifths of its
// limit, so that the rest is left for connections and fragmentation. The password
// stands in no argument: the kubelet puts it there from the variable.
func args(settings v1alpha1.RedisStorage) []string {
	limit := workload.MemoryLimit(settings.Resources)
	args := []string{
		"redis-server",
		"--save", "",
		"--appendonly", "no",
		"--protected-mode", "no",
		"--maxmemory", strconv.FormatInt(limit-limit/5, 10),
		"--maxmemory-policy", "allkeys-lru",
	}
	if generated(settings.Auth) {
		args = append(args, "--requirepass", "$("+workload.PasswordEnv+")")
	}
	return args
}

// generated says whether a Redis makes a password: unless it is told not to, since
// its clients can log in.
func generated(auth v1alpha1.RedisAuth) bool {
	return auth != v1alpha1.RedisAuthNone
}

// GeneratesPassword says whether the managed Redis of a backend makes a password.
func GeneratesPassword(storage *v1alpha1.RemoteStorage) bool {
	return storage != nil && storage.Ownership == v1alpha1.StorageOwnershipManaged &&
		storage.Provider == v1alpha1.StorageProviderRedis &&
		generated(ptr.Deref(storage.Redis, v1alpha1.RedisStorage{}).Auth)
}
