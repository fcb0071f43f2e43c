#!/bin/sh
# Writes /conf/zoo.cfg from the environment unless there is one, and becomes the server.
set -eu

config=/conf/zoo.cfg
if [ ! -f "$config" ]; then
  {
    echo "dataDir=/data"
    echo "dataLogDir=/datalog"
    echo "clientPort=2181"
    echo "tickTime=${ZOO_TICK_TIME:-2000}"
    echo "initLimit=${ZOO_INIT_LIMIT:-10}"
    echo "syncLimit=${ZOO_SYNC_LIMIT:-5}"
    echo "maxClientCnxns=0"
    echo "admin.enableServer=false"
    echo "4lw.commands.whitelist=*"
    # "server.1=zoo1:2888:3888;2181 server.2=...": a line each.
    for line in ${ZOO_SERVERS:-} ${ZOO_CFG_EXTRA:-}; do echo "$line"; done
  } > "$config"
fi
[ -f /data/myid ] || echo "${ZOO_MY_ID:-1}" > /data/myid

# The jar names the jars that it needs; slf4j-simple prints the log, which is otherwise thrown away.
exec java ${JVMFLAGS:-} -Dzookeeper.jmx.log4j.disable=true \
  -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "$config"
