package tracing

import "strings"

// FromEnvironment returns the settings that OpenTelemetry's environment variables make; nil if they name no collector, or turn
// tracing off. What the variables say of headers, certificates and samplers the SDK reads itself.
func FromEnvironment(getenv func(string) string) *Settings {
	first := func(names ...string) string {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return value
			}
		}
		return ""
	}
	if strings.EqualFold(first("OTEL_SDK_DISABLED"), "true") || first("OTEL_TRACES_EXPORTER") == "none" ||
		first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return nil
	}
	s := &Settings{Protocol: ProtocolHTTP, RatePerMillion: -1}
	if first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc" {
		s.Protocol = ProtocolGRPC
	}
	return s
}
