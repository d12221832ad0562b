package server

import (
	"os"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// environment is where OpenTelemetry's variables are.
func (s *Server) environment() func(string) string {
	if s.Environment != nil {
		return s.Environment
	}
	return os.Getenv
}

// configureTracing has spans sent to where an update says, or else the environment. The settings of a Config that is gone stay.
func (c *core) configureTracing(update *source.Update) {
	if update.Config == nil {
		return
	}
	endpoint := &update.Config.Endpoint
	var settings *tracing.Settings
	var problem string
	if declared := endpoint.Tracing; declared == nil {
		settings, problem = tracing.FromEnvironment(c.environment)
	} else if settings, problem = settingsFor(&declared.Collector, update.TracingHeaders, "spec.observability.tracing.headersSecretRef"); settings != nil {
		settings.RatePerMillion, settings.Arguments, settings.Statements = declared.RatePerMillion, declared.Arguments, declared.Statements
	}
	c.tellUnsent("No traces are sent", problem, &c.tracingProblem)
	if settings != nil {
		c.describe(settings, endpoint)
	}
	c.tracer.Configure(settings)
}

// settingsFor are the settings to send to a collector, with the headers of a Secret that a field names; nil if the Secret cannot be used:
// problem says why.
func settingsFor(to *contract.Collector, headers source.Secret, field string) (settings *tracing.Settings, problem string) {
	settings = &tracing.Settings{URL: to.URL, Protocol: to.Protocol}
	if !to.Headers {
		return settings, ""
	}
	if settings.Headers, problem = contract.CollectorHeaders(headers); problem != "" {
		return nil, "the Secret of " + field + " " + problem
	}
	return settings, ""
}

// tellUnsent keeps why nothing is sent to a collector; "" if something is, or nothing is asked for. The log has each problem once.
func (c *core) tellUnsent(nothing, problem string, kept *string) {
	if problem != *kept && problem != "" {
		c.log.Warn(nothing + ": " + problem)
	}
	*kept = problem
}

// describe says in the settings of what goes to a collector who sends it.
func (c *core) describe(settings *tracing.Settings, endpoint *contract.Endpoint) {
	settings.Service, settings.Namespace, settings.Version = endpoint.Name, endpoint.Namespace, c.version
	settings.Instance, settings.Endpoint = c.environment("POD_NAME"), endpoint.Namespace+"/"+endpoint.Name
}
