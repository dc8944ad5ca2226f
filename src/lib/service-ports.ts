/** Ports behind which other services than web servers listen: whoever chooses an address must not have us talk to those. */

/**
 * Well-known services at 1024 and above: what browsers refuse to call (Fetch Standard, "bad port"), and databases, queues, caches
 * and the doors of machines and clusters, by the port that they have unless somebody changed it.
 */
const servicePorts: ReadonlyMap<number, string> = new Map([
  [1080, 'SOCKS'],
  [1433, 'SQL Server'],
  [1434, 'SQL Server'],
  [1521, 'Oracle'],
  [1719, 'H.323'],
  [1720, 'H.323'],
  [1723, 'PPTP'],
  [1883, 'MQTT'],
  [2049, 'NFS'],
  [2181, 'ZooKeeper'],
  [2375, 'Docker'],
  [2376, 'Docker'],
  [2377, 'Docker Swarm'],
  [2379, 'etcd'],
  [2380, 'etcd'],
  [2525, 'SMTP'],
  [3128, 'HTTP proxies'],
  [3260, 'iSCSI'],
  [3268, 'LDAP'],
  [3269, 'LDAP'],
  [3306, 'MySQL'],
  [3389, 'Remote Desktop'],
  [3659, 'Apple SASL'],
  [4045, 'NFS locks'],
  [4190, 'ManageSieve'],
  [4222, 'NATS'],
  [4369, 'Erlang'],
  [5060, 'SIP'],
  [5061, 'SIP'],
  [5353, 'DNS, multicast'],
  [5432, 'PostgreSQL'],
  [5433, 'PostgreSQL'],
  [5671, 'AMQP'],
  [5672, 'AMQP'],
  [5900, 'VNC'],
  [5984, 'CouchDB'],
  [5985, 'WinRM'],
  [5986, 'WinRM'],
  [6000, 'X11'],
  [6379, 'Redis'],
  [6380, 'Redis'],
  [6432, 'PgBouncer'],
  [6443, 'Kubernetes'],
  [6566, 'SANE'],
  [6665, 'IRC'],
  [6666, 'IRC'],
  [6667, 'IRC'],
  [6668, 'IRC'],
  [6669, 'IRC'],
  [6679, 'IRC'],
  [6697, 'IRC'],
  [7000, 'Cassandra'],
  [7001, 'Cassandra'],
  [8086, 'InfluxDB'],
  [8125, 'StatsD'],
  [8200, 'Vault'],
  [8300, 'Consul'],
  [8500, 'Consul'],
  [8883, 'MQTT'],
  [9042, 'Cassandra'],
  [9092, 'Kafka'],
  [9100, 'printers'],
  [9160, 'Cassandra'],
  [9200, 'Elasticsearch'],
  [9300, 'Elasticsearch'],
  [10080, 'Amanda'],
  [10250, 'Kubernetes'],
  [10255, 'Kubernetes'],
  [11211, 'memcached'],
  [15672, 'RabbitMQ'],
  [26257, 'CockroachDB'],
  [26379, 'Redis'],
  [27017, 'MongoDB'],
  [27018, 'MongoDB'],
  [27019, 'MongoDB'],
  [28015, 'RethinkDB'],
])

/** Of the ports below 1024, which are kept for well-known services (RFC 6335), those of the web. */
const webPorts: readonly number[] = [80, 443]

/** Whether a URL names a port of another service than a web server. Without a port it is the scheme's own. */
export function isServicePort({ port }: URL): boolean {
  if (port === '') return false
  const number = Number(port)
  return number < 1024 ? !webPorts.includes(number) : servicePorts.has(number)
}
