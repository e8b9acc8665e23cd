/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber

import (
	"time"

	"github.com/spf13/pflag"

	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
	"inferencecache.io/inference-cache/pkg/subscriber/scrape"
)

// Options are what a subscriber is told on its command line.
type Options struct {
	// EngineEndpoint and EngineReplayEndpoint are the sockets of rank 0; those of
	// rank r are r ports further. Without the second one nothing that was missed
	// can be had.
	EngineEndpoint, EngineReplayEndpoint string
	// Topic selects messages by the beginning of their topic; empty selects all.
	Topic string
	// DataParallelSize is the number of ranks.
	DataParallelSize int
	// HashScheme is the engine: vllm or sglang.
	HashScheme string

	// Server is the index, as host:port.
	Server string
	// TokenFile, CAFile and TLSServerName are how the two sides know each other.
	TokenFile, CAFile, TLSServerName string

	// ReplicaID is the Pod's name, Namespace the Pod's namespace, which is the
	// tenant's when it is empty.
	ReplicaID, Namespace string
	// TenantID and ModelID are the scope of everything reported.
	TenantID, ModelID string
	// Backend is the CacheBackend that the engine belongs to, as namespace/name or
	// as a name in the tenant's namespace; empty leaves that to the index.
	Backend string

	// Window is how long changes are collected before they are reported.
	Window time.Duration
	// IgnoreBlockRemoved reports what the engine evicts as inferred in T2.
	IgnoreBlockRemoved bool
	// BlockRemoved is the meaning of a removal: auto, per-copy or last-copy.
	BlockRemoved string
	// AdaptersLoadedOnce promises that the engine never loads an adapter again that
	// it has unloaded.
	AdaptersLoadedOnce bool

	// EngineMetricsURL is the engine's own page of metrics; empty reads none.
	EngineMetricsURL string
	// StatsInterval is the time between two readings of it.
	StatsInterval time.Duration
	// MaxConcurrencyCeiling is the number of requests that counts as full load.
	MaxConcurrencyCeiling int
	// EngineCacheSizeBytes is the size of the engine's cache; 0 is unknown.
	EngineCacheSizeBytes int64

	// MetricsBindAddress is where our own metrics and health are served; "0"
	// serves none.
	MetricsBindAddress string
	// ClientVersion is the version that the index is told.
	ClientVersion string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		EngineEndpoint:        "tcp://127.0.0.1:5557",
		DataParallelSize:      1,
		HashScheme:            string(scrape.VLLM),
		Server:                "127.0.0.1:9090",
		Window:                report.DefaultWindow,
		BlockRemoved:          removalAuto,
		EngineMetricsURL:      "http://127.0.0.1:8000/metrics",
		StatsInterval:         scrape.DefaultInterval,
		MaxConcurrencyCeiling: 256,
		MetricsBindAddress:    ":9102",
	}
}

// Values of BlockRemoved.
const (
	removalAuto     = "auto"
	removalPerCopy  = "per-copy"
	removalLastCopy = "last-copy"
)

// removalRules are the meanings of the values of BlockRemoved.
func removalRules() map[string]mirror.RemovalRule {
	return map[string]mirror.RemovalRule{
		removalAuto: mirror.Auto, removalPerCopy: mirror.PerCopy, removalLastCopy: mirror.LastCopy,
	}
}

// AddFlags binds the options to flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.EngineEndpoint, "engine-endpoint", o.EngineEndpoint, "PUB socket of the engine's rank 0; rank r is r ports further.")
	fs.StringVar(&o.EngineReplayEndpoint, "engine-replay-endpoint", o.EngineReplayEndpoint, "ROUTER socket on which the engine's rank 0 replays messages; rank r is r ports further. Empty: nothing that was missed can be had.")
	fs.StringVar(&o.Topic, "topic", o.Topic, "Take messages whose topic begins with this; empty takes all.")
	fs.IntVar(&o.DataParallelSize, "data-parallel-size", o.DataParallelSize, "Number of data-parallel ranks of the engine, 1 to 1024.")
	fs.StringVar(&o.HashScheme, "hash-scheme", o.HashScheme, "The engine, which decides how its block hashes are read: vllm or sglang.")
	fs.StringVar(&o.Server, "server", o.Server, "The index, as host:port. Every address of the host gets all reports.")
	fs.StringVar(&o.TokenFile, "token-file", o.TokenFile, "File with the bearer token; it is read anew for every session. Empty sends none, which an index refuses.")
	fs.StringVar(&o.CAFile, "ca-file", o.CAFile, "File with the certificates that verify the index; it is read anew for every session and may come after the start, into a folder that is there. Empty trusts those of the system.")
	fs.StringVar(&o.TLSServerName, "tls-server-name", o.TLSServerName, "Name on the certificate of the index; empty is the host of --server.")
	fs.StringVar(&o.ReplicaID, "replica-id", o.ReplicaID, "Name of the engine's Pod. Required.")
	fs.StringVar(&o.Namespace, "namespace", o.Namespace, "Namespace of the engine's Pod; empty is --tenant-id.")
	fs.StringVar(&o.TenantID, "tenant-id", o.TenantID, "Tenant that the engine serves, usually the Pod's namespace. Required.")
	fs.StringVar(&o.ModelID, "model-id", o.ModelID, "Model that the engine serves. Required.")
	fs.StringVar(&o.Backend, "backend", o.Backend, "CacheBackend that the engine belongs to, as namespace/name, or as a name in the namespace that --tenant-id names. Empty leaves it to the index to find out.")
	fs.DurationVar(&o.Window, "window", o.Window, "How long changes are collected before they are reported, above 0 and at most 10s.")
	fs.BoolVar(&o.IgnoreBlockRemoved, "ignore-block-removed", o.IgnoreBlockRemoved, "Report evicted blocks as inferred in T2, for engines whose second tier is not announced.")
	fs.StringVar(&o.BlockRemoved, "block-removed", o.BlockRemoved, "What one removal means: per-copy, last-copy, or auto to find out.")
	fs.BoolVar(&o.AdaptersLoadedOnce, "adapters-loaded-once", o.AdaptersLoadedOnce, "Promise that no LoRA adapter is unloaded and loaded again while the engine runs. SGLang then hides the adapter's blocks without an event, so without this promise answers under its adapters are 0, exact: false. vLLM does not need it.")
	fs.StringVar(&o.EngineMetricsURL, "engine-metrics-url", o.EngineMetricsURL, "URL of the engine's own metrics, from which its load is known; empty reads none.")
	fs.DurationVar(&o.StatsInterval, "stats-interval", o.StatsInterval, "Time between two readings of the engine's metrics, at least 100ms.")
	fs.IntVar(&o.MaxConcurrencyCeiling, "max-concurrency-ceiling", o.MaxConcurrencyCeiling, "Number of requests at which the engine counts as fully loaded, 1 or more.")
	fs.Int64Var(&o.EngineCacheSizeBytes, "engine-cache-size-bytes", o.EngineCacheSizeBytes, "Size of the engine's cache in bytes; 0 means that it is not known.")
	fs.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, "host:port where metrics and health are served; 0 serves none.")
}
