/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/storage"
)

// A version is one positive integer of 63 bits, because clients parse and order
// resourceVersions: 31 bits of epoch above 32 bits of revision.
const (
	revisionBits = 32
	epochMask    = 1<<31 - 1
)

// retryTooLargeSeconds is what a client is told to wait when it asks for a
// revision that this process has not reached.
const retryTooLargeSeconds = 1

// Versions formats and parses the resourceVersions of one process. It is a
// value, safe for concurrent use. The zero value is not usable: see NewVersions.
type Versions struct {
	epoch uint64
}

// NewVersions returns the versions of the given epoch. Only the lower 31 bits
// count; zero stands for one, as a version may never have leading zeros.
func NewVersions(epoch uint32) Versions {
	return Versions{epoch: max(uint64(epoch)&epochMask, 1)}
}

// RandomEpoch draws an epoch for a process. Two replicas of a server, or one
// server before and after a restart, share one with a chance of 1 in 2^31.
func RandomEpoch() uint32 {
	return rand.Uint32()
}

// Format returns the resourceVersion of a revision. Revisions count published
// states; past 2^32-1 the number runs into the next epoch, which clients see as
// an expired version and answer with a new list.
func (v Versions) Format(revision uint64) string {
	return strconv.FormatUint(v.epoch<<revisionBits+revision, 10)
}

// Parse returns the revision of a resourceVersion. A version of another epoch
// is reported as expired (410), text that is no version as a bad request (400).
func (v Versions) Parse(resourceVersion string) (uint64, error) {
	number, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil || number == 0 {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: invalid value %q", resourceVersion))
	}
	if number>>revisionBits != v.epoch {
		return 0, apierrors.NewResourceExpired(fmt.Sprintf(
			"the resourceVersion %s was not made by this server process; list again", resourceVersion))
	}
	return number & (1<<revisionBits - 1), nil
}

// atLeast checks a NotOlderThan request: empty and "0" accept any state, a
// version must be one that this process has reached.
func (v Versions) atLeast(resourceVersion string, current uint64) error {
	if isAny(resourceVersion) {
		return nil
	}
	asked, err := v.Parse(resourceVersion)
	if err != nil {
		return err
	}
	if asked > current {
		return storage.NewTooLargeResourceVersionError(asked, current, retryTooLargeSeconds)
	}
	return nil
}

// exactly checks an Exact request. Soft state keeps no history, so only the
// current revision can be given.
func (v Versions) exactly(resourceVersion string, current uint64) error {
	if err := v.atLeast(resourceVersion, current); err != nil {
		return err
	}
	if asked, err := v.Parse(resourceVersion); err != nil {
		return err
	} else if asked != current {
		return apierrors.NewResourceExpired(fmt.Sprintf("the resourceVersion %s is no longer held", resourceVersion))
	}
	return nil
}

// isAny reports whether a request leaves the choice of the state to the server.
func isAny(resourceVersion string) bool {
	return resourceVersion == "" || resourceVersion == "0"
}
