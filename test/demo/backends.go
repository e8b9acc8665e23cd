/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// namespace is where everything of the demo lives.
const namespace = "default"

// examplesDir is the folder of the manifests, below the module root.
const examplesDir = "artifacts/examples"

// createBackend creates the CacheBackend of a manifest and returns its name.
func (s *server) createBackend(ctx context.Context, root, manifest string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, examplesDir, manifest))
	if err != nil {
		return "", err
	}
	var object unstructured.Unstructured
	if err := yaml.UnmarshalStrict(text, &object.Object); err != nil {
		return "", fmt.Errorf("read %s: %w", manifest, err)
	}
	resource := v1alpha1.SchemeGroupVersion.WithResource("cachebackends")
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if _, err := s.objects.Resource(resource).Namespace(namespace).Create(ctx, &object, options); err != nil {
		return "", fmt.Errorf("create %s: %w", manifest, err)
	}
	return object.GetName(), nil
}

// observationPath is where the API serves what is known of a backend's engines.
func observationPath(backend string) string {
	return "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/namespaces/" + namespace +
		"/cachebackends/" + backend + "/observation"
}

// raw gets a path of the API in a media type.
func (s *server) raw(ctx context.Context, path, accept string) ([]byte, error) {
	client, err := rest.HTTPClientFor(s.api)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.api.Host+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("get %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %s: %s", path, response.Status, body)
	}
	return body, nil
}
