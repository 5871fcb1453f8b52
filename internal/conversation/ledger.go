package conversation

// What an item says that does not say it; the status by its list.
const (
	statusAssumption = "open"
	statusAnchor     = "active"
	statusBoundary   = "tracked"
	phaseUnknown     = "unknown"
)

// NormalLedger is the ledger without items that have no text, with a status and a first phase for
// those without, and empty lists instead of none.
func NormalLedger(l Ledger) Ledger {
	return Ledger{
		Assumptions:        normalItems(l.Assumptions, statusAssumption),
		AcceptanceAnchors:  normalItems(l.AcceptanceAnchors, statusAnchor),
		DecisionBoundaries: normalItems(l.DecisionBoundaries, statusBoundary),
	}
}

func normalItems(items []LedgerItem, status string) []LedgerItem {
	kept := make([]LedgerItem, 0, len(items))
	for _, i := range items {
		if blank(i.Text) {
			continue
		}
		if blank(i.Status) {
			i.Status = status
		}
		if i.IntroducedPhase = unblank(i.IntroducedPhase); i.IntroducedPhase == nil {
			unknown := phaseUnknown
			i.IntroducedPhase = &unknown
		}
		i.UpdatedPhase = unblank(i.UpdatedPhase)
		i.Evidence = unblanks(i.Evidence)
		kept = append(kept, i)
	}
	return kept
}

func decodeLedger(f fields) Ledger {
	return NormalLedger(Ledger{
		Assumptions:        listOf(f, "assumptions", decodeItem),
		AcceptanceAnchors:  listOf(f, "acceptance_anchors", decodeItem),
		DecisionBoundaries: listOf(f, "decision_boundaries", decodeItem),
	})
}

func decodeItem(f fields) LedgerItem {
	return LedgerItem{
		Text: f.content("text"), Status: f.content("status"), IntroducedPhase: f.maybe("introduced_phase"),
		UpdatedPhase: f.maybe("updated_phase"), Evidence: f.texts("evidence"),
	}
}
