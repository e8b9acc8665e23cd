/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"bytes"
	"crypto/tls"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	testingclock "k8s.io/utils/clock/testing"
)

func TestFirstCertificate(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	if cert, key := r.CurrentCertKeyContent(); cert != nil || key != nil || r.Bundle() != nil {
		t.Error("there is a certificate before the first one")
	}
	changes := 0
	r.OnChange(func() { changes++ })
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	cert := serving(t, r)
	for _, at := range []time.Time{epoch.Add(-clockSkew), epoch, epoch.Add(leafLife)} {
		verify(t, cert, r.Bundle(), at)
	}
	if want := epoch.Add(leafLife); !cert.NotAfter.Equal(want) {
		t.Errorf("ends at %v, want %v", cert.NotAfter, want)
	}
	if _, err := tls.X509KeyPair(r.CurrentCertKeyContent()); err != nil {
		t.Error(err)
	}
	refresh(t, r)
	if changes != 1 || s.count("create") != 1 || s.count("update") != 0 {
		t.Errorf("%d changes were told, calls %q", changes, s.calls)
	}
}

// TestServingCertificateIsReplaced walks through the life of an authority that
// cannot be replaced, as nobody publishes its successor.
func TestServingCertificateIsReplaced(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, func([]byte) bool { return false })
	refresh(t, r)
	var renewals []time.Duration
	for now := time.Duration(0); now < caLife; now += time.Hour {
		c.SetTime(epoch.Add(now))
		before := serving(t, r)
		refresh(t, r)
		cert := serving(t, r)
		verify(t, cert, r.Bundle(), c.Now())
		if cert.NotAfter.After(r.authority.signer.cert.NotAfter) {
			t.Fatalf("at %s the certificate outlives its authority", now)
		}
		if !cert.Equal(before) {
			renewals = append(renewals, now)
		}
	}
	for i := 1; i < len(renewals); i++ {
		if gap := renewals[i] - renewals[i-1]; gap != leafLife/3*2 && renewals[i] < caLife-leafLife {
			t.Errorf("replaced at %s and %s", renewals[i-1], renewals[i])
		}
	}
	// A certificate each 40 of 1200 hours, and none more for an end that stays.
	if len(renewals) < 28 || len(renewals) > 30 {
		t.Errorf("replaced %d times: %v", len(renewals), renewals)
	}
}

// TestReplicasRotateTogether lets replicas that refresh all at once go through two
// rotations. Whatever any of them shows must be verified by what was published
// before, and they must agree on everything.
func TestReplicasRotateTogether(t *testing.T) {
	const replicas = 4
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	// What those who verify trust; they look once in a step.
	var mu sync.Mutex
	var published []byte
	seen := func(bundle []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Equal(published, bundle)
	}
	var all []*Rotator
	for range replicas {
		all = append(all, replica(t, s, c, seen))
	}
	signers := map[string]bool{}
	for step := range 250 {
		c.SetTime(epoch.Add(time.Duration(step) * 10 * time.Hour))
		var group sync.WaitGroup
		for _, r := range all {
			group.Go(func() {
				if err := r.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if step == 0 {
			published = all[0].Bundle()
		}
		for _, r := range all {
			// One that was faster than the rest has yet to see what they did.
			refresh(t, r)
			verify(t, serving(t, r), published, c.Now())
			if diff := cmp.Diff(string(all[0].Bundle()), string(r.Bundle())); diff != "" {
				t.Fatalf("step %d: replicas differ:\n%s", step, diff)
			}
		}
		if trusted := len(s.stored(t).trusted); trusted > 2 {
			t.Errorf("step %d: %d authorities are trusted", step, trusted)
		}
		signers[string(s.stored(t).signer.certPEM)] = true
		mu.Lock()
		published = all[0].Bundle()
		mu.Unlock()
	}
	if len(signers) != 3 {
		t.Errorf("%d authorities have signed in two lives, want 3", len(signers))
	}
	if n := s.count("create"); n > replicas {
		t.Errorf("%d creations", n)
	}
}

func TestClusterAway(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	s.fail(errors.New("refused"))
	if err := r.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "read Secret ns/ca: refused") {
		t.Errorf("error %v does not name the Secret", err)
	}
	s.fail(nil)
	refresh(t, r)
	first, bundle := serving(t, r), r.Bundle()
	s.fail(errors.New("refused"))
	for _, tc := range []struct {
		after    time.Duration
		replaced bool
	}{{after: leafLife / 3}, {after: leafLife, replaced: true}, {after: 2 * leafLife, replaced: true}} {
		c.SetTime(epoch.Add(tc.after))
		if err := r.Refresh(t.Context()); err == nil {
			t.Error("no error")
		}
		cert := serving(t, r)
		verify(t, cert, bundle, c.Now())
		if replaced := !cert.Equal(first); replaced != tc.replaced {
			t.Errorf("after %s: replaced %t, want %t", tc.after, replaced, tc.replaced)
		}
	}
}

func TestDamagedSecret(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	refresh(t, r)
	cert, bundle := serving(t, r), r.Bundle()
	whole := s.secret.DeepCopy()
	damaged := whole.DeepCopy()
	damaged.Data["tls.key"] = []byte("x")
	const want = "the certificate authority in Secret ns/ca cannot be used: key tls.key holds no PEM block of a private key in PKCS #8; " +
		"restore the Secret, or delete it to have it made again"
	for name, secret := range map[string]*corev1.Secret{"damaged": damaged, "empty": {}} {
		s.set(secret)
		err := r.Refresh(t.Context())
		if _, ok := errors.AsType[*SecretError](err); !ok || name == "damaged" && err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
		if fresh := replica(t, s, c, nil); fresh.Refresh(t.Context()) == nil || fresh.Bundle() != nil {
			t.Errorf("%s: a new replica takes it", name)
		}
		if !serving(t, r).Equal(cert) || !bytes.Equal(r.Bundle(), bundle) {
			t.Errorf("%s: the replica gave up what it had", name)
		}
	}
	if s.count("update") != 0 || s.count("create") != 1 {
		t.Errorf("a damaged Secret was written to: %q", s.calls)
	}
	s.set(whole)
	refresh(t, r)
}

// TestDeletedSecret deletes the Secret under two running replicas. A third that
// comes up before they notice makes another authority; nobody is cut off by it.
func TestDeletedSecret(t *testing.T) {
	tests := map[string]struct {
		fresh bool
	}{"made again by who knows it": {}, "made again by who does not": {fresh: true}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := &secrets{}, testingclock.NewFakeClock(epoch)
			all := []*Rotator{replica(t, s, c, nil), replica(t, s, c, nil)}
			for _, r := range all {
				refresh(t, r)
			}
			old, before := all[0].Bundle(), serving(t, all[0])
			s.set(nil)
			if tc.fresh {
				all = append([]*Rotator{replica(t, s, c, nil)}, all...)
			}
			for range 2 {
				for _, r := range all {
					refresh(t, r)
				}
			}
			for _, r := range all {
				verify(t, before, r.Bundle(), c.Now())
				verify(t, serving(t, r), r.Bundle(), c.Now())
				if !bytes.Equal(r.Bundle(), all[0].Bundle()) {
					t.Error("replicas differ")
				}
				if !tc.fresh {
					verify(t, serving(t, r), old, c.Now())
				}
			}
			if n := len(s.stored(t).trusted); n != 2 {
				t.Errorf("%d authorities are trusted, want the old one and another", n)
			}
		})
	}
}
