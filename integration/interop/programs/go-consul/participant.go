package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/consul/api"
)

const defaultTTL = 10_000

type participant struct {
	client       *api.Client
	key, id      string
	rounds, hold int
	ttl          time.Duration
	told         <-chan string
	n            int
	ended        bool
}

func participate(args []string) error {
	if len(args) < 6 {
		return fmt.Errorf("usage: participant ENDPOINT KEY RECIPE ID ROUNDS HOLD_MS [TTL_MS]")
	}
	settings, err := numbers(append(append([]string{}, args[4:]...), strconv.Itoa(defaultTTL)))
	if err != nil {
		return err
	}
	client, err := connect(args[0])
	if err != nil {
		return err
	}
	p := &participant{
		client: client, key: args[1] + "/.lock", id: args[3],
		rounds: settings[0], hold: settings[1], ttl: time.Duration(settings[2]) * time.Millisecond,
		told: readLines(),
	}
	p.say("ready", event{})
	if _, more := <-p.told; !more {
		return nil
	}
	for p.n = 1; !p.ended && (p.rounds == 0 || p.n <= p.rounds); p.n++ {
		p.round()
		select {
		case _, more := <-p.told:
			p.ended = !more
		default:
		}
	}
	p.n = 0
	p.say("done", event{})
	return nil
}

func (p *participant) say(ev string, e event) {
	e.ID, e.N, e.Ev = p.id, p.n, ev
	write(e)
}

func (p *participant) round() {
	p.say("requesting", event{})
	if err := p.lock(); err != nil {
		p.say("failed", event{Message: err.Error()})
	}
}

func (p *participant) lock() error {
	lock, err := p.client.LockOpts(&api.LockOptions{Key: p.key, SessionTTL: p.ttl.String(), Value: []byte(p.id)})
	if err != nil {
		return err
	}
	lost, err := lock.Lock(nil)
	if err != nil {
		return err
	}
	pair, _, err := p.client.KV().Get(p.key, &api.QueryOptions{RequireConsistent: true})
	if err != nil || pair == nil {
		return fmt.Errorf("the key was not there when it was granted: %v", err)
	}
	index := strconv.FormatUint(pair.ModifyIndex, 10)
	p.say("acquired", event{Order: index, Token: index, Key: p.key})
	if p.isLostWithin(lost) {
		p.say("lost", event{})
		lock.Unlock()
		return nil
	}
	p.say("releasing", event{})
	if err := lock.Unlock(); err != nil {
		return err
	}
	p.say("released", event{})
	return nil
}

// Holds for the time, or until a line is read; returns whether the lock was lost before.
func (p *participant) isLostWithin(lost <-chan struct{}) bool {
	var over <-chan time.Time
	told := p.told
	if p.hold >= 0 {
		over, told = time.After(time.Duration(p.hold)*time.Millisecond), nil
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
