package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "mcpadmin.dev", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that generated code expects.
var SchemeGroupVersion = GroupVersion

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&MCPEndpoint{}, &MCPEndpointList{},
		&MCPModelExposure{}, &MCPModelExposureList{},
		&MCPToken{}, &MCPTokenList{},
		&MCPApproval{}, &MCPApprovalList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
