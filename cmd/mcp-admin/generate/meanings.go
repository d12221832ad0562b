package generate

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// amountWords end the names of columns whose values people add up. A price or a rate is none of them.
var amountWords = []string{"amount", "total", "subtotal", "revenue", "turnover", "sales", "payment", "paid", "proceeds", "cost", "costs", "betrag", "summe", "umsatz", "importe", "montant"}

// guessMeanings guesses measures of models that have an amount, and questions about them: a start for the words of the people who ask.
func (g *Guesses) guessMeanings() {
	found := g.catalogue()
	for _, m := range g.Models {
		model := found.Model(m.Exposure.EffectiveModel())
		if model == nil || !model.Served() {
			continue
		}
		if amount := m.amount(model); amount != nil {
			m.guessQuestions(model, amount, m.guessMeasures(model, amount))
		}
	}
}

// amount is the field of a model that people add up: of several, the last, which is the sum of others in most tables; nil if there is
// none.
func (m *Model) amount(model *catalog.Model) (amount *catalog.Field) {
	for _, f := range model.Fields {
		words := catalog.Words(f.Column.Name)
		if f.Compared().Column.Summable() && !f.Masked && !m.isKey(f.Column) && !m.leadsOn(f.Column) && slices.Contains(amountWords, last(words)) && plain(f.Name, "") != "" {
			amount = f
		}
	}
	return amount
}

// guessMeasures adds the sum of an amount, a count, and the one by the other, and returns the name of the sum.
func (m *Model) guessMeasures(model *catalog.Model, amount *catalog.Field) (sum string) {
	const most = 40
	name := func(text string) string { return shorten(plain(text, "measure"), most) }
	add := func(name, reason string, measure map[string]any) {
		m.Exposure.Spec.Measures = append(m.Exposure.Spec.Measures, v1alpha1.MeasureSpec{Name: name, Measure: asJSON(measure)})
		m.because("measures."+name, "%s", reason)
	}
	sum = name("sum_of_" + amount.Name)
	add(sum, amount.Column.Name+" is what adds up, by its name", map[string]any{"sum": amount.Name})
	number, one := name("number_of_"+model.Name), singularOf(model.Name)
	if whole, key := m.partOf(model); whole != nil {
		number, one = name("number_of_"+whole.Name), singularOf(whole.Name)
		add(number, "a row belongs to one of "+whole.Name+", by its foreign key", map[string]any{"count_distinct": key.Name})
	} else {
		add(number, "how many rows there are", map[string]any{"count": "*"})
	}
	add(name(amount.Name+"_per_"+one), "of the two", map[string]any{"ratio": []string{sum, number}})
	return sum
}

// partOf is the model whose rows a model's rows are parts of, and the field that names it; nil if there is none.
func (m *Model) partOf(model *catalog.Model) (whole *catalog.Model, key *catalog.Field) {
	for _, fk := range m.Table.ForeignKeys {
		if len(fk.Columns) != 1 || !belongs(m.Table, fk) {
			continue
		}
		for _, r := range model.Relations {
			i := slices.IndexFunc(model.Fields, func(f *catalog.Field) bool { return f.Column == fk.Columns[0] })
			if !r.Many && len(r.Ours) == 1 && r.Ours[0] == fk.Columns[0] && i >= 0 {
				return r.Target, model.Fields[i]
			}
		}
	}
	return nil, nil
}

// guessQuestions adds questions about the sum of an amount: over time, and by what a row leads to.
func (m *Model) guessQuestions(model *catalog.Model, amount *catalog.Field, sum string) {
	words := strings.Join(catalog.Words(amount.Name), " ")
	add := func(ask, reason string, arguments map[string]any) {
		m.Exposure.Spec.Questions = append(m.Exposure.Spec.Questions, v1alpha1.QuestionSpec{
			Ask: ask, Call: v1alpha1.QuestionCall{Tool: "aggregate", Arguments: asJSON(arguments)},
		})
		m.because("questions."+ask, "%s", reason)
	}
	if day := dayOf(model); day != nil {
		add("What is the "+words+" of each month?", day.Name+" is a day", map[string]any{"measures": []string{sum}, "group_by": []string{day.Name + "__month"}})
	}
	for _, r := range model.Relations {
		if f := r.Target.Display; !r.Many && f != nil && !f.Masked && f.Column.Kind == database.Text {
			add("Which "+strings.ReplaceAll(r.Target.Declared.VerboseNamePlural, "_", " ")+" have the highest "+words+"?", r.Name+" leads to rows with a name",
				map[string]any{"measures": []string{sum}, "group_by": []string{r.Name + "__" + f.Name}, "order_by": []string{"-" + sum}, "limit": 10})
			return
		}
	}
}

// dayOf is the first date or timestamp of a model; nil if there is none.
func dayOf(model *catalog.Model) *catalog.Field {
	i := slices.IndexFunc(model.Fields, func(f *catalog.Field) bool {
		return !f.Masked && (f.Column.Kind == database.Date || f.Column.Kind.IsMoment())
	})
	if i < 0 {
		return nil
	}
	return model.Fields[i]
}

// singularOf is a model's name in the singular.
func singularOf(name string) string {
	words := strings.Split(name, "_")
	words[len(words)-1] = singular(last(words))
	return strings.Join(words, "_")
}

func asJSON(object map[string]any) runtime.RawExtension {
	raw, _ := json.Marshal(object) // texts, numbers and lists: it cannot fail
	return runtime.RawExtension{Raw: raw}
}
