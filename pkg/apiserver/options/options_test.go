/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"inferencecache.io/inference-cache/pkg/storage/dirlock"
)

// parse returns completed options as the command line makes them.
func parse(t *testing.T, args ...string) *Options {
	t.Helper()
	o := New()
	var groups cliflag.NamedFlagSets
	o.AddFlags(&groups)
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, set := range groups.FlagSets {
		fs.AddFlagSet(set)
	}
	if err := fs.Parse(args); err != nil {
		t.Fatalf("parse %v: %v", args, err)
	}
	if err := o.Complete(); err != nil {
		t.Fatalf("complete %v: %v", args, err)
	}
	return o
}

func TestDefaults(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	type settings struct {
		DataDir, Bind, GRPC string
		Port                int
		Embedded            bool
		WarmUp              time.Duration
	}
	tests := map[string]struct {
		args []string
		want settings
	}{
		"standalone": {
			args: []string{"--standalone"},
			want: settings{DataDir: filepath.Join(wd, "inference-cache-data"), Bind: "127.0.0.1", GRPC: "127.0.0.1:9090", Port: 6443, Embedded: true, WarmUp: 10 * time.Second},
		},
		"standalone with everything given": {
			args: []string{"--standalone", "--data-dir=/d", "--bind-address=::1", "--grpc-bind-address=localhost:1", "--secure-port=0", "--etcd-servers=http://127.0.0.1:2379", "--index-warm-up=1s"},
			want: settings{DataDir: "/d", Bind: "::1", GRPC: "localhost:1", WarmUp: time.Second},
		},
		"cluster": {
			args: []string{"--data-dir=d"},
			want: settings{DataDir: filepath.Join(wd, "d"), Bind: "0.0.0.0", GRPC: ":9090", Port: 6443, Embedded: true, WarmUp: 45 * time.Second},
		},
		"cluster with its own etcd": {
			args: []string{"--etcd-servers=https://a:2379,https://b:2379"},
			want: settings{Bind: "0.0.0.0", GRPC: ":9090", Port: 6443, WarmUp: 45 * time.Second},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := parse(t, tc.args...)
			got := settings{
				DataDir: o.DataDir, Bind: o.Recommended.SecureServing.BindAddress.String(), GRPC: o.GRPCBindAddress,
				Port: o.Recommended.SecureServing.BindPort, Embedded: o.embeddedEtcd(), WarmUp: o.IndexWarmUp,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wrong defaults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	tls := []string{"--tls-cert-file=c", "--tls-private-key-file=k"}
	tests := map[string]struct {
		args []string
		// want are parts of the error; none means valid.
		want []string
	}{
		"standalone":                        {args: []string{"--standalone"}},
		"standalone, free ports":            {args: []string{"--standalone", "--secure-port=0", "--grpc-bind-address=127.0.0.1:0"}},
		"standalone, local etcd":            {args: []string{"--standalone", "--etcd-servers=http://127.0.0.1:2379"}},
		"cluster":                           {args: append([]string{"--data-dir=d"}, tls...)},
		"cluster, own etcd":                 {args: append([]string{"--etcd-servers=https://a:2379"}, tls...)},
		"cluster without storage":           {args: tls, want: []string{"--data-dir: required without --etcd-servers"}},
		"cluster with its own certificates": {args: []string{"--data-dir=d", "--namespace=ns", "--certificate-lifetime=1h", "--ca-lifetime=4h", "--pod-name=a.b"}},
		"cluster with half a certificate": {
			args: []string{"--data-dir=d", "--tls-cert-file=c"},
			want: []string{"--tls-cert-file, --tls-private-key-file: give both, or none"},
		},
		"certificates that end before they are replaced": {
			args: []string{"--data-dir=d", "--certificate-lifetime=1s"},
			want: []string{"--certificate-lifetime: 1s is too short", "give at least 10s"},
		},
		"certificates that outlive their authority": {
			args: []string{"--data-dir=d", "--certificate-lifetime=4h", "--ca-lifetime=15h"},
			want: []string{"--ca-lifetime: 15h0m0s is too short for certificates that live for 4h0m0s; give at least 16h0m0s, or a shorter --certificate-lifetime"},
		},
		"lifetimes of given certificates": {
			args: append([]string{"--data-dir=d", "--ca-lifetime=100h", "--certificate-lifetime=1h"}, tls...),
			want: []string{"--certificate-lifetime: no effect with --tls-cert-file", "--ca-lifetime: no effect with --tls-cert-file"},
		},
		"names that are none": {
			args: []string{"--data-dir=d", "--namespace=a.b", "--service-name=A", "--index-service-name=", "--pod-name=_"},
			want: []string{`--namespace: "a.b" is no name`, `--service-name: "A" is no name`, `--index-service-name: "" is no name`, `--pod-name: "_" is no name`},
		},
		"one Service for both ports": {
			args: []string{"--data-dir=d", "--index-service-name=inference-cache-apiserver"},
			want: []string{`--index-service-name: "inference-cache-apiserver" is the name that --service-name gives to another Service`},
		},
		"where in a cluster, in standalone mode": {
			args: []string{"--standalone", "--namespace=a", "--ca-lifetime=1000h"},
			want: []string{"--ca-lifetime, --namespace: no effect in standalone mode"},
		},
		"cluster on a free port": {
			args: append([]string{"--data-dir=d", "--secure-port=0"}, tls...),
			want: []string{"--secure-port: 0 takes a free port and is for standalone mode"},
		},
		"standalone on all interfaces": {
			args: []string{"--standalone", "--bind-address=0.0.0.0"},
			want: []string{"--bind-address: standalone mode serves loopback addresses only, not 0.0.0.0"},
		},
		"standalone gRPC on all interfaces": {
			args: []string{"--standalone", "--grpc-bind-address=:9090"},
			want: []string{"--grpc-bind-address: standalone mode serves loopback addresses only, not all interfaces"},
		},
		"every problem at once": {
			args: []string{"--standalone", "--bind-address=10.0.0.1", "--grpc-bind-address=10.0.0.1:1", "--request-timeout=-1s"},
			want: []string{"--bind-address", "--grpc-bind-address", "--request-timeout"},
		},
		"gRPC address without a port": {
			args: []string{"--standalone", "--grpc-bind-address=localhost"},
			want: []string{"--grpc-bind-address: must be host:port"},
		},
		"flags of a cluster in standalone mode": {
			args: []string{"--standalone", "--kubeconfig=k", "--authorization-kubeconfig=k", "--enable-priority-and-fairness=false"},
			want: []string{"--kubeconfig", "--authorization-kubeconfig", "--enable-priority-and-fairness", "no effect in standalone mode"},
		},
		"certificates in standalone mode": {
			args: append([]string{"--standalone"}, tls...),
			want: []string{"standalone mode makes its own certificates"},
		},
		"index memory":         {args: []string{"--standalone", "--index-memory=512Mi"}},
		"negative warm-up":     {args: []string{"--standalone", "--index-warm-up=-1s"}, want: []string{"--index-warm-up: must not be below 0, is -1s"}},
		"index without limit":  {args: []string{"--standalone", "--index-memory=0"}},
		"index memory below 0": {args: []string{"--standalone", "--index-memory=-1Gi"}, want: []string{"--index-memory: must not be below 0, is -1Gi"}},
		"tokenizers":           {args: []string{"--standalone", "--tokenizer=llama=http://vllm:8000", "--tokenizer=org/qwen=https://vllm/tokenize#chat"}},
		"tokenizers that are none": {
			args: []string{"--standalone", "--tokenizer=llama", "--tokenizer=m=http://a", "--tokenizer=m=http://b"},
			want: []string{"--tokenizer: ", `"llama" is not of the form model=url`, `"m"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := parse(t, tc.args...).Validate()
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("error %v, want parts %q", err, tc.want)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error does not say %q: %v", part, err)
				}
			}
		})
	}
}

// TestFlags holds the public names and that nothing without effect is offered.
func TestFlags(t *testing.T) {
	o := New()
	var groups cliflag.NamedFlagSets
	o.AddFlags(&groups)
	listed := map[string]*pflag.Flag{}
	for _, set := range groups.FlagSets {
		set.VisitAll(func(f *pflag.Flag) { listed[f.Name] = f })
	}
	for _, name := range []string{
		"standalone", "data-dir", "secure-port", "bind-address", "grpc-bind-address", "embedded-etcd-quota-bytes",
		"etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "shutdown-delay-duration", "request-timeout",
		"audit-policy-file", "tracing-config-file",
		"namespace", "service-name", "index-service-name", "pod-name", "certificate-lifetime", "ca-lifetime", "feature-gates", "v", "logging-format",
	} {
		if listed[name] == nil {
			t.Errorf("flag --%s is missing", name)
		}
	}
	for name := range withoutEffect {
		if listed[name] != nil {
			t.Errorf("flag --%s does nothing and is listed", name)
		}
	}
	for name, f := range listed {
		if f.Usage == "" {
			t.Errorf("flag --%s has no description", name)
		}
	}
}

// TestWithoutEffect fails when the library drops or renames a flag that is
// hidden here, so that the list does not go stale.
func TestWithoutEffect(t *testing.T) {
	o := New()
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, add := range []func(*pflag.FlagSet){
		o.Recommended.SecureServing.AddFlags, o.Recommended.Etcd.AddFlags, o.ServerRun.AddUniversalFlags,
	} {
		add(all)
	}
	for name := range withoutEffect {
		if all.Lookup(name) == nil {
			t.Errorf("the library has no flag --%s", name)
		}
	}
}

func TestConfigReleasesWhatItOpened(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"port taken":      {args: []string{"--secure-port=" + port, "--grpc-bind-address=127.0.0.1:0"}, want: "--secure-port"},
		"gRPC port taken": {args: []string{"--secure-port=0", "--grpc-bind-address=127.0.0.1:" + port}, want: "--grpc-bind-address"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := parse(t, append(tc.args, "--standalone", "--data-dir="+dir)...)
			o.UnsafeNoFsync = true
			config, err := o.Config(t.Context())
			if err == nil {
				t.Fatalf("made a configuration; close: %v", config.Close())
			}
			if !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "address already in use") {
				t.Errorf("error %v does not name %s", err, tc.want)
			}
			lock, err := dirlock.Acquire(dir)
			if err != nil {
				t.Fatalf("data directory was not given up: %v", err)
			}
			if err := lock.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestExternalEtcdLocksCredentials(t *testing.T) {
	dir := t.TempDir()
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	o := parse(t, "--standalone", "--data-dir="+dir, "--etcd-servers=http://127.0.0.1:1", "--secure-port=0", "--grpc-bind-address=127.0.0.1:0")
	config, err := o.Config(t.Context())
	if err == nil {
		t.Fatalf("made a configuration; close: %v", config.Close())
	}
	if _, ok := errors.AsType[*dirlock.InUseError](err); !ok {
		t.Errorf("error is %v, want an InUseError", err)
	}
}
