package controllers

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// What the endpoint's reconciler asks of a program.

// configFacts are the known facts about an endpoint's Config at one moment.
type configFacts struct {
	// compiled reports whether there is anything to know. source is the endpoint that was compiled.
	compiled bool
	source   *v1alpha1.MCPEndpoint
	endpoint compile.Verdict
	// exposures are the verdicts on the endpoint's exposures.
	exposures map[types.NamespacedName]compile.Verdict
	// main is the main part as it should be; nil if the endpoint was never valid.
	main *contract.Config
	// inForce is the number of tokens that are let in.
	inForce int32
	// parts is how many token parts pods may read.
	parts int
	// stored reports whether there is a main part for pods to read.
	stored bool
	// problem says why the wanted Config could not be stored; nil if it could.
	problem *finding
}

// facts returns what is known of the Config.
func (p *program) facts() configFacts {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := configFacts{compiled: p.compiled, problem: p.problem}
	if !p.compiled {
		return f
	}
	c := p.compiler
	f.source, f.endpoint, f.exposures, f.main, f.inForce = c.Source(), c.Endpoint(), maps.Clone(c.Exposures()), c.Main(), int32(c.InForce())
	f.stored = c.HasMain()
	_, f.parts = c.Layout()
	return f
}

// evaluates reports whether the facts are about an endpoint's present state, or about nothing because its Config's name is
// somebody else's.
func (f configFacts) evaluates(e *v1alpha1.MCPEndpoint) bool {
	if !f.compiled {
		return f.problem != nil
	}
	return f.source.UID == e.UID && f.source.Generation >= e.Generation
}

// programmed reports whether an entry of the main part has reached every pod.
func (p *program) programmed(verdict compile.Verdict, now time.Time) finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mainProgrammed(verdict, now)
}

// knownReports are the last reports of the endpoint's pods; false if there never were any.
func (p *program) knownReports() (podReports, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports, p.observed
}

// absenceLeft is how long the absence of all pods still counts for nothing; 0 if one is there, or none was for long.
func (p *program) absenceLeft(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.absent.IsZero() {
		return 0
	}
	return max(0, absenceGrace-p.awayFor(now))
}
