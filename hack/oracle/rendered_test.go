/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// judges are the strategies of the kinds that a store consists of.
var judges = map[string]rest.RESTCreateStrategy{
	"Deployment":              deployment.Strategy,
	"StatefulSet":             statefulset.Strategy,
	"Service":                 service.Strategy,
	"HorizontalPodAutoscaler": horizontalpodautoscaler.Strategy,
	"PodDisruptionBudget":     poddisruptionbudget.Strategy,
	"NetworkPolicy":           networkpolicy.Strategy,
	"Secret":                  secret.Strategy,
}

// TestRenderedIsAccepted holds that a cluster takes every object that the examples
// of the stores are rendered as, and warns of none.
func TestRenderedIsAccepted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "pkg", "adapters", "stores", "testdata", "render", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, ".objects.yaml") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			backend := &v1alpha1.CacheBackend{}
			if err := yaml.UnmarshalStrict(raw, backend); err != nil {
				t.Fatal(err)
			}
			v1alpha1.SetObjectDefaults_CacheBackend(backend)
			for _, object := range render(t, backend).List() {
				errs, warnings := judge(t, object)
				if len(errs) > 0 || len(warnings) > 0 {
					t.Errorf("%T: refused %v, warned %q", object, errs, warnings)
				}
				judged[object.GetObjectKind().GroupVersionKind().Kind]++
			}
		})
	}
	for kind := range judges {
		if judged[kind] == 0 {
			t.Errorf("no example has a %s", kind)
		}
	}
}

// judge returns what a cluster says against an object and of it.
func judge(t *testing.T, object workload.Object) (field.ErrorList, []string) {
	t.Helper()
	kind := object.GetObjectKind().GroupVersionKind()
	strategy, known := judges[kind.Kind]
	if !known {
		t.Fatalf("nobody judges a %s", kind)
	}
	served := object.DeepCopyObject()
	legacyscheme.Scheme.Default(served)
	judged, err := legacyscheme.Scheme.UnsafeConvertToVersion(served, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		t.Fatal(err)
	}
	if service, is := judged.(*core.Service); is && len(service.Spec.ClusterIPs) == 0 && service.Spec.ClusterIP != "" {
		service.Spec.ClusterIPs = []string{service.Spec.ClusterIP} // as the storage does before it asks the strategy
	}
	ctx := genericapirequest.WithNamespace(t.Context(), object.GetNamespace())
	strategy.PrepareForCreate(ctx, judged)
	return strategy.Validate(ctx, judged), strategy.WarningsOnCreate(ctx, judged)
}
