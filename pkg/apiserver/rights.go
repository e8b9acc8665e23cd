/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
)

// Asker is the part of the server that needs a right. Admission plugins go by the
// name that --disable-admission-plugins takes.
type Asker string

const (
	// AskerServer is what no flag switches off.
	AskerServer Asker = "Server"
	// AskerAuthentication reviews tokens, as the user of --authentication-kubeconfig.
	AskerAuthentication Asker = "Authentication"
	// AskerAuthenticationConfig reads whom the cluster's front proxy is known by,
	// as the user of --authentication-kubeconfig.
	AskerAuthenticationConfig Asker = "AuthenticationConfig"
	// AskerAuthorization reviews access, as the user of --authorization-kubeconfig.
	AskerAuthorization Asker = "Authorization"
	// AskerPriorityAndFairness follows the cluster's flow control.
	AskerPriorityAndFairness Asker = "PriorityAndFairness"
	// AskerCertificates makes the server's own certificates and publishes who signs
	// them.
	AskerCertificates Asker = "Certificates"
	// AskerEvents tells the cluster how the embedded etcd is.
	AskerEvents Asker = "Events"
)

// Consequence is what comes of a missing right. A larger one is worse.
type Consequence int

const (
	// Degraded means that something lesser does not work, and no request notices.
	Degraded Consequence = iota
	// Unready means that requests hang or fail, so none shall come here.
	Unready
	// Unstarted means that the library ends the process, so the start waits.
	Unstarted
)

// Right is something that the server has to be allowed in the cluster.
type Right struct {
	// Verbs are what it does.
	Verbs []string
	// Group, Resource and Subresource are what it does that to.
	Group, Resource, Subresource string
	// Namespace and Name narrow it; empty means all.
	Namespace, Name string
	// Asker needs it.
	Asker Asker
	// Without is what comes of not having it.
	Without Consequence
}

// ClusterRights returns every right that a server in a cluster needs with all its
// parts on: the rules that its roles have to have. Not among them is what the
// parameters of the cluster's admission policies are, because each policy names a
// kind of its own, and asking for one's own rights, which everybody may. The server
// is in the default namespace.
func ClusterRights() []Right {
	return ClusterRightsIn(DefaultNamespace)
}

// ClusterRightsIn is ClusterRights for a server in another namespace.
func ClusterRightsIn(namespace string) []Right {
	const (
		admission   = "admissionregistration.k8s.io"
		flowcontrol = "flowcontrol.apiserver.k8s.io"
	)
	watched := func(asker Asker, group, resource string) Right {
		return Right{Verbs: []string{"list", "watch"}, Group: group, Resource: resource, Asker: asker, Without: Unready}
	}
	create := func(asker Asker, group, resource string) Right {
		return Right{Verbs: []string{"create"}, Group: group, Resource: resource, Asker: asker, Without: Unready}
	}
	return append([]Right{
		{
			Verbs: []string{"get", "list", "watch"}, Resource: "configmaps", Namespace: "kube-system", Name: "extension-apiserver-authentication",
			Asker: AskerAuthenticationConfig, Without: Unstarted,
		},
		create(AskerAuthentication, "authentication.k8s.io", "tokenreviews"),
		create(AskerAuthorization, "authorization.k8s.io", "subjectaccessreviews"),
		// Most of admission knows them all; claims of tenants look one up.
		{Verbs: []string{"get", "list", "watch"}, Resource: "namespaces", Asker: AskerServer, Without: Unready},
		// Which backend an engine that reports belongs to; its metadata only.
		{Verbs: []string{"get"}, Resource: "pods", Asker: AskerServer, Without: Degraded},
		watched(mutatingpolicy.PluginName, admission, "mutatingadmissionpolicies"),
		watched(mutatingpolicy.PluginName, admission, "mutatingadmissionpolicybindings"),
		watched(mutatingwebhook.PluginName, admission, "mutatingwebhookconfigurations"),
		watched(validatingpolicy.PluginName, admission, "validatingadmissionpolicies"),
		watched(validatingpolicy.PluginName, admission, "validatingadmissionpolicybindings"),
		watched(validatingwebhook.PluginName, admission, "validatingwebhookconfigurations"),
		watched(resourcequota.PluginName, "", "resourcequotas"),
		{Verbs: []string{"update"}, Resource: "resourcequotas", Subresource: "status", Asker: resourcequota.PluginName, Without: Unready},
		watched(AskerPriorityAndFairness, flowcontrol, "flowschemas"),
		watched(AskerPriorityAndFairness, flowcontrol, "prioritylevelconfigurations"),
		// Conditions of flow schemas, which other API servers write as well.
		{Verbs: []string{"patch"}, Group: flowcontrol, Resource: "flowschemas", Subresource: "status", Asker: AskerPriorityAndFairness, Without: Degraded},
		// That the quota of the embedded etcd is used up, and that it is not any more.
		{Verbs: []string{"create", "patch"}, Group: "events.k8s.io", Resource: "events", Namespace: namespace, Asker: AskerEvents, Without: Degraded},
	}, registrationRights(namespace)...)
}

// Rules returns the rules that grant those of the rights that are of namespace,
// for a Role there, or for a ClusterRole when it is empty. Neighbours that differ
// only in their resources share one.
func Rules(namespace string, rights []Right) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, r := range rights {
		if r.Namespace != namespace {
			continue
		}
		rule := r.rule()
		if i := len(rules) - 1; i >= 0 && slices.Equal(rules[i].APIGroups, rule.APIGroups) &&
			slices.Equal(rules[i].Verbs, rule.Verbs) && slices.Equal(rules[i].ResourceNames, rule.ResourceNames) {
			rules[i].Resources = append(rules[i].Resources, rule.Resources...)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

func (r Right) rule() rbacv1.PolicyRule {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	rule := rbacv1.PolicyRule{Verbs: slices.Clone(r.Verbs), APIGroups: []string{r.Group}, Resources: []string{resource}}
	if r.Name != "" {
		rule.ResourceNames = []string{r.Name}
	}
	return rule
}

// String names the object of the right: resource.group, what is below it, and
// where.
func (r Right) String() string {
	s := schema.GroupResource{Group: r.Group, Resource: r.Resource}.String()
	if r.Subresource != "" {
		s += "/" + r.Subresource
	}
	if r.Name != "" {
		s += "/" + r.Name
	}
	if r.Namespace != "" {
		s += " in " + r.Namespace
	}
	return s
}

// describeMissing says in one line what is missing and how to grant it. missing
// are rights with only the verbs that are refused; the rules come from needed,
// where they are whole.
func describeMissing(missing, needed []Right) string {
	var what, grants, namespaces []string
	for _, r := range missing {
		what = append(what, strings.Join(r.Verbs, "+")+" "+r.String())
		if !slices.Contains(namespaces, r.Namespace) {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	slices.Sort(namespaces)
	for _, namespace := range namespaces {
		role := "ClusterRole"
		if namespace != "" {
			role = "Role in " + namespace
		}
		var rules []string
		for _, rule := range Rules(namespace, needed) {
			rules = append(rules, flow(rule))
		}
		grants = append(grants, fmt.Sprintf("add to the rules of its %s: [%s]", role, strings.Join(rules, ", ")))
	}
	return fmt.Sprintf("the server may not %s; %s", strings.Join(what, ", "), strings.Join(grants, "; "))
}

// flow writes a rule as YAML on one line, without the double quotes that a log
// would escape, so that it can be copied from there.
func flow(rule rbacv1.PolicyRule) string {
	list := func(key string, values []string) string {
		quoted := slices.Clone(values)
		for i, v := range quoted {
			if v == "" {
				quoted[i] = "''"
			}
		}
		return key + ": [" + strings.Join(quoted, ", ") + "]"
	}
	parts := []string{list("apiGroups", rule.APIGroups), list("resources", rule.Resources)}
	if len(rule.ResourceNames) > 0 {
		parts = append(parts, list("resourceNames", rule.ResourceNames))
	}
	return "{" + strings.Join(append(parts, list("verbs", rule.Verbs)), ", ") + "}"
}
