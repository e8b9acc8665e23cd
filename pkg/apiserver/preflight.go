/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// firstLook and lastLook bound the waits while something is in the way: removing
	// it is all that a person has to do, and then waits for us.
	firstLook = time.Second
	lastLook  = 15 * time.Second
	// laterLook is how often a serving server looks whether something got in the way.
	laterLook = 5 * time.Minute

	// lookTimeout bounds one look.
	lookTimeout = 30 * time.Second
)

// errPreflightUnknown is the state before the first answer of the cluster.
var errPreflightUnknown = errors.New("it is not known yet whether something else in the cluster has the API group of this server")

// serviceRef names the Service of this server.
type serviceRef struct {
	namespace, name string
}

// isTarget reports whether an APIService sends requests to the Service.
func (s serviceRef) isTarget(a *apiregistrationv1.APIService) bool {
	return a.Spec.Service != nil && a.Spec.Service.Namespace == s.namespace && a.Spec.Service.Name == s.name
}

func (s serviceRef) String() string {
	return s.namespace + "/" + s.name
}

// preflight looks for what would hide our group or send its requests elsewhere. A
// server that comes up next to such a thing is not ready: whoever installs it must
// learn of it before objects are in two places. A server that has been ready, or
// whose APIService is in place, only tells.
type preflight struct {
	clients registrationClients
	self    serviceRef
	clock   clock.Clock
	metrics *registrationMetrics

	mu sync.Mutex
	// err is what the readiness check answers.
	err error
	// passed says that err stays nil.
	passed bool
	// said is what was logged last.
	said string
}

func newPreflight(clients registrationClients, self serviceRef, c clock.Clock, metrics *registrationMetrics) *preflight {
	return &preflight{clients: clients, self: self, clock: c, metrics: metrics, err: errPreflightUnknown}
}

func (p *preflight) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// run looks until ctx ends: often while something is in the way of a server that
// is not ready, and rarely afterwards.
func (p *preflight) run(ctx context.Context) {
	retry := wait.Backoff{Duration: firstLook, Cap: lastLook, Factor: 2, Jitter: 0.1, Steps: 6}.DelayFunc()
	for ctx.Err() == nil {
		pause := wait.Jitter(laterLook, 0.2)
		if !p.look(ctx) {
			pause = retry()
		}
		timer := p.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// look takes one look and reports whether the check has passed.
func (p *preflight) look(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, err := p.find(ctx)
	logger := klog.FromContext(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		logger.V(2).Info("Looking for what has the API group of this server failed", "error", err.Error())
		if errors.Is(p.err, errPreflightUnknown) {
			p.err = fmt.Errorf("%w: %w", errPreflightUnknown, err)
		}
		return p.passed
	}
	p.metrics.set(problemCRD, len(found.crds))
	p.metrics.set(problemAPIService, found.foreign())
	text := strings.Join(found.obstacles(p.self), "; ")
	p.passed = p.passed || text == "" || found.registered
	p.err = nil
	if !p.passed {
		p.err = errors.New(text)
	}
	switch text {
	case p.said:
	case "":
		logger.Info("Nothing else in the cluster has the API group of this server any more")
	default:
		logger.Error(nil, "Something else in the cluster has the API group of this server", "detail", text, "ready", p.passed)
	}
	p.said = text
	return p.passed
}

// neighbours are what in a cluster has to do with our group.
type neighbours struct {
	// apiService is that of our group and version; nil without one.
	apiService *apiregistrationv1.APIService
	// registered says that it points to us.
	registered bool
	// crds are the names of definitions that serve our group and version.
	crds []string
}

// find asks the cluster.
func (p *preflight) find(ctx context.Context) (neighbours, error) {
	var found neighbours
	service, err := p.clients.dynamic.Resource(apiServices()).Get(ctx, apiServiceName(), metav1.GetOptions{})
	switch {
	case err == nil:
		if found.apiService, err = toAPIService(service.Object); err != nil {
			return neighbours{}, err
		}
		found.registered = p.self.isTarget(found.apiService)
	case !apierrors.IsNotFound(err):
		return neighbours{}, fmt.Errorf("read APIService %s: %w", apiServiceName(), err)
	}
	// The definitions of a cluster have megabytes, and a name ends with the group.
	definitions := p.clients.metadata.Resource(customResourceDefinitions())
	list, err := definitions.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return neighbours{}, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	for i := range list.Items {
		name := list.Items[i].Name
		if !strings.HasSuffix(name, "."+v1alpha1.SchemeGroupVersion.Group) {
			continue
		}
		serves, err := p.serves(ctx, name)
		if err != nil {
			return neighbours{}, err
		}
		if serves {
			found.crds = append(found.crds, name)
		}
	}
	slices.Sort(found.crds)
	return found, nil
}

// serves reports whether a definition serves our group and version.
func (p *preflight) serves(ctx context.Context, name string) (bool, error) {
	object, err := p.clients.dynamic.Resource(customResourceDefinitions()).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &definition); err != nil {
		return false, fmt.Errorf("understand CustomResourceDefinition %s: %w", name, err)
	}
	ours := v1alpha1.SchemeGroupVersion
	return definition.Spec.Group == ours.Group && slices.ContainsFunc(definition.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == ours.Version && v.Served
	}), nil
}

// foreign counts APIServices of our name that are not ours.
func (n neighbours) foreign() int {
	if n.apiService == nil || n.registered {
		return 0
	}
	return 1
}

// obstacles says of each thing that has our group what it is, why it matters and
// what to do.
func (n neighbours) obstacles(self serviceRef) []string {
	var out []string
	for _, name := range n.crds {
		out = append(out, fmt.Sprintf("CustomResourceDefinition %s serves %s, and so does this server: only one of them can be reached; "+
			"stop the controllers of the definition, save its objects (kubectl get %s -A -o yaml), delete the definition, which deletes its objects, "+
			"and create them again when this server is registered", name, v1alpha1.SchemeGroupVersion, name))
	}
	switch {
	case n.foreign() == 0, n.apiService.Spec.Service == nil && len(n.crds) > 0:
		// The cluster makes an APIService for a definition, and removes it with it.
	case n.apiService.Spec.Service == nil:
		out = append(out, fmt.Sprintf("APIService %s says that the cluster itself serves the group, not Service %s of this server; "+
			"it goes with the CustomResourceDefinition that it was made for; if there is none, delete it", apiServiceName(), self))
	default:
		target := n.apiService.Spec.Service
		out = append(out, fmt.Sprintf("APIService %s points to Service %s/%s, not to %s of this server; "+
			"uninstall what registered it, or start this server with --namespace and --service-name of that Service", apiServiceName(), target.Namespace, target.Name, self))
	}
	return out
}

// toAPIService reads an APIService as the dynamic client has it.
func toAPIService(object map[string]any) (*apiregistrationv1.APIService, error) {
	var service apiregistrationv1.APIService
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &service); err != nil {
		return nil, fmt.Errorf("understand APIService %s: %w", apiServiceName(), err)
	}
	return &service, nil
}
