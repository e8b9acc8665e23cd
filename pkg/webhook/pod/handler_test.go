/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/mutation"
)

// cached is a cache with backends.
type cached struct {
	client.Reader
	backends []v1alpha1.CacheBackend
	pods     []corev1.Pod
	err      error
	panics   bool
}

func (c *cached) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	if c.panics {
		panic("a defect")
	}
	var given client.ListOptions
	given.ApplyOptions(options)
	if into, pods := list.(*corev1.PodList); pods {
		into.Items = c.pods
		return c.err
	}
	for _, backend := range c.backends {
		if backend.Namespace == given.Namespace {
			into := list.(*v1alpha1.CacheBackendList)
			into.Items = append(into.Items, backend)
		}
	}
	return c.err
}

func newHandler(t testing.TB, reader client.Reader) (*Handler, *prometheus.Registry) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	handler, err := NewHandler(Options{
		Backends: reader, Pods: reader, Decoder: admission.NewDecoder(scheme), Settings: installed(),
		NativeSidecars: func(context.Context) (bool, error) { return true, nil },
		Namespace:      "inference-cache-system", Registerer: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler, registry
}

// admitted asks a handler about a Pod and returns what the cluster makes of the
// answer.
func admitted(t testing.TB, handler *Handler, request admissionv1.AdmissionRequest) *corev1.Pod {
	t.Helper()
	response := handler.Handle(t.Context(), admission.Request{AdmissionRequest: request})
	if !response.Allowed {
		t.Fatalf("the Pod was refused: %+v", response.Result)
	}
	raw := applied(t, request.Object.Raw, response)
	pod := &corev1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestHandler(t *testing.T) {
	ours := []string{v1alpha1.AnnotationInjectedBy, v1alpha1.AnnotationInjectedByUID, v1alpha1.AnnotationInjectSkipped, v1alpha1.AnnotationInjectSkippedMessage}
	forged := map[string]string{"own": "kept"}
	for _, key := range ours {
		forged[key] = "forged"
	}
	kept := map[string]string{"own": "kept"}
	wired := map[string]string{
		"own": "kept", v1alpha1.AnnotationInjectedBy: "team-a/demo-vllm",
		v1alpha1.AnnotationInjectedByUID: "5d6fca1e-0000-4000-8000-000000000001",
	}
	type state struct {
		cache   cached
		pod     *corev1.Pod
		request admissionv1.AdmissionRequest
	}
	tests := map[string]struct {
		change func(*state)
		want   map[string]string
		// touched says that more than annotations changes.
		touched bool
		counted string
	}{
		"wired": {change: func(*state) {}, want: wired, touched: true, counted: "wired/"},
		"the first by name": {change: func(s *state) {
			later := s.cache.backends[0].DeepCopy()
			later.Name = "z"
			s.cache.backends = []v1alpha1.CacheBackend{*later, s.cache.backends[0]}
		}, want: wired, touched: true, counted: "wired/"},
		"opted out": {change: func(s *state) { s.pod.Annotations[v1alpha1.AnnotationSkipInject] = "yes please" }, want: map[string]string{
			"own": "kept", v1alpha1.AnnotationSkipInject: "yes please", v1alpha1.AnnotationInjectSkipped: v1alpha1.InjectSkippedByAnnotation,
		}, counted: "skipped/skip-inject-annotation"},
		"not opted out": {change: func(s *state) { s.pod.Annotations[v1alpha1.AnnotationSkipInject] = "OFF" }, want: map[string]string{
			"own": "kept", v1alpha1.AnnotationSkipInject: "OFF", v1alpha1.AnnotationInjectedBy: "team-a/demo-vllm",
			v1alpha1.AnnotationInjectedByUID: "5d6fca1e-0000-4000-8000-000000000001",
		}, touched: true, counted: "wired/"},
		"refused": {change: func(s *state) { s.pod.Spec.Containers[0].Args = []string{"--config", "/f.yaml"} }, want: map[string]string{
			"own": "kept", v1alpha1.AnnotationInjectSkipped: "config-file",
			v1alpha1.AnnotationInjectSkippedMessage: "vLLM reads flags from /f.yaml, which may set what wiring sets; give these flags in args",
		}, counted: "skipped/config-file"},
		"refused at length": {change: func(s *state) {
			s.pod.Spec.Containers[0].Args = []string{"--config", strings.Repeat("/f", 50_000)}
		}, want: map[string]string{
			"own": "kept", v1alpha1.AnnotationInjectSkipped: "config-file",
			v1alpha1.AnnotationInjectSkippedMessage: ("vLLM reads flags from " + strings.Repeat("/f", 1000))[:maxMessage-len("...")] + "...",
		}, counted: "skipped/config-file"},
		"no backend":               {change: func(s *state) { s.cache.backends = nil }, want: kept},
		"another namespace's":      {change: func(s *state) { s.cache.backends[0].Namespace = "team-b" }, want: kept},
		"another label":            {change: func(s *state) { s.pod.Labels = map[string]string{"app": "other"} }, want: kept},
		"an empty selector":        {change: func(s *state) { s.cache.backends[0].Spec.EngineSelector.MatchLabels = nil }, want: kept},
		"no selector":              {change: func(s *state) { s.cache.backends[0].Spec.EngineSelector = nil }, want: kept},
		"a backend being deleted":  {change: func(s *state) { s.cache.backends[0].DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, want: kept},
		"a Pod of a store":         {change: func(s *state) { s.pod.Labels[workload.LabelManagedBy] = workload.ManagedByValue }, want: kept},
		"backends that are unread": {change: func(s *state) { s.cache.err = errors.New("not synced") }, want: kept, counted: "failed/cluster-unread"},
		"a defect":                 {change: func(s *state) { s.cache.panics = true }, want: forged, counted: "failed/defect"},
		"a Pod of a kubelet": {change: func(s *state) { s.pod.Annotations[corev1.MirrorPodAnnotationKey] = "x" }, want: func() map[string]string {
			mirror := maps.Clone(forged)
			mirror[corev1.MirrorPodAnnotationKey] = "x"
			return mirror
		}()},
		"kube-system":       {change: func(s *state) { s.request.Namespace = "kube-system" }, want: forged},
		"our own namespace": {change: func(s *state) { s.request.Namespace = "inference-cache-system" }, want: forged},
		"an update":         {change: func(s *state) { s.request.Operation = admissionv1.Update }, want: forged},
		"a subresource":     {change: func(s *state) { s.request.SubResource = "binding" }, want: forged},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			backend := backends(t)["demo-vllm"]
			backend.Name = "demo-vllm"
			s := state{cache: cached{backends: []v1alpha1.CacheBackend{*backend}}, pod: enginePod(t, backend)}
			s.pod.Annotations = maps.Clone(forged)
			s.request = creation(t, s.pod)
			tc.change(&s)
			s.request.Object = creation(t, s.pod).Object
			handler, registry := newHandler(t, &s.cache)
			got := admitted(t, handler, s.request)
			if diff := cmp.Diff(tc.want, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(s.pod.Spec, got.Spec, cmpopts.EquateEmpty()); (diff != "") != tc.touched {
				t.Errorf("changed: %v, want %v (-before +after):\n%s", diff != "", tc.touched, diff)
			}
			if diff := cmp.Diff(tc.counted, counted(t, registry)); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// counted returns what was counted once.
func counted(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetCounter().GetValue() > 0 {
				labels := map[string]string{}
				for _, label := range m.GetLabel() {
					labels[label.GetName()] = label.GetValue()
				}
				found = append(found, labels["outcome"]+"/"+labels["reason"])
			}
		}
	}
	return strings.Join(found, " ")
}

func TestMetrics(t *testing.T) {
	_, registry := newHandler(t, &cached{})
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("error %v, problems %v", err, problems)
	}
	if _, err := NewHandler(Options{Registerer: registry}); err == nil {
		t.Error("the metrics were registered twice")
	}
}

// TestLayouts leaves a Pod unwired that would take for its own what engines of another
// layout have stored.
func TestLayouts(t *testing.T) {
	const same, other = "model=meta-llama/Llama-3.1-8B-Instruct", "model=meta-llama/Llama-3.1-8B-Instruct kv-cache-dtype=fp8"
	engine := func(name, uid, layout string, phase corev1.PodPhase) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{v1alpha1.AnnotationInjectedByUID: uid, wiring.AnnotationLayout: layout}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	leaving := engine("b", "ours", other, corev1.PodRunning)
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	tests := map[string]struct {
		backend string
		pods    []corev1.Pod
		want    string
	}{
		"the first":                 {backend: "vllm-external", want: "wired/"},
		"like the others":           {backend: "vllm-external", pods: []corev1.Pod{engine("a", "ours", same, corev1.PodRunning)}, want: "wired/"},
		"unlike the others":         {backend: "vllm-external", pods: []corev1.Pod{engine("a", "ours", other, corev1.PodPending)}, want: "skipped/mixed-kv-layouts"},
		"unlike one of them":        {backend: "vllm-external", pods: []corev1.Pod{engine("a", "ours", same, corev1.PodRunning), engine("b", "ours", other, corev1.PodRunning)}, want: "skipped/mixed-kv-layouts"},
		"unlike another backend's":  {backend: "vllm-external", pods: []corev1.Pod{engine("a", "theirs", other, corev1.PodRunning)}, want: "wired/"},
		"unlike one that has ended": {backend: "vllm-external", pods: []corev1.Pod{engine("a", "ours", other, corev1.PodFailed)}, want: "wired/"},
		"unlike one that leaves":    {backend: "vllm-external", pods: []corev1.Pod{leaving}, want: "wired/"},
		"unlike an unknown one":     {backend: "vllm-external", pods: []corev1.Pod{engine("a", "ours", "", corev1.PodRunning)}, want: "wired/"},
		"without a store":           {backend: "vllm-host-only", pods: []corev1.Pod{engine("a", "ours", other, corev1.PodRunning)}, want: "wired/"},
		"events only":               {backend: "cachebackend-events-only", pods: []corev1.Pod{engine("a", "ours", other, corev1.PodRunning)}, want: "wired/"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			backend := backends(t)[tc.backend]
			backend.UID = "ours"
			handler, registry := newHandler(t, &cached{backends: []v1alpha1.CacheBackend{*backend}, pods: tc.pods})
			admitted(t, handler, creation(t, enginePod(t, backend)))
			if diff := cmp.Diff(tc.want, counted(t, registry)); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVersionUnknown admits a Pod of which it cannot be told how its sidecar has to
// look.
func TestVersionUnknown(t *testing.T) {
	backend := backends(t)["demo-vllm"]
	handler, registry := newHandler(t, &cached{backends: []v1alpha1.CacheBackend{*backend}})
	handler.options.NativeSidecars = func(context.Context) (bool, error) { return false, errors.New("the cluster is away") }
	pod := enginePod(t, backend)
	if diff := cmp.Diff(pod, admitted(t, handler, creation(t, pod)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
	if got := counted(t, registry); got != "failed/cluster-unread" {
		t.Errorf("counted %s", got)
	}
}

// TestUnknownFieldsStay sends a Pod with fields of a later release.
func TestUnknownFieldsStay(t *testing.T) {
	backend := backends(t)["demo-vllm"]
	request := creation(t, enginePod(t, backend))
	raw := strings.Replace(string(request.Object.Raw), `"spec":{`, `"spec":{"later":{"a":1},`, 1)
	raw = strings.Replace(raw, `"name":"vllm"`, `"name":"vllm","later":[1,2]`, 1)
	request.Object.Raw = []byte(raw)
	handler, _ := newHandler(t, &cached{backends: []v1alpha1.CacheBackend{*backend}})
	response := handler.Handle(t.Context(), admission.Request{AdmissionRequest: request})
	patched := string(applied(t, request.Object.Raw, response))
	if !strings.Contains(patched, `"later":{"a":1}`) || !strings.Contains(patched, `"later":[1,2]`) || !strings.Contains(patched, "kvevent-subscriber") {
		t.Errorf("not wired with the unknown fields: %s", patched)
	}
}

// FuzzHandler holds that whatever is sent as a Pod is admitted.
func FuzzHandler(f *testing.F) {
	corpus := mutation.New(f, 500)
	all := backends(f)
	var list []v1alpha1.CacheBackend
	for _, backend := range all {
		list = append(list, *backend)
		corpus.Add(creation(f, enginePod(f, backend)).Object.Raw)
	}
	handler, _ := newHandler(f, &cached{backends: list})
	corpus.Fuzz(func(t *testing.T, raw []byte) {
		response := handler.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Namespace: "team-a", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
		}})
		if !response.Allowed {
			t.Errorf("refused: %+v", response.Result)
		}
	})
}

// BenchmarkHandler wires a Pod of a namespace with a hundred backends.
func BenchmarkHandler(b *testing.B) {
	wanted := backends(b)["cachebackend-vllm-lmcacheserver"]
	reader := &cached{backends: []v1alpha1.CacheBackend{*wanted}}
	for range 99 {
		other := wanted.DeepCopy()
		other.Name, other.Spec.EngineSelector.MatchLabels = "a", map[string]string{"app": "none"}
		reader.backends = append(reader.backends, *other)
	}
	handler, _ := newHandler(b, reader)
	request := admission.Request{AdmissionRequest: creation(b, enginePod(b, wanted))}
	b.ReportAllocs()
	for b.Loop() {
		if response := handler.Handle(b.Context(), request); len(response.Patches) == 0 {
			b.Fatal("not wired")
		}
	}
}
