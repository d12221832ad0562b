package cluster

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// completionTime is how long a shell waits for names.
const completionTime = 3 * time.Second

// CompleteToken completes the first argument with the names of MCPTokens.
func (f *Flags) CompleteToken(command *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.complete(command, args, &v1alpha1.MCPTokenList{})
}

// CompleteEndpoint completes the first argument with the names of MCPEndpoints.
func (f *Flags) CompleteEndpoint(command *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.complete(command, args, &v1alpha1.MCPEndpointList{})
}

// CompleteApproval completes the first argument with the names of MCPApprovals.
func (f *Flags) CompleteApproval(command *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.complete(command, args, &v1alpha1.MCPApprovalList{})
}

// complete returns the names of the objects in the namespace; none if they cannot be had.
func (f *Flags) complete(command *cobra.Command, args []string, list client.ObjectList) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	k, err := f.Connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, stop := context.WithTimeout(command.Context(), completionTime)
	defer stop()
	if k.List(ctx, list, client.InNamespace(k.Namespace)) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	_ = meta.EachListItem(list, func(o runtime.Object) error { // the function never fails
		names = append(names, o.(client.Object).GetName())
		return nil
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
