/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// events returns the Events of a cluster by reason.
func (o *objects) events() map[string]*unstructured.Unstructured {
	o.mu.Lock()
	defer o.mu.Unlock()
	made := map[string]*unstructured.Unstructured{}
	for key, object := range o.all {
		if strings.HasPrefix(key, "events/") {
			reason, _, _ := unstructured.NestedString(object.Object, "reason")
			made[reason] = object.DeepCopy()
		}
	}
	return made
}

// fillStorage creates objects until there is no space.
func fillStorage(t *testing.T, c versioned.Interface) {
	t.Helper()
	for i := range 1000 {
		b := backend(fmt.Sprintf("fill-%d", i))
		b.Annotations = map[string]string{"fill": strings.Repeat("v", 200_000)}
		_, err := c.InferencecacheV1alpha1().CacheBackends("default").Create(t.Context(), b, metav1.CreateOptions{})
		if apierrors.ReasonForError(err) == "InsufficientStorage" {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("there is still space")
}

// TestSpaceAlarmIsAnEvent uses up the quota of a server in a cluster and makes room.
func TestSpaceAlarmIsAnEvent(t *testing.T) {
	kube := &cluster{}
	o := inCluster(t, kube)
	o.EtcdQuotaBytes = 4 << 20
	o.Cluster.PodName = "inference-cache-apiserver-0"
	run(t, o)
	c := clusterClient(t, o.Recommended.SecureServing.Listener.Addr().String(), "admin")
	fillStorage(t, c)
	await := func(reason, kind string) {
		t.Helper()
		mustSucceedSoon(t, func(context.Context) error {
			event := kube.objects.events()[reason]
			if event == nil {
				return fmt.Errorf("no Event with reason %s", reason)
			}
			got, _, _ := unstructured.NestedString(event.Object, "type")
			about, _, _ := unstructured.NestedStringMap(event.Object, "regarding")
			if got != kind || about["kind"] != "Pod" || about["name"] != o.Cluster.PodName || event.GetNamespace() != o.Cluster.Namespace {
				t.Fatalf("wrong Event: %v", event.Object)
			}
			return nil
		})
	}
	await("StorageSpaceExhausted", "Warning")
	if err := c.InferencecacheV1alpha1().CacheBackends("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	await("StorageSpaceRecovered", "Normal")
	if status, body, err := readiness(t.Context(), t, o.Recommended.SecureServing.Listener.Addr().String(), "/readyz"); err != nil || status != http.StatusOK {
		t.Errorf("readiness is %d, error %v: %s", status, err, body)
	}
}
