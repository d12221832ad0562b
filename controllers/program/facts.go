package program

import (
	"maps"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"k8s.io/apimachinery/pkg/types"
)

// What the endpoint's reconciler asks of a program.

// ConfigFacts are the known facts about an endpoint's Config at one moment.
type ConfigFacts struct {
	// Compiled reports whether there is anything to know. source is the endpoint that was compiled.
	Compiled bool
	source   *v1alpha1.MCPEndpoint
	Endpoint compile.Verdict
	// Exposures are the verdicts on the endpoint's exposures.
	Exposures map[types.NamespacedName]compile.Verdict
	// Main is the main part as it should be; nil if the endpoint was never valid.
	Main *contract.Config
	// InForce is the number of tokens that are let in.
	InForce int32
	// Parts is how many token parts pods may read.
	Parts int
	// Stored reports whether there is a main part for pods to read.
	Stored bool
	// Problem says why the wanted Config could not be stored; nil if it could.
	Problem *condition.Finding
}

// Facts returns what is known of the Config.
func (p *Program) Facts() ConfigFacts {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := ConfigFacts{Compiled: p.compiled, Problem: p.problem}
	if !p.compiled {
		return f
	}
	c := p.compiler
	f.source, f.Endpoint, f.Exposures, f.Main, f.InForce = c.Source(), c.Endpoint(), maps.Clone(c.Exposures()), c.Main(), int32(c.InForce())
	f.Stored = c.HasMain()
	_, f.Parts = c.Layout()
	return f
}

// Evaluates reports whether the facts are about an endpoint's present state, or about nothing because its Config's name is
// somebody else's.
func (f ConfigFacts) Evaluates(e *v1alpha1.MCPEndpoint) bool {
	if !f.Compiled {
		return f.Problem != nil
	}
	return f.source.UID == e.UID && f.source.Generation >= e.Generation
}

// Programmed reports whether an entry of the main part has reached every pod.
func (p *Program) Programmed(verdict compile.Verdict, now time.Time) condition.Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mainProgrammed(verdict, now)
}

// KnownReports are the last reports of the endpoint's pods; false if there never were any.
func (p *Program) KnownReports() (PodReports, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports, p.observed
}

// AbsenceLeft is how long the absence of all pods still counts for nothing; 0 if one is there, or none was for long.
func (p *Program) AbsenceLeft(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.absent.IsZero() {
		return 0
	}
	return max(0, absenceGrace-p.awayFor(now))
}
