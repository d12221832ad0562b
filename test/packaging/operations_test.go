package packaging

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// The enum of the API, which markers must spell out, has the operations of the one table, and validation reads the table.
func TestTheAPIHasTheOperations(t *testing.T) {
	file, err := os.ReadFile(root + "/config/crd/bases/mcpadmin.dev_mcpmodelexposures.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema struct {
						Properties struct {
							Spec struct {
								Properties struct {
									Operations struct {
										MaxItems int
										Items    struct{ Enum []string }
									}
								}
							}
						}
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(file, &crd); err != nil {
		t.Fatal(err)
	}
	want := contract.OperationNames()
	enum := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties.Spec.Properties.Operations
	if !slices.Equal(enum.Items.Enum, want) || enum.MaxItems != len(want) {
		t.Errorf("the enum has at most %d of %v, the table has %v", enum.MaxItems, enum.Items.Enum, want)
	}
	refused := field.NotSupported(field.NewPath("spec", "operations").Index(0), v1alpha1.Operation("none"), want)
	exposure := &v1alpha1.MCPModelExposure{}
	exposure.Spec.Operations = []v1alpha1.Operation{"none"}
	if told := v1alpha1.ValidateMCPModelExposure(exposure).ToAggregate(); !strings.Contains(told.Error(), refused.Error()) {
		t.Errorf("validation says %q, without %q", told, refused)
	}
}

// So do the lookups of filters.
func TestTheAPIHasTheServersLookups(t *testing.T) {
	file, err := os.ReadFile(root + "/api/v1alpha1/filter_types.go")
	if err != nil {
		t.Fatal(err)
	}
	if enum := "// +kubebuilder:validation:Enum=" + strings.Join(lookup.Names, ";") + "\ntype Lookup string\n"; !strings.Contains(string(file), enum) {
		t.Errorf("the API has not the enum %s", enum)
	}
	refused := field.NotSupported(field.NewPath("lookup"), v1alpha1.Lookup("none"), lookup.Names)
	exposure := &v1alpha1.MCPModelExposure{}
	exposure.Spec.RowPolicies = []v1alpha1.RowPolicy{{Filters: []v1alpha1.RowFilter{{Field: "id", Lookup: "none"}}}}
	if told := v1alpha1.ValidateMCPModelExposure(exposure).ToAggregate(); !strings.Contains(told.Error(), refused.Detail) {
		t.Errorf("validation says %q, without %q", told, refused.Detail)
	}
}
