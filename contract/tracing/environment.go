package tracing

import "strings"

// FromEnvironment returns the settings that OpenTelemetry's environment variables make; nil if they name no collector, or turn
// tracing off. problem says which variable names no collector that can be reached, and what would do. What the variables say of headers,
// certificates and samplers the SDK reads itself.
func FromEnvironment(getenv func(string) string) (settings *Settings, problem string) {
	first := func(names ...string) (name, value string) {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return name, value
			}
		}
		return "", ""
	}
	_, disabled := first("OTEL_SDK_DISABLED")
	_, exporter := first("OTEL_TRACES_EXPORTER")
	name, collector := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if strings.EqualFold(disabled, "true") || exporter == "none" || collector == "" {
		return nil, ""
	}
	if scheme, _, found := strings.Cut(strings.ToLower(collector), "://"); !found || scheme != "http" && scheme != "https" {
		// The SDK would send to localhost instead.
		return nil, name + " is no http or https URL, such as http://otel-collector.observability:4318"
	}
	settings = &Settings{Protocol: ProtocolHTTP, RatePerMillion: -1}
	if _, protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol == "grpc" {
		settings.Protocol = ProtocolGRPC
	}
	return settings, ""
}
