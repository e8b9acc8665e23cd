/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registration

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyadmissionregistrationv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	admissionregistrationclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// fieldManager is who manages the bundle.
	fieldManager = "inference-cache-manager"
	// lookAgain is how often the configuration is looked at when nothing has changed
	// here: who applies its manifest anew may have taken the bundle away.
	lookAgain = time.Minute
	// tryAgain is the wait after a failure.
	tryAgain = 5 * time.Second
	// roundTimeout bounds one look.
	roundTimeout = 20 * time.Second
)

// Authority is whose bundle is published.
type Authority interface {
	// Bundle returns the certificates as PEM, nil before there are any.
	Bundle() []byte
	// Refresh learns the latest.
	Refresh(context.Context) error
	// OnChange adds a function that is called after a change and must not block.
	OnChange(func())
}

// Config is what a Publisher needs. The rights to get and patch the configuration
// are needed.
type Config struct {
	// Configurations are those of the cluster.
	Configurations admissionregistrationclient.MutatingWebhookConfigurationInterface
	// Name is that of the configuration.
	Name string
	// Service is the one by which the cluster reaches us.
	Service types.NamespacedName
	// Clock is the time of everything.
	Clock clock.Clock
}

// Publisher keeps a bundle published. Its methods may be called concurrently.
type Publisher struct {
	config    Config
	authority Authority
	changed   chan struct{}
	// seen is the bundle that the cluster was seen to have; nil before the first look.
	seen atomic.Pointer[state]
	// said is what was logged last.
	said string
}

// state is what was seen of a configuration.
type state struct {
	// ours says that a webhook of the configuration leads to us; nobody verifies us
	// otherwise.
	ours   bool
	bundle []byte
}

// New returns a Publisher that follows nobody yet.
func New(config Config) *Publisher {
	return &Publisher{config: config, changed: make(chan struct{}, 1)}
}

// Follow makes the Publisher publish the bundle of an authority. It must be called
// before Start.
func (p *Publisher) Follow(authority Authority) {
	p.authority = authority
	authority.OnChange(func() {
		select {
		case p.changed <- struct{}{}:
		default:
		}
	})
}

// Published reports whether the cluster was seen to have a bundle, or to reach nobody
// through the configuration. It is false before the first look.
func (p *Publisher) Published(bundle []byte) bool {
	seen := p.seen.Load()
	return seen != nil && (!seen.ours || bytes.Equal(seen.bundle, bundle))
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica signs
// by the bundle that it has seen published.
func (p *Publisher) NeedLeaderElection() bool { return false }

// Start publishes until ctx ends. It implements manager.Runnable.
func (p *Publisher) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		pause := lookAgain
		if err := p.round(ctx); err != nil {
			pause = tryAgain
		}
		timer := p.config.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-p.changed:
		case <-timer.C():
		}
		timer.Stop()
	}
	return nil
}

// round publishes once and says what is in the way, when that is news.
func (p *Publisher) round(ctx context.Context) error {
	logger := klog.FromContext(ctx).WithName("webhook-registration")
	bounded, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	err := p.publish(bounded)
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == p.said || ctx.Err() != nil:
	case err != nil:
		logger.Error(err, "The webhook's certificate authority was not published: Pods are created without being wired")
	default:
		logger.Info("The webhook's certificate authority is published again")
	}
	p.said = text
	return err
}

// publish brings the bundle into the configuration, if it is not there.
func (p *Publisher) publish(ctx context.Context) error {
	if len(p.authority.Bundle()) == 0 {
		return nil
	}
	current, err := p.config.Configurations.Get(ctx, p.config.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		p.seen.Store(&state{})
		return nil
	}
	if err != nil {
		return fmt.Errorf("read MutatingWebhookConfiguration %s: %w", p.config.Name, err)
	}
	if p.holds(current) {
		return nil
	}
	// Before a replica that is behind undoes what another has published.
	if err := p.authority.Refresh(ctx); err != nil {
		return fmt.Errorf("learn the latest authority before publishing: %w", err)
	}
	if p.holds(current) {
		return nil
	}
	wanted := applyadmissionregistrationv1.MutatingWebhookConfiguration(p.config.Name).
		WithUID(current.UID).WithResourceVersion(current.ResourceVersion)
	for i := range current.Webhooks {
		if webhook := &current.Webhooks[i]; p.leadsHere(webhook) {
			wanted = wanted.WithWebhooks(applyadmissionregistrationv1.MutatingWebhook().WithName(webhook.Name).
				WithClientConfig(applyadmissionregistrationv1.WebhookClientConfig().WithCABundle(p.authority.Bundle()...)))
		}
	}
	applied, err := p.config.Configurations.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: fieldManager})
	if apierrors.IsConflict(err) {
		p.holds(current)
		return fmt.Errorf("the bundle of MutatingWebhookConfiguration %s is managed by somebody else; leave clientConfig.caBundle out of what that applies: %w", p.config.Name, err)
	}
	if err != nil {
		return fmt.Errorf("publish in MutatingWebhookConfiguration %s: %w", p.config.Name, err)
	}
	p.holds(applied)
	return nil
}

// holds notes what a configuration has, and reports whether nothing is missing.
func (p *Publisher) holds(configuration *admissionregistrationv1.MutatingWebhookConfiguration) bool {
	now := &state{}
	for i := range configuration.Webhooks {
		webhook := &configuration.Webhooks[i]
		if !p.leadsHere(webhook) {
			continue
		}
		if !now.ours || !bytes.Equal(webhook.ClientConfig.CABundle, p.authority.Bundle()) {
			now.ours, now.bundle = true, webhook.ClientConfig.CABundle
		}
	}
	p.seen.Store(now)
	return !now.ours || bytes.Equal(now.bundle, p.authority.Bundle())
}

// leadsHere tells whether a webhook is ours.
func (p *Publisher) leadsHere(webhook *admissionregistrationv1.MutatingWebhook) bool {
	service := webhook.ClientConfig.Service
	return service != nil && service.Namespace == p.config.Service.Namespace && service.Name == p.config.Service.Name
}
