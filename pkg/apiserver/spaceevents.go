/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

// Reasons of the Events about the space of the embedded etcd.
const (
	// ReasonSpaceExhausted is that of a warning: writes are refused.
	ReasonSpaceExhausted = "StorageSpaceExhausted"
	// ReasonSpaceRecovered says that writes are taken again.
	ReasonSpaceRecovered = "StorageSpaceRecovered"
)

// untoldChanges is how many changes wait while the cluster does not answer, or the
// server is not up yet. The log and the metric have those that find no place.
const untoldChanges = 16

// SpaceEvents makes Events of what the embedded etcd says about its space. The log
// and the metric say the same; Events are for those who have only kubectl.
type SpaceEvents struct {
	client         kubernetes.Interface
	namespace, pod string
	changes        chan embedded.Space
}

// NewSpaceEvents returns what makes Events about a Pod or, when its name is not
// known, about the namespace of the server. client is one of the cluster.
func NewSpaceEvents(client kubernetes.Interface, namespace, pod string) *SpaceEvents {
	return &SpaceEvents{client: client, namespace: namespace, pod: pod, changes: make(chan embedded.Space, untoldChanges)}
}

// Tell takes a change and does not wait. It may be called before Run.
func (e *SpaceEvents) Tell(s embedded.Space) {
	select {
	case e.changes <- s:
	default:
	}
}

// Run makes Events until ctx ends.
func (e *SpaceEvents) Run(ctx context.Context) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: e.client.EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "No Events are made")
		return
	}
	// What Events are about is given as a reference, so no kind has to be known.
	recorder := broadcaster.NewRecorder(runtime.NewScheme(), ProgramName).WithLogger(klog.FromContext(ctx))
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-e.changes:
			e.record(recorder, e.subject(ctx), s)
		}
	}
}

// record makes the Event of a change.
func (e *SpaceEvents) record(recorder events.EventRecorder, subject *corev1.ObjectReference, s embedded.Space) {
	if s.Exhausted {
		recorder.Eventf(subject, nil, corev1.EventTypeWarning, ReasonSpaceExhausted, "RefuseWrites",
			"The embedded etcd has used up its quota of %d bytes: writes are refused, reads and deletions go on. "+
				"Old versions are cleaned up now. If that is not enough delete objects, or raise --embedded-etcd-quota-bytes and restart.", s.QuotaBytes)
		return
	}
	recorder.Eventf(subject, nil, corev1.EventTypeNormal, ReasonSpaceRecovered, "TakeWrites",
		"The embedded etcd takes writes again: it has %d bytes of a quota of %d.", s.Bytes, s.QuotaBytes)
}

// subject is what Events are about. kubectl describe finds those of a Pod by its
// UID, which is looked up; without it they are found by name.
func (e *SpaceEvents) subject(ctx context.Context) *corev1.ObjectReference {
	if e.pod == "" {
		// An Event lies in the namespace of what it is about, so that has to be said
		// of an object that lies in none.
		return &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: e.namespace, Name: e.namespace}
	}
	subject := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: e.namespace, Name: e.pod}
	pod, err := e.client.CoreV1().Pods(e.namespace).Get(ctx, e.pod, metav1.GetOptions{})
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Events do not have the UID of this Pod", "pod", klog.KRef(e.namespace, e.pod), "err", err)
		return subject
	}
	subject.UID = pod.UID
	return subject
}
