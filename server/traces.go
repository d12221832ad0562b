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
		settings = &tracing.Settings{
			URL: declared.URL, Protocol: declared.Protocol, RatePerMillion: declared.RatePerMillion,
			Arguments: declared.Arguments, Statements: declared.Statements,
		}
		if declared.Headers {
			var problem string
			if settings.Headers, problem = contract.CollectorHeaders(update.TracingHeaders); problem != "" {
				settings = nil
			}
			if problem != c.tracingProblem && problem != "" {
				c.log.Warn("No traces are sent: the Secret of the headers for their collector "+problem, "field", "spec.observability.tracing.headersSecretRef")
			}
			c.tracingProblem = problem
		}
	}
	if settings != nil {
		c.describe(settings, endpoint)
	}
	c.tracer.Configure(settings)
}

// describe says in the settings of what goes to a collector who sends it.
func (c *core) describe(settings *tracing.Settings, endpoint *contract.Endpoint) {
	settings.Service, settings.Namespace, settings.Version = endpoint.Name, endpoint.Namespace, c.version
	settings.Instance, settings.Endpoint = c.environment("POD_NAME"), endpoint.Namespace+"/"+endpoint.Name
}
