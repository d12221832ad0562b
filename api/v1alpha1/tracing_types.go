package v1alpha1

// CollectorSpec says where a collector of OpenTelemetry is, and how it is reached.
type CollectorSpec struct {
	// endpoint is the collector's address for OTLP: http://otel-collector.observability:4317. With https the connection has TLS,
	// and the collector's certificate must be of an authority that is publicly trusted, or of the file that
	// OTEL_EXPORTER_OTLP_CERTIFICATE in server.env names. If protocol is HTTP, spans go to /v1/traces below the
	// address, and audit lines to /v1/logs.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != '' && (url(self).getPort() == '' || url(self).getPort().size() <= 5 && int(url(self).getPort()) >= 1 && int(url(self).getPort()) <= 65535) && !self.matches('[?#@]')",message="must be an http or https URL with a host, without user, query or fragment, and with a port of at most 65535 if it has one"
	Endpoint string `json:"endpoint,omitempty"`
	// protocol is GRPC (usually port 4317) or HTTP (usually port 4318); GRPC when absent.
	// +optional
	Protocol CollectorProtocol `json:"protocol,omitempty"`
	// headersSecretRef names a Secret with the headers to send to the collector, such as the key of a service: each key is a
	// header's name. A changed Secret is used at once. While it is missing, nothing is sent.
	// +optional
	HeadersSecretRef *SecretReference `json:"headersSecretRef,omitempty"`
}

// TracingSpec says where the traces of the endpoint go (OpenTelemetry), and what is in them. Neither rows nor the values of
// arguments ever are.
type TracingSpec struct {
	CollectorSpec `json:",inline"`
	// samplingRatePerMillion is how many of a million requests are traced, among those that come without a trace; all of them when
	// absent. A request that is part of a trace is traced if the caller's part is.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	SamplingRatePerMillion *int32 `json:"samplingRatePerMillion,omitempty"`
	// recordArguments adds a call's arguments to its span: Names shows the names of fields, lookups and options, and a question
	// mark in the place of each value. None when absent.
	// +optional
	RecordArguments RecordedArguments `json:"recordArguments,omitempty"`
	// recordStatements adds the SQL of each statement to its span: Text shows it with placeholders, as the database gets it,
	// without the values. None when absent.
	// +optional
	RecordStatements RecordedStatements `json:"recordStatements,omitempty"`
}

// CollectorProtocol is how a collector is sent something.
// +kubebuilder:validation:Enum=GRPC;HTTP
type CollectorProtocol string

// The protocols of OTLP.
const (
	CollectorGRPC CollectorProtocol = "GRPC"
	CollectorHTTP CollectorProtocol = "HTTP"
)

// RecordedArguments says how much of a call's arguments its span shows.
// +kubebuilder:validation:Enum=None;Names
type RecordedArguments string

// How much of a call's arguments its span shows.
const (
	RecordNoArguments   RecordedArguments = "None"
	RecordArgumentNames RecordedArguments = "Names"
)

// RecordedStatements says whether spans show the SQL of statements.
// +kubebuilder:validation:Enum=None;Text
type RecordedStatements string

// Whether spans show the SQL of statements.
const (
	RecordNoStatements  RecordedStatements = "None"
	RecordStatementText RecordedStatements = "Text"
)

// DefaultSamplingRatePerMillion has every request traced.
const DefaultSamplingRatePerMillion = 1_000_000

// EffectiveSamplingRatePerMillion is the sampling rate, or its default.
func (t *TracingSpec) EffectiveSamplingRatePerMillion() int32 {
	if t.SamplingRatePerMillion == nil {
		return DefaultSamplingRatePerMillion
	}
	return *t.SamplingRatePerMillion
}

// EffectiveProtocol is the protocol, or its default.
func (c *CollectorSpec) EffectiveProtocol() CollectorProtocol {
	if c.Protocol == "" {
		return CollectorGRPC
	}
	return c.Protocol
}

// HeadersSecret is the name of the Secret with the headers for the collector; "" if there is none. The spec may be nil.
func (c *CollectorSpec) HeadersSecret() string {
	if c == nil || c.HeadersSecretRef == nil {
		return ""
	}
	return c.HeadersSecretRef.Name
}

// HeadersSecret is the name of the Secret with the headers for the collector of traces; "" if there is none. The spec may be nil.
func (t *TracingSpec) HeadersSecret() string {
	if t == nil {
		return ""
	}
	return t.CollectorSpec.HeadersSecret()
}
