/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"cmp"
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Kinds that make engine Pods. A bare ReplicaSet or Pod is not restarted: nothing
// would replace its Pods.
const (
	kindDeployment      = "Deployment"
	kindStatefulSet     = "StatefulSet"
	kindDaemonSet       = "DaemonSet"
	kindReplicaSet      = "ReplicaSet"
	kindLeaderWorkerSet = "LeaderWorkerSet"
)

// leaderWorkerSets is the group of a kind for engines that span several Pods, which
// a cluster need not have.
const leaderWorkerSets = "leaderworkerset.x-k8s.io/v1"

// appsVersion is the group and version of the other kinds.
const appsVersion = "apps/v1"

// rollable is a workload whose Pods can be replaced by changing its template.
type rollable struct {
	kind, namespace, name string
	// uid tells it from a later one of its name, which may be somebody else's.
	uid types.UID
}

// rollout is how far a workload has come.
type rollout struct {
	// trigger is what its template was last stamped with.
	trigger string
	// settled says that its Pods are of the present template, as far as the workload
	// replaces them by itself.
	settled bool
}

func (r rollable) String() string { return r.kind + " " + r.namespace + "/" + r.name }

func (r rollable) compare(other rollable) int {
	return cmp.Or(cmp.Compare(r.kind, other.kind), cmp.Compare(r.name, other.name))
}

// object is the workload without content.
func (r rollable) object() *unstructured.Unstructured {
	version := appsVersion
	if r.kind == kindLeaderWorkerSet {
		version = leaderWorkerSets
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, r.kind))
	object.SetNamespace(r.namespace)
	object.SetName(r.name)
	return object
}

// templatePath is where the template of the Pods is in the spec. All Pods of a
// group of a LeaderWorkerSet are replaced with any one of them.
func (r rollable) templatePath() []string {
	if r.kind == kindLeaderWorkerSet {
		return []string{"leaderWorkerTemplate", "workerTemplate"}
	}
	return []string{"template"}
}

// template wraps the content of a template into a spec.
func (r rollable) template(content map[string]any) map[string]any {
	for _, field := range slices.Backward(r.templatePath()) {
		content = map[string]any{field: content}
	}
	return content
}

// errReplaced says that a workload is gone, and another one has its name.
var errReplaced = errors.New("it was replaced by another one of its name")

// isGone says whether an error means that a workload is not there any more, or that
// its kind is not.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || errors.Is(err, errReplaced)
}

// read asks the cluster how far the workload has come.
func (r rollable) read(ctx context.Context, live client.Reader) (rollout, error) {
	object := r.object()
	if err := live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return rollout{}, err
	}
	if object.GetUID() != r.uid {
		return rollout{}, errReplaced
	}
	path := append([]string{"spec"}, r.templatePath()...)
	trigger, _, err := unstructured.NestedString(object.Object, append(path, "metadata", "annotations", v1alpha1.AnnotationCacheServerRestartTrigger)...)
	return rollout{trigger: trigger, settled: r.settled(object.Object)}, err
}

// settled compares the counts of a workload, which are absent where they are 0.
func (r rollable) settled(content map[string]any) bool {
	count := func(path ...string) int64 {
		n, _, err := unstructured.NestedInt64(content, path...)
		if err != nil {
			return 0
		}
		return n
	}
	strategy, _, _ := unstructured.NestedString(content, "spec", "updateStrategy", "type")
	if count("status", "observedGeneration") < count("metadata", "generation") {
		return false
	}
	want := int64(1)
	if n, found, err := unstructured.NestedInt64(content, "spec", "replicas"); found && err == nil {
		want = n
	}
	switch r.kind {
	case kindDeployment:
		paused, _, _ := unstructured.NestedBool(content, "spec", "paused")
		return paused || overdue(content) || count("status", "updatedReplicas") == want && count("status", "replicas") == want && count("status", "availableReplicas") >= want
	case kindStatefulSet:
		held := count("spec", "updateStrategy", "rollingUpdate", "partition")
		return strategy == "OnDelete" || count("status", "updatedReplicas") >= want-held && count("status", "readyReplicas") >= want
	case kindDaemonSet:
		want = count("status", "desiredNumberScheduled")
		return strategy == "OnDelete" || count("status", "updatedNumberScheduled") >= want && count("status", "numberAvailable") >= want
	default:
		return count("status", "updatedReplicas") >= want && count("status", "readyReplicas") >= want
	}
}

// overdue says whether a Deployment has given up its rollout. It keeps nobody
// waiting then: whoever is to mend it changes it anyway.
func overdue(content map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(content, "status", "conditions")
	for _, item := range conditions {
		if condition, ok := item.(map[string]any); ok && condition["reason"] == progressDeadlineExceeded {
			return true
		}
	}
	return false
}

// resolve follows the controller of a Pod to the workload that declares it.
func (r *restarter) resolve(ctx context.Context, namespace string, owner metav1.OwnerReference) (rollable, bool, error) {
	target := rollable{kind: owner.Kind, namespace: namespace, name: owner.Name, uid: owner.UID}
	if owner.APIVersion == leaderWorkerSets && owner.Kind == kindLeaderWorkerSet {
		return target, true, nil
	}
	if owner.APIVersion != appsVersion {
		return rollable{}, false, nil
	}
	switch owner.Kind {
	case kindDeployment, kindDaemonSet:
		return target, true, nil
	case kindReplicaSet, kindStatefulSet:
		object := target.object()
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return rollable{}, false, client.IgnoreNotFound(err)
		}
		if object.GetUID() != owner.UID {
			return rollable{}, false, nil
		}
		above := metav1.GetControllerOf(object)
		if above != nil {
			return r.resolve(ctx, namespace, *above)
		}
		return target, owner.Kind == kindStatefulSet, nil
	default:
		return rollable{}, false, nil
	}
}

// controllerOf returns who controls a Pod that still runs.
func controllerOf(pod *corev1.Pod) *metav1.OwnerReference {
	if ended(pod) {
		return nil
	}
	return metav1.GetControllerOf(pod)
}
