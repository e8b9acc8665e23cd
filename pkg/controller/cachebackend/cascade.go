/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// restarter restarts engines whose clients do not find a store again that was
// replaced. It rolls one workload at a time, the way the workload itself says, and
// keeps no memory: what was restarted for which store stands in the templates, so
// that a manager that takes over goes on where the last one stopped.
type restarter struct {
	// live asks the cluster: engines' workloads are many, and restarts seldom.
	live   client.Reader
	client client.Client
}

// hasConverged says whether a store runs as it should and nothing else of it does.
func hasConverged(store *readiness.Workload, instances []readiness.Instance) bool {
	ready := int32(0)
	for _, instance := range instances {
		if instance.Ready {
			ready++
		}
	}
	return isAvailable(store) && store.Replicas == store.Desired && store.Updated == store.Desired && ready == store.Desired
}

// step restarts the next workload of the engines that a backend has wired, and says
// whether all of them were restarted for the store instance and have come back, and
// how many these are.
func (r *restarter) step(ctx context.Context, backend *v1alpha1.CacheBackend, instance string) (done bool, restarted int, err error) {
	targets, err := r.targets(ctx, backend)
	if err != nil {
		return false, 0, err
	}
	trigger := triggerOf(instance)
	for _, target := range targets {
		state, err := target.read(ctx, r.live)
		switch {
		case isGone(err):
			continue
		case err != nil:
			return false, restarted, fmt.Errorf("read %s: %w", target, err)
		case state.trigger != trigger:
			klog.FromContext(ctx).Info("Restarting engines because their store was replaced", "workload", target.String())
			if err := r.stamp(ctx, target, trigger); err != nil {
				return false, restarted, fmt.Errorf("restart %s: %w", target, err)
			}
			return false, restarted, nil
		case !state.settled:
			return false, restarted, nil
		}
		restarted++
	}
	return true, restarted, nil
}

// triggerOf is short, and differs for every instance of a store.
func triggerOf(instance string) string {
	sum := sha256.Sum256([]byte(instance))
	return hex.EncodeToString(sum[:8])
}

// targets returns the workloads of the engine Pods that a backend has wired, in an
// order that stays the same.
func (r *restarter) targets(ctx context.Context, backend *v1alpha1.CacheBackend) ([]rollable, error) {
	pods := &corev1.PodList{}
	if err := r.client.List(ctx, pods, client.InNamespace(backend.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	seen := map[types.UID]bool{}
	var targets []rollable
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !isWiredBy(pod, backend) || isStorePod(pod) {
			continue
		}
		owner := controllerOf(pod)
		if owner == nil || seen[owner.UID] {
			continue
		}
		seen[owner.UID] = true
		target, ok, err := r.resolve(ctx, backend.Namespace, *owner)
		if err != nil {
			return nil, fmt.Errorf("find the workload of Pod %s: %w", pod.Name, err)
		}
		if ok && !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	slices.SortFunc(targets, rollable.compare)
	return targets, nil
}

// stamp changes a workload's template, which has its controller replace the Pods.
func (r *restarter) stamp(ctx context.Context, target rollable, trigger string) error {
	annotated := map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		v1alpha1.AnnotationCacheServerRestartTrigger: trigger,
	}}}
	patch, err := json.Marshal(map[string]any{"spec": target.template(annotated)})
	if err != nil {
		return err
	}
	return r.client.Patch(ctx, target.object(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
}
