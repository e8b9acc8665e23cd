/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// credentialsStand is for how long a password that was read is taken for granted
// while its store works.
const credentialsStand = 10 * time.Minute

// credentials reads the passwords of stores. Secrets are not watched, which would
// take the right to read all of them and keep them in memory: each is read by its
// name, seldom while all is well, and whenever something is not. It is safe for
// concurrent use.
type credentials struct {
	live   client.Reader
	now    func() time.Time
	random io.Reader

	mu    sync.Mutex
	known map[types.NamespacedName]credential
	// cleared is the generation of a backend without a password of ours for which it
	// was made sure that an earlier one is gone.
	cleared map[types.NamespacedName]generation
}

// generation is one state of the spec of one object.
type generation struct {
	uid    types.UID
	number int64
}

// credential is a password as it was read.
type credential struct {
	ref      v1alpha1.SecretKeyReference
	owner    types.UID
	password string
	readAt   time.Time
}

// secretState is what came of reading a password.
type secretState struct {
	// password is what the Secret holds, or a new one that it is to hold.
	password string
	// isNew says that the Secret has to be written.
	isNew bool
	// missing says which Secret or key cannot be read, if somebody else has to make
	// it.
	missing string
}

func newCredentials(live client.Reader, now func() time.Time, random io.Reader) *credentials {
	return &credentials{
		live: live, now: now, random: random,
		known: map[types.NamespacedName]credential{}, cleared: map[types.NamespacedName]generation{},
	}
}

// of returns the password of a backend's store. Doubtful asks for what the cluster
// has now.
func (c *credentials) of(ctx context.Context, backend *v1alpha1.CacheBackend, doubtful bool) (secretState, error) {
	ref := stores.PasswordRef(backend)
	if ref == nil {
		return secretState{}, nil
	}
	name := client.ObjectKeyFromObject(backend)
	if known, ok := c.remembered(name); ok && !doubtful && known.ref == *ref && known.owner == backend.UID {
		return secretState{password: known.password}, nil
	}
	secret := &corev1.Secret{}
	err := c.live.Get(ctx, types.NamespacedName{Namespace: backend.Namespace, Name: ref.Name}, secret)
	if err != nil && !apierrors.IsNotFound(err) {
		return secretState{}, fmt.Errorf("read the password of the store: %w", err)
	}
	state, err := c.judge(backend, *ref, secret, err == nil)
	if err != nil {
		return secretState{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, name)
	if !state.isNew && state.missing == "" {
		c.known[name] = credential{ref: *ref, owner: backend.UID, password: state.password, readAt: c.now()}
	}
	return state, nil
}

// judge says what a Secret is good for.
func (c *credentials) judge(backend *v1alpha1.CacheBackend, ref v1alpha1.SecretKeyReference, secret *corev1.Secret, exists bool) (secretState, error) {
	generated := stores.GeneratesPassword(backend)
	switch {
	case exists && generated && !metav1.IsControlledBy(secret, backend):
		return secretState{}, &conflictError{kind: "Secret", name: ref.Name, owner: metav1.GetControllerOf(secret)}
	case exists && len(secret.Data[ref.Key]) > 0:
		return secretState{password: string(secret.Data[ref.Key])}, nil
	case generated:
		password, err := workload.NewPassword(c.random)
		return secretState{password: password, isNew: true}, err
	case exists:
		return secretState{missing: fmt.Sprintf("Secret %s/%s has no key %s", backend.Namespace, ref.Name, ref.Key)}, nil
	default:
		return secretState{missing: fmt.Sprintf("Secret %s/%s does not exist", backend.Namespace, ref.Name)}, nil
	}
}

func (c *credentials) remembered(name types.NamespacedName) (credential, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[name]
	return known, ok && c.now().Sub(known.readAt) < credentialsStand
}

func (c *credentials) forget(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, name)
	delete(c.cleared, name)
}

// surplus returns the Secret of a backend that needs no password of ours any more,
// nil if there is none. It asks once for each generation of the backend, and again
// until settle is called.
func (c *credentials) surplus(ctx context.Context, backend *v1alpha1.CacheBackend) (*corev1.Secret, error) {
	name, now := client.ObjectKeyFromObject(backend), generation{uid: backend.UID, number: backend.Generation}
	c.mu.Lock()
	settled := c.cleared[name] == now
	c.mu.Unlock()
	if settled {
		return nil, nil
	}
	secret := &corev1.Secret{}
	err := c.live.Get(ctx, types.NamespacedName{Namespace: backend.Namespace, Name: workload.PasswordRef(backend).Name}, secret)
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(secret, backend) {
		c.settle(backend)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a password that is not needed any more: %w", err)
	}
	return secret, nil
}

// settle notes that a backend has no Secret that it does not need.
func (c *credentials) settle(backend *v1alpha1.CacheBackend) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleared[client.ObjectKeyFromObject(backend)] = generation{uid: backend.UID, number: backend.Generation}
}
