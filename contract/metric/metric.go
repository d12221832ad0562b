// Package metric lists the metrics of server and manager: what each means, a question to ask of it, and the alerts that ask it.
// The programs take their help texts from here, and hack/metrics makes docs/metrics.md of it. It imports nothing of the project.
package metric

// Metric is one metric of a program.
type Metric struct {
	// Name is its name in Prometheus.
	Name string
	// Meaning says what it counts or measures, in which unit if the name does not say so, and names each of its labels in
	// backquotes. It is Markdown, and the help text of the metric.
	Meaning string
	// Question is what to ask of it, in PromQL.
	Question string
	// Alerts are the alerts of config/monitoring that ask it. Each has a page in docs/runbooks.
	Alerts []string
	// Foreign is set if a library has it, whose help text it then has.
	Foreign bool
}

// Help returns the meaning of one of our metrics. A name that is not listed is a mistake in the program: Help panics.
func Help(name string) string {
	for _, list := range [][]Metric{Server, Manager} {
		for i := range list {
			if list[i].Name == name && !list[i].Foreign {
				return list[i].Meaning
			}
		}
	}
	panic("the metric " + name + " is not in the list of package metric")
}
