//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// audience is that of tokens for the gRPC port.
const audience = "inferencecache.io"

// dial connects to the gRPC port with a token, or as nobody.
func dial(t *testing.T, token string) *grpc.ClientConn {
	t.Helper()
	conn, err := environment.Installation.Dial(t.Context(), environment.Installation.Replicas()[0], token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// newPod makes a Pod and returns what its tokens are bound to.
func (c clients) newPod(t *testing.T, namespace, name string, labels, annotations map[string]string) *metav1.ObjectMeta {
	t.Helper()
	// Every namespace is given its account, but not at once.
	eventually(t, func() error {
		_, err := c.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", getOptions)
		return err
	})
	pod, err := c.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Image: "example.com/engine:1"}}},
	}, createOptions)
	if err != nil {
		t.Fatal(err)
	}
	return &pod.ObjectMeta
}

func token(t *testing.T, namespace string, pod *metav1.ObjectMeta, audiences ...string) string {
	t.Helper()
	token, err := environment.Installation.ServiceAccountToken(t.Context(), namespace, "default", pod, audiences...)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// helloOf is what a Pod says of itself.
func helloOf(pod *metav1.ObjectMeta) *pb.Hello {
	return &pb.Hello{
		Holder: &pb.Holder{Namespace: pod.Namespace, Pod: pod.Name}, TenantId: pod.Namespace,
		ModelId: "m", HashScheme: "vllm", Epoch: 1, LastSequence: 1,
	}
}

// report opens a session. The stream ends with ctx.
func report(ctx context.Context, conn *grpc.ClientConn, hello *pb.Hello) (pb.InferenceCache_ReportClient, *pb.HelloReply, error) {
	stream, err := pb.NewInferenceCacheClient(conn).Report(ctx)
	if err != nil {
		return nil, nil, err
	}
	_ = stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}}) // receiving tells why it fails
	response, err := stream.Recv()
	return stream, response.GetHello(), err
}

// announce reports one chain of three blocks and waits until it counts.
func announce(t *testing.T, stream pb.InferenceCache_ReportClient) {
	t.Helper()
	changes := []*pb.Change{
		{Change: &pb.Change_Scope{Scope: &pb.Scope{BlockSize: 16}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Kind: pb.GroupKind_GROUP_KIND_FULL, BlockSize: 16}}},
		{Change: &pb.Change_Store{Store: &pb.Store{
			Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: []byte("block--1block--2block--3"),
		}}},
	}
	chunk := &pb.SnapshotChunk{Sequence: 1, Last: true, Changes: changes}
	if err := stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: chunk}}); err != nil {
		t.Fatal(err)
	}
	if response, err := stream.Recv(); err != nil || response.GetAck().GetSequence() != 1 {
		t.Fatalf("got %v, error %v, want an ack", response, err)
	}
}

// observed describes what the observation of a backend shows: its replicas, each with
// the number of its blocks.
func (c clients) observed(ctx context.Context, namespace, backend string) (string, error) {
	var observation v1alpha1.CacheBackendObservation
	err := c.ours.InferencecacheV1alpha1().RESTClient().Get().Namespace(namespace).Resource("cachebackends").Name(backend).
		SubResource("observation").Do(ctx).Into(&observation)
	var replicas []string
	for _, r := range observation.Replicas {
		replicas = append(replicas, fmt.Sprintf("%s/%s %s %d", r.Namespace, r.Pod, r.State, r.Blocks.T1))
	}
	return strings.Join(replicas, ", "), err
}

// wantObserved waits until an observation shows this.
func (c clients) wantObserved(t *testing.T, namespace, backend, want string) {
	t.Helper()
	eventually(t, func() error {
		got, err := c.observed(t.Context(), namespace, backend)
		if err == nil && got != want {
			err = fmt.Errorf("backend %s/%s shows %q, want %q", namespace, backend, got, want)
		}
		return err
	})
}

// TestNobodySpeaksForAnother lets an engine report, and others try to speak for it or
// to take from it what it has.
func TestNobodySpeaksForAnother(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace, elsewhere := clients.newNamespace(t), clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	for name, app := range map[string]string{"victims": "victim", "thieves": "thief"} {
		backend := newBackend(name)
		backend.Spec.EngineSelector = &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": app}}
		if _, err := backends.Create(t.Context(), backend, createOptions); err != nil {
			t.Fatal(err)
		}
	}
	victim := clients.newPod(t, namespace, "victim", map[string]string{"app": "victim"}, nil)
	thief := clients.newPod(t, namespace, "thief", map[string]string{"app": "thief"}, map[string]string{
		"inferencecache.io/injected-by": namespace + "/victims", "inferencecache.io/injected-by-uid": "forged",
	})
	foreigner := clients.newPod(t, elsewhere, "victim", map[string]string{"app": "victim"}, nil)

	stream, _, err := report(t.Context(), dial(t, token(t, namespace, victim, audience)), helloOf(victim))
	if err != nil {
		t.Fatal(err)
	}
	announce(t, stream)
	const held = "Live 3"
	whole := namespace + "/victim " + held
	clients.wantObserved(t, namespace, "victims", whole)

	newer := func(change func(h *pb.Hello)) *pb.Hello {
		h := helloOf(victim)
		// A later epoch would supersede the victim's session, and drop all that it holds.
		h.Epoch, h.LastSequence = 100, 0
		if change != nil {
			change(h)
		}
		return h
	}
	own := func(change func(h *pb.Hello)) *pb.Hello {
		h := helloOf(thief)
		change(h)
		return h
	}
	const wrong = "the bearer token is not valid"
	tests := map[string]struct {
		token string
		hello *pb.Hello
		code  codes.Code
		want  string
	}{
		"another Pod": {token(t, namespace, thief, audience), newer(nil), codes.PermissionDenied,
			fmt.Sprintf("the token of Pod %[1]s/thief may not report for Pod %[1]s/victim", namespace)},
		"the same name elsewhere": {token(t, elsewhere, foreigner, audience), newer(nil), codes.PermissionDenied,
			fmt.Sprintf("the token of Pod %s/victim may not report for Pod %s/victim", elsewhere, namespace)},
		"another namespace's tenant": {token(t, namespace, thief, audience), own(func(h *pb.Hello) { h.TenantId = elsewhere }), codes.PermissionDenied,
			fmt.Sprintf("tenant %s does not belong to namespace %s", elsewhere, namespace)},
		"another backend": {token(t, namespace, thief, audience), own(func(h *pb.Hello) { h.Backend = &pb.BackendRef{Namespace: namespace, Name: "victims"} }), codes.PermissionDenied,
			fmt.Sprintf("Pod %[1]s/thief belongs to CacheBackend %[1]s/thieves and may not report for CacheBackend %[1]s/victims", namespace)},
		"a token without a Pod":     {token(t, namespace, nil, audience), newer(nil), codes.PermissionDenied, "the token is not bound to a Pod"},
		"a token for somebody else": {token(t, namespace, victim, "vault"), newer(nil), codes.Unauthenticated, wrong},
		"no token that there is":    {"junk", newer(nil), codes.Unauthenticated, wrong},
		"no token":                  {"", newer(nil), codes.Unauthenticated, `send metadata "authorization: Bearer <token>"`},
	}
	for name, test := range tests {
		_, _, err := report(t.Context(), dial(t, test.token), test.hello)
		if status.Code(err) != test.code || status.Convert(err).Message() != test.want {
			t.Errorf("%s: got %v, want %s: %s", name, err, test.code, test.want)
		}
	}
	clients.wantObserved(t, namespace, "victims", whole)

	clients.flushOwn(t, thief, whole)
}

// flushOwn does what the thief may do: report for itself. That it has nothing flushes
// nobody else.
func (c clients) flushOwn(t *testing.T, thief *metav1.ObjectMeta, whole string) {
	t.Helper()
	namespace := thief.Namespace
	mine, reply, err := report(t.Context(), dial(t, token(t, namespace, thief)), helloOf(thief))
	if err != nil || !reply.GetSnapshotWanted() {
		t.Fatalf("the thief's own session, by an ordinary token: %v, error %v", reply, err)
	}
	empty := &pb.SnapshotChunk{Sequence: 1, Last: true}
	if err := mine.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: empty}}); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Recv(); err != nil {
		t.Fatal(err)
	}
	c.wantObserved(t, namespace, "thieves", namespace+"/thief Live 0")
	c.wantObserved(t, namespace, "victims", whole)
	if err := mine.CloseSend(); err != nil {
		t.Fatal(err)
	}
	c.wantObserved(t, namespace, "thieves", namespace+"/thief Suspect 0")
	c.wantObserved(t, namespace, "victims", whole)

	// Nor may an engine ask who holds what.
	_, err = pb.NewInferenceCacheClient(dial(t, token(t, namespace, thief))).LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: namespace, ModelId: "m"})
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("an engine asked: %v, want PermissionDenied", err)
	}
}

// TestTokensEndWithTheirPods deletes a Pod and makes one of the same name.
func TestTokensEndWithTheirPods(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	first := clients.newPod(t, namespace, "engine", nil, nil)
	old := token(t, namespace, first, audience)
	if _, _, err := report(t.Context(), dial(t, old), helloOf(first)); err != nil {
		t.Fatal(err)
	}
	pods := clients.CoreV1().Pods(namespace)
	if err := pods.Delete(t.Context(), "engine", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := pods.Get(t.Context(), "engine", getOptions)
		return isGone(err)
	})
	refused := func() error {
		_, _, err := report(t.Context(), dial(t, old), helloOf(first))
		if status.Code(err) != codes.Unauthenticated {
			return fmt.Errorf("got %w, want Unauthenticated", errors.Join(errors.New("the token of a Pod that is gone"), err))
		}
		return nil
	}
	// Who the token's is was remembered a moment ago.
	eventually(t, refused)
	second := clients.newPod(t, namespace, "engine", nil, nil)
	if _, _, err := report(t.Context(), dial(t, token(t, namespace, second, audience)), helloOf(second)); err != nil {
		t.Errorf("the new Pod of the name: %v", err)
	}
	if err := refused(); err != nil {
		t.Errorf("beside the new Pod of its name: %v", err)
	}
}

// TestSessionsFollowTheirBackend makes a CacheBackend anew under the same name: what
// the webhook wrote on its Pods is not true any more.
func TestSessionsFollowTheirBackend(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	made, err := backends.Create(t.Context(), newBackend("wired"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	pod := clients.newPod(t, namespace, "engine", nil, map[string]string{
		"inferencecache.io/injected-by": namespace + "/wired", "inferencecache.io/injected-by-uid": string(made.UID),
	})
	conn := dial(t, token(t, namespace, pod, audience))
	stream, _, err := report(t.Context(), conn, helloOf(pod))
	if err != nil {
		t.Fatal(err)
	}
	announce(t, stream)
	clients.wantObserved(t, namespace, "wired", namespace+"/engine Live 3")
	if err := backends.Delete(t.Context(), "wired", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("the session counted for CacheBackend %s/wired and now counts for no CacheBackend; open it again", namespace)
	if _, err := stream.Recv(); status.Code(err) != codes.Aborted || status.Convert(err).Message() != want {
		t.Fatalf("the stream ended with %v, want Aborted: %s", err, want)
	}
	if _, err := backends.Create(t.Context(), newBackend("wired"), createOptions); err != nil {
		t.Fatal(err)
	}
	if _, _, err := report(t.Context(), conn, helloOf(pod)); err != nil {
		t.Fatal(err)
	}
	clients.wantObserved(t, namespace, "wired", "")
}

// TestNobodyGetsNothing calls the port without a token.
func TestNobodyGetsNothing(t *testing.T) {
	t.Parallel()
	conn := dial(t, "")
	calls := map[string]func() error{
		"lookup": func() error {
			_, err := pb.NewInferenceCacheClient(conn).LookupRoute(t.Context(), &pb.LookupRouteRequest{})
			return err
		},
		"cache state": func() error {
			_, err := pb.NewInferenceCacheClient(conn).GetCacheState(t.Context(), &pb.GetCacheStateRequest{})
			return err
		},
		"health": func() error {
			_, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			return err
		},
		"reflection": func() error {
			stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"no method": func() error {
			return conn.Invoke(t.Context(), "/absent.Service/Method", &pb.LookupRouteRequest{}, &pb.LookupRouteResponse{})
		},
	}
	for name, call := range calls {
		if err := call(); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: got %v, want Unauthenticated", name, err)
		}
	}
}
