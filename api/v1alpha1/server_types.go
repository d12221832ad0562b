package v1alpha1

// ServerSpec says how the server's pods run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.autoscaling)",message="replicas and autoscaling exclude each other: remove one of them"
type ServerSpec struct {
	WorkloadSpec `json:",inline"`
	// image overrides the server image that the manager was started with.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`
	Image string `json:"image,omitempty"`
	// basePath stands before /mcp/ in the endpoint's path; none when absent.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9._~-]+)+$`
	BasePath string `json:"basePath,omitempty"`
	// tls makes the server itself speak HTTPS. Absent, it speaks HTTP, and a proxy in front of it should add TLS.
	// +optional
	TLS *ServerTLS `json:"tls,omitempty"`
	// limits bound what one request may cost.
	// +optional
	Limits ServerLimits `json:"limits,omitempty,omitzero"`
}

// ServerTLS is how the server protects the connections of agents: TLS 1.2 or later, with HTTP/2.
type ServerTLS struct {
	// certificateSecretRef names a Secret of type kubernetes.io/tls, as cert-manager writes them: tls.crt is the
	// certificate and its chain, tls.key the private key. A changed Secret is used at once, without a restart. If the
	// Secret is missing or its key does not fit, the last good certificate stays in use.
	// +required
	CertificateSecretRef SecretReference `json:"certificateSecretRef,omitzero"`
}

// ServerLimits bound what requests may cost.
type ServerLimits struct {
	// maxBodyBytes is the largest request body; 4194304 (4 MiB) when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=67108864
	MaxBodyBytes int64 `json:"maxBodyBytes,omitempty"`
	// maxConcurrentRequests is how many requests one pod answers at once; more get 503. 200 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	MaxConcurrentRequests int32 `json:"maxConcurrentRequests,omitempty"`
	// maxResultBytes is the most bytes of rows that a call may ask for; 1048576 (1 MiB) when absent. A call that does not
	// ask gets 65536 (64 KiB), or maxResultBytes if that is less.
	// +optional
	// +kubebuilder:validation:Minimum=16384
	// +kubebuilder:validation:Maximum=67108864
	MaxResultBytes int64 `json:"maxResultBytes,omitempty"`
	// maxExportRows is the most rows of one export, for tokens with the verb "export"; 100000 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	MaxExportRows int32 `json:"maxExportRows,omitempty"`
	// requestsPerSecondPerToken is how many requests of one token all pods together answer in a second: each Ready pod answers its
	// share. Each item of a bulk call or a batch counts as one. Absent, there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RequestsPerSecondPerToken int32 `json:"requestsPerSecondPerToken,omitempty"`
}
