/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver"
)

// lines collects what is logged about rights, or about something else.
type lines struct {
	about string
	mu    sync.Mutex
	all   []string
}

func (l *lines) context(t *testing.T) context.Context {
	logger := funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		about := l.about != "" && strings.Contains(args, l.about)
		if about || l.about == "" && (strings.Contains(args, "Rights") || strings.Contains(args, "rights")) {
			l.all = append(l.all, args)
		}
	}, funcr.Options{})
	return klog.NewContext(t.Context(), logger)
}

func (l *lines) get() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.all...)
}

// readiness returns the answer of a page about readiness.
func readiness(ctx context.Context, t *testing.T, address, page string) (int, string, error) {
	t.Helper()
	c, err := rest.HTTPClientFor(clusterConfig(address, "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+page, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// TestMissingRights starts a server without some of its rights and grants them.
func TestMissingRights(t *testing.T) {
	kube := &cluster{}
	kube.refused.set("watch resourcequotas", "list resourcequotas", "update resourcequotas/status", "patch flowschemas/status")
	o := inCluster(t, kube)
	address := o.Recommended.SecureServing.Listener.Addr().String()
	log := &lines{}
	ctx := log.context(t)
	config, err := o.Config(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ready, _ := start(ctx, t, config)

	const want = "the server may not list+watch resourcequotas, update resourcequotas/status, patch flowschemas.flowcontrol.apiserver.k8s.io/status; " +
		"add to the rules of its ClusterRole: [{apiGroups: [''], resources: [resourcequotas], verbs: [list, watch]}, " +
		"{apiGroups: [''], resources: [resourcequotas/status], verbs: [update]}, " +
		"{apiGroups: [flowcontrol.apiserver.k8s.io], resources: [flowschemas/status], verbs: [patch]}]"
	for _, page := range []string{"/readyz/rights", "/readyz", "/readyz?verbose"} {
		mustSucceedSoon(t, func(ctx context.Context) error {
			status, body, err := readiness(ctx, t, address, page)
			if err == nil && (status != http.StatusInternalServerError || !strings.Contains(body, want)) {
				t.Fatalf("%s is %d: %s\nwant %s", page, status, body, want)
			}
			return err
		})
	}
	select {
	case <-ready:
		t.Error("the server says that it is ready")
	default:
	}
	if got := log.get(); len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("logged %q, want one line that says %s", got, want)
	}

	kube.refused.set()
	select {
	case <-ready:
	case <-time.After(2 * time.Minute):
		t.Fatal("the server is not ready after its rights were granted")
	}
	if status, body, err := readiness(t.Context(), t, address, "/readyz"); err != nil || status != http.StatusOK {
		t.Errorf("readiness is %d, error %v: %s", status, err, body)
	}
	if got := log.get(); len(got) != 2 || !strings.Contains(got[1], "has all rights") {
		t.Errorf("logged %q, want a second line that says that all is well", got)
	}
}

// TestStartWaitsForRights holds that a server that may not read how the cluster
// authenticates waits for that instead of ending.
func TestStartWaitsForRights(t *testing.T) {
	kube := &cluster{}
	kube.refused.set("get configmaps", "list configmaps")
	o := inCluster(t, kube)
	log := &lines{}
	ctx, cancel := context.WithCancel(log.context(t))
	defer cancel()
	made := make(chan error, 1)
	var config *apiserver.Config
	go func() {
		var err error
		config, err = o.Config(ctx)
		made <- err
	}()
	const want = "the server may not get+list configmaps/extension-apiserver-authentication in kube-system; add to the rules of its Role in kube-system: " +
		"[{apiGroups: [''], resources: [configmaps], resourceNames: [extension-apiserver-authentication], verbs: [get, list, watch]}]"
	mustSucceedSoon(t, func(context.Context) error {
		select {
		case err := <-made:
			t.Fatalf("did not wait: %v", err)
		default:
		}
		if len(log.get()) == 0 {
			return errors.New("nothing was logged")
		}
		return nil
	})
	if got := log.get(); !strings.Contains(got[0], want) {
		t.Errorf("logged %q, want %s", got, want)
	}
	kube.refused.set()
	select {
	case err := <-made:
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Close(); err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the start still waits")
	}
}

// TestRightsAreWhatIsAsked compares the table of rights with the requests of a
// server that was used in every way that leads to one. Lesser rights are used when
// there is occasion, of which not every one is here.
func TestRightsAreWhatIsAsked(t *testing.T) {
	want, lesser := map[string]bool{}, map[string]bool{}
	for _, r := range apiserver.ClusterRights() {
		for _, verb := range r.Verbs {
			anywhere := apiserver.Right{Group: r.Group, Resource: r.Resource, Subresource: r.Subresource}
			if r.Without == apiserver.Degraded {
				lesser[verb+" "+anywhere.String()] = true
				continue
			}
			want[verb+" "+anywhere.String()] = true
		}
	}
	kube := &cluster{}
	kube.quotas.set(objectQuota("default", backends(0), backends(2)))
	createAuthority(t, kube)
	// An authority that needs a successor, an APIService that needs the bundle, and a
	// definition that may be in the way.
	kube.objects.put(t, "secrets", authoritySecret(t, -300*day, 65*day))
	kube.objects.put(t, "apiservices", apiService("inference-cache-system", "inference-cache-apiserver"))
	kube.objects.put(t, "customresourcedefinitions", definition("things", "v1"))
	o := withOwnCertificates(inCluster(t, kube))
	run(t, o)
	c := clusterClient(t, o.Recommended.SecureServing.Listener.Addr().String(), "admin")
	create(t, c, "a")
	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "acme"}}
	if _, err := c.InferencecacheV1alpha1().CacheTenants("default").Create(t.Context(), tenant, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mustSucceedSoon(t, func(context.Context) error {
		asked := kube.asked.get()
		maps.DeleteFunc(asked, func(right string, _ bool) bool { return lesser[right] && !want[right] })
		if diff := cmp.Diff(want, asked); diff != "" {
			return fmt.Errorf("the table of rights is not what the server asks for (-table +asked):\n%s", diff)
		}
		return nil
	})
}
