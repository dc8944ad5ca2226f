import { expect, test } from 'bun:test'
import { isServicePort } from '../../src/lib/service-ports.ts'

const refused = (port: number) => isServicePort(new URL(`http://a.example:${port}/`))

test('below 1024, all ports except those of the web belong to another service', () => {
  expect(Array.from({ length: 1024 }, (_, port) => port).filter((port) => !refused(port))).toEqual([80, 443])
})

test.each([
  [22, 'SSH'],
  [25, 'SMTP'],
  [53, 'DNS'],
  [587, 'SMTP'],
  [1433, 'SQL Server'],
  [2375, 'Docker'],
  [2379, 'etcd'],
  [3306, 'MySQL'],
  [3389, 'Remote Desktop'],
  [5432, 'PostgreSQL'],
  [5672, 'AMQP'],
  [6379, 'Redis'],
  [6443, 'Kubernetes'],
  [9042, 'Cassandra'],
  [9092, 'Kafka'],
  [9200, 'Elasticsearch'],
  [11211, 'memcached'],
  [27017, 'MongoDB'],
])('port %d belongs to %s', (port) => {
  expect(refused(port)).toBe(true)
})

test('common web server ports and the default port of the scheme belong to no other service', () => {
  for (const port of [1024, 3000, 4000, 5000, 8000, 8080, 8443, 8888, 9000, 32_768, 65_535]) expect(refused(port)).toBe(false)
  for (const url of ['http://a.example/', 'https://a.example/', 'https://a.example:443/', 'http://a.example:80/', 'https://[2606::1]/'])
    expect(isServicePort(new URL(url))).toBe(false)
})

test('a service port is recognised in every spelling that a URL allows', () => {
  for (const url of ['http://a.example:0022/', 'HTTPS://a.example:06379', 'http://[2606::1]:25/', 'https://a.example:00022/'])
    expect(isServicePort(new URL(url))).toBe(true)
})
