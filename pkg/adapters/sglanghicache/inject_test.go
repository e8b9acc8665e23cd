/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglanghicache

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestInject(t *testing.T) {
	sized := &v1alpha1.HiCacheConfig{SizeGB: ptr.To[int32](64), WritePolicy: v1alpha1.HiCacheWriteBack}
	relative := &v1alpha1.HiCacheConfig{Ratio: "2.0", IOBackend: v1alpha1.HiCacheIOKernel, MemoryLayout: v1alpha1.HiCachePageFirst}
	tests := map[string]struct {
		config *v1alpha1.HiCacheConfig
		args   string
		// want are the arguments; empty means that nothing is injected, for reason.
		want, reason string
	}{
		"a size":           {config: sized, want: "--enable-hierarchical-cache --hicache-size 64 --hicache-write-policy write_back"},
		"a ratio":          {config: relative, want: "--enable-hierarchical-cache --hicache-ratio 2.0 --hicache-io-backend kernel --hicache-mem-layout page_first"},
		"given already":    {config: sized, args: "--hicache-si=64 --enable-hier", want: "--hicache-si=64 --enable-hier --hicache-write-policy write_back"},
		"equal as numbers": {config: relative, args: "--hicache-ratio 2", want: "--hicache-ratio 2 --enable-hierarchical-cache --hicache-io-backend kernel --hicache-mem-layout page_first"},
		"another size":     {config: sized, args: "--hicache-size 32", reason: wiring.ReasonOwnConnector},
		"no number":        {config: sized, args: "--hicache-size much", reason: wiring.ReasonOwnConnector},
		"both sizes":       {config: sized, args: "--hicache-ratio 2", reason: wiring.ReasonOwnConnector},
		"the other size":   {config: relative, args: "--hicache-size 2", reason: wiring.ReasonOwnConnector},
		"another policy":   {config: sized, args: "--hicache-write-policy=write_through", reason: wiring.ReasonOwnConnector},
		"LMCache":          {config: sized, args: "--enable-lmcache", reason: wiring.ReasonOwnConnector},
		"malformed":        {config: sized, args: "--hicache-size", reason: wiring.ReasonEngineArguments},
		"no configuration": {reason: wiring.ReasonUnsupported},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Args: strings.Fields(tc.args)}}}}
			backend := &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{HiCache: tc.config}}
			err := Inject(pod, wiring.Request{Backend: backend})
			if tc.reason != "" {
				if refusal := wiring.Refused(err); refusal == nil || refusal.Reason != tc.reason {
					t.Errorf("error %v, want reason %s", err, tc.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Fields(tc.want), pod.Spec.Containers[0].Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}
