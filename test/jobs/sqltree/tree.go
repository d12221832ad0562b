package sqltree

// Query is one SELECT, or several that set operations join from left to right.
type Query struct {
	Selects []*Select
	// Operations stand between the selects: one less than those.
	Operations []Operation
	Order      []Order
	// Limit is -1 if there is none.
	Limit, Offset int
}

// Operation is a set operation.
type Operation string

// The set operations.
const (
	Union     Operation = "UNION"
	UnionAll  Operation = "UNION ALL"
	Intersect Operation = "INTERSECT"
	Except    Operation = "EXCEPT"
)

// Select is a SELECT without what follows the last of a query.
type Select struct {
	Distinct bool
	Columns  []Column
	From     []Source
	Where    Expr
	Group    []Expr
	Having   Expr
}

// Column is an item of a select list: an expression, or all columns of one source or of every source.
type Column struct {
	Expr  Expr
	Alias string
	// Star reports whether the item is * or Table.*; Table is "" for *.
	Star  bool
	Table string
}

// Source is a table or query in FROM, and how it is joined to those before it.
type Source struct {
	Table, Alias string
	Query        *Query
	// Outer is "LEFT", "RIGHT" or "FULL"; "" is an inner join.
	Outer string
	On    Expr
	Using []string
	// Natural reports a NATURAL join.
	Natural bool
}

// Order is a term of ORDER BY.
type Order struct {
	Expr       Expr
	Descending bool
	// Nulls is "FIRST" or "LAST"; "" is the engine's way.
	Nulls string
}

// Expr is an expression.
type Expr interface{ expr() }

// Name is a column, perhaps with its table. If Quoted, it stood in double quotes: then it is a text if no column has that
// name.
type Name struct {
	Table, Column string
	Quoted        bool
}

// Literal is nil, an int64, a float64 or a string.
type Literal struct{ Value any }

// Binary is two expressions with an operator between them, in capitals: AND, OR, =, <>, <, <=, >, >=, +, -, *, /, %, ||.
type Binary struct {
	Operator    string
	Left, Right Expr
}

// Unary is NOT or - before an expression.
type Unary struct {
	Operator string
	Operand  Expr
}

// Call is a function with its arguments. Name is in lower case.
type Call struct {
	Name           string
	Distinct, Star bool
	Arguments      []Expr
}

// In is [NOT] IN, with a list or a query.
type In struct {
	Operand Expr
	List    []Expr
	Query   *Query
	Not     bool
}

// Between is [NOT] BETWEEN.
type Between struct {
	Operand, Low, High Expr
	Not                bool
}

// Like is [NOT] LIKE.
type Like struct {
	Operand, Pattern Expr
	Not              bool
}

// IsNull is IS [NOT] NULL.
type IsNull struct {
	Operand Expr
	Not     bool
}

// Scalar is a query that stands for its one value.
type Scalar struct{ Query *Query }

// Exists is EXISTS.
type Exists struct{ Query *Query }

// Cast is CAST(… AS Type).
type Cast struct {
	Operand Expr
	Type    string
}

// Case is CASE. Operand and Else may be nil.
type Case struct {
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is a branch of CASE.
type When struct{ Condition, Value Expr }

func (*Name) expr()    {}
func (*Literal) expr() {}
func (*Binary) expr()  {}
func (*Unary) expr()   {}
func (*Call) expr()    {}
func (*In) expr()      {}
func (*Between) expr() {}
func (*Like) expr()    {}
func (*IsNull) expr()  {}
func (*Scalar) expr()  {}
func (*Exists) expr()  {}
func (*Cast) expr()    {}
func (*Case) expr()    {}
