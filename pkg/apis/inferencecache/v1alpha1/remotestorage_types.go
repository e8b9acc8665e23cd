/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// StorageProvider is the technology of a remote store.
// +enum
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
// +enum
type StorageOwnership string

const (
	// StorageOwnershipManaged stores are provisioned by the controller.
	StorageOwnershipManaged StorageOwnership = "Managed"
	// StorageOwnershipExternal stores exist already; the controller only uses
	// their endpoint.
	StorageOwnershipExternal StorageOwnership = "External"
)

// RedisAuth says how a managed Redis is protected.
// +enum
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
	// provider is the technology of the store: Redis, LMCacheServer or Mooncake.
	Provider StorageProvider `json:"provider"`

	// ownership says who runs the store. Managed: the controller provisions it.
	// External: it exists already and endpoint says where.
	Ownership StorageOwnership `json:"ownership"`

	// endpoint is where an External store listens, as host:port. LMCacheServer
	// also takes lm://host:port and Mooncake mooncakestore://host:port. Required
	// with External; not allowed with Managed, whose endpoint appears in status.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// passwordSecretRef names the key of a Secret in this namespace that holds
	// the password of an External store. Not allowed with Managed, whose password
	// is the provider's own matter.
	// +optional
	PasswordSecretRef *SecretKeyReference `json:"passwordSecretRef,omitempty"`

	// redis configures a managed Redis.
	// +optional
	Redis *RedisStorage `json:"redis,omitempty"`

	// lmCacheServer configures a managed LMCache server.
	// +optional
	LMCacheServer *LMCacheServerStorage `json:"lmCacheServer,omitempty"`

	// mooncake configures a managed Mooncake master.
	// +optional
	Mooncake *MooncakeStorage `json:"mooncake,omitempty"`
}

// SecretKeyReference names one key of a Secret in the namespace of the object
// that refers to it.
// +structType=atomic
type SecretKeyReference struct {
	// name is the name of the Secret.
	Name string `json:"name"`

	// key is the key within the Secret's data.
	Key string `json:"key"`
}

// RedisStorage configures a managed Redis.
type RedisStorage struct {
	// image is the image of the server. The provider's pinned default is used
	// when it is empty.
	// +optional
	Image string `json:"image,omitempty"`

	// resources are the resources of the server's container. When absent, 4Gi of
	// memory are requested and 8Gi are the limit; an empty object asks for none.
	// The memory limit also sizes the keyspace.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// auth says how the server is protected: Generated makes a password and keeps
	// it in a Secret, None runs without one. Generated is used when it is empty.
	// +optional
	Auth RedisAuth `json:"auth,omitempty"`
}

// LMCacheServerStorage configures a managed LMCache server.
type LMCacheServerStorage struct {
	// image is the image of the server. The provider's pinned default is used
	// when it is empty. It must speak the protocol of the engine's LMCache.
	// +optional
	Image string `json:"image,omitempty"`

	// command replaces the command of the server. When given it has at least one
	// part and no part is blank.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`

	// resources are the resources of the server's container. When absent, 4Gi of
	// memory are requested and 8Gi are the limit; an empty object asks for none.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// MooncakeStorage configures a managed Mooncake master.
type MooncakeStorage struct {
	// image is the image of the master. The provider's pinned default is used
	// when it is empty.
	// +optional
	Image string `json:"image,omitempty"`

	// command replaces the command of the master. When given it has at least one
	// part and no part is blank.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`

	// resources are the resources of the master's container. When absent, 4Gi of
	// memory are requested and 8Gi are the limit; an empty object asks for none.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}
