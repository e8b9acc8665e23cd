/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"
)

// reviewer answers questions about rights from a function.
type reviewer func(a *authorizationv1.ResourceAttributes) (bool, error)

func (r reviewer) Create(_ context.Context, review *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	allowed, err := r(review.Spec.ResourceAttributes)
	answer := review.DeepCopy()
	answer.Status.Allowed = allowed
	return answer, err
}

func checkOf(rights []Right, c *testingclock.FakeClock, r reviewer) *RightsCheck {
	return NewRightsCheck(rights, func(Asker) Reviewer { return r }, c)
}

func TestRightsOutcomes(t *testing.T) {
	hard := Right{Verbs: []string{"list"}, Resource: "pods", Asker: AskerServer, Without: Unready}
	soft := Right{Verbs: []string{"patch"}, Group: "g", Resource: "things", Subresource: "status", Asker: AskerServer, Without: Degraded}
	refuse := func(resources ...string) reviewer {
		return func(a *authorizationv1.ResourceAttributes) (bool, error) {
			return !slices.Contains(resources, a.Resource), nil
		}
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "selfsubjectaccessreviews"}, "", errors.New("no"))
	tests := map[string]struct {
		answer reviewer
		// unready is a part of the readiness error; none means ready.
		unready string
		// waits says that it is asked again.
		waits bool
	}{
		"all granted":         {answer: refuse()},
		"one missing":         {answer: refuse("pods"), unready: "the server may not list pods; add to the rules of its ClusterRole: [{apiGroups: [''], resources: [pods], verbs: [list]}]", waits: true},
		"only a lesser one":   {answer: refuse("things"), waits: true},
		"both missing":        {answer: refuse("pods", "things"), unready: "list pods, patch things.g/status", waits: true},
		"may not ask":         {answer: func(*authorizationv1.ResourceAttributes) (bool, error) { return false, forbidden }},
		"cluster unreachable": {answer: func(*authorizationv1.ResourceAttributes) (bool, error) { return false, errors.New("refused") }, unready: "not known yet: ask for the right to list pods: refused", waits: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := testingclock.NewFakeClock(time.Unix(0, 0))
			check := checkOf([]Right{hard, soft}, c, tc.answer)
			if err := check.Check(nil); !errors.Is(err, errRightsUnknown) {
				t.Errorf("before the first answer: error %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan struct{})
			go func() { defer close(done); check.Run(ctx) }()
			waits := waitsOrEnds(t, c, done)
			if waits != tc.waits {
				t.Errorf("waits %t, want %t", waits, tc.waits)
			}
			err := check.Check(nil)
			if (err == nil) != (tc.unready == "") || err != nil && !strings.Contains(err.Error(), tc.unready) {
				t.Errorf("readiness error %v, want one that says %q", err, tc.unready)
			}
			cancel()
			<-done
		})
	}
}

// waitsOrEnds returns whether the check waits on the clock; false means that it
// ended.
func waitsOrEnds(t *testing.T, c *testingclock.FakeClock, done <-chan struct{}) bool {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !c.HasWaiters() {
		select {
		case <-done:
			return false
		case <-deadline:
			t.Fatal("neither waits nor ends")
		case <-tick.C:
		}
	}
	return true
}

// TestRightsHeal grants a right while the check waits, with the cluster away in
// between, which must not undo what is known.
func TestRightsHeal(t *testing.T) {
	answers := []struct {
		allowed bool
		err     error
		want    string
	}{
		{err: errors.New("refused"), want: "not known yet"},
		{want: "may not list pods"},
		{err: errors.New("refused"), want: "may not list pods"},
		{allowed: true},
	}
	round := 0
	c := testingclock.NewFakeClock(time.Unix(0, 0))
	check := checkOf([]Right{{Verbs: []string{"list"}, Resource: "pods", Asker: AskerServer, Without: Unready}}, c,
		func(*authorizationv1.ResourceAttributes) (bool, error) {
			a := answers[round]
			round++
			return a.allowed, a.err
		})
	done := make(chan struct{})
	go func() { defer close(done); check.Run(t.Context()) }()
	for i, a := range answers {
		waits := waitsOrEnds(t, c, done)
		if last := i == len(answers)-1; waits == last {
			t.Fatalf("round %d: waits %t", i, waits)
		}
		err := check.Check(nil)
		if (err == nil) != (a.want == "") || err != nil && !strings.Contains(err.Error(), a.want) {
			t.Errorf("round %d: readiness error %v, want %q", i, err, a.want)
		}
		c.Step(2 * lastRightsDelay)
	}
	check.Run(t.Context())
	if round != len(answers) {
		t.Error("asked again after all was granted")
	}
}

// TestRightsAreTakenAway takes a right from a server that is ready and still misses a
// lesser one, so that it goes on looking.
func TestRightsAreTakenAway(t *testing.T) {
	hard := Right{Verbs: []string{"list"}, Resource: "pods", Asker: AskerServer, Without: Unready}
	soft := Right{Verbs: []string{"patch"}, Resource: "things", Asker: AskerServer, Without: Degraded}
	var taken atomic.Bool
	c := testingclock.NewFakeClock(time.Unix(0, 0))
	check := checkOf([]Right{hard, soft}, c, func(a *authorizationv1.ResourceAttributes) (bool, error) {
		return a.Resource == hard.Resource && !taken.Load(), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); check.Run(ctx) }()
	for _, state := range []bool{false, true} {
		taken.Store(state)
		c.Step(2 * lastRightsDelay)
		if !waitsOrEnds(t, c, done) {
			t.Fatal("it has ended")
		}
		if err := check.Check(nil); err != nil {
			t.Errorf("with the right taken away %t: %v", state, err)
		}
	}
	cancel()
	<-done
}

// TestClusterRights holds that the table is complete in itself and that the line
// of the log can be pasted into a role.
func TestClusterRights(t *testing.T) {
	rights := ClusterRights()
	seen := map[string]bool{}
	for _, r := range rights {
		if len(r.Verbs) == 0 || r.Resource == "" || r.Asker == "" {
			t.Errorf("incomplete: %+v", r)
		}
		of := string(r.Asker) + " " + r.String()
		if seen[of] {
			t.Errorf("twice: %s", of)
		}
		seen[of] = true
	}
	for _, namespace := range []string{"", "kube-system", DefaultNamespace} {
		for _, want := range Rules(namespace, rights) {
			var got rbacv1.PolicyRule
			if err := yaml.UnmarshalStrict([]byte(flow(want)), &got); err != nil {
				t.Fatalf("%s: %v", flow(want), err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s is another rule (-want +got):\n%s", flow(want), diff)
			}
		}
	}
}

func TestRules(t *testing.T) {
	rights := []Right{
		{Verbs: []string{"list"}, Group: "g", Resource: "a"},
		{Verbs: []string{"list"}, Group: "g", Resource: "b", Subresource: "status"},
		{Verbs: []string{"get"}, Resource: "configmaps", Namespace: "n", Name: "c"},
		{Verbs: []string{"get"}, Group: "g", Resource: "a"},
	}
	want := map[string][]rbacv1.PolicyRule{
		"": {
			{Verbs: []string{"list"}, APIGroups: []string{"g"}, Resources: []string{"a", "b/status"}},
			{Verbs: []string{"get"}, APIGroups: []string{"g"}, Resources: []string{"a"}},
		},
		"n":     {{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"c"}}},
		"other": nil,
	}
	got := map[string][]rbacv1.PolicyRule{}
	for namespace := range want {
		got[namespace] = Rules(namespace, rights)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong rules (-want +got):\n%s", diff)
	}
}
