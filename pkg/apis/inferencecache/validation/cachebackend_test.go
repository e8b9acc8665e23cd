/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// backendCase changes a valid backend and names every violation that this
// brings. No change and no violation is a case too.
type backendCase struct {
	change func(*inferencecache.CacheBackend)
	want   []string
}

func runBackendCases(t *testing.T, cases map[string]backendCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			backend := validBackend()
			if test.change != nil {
				test.change(backend)
			}
			compare(t, test.want, ValidateCacheBackend(backend, permissive()))
		})
	}
}

func compare(t *testing.T, want []string, errs field.ErrorList) {
	t.Helper()
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func validBackend() *inferencecache.CacheBackend {
	return &inferencecache.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns", ResourceVersion: "1"},
		Spec: inferencecache.CacheBackendSpec{
			Runtime:        inferencecache.RuntimeVLLM,
			Type:           inferencecache.CacheBackendTypeLMCache,
			DeploymentKind: inferencecache.DeploymentKindDeployment,
			Replicas:       ptr.To[int32](1),
			Integration: &inferencecache.IntegrationSpec{
				Mode:     inferencecache.IntegrationModeOffload,
				Role:     inferencecache.IntegrationRoleReadWrite,
				FailOpen: ptr.To(true),
			},
			Observation: &inferencecache.ObservationSpec{FirstEventTimeout: &metav1.Duration{Duration: 5 * time.Minute}},
		},
	}
}

func TestCacheBackend(t *testing.T) {
	runBackendCases(t, map[string]backendCase{
		"valid": {},
		"name that is no DNS name": {
			change: func(b *inferencecache.CacheBackend) { b.Name = "B" },
			want:   []string{`metadata.name: Invalid value: "B": ` + dnsSubdomain},
		},
		"nothing chosen": {
			change: func(b *inferencecache.CacheBackend) { b.Spec = inferencecache.CacheBackendSpec{} },
			want: []string{
				`spec.runtime: Required value: set it to one of "VLLM", "SGLang"`,
				`spec.type: Required value: set it to one of "LMCache", "SGLangHiCache"`,
				`spec.deploymentKind: Required value: set it to one of "Deployment", "StatefulSet"`,
			},
		},
		"values of another case or version": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.Runtime, b.Spec.Type, b.Spec.DeploymentKind = "vllm", "Mooncake", "DaemonSet"
			},
			want: []string{
				`spec.runtime: Unsupported value: "vllm": supported values: "VLLM", "SGLang"`,
				`spec.type: Unsupported value: "Mooncake": supported values: "LMCache", "SGLangHiCache"`,
				`spec.deploymentKind: Unsupported value: "DaemonSet": supported values: "Deployment", "StatefulSet"`,
			},
		},
		"no replicas":       {change: func(b *inferencecache.CacheBackend) { b.Spec.Replicas = ptr.To[int32](0) }},
		"negative replicas": {change: func(b *inferencecache.CacheBackend) { b.Spec.Replicas = ptr.To[int32](-1) }, want: []string{`spec.replicas: Invalid value: -1: must be at least 0`}},
		"empty selector": {
			change: func(b *inferencecache.CacheBackend) { b.Spec.EngineSelector = &inferencecache.EngineSelector{} },
		},
		"selector that no Pod can match": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.EngineSelector = &inferencecache.EngineSelector{MatchLabels: map[string]string{"app": "a b"}}
			},
			want: []string{`spec.engineSelector.matchLabels: Invalid value: "a b": ` + labelValue},
		},
		"window of no length": {
			change: func(b *inferencecache.CacheBackend) { b.Spec.Observation.FirstEventTimeout = &metav1.Duration{} },
		},
		"negative window": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.Observation.FirstEventTimeout = &metav1.Duration{Duration: -time.Second}
			},
			want: []string{`spec.observation.firstEventTimeout: Invalid value: "-1s": must not be negative; set a duration such as "5m"`},
		},
	})
}

const (
	dnsSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	labelValue   = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
)

func TestEverySeparateMistakeIsNamed(t *testing.T) {
	backend := validBackend()
	backend.Spec.Runtime = "TGI"
	backend.Spec.Replicas = ptr.To[int32](-1)
	backend.Spec.HiCache = &inferencecache.HiCacheConfig{}
	backend.Spec.RemoteStorage = &inferencecache.RemoteStorage{}
	backend.Spec.Autoscaling = &inferencecache.AutoscalingSpec{}
	backend.Spec.Integration.Mode = "Both"
	paths := map[string]bool{}
	for _, err := range ValidateCacheBackend(backend, permissive()) {
		paths[err.Field] = true
	}
	for _, path := range []string{
		"spec.runtime", "spec.replicas", "spec.hiCache", "spec.remoteStorage.provider", "spec.remoteStorage.ownership",
		"spec.autoscaling.maxReplicas", "spec.integration.mode",
	} {
		if !paths[path] {
			t.Errorf("no violation at %s", path)
		}
	}
}

func TestCacheBackendStatusUpdate(t *testing.T) {
	condition := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "BackendReady", LastTransitionTime: metav1.Unix(1, 0),
	}
	tests := map[string]struct {
		status inferencecache.CacheBackendStatus
		want   []string
	}{
		"empty": {},
		"full": {status: inferencecache.CacheBackendStatus{
			MatchedEnginePods:  ptr.To[int32](0),
			IndexParticipation: &inferencecache.IndexParticipation{HitRate: ptr.To("0.25"), T2HitRate: ptr.To("1")},
			Conditions:         []metav1.Condition{condition},
		}},
		"numbers below zero": {
			status: inferencecache.CacheBackendStatus{
				MatchedEnginePods: ptr.To[int32](-1), Replicas: -1, ObservedGeneration: -1,
				IndexParticipation: &inferencecache.IndexParticipation{PrefixCount: -1},
			},
			want: []string{
				`status.matchedEnginePods: Invalid value: -1: must be at least 0`,
				`status.replicas: Invalid value: -1: must be at least 0`,
				`status.observedGeneration: Invalid value: -1: must be at least 0`,
				`status.indexParticipation.prefixCount: Invalid value: -1: must be at least 0`,
			},
		},
		"shares that are none": {
			status: inferencecache.CacheBackendStatus{
				IndexParticipation: &inferencecache.IndexParticipation{HitRate: ptr.To("1.5"), T2HitRate: ptr.To("NaN")},
			},
			want: []string{
				`status.indexParticipation.hitRate: Invalid value: "1.5": must be a decimal from 0 to 1, such as "0.25"`,
				`status.indexParticipation.t2HitRate: Invalid value: "NaN": must be a decimal from 0 to 1, such as "0.25"`,
			},
		},
		"a condition twice": {
			status: inferencecache.CacheBackendStatus{Conditions: []metav1.Condition{condition, condition}},
			want:   []string{`status.conditions[1]: Duplicate value: "Ready"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stored, updated := validBackend(), validBackend()
			// A broken spec keeps nobody from reporting on it.
			stored.Spec.Runtime, updated.Spec.Runtime = "TGI", "TGI"
			updated.Status = test.status
			compare(t, test.want, ValidateCacheBackendStatusUpdate(updated, stored))
		})
	}
}

func TestCacheBackendUpdateRatchets(t *testing.T) {
	tests := map[string]struct {
		stored, updated func(*inferencecache.CacheBackend)
		want            []string
	}{
		"stored violation stays beside another edit": {
			stored: func(b *inferencecache.CacheBackend) { b.Spec.Replicas = ptr.To[int32](-1) },
			updated: func(b *inferencecache.CacheBackend) {
				b.Spec.Replicas = ptr.To[int32](-1)
				b.Labels = map[string]string{"a": "b"}
			},
		},
		"stored violation with another bad value": {
			stored:  func(b *inferencecache.CacheBackend) { b.Spec.Replicas = ptr.To[int32](-1) },
			updated: func(b *inferencecache.CacheBackend) { b.Spec.Replicas = ptr.To[int32](-2) },
			want:    []string{`spec.replicas: Invalid value: -2: must be at least 0`},
		},
		"stored violation with a further one": {
			stored: func(b *inferencecache.CacheBackend) { b.Spec.Runtime = "TGI" },
			updated: func(b *inferencecache.CacheBackend) {
				b.Spec.Runtime = "TGI"
				b.Spec.HiCache = &inferencecache.HiCacheConfig{SizeGB: ptr.To[int32](1)}
			},
			want: []string{`spec.hiCache: Forbidden: only allowed with type SGLangHiCache; remove it or change spec.type`},
		},
		"new violation": {
			updated: func(b *inferencecache.CacheBackend) { b.Spec.Integration.Role = "Writer" },
			want:    []string{`spec.integration.role: Unsupported value: "Writer": supported values: "ReadOnly", "WriteOnly", "ReadWrite"`},
		},
		"another name": {
			updated: func(b *inferencecache.CacheBackend) { b.Name = "c" },
			want:    []string{`metadata.name: Invalid value: "c": field is immutable`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stored, updated := validBackend(), validBackend()
			if test.stored != nil {
				test.stored(stored)
			}
			test.updated(updated)
			compare(t, test.want, ValidateCacheBackendUpdate(updated, stored, permissive()))
		})
	}
}

func TestValidationChangesNothing(t *testing.T) {
	backend := validBackend()
	backend.Spec.RemoteStorage = &inferencecache.RemoteStorage{Endpoint: strings.Repeat(" ", 3)}
	before := backend.DeepCopy()
	ValidateCacheBackend(backend, permissive())
	if diff := cmp.Diff(before, backend); diff != "" {
		t.Errorf("object after validation (-before +after):\n%s", diff)
	}
}
