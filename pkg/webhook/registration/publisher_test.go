/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registration

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
)

// authority has a bundle and, after it was asked for the latest, perhaps a newer one.
type authority struct {
	mu            sync.Mutex
	bundle, newer []byte
	listener      func()
}

func (a *authority) Bundle() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bundle
}

func (a *authority) Refresh(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.newer != nil {
		a.bundle = a.newer
	}
	return nil
}

func (a *authority) OnChange(listener func()) { a.listener = listener }

func (a *authority) rotate(bundle string) {
	a.mu.Lock()
	a.bundle = []byte(bundle)
	a.mu.Unlock()
	a.listener()
}

// configuration has a webhook that leads to us and one that does not.
func configuration(bundle string) *admissionregistrationv1.MutatingWebhookConfiguration {
	webhook := func(name, service string, bundle []byte) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: "system", Name: service}, CABundle: bundle,
		}}
	}
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "ours"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{
			webhook("mine.example.com", "manager", []byte(bundle)), webhook("other.example.com", "other", []byte("theirs")),
		},
	}
}

func newPublisher(client *fake.Clientset, a *authority) *Publisher {
	p := New(Config{
		Configurations: client.AdmissionregistrationV1().MutatingWebhookConfigurations(), Name: "ours",
		Service: types.NamespacedName{Namespace: "system", Name: "manager"}, Clock: clock.RealClock{},
	})
	p.Follow(a)
	return p
}

// bundles returns what the two webhooks have.
func bundles(t *testing.T, client *fake.Clientset) string {
	t.Helper()
	got, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "ours", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, webhook := range got.Webhooks {
		all = append(all, string(webhook.ClientConfig.CABundle))
	}
	return strings.Join(all, " ")
}

func TestPublish(t *testing.T) {
	tests := map[string]struct {
		bundle, newer string
		objects       []runtime.Object
		want          string
		writes        int
		published     bool
		err           string
	}{
		"nothing yet":      {objects: []runtime.Object{configuration("")}, want: " theirs"},
		"the first bundle": {bundle: "a", objects: []runtime.Object{configuration("")}, want: "a theirs", writes: 1, published: true},
		"already there":    {bundle: "a", objects: []runtime.Object{configuration("a")}, want: "a theirs", published: true},
		"behind another":   {bundle: "a", newer: "b", objects: []runtime.Object{configuration("b")}, want: "b theirs", published: true},
		"no configuration": {bundle: "a", published: true},
		"somebody else's":  {bundle: "b", objects: []runtime.Object{configuration("a")}, want: "a theirs", writes: 1, err: "managed by somebody else"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, a := fake.NewClientset(tc.objects...), &authority{}
			if tc.bundle != "" {
				a.bundle = []byte(tc.bundle)
			}
			if tc.newer != "" {
				a.newer = []byte(tc.newer)
			}
			p := newPublisher(client, a)
			if p.Published(a.Bundle()) {
				t.Error("published before the first look")
			}
			if err := p.round(t.Context()); (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error %v, want %q", err, tc.err)
			}
			if got := p.Published(a.Bundle()); got != tc.published {
				t.Errorf("published: %v, want %v", got, tc.published)
			}
			if p.Published([]byte("later")) && len(tc.objects) > 0 {
				t.Error("a bundle counts as published that nobody has written")
			}
			if len(tc.objects) > 0 {
				if got := bundles(t, client); got != tc.want {
					t.Errorf("bundles %q, want %q", got, tc.want)
				}
			}
			writes := 0
			for _, action := range client.Actions() {
				if action.GetVerb() == "patch" {
					writes++
				}
			}
			if writes != tc.writes {
				t.Errorf("%d writes, want %d", writes, tc.writes)
			}
		})
	}
}

func TestPublishReportsTrouble(t *testing.T) {
	for _, verb := range []string{"get", "patch"} {
		t.Run(verb, func(t *testing.T) {
			client := fake.NewClientset(configuration(""))
			client.PrependReactor(verb, "*", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("the cluster is away")
			})
			p := newPublisher(client, &authority{bundle: []byte("a")})
			if err := p.round(t.Context()); err == nil || !strings.Contains(err.Error(), "the cluster is away") {
				t.Errorf("error %v", err)
			}
			if p.Published([]byte("a")) {
				t.Error("counts as published")
			}
		})
	}
}

func TestStartFollowsRotations(t *testing.T) {
	client := fake.NewClientset(configuration(""))
	a := &authority{bundle: []byte("a")}
	p := newPublisher(client, a)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Start(ctx) }()
	for _, bundle := range []string{"a", "b", "c"} {
		a.rotate(bundle)
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			return p.Published([]byte(bundle)), nil
		})
		if err != nil {
			t.Fatalf("bundle %s: %v", bundle, err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
