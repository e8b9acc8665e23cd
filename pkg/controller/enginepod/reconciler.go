/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package enginepod

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Reasons of the Events.
const (
	// EventInjected says which backend a Pod was wired by.
	EventInjected = "InjectedByCacheBackend"
	// EventSkipped says that a Pod's owner did not want it wired.
	EventSkipped = "SkippedByOperator"
	// EventLeftUnwired warns that a Pod could not be wired. It is on the Pod and on
	// the backend that selects it.
	EventLeftUnwired = "EngineLeftUnwired"
)

// MaxAge is how old a Pod may be that is still told of.
const MaxAge = 5 * time.Minute

// maxMessage is what the API takes as the note of an Event, in bytes. It refuses a
// longer one.
const maxMessage = 1024

// action is what is told of.
const action = "Admit"

// Reconciler tells of Pods. It is safe for concurrent use.
type Reconciler struct {
	client   client.Client
	recorder events.EventRecorder
}

// Add puts the controller into a manager whose cache has Pods with our annotations,
// and CacheBackends. It works while the manager leads.
func Add(mgr ctrl.Manager, concurrency int) error {
	r := &Reconciler{client: mgr.GetClient(), recorder: mgr.GetEventRecorder("inference-cache-manager")}
	return ctrl.NewControllerManagedBy(mgr).
		Named("enginepod").
		For(&corev1.Pod{}, builder.WithPredicates(isNew(time.Now))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
}

// isNew lets those Pods pass that were just created and of which there is something
// to tell.
func isNew(now func() time.Time) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			return now().Sub(e.Object.GetCreationTimestamp().Time) < MaxAge && isDecided(e.Object.GetAnnotations())
		},
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// isDecided says whether annotations have a decision of the webhook.
func isDecided(annotations map[string]string) bool {
	return annotations[v1alpha1.AnnotationInjectedBy] != "" || annotations[v1alpha1.AnnotationInjectSkipped] != ""
}

// Reconcile tells of one Pod.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.client.Get(ctx, request.NamespacedName, pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch skipped := pod.Annotations[v1alpha1.AnnotationInjectSkipped]; {
	case skipped == v1alpha1.InjectSkippedByAnnotation:
		if pod.Annotations[v1alpha1.AnnotationSkipInject] != "" {
			r.recorder.Eventf(pod, nil, corev1.EventTypeNormal, EventSkipped, action,
				"Not wired, because annotation %s says so", v1alpha1.AnnotationSkipInject)
		}
		return reconcile.Result{}, nil
	case skipped != "":
		return reconcile.Result{}, r.tellUnwired(ctx, pod, skipped)
	default:
		return reconcile.Result{}, r.tellWired(ctx, pod)
	}
}

// tellWired tells who wired a Pod, if that can be.
func (r *Reconciler) tellWired(ctx context.Context, pod *corev1.Pod) error {
	namespace, name, _ := strings.Cut(pod.Annotations[v1alpha1.AnnotationInjectedBy], "/")
	if namespace != pod.Namespace {
		return nil
	}
	backend := &v1alpha1.CacheBackend{}
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, backend); err != nil {
		return client.IgnoreNotFound(err)
	}
	if uid := pod.Annotations[v1alpha1.AnnotationInjectedByUID]; uid == "" || uid != string(backend.UID) {
		return nil
	}
	r.recorder.Eventf(pod, backend, corev1.EventTypeNormal, EventInjected, action, "Wired by CacheBackend %s/%s", namespace, name)
	return nil
}

// tellUnwired tells why a Pod could not be wired, to its owner and to that of the
// backend.
func (r *Reconciler) tellUnwired(ctx context.Context, pod *corev1.Pod, reason string) error {
	why := reason
	if message := pod.Annotations[v1alpha1.AnnotationInjectSkippedMessage]; message != "" {
		why = message
	}
	backend, err := r.selecting(ctx, pod)
	if err != nil {
		return err
	}
	if backend == nil {
		r.warn(pod, nil, "The engine runs without its cache: "+why)
		return nil
	}
	r.warn(pod, backend, fmt.Sprintf("The engine runs without the cache of CacheBackend %s: %s", backend.Name, why))
	r.warn(backend, nil, fmt.Sprintf("Pod %s could not be wired: %s", pod.Name, why))
	return nil
}

// warn tells of a Pod that was left unwired, in as many bytes as the API takes. What
// stands in the way may quote what the Pod's owner wrote.
func (r *Reconciler) warn(regarding, related runtime.Object, message string) {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage-len("...")], "") + "..."
	}
	r.recorder.Eventf(regarding, related, corev1.EventTypeWarning, EventLeftUnwired, action, "%s", message)
}

// selecting returns the backend that would have wired a Pod, which is the first by
// name of those that select it, or nil.
func (r *Reconciler) selecting(ctx context.Context, pod *corev1.Pod) (*v1alpha1.CacheBackend, error) {
	backends := &v1alpha1.CacheBackendList{}
	if err := r.client.List(ctx, backends, client.InNamespace(pod.Namespace)); err != nil {
		return nil, fmt.Errorf("find the backend of a Pod: %w", err)
	}
	slices.SortFunc(backends.Items, func(a, b v1alpha1.CacheBackend) int { return strings.Compare(a.Name, b.Name) })
	for i := range backends.Items {
		selector := backends.Items[i].Spec.EngineSelector
		if selector != nil && len(selector.MatchLabels) > 0 && labels.SelectorFromSet(selector.MatchLabels).Matches(labels.Set(pod.Labels)) {
			return &backends.Items[i], nil
		}
	}
	return nil, nil
}
