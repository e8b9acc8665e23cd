/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// ward is an Authenticator and an Authorizer whose word can be changed.
type ward struct {
	indexserver.AllowAll

	mu              sync.Mutex
	token, reported error
	backend         index.Backend
	held            map[string]error
}

func (w *ward) set(change func(w *ward)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

func (w *ward) Authenticate(context.Context, string) (indexserver.Identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return indexserver.Identity{Name: "engine"}, w.token
}

func (w *ward) MayReport(_ context.Context, _ indexserver.Identity, hello *index.Hello) (indexserver.Permission, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod := hello.Holder.Pod
	return indexserver.Permission{Backend: w.backend, Holds: func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.held[pod]
	}}, w.reported
}

func startWard(t *testing.T) (*ward, *indexservertest.Instance) {
	t.Helper()
	w := &ward{backend: index.Backend{Namespace: "team", Name: "found"}, held: map[string]error{}}
	return w, indexservertest.Start(t, func(c *indexserver.Config) {
		c.Authenticator, c.Authorizer = w, w
		// Below the lease, so that a silent stream lives to see it.
		c.ReviewInterval = 8 * time.Second
	})
}

func TestTheAuthorizerNamesTheBackend(t *testing.T) {
	_, s := startWard(t)
	hello := indexservertest.Hello()
	hello.Backend = nil
	s.Open(t, hello)
	views, _ := s.Index.BackendHolders(index.Backend{Namespace: "team", Name: "found"}, s.Clock.Now())
	if len(views) != 1 {
		t.Errorf("the backend has the holders %v, want one", views)
	}
}

func TestRecheckEndsWhatDoesNotHold(t *testing.T) {
	w, s := startWard(t)
	open := func(namespace, pod string) *indexservertest.Stream {
		hello := indexservertest.Hello()
		hello.Holder.Namespace, hello.Holder.Pod = namespace, pod
		stream, _ := s.Open(t, hello)
		return stream
	}
	moved, stays, elsewhere := open("team", "moved"), open("team", "stays"), open("other", "elsewhere")
	moving := indexserver.Moved(index.Backend{Namespace: "team", Name: "found"}, index.Backend{})
	w.set(func(w *ward) { w.held["moved"], w.held["elsewhere"] = moving, errors.New("its tenant is gone") })

	s.Server.Recheck("team")
	wantEnd(t, moved, codes.Aborted, "the session counted for CacheBackend team/found and now counts for no CacheBackend; open it again")
	for _, stream := range []*indexservertest.Stream{stays, elsewhere} {
		stream.Heartbeat(0)
		stream.Receive()
	}
	s.Server.Recheck("other")
	wantEnd(t, elsewhere, codes.Aborted, "its tenant is gone")
	s.Server.Recheck("nobody's")
}

// TestWhatIsLearntWhileASessionOpens has the Authorizer change its mind between its
// word and the session.
func TestWhatIsLearntWhileASessionOpens(t *testing.T) {
	w, s := startWard(t)
	w.set(func(w *ward) { w.held["engine-0"] = errors.New("too late") })
	stream := s.Report(t)
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: indexservertest.Hello()}})
	wantEnd(t, stream, codes.Aborted, "too late")
}

func TestStreamsAreReviewed(t *testing.T) {
	tests := map[string]struct {
		change func(w *ward)
		code   codes.Code
		text   string
	}{
		"the token is revoked": {
			func(w *ward) { w.token = errors.New("gone") },
			codes.Unauthenticated, "the token that the stream was opened with is not valid any more",
		},
		"the Pod may not report": {
			func(w *ward) { w.reported = errors.New("another Pod has its name") },
			codes.PermissionDenied, "another Pod has its name",
		},
		"the Pod counts for another backend": {
			func(w *ward) { w.backend.Name = "second" },
			codes.Aborted, "the session counted for CacheBackend team/found and now counts for CacheBackend team/second; open it again",
		},
		"nobody can be asked about the token": {
			func(w *ward) { w.token = status.Error(codes.Unavailable, "no cluster") }, codes.OK, "",
		},
		"nobody can be asked about the Pod": {
			func(w *ward) { w.reported = status.Error(codes.Unavailable, "no cluster") }, codes.OK, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, s := startWard(t)
			stream, _ := s.Open(t, indexservertest.Hello())
			w.set(test.change)
			s.Clock.Step(12 * time.Second)
			if test.code == codes.OK {
				stream.Heartbeat(0)
				stream.Receive()
				return
			}
			wantEnd(t, stream, test.code, test.text)
			s.AwaitState(t, index.Suspect)
		})
	}
}

func TestLookupStreamsAreReviewed(t *testing.T) {
	w, s := startWard(t)
	stream, err := s.Client(t).LookupRouteStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&pb.LookupRouteRequest{TenantId: "team"}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	w.set(func(w *ward) { w.token = errors.New("gone") })
	s.Clock.Step(12 * time.Second)
	if _, err := stream.Recv(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("got %v, want Unauthenticated", err)
	}
}
