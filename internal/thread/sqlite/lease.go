package sqlite

import (
	"cmp"

	"github.com/evertty/evertty/internal/thread"
)

const leaseColumns = `id, provider, made_for, desired_state, observed_state, status, instance_id, version, last_error,
		needs_refresh, observed_at, config_json, created_at, updated_at`

var putLease = upsert("leases", leaseColumns, "created_at")

func scanLease(s scanner) (l thread.Lease, err error) {
	return l, s.Scan(&l.ID, &l.Provider, &l.Thread, &l.Desired, &l.Observed, &l.Status, maybe{&l.Instance}, &l.Version,
		&l.LastError, &l.NeedsRefresh, when{&l.ObservedAt}, &l.Config, when{&l.CreatedAt}, when{&l.UpdatedAt})
}

func (r leaseRows) Lease(id string) (thread.Lease, error) {
	return one(r.table, "lease "+id, scanLease, `SELECT `+leaseColumns+` FROM leases WHERE id = ?`, id)
}

// Leases returns the leases that a query means, by creation; a limit of 0 is all.
func (r leaseRows) Leases(q thread.LeaseQuery) ([]thread.Lease, error) {
	return all(r.table, "leases", scanLease, `SELECT `+leaseColumns+` FROM leases WHERE ?1 IN ('', provider)
		AND substr(id, 1, length(?4)) = ?4
		AND (?2 = '' OR (created_at, id) > (SELECT created_at, id FROM leases WHERE id = ?2))
		ORDER BY created_at, id LIMIT ?3`, q.Provider, q.After, cmp.Or(q.Limit, noLimit),
		q.Prefix)
}

func (r leaseRows) PutLease(l thread.Lease) {
	r.put("lease "+l.ID, putLease, l.ID, l.Provider, l.Thread, l.Desired, l.Observed, l.Status, orNull(l.Instance),
		l.Version, l.LastError, l.NeedsRefresh, at(l.ObservedAt), l.Config, at(l.CreatedAt), at(l.UpdatedAt))
}

func (r leaseRows) DeleteLease(id string) {
	r.change("lease "+id, `DELETE FROM leases WHERE id = ?`, id)
}

const instanceColumns = `id, lease_id, provider_session_id, state, created_at, last_seen_at, ended_at`

var putInstance = upsert("instances", instanceColumns, "lease_id", "provider_session_id", "created_at")

func scanInstance(s scanner) (i thread.Instance, err error) {
	return i, s.Scan(&i.ID, &i.Lease, &i.Session, &i.State, when{&i.CreatedAt}, when{&i.SeenAt}, when{&i.EndedAt})
}

func (r leaseRows) Instance(id string) (thread.Instance, error) {
	return one(r.table, "instance "+id, scanInstance, `SELECT `+instanceColumns+` FROM instances WHERE id = ?`, id)
}

func (r leaseRows) Instances(lease string) ([]thread.Instance, error) {
	return all(r.table, "instances of lease "+lease, scanInstance, `SELECT `+instanceColumns+` FROM instances
		WHERE lease_id = ? ORDER BY rowid DESC LIMIT ?`, lease, thread.MaxPage)
}

func (r leaseRows) FindInstance(provider, id string) (thread.Instance, error) {
	return one(r.table, "instance "+id+" of "+provider, scanInstance,
		`SELECT i.id, i.lease_id, i.provider_session_id, i.state, i.created_at, i.last_seen_at, i.ended_at
		FROM instances i JOIN leases l ON l.id = i.lease_id WHERE i.provider_session_id = ? AND l.provider = ?
		ORDER BY i.rowid DESC LIMIT 1`, id, provider)
}

func (r leaseRows) PutInstance(i thread.Instance) {
	r.put("instance "+i.ID, putInstance, i.ID, i.Lease, i.Session, i.State, at(i.CreatedAt), at(i.SeenAt),
		at(i.EndedAt))
}

func (r leaseRows) AddLeaseEvent(e thread.LeaseEvent) {
	r.put("event of lease "+e.Lease,
		`INSERT INTO lease_events (lease_id, type, source, from_state, to_state, instance_id, error, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, e.Lease, e.Type, e.Source, e.From, e.To, e.Instance, e.Error, at(e.At))
	if trims() {
		r.put("events of lease "+e.Lease, `DELETE FROM lease_events WHERE lease_id = ?1 AND id <=
			(SELECT id FROM lease_events WHERE lease_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`, e.Lease, maxBook)
	}
}

func (r leaseRows) LeaseEvents(lease string, after int64, limit int) ([]thread.LeaseEvent, error) {
	return all(r.table, "events of lease "+lease, func(s scanner) (e thread.LeaseEvent, err error) {
		return e, s.Scan(&e.Seq, &e.Lease, &e.Type, &e.Source, &e.From, &e.To, &e.Instance, &e.Error, when{&e.At})
	}, `SELECT id, lease_id, type, source, from_state, to_state, instance_id, error, created_at
		FROM lease_events WHERE lease_id = ? AND id > ? ORDER BY id LIMIT ?`, lease, after, page(limit))
}

func (r leaseRows) LeaseThreads(lease string) ([]string, error) {
	return all(r.table, "threads of lease "+lease, text, `SELECT thread_id FROM terminals WHERE lease_id = ?1
		UNION SELECT id FROM threads WHERE lease_id = ?1 ORDER BY 1`, lease)
}

// ThreadLeases returns the leases of a thread's terminals, and the one for terminals to come, by id.
func (r leaseRows) ThreadLeases(threadID string) ([]thread.Lease, error) {
	return all(r.table, "leases of thread "+threadID, scanLease, `SELECT `+leaseColumns+` FROM leases WHERE id IN
		(SELECT lease_id FROM terminals WHERE thread_id = ?1 UNION SELECT lease_id FROM threads WHERE id = ?1)
		ORDER BY id`, threadID)
}

func (r leaseRows) AddProviderEvent(e thread.ProviderEvent) {
	seq := r.insert("event of "+e.Provider,
		`INSERT INTO provider_events (provider, instance_id, type, payload_json, matched_lease_id, created_at)
		VALUES (?, ?, ?, ?, ?, ?) RETURNING id`, e.Provider, e.Instance, e.Type, e.Payload, e.Lease, at(e.At))
	if seq%trimStep == 0 {
		r.put("events of providers", `DELETE FROM provider_events WHERE id <= ?`, seq-maxBook)
	}
}

func (r leaseRows) ProviderEvents(limit int) ([]thread.ProviderEvent, error) {
	return all(r.table, "events of providers", func(s scanner) (e thread.ProviderEvent, err error) {
		return e, s.Scan(&e.Seq, &e.Provider, &e.Instance, &e.Type, &e.Payload, &e.Lease, when{&e.At})
	}, `SELECT id, provider, instance_id, type, payload_json, matched_lease_id, created_at FROM provider_events
		ORDER BY id DESC LIMIT ?`, page(limit))
}
