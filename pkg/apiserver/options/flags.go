/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"inferencecache.io/inference-cache/pkg/index"
)

// Flags of the library that would do nothing here, and why. A flag that is
// listed has to work.
var withoutEffect = sets.New(
	"etcd-servers-overrides",                      // the storage factory of a single group ignores it
	"default-watch-cache-size",                    // deprecated no-op of the library
	"storage-backend",                             // there is one
	"storage-media-type",                          // our kinds have a JSON form only
	"cert-dir",                                    // certificates are given or made elsewhere
	"goaway-chance",                               // an aggregator does not repeat a request that was turned away
	"advertise-address",                           // nobody looks us up by it
	"emulation-forward-compatible",                // concerns beta versions of an API
	"runtime-config-emulation-forward-compatible", // concerns --runtime-config, which we do not have
)

// Groups of flags that need a cluster.
const (
	groupAuthentication = "authentication"
	groupAuthorization  = "authorization"
	groupAdmission      = "admission"
	groupCluster        = "cluster"
)

// priorityAndFairness stands in a group with flags that need no cluster.
const priorityAndFairness = "enable-priority-and-fairness"

// AddFlags adds all flags, in groups as they are shown by --help.
func (o *Options) AddFlags(fss *cliflag.NamedFlagSets) {
	o.flags = fss
	o.addOwnFlags(fss.FlagSet("inference cache"))
	add(fss.FlagSet("serving"), o.Recommended.SecureServing.AddFlags)
	add(fss.FlagSet("etcd"), o.Recommended.Etcd.AddFlags)
	add(fss.FlagSet("server"), o.ServerRun.AddUniversalFlags)
	add(fss.FlagSet("features"), o.Recommended.Features.AddFlags)
	add(fss.FlagSet("auditing"), o.Recommended.Audit.AddFlags)
	add(fss.FlagSet("tracing"), o.Recommended.Traces.AddFlags)
	o.Cluster.addFlags(fss.FlagSet(groupCluster))
	add(fss.FlagSet(groupCluster), o.Recommended.CoreAPI.AddFlags)
	add(fss.FlagSet(groupCluster), o.Recommended.EgressSelector.AddFlags)
	add(fss.FlagSet(groupAuthentication), o.Recommended.Authentication.AddFlags)
	add(fss.FlagSet(groupAuthorization), o.Recommended.Authorization.AddFlags)
	add(fss.FlagSet(groupAdmission), o.Recommended.Admission.AddFlags)
	logsapi.AddFlags(o.Logs, fss.FlagSet("logs"))

	describe(fss.FlagSet("etcd"), "etcd-servers",
		"URLs of the etcd members to store objects in, comma separated. Without this flag an etcd runs inside the process, in --data-dir.")
	describe(fss.FlagSet("tracing"), "tracing-config-file",
		"File with a TracingConfiguration (apiserver.config.k8s.io/v1): which collector spans are sent to, over OTLP, and of how many requests. "+
			"Without this flag nothing is traced.")
	describe(fss.FlagSet("logs"), "v",
		"How much is logged: 0 what an operator must see, 2 changes of state, 5 what goes on all the time.")
	describe(fss.FlagSet("serving"), "secure-port",
		"The port for HTTPS: API, metrics and health. 0 takes a free one, in standalone mode only.")
	describe(fss.FlagSet("serving"), "tls-cert-file",
		"File with the certificate for HTTPS and gRPC, followed by those between it and its authority. It is read anew when it changes. "+
			"Without it, and always in standalone mode, the server makes its own.")
	describe(fss.FlagSet("serving"), "bind-address",
		"The address for HTTPS. Default: all interfaces, or 127.0.0.1 in standalone mode, which accepts loopback addresses only.")
}

func (o *Options) addOwnFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Standalone, "standalone", o.Standalone,
		"Run without a Kubernetes cluster: own certificates, one bearer token, loopback addresses only. "+
			"Writes kubeconfig, token and ca.crt into --data-dir.")
	fs.StringVar(&o.DataDir, "data-dir", o.DataDir,
		"Directory for the embedded etcd and, in standalone mode, the credentials. One server at a time may use it. "+
			"Not used in a cluster with --etcd-servers. Default in standalone mode: "+defaultStandaloneDir+" in the working directory.")
	fs.Int64Var(&o.EtcdQuotaBytes, "embedded-etcd-quota-bytes", o.EtcdQuotaBytes,
		"Largest size of the embedded etcd's database in bytes. Beyond it writes are refused, and reads and deletions go on. 0 means the default. "+
			"Not used with --etcd-servers.")
	fs.StringVar(&o.GRPCBindAddress, "grpc-bind-address", o.GRPCBindAddress,
		"host:port of the gRPC server that engines report to and routers ask. Port 0 takes a free one. "+
			"Default: :"+defaultGRPCPort+", or "+loopback+":"+defaultGRPCPort+" in standalone mode.")
	fs.Var(&o.IndexMemory, "index-memory",
		"The most memory that the blocks of the live index may take, as a quantity such as 512Mi. What is beyond it is forgotten, in the order of "+
			"its namespace's CachePolicy, and the engines that have it are Degraded. 0 means no limit.")
	fs.DurationVar(&o.IndexWarmUp, "index-warm-up", o.IndexWarmUp,
		"How long after its start the server calls its index incomplete: in answers, and as NOT_SERVING in the health check of the gRPC service. "+
			"In that time every engine has to find it. Default: "+clusterWarmUp.String()+", or "+index.DefaultWarmUp.String()+" in standalone mode, which 0 stands for.")
	fs.StringArrayVar(&o.Tokenizers, "tokenizer", o.Tokenizers,
		"model=url of an HTTP tokenizer for lookups that send the prompt as text, such as llama=http://vllm:8000/tokenize; the path may be left out. "+
			"A url that ends in #chat wraps the text as a user's message. Once for each model; without it such lookups are answered NO_HINT.")
}

// add adds the flags of the library to fs, without those that have no effect.
func add(fs *pflag.FlagSet, addFlags func(*pflag.FlagSet)) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !withoutEffect.Has(f.Name) {
			fs.AddFlag(f)
		}
	})
}

// describe replaces the library's text where ours is truer.
func describe(fs *pflag.FlagSet, name, usage string) {
	if f := fs.Lookup(name); f != nil {
		f.Usage = usage
	}
}

// clusterFlagsGiven returns the flags that were given and need a cluster.
func (o *Options) clusterFlagsGiven() []string {
	if o.flags == nil {
		return nil
	}
	var given []string
	collect := func(f *pflag.Flag) {
		if f.Changed {
			given = append(given, "--"+f.Name)
		}
	}
	for _, group := range []string{groupCluster, groupAuthentication, groupAuthorization, groupAdmission} {
		o.flags.FlagSet(group).VisitAll(collect)
	}
	if f := o.flags.FlagSet("features").Lookup(priorityAndFairness); f != nil {
		collect(f)
	}
	return given
}
