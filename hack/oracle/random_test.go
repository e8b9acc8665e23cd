/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package oracle

import (
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// plain are texts that nearly every field takes, texts are good for some fields
// and bad for others.
var plain = []string{"a", "b", "c", "name-1", "app", "pod-template-hash"}

var texts = []string{
	"example.com/a", "kubernetes.io/hostname", "topology.kubernetes.io/zone",
	"metadata.name", "metadata.uid", "metadata.labels['app']", "metadata.annotations['a/b']", "metadata.labels['a b']", "status.podIP",
	"spec.nodeName", "spec.schedulerName", "limits.cpu", "requests.memory", "limits.hugepages-2Mi", "limits.nvidia.com/gpu",
	"net.core.somaxconn", "net/ipv4/tcp_syncookies", "kernel.shm_rmid_forced", "profiles/a.json", "/abs", "../up", "a/../b",
	"redis:7.4", "registry.example:5000/a/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "Redis:7", "redis: 7",
	"v1", "v2", "1", "-1", "0", "", " ", " a", "a ", "A", "A_B", "a b", "a=b", "..", "-a", "a-", "1a", "é", "a\nb", "a.b.c", "kubernetes.io/a",
	"x.kubernetes.io/a", "requests.example.com/a", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg",
}

var numbers = []int64{-1, 0, 1, 1, 1, 2, 2, 3, 50, 100, 101, 1000, 65535, 65536, 1<<31 - 1}

// pick fills a type with one of the given values.
func pick[T any](values ...T) func(*T, randfill.Continue) {
	return func(value *T, c randfill.Continue) { *value = values[c.Intn(len(values))] }
}

// mostly fills a type with a bad value now and then, else with a good one.
func mostly[T any](bad T, good ...T) func(*T, randfill.Continue) {
	return func(value *T, c randfill.Continue) {
		*value = good[c.Intn(len(good))]
		if c.Intn(8) == 0 {
			*value = bad
		}
	}
}

// filler fills objects at random, and equally for equal seeds. Types that have
// few values get one of them, or a wrong one.
func filler(seed int64) *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.4).NumElements(0, 2).Funcs(
		func(text *string, c randfill.Continue) {
			*text = plain[c.Intn(len(plain))]
			if c.Intn(4) == 0 {
				*text = texts[c.Intn(len(texts))]
			}
		},
		pick(numbers...),
		func(number *int32, c randfill.Continue) { *number = int32(numbers[c.Intn(len(numbers))]) },
		mostly("In", corev1.TolerationOpEqual, corev1.TolerationOpExists, ""),
		mostly("Evict", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectNoExecute, ""),
		mostly("", corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
			corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt),
		mostly("Near", metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
		mostly("", corev1.DoNotSchedule, corev1.ScheduleAnyway),
		mostly("Maybe", corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore),
		mostly("Never", corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch),
		mostly("None", corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
		mostly("None", corev1.SELinuxChangePolicyRecursive, corev1.SELinuxChangePolicyMountOption),
		mostly("", corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined),
		mostly("x", corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined),
		pick(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "hugepages-2Mi", "hugepages-1Gi", "hugepages-0",
			corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
			"hugepages-", "hugepages-1m", "nvidia.com/gpu", "example.com/a", "kubernetes.io/a", "x.kubernetes.io/a", "akubernetes.io/a",
			"requests.example.com/a", "pods", "storage", "", "a b", "Example.COM/a"),
		pick(quantities("0", "1", "1", "2", "-1", "500m", "1500m", "2Mi", "2Mi", "3Mi", "1Gi", "1Gi", "4Gi", "1e3", "9223372036854775807", "1e30")...),
		fillToleration, fillSpreadConstraint, fillResources,
	)
}

// What follows bends random objects towards those whose fields agree, of which
// chance alone makes too few.

func fillToleration(toleration *corev1.Toleration, c randfill.Continue) {
	c.FillNoCustom(toleration)
	if toleration.Operator == corev1.TolerationOpExists && c.Bool() {
		toleration.Value = ""
	}
	if c.Intn(4) > 0 {
		toleration.TolerationSeconds = nil
	}
}

func fillSpreadConstraint(constraint *corev1.TopologySpreadConstraint, c randfill.Continue) {
	c.FillNoCustom(constraint)
	if c.Bool() {
		constraint.MinDomains = nil
	}
	if c.Intn(4) > 0 {
		constraint.MatchLabelKeys = nil
	}
}

func fillResources(requirements *corev1.ResourceRequirements, c randfill.Continue) {
	c.FillNoCustom(requirements)
	if c.Bool() {
		requirements.Limits = requirements.Requests.DeepCopy()
	}
	if c.Intn(10) > 0 {
		requirements.Claims = nil
	}
}

func quantities(texts ...string) []resource.Quantity {
	list := make([]resource.Quantity, len(texts))
	for i, text := range texts {
		list[i] = resource.MustParse(text)
	}
	return list
}
