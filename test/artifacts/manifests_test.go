//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver"
)

// TestObjects holds what is applied, by what is applied first.
func TestObjects(t *testing.T) {
	common := []string{
		"namespace/inference-cache-system",
		"resourcequota/inference-cache-critical in inference-cache-system",
		"serviceaccount/inference-cache-apiserver in inference-cache-system",
		"role/inference-cache-apiserver in inference-cache-system",
		"role/inference-cache-apiserver in kube-system",
		"clusterrole/inference-cache-apiserver",
		"clusterrole/inference-cache-edit",
		"clusterrole/inference-cache-view",
		"rolebinding/inference-cache-apiserver in inference-cache-system",
		"rolebinding/inference-cache-apiserver in kube-system",
		"clusterrolebinding/inference-cache-apiserver",
		"service/inference-cache-apiserver in inference-cache-system",
		"service/inference-cache-index in inference-cache-system",
		"flowschema/inference-cache-apiserver",
		"networkpolicy/inference-cache-apiserver in inference-cache-system",
	}
	tests := map[string][]string{
		"base": append(slices.Clone(common), "statefulset/inference-cache-apiserver in inference-cache-system"),
		"overlays/ha": append(slices.Clone(common),
			"configmap/inference-cache-etcd in inference-cache-system",
			"deployment/inference-cache-apiserver in inference-cache-system",
			"poddisruptionbudget/inference-cache-apiserver in inference-cache-system"),
		"overlays/cert-manager": append(slices.Clone(common),
			"statefulset/inference-cache-apiserver in inference-cache-system",
			"certificate/inference-cache-authority in inference-cache-system",
			"certificate/inference-cache-serving in inference-cache-system",
			"issuer/inference-cache-authority in inference-cache-system",
			"issuer/inference-cache-selfsigned in inference-cache-system"),
		"manager": {
			"serviceaccount/inference-cache-manager in inference-cache-system",
			"role/inference-cache-manager in inference-cache-system",
			"clusterrole/inference-cache-manager",
			"rolebinding/inference-cache-manager in inference-cache-system",
			"clusterrolebinding/inference-cache-manager",
			"service/inference-cache-manager in inference-cache-system",
			"deployment/inference-cache-manager in inference-cache-system",
			"poddisruptionbudget/inference-cache-manager in inference-cache-system",
			"mutatingwebhookconfiguration/inference-cache-manager",
		},
		"monitoring": {
			"serviceaccount/inference-cache-metrics in inference-cache-system",
			"secret/inference-cache-metrics in inference-cache-system",
			"clusterrole/inference-cache-metrics",
			"clusterrolebinding/inference-cache-metrics",
			"prometheusrule/inference-cache in inference-cache-system",
			"servicemonitor/inference-cache-apiserver in inference-cache-system",
			"servicemonitor/inference-cache-manager in inference-cache-system",
		},
		"apiservice":                       {"apiservice/v1alpha1.inferencecache.io"},
		"overlays/cert-manager/apiservice": {"apiservice/v1alpha1.inferencecache.io"},
	}
	for _, folder := range kustomizations {
		t.Run(folder, func(t *testing.T) {
			var got []string
			all := objects(t, folder)
			for _, object := range all {
				name := key(t, object)
				if configMap, ok := object.(*corev1.ConfigMap); ok {
					// A hash of the content follows the name.
					name = strings.Replace(name, configMap.Name, configMap.Name[:strings.LastIndex(configMap.Name, "-")], 1)
				}
				got = append(got, name)
			}
			if len(all) > 1 && folder != "manager" && folder != "monitoring" {
				if _, ok := all[0].(*corev1.Namespace); !ok {
					t.Errorf("the first object is %s, want the namespace", got[0])
				}
			}
			want := tests[folder]
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("wrong objects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRegistration holds that the group leads to our Service, verified.
func TestRegistration(t *testing.T) {
	const inject = "cert-manager.io/inject-ca-from"
	tests := map[string]map[string]string{
		"apiservice":                       nil,
		"overlays/cert-manager/apiservice": {inject: "inference-cache-system/inference-cache-serving"},
	}
	services := map[string]*corev1.Service{}
	for _, object := range objects(t, "base") {
		if service, ok := object.(*corev1.Service); ok {
			services[service.Name] = service
		}
	}
	for folder, annotations := range tests {
		t.Run(folder, func(t *testing.T) {
			got := pick[*apiregistrationv1.APIService](t, objects(t, folder))
			port := services[apiserver.DefaultServiceName].Spec.Ports[0].Port
			want := apiregistrationv1.APIServiceSpec{
				Group: v1alpha1.GroupName, Version: v1alpha1.SchemeGroupVersion.Version, GroupPriorityMinimum: 1000, VersionPriority: 15,
				Service: &apiregistrationv1.ServiceReference{Namespace: apiserver.DefaultNamespace, Name: apiserver.DefaultServiceName, Port: &port},
			}
			if diff := cmp.Diff(want, got.Spec); diff != "" {
				t.Errorf("wrong APIService (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(annotations, got.Annotations); diff != "" {
				t.Errorf("wrong annotations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingInsecure looks for what must never be shipped, whoever asks for it.
func TestNothingInsecure(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, word := range []string{"insecureSkipTLSVerify", "insecure-skip-tls-verify", "caBundle:", "privileged: true", "hostNetwork"} {
			if strings.Contains(string(content), word) {
				t.Errorf("%s has %s", path, word)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSelectors holds that what points to Pods points to ours, by names of ports
// that they have.
func TestSelectors(t *testing.T) {
	for _, folder := range slices.Concat(workloads, []string{"manager"}) {
		t.Run(folder, func(t *testing.T) {
			all := objects(t, folder)
			pod := template(t, all)
			ports := map[string]bool{}
			for _, port := range container(t, &pod.Spec).Ports {
				ports[port.Name] = true
			}
			for _, object := range all {
				selector, named := pointer(object)
				if selector == nil {
					continue
				}
				if selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
					t.Errorf("%s selects %q, not the Pods with %v", key(t, object), selector, pod.Labels)
				}
				for _, name := range named {
					if !ports[name] {
						t.Errorf("%s names the port %q, which the container does not have", key(t, object), name)
					}
				}
			}
		})
	}
}

// pointer returns which Pods an object is about, and the ports of them it names.
func pointer(object runtime.Object) (selector labels.Selector, ports []string) {
	switch o := object.(type) {
	case *corev1.Service:
		for _, port := range o.Spec.Ports {
			ports = append(ports, port.TargetPort.String())
		}
		return labels.SelectorFromSet(o.Spec.Selector), ports
	case *networkingv1.NetworkPolicy:
		for _, rule := range o.Spec.Ingress {
			for _, port := range rule.Ports {
				ports = append(ports, port.Port.String())
			}
		}
		return mustSelector(&o.Spec.PodSelector), ports
	case *policyv1.PodDisruptionBudget:
		return mustSelector(o.Spec.Selector), nil
	default:
		return nil, nil
	}
}

// mustSelector returns one that selects nothing if it is malformed, which no Pod
// then matches.
func mustSelector(s *metav1.LabelSelector) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// TestFlowSchema holds that the server's requests do not queue behind those that
// wait for them.
func TestFlowSchema(t *testing.T) {
	all := objects(t, "base")
	schema := pick[*flowcontrolv1.FlowSchema](t, all)
	account := pick[*corev1.ServiceAccount](t, all)
	if got := schema.Spec.PriorityLevelConfiguration.Name; got != "system" {
		t.Errorf("priority level %q, want system", got)
	}
	// That of all service accounts is at 9000.
	if got := schema.Spec.MatchingPrecedence; got >= 9000 {
		t.Errorf("precedence %d comes after that of all service accounts", got)
	}
	want := []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{
		Namespace: account.Namespace, Name: account.Name,
	}}}
	if diff := cmp.Diff(want, schema.Spec.Rules[0].Subjects); diff != "" {
		t.Errorf("wrong subjects (-want +got):\n%s", diff)
	}
}
