/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// podOf returns a Pod whose engine has arguments, written as one line.
func podOf(line string) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Args: strings.Fields(line)}}}}
}

// TestInjectConnector says what becomes of a connector that the user has given.
func TestInjectConnector(t *testing.T) {
	const ours = `{"kv_connector":"LMCacheConnectorV1","kv_load_failure_policy":"recompute","kv_role":"kv_both"}`
	tests := map[string]struct {
		args string
		omit bool
		fail bool
		want string
	}{
		"none":                    {want: "--kv-transfer-config " + ours},
		"none, failing closed":    {fail: true, want: "--kv-transfer-config " + strings.Replace(ours, "recompute", "fail", 1)},
		"none, for old engines":   {omit: true, want: `--kv-transfer-config {"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}`},
		"taken back":              {args: "--kv-transfer-config None", want: "--kv-transfer-config None --kv-transfer-config " + ours},
		"empty":                   {args: "--kv-transfer-config {}", want: "--kv-transfer-config " + ours},
		"without a policy":        {args: `--kv-transfer-config {"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}`, want: "--kv-transfer-config " + ours},
		"joined, underscores":     {args: `--kv_transfer_config={"kv_role":"kv_both","kv_connector":"LMCacheConnectorV1","kv_rank":1}`, want: `--kv_transfer_config={"kv_connector":"LMCacheConnectorV1","kv_load_failure_policy":"recompute","kv_rank":1,"kv_role":"kv_both"}`},
		"complete stays":          {args: `--kv-t {"kv_role":"kv_both","kv_load_failure_policy":"recompute","kv_connector":"LMCacheConnectorV1"}`, want: `--kv-t {"kv_role":"kv_both","kv_load_failure_policy":"recompute","kv_connector":"LMCacheConnectorV1"}`},
		"without, for old ones":   {args: `--kv-t {"kv_role":"kv_both","kv_connector":"LMCacheConnectorV1"}`, omit: true, want: `--kv-t {"kv_role":"kv_both","kv_connector":"LMCacheConnectorV1"}`},
		"by members":              {args: "--kv-t.kv_connector LMCacheConnectorV1 --kv-t.kv_role=kv_both", want: "--kv-t.kv_connector LMCacheConnectorV1 --kv-t.kv_role=kv_both --kv-t.kv_load_failure_policy=recompute"},
		"one member of a policy":  {args: "--kv-transfer-config.kv_load_failure_policy recompute", want: "--kv-transfer-config.kv_load_failure_policy recompute --kv-transfer-config.kv_connector=LMCacheConnectorV1 --kv-transfer-config.kv_role=kv_both"},
		"members beside a whole":  {args: `--kv-transfer-config {"kv_connector":"X","kv_role":"kv_both"} --kv-transfer-config.kv_rank 1`, want: `--kv-transfer-config {"kv_connector":"X","kv_role":"kv_both"} --kv-transfer-config.kv_rank 1 --kv-transfer-config.kv_connector=LMCacheConnectorV1 --kv-transfer-config.kv_role=kv_both --kv-transfer-config.kv_load_failure_policy=recompute`},
		"the last of two is ours": {args: `--kv-t {"kv_connector":"X","kv_role":"kv_both"} --kv-t ` + ours, want: `--kv-t {"kv_connector":"X","kv_role":"kv_both"} --kv-t ` + ours},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := podOf(tc.args)
			backend := &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{Integration: &v1alpha1.IntegrationSpec{FailOpen: ptr.To(!tc.fail)}}}
			if err := Inject(pod, wiring.Request{Backend: backend, OmitLoadFailurePolicy: tc.omit}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Fields(tc.want), pod.Spec.Containers[0].Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			flags, err := ParseFlags(pod.Spec.Containers[0].Args)
			if err != nil || flags.Transfer.Connector != connector || flags.Transfer.Role != "kv_both" {
				t.Errorf("the engine reads %+v, %v", flags.Transfer, err)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	for role, want := range map[v1alpha1.IntegrationRole]string{
		"": "kv_both", v1alpha1.IntegrationRoleReadWrite: "kv_both",
		v1alpha1.IntegrationRoleReadOnly: "kv_consumer", v1alpha1.IntegrationRoleWriteOnly: "kv_producer",
	} {
		pod := podOf("")
		backend := &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{Integration: &v1alpha1.IntegrationSpec{Role: role}}}
		if err := Inject(pod, wiring.Request{Backend: backend}); err != nil {
			t.Fatal(err)
		}
		if flags, err := ParseFlags(pod.Spec.Containers[0].Args); err != nil || flags.Transfer.Role != want {
			t.Errorf("role %q is %+v, %v, want %s", role, flags.Transfer, err, want)
		}
	}
}

// TestInjectEvents says where a subscriber listens after the injection.
func TestInjectEvents(t *testing.T) {
	injected := wiring.Events{Endpoint: "tcp://127.0.0.1:5557", ReplayEndpoint: "tcp://127.0.0.1:5657", Ranks: 1, HashScheme: "vllm", MetricsURL: "http://127.0.0.1:8000/metrics"}
	with := func(change func(*wiring.Events)) wiring.Events {
		e := injected
		change(&e)
		return e
	}
	tests := map[string]struct {
		args string
		want wiring.Events
	}{
		"injected":        {want: injected},
		"at another port": {args: "--port 9000", want: with(func(e *wiring.Events) { e.MetricsURL = "http://127.0.0.1:9000/metrics" })},
		"behind HTTPS":    {args: "--ssl-certfile /c", want: with(func(e *wiring.Events) { e.MetricsURL = "" })},
		"of many ranks":   {args: "-dp 300", want: with(func(e *wiring.Events) { e.Ranks, e.ReplayEndpoint = 300, "tcp://127.0.0.1:5857" })},
		"of a user": {args: `--kv-e {"enable_kv_cache_events":true,"endpoint":"tcp://*:1","replay_endpoint":"tcp://*:2","topic":"t"}`, want: with(func(e *wiring.Events) {
			e.Endpoint, e.ReplayEndpoint, e.Topic = "tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "t"
		})},
		"of a user, simple": {args: "--kv-events-config.enable_kv_cache_events true", want: with(func(e *wiring.Events) { e.ReplayEndpoint = "" })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := podOf(tc.args)
			if err := InjectEvents(pod); err != nil {
				t.Fatal(err)
			}
			got, err := Listen(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKernelCheckModes(t *testing.T) {
	limits := func(name corev1.ResourceName) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse("1")}}
	}
	tests := map[string]struct {
		mode      string
		resources corev1.ResourceRequirements
		// strict is the value of the variable; empty means no check.
		strict string
	}{
		"auto, no accelerator":     {},
		"auto, none of it":         {resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("0")}}},
		"auto, NVIDIA":             {mode: "auto", resources: limits("nvidia.com/gpu"), strict: "0"},
		"auto, a part of one":      {resources: limits("nvidia.com/mig-1g.5gb"), strict: "0"},
		"auto, AMD":                {resources: limits("amd.com/gpu"), strict: "0"},
		"auto, a claim":            {resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}, strict: "0"},
		"auto, another device":     {resources: limits("example.com/fpga")},
		"report-only":              {mode: "report-only", strict: "0"},
		"strict":                   {mode: "strict", strict: "1"},
		"off":                      {mode: "off", resources: limits("nvidia.com/gpu")},
		"a mode that is not known": {mode: "strcit", resources: limits("nvidia.com/gpu"), strict: "0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := podOf("")
			pod.Spec.Containers[0].Resources = tc.resources
			if err := KernelCheck(pod, tc.mode); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, c := range pod.Spec.InitContainers {
				got = c.Env[slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == EnvKernelCheckStrict })].Value
			}
			if got != tc.strict {
				t.Errorf("strict is %q, want %q", got, tc.strict)
			}
		})
	}
}
