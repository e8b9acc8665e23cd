/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Container is the name of the engine's container in a Pod that has several.
const Container = "vllm"

// connector is LMCache inside the engine.
const connector = "LMCacheConnectorV1"

// Variables of the engine and of LMCache in it.
const (
	envV1            = "VLLM_USE_V1"
	envHashSeed      = "PYTHONHASHSEED"
	envRemoteURL     = "LMCACHE_REMOTE_URL"
	envRemoteSerde   = "LMCACHE_REMOTE_SERDE"
	envChunkSize     = "LMCACHE_CHUNK_SIZE"
	envLocalCPU      = "LMCACHE_LOCAL_CPU"
	envMaxLocalCPU   = "LMCACHE_MAX_LOCAL_CPU_SIZE"
	envMetricsFolder = "PROMETHEUS_MULTIPROC_DIR"
)

// defaultHostMemory is the host tier's size in GiB when none is given: LMCache inside
// an engine would take 5, which is less than an accelerator holds.
const defaultHostMemory = 20

// Where the engine's processes put their metrics for one of them to serve. Without
// such a folder the engine serves none of LMCache's.
const (
	metricsVolume = "inference-cache-metrics"
	metricsFolder = "/var/run/inference-cache/metrics"
)

// programs are what stands in front of the engine's flags.
func programs() []string {
	return []string{"serve", "vllm.entrypoints.openai.api_server", "api_server.py"}
}

// Engine returns the engine's container in a Pod.
func Engine(pod *corev1.Pod) (*corev1.Container, error) {
	return wiring.EngineContainer(pod, Container, func(c *corev1.Container) bool {
		_, flags, err := read(c)
		return err == nil && (flags.Events != nil || wiring.HasEnv(c, adapters.EnvFailOpen))
	})
}

// read returns what an engine's container is started with.
func read(container *corev1.Container) (*wiring.CommandLine, Flags, error) {
	line, err := wiring.ReadCommandLine(container, programs()...)
	if err != nil {
		return nil, Flags{}, err
	}
	flags, err := ParseFlags(line.Args)
	switch {
	case err != nil:
		return nil, Flags{}, wiring.Refuse(wiring.ReasonEngineArguments, "vLLM would refuse its arguments: %v", err)
	case flags.ConfigFile != "":
		return nil, Flags{}, wiring.Refuse(wiring.ReasonConfigFile,
			"vLLM reads flags from %s, which may set what wiring sets; give these flags in args", flags.ConfigFile)
	}
	return line, flags, nil
}

// Inject wires the engine of a Pod to LMCache.
func Inject(pod *corev1.Pod, r wiring.Request) error {
	engine, err := Engine(pod)
	if err != nil {
		return err
	}
	line, flags, err := read(engine)
	if err != nil {
		return err
	}
	if flags.OffloadingSize != 0 {
		return wiring.Refuse(wiring.ReasonOwnConnector,
			"--kv-offloading-size gives the engine a connector of its own; remove it, or use mode EventsOnly")
	}
	if err := setConnector(line, flags.Transfer, r); err != nil {
		return err
	}
	setVariables(engine, r)
	if err := setMetricsFolder(pod, engine); err != nil {
		return err
	}
	if r.HostNetwork() {
		pod.Spec.HostNetwork = true
		pod.Spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	return nil
}

// setConnector gives the engine its connector, or completes the same one that a user
// has given. Another one stays: two would replace each other without a word.
func setConnector(line *wiring.CommandLine, given *TransferConfig, r wiring.Request) error {
	want := map[string]any{keyConnector: connector, keyRole: roleOf(r.Role())}
	if !r.OmitLoadFailurePolicy {
		want[keyPolicy] = policyFail
		if r.FailOpen() {
			want[keyPolicy] = policyRecompute
		}
	}
	if given == nil {
		line.Append("--kv-transfer-config", encode(want))
		return nil
	}
	if given.Connector != "" && (given.Connector != connector || given.Role != want[keyRole] || given.ModulePath != "") {
		return wiring.Refuse(wiring.ReasonOwnConnector,
			"--kv-transfer-config names connector %s as %s; the backend wants %s as %s: remove the flag, or use mode EventsOnly",
			given.Connector, given.Role, connector, want[keyRole])
	}
	complete(line, given, want)
	return nil
}

// complete adds what is missing to a configuration in the form in which it was given:
// members beat a whole, so that a whole beside them would be lost.
func complete(line *wiring.CommandLine, given *TransferConfig, want map[string]any) {
	merged, changed := maps.Clone(given.members), false
	for _, key := range []string{keyConnector, keyRole, keyPolicy} {
		value, wanted := want[key]
		if !wanted || merged[key] == value {
			continue
		}
		merged[key], changed = value, true
		if given.form.dotted {
			line.Append(given.form.before + key + "=" + value.(string))
		}
	}
	if changed && !given.form.dotted {
		line.Replace(given.form.at, given.form.before+encode(merged))
	}
}

// encode writes JSON with its keys in order.
func encode(value map[string]any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // what was read from JSON can be written
	}
	return string(text)
}

// roleOf returns what the connector calls a role.
func roleOf(role v1alpha1.IntegrationRole) string {
	switch role {
	case v1alpha1.IntegrationRoleReadOnly:
		return "kv_consumer"
	case v1alpha1.IntegrationRoleWriteOnly:
		return "kv_producer"
	default:
		return "kv_both"
	}
}

// setVariables configures LMCache in the engine, over what was there.
func setVariables(engine *corev1.Container, r wiring.Request) {
	size, given := r.HostMemory(defaultHostMemory)
	// Without a store the host tier is all there is.
	local := given || r.Store == nil
	serde := r.LMCache().RemoteSerde
	if serde == "" {
		serde = "naive"
	}
	for _, variable := range []corev1.EnvVar{
		{Name: envV1, Value: "1"},
		// LMCache takes Python's own hash, which differs from process to process unless
		// it is seeded: ranks would not find each other's blocks.
		{Name: envHashSeed, Value: "0"},
		{Name: envChunkSize, Value: r.ChunkSize()},
		{Name: envLocalCPU, Value: pythonBool(local)},
		{Name: envMaxLocalCPU, Value: strconv.FormatInt(size, 10)},
		{Name: envRemoteSerde, Value: serde},
		{Name: adapters.EnvFailOpen, Value: strconv.FormatBool(r.FailOpen())},
	} {
		wiring.SetEnv(engine, variable)
	}
	if r.Store == nil {
		wiring.UnsetEnv(engine, envRemoteURL)
		return
	}
	wiring.SetEnv(engine, corev1.EnvVar{Name: envRemoteURL, Value: string(r.Store.Binding) + "://" + r.Store.Address()})
}

func pythonBool(value bool) string {
	if value {
		return "True"
	}
	return "False"
}

// setMetricsFolder gives the engine a folder for the metrics of its processes, unless
// it has one. Counters in it go on when the engine's container restarts.
func setMetricsFolder(pod *corev1.Pod, engine *corev1.Container) error {
	if wiring.HasEnv(engine, envMetricsFolder) {
		return nil
	}
	ours := slices.ContainsFunc(engine.VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.Name == metricsVolume && m.MountPath == metricsFolder
	})
	if wiring.HasVolume(pod, metricsVolume) && !ours {
		return wiring.Refuse(wiring.ReasonReservedName, "the Pod has a volume called %s; give it another name", metricsVolume)
	}
	wiring.SetVolume(pod, corev1.Volume{Name: metricsVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	wiring.SetMount(engine, corev1.VolumeMount{Name: metricsVolume, MountPath: metricsFolder})
	wiring.SetEnv(engine, corev1.EnvVar{Name: envMetricsFolder, Value: metricsFolder})
	return nil
}
