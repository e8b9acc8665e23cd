/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func TestAutoscaling(t *testing.T) {
	with := func(scaling inferencecache.AutoscalingSpec) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) {
			b.Spec.RemoteStorage = &inferencecache.RemoteStorage{
				Provider: inferencecache.StorageProviderRedis, Ownership: inferencecache.StorageOwnershipManaged,
			}
			b.Spec.Autoscaling = &scaling
		}
	}
	runBackendCases(t, map[string]backendCase{
		"ceiling alone":        {change: with(inferencecache.AutoscalingSpec{MaxReplicas: 1})},
		"floor at the ceiling": {change: with(inferencecache.AutoscalingSpec{MinReplicas: ptr.To[int32](3), MaxReplicas: 3, TargetCPUUtilizationPercent: ptr.To[int32](100)})},
		"no ceiling": {
			change: with(inferencecache.AutoscalingSpec{}),
			want:   []string{`spec.autoscaling.maxReplicas: Required value: set it to at least 1`},
		},
		"ceiling below zero": {
			change: with(inferencecache.AutoscalingSpec{MaxReplicas: -1}),
			want:   []string{`spec.autoscaling.maxReplicas: Invalid value: -1: must be at least 1`},
		},
		"floor above the ceiling": {
			change: with(inferencecache.AutoscalingSpec{MinReplicas: ptr.To[int32](4), MaxReplicas: 3}),
			want:   []string{`spec.autoscaling.maxReplicas: Invalid value: 3: must be at least minReplicas, which is 4`},
		},
		"floor of zero and target over all": {
			change: with(inferencecache.AutoscalingSpec{MinReplicas: ptr.To[int32](0), MaxReplicas: 3, TargetCPUUtilizationPercent: ptr.To[int32](101)}),
			want: []string{
				`spec.autoscaling.minReplicas: Invalid value: 0: must be at least 1`,
				`spec.autoscaling.targetCPUUtilizationPercent: Invalid value: 101: must be from 1 to 100`,
			},
		},
	})
}

func TestIntegration(t *testing.T) {
	overrides := func(overrides inferencecache.EngineOverrides) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) { b.Spec.Integration.EngineOverrides = &overrides }
	}
	runBackendCases(t, map[string]backendCase{
		"unknown mode and role": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.Integration.Mode, b.Spec.Integration.Role = "Events", "readwrite"
			},
			want: []string{
				`spec.integration.mode: Unsupported value: "Events": supported values: "Offload", "EventsOnly"`,
				`spec.integration.role: Unsupported value: "readwrite": supported values: "ReadOnly", "WriteOnly", "ReadWrite"`,
			},
		},
		"overrides": {change: overrides(inferencecache.EngineOverrides{
			Args: []string{"--a=1", "--a=1"}, SuppressArgs: []string{"--b"},
			Env: []corev1.EnvVar{{Name: "A"}, {Name: "B"}}, SuppressEnv: []string{"C"},
		})},
		"overrides with blanks": {
			change: overrides(inferencecache.EngineOverrides{
				Args: []string{""}, SuppressArgs: []string{" "}, Env: []corev1.EnvVar{{}}, SuppressEnv: []string{""},
			}),
			want: []string{
				`spec.integration.engineOverrides.args[0]: Invalid value: "": must not be blank; remove the entry`,
				`spec.integration.engineOverrides.suppressArgs[0]: Invalid value: " ": must not be blank; remove the entry`,
				`spec.integration.engineOverrides.env[0].name: Required value: name the variable`,
				`spec.integration.engineOverrides.suppressEnv[0]: Invalid value: "": must not be blank; remove the entry`,
			},
		},
		"overrides given twice": {
			change: overrides(inferencecache.EngineOverrides{
				SuppressArgs: []string{"--a", "--a"}, Env: []corev1.EnvVar{{Name: "A"}, {Name: "A"}}, SuppressEnv: []string{"C", "C"},
			}),
			want: []string{
				`spec.integration.engineOverrides.suppressArgs[1]: Duplicate value: "--a"`,
				`spec.integration.engineOverrides.env[1].name: Duplicate value: "A"`,
				`spec.integration.engineOverrides.suppressEnv[1]: Duplicate value: "C"`,
			},
		},
	})
}

func TestTemplate(t *testing.T) {
	with := func(template inferencecache.PodTemplateOverrides) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) { b.Spec.Template = &template }
	}
	zone := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}
	host := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "host", WhenUnsatisfiable: corev1.DoNotSchedule}
	runBackendCases(t, map[string]backendCase{
		"no grace": {change: with(inferencecache.PodTemplateOverrides{TerminationGracePeriodSeconds: ptr.To[int64](0)})},
		"negative grace": {
			change: with(inferencecache.PodTemplateOverrides{TerminationGracePeriodSeconds: ptr.To[int64](-1)}),
			want:   []string{`spec.template.terminationGracePeriodSeconds: Invalid value: -1: must be at least 0`},
		},
		"entries given twice": {
			change: with(inferencecache.PodTemplateOverrides{
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{zone, host, zone},
				ImagePullSecrets:          []corev1.LocalObjectReference{{Name: "a"}, {Name: "a"}},
			}),
			want: []string{
				`spec.template.topologySpreadConstraints[2]: Duplicate value: "{zone, DoNotSchedule}"`,
				`spec.template.imagePullSecrets[1].name: Duplicate value: "a"`,
			},
		},
	})
}
