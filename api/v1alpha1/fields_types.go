package v1alpha1

// FieldsSpec says which columns are visible, and how. Columns named like secrets are hidden, unless include names them.
//
// +kubebuilder:validation:XValidation:rule="!has(self.overrides) || !has(self.masked) || !self.overrides.exists(o, has(o.examples) && o.name in self.masked.map(m, m.name))",message="examples would show values of a field that is masked; remove examples, or the field from masked"
// +kubebuilder:validation:XValidation:rule="!has(self.overrides) || !has(self.exclude) || self.overrides.all(o, !has(o.examples) || !(o.name in self.exclude))",message="examples would show values of a field that is hidden; remove examples, or the field from exclude"
type FieldsSpec struct {
	// include limits the visible columns to these and the key; absent is every column not excluded.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Include []string `json:"include,omitempty"`
	// exclude hides these columns everywhere. The key cannot be hidden.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Exclude []string `json:"exclude,omitempty"`
	// readOnly columns are shown; callers cannot write them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	ReadOnly []string `json:"readOnly,omitempty"`
	// masked columns are shown as ****. They may be given to a new row and never change then, and cannot be searched, filtered or ordered by.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=500
	Masked []MaskedField `json:"masked,omitempty"`
	// overrides say more of columns than the database does.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=500
	Overrides []FieldOverride `json:"overrides,omitempty"`
}

// MaskedField is a column that is shown as ****.
type MaskedField struct {
	// name is the column or field.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// keepLast is how many characters at the end of a value are shown; none when absent. A value shorter than twice that
	// and four more is hidden whole.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	KeepLast int32 `json:"keepLast,omitempty"`
}

// FieldOverride says more of a column than the database does.
//
// +kubebuilder:validation:XValidation:rule="!has(self.rename) || !has(self.relation)",message="rename and relation both name the field; give one of them"
type FieldOverride struct {
	// name is the column or field.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// description tells agents what the column holds; absent, the column's comment.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Description string `json:"description,omitempty"`
	// synonyms are other words for the field. find_models finds the model by them, and describe_ tells them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Synonyms []string `json:"synonyms,omitempty"`
	// type makes a column a number or a boolean. It is for the tinyint of MySQL and MariaDB, which can be either. Absent,
	// the schema decides.
	// +optional
	Type FieldType `json:"type,omitempty"`
	// reads says what the texts of a text column hold: conditions, orders, groups and measures then take them for values of that
	// type, and a text that is none for null. Rows show the texts as they are, and writes take texts. Absent, they are texts.
	// Text is for an integer column whose numbers are codes, such as postal codes: they are ordered, grouped and searched as
	// texts, and never added.
	// +optional
	Reads FieldReading `json:"reads,omitempty"`
	// choices are the only values that callers may write; absent, any of the column's type.
	// +optional
	// +listType=map
	// +listMapKey=value
	// +kubebuilder:validation:MaxItems=200
	Choices []Choice `json:"choices,omitempty"`
	// examples lets describe_ show the values of a column that has few, at most 20, so that agents know what to compare with. A
	// token sees only values of rows that its row policies let it see, and with aggregate.minGroupSize none that fewer rows have.
	// No values are shown when absent.
	// +optional
	Examples FieldExamples `json:"examples,omitempty"`
	// relation names the relation of a foreign key; the key's field is then called <relation>_id. Absent, the name is made
	// from the column's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	Relation string `json:"relation,omitempty"`
	// rename is the name that callers use for the column. Use it for columns whose own name some clients refuse (spaces,
	// quotes, letters other than a-z). Absent, the column's own name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,62}$`
	Rename string `json:"rename,omitempty"`
}

// FieldReading is what the texts of a column hold, or Text for codes in an integer column.
// +kubebuilder:validation:Enum=Integer;Decimal;Boolean;Date;Timestamp;Text
type FieldReading string

// What texts hold; ReadsText is for integers that are codes.
const (
	ReadsInteger   FieldReading = "Integer"
	ReadsDecimal   FieldReading = "Decimal"
	ReadsBoolean   FieldReading = "Boolean"
	ReadsDate      FieldReading = "Date"
	ReadsTimestamp FieldReading = "Timestamp"
	ReadsText      FieldReading = "Text"
)

// FieldExamples says whether describe_ shows values of a column.
// +kubebuilder:validation:Enum=Shown
type FieldExamples string

// ExamplesShown lets describe_ show values.
const ExamplesShown FieldExamples = "Shown"

// FieldType is the type of a field whose column can be of several.
// +kubebuilder:validation:Enum=Integer;Boolean
type FieldType string

// The types of a field.
const (
	FieldInteger FieldType = "Integer"
	FieldBoolean FieldType = "Boolean"
)
