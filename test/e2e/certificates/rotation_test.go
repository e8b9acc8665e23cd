//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/test/aggregated"
)

// rotations is how many authorities have to be succeeded under load.
const rotations = 2

// TestRotationUnderLoad writes and reads through the aggregation layer, and opens
// one verified connection after the other to every port of every replica, while
// serving certificates and their authority are replaced. Nothing of that may fail.
func TestRotationUnderLoad(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	var requests, handshakes atomic.Int64
	// The load ends with its context, which is no failure.
	failed := func(err error, what string) bool {
		if err != nil && ctx.Err() == nil {
			t.Errorf("%s at %s: %v", what, time.Now().Format(time.TimeOnly), err)
		}
		return err != nil
	}
	client, err := versioned.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	load.Go(func() {
		for n := 0; ctx.Err() == nil && !t.Failed(); n++ {
			failed(writeAndRead(ctx, client, "rotation-"+strconv.Itoa(n)), "through the aggregation layer")
			requests.Add(3)
		}
	})
	authorities, leaves := newSeen(), newSeen()
	for _, r := range environment.Installation.Replicas() {
		for _, address := range []string{r.Address(), r.GRPCAddress()} {
			load.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					cert, err := connect(ctx, address)
					if failed(err, "connection to "+address) {
						continue
					}
					handshakes.Add(1)
					leaves.add(address + cert.SerialNumber.String())
					authorities.add(cert.Issuer.CommonName)
				}
			})
		}
	}
	// Twice what the rotations take: a successor signs at three quarters of a life.
	deadline := time.After(caLife * rotations * 2)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for authorities.count() <= rotations && !t.Failed() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d authorities have signed, want %d", authorities.count(), rotations+1)
		}
	}
	stop()
	load.Wait()
	t.Logf("%d requests and %d connections met %d authorities and %d certificates on ports", requests.Load(), handshakes.Load(), authorities.count(), leaves.count())
	if requests.Load() == 0 || handshakes.Load() == 0 {
		t.Error("there was no load")
	}
}

func writeAndRead(ctx context.Context, client versioned.Interface, name string) error {
	backends := client.InferencecacheV1alpha1().CacheBackends("default")
	backend := &v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM}}
	if _, err := backends.Create(ctx, backend, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := backends.Get(ctx, name, metav1.GetOptions{}); err != nil {
		return err
	}
	return backends.Delete(ctx, name, metav1.DeleteOptions{})
}

// connect opens a connection as a client does that knows what is published, and
// returns the certificate that it was shown.
func connect(ctx context.Context, address string) (*x509.Certificate, error) {
	bundle, err := environment.Installation.TrustBundle(ctx)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, errors.New("the bundle has no certificate")
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: aggregated.GRPCName, NextProtos: []string{"h2"}}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// seen counts different things.
type seen struct {
	mu  sync.Mutex
	all map[string]bool
}

func newSeen() *seen { return &seen{all: map[string]bool{}} }

func (s *seen) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[what] = true
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

var expirySample = regexp.MustCompile(`(?m)^inferencecache_certificate_expiry_seconds\{certificate="(\w+)"\} (\S+)$`)

// TestExpiryMetric reads from each replica how long its certificates live.
func TestExpiryMetric(t *testing.T) {
	for _, r := range environment.Installation.Replicas() {
		body, status, err := get(t.Context(), r, "/metrics", nil, http.Header{"Authorization": {"Bearer " + environment.Cluster.Config().BearerToken}})
		if err != nil || status != http.StatusOK {
			t.Fatalf("status %d, error %v: %s", status, err, body)
		}
		longest := map[string]time.Duration{"serving": leafLife, "ca": caLife}
		for _, sample := range expirySample.FindAllStringSubmatch(body, -1) {
			seconds, err := strconv.ParseFloat(sample[2], 64)
			if most := longest[sample[1]].Seconds(); err != nil || seconds <= 0 || seconds > most {
				t.Errorf("%s ends in %s seconds, want at most %v", sample[1], sample[2], most)
			}
			delete(longest, sample[1])
		}
		if len(longest) > 0 {
			t.Errorf("no metric of %v", longest)
		}
	}
}

// get asks a replica directly.
func get(ctx context.Context, r *aggregated.Replica, path string, certificates []tls.Certificate, header http.Header) (string, int, error) {
	bundle, err := environment.Installation.TrustBundle(ctx)
	if err != nil {
		return "", 0, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: aggregated.Name, Certificates: certificates},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.Address()+path, http.NoBody)
	if err != nil {
		return "", 0, err
	}
	request.Header = header
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", 0, fmt.Errorf("ask %s: %w", r.Address(), err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), response.StatusCode, err
}
