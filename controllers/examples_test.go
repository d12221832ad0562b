package controllers_test

import (
	"context"
	"os"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

var _ = DescribeTable("The documents show objects that the API server takes",
	func(page string, least int) {
		w := newWorld()
		content, err := os.ReadFile(page)
		Expect(err).NotTo(HaveOccurred())
		applied := 0
		for _, block := range yamlBlock.FindAllStringSubmatch(string(content), -1) {
			for text := range strings.SplitSeq(block[1], "\n---\n") {
				if !strings.HasPrefix(text, "apiVersion: mcpadmin.dev/") {
					continue
				}
				object := &unstructured.Unstructured{}
				Expect(yaml.Unmarshal([]byte(text), &object.Object)).To(Succeed(), text)
				object.SetNamespace(w.namespace)
				Expect(k8s.Create(context.Background(), object, client.DryRunAll, client.FieldValidation("Strict"))).To(Succeed(), text)
				applied++
			}
		}
		Expect(applied).To(BeNumerically(">=", least))
	},
	Entry("objects/tokens.md", "../docs/objects/tokens.md", 1),
	Entry("objects/rights.md", "../docs/objects/rights.md", 2),
	Entry("identity.md", "../docs/identity.md", 4),
)
