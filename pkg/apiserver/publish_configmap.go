/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"inferencecache.io/inference-cache/pkg/certs"
)

// publishConfigMap brings the bundle into the ConfigMap that clients of the gRPC
// port mount. It is made when it is absent.
func (p *publisher) publishConfigMap(ctx context.Context) error {
	maps := p.clients.kube.CoreV1().ConfigMaps(p.self.namespace)
	current, err := maps.Get(ctx, caName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read ConfigMap %s/%s: %w", p.self.namespace, caName, err)
	}
	if err == nil && current.Data[certs.KeyBundle] == string(p.bundle()) {
		return nil
	}
	if err := p.refresh(ctx); err != nil {
		return fmt.Errorf("learn the latest authority before publishing: %w", err)
	}
	wanted := applycorev1.ConfigMap(caName, p.self.namespace).WithData(map[string]string{certs.KeyBundle: string(p.bundle())})
	_, err = maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: fieldManager})
	if managers := conflicting(err); managers != "" {
		return fmt.Errorf("key %s of ConfigMap %s/%s is managed by somebody else: %s; leave it to this server", certs.KeyBundle, p.self.namespace, caName, managers)
	}
	if err != nil {
		return fmt.Errorf("publish in ConfigMap %s/%s: %w", p.self.namespace, caName, err)
	}
	return nil
}

// conflicting returns who manages what we wanted to apply, or nothing when the
// error says something else.
func conflicting(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	var managers []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			managers = append(managers, fmt.Sprintf("%s (%s)", cause.Message, cause.Field))
		}
	}
	return strings.Join(managers, ", ")
}

// encodeBundle writes bytes as JSON does.
func encodeBundle(bundle []byte) string {
	return base64.StdEncoding.EncodeToString(bundle)
}
