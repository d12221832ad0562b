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
		// A pod may report what it was given before the line about that is written: these two have no order.
		Expect(told[0]).To(Equal("An object was created shop"))
		Expect(told[1:8]).To(ConsistOf("A Config was written shop", "A Config was written shop",
			"A condition holds WorkloadAvailable shop", "A condition holds DatabaseReady shop", "A condition holds Routed shop",
			"A condition holds Programmed shop", "A condition holds Ready shop"))
		Expect(told[8:10]).To(Equal([]string{"An object was created agent", "A token was issued agent"}))
		Expect(told[10:12]).To(ConsistOf("A Config was written shop", "A condition holds Ready agent"))
		Expect(told[12:]).To(Equal([]string{"An object was deleted agent", "A Config was written shop"}))
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
