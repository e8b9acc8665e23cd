/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// collector is an OTLP receiver that keeps what it is sent.
type collector struct {
	collectorpb.UnimplementedTraceServiceServer

	mu       sync.Mutex
	received []*tracepb.ResourceSpans
}

// Export implements collectorpb.TraceServiceServer.
func (c *collector) Export(_ context.Context, r *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = append(c.received, r.GetResourceSpans()...)
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// collect runs a collector and returns it with its address.
func collect(t *testing.T) (*collector, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, server := &collector{}, grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c, listener.Addr().String()
}

// trace returns the spans of a trace by name.
func (c *collector) trace(t *testing.T, id string) map[string]*tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := map[string]*tracepb.Span{}
	for _, resource := range c.received {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				if hex.EncodeToString(span.GetTraceId()) == id {
					spans[span.GetName()] = span
				}
			}
		}
	}
	return spans
}

// everything returns all that was received as text.
func (c *collector) everything() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all strings.Builder
	for _, resource := range c.received {
		all.WriteString(protojson.Format(resource))
	}
	return all.String()
}

// attributes returns a span's own attributes. Whether the index is complete depends
// on how long the test takes, so its type stands for it.
func attributes(span *tracepb.Span) map[string]any {
	values := map[string]any{}
	for _, a := range span.GetAttributes() {
		name, ok := strings.CutPrefix(a.GetKey(), "inferencecache.")
		if !ok {
			continue
		}
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			values[name] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			values[name] = v.IntValue
		default:
			values[name] = fmt.Sprintf("%T", v)
		}
	}
	return values
}

// withTracing makes a server send no spans but of traces that a client samples.
func withTracing(t *testing.T, endpoint string) apiservertest.Option {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	content := "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: " + endpoint + "\nsamplingRatePerMillion: 0\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(o *options.Options) { o.Recommended.Traces.ConfigFile = file }
}

const clientSpan = "00f067aa0ba902b7"

func traceparent(trace string) string {
	return fmt.Sprintf("00-%s-%s-01", trace, clientSpan)
}

// TestTracing sends a request and a lookup that belong to traces of the client.
func TestTracing(t *testing.T) {
	const (
		requestTrace, listTrace, indexTrace = "4bf92f3577b34da6a3ce929d0e0e4731", "4bf92f3577b34da6a3ce929d0e0e4732", "4bf92f3577b34da6a3ce929d0e0e4733"
		lookupTrace                         = "4bf92f3577b34da6a3ce929d0e0e4734"
		prompt, salt                        = "what-a-secret-prompt", "what-a-secret-salt"
	)
	received, endpoint := collect(t)
	s := apiservertest.Start(t, withTracing(t, endpoint))
	create(t, clientset(t, s.Config), "a")
	const object = group + "/namespaces/default/cachebackends/a"
	for url, trace := range map[string]string{object + "/observation": requestTrace, object + "/snapshot": listTrace, group + "/cacheindices": indexTrace} {
		if got := get(t, client(t, s), s.Config.Host+url, "Authorization", "Bearer "+s.Token, "Traceparent", traceparent(trace)); got.status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", url, got.status, got.body)
		}
	}
	router := newAsker(t, s)
	ctx := metadata.AppendToOutgoingContext(router.ctx, "traceparent", traceparent(lookupTrace))
	for _, r := range []*pb.LookupRouteRequest{
		{TenantId: "default", ModelId: "m", PromptText: prompt},
		{TenantId: "default", ModelId: "m", TokenIds: []uint32{31415926, 27182818}, CacheSalt: salt},
	} {
		if _, err := router.client.LookupRoute(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	// What was not sent yet is sent at the end.
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	read := map[string]any{"complete": "*v1.AnyValue_BoolValue", "holders": int64(0)}
	lookup := map[string]any{"complete": "*v1.AnyValue_BoolValue", "holders": int64(0), "reason": "NO_HINT"}
	const resource = "GET /apis/inferencecache.io/v1alpha1/namespaces/{:namespace}/cachebackends/{:name}/"
	tests := map[string]struct {
		trace, first, inner string
		want                map[string]any
	}{
		"observation":  {trace: requestTrace, first: resource + "observation", inner: "Observe a backend", want: read},
		"snapshot":     {trace: listTrace, first: resource + "snapshot", inner: "List the blocks of a backend", want: read},
		"cacheindices": {trace: indexTrace, first: "GET /apis/inferencecache.io/v1alpha1/cacheindices", inner: "Read totals of the index", want: read},
		"LookupRoute":  {trace: lookupTrace, first: "inferencecache.v1alpha1.InferenceCache/LookupRoute", inner: "Lookup", want: lookup},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spans := received.trace(t, tc.trace)
			first, inner := spans[tc.first], spans[tc.inner]
			if first == nil || inner == nil {
				t.Fatalf("no span %q or %q in the trace, only %q", tc.first, tc.inner, names(spans))
			}
			if got := hex.EncodeToString(first.GetParentSpanId()); got != clientSpan {
				t.Errorf("the parent of %q is %q, want the client's %s", tc.first, got, clientSpan)
			}
			if diff := cmp.Diff(tc.want, attributes(inner)); diff != "" {
				t.Errorf("wrong attributes of %q (-want +got):\n%s", tc.inner, diff)
			}
		})
	}
	all := received.everything()
	for what, text := range map[string]string{"prompt": prompt, "salt": salt, "token id": "31415926", "bearer token": s.Token} {
		if strings.Contains(all, text) {
			t.Errorf("the collector was sent the %s", what)
		}
	}
	if !strings.Contains(all, `"inference-cache-apiserver"`) {
		t.Error("the collector was not told which program sends")
	}
}

func names(spans map[string]*tracepb.Span) []string {
	var all []string
	for name := range spans {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
