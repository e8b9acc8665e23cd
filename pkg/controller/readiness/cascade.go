/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// CascadeInterval is the least time between two cascades of one backend.
const CascadeInterval = 30 * time.Second

// Instance is a Pod of a store as far as a cascade is concerned.
type Instance struct {
	// Pod is its name and UID its identity.
	Pod string
	UID types.UID
	// Restarts is how often the store's own containers in it were restarted.
	Restarts int32
	// Ready says whether it serves.
	Ready bool
}

// EnginesReconnect says whether the engines of a backend find a store again that was
// replaced. A client of LMCache's own server never does, nor does an LMCache worker
// whose Redis was lost; a Mooncake client does.
func EnginesReconnect(backend *v1alpha1.CacheBackend) bool {
	storage := backend.Spec.RemoteStorage
	return storage == nil || storage.Provider == v1alpha1.StorageProviderMooncake
}

// InstanceOf reads an Instance from a Pod. Only the containers that the store's
// template declares count: what others inject may restart as it likes. A Pod that
// is being deleted is no instance any more.
func InstanceOf(pod *corev1.Pod, template *corev1.PodTemplateSpec) (Instance, bool) {
	if pod.DeletionTimestamp != nil {
		return Instance{}, false
	}
	instance := Instance{Pod: pod.Name, UID: pod.UID}
	for _, status := range pod.Status.ContainerStatuses {
		if slices.ContainsFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.Name == status.Name }) {
			instance.Restarts += status.RestartCount
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			instance.Ready = condition.Status == corev1.ConditionTrue
		}
	}
	return instance, true
}

// Cascade compares the Pods of a store with the baseline, which is the text that it
// returned last and status.observedServerInstance keeps. It returns the next
// baseline, and whether the engines have to be restarted because a Pod that they may
// be connected to was replaced or restarted.
//
// Converged says that the store's workload has all Pods it wants, of one template,
// ready. Pods beyond the baseline are taken into it then only: in the middle of a
// rollout they may yet be taken back.
func Cascade(baseline string, observed []Instance, converged bool) (next string, restart bool) {
	known := parseBaseline(baseline)
	sorted := slices.SortedFunc(slices.Values(observed), func(a, b Instance) int { return strings.Compare(a.Pod, b.Pod) })
	var entries []string
	anyReady, kept := false, 0
	for _, instance := range sorted {
		anyReady = anyReady || instance.Ready
		restarts, found := known[instance.UID]
		switch {
		case instance.Ready:
			entries = append(entries, entry(instance.UID, instance.Restarts))
			if found && restarts == instance.Restarts {
				kept++
			}
		case found:
			// It is neither gone nor back: what it becomes shows once it is ready.
			entries = append(entries, entry(instance.UID, restarts))
			kept++
		}
	}
	current := strings.Join(entries, ",")
	switch {
	case !anyReady:
		return baseline, false
	case len(known) == 0:
		return current, false
	case kept < len(known):
		return current, true
	case converged:
		return current, false
	default:
		return baseline, false
	}
}

// entry writes one Pod of a baseline.
func entry(uid types.UID, restarts int32) string {
	return fmt.Sprintf("%s:%d", uid, restarts)
}

// parseBaseline reads a baseline. What cannot be read counts as a Pod that is gone:
// a restart too many does less harm than engines without a store.
func parseBaseline(baseline string) map[types.UID]int32 {
	known := map[types.UID]int32{}
	for part := range strings.SplitSeq(baseline, ",") {
		uid, restarts, _ := strings.Cut(part, ":")
		if uid == "" {
			continue
		}
		n, err := strconv.ParseInt(restarts, 10, 32)
		if err != nil {
			n = -1
		}
		known[types.UID(uid)] = int32(n)
	}
	return known
}
