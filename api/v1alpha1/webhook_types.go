package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WebhookSpec is a service that is called.
type WebhookSpec struct {
	// url is where it is called, by POST: http or https, never a loopback, link-local or metadata address.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != '' && !self.matches('[#@]')",message="must be an http or https URL with a host, without user or fragment"
	URL string `json:"url,omitempty"`
	// headersSecretRef names a Secret with the headers to send: each key is a header's name. The key signing-key is no
	// header; its value signs the body. The Secret must have the annotation mcpadmin.dev/webhook-host with the URL's host,
	// and the port if the URL has one. So nobody who may write exposures or endpoints can send the values of other Secrets away.
	// +optional
	HeadersSecretRef *SecretReference `json:"headersSecretRef,omitempty"`
	// timeout is the longest that the service may take; 10s when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('100ms') && duration(self) <= duration('60s')",message="must be a duration such as 500ms, 30s or 1m30s, between 100ms and 60s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

const (
	// WebhookHostAnnotation is the annotation of a webhook's Secret that names the host[:port] it is for.
	WebhookHostAnnotation = "mcpadmin.dev/webhook-host"
	// WebhookSigningKey is the key of a webhook's Secret that signs, and is no header.
	WebhookSigningKey = "signing-key"
)
