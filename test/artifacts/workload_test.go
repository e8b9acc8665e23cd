//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	cliflag "k8s.io/component-base/cli/flag"

	"inferencecache.io/inference-cache/pkg/apiserver/options"
)

// template returns the Pods that a workload makes.
func template(t *testing.T, all []runtime.Object) *corev1.PodTemplateSpec {
	t.Helper()
	for _, object := range all {
		switch o := object.(type) {
		case *appsv1.StatefulSet:
			return &o.Spec.Template
		case *appsv1.Deployment:
			return &o.Spec.Template
		}
	}
	t.Fatal("no workload")
	return nil
}

// expand replaces $(NAME) as the kubelet does, by what the variable of the
// container comes from.
func expand(t *testing.T, c *corev1.Container, all []runtime.Object) []string {
	t.Helper()
	values := map[string]string{}
	for _, variable := range c.Env {
		switch from := variable.ValueFrom; {
		case from.ConfigMapKeyRef != nil:
			configMap := pick[*corev1.ConfigMap](t, all)
			if configMap.Name != from.ConfigMapKeyRef.Name {
				t.Fatalf("%s comes from the ConfigMap %q, and there is %q", variable.Name, from.ConfigMapKeyRef.Name, configMap.Name)
			}
			values[variable.Name] = configMap.Data[from.ConfigMapKeyRef.Key]
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
			values[variable.Name] = "inference-cache-system"
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.name":
			values[variable.Name] = "inference-cache-apiserver-0"
		}
	}
	expanded := slices.Clone(c.Args)
	reference := regexp.MustCompile(`\$\(([^)]*)\)`)
	for i, arg := range expanded {
		expanded[i] = reference.ReplaceAllStringFunc(arg, func(s string) string {
			name := s[2 : len(s)-1]
			if _, known := values[name]; !known {
				t.Errorf("%s: no variable %s", arg, name)
			}
			return values[name]
		})
	}
	return expanded
}

// parse gives the arguments of the container to the program's own options.
func parse(t *testing.T, args []string) *options.Options {
	t.Helper()
	o := options.New()
	var groups cliflag.NamedFlagSets
	o.AddFlags(&groups)
	flags := pflag.NewFlagSet("container", pflag.ContinueOnError)
	for _, set := range groups.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatalf("the program does not take the flags of the manifest: %v", err)
	}
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatalf("the program refuses the flags of the manifest: %v", err)
	}
	return o
}

// TestContainer holds the container against the program that runs in it.
func TestContainer(t *testing.T) {
	for _, folder := range workloads {
		t.Run(folder, func(t *testing.T) {
			all := objects(t, folder)
			pod := &template(t, all).Spec
			c := container(t, pod)
			o := parse(t, expand(t, c, all))

			_, grpc, err := net.SplitHostPort(o.GRPCBindAddress)
			if err != nil {
				t.Fatal(err)
			}
			ports := map[string]string{}
			for _, port := range c.Ports {
				ports[port.Name] = strconv.Itoa(int(port.ContainerPort))
			}
			if diff := cmp.Diff(map[string]string{"https": strconv.Itoa(o.Recommended.SecureServing.BindPort), "grpc": grpc}, ports); diff != "" {
				t.Errorf("wrong ports (-program +manifest):\n%s", diff)
			}
			checkMemory(t, c, o.IndexMemory.Quantity)
			checkProbes(t, c)
			longest := o.ServerRun.ShutdownDelayDuration + o.ServerRun.RequestTimeout + o.ServerRun.ShutdownWatchTerminationGracePeriod
			if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace <= longest {
				t.Errorf("the Pod is killed after %s, and the server may need %s to stop", grace, longest)
			}
			if o.ServerRun.ShutdownDelayDuration != 10*time.Second || o.ServerRun.GoawayChance != 0 {
				t.Errorf("shutdown delay %s, chance of GOAWAY %v; want 10s and none", o.ServerRun.ShutdownDelayDuration, o.ServerRun.GoawayChance)
			}
			if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
				t.Error("the container may write into its image")
			}
			checkFiles(t, all, pod, c)
		})
	}
}

// checkMemory holds that the index and the rest of the server fit into what is
// requested.
func checkMemory(t *testing.T, c *corev1.Container, index resource.Quantity) {
	t.Helper()
	const rest = "150M"
	index.Add(resource.MustParse(rest))
	if requested := c.Resources.Requests.Memory(); requested.Cmp(index) < 0 {
		t.Errorf("%s of memory are requested; the index and %s are %s", requested, rest, &index)
	}
	if limit := c.Resources.Limits.Memory(); limit.Cmp(index) < 0 {
		t.Errorf("the limit of memory is %s; the index and %s are %s", limit, rest, &index)
	}
}

// checkProbes holds what the kubelet asks for.
func checkProbes(t *testing.T, c *corev1.Container) {
	t.Helper()
	want := map[string]string{"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
	got := map[string]string{}
	for name, probe := range map[string]*corev1.Probe{"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Scheme != corev1.URISchemeHTTPS || probe.HTTPGet.Port.String() != "https" {
			t.Errorf("the probe of %s does not ask the port https: %+v", name, probe)
			continue
		}
		got[name] = probe.HTTPGet.Path
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong probes (-want +got):\n%s", diff)
	}
}

// checkFiles holds that every file that a flag names lies in a volume, that every
// volume is used and that each mount has one.
func checkFiles(t *testing.T, all []runtime.Object, pod *corev1.PodSpec, c *corev1.Container) {
	t.Helper()
	volumes := map[string]bool{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = true
	}
	for _, object := range all {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			for _, claim := range set.Spec.VolumeClaimTemplates {
				volumes[claim.Name] = true
			}
		}
	}
	mounted := map[string]bool{}
	for _, mount := range c.VolumeMounts {
		mounted[mount.Name] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(volumes)), slices.Sorted(maps.Keys(mounted))); diff != "" {
		t.Errorf("volumes and mounts differ (-volumes +mounts):\n%s", diff)
	}
	for _, arg := range c.Args {
		_, path, _ := strings.Cut(arg, "=")
		if !strings.HasPrefix(path, "/") {
			continue
		}
		inside := func(m corev1.VolumeMount) bool {
			return path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/")
		}
		if !slices.ContainsFunc(c.VolumeMounts, inside) {
			t.Errorf("%s is in no volume", arg)
		}
	}
}

// TestRollout holds that two replicas never become none.
func TestRollout(t *testing.T) {
	deployment := pick[*appsv1.Deployment](t, objects(t, "overlays/ha"))
	update := deployment.Spec.Strategy.RollingUpdate
	got := []string{
		strconv.Itoa(int(*deployment.Spec.Replicas)), update.MaxSurge.String(), update.MaxUnavailable.String(),
		strconv.Itoa(int(deployment.Spec.MinReadySeconds)),
	}
	if diff := cmp.Diff([]string{"2", "1", "0", "45"}, got); diff != "" {
		t.Errorf("wrong replicas, surge, unavailable and seconds to be ready (-want +got):\n%s", diff)
	}
}
