/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"inferencecache.io/inference-cache/pkg/subscriber/scrape"
)

// Bounds of flags, far above what makes sense.
const (
	maxRanks         = 1024
	maxWindow        = 10 * time.Second
	minStatsInterval = 100 * time.Millisecond
)

// problem says what is wrong with a flag and what to do about it.
func problem(flag, value, wrong, remedy string) error {
	return fmt.Errorf("--%s %q: %s; %s", flag, value, wrong, remedy)
}

// Validate returns everything that is wrong with the options.
func (o *Options) Validate() error {
	return errors.Join(
		o.validateEngine(),
		o.validateIdentity(),
		o.validateServer(),
		o.validateTuning(),
		o.validateMetrics(),
	)
}

func (o *Options) validateEngine() error {
	var errs []error
	if o.HashScheme != string(scrape.VLLM) && o.HashScheme != string(scrape.SGLang) {
		errs = append(errs, problem("hash-scheme", o.HashScheme, "is not known", "use vllm or sglang"))
	}
	if o.DataParallelSize < 1 || o.DataParallelSize > maxRanks {
		errs = append(errs, problem("data-parallel-size", fmt.Sprint(o.DataParallelSize), "is out of range", fmt.Sprintf("use 1 to %d", maxRanks)))
		return errors.Join(errs...)
	}
	live, err := parseEndpoint("engine-endpoint", o.EngineEndpoint, o.DataParallelSize)
	errs = append(errs, err)
	if o.EngineReplayEndpoint != "" {
		replay, err := parseEndpoint("engine-replay-endpoint", o.EngineReplayEndpoint, o.DataParallelSize)
		errs = append(errs, err)
		if live.host == replay.host && live.overlaps(replay, o.DataParallelSize) {
			errs = append(errs, problem("engine-replay-endpoint", o.EngineReplayEndpoint,
				fmt.Sprintf("meets --engine-endpoint %s at another of %d ranks", o.EngineEndpoint, o.DataParallelSize),
				"put the two at least --data-parallel-size ports apart, for instance at 5557 and 5657"))
		}
	}
	if _, ok := removalRules()[o.BlockRemoved]; !ok {
		errs = append(errs, problem("block-removed", o.BlockRemoved, "is not known", "use auto, per-copy or last-copy"))
	}
	return errors.Join(errs...)
}

func (o *Options) validateIdentity() error {
	var errs []error
	for _, required := range []struct{ flag, value, remedy string }{
		{"replica-id", o.ReplicaID, "set it to the name of the engine's Pod"},
		{"tenant-id", o.TenantID, "set it to the tenant that the engine serves, usually the Pod's namespace"},
		{"model-id", o.ModelID, "set it to the model that the engine serves"},
	} {
		if required.value == "" {
			errs = append(errs, problem(required.flag, "", "is required", required.remedy))
		}
	}
	if o.ReplicaID != "" {
		if wrong := validation.IsDNS1123Subdomain(o.ReplicaID); len(wrong) > 0 {
			errs = append(errs, problem("replica-id", o.ReplicaID, strings.Join(wrong, ", "), "set it to the name of the engine's Pod"))
		}
	}
	if namespace := o.namespace(); namespace != "" {
		if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
			errs = append(errs, problem("namespace", namespace, strings.Join(wrong, ", "), "set it to the Pod's namespace; without it --tenant-id has to be one"))
		}
	}
	if o.Backend == "" {
		return errors.Join(errs...)
	}
	namespace, name := o.backend()
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		errs = append(errs, problem("backend", o.Backend, strings.Join(wrong, ", "), "use namespace/name or name"))
	}
	if namespace != o.namespace() {
		errs = append(errs, problem("backend", o.Backend, "is not in the Pod's namespace "+o.namespace(), "a CacheBackend has engines in its own namespace only: change it, --namespace or --tenant-id"))
	}
	return errors.Join(errs...)
}

func (o *Options) validateServer() error {
	var errs []error
	host, port, err := net.SplitHostPort(o.Server)
	if err != nil || host == "" || port == "" {
		errs = append(errs, problem("server", o.Server, "is no address", "use host:port"))
	}
	// The certificates may come later than we do, into a volume that is there: they are
	// published by namespace, and an engine must not wait for that.
	for _, file := range []struct{ flag, path, present string }{
		{"token-file", o.TokenFile, o.TokenFile}, {"ca-file", o.CAFile, filepath.Dir(o.CAFile)},
	} {
		if file.path == "" {
			continue
		}
		if _, err := os.Stat(file.present); err != nil {
			errs = append(errs, problem(file.flag, file.path, "cannot be read: "+err.Error(), "mount the file, or leave the flag out"))
		}
	}
	return errors.Join(errs...)
}

func (o *Options) validateTuning() error {
	var errs []error
	if o.Window <= 0 || o.Window > maxWindow {
		errs = append(errs, problem("window", o.Window.String(), "is out of range", "use more than 0 and at most "+maxWindow.String()))
	}
	if o.StatsInterval < minStatsInterval {
		errs = append(errs, problem("stats-interval", o.StatsInterval.String(), "is too short", "use at least "+minStatsInterval.String()))
	}
	if o.MaxConcurrencyCeiling < 1 {
		errs = append(errs, problem("max-concurrency-ceiling", fmt.Sprint(o.MaxConcurrencyCeiling), "is out of range", "use 1 or more"))
	}
	if o.EngineCacheSizeBytes < 0 {
		errs = append(errs, problem("engine-cache-size-bytes", fmt.Sprint(o.EngineCacheSizeBytes), "is negative", "use 0 when the size is not known"))
	}
	return errors.Join(errs...)
}

func (o *Options) validateMetrics() error {
	var errs []error
	if o.EngineMetricsURL != "" {
		u, err := url.Parse(o.EngineMetricsURL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			errs = append(errs, problem("engine-metrics-url", o.EngineMetricsURL, "is no HTTP address", "use http://host:port/metrics, or an empty text for none"))
		}
	}
	if o.MetricsBindAddress != noBind {
		if _, _, err := net.SplitHostPort(o.MetricsBindAddress); err != nil {
			errs = append(errs, problem("metrics-bind-address", o.MetricsBindAddress, "is no address", "use :port or host:port, or 0 for none"))
		}
	}
	return errors.Join(errs...)
}

// noBind is the value of MetricsBindAddress that serves nothing.
const noBind = "0"

// namespace returns the Pod's namespace.
func (o *Options) namespace() string {
	if o.Namespace != "" {
		return o.Namespace
	}
	return o.TenantID
}

// backend returns the namespace and the name of the CacheBackend.
func (o *Options) backend() (namespace, name string) {
	if namespace, name, found := strings.Cut(o.Backend, "/"); found {
		return namespace, name
	}
	if o.Backend == "" {
		return "", ""
	}
	return o.TenantID, o.Backend
}
