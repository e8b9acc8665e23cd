/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var (
	storageProviders = []inferencecache.StorageProvider{
		inferencecache.StorageProviderRedis, inferencecache.StorageProviderLMCacheServer, inferencecache.StorageProviderMooncake,
	}

	storageOwnerships = []inferencecache.StorageOwnership{
		inferencecache.StorageOwnershipManaged, inferencecache.StorageOwnershipExternal,
	}

	redisAuths = []inferencecache.RedisAuth{inferencecache.RedisAuthGenerated, inferencecache.RedisAuthNone}
)

func validateRemoteStorage(storage *inferencecache.RemoteStorage, adapters Adapters, path *field.Path) field.ErrorList {
	if storage == nil {
		return nil
	}
	errs := validateEnum(storage.Provider, storageProviders, path.Child("provider"))
	errs = append(errs, validateEnum(storage.Ownership, storageOwnerships, path.Child("ownership"))...)
	errs = append(errs, validateEndpointOwnership(storage, path)...)
	errs = append(errs, validatePasswordSecretRef(storage, storeOf(storage, adapters), path.Child("passwordSecretRef"))...)
	return append(errs, validateProviderBlocks(storage, path)...)
}

// validateEndpointOwnership: who runs the store knows its address, so that an
// endpoint is wanted from the operator in exactly one of the two cases. Blanks
// alone count as nothing.
func validateEndpointOwnership(storage *inferencecache.RemoteStorage, path *field.Path) field.ErrorList {
	at := path.Child("endpoint")
	given := strings.TrimSpace(storage.Endpoint) != ""
	switch {
	case storage.Ownership == inferencecache.StorageOwnershipExternal && !given:
		return field.ErrorList{field.Required(at, "ownership External needs it; set it to host:port of the store")}
	case storage.Ownership == inferencecache.StorageOwnershipManaged && given:
		return field.ErrorList{field.Forbidden(at, "not allowed with ownership Managed, whose endpoint appears in status.endpoint; remove it or set ownership External")}
	default:
		return nil
	}
}

func validatePasswordSecretRef(storage *inferencecache.RemoteStorage, store *Store, path *field.Path) field.ErrorList {
	ref := storage.PasswordSecretRef
	if ref == nil {
		return nil
	}
	var errs field.ErrorList
	switch {
	case storage.Ownership == inferencecache.StorageOwnershipManaged:
		errs = append(errs, field.Forbidden(path, "only allowed with ownership External; a managed store has a password of its own"))
	case store != nil && !store.Password:
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("clients of provider %s know no password; remove it", store.Provider)))
	}
	errs = append(errs, validateObjectName(ref.Name, "a Secret of this namespace", path.Child("name"))...)
	return append(errs, validateDataKey(ref.Key, "Secret", path.Child("key"))...)
}

// validateProviderBlocks allows the block of the chosen provider only, and only
// where there is a workload for it to configure.
func validateProviderBlocks(storage *inferencecache.RemoteStorage, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	allowed := func(block string, provider inferencecache.StorageProvider) {
		at := path.Child(block)
		switch {
		case storage.Ownership == inferencecache.StorageOwnershipExternal:
			errs = append(errs, field.Forbidden(at, "not allowed with ownership External, which provisions nothing; remove it"))
		case storage.Provider != provider:
			errs = append(errs, field.Forbidden(at, "only allowed with provider "+string(provider)+"; remove it or change provider"))
		}
	}
	if block := storage.Redis; block != nil {
		allowed("redis", inferencecache.StorageProviderRedis)
		errs = append(errs, validateImage(block.Image, path.Child("redis", "image"))...)
		errs = append(errs, validateResources(block.Resources, path.Child("redis", "resources"))...)
		errs = append(errs, validateOptionalEnum(block.Auth, redisAuths, path.Child("redis", "auth"))...)
	}
	if block := storage.LMCacheServer; block != nil {
		allowed("lmCacheServer", inferencecache.StorageProviderLMCacheServer)
		errs = append(errs, validateImage(block.Image, path.Child("lmCacheServer", "image"))...)
		errs = append(errs, validateResources(block.Resources, path.Child("lmCacheServer", "resources"))...)
		errs = append(errs, validateCommand(block.Command, path.Child("lmCacheServer", "command"))...)
	}
	if block := storage.Mooncake; block != nil {
		allowed("mooncake", inferencecache.StorageProviderMooncake)
		errs = append(errs, validateImage(block.Image, path.Child("mooncake", "image"))...)
		errs = append(errs, validateResources(block.Resources, path.Child("mooncake", "resources"))...)
		errs = append(errs, validateCommand(block.Command, path.Child("mooncake", "command"))...)
	}
	return errs
}

// validateCommand refuses a command that is given and cannot be run.
func validateCommand(command []string, path *field.Path) field.ErrorList {
	if command == nil {
		return nil
	}
	if len(command) == 0 {
		return field.ErrorList{field.Required(path, "give at least one part, or leave it out for the command of the image")}
	}
	var errs field.ErrorList
	for i, part := range command {
		if strings.TrimSpace(part) == "" {
			errs = append(errs, field.Invalid(path.Index(i), part, "must not be blank; remove the part"))
		}
	}
	return errs
}
