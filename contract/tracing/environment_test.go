package tracing_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

func TestTheEnvironmentNamesACollector(t *testing.T) {
	const general, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for name, c := range map[string]struct {
		variables map[string]string
		protocol  string
		problem   string
	}{
		"nothing":                 {nil, "", ""},
		"a collector":             {map[string]string{general: "http://otel:4318"}, tracing.ProtocolHTTP, ""},
		"with TLS, over gRPC":     {map[string]string{traces: "https://otel:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, tracing.ProtocolGRPC, ""},
		"a scheme in capitals":    {map[string]string{general: "HTTP://otel:4318"}, tracing.ProtocolHTTP, ""},
		"no scheme":               {map[string]string{general: "otel:4317"}, "", general + " is no http or https URL"},
		"another scheme":          {map[string]string{traces: "grpc://otel:4317", general: "http://otel:4318"}, "", traces + " is no http or https URL"},
		"switched off":            {map[string]string{general: "otel:4317", "OTEL_SDK_DISABLED": "true"}, "", ""},
		"another exporter":        {map[string]string{general: "http://otel:4318", "OTEL_TRACES_EXPORTER": "none"}, "", ""},
		"a variable of its own":   {map[string]string{traces: "http://otel:4318", general: "otel"}, tracing.ProtocolHTTP, ""},
		"a protocol of its own":   {map[string]string{general: "http://otel:4317", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"}, tracing.ProtocolGRPC, ""},
		"spaces around the value": {map[string]string{general: " http://otel:4318 "}, tracing.ProtocolHTTP, ""},
	} {
		settings, problem := tracing.FromEnvironment(func(name string) string { return c.variables[name] })
		protocol := ""
		if settings != nil {
			protocol = settings.Protocol
		}
		if protocol != c.protocol || (problem == "") != (c.problem == "") || !strings.HasPrefix(problem, c.problem) {
			t.Errorf("%s: got protocol %q and problem %q, want %q and %q", name, protocol, problem, c.protocol, c.problem)
		}
	}
}
