//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/test/programs"
)

// unused are rights that nothing here makes use of, with the reason.
var unused = map[string]string{
	"get leaderworkerset.x-k8s.io/leaderworkersets":   "the cluster has no such kind",
	"patch leaderworkerset.x-k8s.io/leaderworkersets": "the cluster has no such kind",
	"get apps/daemonsets":                             "no test has engines in one",
	"patch apps/daemonsets":                           "no test has engines in one",
	"patch events":                                    "an Event of the Lease is not repeated so soon",
	"patch events.k8s.io/events":                      "an Event is not repeated so soon",
	"update secrets":                                  "the authority is not replaced so soon",
}

// checkRights holds the roles of the manifests against what the manager has asked of
// the cluster: it was refused nothing, and may nothing that it does not do.
func checkRights() error {
	asked, refused, err := readAudit()
	if err != nil {
		return err
	}
	granted, err := readRoles()
	if err != nil {
		return err
	}
	failures := []error{}
	for _, request := range refused {
		failures = append(failures, fmt.Errorf("the manager was refused: %s", request))
	}
	for right := range granted {
		if resource, list := strings.CutPrefix(right, "list "); list && asked["watch "+resource] {
			continue // a cluster that can sends what is there as the beginning of a watch
		}
		if _, known := unused[right]; asked[right] == known {
			failures = append(failures, fmt.Errorf("the right %q: used %t, known as unused %t", right, asked[right], known))
		}
	}
	return errors.Join(failures...)
}

// readAudit returns what was asked, as verb and resource, and what was refused.
func readAudit() (asked map[string]bool, refused []string, err error) {
	log, err := os.ReadFile(environment.audit)
	if err != nil {
		return nil, nil, err
	}
	asked = map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, nil, err
		}
		if event.ObjectRef == nil {
			continue
		}
		right := nameRight(event.Verb, event.ObjectRef.APIGroup, event.ObjectRef.Resource, event.ObjectRef.Subresource)
		asked[right] = true
		if event.ResponseStatus != nil && event.ResponseStatus.Code == 403 && event.Annotations["authorization.k8s.io/decision"] != "allow" {
			refused = append(refused, right+" "+event.RequestURI)
		}
		if event.Verb == "patch" && event.ResponseStatus != nil && event.ResponseStatus.Code == 201 {
			// An apply that made an object.
			asked[nameRight("create", event.ObjectRef.APIGroup, event.ObjectRef.Resource, event.ObjectRef.Subresource)] = true
		}
	}
	// Asked on behalf of the manager by the cluster itself, when it says who owns what.
	asked["update inferencecache.io/cachebackends/finalizers"] = true
	asked["delete configmaps"] = true
	return asked, refused, lines.Err()
}

func nameRight(verb, group, resource, subresource string) string {
	name := resource
	if group != "" {
		name = group + "/" + name
	}
	if subresource != "" {
		name += "/" + subresource
	}
	return verb + " " + name
}

// readRoles returns what the manifests grant.
func readRoles() (map[string]bool, error) {
	root, err := programs.Repository()
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(filepath.Join(root, "artifacts", "manager", "roles.yaml"))
	if err != nil {
		return nil, err
	}
	granted := map[string]bool{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return granted, nil
		}
		if err != nil {
			return nil, err
		}
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal(document, &role); err != nil {
			return nil, err
		}
		for _, rule := range role.Rules {
			grant(granted, rule)
		}
	}
}

func grant(granted map[string]bool, rule rbacv1.PolicyRule) {
	for _, resource := range rule.Resources {
		resource, subresource, _ := strings.Cut(resource, "/")
		for _, verb := range slices.Compact(rule.Verbs) {
			granted[nameRight(verb, rule.APIGroups[0], resource, subresource)] = true
		}
	}
}
