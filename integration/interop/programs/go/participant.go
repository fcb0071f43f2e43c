package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

type participant struct {
	task
	client  *clientv3.Client
	session *concurrency.Session
	told    <-chan string
	n       int
	ended   bool
}

// One recipe, as one round uses it.
type recipe interface {
	// Waits until it is its turn; answers with the create revision of the key.
	enter(ctx context.Context) (int64, error)
	leave(ctx context.Context) error
	key() string
}

var errBusy = errors.New("busy")

func (p *participant) say(e event) {
	e.ID, e.N = p.id, p.n
	write(e)
}

func (p *participant) open() (err error) {
	p.session, err = concurrency.NewSession(p.client, concurrency.WithTTL(p.ttlSeconds()))
	return err
}

func (p *participant) end() {
	if p.session != nil && p.isAlive() {
		p.session.Close()
	}
}

func (p *participant) isAlive() bool {
	select {
	case <-p.session.Done():
		return false
	default:
		return true
	}
}

func (p *participant) rounds(round func()) {
	for p.n = 1; !p.ended && (p.task.rounds == 0 || p.n <= p.task.rounds); p.n++ {
		select {
		case _, more := <-p.told:
			p.ended = !more
		default:
		}
		if !p.ended {
			round()
		}
	}
	p.n = 0
}

func (p *participant) round() {
	p.say(event{Ev: "requesting"})
	if !p.isAlive() {
		if err := p.open(); err != nil {
			p.fail(err)
			return
		}
	}
	lock := p.newRecipe()
	place, err := lock.enter(p.client.Ctx())
	if err == errBusy {
		p.say(event{Ev: "left"})
		p.hold(nil)
		return
	}
	if err == nil {
		err = p.checkOwner(lock.key(), place)
	}
	if err != nil {
		p.fail(err)
		return
	}
	text := strconv.FormatInt(place, 10)
	p.say(event{Ev: "acquired", Order: text, Token: text, Key: lock.key()})
	if isLost := p.hold(p.session.Done()); isLost {
		p.say(event{Ev: "lost"})
		return
	}
	p.say(event{Ev: "releasing"})
	if err := lock.leave(p.client.Ctx()); err != nil {
		p.fail(err)
		return
	}
	p.say(event{Ev: "released"})
}

func (p *participant) fail(err error) {
	p.say(event{Ev: "failed", Message: err.Error()})
}

// Waiters of version 3.4 come back with success although their own key has gone; later versions look at it themselves.
func (p *participant) checkOwner(key string, place int64) error {
	isMine := clientv3.Compare(clientv3.CreateRevision(key), "=", place)
	answer, err := p.client.Txn(p.client.Ctx()).If(isMine).Commit()
	if err == nil && !answer.Succeeded {
		err = errors.New("session is expired")
	}
	return err
}

// Whether it ended because of the loss.
func (p *participant) hold(lost <-chan struct{}) bool {
	over := make(<-chan time.Time)
	told := p.told
	if p.task.hold >= 0 {
		over = time.After(p.task.hold)
		told = nil
	}
	select {
	case <-lost:
		return true
	case <-over:
	case _, more := <-told:
		p.ended = !more
	}
	return false
}
