package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// table is the table that kubectl get prints for a kind: the columns with the cells of each object by its name. Wide has
// the columns of -o wide, too.
func (w *world) table(plural string, wide bool) map[string]map[string]string {
	GinkgoHelper()
	client, err := discovery.NewDiscoveryClientForConfig(apiServer.Config)
	Expect(err).NotTo(HaveOccurred())
	body, err := client.RESTClient().Get().AbsPath("/apis", v1alpha1.GroupVersion.String(), "namespaces", w.namespace, plural).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(context.Background()).Raw()
	Expect(err).NotTo(HaveOccurred())
	var table metav1.Table
	Expect(json.Unmarshal(body, &table)).To(Succeed())
	rows := map[string]map[string]string{}
	for _, row := range table.Rows {
		cells := map[string]string{}
		for i, column := range table.ColumnDefinitions {
			if row.Cells[i] != nil && (wide || column.Priority == 0) {
				cells[column.Name] = fmt.Sprint(row.Cells[i])
			}
		}
		delete(cells, "Age")
		rows[cells["Name"]] = cells
	}
	return rows
}

var _ = Describe("kubectl get", func() {
	It("shows what is the matter, and why in -o wide", func() {
		w := newWorld()
		endpoint, order, gone := w.endpoint("shop"), w.exposure("order", "shop"), w.exposure("gone", "shop")
		agent, lost := w.token("agent", "shop"), w.token("lost", "nowhere")
		order.Spec.Expose = new(true)
		agent.Spec.Expiry = &metav1.Time{Time: time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)}
		w.create(endpoint, order, gone, agent, lost)
		server := w.runServer("shop", "shop-0")
		server.change(func(s *fakeServer) {
			s.tables["gone"] = contract.ModelStatus{Reason: contract.ReasonTableNotFound, Message: `there is no table gone; the nearest is "gene"`}
		})
		expectReady(endpoint, order, agent)
		Eventually(reads(gone, "Stalled")).Should(Equal("True TableNotFound"))
		Eventually(reads(lost, "Reconciling")).Should(Equal("True EndpointNotFound"))

		Eventually(func() any { return w.table("mcpendpoints", false) }).Should(Equal(map[string]map[string]string{
			"shop": {
				"Name": "shop", "Ready": "True", "Status": "Ready", "URL": endpoint.Status.URL, "Database": "SQLite 3.50",
				"Models": "1", "Tokens": "1", "Replicas": "1/1",
			},
		}))
		Expect(w.table("mcpmodelexposures", false)).To(Equal(map[string]map[string]string{
			"order": {"Name": "order", "Ready": "True", "Status": "Ready", "Endpoint": "shop", "Model": "order", "Table": "order", "Exposed": "true", "Tools": "2"},
			"gone":  {"Name": "gone", "Ready": "False", "Status": "TableNotFound", "Endpoint": "shop", "Model": "gone", "Table": "gone", "Tools": "0"},
		}))
		Expect(w.table("mcptokens", false)).To(Equal(map[string]map[string]string{
			"agent": {
				"Name": "agent", "Ready": "True", "Status": "Ready", "Endpoint": "shop", "Groups": "readers",
				"Expires": "2036-01-01T00:00:00Z", "Secret": "agent",
			},
			"lost": {"Name": "lost", "Ready": "False", "Status": "EndpointNotFound", "Endpoint": "nowhere", "Groups": "readers"},
		}))
		Expect(w.table("mcpendpoints", true)["shop"]).To(HaveKeyWithValue("Message", "agents are answered at "+endpoint.Status.URL))
		Expect(w.table("mcpmodelexposures", true)["gone"]).To(HaveKeyWithValue("Message", `there is no table gone; the nearest is "gene"`))
		Expect(w.table("mcptokens", true)["lost"]).To(HaveKeyWithValue("Message", ContainSubstring(`"nowhere" does not exist`)))
	})
})
