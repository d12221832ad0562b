package controllers_test

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// logged collects what the manager logs, while a case runs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

var (
	logLine      = regexp.MustCompile(`\tINFO\t(?:[a-z.-]+\t)?([^\t]+)\t(\{.*\})`)
	logObject    = regexp.MustCompile(`"(?:object|endpoint|token)": ?\{"name":"([^"]+)"`)
	logCondition = regexp.MustCompile(`"condition": ?"([^"]+)"`)
)

// about returns the lines at Info about objects of a namespace: the message, its condition, and its object.
func (l *logged) about(namespace string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for line := range strings.Lines(l.text.String()) {
		match := logLine.FindStringSubmatch(line)
		if match == nil || !strings.Contains(line, namespace) {
			continue
		}
		words := []string{match[1]}
		for _, part := range []*regexp.Regexp{logCondition, logObject} {
			if found := part.FindStringSubmatch(match[2]); found != nil {
				words = append(words, found[1])
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

var _ = Describe("The log at Info", func() {
	It("tells the life of an object, one line a step, and nothing of what changes nothing", func() {
		log := &logged{}
		GinkgoWriter.TeeTo(log)
		DeferCleanup(GinkgoWriter.ClearTeeWriters)
		w := newWorld()
		expectRunning() // what a manager finds when it starts has no line
		story := func() []string { return log.about(w.namespace) }
		e, t := w.endpoint("shop"), w.token("agent", "shop")
		w.create(e)
		Eventually(reads(e, "Ready")).Should(HavePrefix("False "))
		w.runServer("shop", "shop-0")
		expectReady(e)
		w.create(t)
		expectReady(t)
		edit(t, func(t *v1alpha1.MCPToken) { t.Labels = map[string]string{"team": "data"} }) // changes nothing
		w.delete(t)
		Eventually(story).Should(HaveLen(14))
		Consistently(story).Should(HaveLen(14))

		told := story()
		// What becomes of two objects is written by two controllers, and a condition a moment after it can be read.
		var shop, agent []string
		for _, line := range told {
			if text, of := strings.CutSuffix(line, " agent"); of {
				agent = append(agent, text)
			} else {
				shop = append(shop, strings.TrimSuffix(line, " shop"))
			}
		}
		Expect(agent).To(Equal([]string{"An object was created", "A token was issued", "A condition holds Ready", "An object was deleted"}))
		Expect(shop[0]).To(Equal("An object was created"))
		Expect(shop[1:]).To(ConsistOf("A Config was written", "A Config was written", "A Config was written", "A Config was written", "A condition holds WorkloadAvailable",
			"A condition holds DatabaseReady", "A condition holds Routed", "A condition holds Programmed", "A condition holds Ready"))
	})
})

// expectRunning waits until the manager reconciles what comes: the test before may have started it anew.
func expectRunning() {
	GinkgoHelper()
	w := newWorld()
	e, t := w.endpoint("shop"), w.token("agent", "shop")
	w.create(e, t)
	Eventually(reads(e, "Ready")).Should(HavePrefix("False "))
	Eventually(reads(t, "Issued")).Should(Equal("True Issued"))
}
