/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	typedauthorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// rightsCheckName is the check's name on /readyz and below it.
const rightsCheckName = "rights"

// How long after a refusal the rights are looked at again: at first soon, because
// roles are often applied just after the server; then about as often as the
// informers that wait for the same rights try again.
const (
	firstRightsDelay = time.Second
	lastRightsDelay  = 30 * time.Second
)

// errRightsUnknown is the state before the first answer of the cluster.
var errRightsUnknown = errors.New("the rights of this server are not known yet")

// Reviewer asks the cluster what the user of a client may do.
type Reviewer = typedauthorizationv1.SelfSubjectAccessReviewInterface

// RightsCheck compares what the server may do in the cluster with what it needs.
// It says once, in one line, what is missing, and is the readiness check that
// fails with the same text: without its rights a server hangs in writes, and the
// library's own checks do not say why. It looks again until nothing is missing, so
// granting a right is all that is needed, and is content from then on. Once nothing
// is missing that readiness needs, it stays ready, whatever is taken away later: an API
// that goes away blocks the deletion of every namespace of the cluster.
//
// Its methods may be called concurrently, but only one of WaitToStart and Run at
// a time.
type RightsCheck struct {
	rights   []Right
	reviewer func(Asker) Reviewer
	clock    clock.Clock

	mu sync.Mutex
	// err is what the readiness check answers.
	err error
	// passed says that err stays nil.
	passed bool
	// done says that there is nothing left to look for.
	done bool
	// said is the description that was logged last.
	said string
}

// NewRightsCheck returns a check of the given rights, which has not asked yet.
// reviewer returns a client of the user that needs the rights of an asker.
func NewRightsCheck(rights []Right, reviewer func(Asker) Reviewer, c clock.Clock) *RightsCheck {
	return &RightsCheck{rights: rights, reviewer: reviewer, clock: c, err: errRightsUnknown}
}

// WaitToStart asks, and returns when no right is missing without which the server
// cannot be made. It waits for those, and for a cluster that does not answer,
// instead of ending the process: restarting does not help. The error is that of
// the context.
func (c *RightsCheck) WaitToStart(ctx context.Context) error {
	return c.until(ctx, func(missing []Right) bool {
		return !slices.ContainsFunc(missing, func(r Right) bool { return r.Without == Unstarted })
	})
}

// Run asks until nothing is missing or ctx ends.
func (c *RightsCheck) Run(ctx context.Context) {
	// What ends it early is the end of the server, which others report.
	_ = c.until(ctx, func(missing []Right) bool { return len(missing) == 0 })
}

// Name implements healthz.HealthChecker.
func (c *RightsCheck) Name() string {
	return rightsCheckName
}

// Check implements healthz.HealthChecker.
func (c *RightsCheck) Check(*http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// until asks with growing delays until the answer is good enough.
func (c *RightsCheck) until(ctx context.Context, enough func(missing []Right) bool) error {
	logger := klog.FromContext(ctx)
	delay := wait.Backoff{Duration: firstRightsDelay, Cap: lastRightsDelay, Factor: 2, Jitter: 0.1, Steps: 8}.DelayFunc()
	for !c.isDone() {
		missing, err := c.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case apierrors.IsForbidden(err):
			// Nothing is known to be missing, and never will be.
			logger.Error(err, "The server may not ask for its own rights, so missing ones show only in what fails")
			c.settle()
			return nil
		case err != nil:
			logger.Error(err, "Asking the cluster for the rights of this server failed")
			c.fail(err)
		default:
			c.judge(logger, missing)
			if enough(missing) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.clock.After(delay()):
		}
	}
	return nil
}

// ask returns the rights that are missing, each with the verbs that are refused.
func (c *RightsCheck) ask(ctx context.Context) ([]Right, error) {
	var missing []Right
	for _, r := range c.rights {
		var refused []string
		for _, verb := range r.Verbs {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
				},
			}}
			answer, err := c.reviewer(r.Asker).Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return nil, fmt.Errorf("ask for the right to %s %s: %w", verb, r, err)
			}
			if !answer.Status.Allowed {
				refused = append(refused, verb)
			}
		}
		if len(refused) > 0 {
			r.Verbs = refused
			missing = append(missing, r)
		}
	}
	return missing, nil
}

// judge keeps the answer for the readiness check and logs it when it is news.
func (c *RightsCheck) judge(logger klog.Logger, missing []Right) {
	if len(missing) == 0 {
		if c.settle() {
			logger.Info("The server has all rights in the cluster that were missing")
		}
		return
	}
	text := describeMissing(missing, c.whole(missing))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed = c.passed || !slices.ContainsFunc(missing, func(r Right) bool { return r.Without > Degraded })
	c.err = nil
	if !c.passed {
		c.err = errors.New(text)
	}
	if text != c.said {
		logger.Error(nil, "Rights in the cluster are missing", "detail", text, "ready", c.passed)
		c.said = text
	}
}

// whole returns the rights of the list as they are needed.
func (c *RightsCheck) whole(missing []Right) []Right {
	return slices.DeleteFunc(slices.Clone(c.rights), func(r Right) bool {
		return !slices.ContainsFunc(missing, func(m Right) bool { return m.Asker == r.Asker && m.String() == r.String() })
	})
}

// settle ends the check as passed, and reports whether something was missing.
func (c *RightsCheck) settle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.passed, c.err = true, true, nil
	return c.said != ""
}

// fail keeps why there is no answer, unless there was one before.
func (c *RightsCheck) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, errRightsUnknown) {
		c.err = fmt.Errorf("%w: %w", errRightsUnknown, err)
	}
}

func (c *RightsCheck) isDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}
