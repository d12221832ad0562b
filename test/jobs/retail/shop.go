package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// errRefused is what the shop answers if a condition of an action fails.
var errRefused = errors.New("refused")

// shop carries actions out by the rules of rules.md: it reads what a rule needs, and makes the changes of an action in one
// transaction, which expects that what was read is still so.
type shop struct{ *client }

// arguments are those of the actions that write, and of those that read.
type arguments struct {
	OrderID   string   `json:"order_id"`
	UserID    string   `json:"user_id"`
	ProductID string   `json:"product_id"`
	ItemIDs   []string `json:"item_ids"`
	NewItems  []string `json:"new_item_ids"`
	Method    string   `json:"payment_method_id"`
	Reason    string
	Email     string
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	address
}

// address is the columns that an action gives an address.
type address struct {
	Address1, Address2, City, State, Country, Zip string
}

func (a address) data() object {
	return object{"address1": a.Address1, "address2": a.Address2, "city": a.City, "state": a.State, "country": a.Country, "zip": a.Zip}
}

// The statuses that the rules ask for.
const (
	pending   = "pending"
	delivered = "delivered"
)

// writing are the actions that change something.
var writing = map[string]func(shop, *arguments) error{
	"cancel_pending_order":           shop.cancel,
	"modify_pending_order_address":   shop.moveOrder,
	"modify_user_address":            shop.moveUser,
	"modify_pending_order_payment":   shop.payOtherwise,
	"modify_pending_order_items":     shop.modify,
	"return_delivered_order_items":   shop.giveBack,
	"exchange_delivered_order_items": shop.exchange,
}

// do carries an action out; false if the shop refused it.
func (s shop) do(a *action) (bool, error) {
	var given arguments
	if err := json.Unmarshal(a.Arguments, &given); err != nil && a.Kind != "none" {
		return false, fmt.Errorf("%s: %w", a.Name, err)
	}
	var err error
	switch {
	case a.Kind == "none":
		return true, nil
	case writing[a.Name] != nil:
		err = writing[a.Name](s, &given)
	case reading[a.Name] != nil:
		err = reading[a.Name](s, &given)
	default:
		return false, fmt.Errorf("%s is an action that no rule tells of", a.Name)
	}
	var answered *refusal
	switch {
	case errors.Is(err, errRefused), errors.As(err, &answered) && (answered.Code == "not_found" || answered.Code == "conflict"):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", a.Name, err)
	}
	return true, nil
}

// payment is a row of payment_history, with what the rules need of its method and its order.
type payment struct {
	No      int    `json:"payment_no"`
	Kind    string `json:"transaction_type"`
	Amount  cents
	Method  string `json:"payment_method_id"`
	Source  string `json:"payment_method__source"`
	Balance *cents `json:"payment_method__balance"`
	Status  string `json:"order__status"`
	UserID  string `json:"order__user_id"`
}

// payments reads an order's payments in their order; the first one's order must have the status.
func (s shop) payments(order, status string) ([]payment, error) {
	var all []payment
	err := s.list("payment_history", object{"order_id": order}, "payment_no", &all, "payment_no", "transaction_type", "amount", "payment_method_id",
		"payment_method__source", "payment_method__balance", "order__status", "order__user_id")
	if err == nil && (len(all) == 0 || all[0].Status != status) {
		err = errRefused
	}
	return all, err
}

// method is a payment method.
type method struct {
	ID      string `json:"id"`
	UserID  string `json:"user_id"`
	Source  string
	Balance *cents
}

// methodOf reads the payment method that an action names, which must be the user's.
func (s shop) methodOf(id, user string) (*method, error) {
	var m method
	err := s.call("get_payment_methods", object{"id": id, "fields": []string{"user_id", "source", "balance"}}, &m)
	if err == nil && m.UserID != user {
		err = errRefused
	}
	m.ID = id
	return &m, err
}

// covers reports whether the method can pay an amount.
func (m *method) covers(amount cents) bool {
	return m.Balance == nil || amount <= 0 || *m.Balance >= amount
}

// The steps that actions have in common.

// inStatus is the step that expects an order to have a status.
func inStatus(order, status string) step {
	return step{Tool: "get_orders", Arguments: object{"id": order, "fields": []string{"status", "address_id"}}, Expect: object{"status": status}}
}

func setOrder(order string, data object) step {
	return step{Tool: "update_orders", Arguments: object{"id": order, "data": data}}
}

// add is a step that adds a row.
func add(model string, data object) step {
	return step{Tool: "create_" + model, Arguments: object{"data": data}}
}

// pay is the step that adds a payment or refund.
func pay(order string, no int, kind string, amount cents, method string) step {
	return add("payment_history", object{"order_id": order, "payment_no": no, "transaction_type": kind, "amount": amount, "payment_method_id": method})
}

// move are the steps that move a gift card's balance, which must be as it was read; none for another method.
func move(method string, balance *cents, by cents) []step {
	if balance == nil || by == 0 {
		return nil
	}
	return []step{
		{Tool: "get_payment_methods", Arguments: object{"id": method, "fields": []string{"balance"}}, Expect: object{"balance": *balance}},
		{Tool: "update_payment_methods", Arguments: object{"id": method, "data": object{"balance": *balance + by}}},
	}
}

// cancel: each payment of the order is refunded.
func (s shop) cancel(a *arguments) error {
	paid, err := s.payments(a.OrderID, pending)
	if err != nil {
		return err
	}
	if a.Reason != "no longer needed" && a.Reason != "ordered by mistake" {
		return errRefused
	}
	steps := []step{inStatus(a.OrderID, pending)}
	next := paid[len(paid)-1].No + 1
	back := map[string]cents{}
	balances := map[string]*cents{}
	var cards []string
	for _, p := range paid {
		steps = append(steps, pay(a.OrderID, next, "refund", p.Amount, p.Method))
		next++
		if back[p.Method] == 0 {
			cards = append(cards, p.Method)
		}
		back[p.Method] += p.Amount
		balances[p.Method] = p.Balance
	}
	slices.Sort(cards)
	for _, card := range slices.Compact(cards) {
		steps = append(steps, move(card, balances[card], back[card])...)
	}
	return s.transact(append(steps, setOrder(a.OrderID, object{"status": "cancelled", "cancel_reason": a.Reason}))...)
}

// moveOrder gives the order's address other values.
func (s shop) moveOrder(a *arguments) error {
	return s.transact(inStatus(a.OrderID, pending), step{Tool: "update_addresses", Arguments: object{"id": of(0, "address_id"), "data": a.data()}})
}

// moveUser gives the user's address other values.
func (s shop) moveUser(a *arguments) error {
	return s.transact(step{Tool: "get_users", Arguments: object{"id": a.UserID, "fields": []string{"address_id"}}},
		step{Tool: "update_addresses", Arguments: object{"id": of(0, "address_id"), "data": a.data()}})
}

// payOtherwise has the order paid by another method.
func (s shop) payOtherwise(a *arguments) error {
	paid, err := s.payments(a.OrderID, pending)
	if err != nil {
		return err
	}
	first := paid[0]
	if len(paid) != 1 || first.Kind != "payment" || first.Method == a.Method {
		return errRefused
	}
	m, err := s.methodOf(a.Method, first.UserID)
	if err != nil {
		return err
	}
	if !m.covers(first.Amount) {
		return errRefused
	}
	steps := []step{
		inStatus(a.OrderID, pending),
		pay(a.OrderID, first.No+1, "payment", first.Amount, m.ID), pay(a.OrderID, first.No+2, "refund", first.Amount, first.Method),
	}
	steps = append(steps, move(m.ID, m.Balance, -first.Amount)...)
	return s.transact(append(steps, move(first.Method, first.Balance, first.Amount)...)...)
}

// modify replaces items of a pending order, and has the difference paid.
func (s shop) modify(a *arguments) error {
	lines, difference, err := s.replacements(a, pending)
	if err != nil {
		return err
	}
	var paid []payment
	if err := s.list("payment_history", object{"order_id": a.OrderID}, "-payment_no", &paid, "payment_no"); err != nil {
		return err
	}
	m, err := s.methodOf(a.Method, lines[0].UserID)
	if err != nil {
		return err
	}
	if !m.covers(difference) {
		return errRefused
	}
	steps := []step{inStatus(a.OrderID, pending)}
	for _, l := range lines {
		steps = append(steps, step{Tool: "update_order_items", Arguments: object{"id": l.id(a.OrderID), "data": object{"item_id": l.becomes.ID, "price": l.becomes.Price}}})
	}
	next := 1
	if len(paid) > 0 {
		next = paid[0].No + 1
	}
	if difference > 0 {
		steps = append(steps, pay(a.OrderID, next, "payment", difference, m.ID))
	} else {
		steps = append(steps, pay(a.OrderID, next, "refund", -difference, m.ID))
	}
	steps = append(steps, move(m.ID, m.Balance, -difference)...)
	return s.transact(append(steps, setOrder(a.OrderID, object{"status": "pending (item modified)"}))...)
}

// giveBack asks for a return of items.
func (s shop) giveBack(a *arguments) error {
	lines, err := s.lines(a, delivered)
	if err != nil {
		return err
	}
	m, err := s.methodOf(a.Method, lines[0].UserID)
	if err != nil {
		return err
	}
	if m.Source != "gift_card" {
		paid, err := s.payments(a.OrderID, delivered)
		if err != nil {
			return err
		}
		if paid[0].Method != m.ID {
			return errRefused
		}
	}
	steps := []step{inStatus(a.OrderID, delivered), add("order_returns", object{"order_id": a.OrderID, "payment_method_id": m.ID})}
	for _, l := range lines {
		steps = append(steps, add("return_items", object{"order_id": a.OrderID, "line_no": l.No}))
	}
	return s.transact(append(steps, setOrder(a.OrderID, object{"status": "return requested"}))...)
}

// exchange asks for other variants of items.
func (s shop) exchange(a *arguments) error {
	lines, difference, err := s.replacements(a, delivered)
	if err != nil {
		return err
	}
	m, err := s.methodOf(a.Method, lines[0].UserID)
	if err != nil {
		return err
	}
	if !m.covers(difference) {
		return errRefused
	}
	steps := []step{
		inStatus(a.OrderID, delivered),
		add("order_exchanges", object{"order_id": a.OrderID, "payment_method_id": m.ID, "price_difference": difference}),
	}
	for _, l := range lines {
		steps = append(steps, add("exchange_items", object{"order_id": a.OrderID, "line_no": l.No, "new_item_id": l.becomes.ID}))
	}
	return s.transact(append(steps, setOrder(a.OrderID, object{"status": "exchange requested"}))...)
}

// line is a line of an order, with what the rules need of its item and its order.
type line struct {
	No      int    `json:"line_no"`
	ItemID  string `json:"item_id"`
	Price   cents
	Product string `json:"item__product_id"`
	Status  string `json:"order__status"`
	UserID  string `json:"order__user_id"`
	// becomes is the variant that takes the item's place.
	becomes *variant
}

// id is the line's key as the server writes it.
func (l *line) id(order string) string { return fmt.Sprintf("%s,%d", url.PathEscape(order), l.No) }

// variant is what can be ordered.
type variant struct {
	ID        string `json:"item_id"`
	Product   string `json:"product_id"`
	Price     cents
	Available bool
}

// lines finds the lines that an action's items stand for, of an order that has the status.
func (s shop) lines(a *arguments, status string) ([]*line, error) {
	var all []*line
	err := s.list("order_items", object{"order_id": a.OrderID}, "line_no", &all, "line_no", "item_id", "price", "item__product_id", "order__status", "order__user_id")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 || len(a.ItemIDs) == 0 || all[0].Status != status {
		return nil, errRefused
	}
	var taken []*line
	for _, item := range a.ItemIDs {
		i := slices.IndexFunc(all, func(l *line) bool { return l.ItemID == item && !slices.Contains(taken, l) })
		if i < 0 {
			return nil, errRefused
		}
		taken = append(taken, all[i])
	}
	return taken, nil
}

// replacements are the lines that an action replaces, with what they become, and how much more that costs.
func (s shop) replacements(a *arguments, status string) ([]*line, cents, error) {
	lines, err := s.lines(a, status)
	if err != nil {
		return nil, 0, err
	}
	if len(a.NewItems) != len(lines) {
		return nil, 0, errRefused
	}
	var variants []*variant
	if err := s.list("variants", object{"item_id__in": a.NewItems}, "", &variants, "item_id", "product_id", "price", "available"); err != nil {
		return nil, 0, err
	}
	var difference cents
	for i, l := range lines {
		at := slices.IndexFunc(variants, func(v *variant) bool { return v.ID == a.NewItems[i] })
		if at < 0 || variants[at].Product != l.Product || !variants[at].Available {
			return nil, 0, errRefused
		}
		l.becomes = variants[at]
		difference += l.becomes.Price - l.Price
	}
	return lines, difference, nil
}
