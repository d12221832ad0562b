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
	settings := tracing.FromEnvironment(c.environment)
	if declared := endpoint.Tracing; declared != nil {
		settings = c.settingsFor(&declared.Collector, update.TracingHeaders, &c.tracingProblem,
			"No traces are sent: the Secret of the headers for their collector ", "spec.observability.tracing.headersSecretRef")
		if settings != nil {
			settings.RatePerMillion, settings.Arguments, settings.Statements = declared.RatePerMillion, declared.Arguments, declared.Statements
		}
	}
	if settings != nil {
		c.describe(settings, endpoint)
	}
	c.tracer.Configure(settings)
}

// settingsFor are the settings to send to a collector, with the headers of a Secret; nil if the Secret cannot be used. The log has that
// once: nothing begins its line, and field names the Secret. problem keeps what is wrong.
func (c *core) settingsFor(to *contract.Collector, headers source.Secret, problem *string, nothing, field string) *tracing.Settings {
	settings, found := &tracing.Settings{URL: to.URL, Protocol: to.Protocol}, ""
	if to.Headers {
		settings.Headers, found = contract.CollectorHeaders(headers)
	}
	if found != *problem && found != "" {
		c.log.Warn(nothing+found, "field", field)
	}
	if *problem = found; found != "" {
		return nil
	}
	return settings
}

// describe says in the settings of what goes to a collector who sends it.
func (c *core) describe(settings *tracing.Settings, endpoint *contract.Endpoint) {
	settings.Service, settings.Namespace, settings.Version = endpoint.Name, endpoint.Namespace, c.version
	settings.Instance, settings.Endpoint = c.environment("POD_NAME"), endpoint.Namespace+"/"+endpoint.Name
}
