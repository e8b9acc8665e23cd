/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// firstRetry and lastRetry bound the waits between failures. A cluster that
	// comes back finds no crowd, and a repaired Secret is soon seen.
	firstRetry = time.Second
	lastRetry  = time.Minute

	// longestRest is how long the Secret is not looked at when nothing is due. What
	// other replicas change in it may be known much later without harm.
	longestRest = 5 * time.Minute
	// shortestRest keeps lifetimes of seconds from becoming a busy loop.
	shortestRest = time.Second
	// restShare is which part of the life of an authority the Secret is not looked at
	// when lives are short: some looks fall into every stage of a rotation.
	restShare = 10 * propagationShare

	// attemptTimeout bounds one exchange with the cluster.
	attemptTimeout = 30 * time.Second
)

// Prepare returns when there is a serving certificate, or with the context's
// error. It says what it waits for.
func (r *Rotator) Prepare(ctx context.Context) error {
	retry := r.newRetry()
	for {
		err := r.attempt(ctx)
		if cert, _ := r.CurrentCertKeyContent(); cert != nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.config.Logger.Error(err, "Waiting for a certificate authority in the cluster", "namespace", r.config.Namespace, "secret", r.config.Name)
		if err := r.rest(ctx, retry()); err != nil {
			return err
		}
	}
}

// Run keeps the certificates fresh until ctx ends.
func (r *Rotator) Run(ctx context.Context) {
	retry := r.newRetry()
	for r.rest(ctx, r.untilNext()) == nil {
		err := r.attempt(ctx)
		for ; err != nil && ctx.Err() == nil; err = r.attempt(ctx) {
			r.config.Logger.Error(err, "Keeping the certificate authority failed; going on with the last one that is known",
				"namespace", r.config.Namespace, "secret", r.config.Name)
			if r.rest(ctx, min(retry(), r.untilRenewal())) != nil {
				return
			}
		}
		retry = r.newRetry()
	}
}

func (r *Rotator) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return r.Refresh(ctx)
}

func (r *Rotator) newRetry() wait.DelayFunc {
	return wait.Backoff{Duration: firstRetry, Cap: lastRetry, Factor: 2, Jitter: 0.2, Steps: 7}.DelayFunc()
}

// untilNext returns how long there is nothing to do.
func (r *Rotator) untilNext() time.Duration {
	rest := max(min(longestRest, r.config.Lifetimes.CA/restShare), shortestRest)
	// Replicas do not look all at once.
	rest -= time.Duration(r.config.Jitter() * float64(rest) / 4)
	r.mu.Lock()
	again := r.again
	r.mu.Unlock()
	if !again.IsZero() {
		rest = min(rest, again.Sub(r.config.Clock.Now()))
	}
	return max(min(rest, r.untilRenewal()), shortestRest/2)
}

// untilRenewal returns how long the serving certificate stays. One that cannot be
// replaced yet waits for the next look.
func (r *Rotator) untilRenewal() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaf == nil {
		return shortestRest
	}
	if rest := r.leaf.renewal.Sub(r.config.Clock.Now()); rest > 0 {
		return rest
	}
	return longestRest
}

// rest waits, and returns the context's error if that ends first.
func (r *Rotator) rest(ctx context.Context, d time.Duration) error {
	timer := r.config.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}
