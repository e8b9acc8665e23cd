//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/cmd/manager/app"
)

// TestManager holds the manager's container against the program that runs in it.
func TestManager(t *testing.T) {
	deployment := pick[*appsv1.Deployment](t, objects(t, "manager"))
	c := container(t, &deployment.Spec.Template.Spec)
	options := app.NewOptions()
	flags := pflag.NewFlagSet("container", pflag.ContinueOnError)
	options.AddFlags(flags)
	flags.Int("log-verbosity", 0, "")
	if err := flags.Parse(managerArgs(t, c)); err != nil {
		t.Fatalf("the program does not take the flags of the manifest: %v", err)
	}
	if err := options.Validate(); err != nil {
		t.Fatalf("the program refuses the flags of the manifest: %v", err)
	}
	if options.Namespace != "inference-cache-system" || !options.LeaderElect {
		t.Errorf("wrong options: %+v", options)
	}
	want := map[string]string{"webhook": strconv.Itoa(options.WebhookPort)}
	for name, address := range map[string]string{"metrics": options.MetricsAddress, "health": options.HealthAddress} {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = port
	}
	got := map[string]string{}
	for _, port := range c.Ports {
		got[port.Name] = strconv.Itoa(int(port.ContainerPort))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong ports (-program +manifest):\n%s", diff)
	}
	for path, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.String() != "health" {
			t.Errorf("wrong probe of %s: %+v", path, probe)
		}
	}
	if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
		t.Error("the container may write into its image")
	}
}

// managerArgs are the arguments of the container, with what the kubelet puts into
// them.
func managerArgs(t *testing.T, c *corev1.Container) []string {
	t.Helper()
	args := slices.Clone(c.Args)
	for i := range args {
		for _, variable := range c.Env {
			value := variable.Value
			if value == "" {
				value = "inference-cache-system"
			}
			args[i] = strings.ReplaceAll(args[i], "$("+variable.Name+")", value)
		}
		if strings.Contains(args[i], "$(") {
			t.Errorf("%s refers to a variable that is not there", args[i])
		}
	}
	return args
}
