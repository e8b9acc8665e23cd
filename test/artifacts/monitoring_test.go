//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/test/programs"
)

// monitoring returns the objects of artifacts/monitoring that are of the Prometheus
// operator.
func monitoring(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, object := range objects(t, "monitoring") {
		if u, ok := object.(*unstructured.Unstructured); ok {
			all = append(all, u)
		}
	}
	return all
}

// definition returns the schema that the Prometheus operator has for a kind.
func definition(t *testing.T, kind string) *apiextensions.JSONSchemaProps {
	t.Helper()
	const module = "github.com/prometheus-operator/prometheus-operator"
	repository, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	var dir []byte
	for _, args := range [][]string{{"mod", "download", module}, {"list", "-m", "-f", "{{.Dir}}", module}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join(repository, "hack", "tools", "prometheusoperator")
		if dir, err = cmd.Output(); err != nil {
			t.Fatalf("go %v: %v", args, err)
		}
	}
	file := "monitoring.coreos.com_" + strings.ToLower(kind) + "s.yaml"
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "example", "prometheus-operator-crd", file))
	if err != nil {
		t.Fatal(err)
	}
	var served apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &served); err != nil {
		t.Fatal(err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(served.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
		t.Fatal(err)
	}
	return internal
}

// TestMonitoringKinds holds objects of the Prometheus operator against its definitions,
// as kube-apiserver would: no value that is wrong and no field that is unknown.
func TestMonitoringKinds(t *testing.T) {
	kinds := map[string]int{}
	for _, object := range monitoring(t) {
		kinds[object.GetKind()]++
		t.Run(object.GetKind()+" "+object.GetName(), func(t *testing.T) {
			internal := definition(t, object.GetKind())
			validator, _, err := validation.NewSchemaValidator(internal)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range validation.ValidateCustomResource(nil, object.Object, validator) {
				t.Error(problem)
			}
			structural, err := schema.NewStructural(internal)
			if err != nil {
				t.Fatal(err)
			}
			options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
			for _, path := range pruning.PruneWithOptions(object.DeepCopy().Object, structural, true, options) {
				t.Errorf("there is no field %s", path)
			}
		})
	}
	if kinds["PrometheusRule"] != 1 || kinds["ServiceMonitor"] != 2 {
		t.Errorf("kinds %v, want one PrometheusRule and two ServiceMonitors", kinds)
	}
}

// monitor is what of a ServiceMonitor leads to a server.
type monitor struct {
	Spec struct {
		Selector struct {
			MatchLabels labels.Set `json:"matchLabels"`
		} `json:"selector"`
		Endpoints []struct {
			Port          string `json:"port"`
			Scheme        string `json:"scheme"`
			Authorization struct {
				Credentials corev1.SecretKeySelector `json:"credentials"`
			} `json:"authorization"`
			TLSConfig struct {
				ServerName string `json:"serverName"`
			} `json:"tlsConfig"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// TestServiceMonitors holds that each one finds one Service, by a port that this has,
// checks the certificate of that name, and shows a token that is shipped with it.
func TestServiceMonitors(t *testing.T) {
	var services []*corev1.Service
	for _, folder := range []string{"base", "manager"} {
		for _, object := range objects(t, folder) {
			if service, ok := object.(*corev1.Service); ok {
				services = append(services, service)
			}
		}
	}
	token := pick[*corev1.Secret](t, objects(t, "monitoring"))
	account := pick[*corev1.ServiceAccount](t, objects(t, "monitoring"))
	if token.Type != corev1.SecretTypeServiceAccountToken || token.Annotations[corev1.ServiceAccountNameKey] != account.Name {
		t.Errorf("Secret %s has no token of %s", token.Name, account.Name)
	}
	for _, object := range monitoring(t) {
		if object.GetKind() != "ServiceMonitor" {
			continue
		}
		var m monitor
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &m); err != nil {
			t.Fatal(err)
		}
		endpoint := m.Spec.Endpoints[0]
		var found []string
		for _, service := range services {
			if labels.SelectorFromSet(m.Spec.Selector.MatchLabels).Matches(labels.Set(service.Labels)) &&
				slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == endpoint.Port }) {
				found = append(found, service.Name+"."+service.Namespace+".svc")
			}
		}
		if want := []string{endpoint.TLSConfig.ServerName}; !slices.Equal(found, want) {
			t.Errorf("%s finds the Services %v and checks the name %s", object.GetName(), found, want)
		}
		credentials := endpoint.Authorization.Credentials
		if endpoint.Scheme != "https" || credentials.Name != token.Name || credentials.Key != corev1.ServiceAccountTokenKey {
			t.Errorf("%s does not show the token of Secret %s over HTTPS", object.GetName(), token.Name)
		}
	}
}
