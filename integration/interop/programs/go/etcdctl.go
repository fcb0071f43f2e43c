package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/clientv3"
	"golang.org/x/sys/unix"
)

// What the command under `etcdctl lock` says when it begins and when it ends.
type held struct {
	T        string
	Pid      int
	Key      string
	Revision int64
}

// etcdctl lock NAME -- participant hold HOLD_MS
func (p *participant) etcdctlRound() {
	p.say(event{Ev: "requesting"})
	if err := p.lockByEtcdctl(); err != nil {
		p.fail(err)
		return
	}
	p.say(event{Ev: "released"})
}

func (p *participant) lockByEtcdctl() error {
	hold := strconv.FormatInt(p.task.hold.Milliseconds(), 10)
	command := exec.Command("etcdctl", "lock", p.name, "--ttl", strconv.Itoa(p.ttlSeconds()), "--", os.Args[0], "hold", hold)
	command.Env = append(os.Environ(), "ETCDCTL_API=3", "ETCDCTL_ENDPOINTS="+p.endpoint)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	errors := &strings.Builder{}
	command.Stderr = errors
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	if err := p.follow(bufio.NewScanner(output)); err != nil {
		return err
	}
	if err := command.Wait(); err != nil {
		return fmt.Errorf("%v: %s", err, errors)
	}
	return nil
}

func (p *participant) follow(lines *bufio.Scanner) error {
	acquired := false
	for lines.Scan() {
		var said held
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			return err
		}
		if acquired {
			p.say(event{T: said.T, Ev: "releasing"})
			continue
		}
		acquired = true
		if err := p.sayAcquired(said); err != nil {
			return err
		}
		if p.task.hold < 0 {
			_, more := <-p.told
			p.ended = !more
			syscall.Kill(said.Pid, syscall.SIGUSR1)
		}
	}
	return lines.Err()
}

// At the revision of the grant the key was there, even if it has gone since.
func (p *participant) sayAcquired(said held) error {
	found, err := p.client.Get(p.client.Ctx(), said.Key, clientv3.WithRev(said.Revision))
	if err != nil {
		return err
	}
	if len(found.Kvs) == 0 {
		return fmt.Errorf("%s was not there when it was granted", said.Key)
	}
	place := strconv.FormatInt(found.Kvs[0].CreateRevision, 10)
	p.say(event{T: said.T, Ev: "acquired", Order: place, Token: place, Key: said.Key})
	return nil
}

// Under the lock. HOLD_MS is negative: until SIGUSR1.
func holdForEtcdctl(holdMs string) {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		panic(err)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	revision, err := strconv.ParseInt(os.Getenv("ETCD_LOCK_REV"), 10, 64)
	if err != nil {
		panic(err)
	}
	ms, err := strconv.Atoi(holdMs)
	if err != nil {
		panic(err)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.Encode(held{T: stamp(), Pid: os.Getpid(), Key: os.Getenv("ETCD_LOCK_KEY"), Revision: revision})
	if ms < 0 {
		<-told
	} else {
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	encoder.Encode(held{T: stamp()})
}
