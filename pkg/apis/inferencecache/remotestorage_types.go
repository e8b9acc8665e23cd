/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	corev1 "k8s.io/api/core/v1"
)

// StorageProvider is the technology of a remote store.
type StorageProvider string

const (
	// StorageProviderRedis is a Redis server, spoken to in RESP.
	StorageProviderRedis StorageProvider = "Redis"
	// StorageProviderLMCacheServer is LMCache's own server, scheme lm.
	StorageProviderLMCacheServer StorageProvider = "LMCacheServer"
	// StorageProviderMooncake is a Mooncake store, scheme mooncakestore.
	StorageProviderMooncake StorageProvider = "Mooncake"
)

// StorageOwnership says who runs a remote store.
type StorageOwnership string

const (
	// StorageOwnershipManaged stores are provisioned by the controller.
	StorageOwnershipManaged StorageOwnership = "Managed"
	// StorageOwnershipExternal stores exist already; the controller only uses
	// their endpoint.
	StorageOwnershipExternal StorageOwnership = "External"
)

// RedisAuth says how a managed Redis is protected.
type RedisAuth string

const (
	// RedisAuthGenerated gives the server a generated password, kept in a Secret
	// beside it.
	RedisAuthGenerated RedisAuth = "Generated"
	// RedisAuthNone runs the server without a password.
	RedisAuthNone RedisAuth = "None"
)

// RemoteStorage is the remote tier. A Managed store may carry the block that
// belongs to its provider, an External one carries an endpoint instead.
type RemoteStorage struct {
	// Provider is the technology of the store: Redis, LMCacheServer or Mooncake.
	Provider StorageProvider
	// Ownership says who runs the store.
	Ownership StorageOwnership
	// Endpoint is where an External store listens, as host:port.
	Endpoint string
	// PasswordSecretRef names the key of a Secret in this namespace that holds the
	// password of an External store.
	PasswordSecretRef *SecretKeyReference
	// Redis configures a managed Redis.
	Redis *RedisStorage
	// LMCacheServer configures a managed LMCache server.
	LMCacheServer *LMCacheServerStorage
	// Mooncake configures a managed Mooncake master.
	Mooncake *MooncakeStorage
}

// SecretKeyReference names one key of a Secret in the namespace of the object
// that refers to it.
type SecretKeyReference struct {
	// Name is the name of the Secret.
	Name string
	// Key is the key within the Secret's data.
	Key string
}

// RedisStorage configures a managed Redis.
type RedisStorage struct {
	// Image is the image of the server.
	Image string
	// Resources are the resources of the server's container.
	Resources *corev1.ResourceRequirements
	// Auth says how the server is protected: Generated makes a password and keeps
	// it in a Secret, None runs without one.
	Auth RedisAuth
}

// LMCacheServerStorage configures a managed LMCache server.
type LMCacheServerStorage struct {
	// Image is the image of the server.
	Image string
	// Command replaces the command of the server.
	Command []string
	// Resources are the resources of the server's container.
	Resources *corev1.ResourceRequirements
}

// MooncakeStorage configures a managed Mooncake master.
type MooncakeStorage struct {
	// Image is the image of the master.
	Image string
	// Command replaces the command of the master.
	Command []string
	// Resources are the resources of the master's container.
	Resources *corev1.ResourceRequirements
}
