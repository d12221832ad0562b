package v1alpha1

// What a manager of the last release writes into a status and this one does not. The schema knows these fields for one
// release more, as the API server refuses a status with a field that it does not know: a manager of the last release works
// with the definitions of this one (docs/upgrades.md, "What is promised"). This manager never reads them, and its first
// write takes them away. A field of another type has another name for the same reason: neither manager could read it.

// FormerEndpointStatus is what the last release's manager alone writes into an endpoint's status.
type FormerEndpointStatus struct {
	// models is the former modelCount; it goes in the next release.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FormerModels *int32 `json:"models,omitempty"`
	// tokens is the former tokenCount; it goes in the next release.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FormerTokens *int32 `json:"tokens,omitempty"`
	// replicas are the former currentReplicas, readyReplicas and readyDisplay; they go in the next release.
	// +optional
	FormerReplicas FormerReplicas `json:"replicas,omitempty,omitzero"`
}

// FormerReplicas counts the server's pods.
type FormerReplicas struct {
	// ready is the number of pods that are Ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Ready *int32 `json:"ready,omitempty"`
	// desired is the number of pods that are wanted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Desired *int32 `json:"desired,omitempty"`
	// display is ready/desired.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=23
	Display string `json:"display,omitempty"`
}

// FormerTokenStatus is what the last release's manager alone writes into a token's status.
type FormerTokenStatus struct {
	// expires is the former expirationTime; it goes in the next release.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	FormerExpires string `json:"expires,omitempty"`
}
