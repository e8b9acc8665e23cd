/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func TestRemoteStorage(t *testing.T) {
	with := func(storage inferencecache.RemoteStorage) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) { b.Spec.RemoteStorage = &storage }
	}
	const (
		redis, server, mooncake = inferencecache.StorageProviderRedis, inferencecache.StorageProviderLMCacheServer, inferencecache.StorageProviderMooncake
		managed, external       = inferencecache.StorageOwnershipManaged, inferencecache.StorageOwnershipExternal
	)
	runBackendCases(t, map[string]backendCase{
		"managed without a block": {change: with(inferencecache.RemoteStorage{Provider: server, Ownership: managed})},
		"managed with its block": {change: with(inferencecache.RemoteStorage{
			Provider: redis, Ownership: managed, Redis: &inferencecache.RedisStorage{Auth: inferencecache.RedisAuthNone},
		})},
		"managed with a blank endpoint": {change: with(inferencecache.RemoteStorage{Provider: redis, Ownership: managed, Endpoint: "  "})},
		"managed with a command": {change: with(inferencecache.RemoteStorage{
			Provider: mooncake, Ownership: managed, Mooncake: &inferencecache.MooncakeStorage{Command: []string{"master", "-v"}},
		})},
		"external": {change: with(inferencecache.RemoteStorage{
			Provider: redis, Ownership: external, Endpoint: "redis:6379",
			PasswordSecretRef: &inferencecache.SecretKeyReference{Name: "redis", Key: "password"},
		})},
		"nothing chosen": {
			change: with(inferencecache.RemoteStorage{}),
			want: []string{
				`spec.remoteStorage.provider: Required value: set it to one of "Redis", "LMCacheServer", "Mooncake"`,
				`spec.remoteStorage.ownership: Required value: set it to one of "Managed", "External"`,
			},
		},
		"unknown values": {
			change: with(inferencecache.RemoteStorage{Provider: "Valkey", Ownership: "Shared"}),
			want: []string{
				`spec.remoteStorage.provider: Unsupported value: "Valkey": supported values: "Redis", "LMCacheServer", "Mooncake"`,
				`spec.remoteStorage.ownership: Unsupported value: "Shared": supported values: "Managed", "External"`,
			},
		},
		"external without an endpoint": {
			change: with(inferencecache.RemoteStorage{Provider: redis, Ownership: external, Endpoint: "\t"}),
			want:   []string{`spec.remoteStorage.endpoint: Required value: ownership External needs it; set it to host:port of the store`},
		},
		"managed with an endpoint": {
			change: with(inferencecache.RemoteStorage{Provider: redis, Ownership: managed, Endpoint: "redis:6379"}),
			want:   []string{`spec.remoteStorage.endpoint: Forbidden: not allowed with ownership Managed, whose endpoint appears in status.endpoint; remove it or set ownership External`},
		},
		"managed with a password": {
			change: with(inferencecache.RemoteStorage{
				Provider: redis, Ownership: managed, PasswordSecretRef: &inferencecache.SecretKeyReference{Name: "a", Key: "b"},
			}),
			want: []string{`spec.remoteStorage.passwordSecretRef: Forbidden: only allowed with ownership External; a managed store has a password of its own`},
		},
		"password without names": {
			change: with(inferencecache.RemoteStorage{
				Provider: redis, Ownership: external, Endpoint: "redis:6379", PasswordSecretRef: &inferencecache.SecretKeyReference{},
			}),
			want: []string{
				`spec.remoteStorage.passwordSecretRef.name: Required value: name a Secret of this namespace`,
				`spec.remoteStorage.passwordSecretRef.key: Required value: name a key of the Secret`,
			},
		},
		"password with impossible names": {
			change: with(inferencecache.RemoteStorage{
				Provider: redis, Ownership: external, Endpoint: "redis:6379", PasswordSecretRef: &inferencecache.SecretKeyReference{Name: "A", Key: "a/b"},
			}),
			want: []string{
				`spec.remoteStorage.passwordSecretRef.name: Invalid value: "A": ` + dnsSubdomain,
				`spec.remoteStorage.passwordSecretRef.key: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
			},
		},
		"blocks of other providers": {
			change: with(inferencecache.RemoteStorage{
				Provider: redis, Ownership: managed,
				LMCacheServer: &inferencecache.LMCacheServerStorage{}, Mooncake: &inferencecache.MooncakeStorage{},
			}),
			want: []string{
				`spec.remoteStorage.lmCacheServer: Forbidden: only allowed with provider LMCacheServer; remove it or change provider`,
				`spec.remoteStorage.mooncake: Forbidden: only allowed with provider Mooncake; remove it or change provider`,
			},
		},
		"block with external": {
			change: with(inferencecache.RemoteStorage{
				Provider: redis, Ownership: external, Endpoint: "redis:6379", Redis: &inferencecache.RedisStorage{},
			}),
			want: []string{`spec.remoteStorage.redis: Forbidden: not allowed with ownership External, which provisions nothing; remove it`},
		},
		"unknown auth": {
			change: with(inferencecache.RemoteStorage{Provider: redis, Ownership: managed, Redis: &inferencecache.RedisStorage{Auth: "TLS"}}),
			want:   []string{`spec.remoteStorage.redis.auth: Unsupported value: "TLS": supported values: "Generated", "None"`},
		},
		"command without parts": {
			change: with(inferencecache.RemoteStorage{
				Provider: server, Ownership: managed, LMCacheServer: &inferencecache.LMCacheServerStorage{Command: []string{}},
			}),
			want: []string{`spec.remoteStorage.lmCacheServer.command: Required value: give at least one part, or leave it out for the command of the image`},
		},
		"command with a blank part": {
			change: with(inferencecache.RemoteStorage{
				Provider: mooncake, Ownership: managed, Mooncake: &inferencecache.MooncakeStorage{Command: []string{"master", " "}},
			}),
			want: []string{`spec.remoteStorage.mooncake.command[1]: Invalid value: " ": must not be blank; remove the part`},
		},
	})
}
