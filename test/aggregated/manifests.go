/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver"
)

// kubectl runs the program against the cluster as its administrator.
func (i *Installation) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, i.options.Kubectl, append([]string{"--kubeconfig=" + i.options.Cluster.Kubeconfig()}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %q: %w\n%s", args, err, output)
	}
	return nil
}

// Apply applies everything but the APIService and the workload, which the
// processes stand for.
func (i *Installation) Apply(ctx context.Context) error {
	rights := apiserver.ClusterRights()
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: Name, Namespace: Namespace}}
	return i.apply(ctx, "base.json",
		&corev1.Namespace{TypeMeta: kind("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: Namespace}},
		&corev1.ServiceAccount{TypeMeta: kind("v1", "ServiceAccount"), ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: Namespace}},
		&corev1.Service{
			TypeMeta: kind("v1", "Service"), ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: Namespace},
			Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
		},
		&rbacv1.ClusterRole{TypeMeta: kind("rbac.authorization.k8s.io/v1", "ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: Name}, Rules: apiserver.Rules("", rights)},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: Name},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: Name}, Subjects: subjects,
		},
		&rbacv1.Role{
			TypeMeta: kind("rbac.authorization.k8s.io/v1", "Role"), ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: metav1.NamespaceSystem},
			Rules: apiserver.Rules(metav1.NamespaceSystem, rights),
		},
		&rbacv1.RoleBinding{
			TypeMeta: kind("rbac.authorization.k8s.io/v1", "RoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: metav1.NamespaceSystem},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Name}, Subjects: subjects,
		},
	)
}

// Register applies the APIService.
func (i *Installation) Register(ctx context.Context) error {
	number, err := strconv.ParseInt(i.Port(), 10, 32)
	if err != nil {
		return err
	}
	return i.apply(ctx, "apiservice.json", &apiregistrationv1.APIService{
		TypeMeta: kind("apiregistration.k8s.io/v1", "APIService"), ObjectMeta: metav1.ObjectMeta{Name: APIService},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: v1alpha1.GroupName, Version: v1alpha1.SchemeGroupVersion.Version, GroupPriorityMinimum: 1000, VersionPriority: 10,
			Service:  &apiregistrationv1.ServiceReference{Namespace: Namespace, Name: Name, Port: ptr.To(int32(number))},
			CABundle: i.authority,
		},
	})
}

func kind(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

func (i *Installation) apply(ctx context.Context, name string, objects ...any) error {
	var content bytes.Buffer
	for _, o := range objects {
		if err := json.NewEncoder(&content).Encode(o); err != nil {
			return err
		}
	}
	if err := os.WriteFile(i.path(name), content.Bytes(), 0o600); err != nil {
		return err
	}
	return i.kubectl(ctx, "apply", "--server-side", "-f", i.path(name))
}
