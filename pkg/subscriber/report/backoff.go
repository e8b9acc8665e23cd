/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"math/rand/v2"
	"time"
)

// Bounds of the pause between two attempts of a session.
const (
	backoffMin = 100 * time.Millisecond
	backoffMax = 5 * time.Second
)

// backoff is the pause before the next attempt, doubled with every failure. The
// zero value is the first pause.
type backoff struct{ last time.Duration }

// next returns the next pause, between half of it and all of it, so that the
// sidecars of a fleet do not come back in step.
func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, backoffMin), backoffMax)
	return b.last/2 + rand.N(b.last/2+1)
}

func (b *backoff) reset() { b.last = 0 }
