package main

import (
	"fmt"
	"time"
)

// result has the measurements of one scenario. Sizes are bytes.
type result struct {
	Scenario scenario `json:"scenario"`
	// Objects became Ready, and "an object" means one of them; NotReady did not.
	Objects  int           `json:"objects"`
	NotReady int           `json:"notReady"`
	Ready    time.Duration `json:"readyNanoseconds"`
	Ceiling  ceiling       `json:"ceiling"`

	Bulk         phase  `json:"bulk"`
	UnderLoad    probed `json:"underLoad"`
	Quiet        probed `json:"quiet"`
	Steady       phase  `json:"steady"`
	SteadyTokens probed `json:"steadyTokens"`
	GroupEdit    phase  `json:"groupEdit"`
	Idle         phase  `json:"idle"`
	Restart      phase  `json:"restart"`
	Memory       memory `json:"memory"`
	// Refused is the number of the manager's writes that the API server refused.
	Refused int `json:"refusedWrites"`
}

type memory struct {
	Ready       int64 `json:"ready"`
	Peak        int64 `json:"peak"`
	Heap        int64 `json:"heap"`
	Restarted   int64 `json:"restarted"`
	RestartPeak int64 `json:"restartPeak"`
}

// phase has the changes between two notes.
type phase struct {
	// Per is the number of objects or changes that the phase was about.
	Per     int     `json:"per"`
	Seconds float64 `json:"seconds"`
	// Writes are the manager's, ByKind each kind of them, Reads its other requests but watches, Ours the laboratory's writes.
	Writes int            `json:"writes"`
	ByKind map[string]int `json:"writesByKind"`
	Reads  int            `json:"reads"`
	Ours   int64          `json:"laboratoryWrites"`
	// Configs is how often Configs were written, ConfigBytes how much.
	Configs     int64                   `json:"configWrites"`
	ConfigBytes int64                   `json:"configBytes"`
	Reconciles  map[string]distribution `json:"reconciles"`
	// The CPU seconds of each process.
	ManagerCPU    float64 `json:"managerCPU"`
	APIServerCPU  float64 `json:"apiServerCPU"`
	EtcdCPU       float64 `json:"etcdCPU"`
	LaboratoryCPU float64 `json:"laboratoryCPU"`
}

// distribution describes a controller's reconcile times.
type distribution struct {
	Count float64 `json:"n"`
	P50   float64 `json:"p50ms"`
	P99   float64 `json:"p99ms"`
}

// phaseOf returns the changes between two notes, about so many objects or changes.
func phaseOf(before, after notes, per int) phase {
	cpu := after.spent.since(before.spent)
	p := phase{
		Per: per, Seconds: after.at.Sub(before.at).Seconds(),
		ByKind: map[string]int{}, Ours: after.ours - before.ours,
		Configs: after.configs - before.configs, ConfigBytes: after.configBytes - before.configBytes,
		Reconciles: map[string]distribution{},
		ManagerCPU: cpu.manager.Seconds(), APIServerCPU: cpu.apiServer.Seconds(), EtcdCPU: cpu.etcd.Seconds(), LaboratoryCPU: cpu.laboratory.Seconds(),
	}
	for key, n := range after.asked.since(before.asked) {
		if key.writes() {
			p.Writes += n
			p.ByKind[key.Verb+" "+key.Resource] += n
		} else {
			p.Reads += n
		}
	}
	for controller, h := range after.metrics.since(before.metrics).reconciles() {
		p.Reconciles[controller] = distribution{h.total(), 1000 * h.quantile(0.5), 1000 * h.quantile(0.99)}
	}
	return p
}

// reconciled is the number of reconciles of all controllers.
func (p phase) reconciled() float64 {
	total := 0.0
	for _, d := range p.Reconciles {
		total += d.Count
	}
	return total
}

// slowest is the highest p99 of a controller, in ms.
func (p phase) slowest() float64 {
	highest := 0.0
	for _, d := range p.Reconciles {
		highest = max(highest, d.P99)
	}
	return highest
}

// each is a number for each object or change; 0 if there are none.
func (p phase) each(total float64) float64 {
	if p.Per == 0 {
		return 0
	}
	return total / float64(p.Per)
}

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// line is the scenario in one line.
func (r *result) line() string {
	line := fmt.Sprintf("scale: %d endpoints, %d tokens: ready %.1f s", r.Scenario.Endpoints, r.Scenario.Endpoints*r.Scenario.Tokens, r.Ready.Seconds())
	if r.Ceiling.Floor > 0 {
		line += fmt.Sprintf(", %.2f of the ceiling", r.Ceiling.share(r))
	}
	line += fmt.Sprintf(", issue p99 %.0f ms, revoke p99 %.0f ms, memory %d MiB", milliseconds(r.UnderLoad.Issued.quantile(0.99)),
		milliseconds(r.UnderLoad.Revoked.quantile(0.99)), r.Memory.Peak>>20)
	if r.Idle.Seconds > 0 {
		line += fmt.Sprintf(", idle writes %d", r.Idle.Writes)
	}
	if r.NotReady > 0 {
		line += fmt.Sprintf("; NOT READY: %d objects", r.NotReady)
	}
	return line
}
