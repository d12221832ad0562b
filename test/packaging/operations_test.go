package packaging

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// The enum of the API, which markers must spell out, has the operations of the one table.
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
}
