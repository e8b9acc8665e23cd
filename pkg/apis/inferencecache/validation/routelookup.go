/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

const (
	// maxTokens is the longest prompt that can be asked about: the greatest
	// context that an engine is known to serve.
	maxTokens = 1 << 20
	// maxBlocks is the longest chain: maxTokens in the smallest usual blocks, of
	// 16 tokens.
	maxBlocks = maxTokens / 16
	// maxIdentityLength bounds the texts that name what is asked about, in bytes.
	maxIdentityLength = 1024
	// maxReported bounds how many bad elements of one list are named; a list of a
	// million bad ids is one mistake.
	maxReported = 10
)

const blockHashDetail = "must be 16 lower-case hex digits"

// isBlockHash reports whether text is the written form of a block key: 64 bits,
// most significant digit first. Chains are long, hence a loop and no pattern.
func isBlockHash(text string) bool {
	if len(text) != 16 {
		return false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// ValidateRouteLookup returns every violation in a RouteLookup. Its name is free,
// because it is never stored.
func ValidateRouteLookup(lookup *inferencecache.RouteLookup) field.ErrorList {
	spec, path := &lookup.Spec, field.NewPath("spec")
	var errs field.ErrorList
	if spec.ModelID == "" {
		errs = append(errs, field.Required(path.Child("modelID"), "name the model that will serve the prompt"))
	}
	errs = append(errs, validateIdentity(spec.ModelID, path.Child("modelID"))...)
	errs = append(errs, validateIdentity(spec.TenantID, path.Child("tenantID"))...)
	errs = append(errs, validateIdentity(spec.HashScheme, path.Child("hashScheme"))...)
	errs = append(errs, validateIdentity(spec.AdapterID, path.Child("adapterID"))...)
	errs = append(errs, validateIdentity(spec.CacheSalt, path.Child("cacheSalt"))...)
	errs = append(errs, validatePromptForm(spec, path)...)
	errs = append(errs, validateTokenIDs(spec.TokenIDs, path.Child("tokenIDs"))...)
	errs = append(errs, validateChain(spec, path)...)
	if spec.PrefixHash != "" && !isBlockHash(spec.PrefixHash) {
		errs = append(errs, field.Invalid(path.Child("prefixHash"), spec.PrefixHash, blockHashDetail))
	}
	return append(errs, validateAtLeast(spec.TopK, 1, path.Child("topK"))...)
}

func validateIdentity(text string, path *field.Path) field.ErrorList {
	if len(text) <= maxIdentityLength {
		return nil
	}
	return field.ErrorList{field.TooLong(path, text, maxIdentityLength)}
}

// validatePromptForm wants the prompt in one form. Two forms could disagree, and
// an answer to either would be wrong for the other.
func validatePromptForm(spec *inferencecache.RouteLookupSpec, path *field.Path) field.ErrorList {
	forms := []struct {
		name  string
		given bool
	}{
		{"blockHashes", len(spec.BlockHashes) > 0},
		{"prefixHash", spec.PrefixHash != ""},
		{"tokenIDs", len(spec.TokenIDs) > 0},
	}
	var errs field.ErrorList
	first := ""
	for _, form := range forms {
		switch {
		case form.given && first == "":
			first = form.name
		case form.given:
			errs = append(errs, field.Forbidden(path.Child(form.name), "exactly one of tokenIDs, blockHashes and prefixHash may be set, and "+first+" is; remove one of them"))
		}
	}
	if first == "" {
		errs = append(errs, field.Required(path, "set exactly one of tokenIDs, blockHashes and prefixHash"))
	}
	return errs
}

func validateTokenIDs(ids []int64, path *field.Path) field.ErrorList {
	if len(ids) > maxTokens {
		return field.ErrorList{field.TooMany(path, len(ids), maxTokens)}
	}
	return validateElements(ids, path, func(id int64) string {
		if id < 0 || id > math.MaxUint32 {
			return fmt.Sprintf("must be from 0 to %d", uint32(math.MaxUint32))
		}
		return ""
	})
}

func validateChain(spec *inferencecache.RouteLookupSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	hashes, counts := path.Child("blockHashes"), path.Child("blockTokenCounts")
	if len(spec.BlockHashes) > maxBlocks {
		errs = append(errs, field.TooMany(hashes, len(spec.BlockHashes), maxBlocks))
	} else {
		errs = append(errs, validateElements(spec.BlockHashes, hashes, func(hash string) string {
			if !isBlockHash(hash) {
				return blockHashDetail
			}
			return ""
		})...)
	}
	switch given := len(spec.BlockTokenCounts); {
	case given == 0:
		return errs
	case given != len(spec.BlockHashes):
		return append(errs, field.Invalid(counts, given, fmt.Sprintf("must have one count for each of the %d entries of blockHashes, or be left out", len(spec.BlockHashes))))
	}
	return append(errs, validateElements(spec.BlockTokenCounts, counts, func(count int64) string {
		if count < 1 || count > maxTokens {
			return fmt.Sprintf("must be from 1 to %d", maxTokens)
		}
		return ""
	})...)
}

// validateElements names the elements of which fault has something to say, up to
// a bound.
func validateElements[T any](items []T, path *field.Path, fault func(T) string) field.ErrorList {
	var errs field.ErrorList
	for i, item := range items {
		detail := fault(item)
		if detail == "" {
			continue
		}
		if len(errs) == maxReported {
			return append(errs, field.Invalid(path, len(items), "has more entries at fault than are listed here"))
		}
		errs = append(errs, field.Invalid(path.Index(i), item, detail))
	}
	return errs
}
